"""``x[key]``: numbers for single elements, views for slices, copies for masks and LongTensors."""

from __future__ import annotations

import operator

import autograd_cy as ag
from autograd_cy import Tensor

from .wrapping import (
    Base,
    _make,
    element_for,
    in_shape_of,
    is_number,
    number_in,
    refuse,
    same_dtype,
    scalar_for,
    typename,
    wrap,
)

__all__ = ["Indexing"]

_get = Tensor.__getitem__


def _element(t, i, dim):
    size = t.shape[dim]
    if not size:
        raise IndexError("indexing an empty tensor")
    if not -size <= i < size:
        raise IndexError(f"index {i} is out of range for dimension {dim} (of size {size})")


def _check_key(t, key):
    """A key of ints, slices, None and Ellipsis, which the core then takes."""
    parts = key if isinstance(key, tuple) else (key,)
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    dims = Tensor.dim(t)
    if taken > dims:
        raise IndexError(f"trying to index {taken} dimensions of a {dims} dimensional tensor")
    checked, dim = [], 0
    for part in parts:
        if part is None:
            checked.append(part)
            continue
        if part is Ellipsis:
            dim += dims - taken
        elif isinstance(part, slice):
            dim += 1
        elif isinstance(part, bool) or not hasattr(part, "__index__") or isinstance(part, Tensor):
            raise TypeError(
                f"indexing a tensor with an object of type {typename(part)}. The only supported "
                "types are integers, slices, numpy scalars and torch.LongTensor or "
                "torch.ByteTensor as the only argument."
            )
        else:
            part = operator.index(part)
            _element(t, part, dim)
            dim += 1
        checked.append(part)
    return tuple(checked)


def mask_for(t, mask, name):
    """A ByteTensor as a mask of the core, in the shape of `t`."""
    if not isinstance(mask, Tensor) or mask.dtype not in (ag.uint8, ag.bool):
        refuse(name, (t, mask), "a torch.ByteTensor as mask")
    return ag.ne(in_shape_of(t, mask, f"{name}: the mask"), 0)


def indices(t, index, name):
    """A LongTensor of indices."""
    if not isinstance(index, Tensor) or index.dtype is not ag.int64:
        refuse(name, (t, index), "a torch.LongTensor of indices")
    return index


def viewed(t, key):
    """``t[key]`` for ints and slices, as a core tensor on the same memory."""
    view = _get(t, _check_key(t, key))
    if not Tensor.numel(view):
        raise ValueError("result of slicing is an empty tensor")
    return view


