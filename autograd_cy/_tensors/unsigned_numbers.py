"""
Ints from 2**63 to 2**64 - 1 beside tensors.

To torch such an int is a uint64: beside floats a float, beside integers its lowest bits where it
is an operand, and refused where a value must fit. They are looked at when the arguments of a call
don't fit otherwise, so that other calls don't pay for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.tensor import Tensor

__all__ = ["unsigned_taken"]

_OPERANDS = frozenset(
    "add sub subtract rsub mul multiply floor_divide remainder fmod pow eq ne not_equal lt less le "
    "less_equal gt greater ge greater_equal bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
    "bitwise_right_shift isin bucketize searchsorted result_type".split()
)
_OF_FLOATS = frozenset("div divide true_divide xlogy copysign float_power".split())
_OF_TRUTH = frozenset("fill index_fill masked_fill scatter".split())


def unsigned_taken(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """
    Return the arguments of a call with ints from 2**63 on, as torch reads them beside tensors.

    None: there is no such int, or an even larger one, or no tensor to say what it is. A
    RuntimeError says that the operator doesn't take it beside these tensors.
    """
    name = name.strip("_")
    inputs = [*args, *(x for key, x in kwargs.items() if key != "out")]
    huge = [x for x in inputs if _is_unsigned(x)]
    if not huge or any(type(x) is int and not -(2**63) <= x < 2**64 for x in inputs):
        return None
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    floats = any(x.is_floating_point() or x.is_complex() for x in tensors)
    if floats or any(isinstance(x, (float, complex)) for x in args):
        return _replaced(float, args, kwargs)
    if not tensors:
        return None
    dtype = tensors[0].dtype
    if name == "where":  # beside its condition
        dtype = max((x.dtype for x in tensors), key=lambda dtype: dtype is not _dtypes._bool)
    if dtype is _dtypes._bool:
        return _beside_truth(name, args, kwargs)
    if dtype is _dtypes.uint64 and (name not in _OF_FLOATS or _rounds(args, kwargs)):
        return _replaced(lambda n: n - (1 << 64), args, kwargs)  # an int64 with the same bits
    if name in _OF_FLOATS and not _rounds(args, kwargs):
        return _replaced(float, args, kwargs)
    # The lowest bits of an exponent would make it another power.
    exponent = name == "pow" and isinstance(args[0] if args else kwargs.get("self"), Tensor)
    if (name in _OPERANDS or name in _OF_FLOATS) and not exponent:
        return _replaced(lambda n: lowest_bits(n, dtype), args, kwargs)
    raise RuntimeError(
        f"{name}: value cannot be converted to type {dtype._number} without overflow: {huge[0]}"
    )


def lowest_bits(n: int, dtype: _dtype) -> int:
    """Return an int as a dtype of integers has it when it wraps around."""
    bits = 8 * dtype.itemsize
    n &= (1 << bits) - 1
    return n - (1 << bits) if (dtype.is_signed or bits == 64) and n >> (bits - 1) else n


def _is_unsigned(x: Any) -> bool:
    return type(x) is int and 2**63 <= x < 2**64


def _rounds(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a division is one of integers."""
    return isinstance(kwargs.get("rounding_mode"), str) or isinstance(args[-1], str)


def _beside_truth(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Beside bool tensors alone."""
    if name in _OF_TRUTH:
        return _replaced(bool, args, kwargs)
    if name == "float_power":
        return _replaced(float, args, kwargs)
    raise RuntimeError(
        f"{name}: Promotion for uint16, uint32, uint64 types is not supported, attempted to "
        "promote Bool and UInt64; give the number as a float"
    )


def _replaced(
    by: Callable[[int], Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def put(x: Any) -> Any:
        return by(x) if _is_unsigned(x) else x

    return tuple(map(put, args)), {key: put(x) for key, x in kwargs.items()}
