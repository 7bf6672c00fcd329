"""Memory and types: copies, conversions, ``resize_``, storages, shared memory, pickles."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy.storage import TypedStorage

from .wrapping import CLASSES, Base, _make, core, dims_of, in_shape_of, typename, wrap

__all__ = ["Memory"]

_NO_GPU = "there is no GPU: tensors are on the CPU; leave .cuda() out, or ask cuda.is_available()"


def a_gpu(device=None):
    """The GPU of a number, or the current one; where there is none, an error."""
    if not ag.cuda.is_available():
        raise RuntimeError(_NO_GPU)
    return ag.device("cuda", device) if isinstance(device, int) and device >= 0 else "cuda"


def class_of(kind):
    """The tensor class that a class, its name or a dtype stands for, and whether it is of a GPU."""
    there = getattr(kind, "__module__", "") == "autograd_cy.legacy.cuda"
    if there:
        kind = f"torch.cuda.{kind.__name__}"
    if isinstance(kind, str):
        module, _, name = kind.rpartition(".")
        if module == "torch.cuda":
            a_gpu()
        classes = [cls for cls in CLASSES.values() if cls.__name__ == name]
        modules = ("torch", "autograd_cy.legacy", "autograd_cy", "torch.cuda")
        if module not in modules or not classes:
            raise RuntimeError(f"invalid type: '{kind}'")
        return classes[0], module == "torch.cuda"
    if kind in CLASSES.values():
        return kind, False
    if kind in CLASSES:
        return CLASSES[kind], None
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

    @property
    def is_cuda(self):
        """True if the elements are on a GPU."""
        return Tensor.is_cuda.__get__(self)

    def new(self, *args):
        """A tensor of the same type: empty, of given sizes, or of values."""
        result = type(self)(*args)
        return result.cuda(self.get_device()) if self.is_cuda else result

    def type(self, new_type=None, **kwargs):
        """The name of the type, or the elements as another type."""
        if new_type is None:
            return typename(self)
        cls, there = class_of(new_type)
        place = self.device if there in (None, self.is_cuda) else "cuda" if there else "cpu"
        return wrap(Tensor.to(self, place, cls.kind))

    def type_as(self, tensor):
        """The elements in the type of another tensor, where that is."""
        place = self.device if self.is_cuda == tensor.is_cuda else tensor.device
        return wrap(Tensor.to(self, place, tensor.dtype))

    double = _conversion("double", ag.float64)
    float = _conversion("float", ag.float32)
    half = _conversion("half", ag.float16)
    long = _conversion("long", ag.int64)
    int = _conversion("int", ag.int32)
    short = _conversion("short", ag.int16)
    char = _conversion("char", ag.int8)
    byte = _conversion("byte", ag.uint8)

    def cpu(self):
        """The elements on the CPU; the tensor itself if it is there."""
        return wrap(Tensor.cpu(self))

    def cuda(self, device=None, **kwargs):
        """The elements on a GPU, by number or the current one; where there is none, an error."""
        place = self.device if device is None and self.is_cuda else a_gpu(device)
        late = bool(kwargs.get("async", kwargs.get("non_blocking", False)))
        return wrap(Tensor.to(self, place, non_blocking=late))

    def pin_memory(self):
        """The elements in memory that a GPU copies from directly; without one, an error."""
        a_gpu()
        return wrap(Tensor.pin_memory(self))

    def is_pinned(self):
        """Return whether a GPU copies from the memory directly."""
        return Tensor.is_pinned(self)

    def get_device(self):
        """The number of the GPU, -1 for the CPU."""
        return Tensor.get_device(self)

    def is_signed(self):
        """Return whether the type has negative numbers."""
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
            grown = ag.empty(count, dtype=self.dtype, device=self.device)
            if held > 0:
                old = _rebuild_tensor(Tensor, block, self.dtype, start, (held,), (1,), False)
                Tensor.narrow(grown, 0, 0, held).copy_(old)
            del before
            block, start = Tensor.untyped_storage(grown), 0
        self._show(block, start, sizes, strides)
        return self

    def _show(self, block, start, sizes, strides):
        view = _rebuild_tensor(Tensor, block, self.dtype, start, sizes, strides, False)
        Tensor.data.__set__(self, view)

    def resize_as_(self, tensor):
        """The sizes of another tensor, as by ``resize_``."""
        return self.resize_(*tensor.shape)

    def set_(self, source=None, storage_offset=0, sizes=None, strides=None):
        """Show the memory of another tensor or of a storage."""
        if source is None:
            Tensor.data.__set__(self, ag.empty(0, dtype=self.dtype, device=self.device))
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
        """Return whether another tensor shows the same elements in the same way."""
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
        array = Tensor.numpy(self)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if array.ndim == 0 else wrap(ag.from_numpy(array))

    def __repr__(self):
        from .printing import text_of_tensor

        return text_of_tensor(self)

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
