"""Memory and types: copies, conversions, ``resize_``, storages, shared memory, pickles."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy.storage import TypedStorage

from .wrapping import CLASSES, Base, _make, core, dims_of, in_shape_of, typename, wrap

__all__ = ["Memory"]

_NO_GPU = "there is no GPU: tensors are on the CPU; leave .cuda() out, or ask cuda.is_available()"


def class_of(kind):
    """The tensor class that a class, its name or a dtype stands for."""
    if isinstance(kind, str):
        module, _, name = kind.rpartition(".")
        if module == "torch.cuda":
            raise RuntimeError(_NO_GPU)
        found = [cls for cls in CLASSES.values() if cls.__name__ == name]
        if module not in ("torch", "autograd_cy.legacy", "autograd_cy") or not found:
            raise RuntimeError(f"invalid type: '{kind}'")
        return found[0]
    if kind in CLASSES.values():
        return kind
    if kind in CLASSES:
        return CLASSES[kind]
    if getattr(kind, "__module__", "") == "autograd_cy.legacy.cuda":
        raise RuntimeError(_NO_GPU)
    raise RuntimeError(f"invalid type: {kind!r}")


def _conversion(name, dtype):
    def method(self):
        return self if self.dtype is dtype else wrap(Tensor.to(self, dtype))

    method.__name__ = name
    method.__doc__ = f"The elements as a tensor of {str(dtype).partition('.')[2]}."
    return method


class Memory(Base):
    """The methods about memory and type."""

    __slots__ = ()

    is_sparse = False
    is_cuda = False

    def new(self, *args):
        """A tensor of the same type: empty, of given sizes, or of values."""
        return type(self)(*args)

    def type(self, new_type=None, **kwargs):
        """The name of the type, or the elements as another type."""
        if new_type is None:
            return typename(self)
        cls = class_of(new_type)
        return self if cls is type(self) else wrap(Tensor.to(self, cls.kind))

    def type_as(self, tensor):
        """The elements in the type of another tensor."""
        return self if self.dtype is tensor.dtype else wrap(Tensor.to(self, tensor.dtype))

    double = _conversion("double", ag.float64)
    float = _conversion("float", ag.float32)
    half = _conversion("half", ag.float16)
    long = _conversion("long", ag.int64)
    int = _conversion("int", ag.int32)
    short = _conversion("short", ag.int16)
    char = _conversion("char", ag.int8)
    byte = _conversion("byte", ag.uint8)

    def cpu(self):
        """This tensor, which is on the CPU."""
        return self

    def cuda(self, device=None, **kwargs):
        """Refused: there is no GPU."""
        raise RuntimeError(_NO_GPU)

    def pin_memory(self):
        """Refused: there is no GPU."""
        raise RuntimeError(_NO_GPU)

    def is_pinned(self):
        """False."""
        return False

    def get_device(self):
        """-1, for the CPU."""
        return -1

    def is_signed(self):
        """Whether the type has negative numbers."""
        return self.dtype is not ag.uint8

    def clone(self):
        """A contiguous copy."""
        return _make(type(self), Tensor.clone(self, memory_format=ag.contiguous_format))

    def contiguous(self):
        """This tensor, or a contiguous copy of one that isn't."""
        return self if Tensor.is_contiguous(self) else self.clone()

    def copy_(self, source, *args, **kwargs):
        """Take over the elements of a tensor of any type with as many."""
        if not isinstance(source, Tensor):
            raise TypeError(f"copy_: expected a tensor, not {type(source).__name__}")
        Tensor.copy_(self, in_shape_of(self, source, "copy_"))
        return self

    def resize_(self, *sizes):
        """Other sizes on the same memory, or on a larger block if it is too small for them."""
        sizes = tuple(dims_of(sizes))
        if any(n < 0 for n in sizes):
            raise RuntimeError(f"resize_: sizes must not be negative, got {sizes}")
        if tuple(self.shape) == sizes and Tensor.is_contiguous(self):
            return self
        count = 1
        for n in sizes:
            count *= n
        strides = _contiguous_strides(sizes)
        block = Tensor.untyped_storage(self)
        start = Tensor.storage_offset(self)
        if (start + count) * self.dtype.itemsize > block.nbytes():
            # Nobody who shows the old block hears of it, unlike then, when all grew together.
            before = core(self)
            held = block.nbytes() // self.dtype.itemsize - start
            grown = ag.empty(count, dtype=self.dtype)
            if held > 0:
                old = _rebuild_tensor(Tensor, block, self.dtype, start, (held,), (1,), False)
                Tensor.narrow(grown, 0, 0, held).copy_(old)
            del before
            block, start = Tensor.untyped_storage(grown), 0
        self._show(block, start, sizes, strides)
        return self

    def _show(self, block, start, sizes, strides):
        made = _rebuild_tensor(Tensor, block, self.dtype, start, sizes, strides, False)
        Tensor.data.__set__(self, made)

    def resize_as_(self, tensor):
        """The sizes of another tensor, as by ``resize_``."""
        return self.resize_(*tensor.shape)

    def set_(self, source=None, storage_offset=0, sizes=None, strides=None):
        """Show the memory of another tensor or of a storage."""
        if source is None:
            Tensor.data.__set__(self, ag.empty(0, dtype=self.dtype))
            return self
        if isinstance(source, Tensor):
            if source.dtype is not self.dtype:
                raise TypeError(f"set_: expected a {typename(self)}, got a {typename(source)}")
            Tensor.data.__set__(self, core(source))
            return self
        if not isinstance(source, TypedStorage) or source.dtype is not self.dtype:
            raise TypeError(f"set_: expected a tensor or storage of the type of a {typename(self)}")
        if sizes is None:
            sizes = (len(source) - storage_offset,)
        strides = _contiguous_strides(sizes) if strides is None else strides
        self._show(source.untyped(), storage_offset, tuple(sizes), tuple(strides))
        return self

    def is_set_to(self, tensor):
        """Whether another tensor shows the same elements in the same way."""
        return Tensor.is_set_to(self, tensor)

    def storage(self):
        """The memory block that this tensor shows."""
        from .storages import storage_of

        return storage_of(self)

    def share_memory_(self):
        """Move to memory that processes share, if it isn't there."""
        from .sharing import block_of, on_shared_block

        if block_of(self) is None:
            Tensor.data.__set__(self, on_shared_block(core(self)))
        return self

    def numpy(self):
        """An array on the same memory."""
        return Tensor.numpy(self)

    def tolist(self):
        """The elements as nested lists of numbers."""
        return Tensor.tolist(self)

    def __reduce_ex__(self, protocol):
        storage = Tensor.untyped_storage(self)
        place = Tensor.storage_offset(self), tuple(self.shape), tuple(Tensor.stride(self))
        return _rebuild_tensor, (type(self), storage, self.dtype, *place, False)

    def __deepcopy__(self, memo):
        import copy

        block = copy.deepcopy(Tensor.untyped_storage(self), memo)
        place = Tensor.storage_offset(self), tuple(self.shape), tuple(Tensor.stride(self))
        return _rebuild_tensor(type(self), block, self.dtype, *place, False)

    def __array__(self, dtype=None, copy=None):
        made = Tensor.numpy(self)
        return made if dtype is None else made.astype(dtype, copy=False)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if array.ndim == 0 else wrap(ag.from_numpy(array))

    def __repr__(self):
        from .printing import text_of

        return text_of(self)

    __str__ = __repr__

    def __format__(self, spec):
        return format(repr(self), spec)

    def __float__(self):
        raise TypeError(f"a {typename(self)} is no number; index it, as in x[0]")

    __int__ = __index__ = __complex__ = __float__


def _contiguous_strides(sizes):
    strides, step = [], 1
    for n in reversed(sizes):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))
