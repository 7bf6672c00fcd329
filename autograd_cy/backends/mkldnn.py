"""Intel's library for networks (oneDNN), which isn't used."""

__all__ = ["is_available"]


def is_available() -> bool:
    """
    Return whether the library is used: never; convolutions are the package's own.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mkldnn.is_available()
    False
    """
    return False
