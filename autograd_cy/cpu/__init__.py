"""The interface of the CPU as a device: there is one, and it is ready.

`amp` has older names of mixed precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_cy._lazy import attach as _attach

if TYPE_CHECKING:
    from autograd_cy.cpu import amp as amp

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "synchronize",
]


def is_available() -> bool:
    """
    Return whether tensors can be on the CPU: always.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """
    Return whether the CPU is ready: always.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.is_initialized()
    True
    """
    return True


def device_count() -> int:
    """
    Number of CPUs as devices: one, whatever its cores.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.device_count()
    1
    """
    return 1


def current_device() -> str:
    """
    Return the name of the device.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.current_device()
    'cpu'
    """
    return "cpu"


def set_device(device: Any) -> None:
    """
    Do nothing, as there is one device.

    Parameters
    ----------
    device : device
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.set_device("cpu")
    """


def synchronize(device: Any = None) -> None:
    """
    Do nothing: an operator has done its work when it returns.

    Parameters
    ----------
    device : device, optional
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cpu.synchronize()
    """


__getattr__, __dir__ = _attach(__name__, ["amp"])
