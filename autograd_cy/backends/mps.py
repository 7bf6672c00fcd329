"""Apple's GPUs, which aren't used."""

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """
    Return whether tensors can be on Apple's GPU: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """
    Return whether this build has kernels for Apple's GPU: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mps.is_built()
    False
    """
    return False