class Indexing(Base):
    """The methods that choose elements."""

    __slots__ = ()

    def __getitem__(self, key):
        if type(key) is int:
            _element(self, key, 0)
            view = _get(self, key)
            return _make(type(self), view) if Tensor.dim(self) > 1 else number_in(view)
        if isinstance(key, Tensor):
            return self._chosen(key)
        view = viewed(self, key)
        return number_in(view) if view.dim() == 0 else _make(type(self), view)

    def _chosen(self, key):
        if key.dtype is ag.int64:
            return wrap(ag.index_select(self, 0, key))
        if key.dtype in (ag.uint8, ag.bool):
            return self.masked_select(key)
        return _check_key(self, key)

    def __setitem__(self, key, value):
        if isinstance(key, Tensor):
            self._put(key, value)
            return
        target = viewed(self, key)
        if isinstance(value, Tensor):
            if value.dtype is not self.dtype:
                same_dtype(self, value, "__setitem__")
            Tensor.copy_(target, in_shape_of(target, value, "__setitem__"))
        elif is_number(value):
            Tensor.fill_(target, scalar_for(self, value, "__setitem__"))
        else:
            raise TypeError(
                f"can't assign a {type(value).__name__} to a {typename(self)}; a number or a "
                f"{typename(self)} can be"
            )

    def _put(self, key, value):
        is_tensor = isinstance(value, Tensor)
        if key.dtype is ag.int64:
            (self.index_copy_ if is_tensor else self.index_fill_)(0, key, value)
        elif key.dtype in (ag.uint8, ag.bool):
            (self.masked_copy_ if is_tensor else self.masked_fill_)(key, value)
        else:
            _check_key(self, key)

    def index(self, key):
        """``self[key]``, and a tensor of one element where that is a number."""
        if isinstance(key, Tensor):
            return self._chosen(key)
        return wrap(viewed(self, key))

    def _set_index(self, key, value):
        self[key] = value

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(self.shape[0])])

    def __reversed__(self):
        return iter([self[i] for i in range(self.shape[0] - 1, -1, -1)])

    def __contains__(self, item):
        return any(x is item or x == item for x in self)

    def __bool__(self):
        if Tensor.numel(self):
            raise RuntimeError(f"bool value of non-empty {typename(self)} objects is ambiguous")
        return False

    __nonzero__ = __bool__

    def nonzero(self):
        """A LongTensor with a row of indices for each element that isn't 0."""
        return wrap(ag.nonzero(self))

    def index_select(self, dim, index):
        """The slices along a dimension that a LongTensor names."""
        return _make(type(self), ag.index_select(self, dim, indices(self, index, "index_select")))

    def index_add_(self, dim, index, tensor):
        """Add slices to those that a LongTensor names."""
        source = same_dtype(self, tensor, "index_add_")
        ag.index_add_(self, dim, indices(self, index, "index_add_"), source)
        return self

    def index_copy_(self, dim, index, tensor):
        """Put slices in place of those that a LongTensor names."""
        index = indices(self, index, "index_copy_")
        source = same_dtype(self, tensor, "index_copy_")
        size = list(self.shape)
        size[dim] = Tensor.numel(index)
        if list(source.shape) != size:
            source = in_shape_of(
                ag.empty(size, dtype=self.dtype, device=self.device), source, "index_copy_"
            )
        ag.index_copy_(self, dim, index, source)
        return self

    def index_fill_(self, dim, index, val):
        """Put a number into the slices that a LongTensor names."""
        value = element_for(self, val, "index_fill_")
        ag.index_fill_(self, dim, indices(self, index, "index_fill_"), value)
        return self

    def gather(self, dim, index):
        """The elements along a dimension that a LongTensor names, one for each of its elements."""
        return _make(type(self), ag.gather(self, dim, indices(self, index, "gather")))

    def scatter_(self, dim, index, src):
        """Put a number or a tensor at the places that a LongTensor names."""
        index = indices(self, index, "scatter_")
        if is_number(src):
            ag.scatter_(self, dim, index, scalar_for(self, src, "scatter_"))
        else:
            ag.scatter_(self, dim, index, same_dtype(self, src, "scatter_"))
        return self

    def scatter_add_(self, dim, index, src):
        """Add a tensor at the places that a LongTensor names."""
        index = indices(self, index, "scatter_add_")
        ag.scatter_add_(self, dim, index, same_dtype(self, src, "scatter_add_"))
        return self

    def masked_select(self, mask):
        """The elements where a ByteTensor isn't 0, in one dimension."""
        return _make(type(self), ag.masked_select(self, mask_for(self, mask, "masked_select")))

    def masked_fill_(self, mask, value):
        """Put a number where a ByteTensor isn't 0."""
        value = element_for(self, value, "masked_fill_")
        ag.masked_fill_(self, mask_for(self, mask, "masked_fill_"), value)
        return self

    def masked_copy_(self, mask, source):
        """Put elements of a tensor, one after the other, where a ByteTensor isn't 0."""
        mask = mask_for(self, mask, "masked_copy_")
        source = same_dtype(self, source, "masked_copy_")
        ones, count = int(ag.sum(mask)), Tensor.numel(source)
        if count < ones:
            raise RuntimeError(
                f"masked_copy_: the mask has {ones} ones, and the source {count} elements"
            )
        ag.masked_scatter_(self, mask, source)
        return self

    masked_scatter_ = masked_copy_
