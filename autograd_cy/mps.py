"""What of ``torch.mps`` works without a GPU of Apple's.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

__all__ = [
    "device_count",
    "is_available",
    "manual_seed",
]


def device_count() -> int:
    """
    Number of Apple's GPUs for tensors: none.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.mps.device_count()
    0
    """
    return 0


def is_available() -> bool:
    """
    Whether tensors can be on Apple's GPUs: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.mps.is_available()
    False
    """
    return False


def manual_seed(seed: int) -> None:
    """
    Do nothing: there is no GPU to seed; ``autograd_cy.manual_seed`` seeds the CPU.

    Parameters
    ----------
    seed : int
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.mps.manual_seed(0)
    """
    int(seed)


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'autograd_cy.mps' has no attribute {name!r}: tensors are on the CPU"
    )
