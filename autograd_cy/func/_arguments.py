"""Arguments of transformed functions: which of them to differentiate, and checks of results."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._vmap.pytree import flatten


def checked_argnums(argnums: int | tuple, count: int) -> tuple[int, ...]:
    """`argnums` as non-negative positions among `count` arguments."""
    if not isinstance(argnums, (int, tuple)) or isinstance(argnums, bool):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for n in numbers:
        if not isinstance(n, int) or isinstance(n, bool):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {argnums!r}")
        if not -count <= n < count:
            raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    places = tuple([n + count if n < 0 else n for n in numbers])
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return places


def need_outputs(outputs: list, name: str) -> None:
    """Raise RuntimeError where a function to differentiate gives nothing."""
    if not outputs or all(y is None for y in outputs):
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = "
            f"{outputs})"
        )


def chosen(argnums: int | tuple, args: tuple) -> Any:
    """The argument, or the tuple of arguments, that `argnums` names."""
    places = checked_argnums(argnums, len(args))
    return args[places[0]] if isinstance(argnums, int) else tuple([args[i] for i in places])


def replaced(argnums: int | tuple, args: tuple, new: Any) -> list:
    """`args` with `new` in the places of :func:`chosen`."""
    places = checked_argnums(argnums, len(args))
    result = list(args)
    for i, x in zip(places, (new,) if isinstance(argnums, int) else new):
        result[i] = x
    return result


def only_tensors(leaves: list) -> None:
    """Raise unless all leaves of the arguments to differentiate are tensors."""
    for x in leaves:
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")


def tensors_in(arguments: Any) -> list[Tensor]:
    """The tensors of arguments in any nesting."""
    return [x for x in flatten(arguments)[0] if isinstance(x, Tensor)]


def with_aux(returned: Any, has_aux: bool, label: str) -> tuple[Any, Any]:
    """(output, auxiliary output) of what a function returned."""
    if not has_aux:
        return returned, None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise RuntimeError(
            f"{label}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return returned


def aux_tensors(aux: Any, has_aux: bool) -> tuple[tuple, Any]:
    """Auxiliary output as tensors and their structure; none if there is no such output."""
    leaves, structure = flatten(aux) if has_aux else ([], None)
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return tuple(leaves), structure
