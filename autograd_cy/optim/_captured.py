"""Terms of a captured step: state and options that it depends on, and that Python may replace."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autograd_cy import Tensor
from autograd_cy._C.launch import _memory_of

if TYPE_CHECKING:
    from ._fused import FusedOptimizer

__all__ = ["make_replay_check"]


def make_replay_check(
    optimizer: FusedOptimizer, births: frozenset[int] = frozenset()
) -> Callable[[], str | None]:
    """
    Return a function that says what was replaced since, so that a replay would not be a step.

    A replay works on the memory of the state that was there, and with the options that held then.
    `births` is the memory that was allocated while the step was captured: gradients there are
    written by the program itself, wherever ``.grad`` points later. The function returns a text, or
    None where a replay does what ``step()`` does.
    """
    name = type(optimizer).__name__
    there = weakref.ref(optimizer)
    states = [(param, dict(state)) for param, state in optimizer.state.items()]
    groups = [_of_group(optimizer, group) for group in optimizer.param_groups]
    places = [
        (param, _memory_of(param), None if grad is None or grad[0] in births else grad)
        for group in optimizer.param_groups
        for param in group["params"]
        for grad in [_gradient_of(param)]
        if grad is not None
    ]

    def reason() -> str | None:
        current = there()
        if current is None:  # nobody can have replaced anything
            return None
        for param, before in states:
            state = current.state.get(param, {})
            for key, value in before.items():
                if state.get(key) is not value:
                    return f"{name}: {key!r} of the state of a parameter was replaced"
        for param, memory, grad in places:
            if _memory_of(param) != memory:
                return f"{name}: a parameter has other memory, by .data or set_()"
            if grad is not None and _gradient_of(param) != grad:
                return (
                    f"{name}: the gradient of a parameter was replaced; write into the one that "
                    "was captured, as zero_grad(set_to_none=False) does"
                )
        if len(current.param_groups) != len(groups):
            return f"{name}: a group of parameters was added or removed"
        for number, (group, options) in enumerate(zip(current.param_groups, groups)):
            for key, value in _of_group(current, group).items():
                if not _same(value, options.get(key)):
                    return f"{name}: the option {key!r} of group {number} has changed"
        return None

    return reason


def _gradient_of(param: Tensor) -> tuple[int, int] | None:
    return None if param.grad is None else _memory_of(param.grad)


def _of_group(optimizer: FusedOptimizer, group: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a step reads in Python, and what stands for its learning rate."""
    lr: Any = group["lr"]
    if not isinstance(lr, Tensor):  # the number itself is in memory, if the group has some
        lr = id(group.rates) if hasattr(group, "rates") else float(lr)
    return {"maximize": bool(group["maximize"]), **optimizer._options(group), "lr": lr}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is other
    return bool(one == other)
