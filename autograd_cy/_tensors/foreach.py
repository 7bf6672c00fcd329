"""Functions over lists of tensors, ``_foreach_add`` and its like: loops over the functions of one.

`_TABLE` says which there are; the functions are made of it. Two of them have kernels of their own
(``_foreach_norm`` and ``_foreach_mul_`` of ops/optimizers.py). Loaded at the first use of a name.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C import ops_optimizers as _lists
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors import namespace as _one
from autograd_cy._tensors.public import public as _public

__all__: list[str] = []

_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg"
    " reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
).split()

# Name -> what the second argument may be beside numbers and a list of tensors: "alpha" is an
# option of tensors, "tensor" a tensor for all of them.
_BINARY: dict[str, tuple[str, ...]] = {
    "add": ("alpha", "tensor"),
    "sub": ("alpha",),
    "mul": ("tensor",),
    "div": ("tensor",),
    "clamp_max": (),
    "clamp_min": (),
    "maximum": (),
    "minimum": (),
    "pow": (),
}
_TERNARY = ("addcdiv", "addcmul")


# --- arguments ------------------------------------------------------------------------------------


def _check_list(op: str, tensors: Any, name: str, position: int) -> Sequence[Tensor]:
    """Return a list of tensors; TypeError for all else."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{op}(): argument '{name}' (position {position}) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} in argument {position - 1}, but got "
                f"{type(t).__name__}"
            )
    if not tensors:
        raise RuntimeError(f"{op}: Tensor list must have at least one tensor.")
    return tensors


def _check_lengths(op: str, first: Sequence[Any], *others: Sequence[Any]) -> None:
    for other in others:
        if len(first) != len(other):
            raise RuntimeError(
                f"{op}: Tensor lists must have the same number of tensors, got {len(first)} and "
                f"{len(other)}"
            )


def _is_number(x: Any) -> bool:
    return isinstance(x, (builtins.bool, builtins.int, builtins.float, builtins.complex))


def _refuse(op: str, *arguments: Any) -> TypeError:
    kinds = ", ".join(type(x).__name__ for x in arguments)
    return TypeError(
        f"{op}() received an invalid combination of arguments - got ({kinds}), but expected lists "
        "of tensors, and then a list of tensors, a number, or a list of numbers"
    )


def _number_in(op: str, value: Tensor, *arguments: Any) -> Any:
    """Return the number that a tensor without dimensions and gradient holds, in its place."""
    if value.ndim or value.requires_grad:
        raise _refuse(op, *arguments)
    return value.item()


def _for_each(op: str, tensors: Sequence[Tensor], other: Any, *arguments: Any) -> list[Any]:
    """Return what goes with each tensor: a number for all, or an element of a list."""
    if _is_number(other):
        return [other] * len(tensors)
    if not isinstance(other, (list, tuple)):
        raise _refuse(op, *arguments)
    if all(map(_is_number, other)) and other:
        if len(other) != len(tensors):
            raise RuntimeError(
                f"{op}: Tensor list must have same number of elements as scalar list, but they "
                f"have {len(tensors)} and {len(other)}"
            )
        return list(other)
    if not all(isinstance(t, Tensor) for t in other):
        raise _refuse(op, *arguments)
    _check_lengths(op, tensors, other)
    return list(other)


def _function(name: str, in_place: bool) -> Callable[..., Any]:
    """The function of one tensor."""
    return getattr(Tensor, f"{name}_") if in_place else getattr(_one, name)


def _as_returned(tensors: Sequence[Tensor], results: list[Tensor], in_place: bool) -> Any:
    """Return the results as torch does: in place the list itself."""
    return tensors if in_place else tuple(results)


def _undone(op: str, tensors: Sequence[Tensor], others: Sequence[Any]) -> None:
    """Refuse what can't be done of some tensors before anything changes."""
    for t, other in zip(tensors, others):
        if isinstance(other, Tensor) and not _broadcasts_to(tuple(other.shape), tuple(t.shape)):
            raise RuntimeError(
                f"{op}: a tensor of shape {list(t.shape)} can't take the result with one of shape "
                f"{list(other.shape)} in place"
            )


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))


