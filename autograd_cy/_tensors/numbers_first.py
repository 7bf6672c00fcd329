"""
Calls whose numbers come before tensors: ``x.add_(2, y)`` for ``x.add_(y, alpha=2)``.

torch still takes them, with a warning. They are looked at when the arguments of a call don't fit
otherwise, so that other calls don't pay for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import Tensor

__all__ = ["NUMBERS_FIRST", "rearranged"]

# The parameters of the record after the first one: tensors, and numbers by name only.
_SUM = (("other",), ("alpha",))
_PRODUCT = (("tensor1", "tensor2"), ("value",))


def _sum_of_product(first: str, second: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (first, second), ("beta", "alpha")


NUMBERS_FIRST = {
    "add": _SUM,
    "sub": _SUM,
    "addcmul": _PRODUCT,
    "addcdiv": _PRODUCT,
    "addmm": _sum_of_product("mat1", "mat2"),
    "addmv": _sum_of_product("mat", "vec"),
    "addr": _sum_of_product("vec1", "vec2"),
    "addbmm": _sum_of_product("batch1", "batch2"),
    "baddbmm": _sum_of_product("batch1", "batch2"),
}


def _is_number(x: Any) -> bool:
    if isinstance(x, Tensor):
        return x.ndim == 0 and not x.requires_grad
    return isinstance(x, (int, float, complex)) or (
        hasattr(x, "dtype") and not getattr(x, "ndim", 1)
    )


def _orders(name: str) -> Iterator[tuple[str, ...]]:
    """The parameters of the older signatures."""
    tensors, numbers = NUMBERS_FIRST[name.removesuffix("_")]
    if len(numbers) == 1:
        yield ("input", *numbers, *tensors)
        return
    yield ("beta", "input", "alpha", *tensors)
    yield ("beta", "input", *tensors)
    yield ("input", "beta", "alpha", *tensors)
    yield ("input", "beta", *tensors)


def _bound(
    order: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any] | None:
    """The arguments by name, if they are those of a signature."""
    if len(args) + len(kwargs.keys() - {"out"}) != len(order):
        return None
    arguments = dict(zip(order, args))
    rest = order[len(args) :]
    if any(key not in kwargs for key in rest):
        return None
    arguments.update((key, kwargs[key]) for key in rest)
    for key, value in arguments.items():
        if key in ("alpha", "beta", "value"):
            if not _is_number(value):
                return None
        elif not isinstance(value, Tensor) and not (
            key in ("input", "other") and _is_number(value)
        ):
            return None
    return arguments


def rearranged(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """
    Return the arguments of a call in the order of today's signature, after a warning.

    None: there is no older signature, or the arguments aren't those of one.
    """
    if name.removesuffix("_") not in NUMBERS_FIRST:
        return None
    tensors, numbers = NUMBERS_FIRST[name.removesuffix("_")]
    for order in _orders(name):
        arguments = _bound(order, args, kwargs)
        if arguments is None:
            continue
        as_function = "out" in kwargs or order[0] != "input"
        _warn(_message(name, order, tensors, numbers, as_function))
        by_name = {key: arguments[key] for key in numbers if key in arguments}
        by_name = {k: v.item() if isinstance(v, Tensor) else v for k, v in by_name.items()}
        if "out" in kwargs:
            by_name["out"] = kwargs["out"]
        return (arguments["input"], *(arguments[key] for key in tensors)), by_name
    return None


def _message(
    name: str,
    order: tuple[str, ...],
    tensors: tuple[str, ...],
    numbers: tuple[str, ...],
    as_function: bool,
) -> str:
    old = [
        f"{'Number' if key in numbers else 'Tensor'} {key}"
        for key in order
        if as_function or key != "input"
    ]
    new = [f"Tensor {key}" for key in (("input",) if as_function else ()) + tensors]
    new += ["*", *(f"Number {key} = 1" for key in numbers)]
    if as_function:
        old += ["*", "Tensor out = None"]
        new.append("Tensor out = None")
    return (
        f"This overload of {name} is deprecated:\n\t{name}({', '.join(old)})\nConsider using one "
        f"of the following signatures instead:\n\t{name}({', '.join(new)})"
    )
