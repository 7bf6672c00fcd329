"""
From core tensors to those of the era and back, and what every operation asks of its operands.

The core computes; its results are plain tensors, and :func:`wrap` makes them members of the class
of their dtype. There are no 0-d tensors here: :func:`wrap` gives one element of one dimension,
:func:`number_in` a Python number.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C.overrides import _disabled_method

__all__ = [
    "CLASSES",
    "Base",
    "core",
    "dims_of",
    "element_for",
    "era",
    "is_number",
    "number_in",
    "operand",
    "refuse",
    "same_dtype",
    "typename",
    "wrap",
]


class Base(Tensor):
    """The base of the parts of the tensor classes."""

    __slots__ = ()
    # Functions of the core take these as they are and give plain tensors.
    __torch_function__ = _disabled_method()


# The class of each dtype; classes.py fills it.
CLASSES: dict[Any, type] = {}

_make = Tensor._make_subclass


def wrap(t: Tensor) -> Any:
    """The tensor of the era on the memory of a core tensor; one of the era comes back as it is."""
    cls = CLASSES.get(t.dtype)
    if type(t) is cls:
        return t
    if cls is None:
        if t.dtype is not ag.bool:
            raise TypeError(
                f"there is no tensor type of {t.dtype} in the Variable era; the dtypes are "
                f"{', '.join(str(kind).partition('.')[2] for kind in CLASSES)}"
            )
        cls, t = CLASSES[ag.uint8], ag.Tensor.view(t, ag.uint8)
    if t.dim() == 0:
        t = ag.Tensor.view(t, 1)
    return _make(cls, t)


def number_in(t: Tensor) -> Any:
    """The only element of a tensor as a Python number."""
    return ag.Tensor.item(t)


def core(t: Tensor) -> Tensor:
    """A plain core tensor on the same memory."""
    return ag.Tensor.detach(t)


def typename(t: Any) -> str:
    """``torch.FloatTensor`` of a tensor, the name of its class of anything else."""
    cls = CLASSES.get(t.dtype) if isinstance(t, Tensor) else None
    place = "cuda." if cls and t.is_cuda else ""
    return f"torch.{place}{cls.__name__}" if cls else type(t).__name__


def era(t: Any, name: str) -> Any:
    """A tensor that a program gave, as one of the era; what is none is refused."""
    if not isinstance(t, Tensor):
        refuse(name, (t,), "a tensor")
    if t.requires_grad:
        refuse_graph(name)
    return wrap(t)


def is_number(x: object) -> bool:
    """Return whether an object is a number, Python's or NumPy's."""
    kind = type(x)
    if kind is int or kind is float:
        return True
    return not isinstance(x, Tensor) and _is_scalar(x)


def _is_scalar(x: Any) -> bool:
    if isinstance(x, (int, float)):
        return True
    return hasattr(x, "__float__") and getattr(x, "ndim", None) == 0


def refuse(name: str, args: tuple, expected: str) -> Any:
    """Raise the TypeError of arguments that don't fit."""
    got = ", ".join(typename(a) for a in args)
    raise TypeError(
        f"{name} received an invalid combination of arguments - got ({got}), but expected "
        f"{expected}"
    )


def scalar_for(t: Tensor, x: Any, name: str) -> Any:
    """A number as an element of `t` would be; a fraction is no integer."""
    dtype = t.dtype
    if dtype.is_floating_point:
        return float(x)
    if isinstance(x, int):
        return int(x)
    if float(x).is_integer():
        return int(x)
    return refuse(name, (t, x), f"an integer: a {typename(t)} holds no fractions (use .float())")


def element_for(t: Tensor, x: Any, name: str) -> Any:
    """As :func:`scalar_for`, of what may be no number."""
    if not is_number(x):
        refuse(name, (t, x), "a number")
    return scalar_for(t, x, name)


def same_dtype(t: Tensor, other: Any, name: str) -> Tensor:
    """A tensor that is to be of the type of `t`."""
    if not isinstance(other, Tensor) or other.dtype is not t.dtype:
        refuse(name, (t, other), f"a {typename(t)}: types don't mix, convert one of them")
    if other.requires_grad:
        refuse_graph(name)
    return other


def refuse_graph(name: str) -> Any:
    """Raise the TypeError of a tensor whose graph would be lost."""
    raise TypeError(
        f"{name}: a tensor that requires grad belongs to the modern API; give tensor.detach()"
    )


def operand(t: Tensor, other: Any, name: str) -> Any:
    """The other operand of a pointwise operation: a number, or a tensor in the shape of `t`."""
    if not isinstance(other, Tensor):
        if is_number(other):
            return scalar_for(t, other, name)
        refuse(name, (t, other), f"a number or a {typename(t)}")
    return in_shape_of(t, same_dtype(t, other, name), name)


def in_shape_of(t: Tensor, other: Tensor, name: str) -> Tensor:
    """A tensor of as many elements as `t`, in the shape of `t`."""
    shape = t.shape
    if other.shape == shape:
        return other
    if ag.Tensor.numel(other) != ag.Tensor.numel(t):
        raise RuntimeError(
            f"{name}: inconsistent tensor size: {tuple(shape)} and {tuple(other.shape)} have "
            f"{ag.Tensor.numel(t)} and {ag.Tensor.numel(other)} elements; nothing is broadcast, "
            "use expand_as"
        )
    return ag.reshape(other, shape)


def dims_of(args: tuple) -> tuple[int, ...]:
    """Sizes that were given one by one or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    return args
