"""Sizes and views. A tensor has at least one dimension, or no element and none."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Size, Tensor

from .wrapping import Base, _make, dims_of, wrap

__all__ = ["Shaping"]

_dim, _size, _stride = Tensor.dim, Tensor.size, Tensor.stride


def _is_nothing(t):
    """Return whether a tensor is an empty one, which had no dimensions."""
    return _dim(t) == 1 and not t.shape[0]


class Shaping(Base):
    """The methods that tell or change the shape."""

    __slots__ = ()

    def dim(self):
        """The number of dimensions."""
        return 0 if _is_nothing(self) else _dim(self)

    def ndimension(self):
        """The number of dimensions."""
        return 0 if _is_nothing(self) else _dim(self)

    def size(self, dim=None):
        """All sizes, or one of them."""
        if _is_nothing(self):
            if dim is None:
                return Size(())
            raise RuntimeError(f"dimension {dim} out of range of 0D tensor")
        if dim is None:
            return _size(self)
        return _size(self, self._place(dim))

    def stride(self, dim=None):
        """All strides, or one of them."""
        return _stride(self) if dim is None else _stride(self, self._place(dim))

    def _place(self, dim):
        dims = _dim(self)
        if not -dims <= dim < dims:
            raise RuntimeError(f"dimension {dim} out of range of {dims}D tensor")
        return dim

    def is_same_size(self, other):
        """Return whether another tensor has the same sizes."""
        return self.shape == other.shape

    def view(self, *sizes):
        """View the memory with other sizes, one of which may be -1; only of contiguous tensors."""
        if not Tensor.is_contiguous(self):
            raise RuntimeError("view: input is not contiguous; call .contiguous() first")
        return wrap(Tensor.view(self, dims_of(sizes)))

    def view_as(self, other):
        """View the memory with the sizes of another tensor."""
        return self.view(*other.size())

    def resize(self, *sizes):
        """Return the elements with other sizes."""
        return self.contiguous().view(*sizes)

    def resize_as(self, other):
        """Return the elements with the sizes of another tensor."""
        return self.contiguous().view(*other.size())

    def expand(self, *sizes):
        """View the memory with dimensions of size one shown several times."""
        return _make(type(self), Tensor.expand(self, dims_of(sizes)))

    def expand_as(self, other):
        """View the memory expanded to the sizes of another tensor."""
        return self.expand(*other.size())

    def repeat(self, *sizes):
        """Copies side by side along each dimension."""
        return _make(type(self), Tensor.repeat(self, dims_of(sizes)))

    def t(self):
        """The transpose of a matrix."""
        if _dim(self) != 2:
            raise RuntimeError(f"t() expects a 2D tensor, but self is {self.dim()}D")
        return _make(type(self), Tensor.t(self))

    def t_(self):
        """Transpose a matrix in place."""
        if _dim(self) != 2:
            raise RuntimeError(f"t_() expects a 2D tensor, but self is {self.dim()}D")
        Tensor.t_(self)
        return self

    def transpose(self, dim0, dim1):
        """View the memory with two dimensions exchanged."""
        return _make(type(self), Tensor.transpose(self, self._place(dim0), self._place(dim1)))

    def transpose_(self, dim0, dim1):
        """Exchange two dimensions in place."""
        Tensor.transpose_(self, self._place(dim0), self._place(dim1))
        return self

    def permute(self, *dims):
        """View the memory with dimensions in another order."""
        return _make(type(self), Tensor.permute(self, dims_of(dims)))

    def squeeze(self, dim=None):
        """View the memory without dimensions of size one; one dimension stays."""
        if dim is not None:
            if _dim(self) == 1:
                self._place(dim)
                return _make(type(self), self)
            return _make(type(self), Tensor.squeeze(self, self._place(dim)))
        return wrap(ag.squeeze(self))

    def squeeze_(self, dim=None):
        """Drop dimensions of size one in place; one dimension stays."""
        if dim is None:
            Tensor.squeeze_(self)
            if _dim(self) == 0:
                Tensor.unsqueeze_(self, 0)
        elif _dim(self) > 1:
            Tensor.squeeze_(self, self._place(dim))
        return self

    def unsqueeze(self, dim):
        """View the memory with another dimension of size one."""
        if _is_nothing(self):
            raise RuntimeError("cannot unsqueeze empty tensor")
        return _make(type(self), Tensor.unsqueeze(self, dim))

    def unsqueeze_(self, dim):
        """Put in a dimension of size one in place."""
        if _is_nothing(self):
            raise RuntimeError("cannot unsqueeze empty tensor")
        Tensor.unsqueeze_(self, dim)
        return self

    def select(self, dim, index):
        """One slice along a dimension, of one dimension less."""
        if _dim(self) < 2:
            raise RuntimeError("cannot select on a vector: index it, or use narrow")
        return _make(type(self), Tensor.select(self, self._place(dim), index))

    def narrow(self, dim, start, length):
        """A part of a dimension."""
        size = self.size(dim)
        if start < 0 or length < 1 or start + length > size:
            raise RuntimeError(
                f"narrow: start {start} and length {length} are out of range for dimension {dim} "
                f"of size {size}"
            )
        return _make(type(self), Tensor.narrow(self, dim, start, length))

    def chunk(self, n_chunks, dim=0):
        """About equal parts along a dimension."""
        if n_chunks < 1:
            raise RuntimeError(f"chunk: the number of parts must be positive, not {n_chunks}")
        size = self.size(dim)
        return self.split((size + n_chunks - 1) // n_chunks, dim)

    def split(self, split_size, dim=0):
        """Parts of a size along a dimension; the last may be smaller."""
        parts = Tensor.split(self, split_size, self._place(dim))
        return tuple(_make(type(self), part) for part in parts)

    def unbind(self, dim=0):
        """All slices along a dimension."""
        return tuple(self.select(dim, i) for i in range(self.size(dim)))

    def unfold(self, dimension, size, step):
        """Windows along a dimension, in a dimension of their own at the end."""
        return _make(type(self), Tensor.unfold(self, self._place(dimension), size, step))

    def diag(self, diagonal=0):
        """The diagonal of a matrix, or the matrix of a diagonal."""
        return _make(type(self), ag.diag(self, diagonal))

    def tril(self, k=0):
        """The lower triangle of a matrix."""
        return _make(type(self), ag.tril(self, k))

    def tril_(self, k=0):
        """Keep the lower triangle of a matrix."""
        ag.tril_(self, k)
        return self

    def triu(self, k=0):
        """The upper triangle of a matrix."""
        return _make(type(self), ag.triu(self, k))

    def triu_(self, k=0):
        """Keep the upper triangle of a matrix."""
        ag.triu_(self, k)
        return self
