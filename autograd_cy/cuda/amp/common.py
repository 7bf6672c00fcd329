"""Whether mixed precision can be had on a GPU."""

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """
    Whether there is no GPU to compute with: always.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.amp.amp_definitely_not_available()
    True
    """
    return True
