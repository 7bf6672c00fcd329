"""Memory blocks of one type: ``FloatStorage`` and its relatives."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.storage import TypedStorage

__all__ = ["STORAGES", "Storage"]

NAMES = {
    "Double": ag.float64,
    "Float": ag.float32,
    "Half": ag.float16,
    "Long": ag.int64,
    "Int": ag.int32,
    "Short": ag.int16,
    "Char": ag.int8,
    "Byte": ag.uint8,
}


class Storage(TypedStorage):
    """
    A memory block of one type.

    Parameters
    ----------
    size_or_values : int or sequence, optional
        A number of uninitialised elements, or their values.
    """

    kind = ag.float32
    is_cuda = is_sparse = False

    def __init__(self, size_or_values=0):
        if isinstance(size_or_values, int):
            block = ag.empty(size_or_values, dtype=self.kind)
        else:
            block = ag.tensor(list(size_or_values), dtype=self.kind)
        super().__init__(
            wrap_storage=Tensor.untyped_storage(block), dtype=self.kind, _internal=True
        )

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self.tolist()[index])
        return self._elements()[self._place(index)].item()

    def _place(self, index):
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return index

    def __setitem__(self, index, value):
        self._elements()[index if isinstance(index, slice) else self._place(index)] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Put a number into all elements."""
        self._elements().fill_(value)
        return self

    def copy_(self, source):
        """Take over the elements of another storage, of any type and the same size."""
        if len(source) != len(self):
            raise RuntimeError(f"copy_: sizes differ, {len(source)} and {len(self)}")
        self._elements().copy_(source._elements())
        return self

    def clone(self):
        """A copy."""
        return type(self)(self.tolist())

    def type(self, new_type=None):
        """The name of the type, or the elements as another type."""
        if new_type is None:
            return f"torch.{type(self).__name__}"
        cls = STORAGES[new_type.rpartition(".")[2]] if isinstance(new_type, str) else new_type
        return self if cls is type(self) else cls(len(self)).copy_(self)

    def new(self, *args):
        """Another storage of this type."""
        return type(self)(*args)

    def __reduce__(self):
        return _on_block, (type(self), self._untyped_storage)

    def __repr__(self):
        rows = "\n".join(f" {x}" for x in self.tolist())
        return f"{rows}\n[torch.{type(self).__name__} of size {len(self)}]"


def _on_block(cls, untyped):
    result = cls.__new__(cls)
    TypedStorage.__init__(result, wrap_storage=untyped, dtype=cls.kind, _internal=True)
    return result


def storage_of(t):
    """The storage that a tensor shows."""
    return _on_block(_BY_DTYPE[t.dtype], Tensor.untyped_storage(t))


STORAGES: dict[str, Any] = {
    f"{name}Storage": type(
        f"{name}Storage",
        (Storage,),
        {
            "kind": dtype,
            "__module__": "autograd_cy.legacy",
            "__doc__": f"A memory block of {str(dtype).partition('.')[2]} elements.",
        },
    )
    for name, dtype in NAMES.items()
}
_BY_DTYPE = {cls.kind: cls for cls in STORAGES.values()}
