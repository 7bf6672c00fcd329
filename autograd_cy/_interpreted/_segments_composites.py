"""Reductions of segments, by the number of the segment of each element."""

from __future__ import annotations

from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import (
    arange,
    cat,
    full,
    int32,
    int64,
    remainder,
    scatter_reduce,
    searchsorted,
    sum,
    unsqueeze,
    zeros_like,
)
from autograd_cy._tensors.predicates import need_dim

# The word of scatter_reduce, and the result for a segment without elements.
WORDS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "max": ("amax", float("-inf")),
    "amax": ("amax", float("-inf")),
    "min": ("amin", float("inf")),
    "amin": ("amin", float("inf")),
    "prod": ("prod", 1.0),
}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None,
    indices: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    unsafe: bool,
    initial: float | None,
) -> Tensor:
    if not data.is_floating_point():
        raise NotImplementedError(
            f"segment_reduce: data must be of a floating dtype, not {data.dtype}; convert it"
        )
    axis = need_dim(axis, data.ndim)
    if reduce not in WORDS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if indices is not None:
        raise RuntimeError(
            "segment_reduce(): indices based reduction is not supported yet; use scatter_reduce"
        )
    if offsets is not None:
        _check_sizes(data, "offsets", offsets, axis)
        ends = offsets.to(int64)
        lengths = ends.narrow(-1, 1, ends.shape[-1] - 1) - ends.narrow(-1, 0, ends.shape[-1] - 1)
    elif lengths is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    else:
        _check_sizes(data, "lengths", lengths, axis)
        lengths = lengths.to(int64)
        if not unsafe and _batch_level(lengths) < 0 and lengths.device.type == "cpu":
            _check_sums(lengths, data.shape[axis])
        ends = lengths.cumsum(-1)
        ends = _with_zero_first(ends)
    return _reduced(data, reduce, lengths, ends, axis, initial)


def _with_zero_first(ends: Tensor) -> Tensor:
    return cat((zeros_like(ends.narrow(-1, 0, 1)), ends), -1) if ends.shape[-1] else ends


def _reduced(
    data: Tensor, reduce: str, lengths: Tensor, ends: Tensor, axis: int, initial: float | None
) -> Tensor:
    count = lengths.shape[-1]
    word, neutral = WORDS[reduce]
    first = neutral if initial is None else initial
    if not count:
        shape = [*data.shape[:axis], 0, *data.shape[axis + 1 :]]
        return full(shape, first, dtype=data.dtype, device=data.device)
    # The number of the segment of each element; `count` stands for none.
    places = arange(data.shape[axis], device=data.device)
    places = places.expand(*data.shape[: axis + 1]).contiguous()
    numbers = remainder(searchsorted(ends.contiguous(), places, right=True) - 1, count + 1)
    padded = [*data.shape[:axis], count + 1, *data.shape[axis + 1 :]]
    start = full(padded, first, dtype=data.dtype, device=data.device)
    deep = numbers
    for _ in range(data.ndim - axis - 1):
        deep = unsqueeze(deep, -1)
    result = scatter_reduce(start, axis, deep.expand(data.shape), data, word, include_self=True)
    result = result.narrow(axis, 0, count)
    if reduce != "mean":
        return result
    sizes = lengths
    for _ in range(data.ndim - axis - 1):
        sizes = unsqueeze(sizes, -1)
    if initial is None:
        return result / sizes.to(data.dtype)
    return result / sizes.clamp(min=1).to(data.dtype)


def _check_sizes(data: Tensor, name: str, sizes: Tensor, axis: int) -> None:
    if sizes.dtype not in (int32, int64):
        raise NotImplementedError(
            f"segment_reduce: {name} must be of int32 or int64, not {sizes.dtype}"
        )
    if sizes.device != data.device:
        raise RuntimeError(
            f"segment_reduce: data is on {data.device} and {name} on {sizes.device}; both must be "
            "on one device"
        )
    if axis != sizes.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}."
        )
    if tuple(sizes.shape[:axis]) != tuple(data.shape[:axis]):
        raise RuntimeError(
            f"segment_reduce(): {name} of shape {list(sizes.shape)} must have the dimensions "
            f"before axis {axis} of data, whose shape is {list(data.shape)}"
        )


def _check_sums(lengths: Tensor, size: int) -> None:
    if lengths.numel() and int(lengths.min()) < 0:
        raise RuntimeError("segment_reduce(): lengths contains negative value!")
    if not bool((sum(lengths, -1) == size).all()):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            f"data.size(lengths.dim()-1) when !unsafe, which is {size}."
        )
