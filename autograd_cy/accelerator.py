"""What programs ask to choose a device: there is nothing beside the CPU.

The other functions of ``torch.accelerator`` need an accelerator; they raise in torch without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from autograd_cy._absent.names import no_attribute
from autograd_cy.cuda import device_count, is_available

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


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
