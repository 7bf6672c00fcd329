"""Return whether mixed precision can be had on a GPU."""

from autograd_cy.cuda.devices import is_available

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """
    Tell if there is no GPU to compute with.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.amp.amp_definitely_not_available() is not ag.cuda.is_available()
    True
    """
    return not is_available()
