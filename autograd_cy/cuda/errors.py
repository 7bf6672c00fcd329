"""Exceptions by torch's names, for programs that catch them."""

from __future__ import annotations

__all__ = ["CudaError", "DeferredCudaCallError"]


class CudaError(RuntimeError):
    """
    An error of the driver's, by its number.

    Parameters
    ----------
    code : int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> str(ag.cuda.CudaError(2))
    'CUDA error 2'
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error {code}")
        self.code = code

    def __reduce__(self) -> tuple[type, tuple[int], dict]:
        return type(self), (self.code,), self.__dict__


class DeferredCudaCallError(Exception):
    """
    An error of what was asked of a GPU before its start; nothing is, so it isn't raised.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> issubclass(ag.cuda.DeferredCudaCallError, Exception)
    True
    """
