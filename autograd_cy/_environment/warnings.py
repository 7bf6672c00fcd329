"""The switch that lets warnings that come once in a process come each time."""

from autograd_cy._C.tensor import _set_warn_always, _warn_always

__all__ = ["is_warn_always_enabled", "set_warn_always"]


def set_warn_always(b: bool, /) -> None:
    """
    Let warnings that come once in a process come each time, for instance for tests.

    Parameters
    ----------
    b : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _set_warn_always(b)


def is_warn_always_enabled() -> bool:
    """
    Return whether :func:`set_warn_always` is on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_warn_always_enabled()
    False
    """
    return bool(_warn_always())
