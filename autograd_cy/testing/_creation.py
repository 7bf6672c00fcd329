"""make_tensor: random tensors for tests."""

from __future__ import annotations

import math
from typing import Any

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import empty as _empty
from autograd_cy._C.ops_complex import complex as _complex
from autograd_cy._C.random_operators import rand as _rand
from autograd_cy._C.random_operators import randint as _randint
from autograd_cy._C.tensor import Tensor

_PARTS = {_dtypes.complex64: _dtypes.float32, _dtypes.complex128: _dtypes.float64}


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """
    Return a tensor of random numbers, uniform in [low, high).

    Parameters
    ----------
    *shape : int, or a sequence of ints
        The shape.
    dtype : dtype
    device : device or str
        ``"cpu"``.
    low, high : float, optional
        The range; for complex dtypes that of both parts. Defaults: [0, 2) for bool, [0, 10) for
        uint8, [-9, 10) for other integers, [-9, 9) for floating and complex dtypes.
    requires_grad : bool, default False
    noncontiguous : bool, default False
        Leave gaps between the elements, if there are two at least.
    exclude_zero : bool, default False
        Replace zeros by the smallest positive number of the dtype (for complex ones in both
        parts), or one for integers.
    memory_format : memory_format, optional
        The order in memory; not together with `noncontiguous`.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the range is empty or NaN, if integers shall require grad, or if `noncontiguous` and
        `memory_format` are given together.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.testing.make_tensor(2, 3, dtype=ag.float32, device="cpu").shape
    autograd_cy.Size([2, 3])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    smooth = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and not smooth:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype}"
        )
    low, high = _range(dtype, low, high)
    values = _values(sizes, dtype, low, high)
    if exclude_zero:
        values[values == 0] = _smallest(dtype)
    if noncontiguous and values.numel() > 1:
        wide = _empty((*sizes, 2), dtype=dtype)
        wide.select(-1, 0).copy_(values)
        values = wide.select(-1, 0)
    elif memory_format is not None:
        values = values.contiguous(memory_format=memory_format)
    # `device` is checked where it is used, and names what is missing.
    return values.to(device).requires_grad_(requires_grad)


def _range(dtype, low, high):
    if dtype == _dtypes._bool:
        default = (0, 2)
    elif dtype == _dtypes.uint8:
        default = (0, 10)
    elif dtype.is_floating_point or dtype.is_complex:
        default = (-9, 9)
    else:
        default = (-9, 10)
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    smooth = dtype.is_floating_point or dtype.is_complex
    if low == high and smooth:
        _warn(
            "Passing `low==high` to `make_tensor` for floating or complex types is deprecated; "
            "use torch.full() instead.",
            FutureWarning,
        )
    if low > high or (low == high and not smooth):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if dtype == _dtypes._bool:
        least, most = 0, 1
    else:
        info = _dtypes.finfo(dtype) if smooth else _dtypes.iinfo(dtype)
        least, most = info.min, info.max
    end = most if smooth or dtype == _dtypes.int64 else most + 1
    if low >= end or high < least:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {most}]"
        )
    return max(low, least), min(high, end)


def _values(sizes, dtype, low, high):
    if dtype.is_complex:
        part = _PARTS[dtype]
        return _complex(_values(sizes, part, low, high), _values(sizes, part, low, high))
    if dtype.is_floating_point:
        # In double precision, so that a rounding doesn't reach `high`.
        share = _rand(sizes, dtype=_dtypes.float64)
        if math.isinf(high - low):
            return low * (1 - share) + high * share
        return (low + (high - low) * share).to(dtype)
    return _randint(math.ceil(low), math.ceil(high), sizes).to(dtype)


def _smallest(dtype):
    if dtype.is_complex:
        tiny = _dtypes.finfo(_PARTS[dtype]).tiny
        return complex(tiny, tiny)
    return _dtypes.finfo(dtype).tiny if dtype.is_floating_point else 1
