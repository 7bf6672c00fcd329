"""Shapes and types: views share the version of what they are views of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd_cy as ag

from ...tensors.wrapping import CLASSES, typename
from .. import _functions as F
from .._state import VariableBase

__all__ = ["Shaping"]


def _sizes(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sizes that were given one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return tuple(sizes[0])
    return sizes


def _data_of(other: Any) -> Any:
    """The tensor of a Variable; shapes and types may also be those of a tensor."""
    return other._tensor if isinstance(other, VariableBase) else other


def _of_data(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        return getattr(self._tensor, name)(*args)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``data.{name}``."
    return method


def _conversion(name: str, dtype: Any) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return F.Type(CLASSES[dtype])(self)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The elements as a {name} tensor."
    return method


class Shaping(VariableBase):
    """The methods that tell or change the shape or the type."""

    size = _of_data("size")
    stride = _of_data("stride")
    nelement = _of_data("nelement")
    numel = _of_data("numel")
    ndimension = _of_data("ndimension")
    dim = _of_data("dim")
    element_size = _of_data("element_size")
    is_contiguous = _of_data("is_contiguous")
    is_signed = _of_data("is_signed")
    get_device = _of_data("get_device")

    @property
    def is_cuda(self) -> bool:
        """True if the data is on a GPU."""
        return self._tensor.is_cuda

    def is_set_to(self, other: Any) -> bool:
        """Return whether the data shows the same elements in the same way as that of another
        one."""
        return self._tensor.is_set_to(_data_of(other))

    def is_same_size(self, other: Any) -> bool:
        """Return whether another Variable has the same sizes."""
        return self._tensor.shape == _data_of(other).shape

    def contiguous(self) -> Any:
        """Make the data contiguous, and return the Variable itself."""
        if not self._tensor.is_contiguous():
            self._tensor = self._tensor.contiguous()
        return self

    def clone(self) -> Any:
        """A copy, to which gradients lead through."""
        return F.Clone()(self)

    def view(self, *sizes: Any) -> Any:
        """View the memory with other sizes."""
        return F.View(*_sizes(sizes))(self)

    def view_as(self, other: Any) -> Any:
        """View the memory with the sizes of another Variable."""
        return F.View(*other.size())(self)

    def resize(self, *sizes: Any) -> Any:
        """Other sizes with as many elements."""
        return F.Resize(*_sizes(sizes))(self)

    def resize_as(self, other: Any) -> Any:
        """The sizes of another Variable with as many elements."""
        return F.Resize(*other.size())(self)

    def expand(self, *sizes: Any) -> Any:
        """View the memory with dimensions of size one shown several times."""
        return F.Expand(_sizes(sizes))(self)

    def expand_as(self, other: Any) -> Any:
        """View the memory expanded to the sizes of another Variable."""
        return F.Expand(tuple(other.size()))(self)

    def repeat(self, *repeats: Any) -> Any:
        """Copies side by side along each dimension."""
        return F.Repeat(_sizes(repeats))(self)

    def t(self) -> Any:
        """The transpose of a matrix."""
        if self._tensor.dim() != 2:
            raise RuntimeError(f"t() expects a 2D Variable, but self is {self._tensor.dim()}D")
        return F.Transpose(0, 1)(self)

    def transpose(self, dim1: int, dim2: int) -> Any:
        """View the memory with two dimensions exchanged."""
        return F.Transpose(dim1, dim2)(self)

    def permute(self, *dims: Any) -> Any:
        """View the memory with dimensions in another order."""
        return F.Permute(_sizes(dims))(self)

    def squeeze(self, dim: Any = None) -> Any:
        """View the memory without dimensions of size one; one dimension stays."""
        return F.Squeeze(dim)(self)

    def unsqueeze(self, dim: int) -> Any:
        """View the memory with another dimension of size one."""
        return F.Unsqueeze(dim)(self)

    def chunk(self, num_chunks: int, dim: int = 0) -> Any:
        """About equal parts along a dimension."""
        return F.Chunk(num_chunks, dim)(self)

    def split(self, split_size: int, dim: int = 0) -> Any:
        """Parts of a size along a dimension; the last may be smaller."""
        if split_size < 1:
            raise ValueError(f"split: the size of parts must be positive, not {split_size}")
        size = self._tensor.size(dim)
        starts = range(0, size, split_size)
        return tuple(self.narrow(dim, start, min(split_size, size - start)) for start in starts)

    def select(self, dim: int, index: int) -> Any:
        """One slice along a dimension."""
        return F.Index((*self._before(dim), index))(self)

    def narrow(self, dim: int, start: int, length: int) -> Any:
        """A part of a dimension."""
        size = self._tensor.size(dim)
        if start < 0 or length < 1 or start + length > size:
            raise RuntimeError(
                f"narrow: start {start} and length {length} are out of range for dimension {dim} "
                f"of size {size}"
            )
        return F.Index((*self._before(dim), slice(start, start + length)))(self)

    def _before(self, dim: int) -> tuple[slice, ...]:
        dims = self._tensor.dim()
        if not -dims <= dim < dims:
            raise RuntimeError(f"dimension {dim} out of range of {dims}D tensor")
        return (slice(None),) * (dim % dims)

    def unbind(self, dim: int = 0) -> Any:
        """All slices along a dimension."""
        return tuple(self.select(dim, i) for i in range(self._tensor.size(dim)))

    def diag(self, k: int = 0) -> Any:
        """The diagonal of a matrix, or the matrix of a diagonal."""
        return F.Diag(k)(self)

    def tril(self, k: int = 0) -> Any:
        """The lower triangle of a matrix."""
        return F.Tril(k)(self)

    def triu(self, k: int = 0) -> Any:
        """The upper triangle of a matrix."""
        return F.Triu(k)(self)

    # Types ----------------------------------------------------------------------------------------

    def type(self, t: Any = None) -> Any:
        """The name of the type, or the elements as another type."""
        return typename(self._tensor) if t is None else F.Type(t)(self)

    def type_as(self, other: Any) -> Any:
        """The elements in the type of another Variable."""
        return F.Type(CLASSES[_data_of(other).dtype])(self)

    double = _conversion("double", ag.float64)
    float = _conversion("float", ag.float32)
    half = _conversion("half", ag.float16)
    long = _conversion("long", ag.int64)
    int = _conversion("int", ag.int32)
    short = _conversion("short", ag.int16)
    char = _conversion("char", ag.int8)
    byte = _conversion("byte", ag.uint8)

    def cpu(self) -> Any:
        """The elements on the CPU, where they are."""
        return F.Type(CLASSES[self._tensor.dtype])(self)

    def cuda(self, device_id: Any = None, async_: bool = False, **kwargs: Any) -> Any:
        """The elements on a GPU; there is none."""
        kwargs.pop("async", None)  # a keyword of the language since
        if kwargs:
            raise TypeError(f"cuda() got an unexpected keyword argument '{next(iter(kwargs))}'")
        return F.CudaTransfer(device_id)(self)
