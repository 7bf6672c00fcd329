"""Windows: weights that fall to both ends, for spectra and filters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_cy._C.creation import arange, empty, ones
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.dtypes import float64, get_default_dtype
from autograd_cy._C.exchange import from_numpy
from autograd_cy._C.tensor import Tensor

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def _made(name: str, length: int, periodic: bool, weights: Any, options: dict[str, Any]) -> Tensor:
    """Compute weights of the places from 0 to 1, in float64, and convert them."""
    dtype = options.pop("dtype", None)
    dtype = get_default_dtype() if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got {length}")
    requires_grad = options.pop("requires_grad", False)
    if length < 2:
        found = (empty if length == 0 else ones)(length, dtype=dtype, **options)
    else:
        count = length if periodic else length - 1
        places = arange(length, dtype=float64) / count
        found = weights(places).to(dtype)
        if options.get("device") is not None:
            found = found.to(options["device"])
    return found.requires_grad_(requires_grad)


def _cosines(factors: Sequence[float]) -> Any:
    """A sum of cosines, with these factors."""

    def weights(places: Tensor) -> Tensor:
        total: Any = 0.0
        for i, factor in enumerate(factors):
            total = total + factor * (places * (2 * math.pi * i)).cos()
        return total

    return weights


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
    options = {
        "dtype": dtype,
        "layout": layout,
        "device": device,
        "pin_memory": pin_memory,
        "requires_grad": requires_grad,
    }
    return _made("hann_window", window_length, periodic, _cosines((0.5, -0.5)), options)


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
    r"""
    Return a Hamming window.

    Its weights are :math:`\alpha - \beta \cos(2\pi n / N)`,
    with :math:`N` the length for a periodic window, and one less for a symmetric one.

    Parameters
    ----------
    window_length : int
    periodic : bool, optional
        Whether the window is one period, for spectra; else it is symmetric, for filters.
    alpha, beta : float, optional
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
    >>> ag.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    options = {
        "dtype": dtype,
        "layout": layout,
        "device": device,
        "pin_memory": pin_memory,
        "requires_grad": requires_grad,
    }
    weights = _cosines((alpha, -beta))
    return _made("hamming_window", window_length, periodic, weights, options)


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
    r"""
    Return a Blackman window.

    Its weights are :math:`0.42 - 0.5 \cos(2\pi n / N) + 0.08 \cos(4\pi n / N)`,
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
    >>> ag.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    options = {
        "dtype": dtype,
        "layout": layout,
        "device": device,
        "pin_memory": pin_memory,
        "requires_grad": requires_grad,
    }
    weights = _cosines((0.42, -0.5, 0.08))
    return _made("blackman_window", window_length, periodic, weights, options)


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
    r"""
    Return a triangular window.

    Its weights are :math:`1 - |2n / N - 1|`,
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
    >>> ag.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = {
        "dtype": dtype,
        "layout": layout,
        "device": device,
        "pin_memory": pin_memory,
        "requires_grad": requires_grad,
    }
    return _made(
        "bartlett_window", window_length, periodic, lambda x: 1 - (2 * x - 1).abs(), options
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
    r"""
    Return a Kaiser window.

    Its weights are :math:`I_0(\beta \sqrt{1 - (2n / N - 1)^2}) / I_0(\beta)`,
    with :math:`N` the length for a periodic window, and one less for a symmetric one.

    Parameters
    ----------
    window_length : int
    periodic : bool, optional
        Whether the window is one period, for spectra; else it is symmetric, for filters.
    beta : float, optional
        How narrow the window is.
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
    >>> ag.kaiser_window(4, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    options = {
        "dtype": dtype,
        "layout": layout,
        "device": device,
        "pin_memory": pin_memory,
        "requires_grad": requires_grad,
    }

    def weights(places: Tensor) -> Tensor:
        inside = (1 - (2 * places - 1).square()).clamp(min=0).sqrt()
        return from_numpy(np.i0(beta * inside.numpy()) / np.i0(beta))

    return _made("kaiser_window", window_length, periodic, weights, options)
