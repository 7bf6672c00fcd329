"""Indexing made of other operators."""

from __future__ import annotations

from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._namespace import arange, broadcast_shapes, eq, gather, int64, remainder, unsqueeze


def one_hot(input: Tensor, num_classes: int) -> Tensor:
    if input.dtype != int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, not {input.dtype}; "
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
    if input.numel() and _batch_level(input) < 0:  # under vmap they can't be looked at
        lowest = int(input.min())
        if lowest < 0:
            raise RuntimeError(f"Class values must be non-negative, but there is {lowest}.")
        if _largest(input) >= num_classes:
            raise RuntimeError(
                f"Class values must be smaller than num_classes, but there is {_largest(input)} "
                f"and num_classes is {num_classes}."
            )
    return eq(unsqueeze(input, -1), arange(num_classes)).to(int64)


def _largest(input: Tensor) -> int:
    return int(input.max())


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    if indices.is_floating_point() or indices.is_complex() or "int" not in str(indices.dtype):
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype}"
        )
    if dim is None:
        return gather(self.reshape(-1), 0, _wrapped(indices.reshape(-1), self.numel()))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if not self.ndim:
        return gather(self, dim, _wrapped(indices, 1))
    if not -self.ndim <= dim < self.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-self.ndim}, {self.ndim - 1}], "
            f"but got {dim})"
        )
    dim %= self.ndim
    wide, many = list(self.shape), list(indices.shape)
    size, count = wide[dim], many[dim]
    wide[dim] = many[dim] = 1
    common = list(broadcast_shapes(wide, many))
    common[dim] = size
    self = self.expand(common)
    common[dim] = count
    return gather(self, dim, _wrapped(indices, size).expand(common))


def _wrapped(indices: Tensor, size: int) -> Tensor:
    """Indices count on from the end and from the beginning, as in torch."""
    return remainder(indices, size) if size else indices
