"""Discrete Fourier transforms of arrays, by the compiled module of scipy.fft.

The package scipy.fft loads some 270 modules, of which one computes. Only that one is loaded here,
unless SciPy is arranged in another way or the module doesn't do what is expected of it.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_MODULE = "scipy.fft._pocketfft.pypocketfft"


def _compiled() -> Any:
    """Return the extension module of transforms, without the packages around it, or None."""
    if _MODULE in sys.modules:
        return sys.modules[_MODULE]
    package = importlib.util.find_spec("scipy")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent.joinpath(*_MODULE.split(".")[1:-1])
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        file = folder / (_MODULE.rpartition(".")[2] + suffix)
        if file.is_file():
            spec = importlib.util.spec_from_file_location(_MODULE, file)
            if spec is None or spec.loader is None:
                return None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return sys.modules.setdefault(_MODULE, module)  # for scipy.fft, if it is imported later
    return None


def _works(module: Any) -> bool:
    """Tell whether three transforms of known results, with all arguments used here, are right."""
    x = np.array([1.0, 2.0, 4.0])
    spectrum = np.array([7.0, -2 + 1j * np.sqrt(3), -2 - 1j * np.sqrt(3)])
    try:
        differences = (
            module.c2c(x + 0j, (0,), True, 0, None, 1) - spectrum,
            module.r2c(x, (0,), True, 2, None, 1) - spectrum[:2] / 3,
            module.c2r(spectrum[:2], (0,), 3, False, 2, None, 1) - x,
        )
    except Exception:
        return False
    return all(np.abs(rest).max() < 1e-12 for rest in differences)


@functools.cache
def _transforms() -> Any:
    """Return the compiled module, or None where the package is to be used."""
    try:
        module = _compiled()
    except (ImportError, OSError):
        return None
    return module if module is not None and _works(module) else None


def _floating(x: np.ndarray) -> np.ndarray:
    """Return `x` in a dtype of the compiled module, which has no halves and no integers."""
    if x.dtype.kind not in "fc":
        return x.astype(np.float64)
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _sized(x: np.ndarray, n: int | None, dim: int) -> np.ndarray:
    """Return `x` with `n` elements along a dimension: cut, or with zeros at the end."""
    if n is None or x.shape[dim] == n:
        return x
    place = [slice(None)] * x.ndim
    place[dim] = slice(min(n, x.shape[dim]))
    if x.shape[dim] > n:
        return x[tuple(place)]
    shape = list(x.shape)
    shape[dim] = n
    padded = np.zeros(shape, x.dtype)
    padded[tuple(place)] = x
    return padded


def _scaling(norm: str | None, forward: bool) -> int:
    """Return the code of the factor: 0 for none, 1 for the root of 1 / n, 2 for 1 / n."""
    if norm == "ortho":
        return 1
    return 2 if (norm == "forward") == forward else 0


def _package(name: str) -> Callable[..., np.ndarray]:
    """Return a function of scipy.fft, which costs its import."""
    import scipy.fft  # type: ignore[import-untyped]

    return getattr(scipy.fft, name)


def _complex(
    name: str, x: np.ndarray, n: int | None, dim: int, norm: str | None, forward: bool
) -> np.ndarray:
    """Return a transform of all elements, forward or back."""
    module = _transforms()
    if module is None:
        return _package(name)(x, n, dim, norm)
    x = _sized(_floating(x), n, dim)
    return module.c2c(x, (dim,), forward, _scaling(norm, forward), None, 1)


def fft(x: np.ndarray, n: int | None, dim: int, norm: str | None) -> np.ndarray:
    """Return the spectrum of `x`."""
    return _complex("fft", x, n, dim, norm, True)


def ifft(x: np.ndarray, n: int | None, dim: int, norm: str | None) -> np.ndarray:
    """Return what has the spectrum `x`."""
    return _complex("ifft", x, n, dim, norm, False)


def rfft(x: np.ndarray, n: int | None, dim: int, norm: str | None) -> np.ndarray:
    """Return the first half of the spectrum of real numbers; the others are its conjugates."""
    module = _transforms()
    if module is None:
        return _package("rfft")(x, n, dim, norm)
    x = _sized(_floating(x), n, dim)
    return module.r2c(x, (dim,), True, _scaling(norm, True), None, 1)


def irfft(x: np.ndarray, n: int | None, dim: int, norm: str | None) -> np.ndarray:
    """Return the real numbers of whose spectrum `x` is the first half."""
    module = _transforms()
    if module is None:
        return _package("irfft")(x, n, dim, norm)
    x = _floating(x)
    if x.dtype.kind != "c":
        x = x.astype(np.result_type(x.dtype, np.complex64))
    n = 2 * (x.shape[dim] - 1) if n is None else n
    x = _sized(x, n // 2 + 1, dim)
    return module.c2r(x, (dim,), n, False, _scaling(norm, False), None, 1)
