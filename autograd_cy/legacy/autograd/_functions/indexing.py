"""Elements chosen, and put in place of others, by keys, indices and masks."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from ...tensors.wrapping import wrap
from ..function import Function, InplaceFunction
from .adapter import FLOATING, Adapter, InplaceAdapter, as_floating, define, never
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
        result = wrap(zeros(self.size, grad))
        if isinstance(self.key, Tensor) and self.key.dtype is ag.int64:
            return ag.index_add_(result, 0, self.key, grad)
        result._set_index(self.key, wrap(grad))
        return result


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


class _ByIndex(Adapter):
    """An operator along a dimension with indices, and perhaps a number or a source after them."""

    keeps = (1,)
    places: tuple = (0,)

    def __init__(self, dim):
        self.dim = dim

    def core(self, x, index, *source):
        return self._operator(x, self.dim, index, *source, *self.extra)

    def method(self, x, index, *source):
        return getattr(x, self.name)(self.dim, index, *source, *self.extra)

    def adapted(self, inputs):
        x, index, *others = inputs
        return [as_floating(x, x.shape), index, *(as_floating(t, t.shape) for t in others)]


# The slices that an index names, and the elements, one for each of the index.
IndexSelect = define(__name__, "IndexSelect", _ByIndex, name="index_select")
Gather = define(__name__, "Gather", _ByIndex)


class _Put(_ByIndex, InplaceAdapter):
    """A source that is put along a dimension by an index."""

    places: tuple = (0, 2)

    def __init__(self, dim, inplace=False):
        self.dim = dim
        self.inplace = inplace

    def core_(self, x, index, *source):
        self._operator_(x, self.dim, index, *source, *self.extra)

    def method(self, x, index, *source):
        return self.method_(x.clone(), index, *source)

    def method_(self, x, index, *source):
        return getattr(x, f"{self.name}_")(self.dim, index, *source, *self.extra)

    def fits(self, x, index, source):
        fits = type(x) is type(source) and type(x) in FLOATING and index.dtype is ag.int64
        return fits and self.shape(x, index) == source.shape

    def shape(self, x, index):
        """The shape of a source, which had only as many elements."""
        size = list(x.shape)
        size[self.dim] = _numel(index)
        return ag.Size(size)

    def adapted(self, inputs):
        x, index, source = inputs
        return [as_floating(x, x.shape), index, as_floating(source, self.shape(x, index))]


IndexAdd = define(__name__, "IndexAdd", _Put, name="index_add")
IndexCopy = define(__name__, "IndexCopy", _Put, name="index_copy")


class Scatter(_Put):
    """Elements put in place of those along a dimension that an index names."""

    name = "scatter"

    def shape(self, x, index):
        return index.shape

    def fits(self, x, index, source):
        return type(x) is type(source) and type(x) in FLOATING and index.dtype is ag.int64

    def adapted(self, inputs):
        return _ByIndex.adapted(self, inputs)


class IndexFill(_Put):
    """A number in all slices that an index names."""

    name = "index_fill"
    places = (0,)

    def __init__(self, dim, value, inplace=False):
        super().__init__(dim, inplace)
        self.value = value
        self.extra = (value,)

    def fits(self, x, index):
        return type(x) in FLOATING and index.dtype is ag.int64

    def adapted(self, inputs):
        return _ByIndex.adapted(self, inputs)


class _Masked(Adapter):
    """An operator with a mask, a ByteTensor of as many elements."""

    keeps = (1,)
    places = (0,)

    def core(self, x, mask, *source):
        return self._operator(x, ag.ne(mask, 0), *source, *self.extra)

    def core_(self, x, mask):
        self._operator_(x, ag.ne(mask, 0), *self.extra)

    def fits(self, x, mask):
        return type(x) in FLOATING and mask.dtype is ag.uint8 and x.shape == mask.shape

    def adapted(self, inputs):
        x, mask, *source = inputs
        mask = in_shape(mask, x.shape)
        return [as_floating(x, x.shape), mask, *(as_floating(t, t.shape) for t in source)]


MaskedSelect = define(__name__, "MaskedSelect", _Masked, name="masked_select", several=True)


class _MaskedPut(_Masked, InplaceAdapter):
    def method(self, x, *others):
        return self.method_(x.clone(), *others)


class MaskedFill(_MaskedPut):
    """A number where a mask isn't 0."""

    name = "masked_fill"

    def __init__(self, value, inplace=False):
        self.value = value
        self.extra = (value,)
        self.inplace = inplace


MaskedCopy = define(
    __name__, "MaskedCopy", _MaskedPut, name="masked_scatter", fits=never, several=True
)