# --- the functions --------------------------------------------------------------------------------


def _unary(op: str, name: str, in_place: bool) -> Callable[..., Any]:
    def function(self: Sequence[Tensor]) -> Any:
        one = _function(name, in_place)
        tensors = _check_list(op, self, "self", 1)
        return _as_returned(tensors, [one(t) for t in tensors], in_place)

    return function


def _binary(op: str, name: str, in_place: bool) -> Callable[..., Any]:
    more = _BINARY[name]
    parameters = {"scalar", "scalars", "other", "exponent"}

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        alpha = kwargs.pop("alpha", None) if "alpha" in more else None
        named = [key for key in kwargs if key in parameters]
        if len(args) + len(named) != 1 or len(kwargs) != len(named):
            raise _refuse(op, self, *args, *kwargs.values())
        other = args[0] if args else kwargs[named[0]]
        if name == "pow" and not in_place and _is_number(self):
            exponents = _check_list(op, other, "exponent", 2)
            return tuple(_one.pow(self, t) for t in exponents)
        tensors = _check_list(op, self, "self", 1)
        if isinstance(other, Tensor):
            if "tensor" not in more:
                return function(
                    self,
                    _number_in(op, other, self, other),
                    **({} if alpha is None else {"alpha": alpha}),
                )
            if other.ndim:
                raise RuntimeError(
                    f"{op}: scalar tensor expected to be 0 dim but it has {other.ndim} dimensions "
                    f"and {other.numel()} elements."
                )
            others: list[Any] = [other] * len(tensors)
        else:
            others = _for_each(op, tensors, other, self, other)
        options = {}
        if alpha is not None:
            if not isinstance(others[0], Tensor):
                raise _refuse(op, self, other, alpha)
            options["alpha"] = alpha
        if in_place:
            _undone(op, tensors, others)
            if name == "mul" and isinstance(other, Tensor) and not other.requires_grad:
                return _lists._foreach_mul_(tensors, other) and tensors
        one = _two_operands(name, in_place)
        return _as_returned(
            tensors, [one(t, x, **options) for t, x in zip(tensors, others)], in_place
        )

    return function


def _two_operands(name: str, in_place: bool) -> Callable[..., Any]:
    """The function of a tensor and another operand; of numbers `maximum` is a limit."""
    if name not in ("maximum", "minimum"):
        return _function(name, in_place)
    limit = _function("clamp_min" if name == "maximum" else "clamp_max", in_place)
    if in_place:
        return limit
    largest = _function(name, False)
    return lambda t, x: largest(t, x) if isinstance(x, Tensor) else limit(t, x)


def _ternary(op: str, name: str, in_place: bool) -> Callable[..., Any]:
    def function(
        self: Any, tensor1: Any, tensor2: Any, scalars: Any = None, *, value: Any = None
    ) -> Any:
        one = _function(name, in_place)
        tensors = _check_list(op, self, "self", 1)
        firsts = _check_list(op, tensor1, "tensor1", 2)
        seconds = _check_list(op, tensor2, "tensor2", 3)
        _check_lengths(op, tensors, firsts, seconds)
        factor: Any = 1 if value is None else value
        if scalars is not None:
            if value is not None:
                raise _refuse(op, self, tensor1, tensor2, scalars, value)
            factor = scalars
        if isinstance(factor, Tensor):
            if factor.ndim != 1 or factor.numel() != len(tensors):
                raise RuntimeError(
                    f"{op}: Expected packed scalar Tensor to be of dimension 1, with a number for "
                    f"each of {len(tensors)} tensors, but it has the shape {list(factor.shape)}"
                )
            factor = factor.tolist()
        factors = _for_each(op, tensors, factor, self, tensor1, tensor2, factor)
        if any(isinstance(x, Tensor) for x in factors):
            raise _refuse(op, self, tensor1, tensor2, factor)
        if in_place:
            _undone(op, tensors, firsts)
            _undone(op, tensors, seconds)
        results = [one(t, a, b, value=x) for t, a, b, x in zip(tensors, firsts, seconds, factors)]
        return _as_returned(tensors, results, in_place)

    return function


