"""Memory blocks as objects: untyped ones, and the older kind that knows a dtype."""

from __future__ import annotations

from typing import Any

from ._C.copying import _rebuild_tensor
from ._C.dtypes import dtype
from ._C.exchange import UntypedStorage
from ._C.tensor import Tensor, _install

__all__ = ["TypedStorage", "UntypedStorage"]


class TypedStorage:
    """
    A memory block seen as elements of one dtype.

    Made by ``Tensor.storage()``; new code should use ``Tensor.untyped_storage()``.

    Parameters
    ----------
    untyped : UntypedStorage
    dtype : dtype

    Examples
    --------
    >>> import autograd_cy as ag
    >>> s = ag.tensor([1.0, 2.0, 3.0])[1:].storage()
    >>> len(s), s[0]
    (3, 1.0)
    """

    def __init__(self, untyped: UntypedStorage, dtype: dtype):
        self._untyped = untyped
        self.dtype = dtype

    def _elements(self) -> Tensor:
        size = (self.nbytes() // self.dtype.itemsize,)
        return _rebuild_tensor(Tensor, self._untyped, self.dtype, 0, size, (1,), False)

    def untyped(self) -> UntypedStorage:
        """Return the block without a dtype."""
        return self._untyped

    @property
    def device(self) -> Any:
        return self._untyped.device

    @property
    def is_cuda(self) -> bool:
        return self._untyped.is_cuda

    def get_device(self) -> int:
        """Index of the device, -1 on the CPU and on meta."""
        return self._untyped.get_device()

    def _with(self, untyped: UntypedStorage) -> TypedStorage:
        return self if untyped is self._untyped else TypedStorage(untyped, self.dtype)

    def cpu(self) -> TypedStorage:
        """Return the elements on the CPU: a copy, or this object if they lie there."""
        return self._with(self._untyped.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """Return the elements on a GPU, the current one by default: a copy, or this object."""
        return self._with(self._untyped.cuda(device, non_blocking))

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """Return the elements on a device: a copy, or this object if they lie there."""
        return self._with(self._untyped.to(device=device, non_blocking=non_blocking))

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return self._untyped.data_ptr()

    def nbytes(self) -> int:
        """Size in bytes."""
        return self._untyped.nbytes()

    def element_size(self) -> int:
        """Return the bytes of one element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """Number of elements."""
        return len(self)

    def tolist(self) -> list:
        """Return the elements as a list of Python numbers."""
        return self._elements().tolist()

    def __len__(self) -> int:
        return self.nbytes() // self.dtype.itemsize

    def __getitem__(self, index: int) -> Any:
        return self.tolist()[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self._untyped == other._untyped and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self._untyped, self.dtype))

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, device={self.device}"
        return f"<autograd_cy.TypedStorage({kind}) of size {len(self)}>"


def storage(self: Tensor) -> TypedStorage:
    """
    Return the memory block that this tensor shows, with its dtype.

    Returns
    -------
    TypedStorage

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(4)[1:].storage().size()
    4
    """
    return TypedStorage(self.untyped_storage(), self.dtype)


_install("storage", storage)
