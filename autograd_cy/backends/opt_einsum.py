"""Settings of what orders the products of einsum in torch; here they change nothing."""

from typing import Any

__all__ = ["get_opt_einsum", "is_available"]

# Programs set them.
enabled = False
strategy: str | None = None


def is_available() -> bool:
    """
    Tell whether opt_einsum is asked: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.opt_einsum.is_available()
    False
    """
    return False


def get_opt_einsum() -> Any:
    """
    Return the package: None, as in torch where it isn't installed.

    Returns
    -------
    None

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.opt_einsum.get_opt_einsum()
    """
    return None