def _lerp(op: str, name: str, in_place: bool) -> Callable[..., Any]:
    def function(self: Any, tensors1: Any, weight: Any = None, *, weights: Any = None) -> Any:
        one = _function(name, in_place)
        tensors = _check_list(op, self, "self", 1)
        ends = _check_list(op, tensors1, "tensors1", 2)
        _check_lengths(op, tensors, ends)
        share = weights if weight is None else weight
        if share is None or (weight is not None and weights is not None):
            raise _refuse(op, self, tensors1, weight, weights)
        if isinstance(share, Tensor):
            share = _number_in(op, share, self, tensors1, share)
        parts = _for_each(op, tensors, share, self, tensors1, share)
        if in_place:
            _undone(op, tensors, ends)
            _undone(op, tensors, parts)
        results = [one(t, end, part) for t, end, part in zip(tensors, ends, parts)]
        return _as_returned(tensors, results, in_place)

    return function


def _foreach_clone(self: Sequence[Tensor], *, memory_format: Any = None) -> Any:
    tensors = _check_list("_foreach_clone", self, "self", 1)
    options = {} if memory_format is None else {"memory_format": memory_format}
    return tuple(_one.clone(t, **options) for t in tensors)


def _foreach_copy_(
    self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: builtins.bool = False
) -> Any:
    tensors = _check_list("_foreach_copy_", self, "self", 1)
    sources = _check_list("_foreach_copy_", src, "src", 2)
    _check_lengths("_foreach_copy_", tensors, sources)
    _undone("_foreach_copy_", tensors, sources)
    for t, source in zip(tensors, sources):
        t.copy_(source, non_blocking)
    return tensors


def _foreach_zero_(self: Sequence[Tensor]) -> Any:
    tensors = _check_list("_foreach_zero_", self, "self", 1)
    for t in tensors:
        t.zero_()
    return tensors


def _foreach_max(self: Sequence[Tensor]) -> Any:
    tensors = _check_list("_foreach_max", self, "self", 1)
    for t in tensors:
        if not t.numel():
            raise RuntimeError(
                "_foreach_max cannot compute the maximum of an empty tensor; max over zero "
                "elements is undefined."
            )
    return tuple(_one.max(t) for t in tensors)


def _foreach_mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> Any:
    tensors = _check_list("_foreach_mm", self, "self", 1)
    others = _check_list("_foreach_mm", mat2, "mat2", 2)
    _check_lengths("_foreach_mm", tensors, others)
    return tuple(_one.mm(a, b) for a, b in zip(tensors, others))


def _foreach_norm(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> Any:
    return _lists._foreach_norm(self, ord, dtype)


def _foreach_powsum(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> Any:
    tensors = _check_list("_foreach_powsum", self, "self", 1)
    return tuple(_one.sum(_one.pow(_one.abs(t), ord), dtype=dtype) for t in tensors)


# Name -> what makes the function; each has an in-place form, too.
_TABLE: dict[str, Callable[[str, str, builtins.bool], Callable[..., Any]]] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_TERNARY, _ternary),
    "lerp": _lerp,
}
# Those with one form.
_SINGLE = (
    _foreach_clone,
    _foreach_copy_,
    _foreach_max,
    _foreach_mm,
    _foreach_norm,
    _foreach_powsum,
    _foreach_zero_,
)


def _fill() -> None:
    """Define the functions of the table in this module."""
    names = globals()
    functions: dict[str, Callable[..., Any]] = {f.__name__: f for f in _SINGLE}
    for name, make in _TABLE.items():
        for end in ("", "_"):
            op = f"_foreach_{name}{end}"
            functions[op] = function = make(op, name, end == "_")
            function.__name__ = function.__qualname__ = op
            ending = " in place" if end else ""
            function.__doc__ = f"Return ``{name}`` of each tensor of a list{ending}."
    for name, function in functions.items():
        function.__module__ = __name__
        if not function.__doc__:
            function.__doc__ = f"Return ``{name.removeprefix('_foreach_')}`` of each tensor."
        names[name] = _public(function, module="autograd_cy")
        __all__.append(name)


_fill()
