"""Intel's library of linear algebra, for products of matrices."""

from autograd_cy._C.blas import blas_info

__all__ = ["is_available"]


def is_available() -> bool:
    """
    Return whether products of matrices use the library, because SciPy brought it.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.mkl.is_available() in (True, False)
    True
    """
    return "mkl" in str(blas_info()).lower()
