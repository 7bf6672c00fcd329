"""The part of ``torch.xpu`` that works without a GPU of Intel's, which is never there.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def is_available() -> bool:
    """
    Tell if tensors can be on such a device.

    Returns
    -------
    bool
        False.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.is_available(), ag.mps.is_available()
    (False, False)
    """
    return False


def is_initialized() -> bool:
    """
    Tell if such a device is in use.

    Returns
    -------
    bool
        False.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.is_initialized()
    False
    """
    return False


def device_count() -> int:
    """
    Count such devices.

    Returns
    -------
    int
        0.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.device_count()
    0
    """
    return 0


def empty_cache() -> None:
    """
    Do nothing: there is no memory of such a device to give back.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.empty_cache()
    """


def manual_seed(seed: int) -> None:
    """
    Take a seed and change no generator, as torch without such a device.

    Parameters
    ----------
    seed : int
        Ignored.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.manual_seed(0)
    """


def manual_seed_all(seed: int) -> None:
    """
    Take a seed and change no generator, as torch without such a device.

    Parameters
    ----------
    seed : int
        Ignored.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.manual_seed_all(0)
    """


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
