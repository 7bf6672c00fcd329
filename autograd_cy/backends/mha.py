"""The one pass of a layer of transformers without gradients, which is as the others here."""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """
    Return what was set.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mha.get_fastpath_enabled()
    True
    """
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """
    Keep a switch that changes nothing.

    Parameters
    ----------
    value : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mha.set_fastpath_enabled(True)
    """
    global _enabled
    _enabled = value
