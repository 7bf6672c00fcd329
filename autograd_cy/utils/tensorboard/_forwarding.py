"""The writer of tensorboardX, which knows arrays and tensors of PyTorch, given arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograd_cy import Tensor

__all__ = ["writer"]


def _as_arrays(value: Any) -> Any:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return (
            value.float() if value.dtype.itemsize < 4 and value.dtype.is_floating_point else value
        ).numpy()
    if type(value) in (list, tuple):
        return type(value)(map(_as_arrays, value))
    if type(value) is dict:
        return {key: _as_arrays(item) for key, item in value.items()}
    return value


def _with_arrays(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        values = map(_as_arrays, args)
        return method(self, *values, **{name: _as_arrays(value) for name, value in kwargs.items()})

    return called


def _add_graph(self: Any, *args: Any, **kwargs: Any) -> None:
    """Refuse: there is no graph of the program."""
    raise RuntimeError(
        "add_graph: there is no graph of the program that could be logged; leave it out, or draw "
        "the graph of a result by autograd_cy.viz"
    )


def writer(base: type, text: str) -> type:
    """Make the class, of the one of tensorboardX; `text` is its docstring."""
    members: dict[str, Any] = {
        name: _with_arrays(getattr(base, name)) for name in dir(base) if name.startswith("add_")
    }
    members |= {"add_graph": _add_graph, "__doc__": text}
    members["__module__"] = "autograd_cy.utils.tensorboard"
    return type("SummaryWriter", (base,), members)
