"""Steps that are recorded, so that what comes after them can be differentiated by what was before.

`differentiable=True` puts `update` in the place of a fused step. It computes the formulas of
``_formulas.py``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from autograd_cy import Tensor, enable_grad, float32, float64, view_as_complex, view_as_real
from autograd_cy._C.launch import is_capturing
from autograd_cy._C.optimize import with_gradients

from . import _formulas
from ._fused import FLAGS, FusedOptimizer, missing_state
from ._groups import first_number

__all__ = ["update"]


def update(optimizer: FusedOptimizer, group: dict[str, Any]) -> None:
    """
    Step the parameters of a group in the graph.

    They change in place. Their state is replaced, since the graph may have saved what was there.

    Raises
    ------
    AssertionError
        If the group has ``foreach=True``, for which torch records no steps but those of SGD.
    RuntimeError
        If a fused step was asked for; if a parameter is a leaf that requires grad, does not agree
        with its gradient, or is no floating-point or complex tensor, before any of them changes; or
        while launches are captured.
    """
    name = type(optimizer).__name__
    if group.get("foreach") and optimizer.operator != "_fused_sgd_":
        raise AssertionError(
            f"{name}: _foreach ops don't support autograd; leave foreach=True out of an optimizer "
            "with differentiable=True"
        )
    if group.get("fused"):
        raise RuntimeError(
            f"{name}: a step with fused=True is not recorded, and differentiable=True needs that; "
            "leave one of them out"
        )
    if is_capturing():
        raise RuntimeError(
            f"{name}: a step with differentiable=True replaces its state, and can't be captured; "
            "capture one with differentiable=False"
        )
    with enable_grad():
        formula, options = _formula_and_options(optimizer, group)
        params, grads = with_gradients(group["params"])[:2]
        for param, grad in zip(params, grads):
            _check_param(param, grad, name)
        for param, grad in zip(params, grads):
            before = optimizer.state.get(param)
            if not before:
                before = {}
                optimizer._begin(before, param, {**group, "differentiable": True})
            after = _step(optimizer, formula, options, group, param, grad, before)
            if after:
                optimizer.state[param].update(after)


def _step(
    optimizer: FusedOptimizer,
    formula: Callable[..., Tensor],
    options: dict[str, Any],
    group: dict[str, Any],
    param: Tensor,
    grad: Tensor,
    state: dict[str, Any],
) -> dict[str, Any]:
    """Step one parameter, and return its state after that."""
    numbers, arrays = optimizer._numbers_of_state, optimizer.arrays
    on_device = {name: _option_on(value, param.device) for name, value in options.items()}
    with_tensors = any(isinstance(value, Tensor) for value in on_device.values())
    t = _value_of(state["step"]) + 1.0 if "step" in state else 1.0
    known: dict[str, Any] = {}
    for name, value in state.items():
        if name in arrays and value is not None:
            known[name] = _wide(value)
        elif name in numbers and name != "step":
            known[name] = value if with_tensors else _value_of(value)
    g = _wide(grad)
    try:
        # A copy, since the parameter changes in place and the graph saves what it was.
        x = formula(_wide(param.clone()), -g if group["maximize"] else g, t, known, **on_device)
    except KeyError as missing:
        raise missing_state(optimizer, missing) from None
    param.copy_(_narrow(x, param))
    after = {**state, "step": state["step"] + 1} if "step" in state else {**state}
    for name, value in known.items():
        if name in arrays:
            after[name] = _narrow(value, param)
        else:
            after[name] = value if isinstance(value, Tensor) else first_number(group, param, value)
    return after


def _formula_and_options(
    optimizer: FusedOptimizer, group: dict[str, Any]
) -> tuple[Callable[..., Tensor], dict[str, Any]]:
    """Return the formula, and the options of a group that it takes."""
    formula = formula_of(optimizer.operator)
    known = dict(group)
    for pair, names in optimizer.pairs.items():
        if pair in group:
            known.update(zip(names, group[pair]))
    return formula, {name: _as_option(name, known[name]) for name in _option_names(formula)}


def formula_of(operator: str) -> Callable[..., Tensor]:
    """Return the formula of a step, given the operator's name."""
    formula = getattr(_formulas, operator.removeprefix("_fused_").removesuffix("_"), None)
    if formula is None:
        raise NotImplementedError(
            f"{operator} has no formula in autograd_cy.optim._formulas, as steps with "
            "differentiable=True need"
        )
    return formula  # type: ignore[no-any-return]


@functools.cache
def _option_names(formula: Callable[..., Tensor]) -> tuple[str, ...]:
    """Return the names of the options of a formula."""
    parameters = inspect.signature(formula).parameters.values()
    return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def _as_option(name: str, value: Any) -> Any:
    """Return a flag, a number, or a tensor of one that nobody else changes."""
    if name in FLAGS:
        return bool(value)
    if not isinstance(value, Tensor):
        return float(value)
    wide = value if value.dtype in (float32, float64) else value.to(float64)
    return wide.reshape(()).clone()


def _value_of(number: Any) -> float:
    """Return a number of a state; on the device meta any that no formula divides by zero with."""
    return 0.5 if isinstance(number, Tensor) and number.is_meta else float(number)


def _option_on(value: Any, device: Any) -> Any:
    """Return an option on a device; numbers are on all."""
    return value.to(device) if isinstance(value, Tensor) else value


def _wide(t: Tensor) -> Tensor:
    """Return a tensor as formulas compute with it: real, and of float32 at least."""
    t = view_as_real(t) if t.is_complex() else t
    return t if t.dtype in (float32, float64) else t.float()


def _narrow(t: Tensor, param: Tensor) -> Tensor:
    """Return a result in the dtype of a parameter."""
    if param.is_complex():
        t = view_as_complex(t)
    return t.to(param.dtype)


def _check_param(param: Tensor, grad: Tensor, name: str) -> None:
    """Raise where a formula would give another error, or none."""
    if not (param.is_floating_point() or param.is_complex()):
        raise RuntimeError(
            f"{name}: parameters must be floating point or complex, not {param.dtype}"
        )
    if param.shape != grad.shape or param.dtype != grad.dtype:
        raise RuntimeError(
            f"{name}: parameter and gradient must agree: {param.dtype} {list(param.shape)} and "
            f"{grad.dtype} {list(grad.shape)}"
        )
    if param.is_leaf and param.requires_grad:
        raise RuntimeError(
            f"{name}: a leaf Variable that requires grad is being used in an in-place operation. "
            "With differentiable=True the step is a part of the graph, and changes what it is "
            "given: give the optimizer clones, as in [p.clone() for p in model.parameters()], and "
            "differentiate by the leaves"
        )
