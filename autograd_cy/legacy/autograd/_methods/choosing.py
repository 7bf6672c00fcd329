"""Elements by keys, indices and masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from .. import _functions as F
from .._recording import leaf_of
from .._state import VariableBase
from .operands import check_number

__all__ = ["Choosing"]


def _as_index(key: Any) -> Any:
    """A Variable on the tensor of a key, which may be one already; None for other keys."""
    if isinstance(key, VariableBase):
        return key
    return leaf_of(key) if isinstance(key, Tensor) else None


def _kind(index: Any, keys: str) -> Any:
    dtype = index._tensor.dtype
    if dtype is not ag.uint8 and dtype is not ag.int64:
        raise TypeError(f"{keys}: a tensor as key has to be a ByteTensor or a LongTensor")
    return dtype


class Choosing(VariableBase):
    """The methods that choose elements."""

    def __getitem__(self, key: Any) -> Any:
        index = _as_index(key)
        if index is None:
            return F.Index(key)(self)
        if _kind(index, "Variable[key]") is ag.uint8:
            return F.MaskedSelect()(self, index)
        return F.IndexSelect(0)(self, index)

    def __setitem__(self, key: Any, value: Any) -> None:
        is_variable = isinstance(value, VariableBase)
        if not is_variable:
            check_number("Variable[key] = value", value)
        index = _as_index(key)
        if index is not None and _kind(index, "Variable[key] = value") is ag.uint8:
            if is_variable:
                F.MaskedCopy(inplace=True)(self, index, value)
            else:
                F.MaskedFill(value, inplace=True)(self, index)
            return
        if index is not None:
            key = index._tensor
        if is_variable:
            F.SetItem(key)(self, value)
        else:
            F.SetItem(key, value)(self)

    def __len__(self) -> int:
        return len(self._tensor)

    def __iter__(self) -> Iterator[Any]:
        return (F.Index(i)(self) for i in range(len(self._tensor)))

    def gather(self, dim: int, index: Any) -> Any:
        """The elements along a dimension that an index names."""
        return F.Gather(dim)(self, index)

    def scatter(self, dim: int, index: Any, source: Any) -> Any:
        """Put elements in place of those that an index names, in a copy."""
        return F.Scatter(dim)(self, index, source)

    def scatter_(self, dim: int, index: Any, source: Any) -> Any:
        """Put elements in place of those that an index names."""
        return F.Scatter(dim, inplace=True)(self, index, source)

    def index_select(self, dim: int, index: Any) -> Any:
        """The slices that an index names."""
        return F.IndexSelect(dim)(self, index)

    def index_add(self, dim: int, index: Any, source: Any) -> Any:
        """Add slices to those that an index names, in a copy."""
        return F.IndexAdd(dim)(self, index, source)

    def index_add_(self, dim: int, index: Any, source: Any) -> Any:
        """Add slices to those that an index names."""
        return F.IndexAdd(dim, inplace=True)(self, index, source)

    def index_copy(self, dim: int, index: Any, source: Any) -> Any:
        """Put slices in place of those that an index names, in a copy."""
        return F.IndexCopy(dim)(self, index, source)

    def index_copy_(self, dim: int, index: Any, source: Any) -> Any:
        """Put slices in place of those that an index names."""
        return F.IndexCopy(dim, inplace=True)(self, index, source)

    def index_fill(self, dim: int, index: Any, value: Any) -> Any:
        """Put a number into the slices that an index names, in a copy."""
        return F.IndexFill(dim, check_number("index_fill", value))(self, index)

    def index_fill_(self, dim: int, index: Any, value: Any) -> Any:
        """Put a number into the slices that an index names."""
        return F.IndexFill(dim, check_number("index_fill_", value), inplace=True)(self, index)

    def masked_copy(self, mask: Any, source: Any) -> Any:
        """Put elements one after the other where a mask isn't 0, in a copy."""
        return F.MaskedCopy()(self, mask, source)

    def masked_copy_(self, mask: Any, source: Any) -> Any:
        """Put elements one after the other where a mask isn't 0."""
        return F.MaskedCopy(inplace=True)(self, mask, source)

    def masked_fill(self, mask: Any, value: Any) -> Any:
        """Put a number where a mask isn't 0, in a copy."""
        return F.MaskedFill(check_number("masked_fill", value))(self, mask)

    def masked_fill_(self, mask: Any, value: Any) -> Any:
        """Put a number where a mask isn't 0."""
        return F.MaskedFill(check_number("masked_fill_", value), inplace=True)(self, mask)

    def masked_select(self, mask: Any) -> Any:
        """The elements where a mask isn't 0, in one dimension."""
        return F.MaskedSelect()(self, mask)
