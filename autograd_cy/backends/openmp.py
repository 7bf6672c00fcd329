"""The threads of kernels."""

from autograd_cy._C import parallel

__all__ = ["is_available"]


def is_available() -> bool:
    """
    Return whether kernels use several threads; a build without OpenMP has one.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.openmp.is_available() in (True, False)
    True
    """
    return bool(parallel.info()["openmp"])
