"""Special functions of arrays, where SciPy has none."""

from __future__ import annotations

from math import factorial

import numpy as np
import scipy.special  # type: ignore[import-untyped]

from autograd_cy._tensors.namespace import from_numpy, lgamma


def _small(x: np.ndarray, order: int) -> np.ndarray:
    """I_n(x) / x**n as a series in x**2 (DLMF 10.39.9)."""
    return scipy.special.hyp0f1(order + 1, x * x / 4) / (2.0**order * factorial(order))


def bessel_ratio_e(x: np.ndarray, order: int) -> np.ndarray:
    size = np.abs(np.asarray(x, np.float64))
    far = size > 1
    with np.errstate(all="ignore"):
        large = scipy.special.ive(order, np.clip(size, 1, 1e8))
        # DLMF 10.40.1, as ive has nothing to say about huge numbers.
        large = np.where(size > 1e8, 1 / np.sqrt(2 * np.pi * size), large) / size**order
        return np.where(far, large, _small(np.where(far, 0, size), order) * np.exp(-size))


def mvlgamma(x: np.ndarray, p: int) -> np.ndarray:
    wide = np.asarray(x, x.dtype if x.dtype.kind == "f" else np.float64)
    total = np.full(x.shape, p * (p - 1) / 4 * np.log(np.pi), wide.dtype)
    for i in range(p):
        total += lgamma(from_numpy(np.asarray(wide - i / 2))).numpy()
    return total
