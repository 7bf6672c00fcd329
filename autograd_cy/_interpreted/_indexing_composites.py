"""Indexing made of other operators."""

from __future__ import annotations

from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._namespace import arange, eq, int64, unsqueeze


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
