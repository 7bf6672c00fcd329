"""Elements chosen, and put in place of others, by keys, indices and masks."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from ...tensors.wrapping import wrap
from ..function import Function, InplaceFunction
from .shapes import in_shape, zeros

__all__ = [
    "Gather",
    "Index",
    "IndexAdd",
    "IndexCopy",
    "IndexFill",
    "IndexSelect",
    "MaskedCopy",
    "MaskedFill",
    "MaskedSelect",
    "Scatter",
    "SetItem",
]


_item, _numel = Tensor.__getitem__, Tensor.numel
_PLAIN = {int, slice}


class Index(Function):
    """``x[key]``, and a tensor of one element where that is a number."""

    def __init__(self, key):
        self.key = key

    def forward(self, x):
        self.size = size = x.shape
        key = self.key
        if type(key) is int and 0 <= key < size[0]:
            out = _item(x, key)
            self.mark_shared_storage((x, out))
            return out
        if type(key) is slice or (type(key) is tuple and {*map(type, key)} <= _PLAIN):
            try:
                out = _item(x, key)
            except IndexError:
                pass  # and the words of the era below
            else:
                if _numel(out):
                    self.mark_shared_storage((x, out))
                    return out
        out = x.index(key)
        if not isinstance(key, Tensor):
            self.mark_shared_storage((x, out))
        return out

    def backward(self, grad):
        made = wrap(zeros(self.size, grad))
        if isinstance(self.key, Tensor) and self.key.dtype is ag.int64:
            return ag.index_add_(made, 0, self.key, grad)
        made._set_index(self.key, wrap(grad))
        return made


class SetItem(InplaceFunction):
    """``x[key] = value`` of a number or of a second tensor."""

    def __init__(self, key, value=None):
        self.key = key
        self.value = value
        self.inplace = True

    def forward(self, x, value=None):
        self.mark_dirty(x)
        self.value_size = None if value is None else value.shape
        x._set_index(self.key, self.value if value is None else value)
        return x

    def backward(self, grad):
        of_x = wrap(grad).clone()
        of_x._set_index(self.key, 0)
        if self.value_size is None:
            return of_x
        if not self.needs_input_grad[1]:
            return of_x, None
        return of_x, in_shape(wrap(grad).index(self.key).clone(), self.value_size)


class _Put(InplaceFunction):
    """A source that is put along a dimension by an index, by the method that `_put` names."""

    _put: str

    def __init__(self, dim, inplace=False):
        self.dim = dim
        self.inplace = inplace

    def forward(self, x, index, source):
        self.save_for_backward(index)
        self.source_size = source.shape
        if self.inplace:
            self.mark_dirty(x)
        else:
            x = x.clone()
        return getattr(x, self._put)(self.dim, index, source)


class IndexAdd(_Put):
    """A tensor whose slices are added to those that an index names."""

    _put = "index_add_"

    def backward(self, grad):
        (index,) = self.saved_tensors
        return grad, None, in_shape(ag.index_select(grad, self.dim, index), self.source_size)


class IndexCopy(_Put):
    """A tensor whose slices come in place of those that an index names."""

    _put = "index_copy_"

    def backward(self, grad):
        (index,) = self.saved_tensors
        return (
            ag.index_fill(grad, self.dim, index, 0),
            None,
            in_shape(ag.index_select(grad, self.dim, index), self.source_size),
        )


class IndexFill(InplaceFunction):
    """A number in all slices that an index names."""

    def __init__(self, dim, value, inplace=False):
        self.dim = dim
        self.value = value
        self.inplace = inplace

    def forward(self, x, index):
        self.save_for_backward(index)
        if self.inplace:
            self.mark_dirty(x)
        else:
            x = x.clone()
        return x.index_fill_(self.dim, index, self.value)

    def backward(self, grad):
        (index,) = self.saved_tensors
        return ag.index_fill(grad, self.dim, index, 0), None


class IndexSelect(Function):
    """The slices that an index names."""

    def __init__(self, dim):
        self.dim = dim

    def forward(self, x, index):
        self.save_for_backward(index)
        self.size = x.shape
        return x.index_select(self.dim, index)

    def backward(self, grad):
        (index,) = self.saved_tensors
        return ag.index_add_(zeros(self.size, grad), self.dim, index, grad), None


class Gather(Function):
    """The elements along a dimension that an index names, one for each of its elements."""

    def __init__(self, dim):
        self.dim = dim

    def forward(self, x, index):
        self.save_for_backward(index)
        self.size = x.shape
        return x.gather(self.dim, index)

    def backward(self, grad):
        (index,) = self.saved_tensors
        return ag.scatter_add_(zeros(self.size, grad), self.dim, index, grad), None


class Scatter(_Put):
    """Elements put in place of those along a dimension that an index names."""

    _put = "scatter_"

    def backward(self, grad):
        (index,) = self.saved_tensors
        of_source = ag.gather(grad, self.dim, index)
        if of_source.shape != self.source_size:
            # What the index doesn't reach isn't used.
            whole = zeros(self.source_size, grad)
            whole[tuple(slice(n) for n in index.shape)] = of_source
            of_source = whole
        return ag.scatter(grad, self.dim, index, 0), None, of_source


class MaskedCopy(InplaceFunction):
    """Elements put one after the other where a mask isn't 0."""

    def forward(self, x, mask, source):
        self.save_for_backward(mask)
        self.source_size = source.shape
        if self.inplace:
            self.mark_dirty(x)
        else:
            x = x.clone()
        return x.masked_copy_(mask, source)

    def backward(self, grad):
        (mask,) = self.saved_tensors
        taken = ag.ne(in_shape(mask, grad.shape), 0)
        of_source = None
        if self.needs_input_grad[2]:
            chosen = ag.masked_select(grad, taken)
            of_source = zeros((ag.Size(self.source_size).numel(),), grad)
            of_source[: chosen.numel()] = chosen
            of_source = in_shape(of_source, self.source_size)
        return ag.masked_fill(grad, taken, 0), None, of_source


class MaskedFill(InplaceFunction):
    """A number where a mask isn't 0."""

    def __init__(self, value, inplace=False):
        self.value = value
        self.inplace = inplace

    def forward(self, x, mask):
        self.save_for_backward(mask)
        if self.inplace:
            self.mark_dirty(x)
        else:
            x = x.clone()
        return x.masked_fill_(mask, self.value)

    def backward(self, grad):
        (mask,) = self.saved_tensors
        return ag.masked_fill(grad, ag.ne(in_shape(mask, grad.shape), 0), 0), None


class MaskedSelect(Function):
    """The elements where a mask isn't 0, in one dimension."""

    def forward(self, x, mask):
        self.save_for_backward(mask)
        self.size = x.shape
        return x.masked_select(mask)

    def backward(self, grad):
        (mask,) = self.saved_tensors
        taken = ag.ne(in_shape(mask, self.size), 0)
        return ag.masked_scatter(zeros(self.size, grad), taken, grad), None
