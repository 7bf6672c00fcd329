"""Windows: weights that fall to both ends, for spectra and filters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.creation import arange, empty
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.dtypes import float64
from autograd_cy._C.exchange import from_numpy
from autograd_cy._C.tensor import Tensor
from autograd_cy._environment.docstrings import described_like

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def _window(
    name: str,
    window_length: int,
    periodic: bool,
    numbers: dict[str, float],
    weights: Callable[..., Tensor],
    options: tuple[Any, ...],
) -> Tensor:
    """A window by its function of places from 0 to 1, in float64, and of numbers."""
    _check_arguments(
        name,
        (window_length, "int", "window_length", 1),
        (periodic, "bool", "periodic", 2),
        *((value, "float", key, 3 + i) for i, (key, value) in enumerate(numbers.items())),
    )
    dtype, layout, device, pin_memory, requires_grad = options
    length = int(window_length)
    window = empty(max(length, 0), dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    if not (window.dtype.is_floating_point or window.dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {window.dtype}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if length == 1:
        window.fill_(1)
    elif length:
        places = arange(length, dtype=float64, device="cpu") / (length if periodic else length - 1)
        window.copy_(weights(places, *map(float, numbers.values())))
    return window.requires_grad_(requires_grad)


def _cosines(places: Tensor, *factors: float) -> Tensor:
    """The sum of cosines of 0, 1, 2 ... periods, with these factors."""
    total: Any = 0.0
    for i, factor in enumerate(factors):
        total = total + factor * (places * (2 * math.pi * i)).cos()
    return total


def _kaiser(places: Tensor, beta: float) -> Tensor:
    inside = (1 - (2 * places - 1).square()).clamp(min=0).sqrt()
    return from_numpy(np.i0(beta * inside.numpy()) / np.i0(beta))


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    r"""
    Return a Hann window.

    Its weights are :math:`\frac{1}{2} (1 - \cos(2\pi n / N))`,
    with :math:`N` the length for a periodic window, and one less for a symmetric one.

    Parameters
    ----------
    window_length : int
    periodic : bool, optional
        Whether the window is one period, for spectra; else it is symmetric, for filters.
    dtype : dtype, optional
    layout, device, pin_memory : optional
        As in :func:`ones`.
    requires_grad : bool, optional

    Returns
    -------
    Tensor
        Of the shape ``(window_length,)``.

    Raises
    ------
    RuntimeError
        If the length is negative or the dtype has no fractions.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = dtype, layout, device, pin_memory, requires_grad
    return _window(
        "hann_window", window_length, periodic, {}, lambda x: _cosines(x, 0.5, -0.5), options
    )


# What the other windows replace in the docstring of `hann_window`.
_OF_HANN = r"\frac{1}{2} (1 - \cos(2\pi n / N))"
_DTYPE = "    dtype : dtype, optional\n"


@described_like(
    hann_window,
    {
        "Hann": "Hamming",
        _OF_HANN: r"\alpha - \beta \cos(2\pi n / N)",
        _DTYPE: f"    alpha, beta : float, optional\n{_DTYPE}",
        "hann": "hamming",
        "0.0000, 0.5000, 1.0000, 0.5000": "0.0800, 0.5400, 1.0000, 0.5400",
    },
)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    options = dtype, layout, device, pin_memory, requires_grad
    numbers = {"alpha": alpha, "beta": beta}

    def weights(x: Tensor, alpha: float, beta: float) -> Tensor:
        return _cosines(x, alpha, -beta)

    return _window("hamming_window", window_length, periodic, numbers, weights, options)


@described_like(
    hann_window,
    {
        "Hann": "Blackman",
        _OF_HANN: r"0.42 - 0.5 \cos(2\pi n / N) + 0.08 \cos(4\pi n / N)",
        "hann_window(4)": "blackman_window(4)[1:]",
        "0.0000, 0.5000, 1.0000, 0.5000": "0.3400, 1.0000, 0.3400",
    },
)
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    options = dtype, layout, device, pin_memory, requires_grad
    return _window(
        "blackman_window",
        window_length,
        periodic,
        {},
        lambda x: _cosines(x, 0.42, -0.5, 0.08),
        options,
    )


@described_like(
    hann_window,
    {
        "Hann": "triangular",
        _OF_HANN: "1 - |2n / N - 1|",
        "hann": "bartlett",
    },
)
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    options = dtype, layout, device, pin_memory, requires_grad
    return _window(
        "bartlett_window", window_length, periodic, {}, lambda x: 1 - (2 * x - 1).abs(), options
    )


@described_like(
    hann_window,
    {
        "Hann": "Kaiser",
        _OF_HANN: r"I_0(\beta \sqrt{1 - (2n / N - 1)^2}) / I_0(\beta)",
        _DTYPE: f"    beta : float, optional\n        How narrow the window is.\n{_DTYPE}",
        "hann_window(4)": "kaiser_window(4, beta=2.0)",
        "0.0000, 0.5000, 1.0000, 0.5000": "0.4387, 0.8348, 1.0000, 0.8348",
    },
)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    options = dtype, layout, device, pin_memory, requires_grad
    return _window("kaiser_window", window_length, periodic, {"beta": beta}, _kaiser, options)
