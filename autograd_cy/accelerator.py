"""What programs ask to choose a device: there is nothing beside the CPU.

The other functions of ``torch.accelerator`` need an accelerator; they raise in torch without one.
"""

from __future__ import annotations

__all__ = [
    "current_accelerator",
    "device_count",
    "is_available",
]


def current_accelerator(check_available: bool = False) -> None:
    """
    The device that computes beside the CPU: None.

    Parameters
    ----------
    check_available : bool, default False
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.current_accelerator() is None
    True
    """


def device_count() -> int:
    """
    Number of accelerators for tensors: none.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.device_count()
    0
    """
    return 0


def is_available() -> bool:
    """
    Whether tensors can be on accelerators: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.accelerator.is_available()
    False
    """
    return False


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'autograd_cy.accelerator' has no attribute {name!r}: tensors are on the CPU"
    )
