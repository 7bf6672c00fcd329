"""The plain functions of formulas (BUILTINS of ext/codegen/formula.py) on Python values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C.metadata import _number_of
from autograd_cy._C.placement import _device_code


def normal_dim(dim: int, ndim: int) -> int:
    return dim % max(ndim, 1)


def normal_dims(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    if isinstance(dims, int):
        return (normal_dim(dims, ndim),)
    return tuple(normal_dim(d, ndim) for d in dims or ()) or tuple(range(ndim))


def inverse_permutation(dims: Sequence[int]) -> tuple[int, ...]:
    order = [normal_dim(d, len(dims)) for d in dims]
    return tuple(order.index(i) for i in range(len(dims)))


def shifted(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(d + 1 for d in dims)


def axis_sizes(tensors: Sequence[Any], dim: int) -> tuple[int, ...]:
    most = max(t.ndim for t in tensors)
    legacy = [t.ndim != most and tuple(t.shape) == (0,) for t in tensors]
    return tuple(0 if old else t.shape[dim] for t, old in zip(tensors, legacy))


def count_reduced(shape: Sequence[int], dims: int | Sequence[int] | None) -> int:
    count = 1
    for d in normal_dims(dims, len(shape)) if len(shape) else ():
        count *= shape[d]
    return count


def strides_of(t: Any) -> tuple[int, ...]:
    return tuple(t.stride())


def offset_of(t: Any) -> int:
    return t.storage_offset()


def device_code_of(t: Any) -> int:
    return _device_code(t.device)


def without(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    return tuple(shape[:dim]) + tuple(shape[dim + 1 :])


def shapes_of(tensors: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(t.shape) for t in tensors)


def number_of(t: Any) -> Any:
    """The number that a wrapped number stands for, otherwise None."""
    return t if isinstance(t, (bool, int, float, complex)) else _number_of(t)


def is_number(t: Any) -> bool:
    return number_of(t) is not None
