"""Indexing made of other operators."""

from __future__ import annotations

from autograd_cy._C.levels import _batch_level
from autograd_cy._C.ops_indexing import _bincount
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted._value_checks import checked_classes
from autograd_cy._tensors.namespace import (
    arange,
    broadcast_shapes,
    eq,
    float32,
    float64,
    gather,
    int64,
    remainder,
    unsqueeze,
    zeros,
)
from autograd_cy._tensors.namespace import bool as _bool
from autograd_cy._tensors.predicates import need_dim


def bincount(input: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    if _batch_level(input) >= 0 or (weights is not None and _batch_level(weights) >= 0):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            "to vmap over bincount; use one_hot() with num_classes, and sum() instead."
        )
    if minlength < 0:
        raise RuntimeError(f"bincount(): minlength should be >= 0, but it is {minlength}")
    if input.is_floating_point() or input.is_complex() or input.dtype == _bool:
        raise NotImplementedError(
            f"bincount(): expected numbers of bins as integers, got {input.dtype._scalar}; "
            "convert them by .long()"
        )
    if input.ndim != 1:
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs, got "
            f"shape {list(input.shape)}"
        )
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(
            "bincount(): weights should be 1-d and have the same length as input, got "
            f"{list(weights.shape)} and {list(input.shape)}"
        )
    if not input.numel():
        return zeros(minlength, dtype=int64, device=input.device)
    counts = _bincount(input, minlength)
    if weights is None:
        return counts
    if weights.dtype != float32:
        weights = weights.to(float64)
    bins = zeros(counts.shape[0], dtype=weights.dtype, device=input.device)
    return bins.scatter_add(0, input.to(int64), weights)


def one_hot(input: Tensor, num_classes: int) -> Tensor:
    if input.dtype != int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor, not "
            f"{input.dtype._scalar}; "
            "convert it by .long()"
        )
    if num_classes == -1:
        if _batch_level(input) >= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive "
                "num_classes argument."
            )
        if not input.numel():
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = _largest(input) + 1
    input = checked_classes(input, num_classes)
    return eq(unsqueeze(input, -1), arange(num_classes, device=input.device)).to(int64)


def _largest(input: Tensor) -> int:
    return int(input.max())


def take_along_dim(
    self: Tensor, indices: Tensor, dim: int | None, out: Tensor | None = None
) -> Tensor:
    if indices.device != self.device:
        raise RuntimeError(
            "torch.take_along_dim(): Expected all tensors to be on the same device, but got "
            f"{self.device} and {indices.device}"
        )
    if out is not None and out.dtype != self.dtype:
        out = None  # the result is made, and refused with its dtype
    if indices.dtype is not int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{indices.dtype._scalar}"
        )
    if dim is None:
        return gather(self.reshape(-1), 0, indices.reshape(-1).to(int64), out=out)
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not self.ndim:
        raise IndexError(
            f"take_along_dim: Dimension specified as {dim} but tensor has no dimensions"
        )
    dim = need_dim(dim, self.ndim)
    wide, many = list(self.shape), list(indices.shape)
    size, count = wide[dim], many[dim]
    wide[dim] = many[dim] = 1
    common = list(broadcast_shapes(wide, many))
    common[dim] = size
    self = self.expand(common)
    common[dim] = count
    return gather(self, dim, _wrapped(indices, size).expand(common), out=out)


def _wrapped(indices: Tensor, size: int) -> Tensor:
    """Indices count on from the end and from the beginning, as in torch."""
    return remainder(indices, size) if size else indices
