"""What of ``torch.xpu`` works without a GPU of Intel's.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def device_count() -> int:
    """
    Number of Intel's GPUs for tensors: none.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.device_count()
    0
    """
    return 0


def empty_cache() -> None:
    """
    Do nothing: there is no memory of a GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.empty_cache()
    """


def is_available() -> bool:
    """
    Whether tensors can be on Intel's GPUs: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """
    Whether GPUs are in use: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.is_initialized()
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
    >>> ag.xpu.manual_seed(0)
    """
    int(seed)


def manual_seed_all(seed: int) -> None:
    """
    Do nothing: there is no GPU to seed; ``autograd_cy.manual_seed`` seeds the CPU.

    Parameters
    ----------
    seed : int
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.xpu.manual_seed_all(0)
    """
    int(seed)


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'autograd_cy.xpu' has no attribute {name!r}: tensors are on the CPU"
    )
