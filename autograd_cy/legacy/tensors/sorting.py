"""Methods that order elements: pairs of values and of a LongTensor of indices."""

from __future__ import annotations

import numpy as np

import autograd_cy as ag

from .wrapping import Base, _make, wrap

__all__ = ["Sorting"]


def _pair(t, pair):
    values, indices = pair
    return _make(type(t), values), wrap(indices)


class Sorting(Base):
    """The methods that order elements; they work along the last dimension unless told."""

    __slots__ = ()

    def sort(self, dim=-1, descending=False):
        """(values, indices) along a dimension."""
        return _pair(self, ag.sort(self, -1 if dim is None else dim, bool(descending)))

    def topk(self, k, dim=-1, largest=True, sorted=True):
        """(values, indices) of the k largest, or smallest, along a dimension."""
        return _pair(self, ag.topk(self, k, -1 if dim is None else dim, bool(largest), sorted))

    def median(self, dim=-1):
        """(values, indices) of the lower middle elements along a dimension."""
        return _pair(self, ag.median(self, -1 if dim is None else dim, keepdim=True))

    def kthvalue(self, k, dim=-1):
        """(values, indices) of the k-th smallest elements along a dimension."""
        dim = -1 if dim is None else dim
        size = self.shape[dim]
        if not 1 <= k <= size:
            raise RuntimeError(f"kthvalue: k is {k}, and dimension {dim} has {size} elements")
        values, indices = ag.sort(self, dim)
        return _pair(self, (ag.narrow(x, dim, k - 1, 1).clone() for x in (values, indices)))

    def mode(self, dim=-1):
        """(values, indices) of the most frequent elements along a dimension, the smaller first."""
        dim = -1 if dim is None else dim
        values, indices = (ag.transpose(x, dim, -1) for x in ag.sort(self, dim, stable=True))
        rows = values.numpy()
        # Where a run of equal elements began, for each element; its length up to there.
        place = np.arange(rows.shape[-1])
        first = np.ones(rows.shape, bool)
        first[..., 1:] = rows[..., 1:] != rows[..., :-1]
        length = place - np.maximum.accumulate(np.where(first, place, 0), -1)
        end = ag.from_numpy(length.argmax(-1)[..., None].astype(np.int64))
        return _pair(
            self, (ag.transpose(ag.gather(x, -1, end), dim, -1) for x in (values, indices))
        )
