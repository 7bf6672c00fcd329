"""
A formula of the modern API as a Function of the old style.

The formula runs on tensors of the core, which record; the Function keeps that graph and asks it for
gradients. What the graph saves is kept by ``save_for_backward`` too, so in-place changes and a
second backward are noticed by the rules of the era.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.autograd.graph import saved_tensors_hooks

from ..autograd import Function
from ..tensors.wrapping import wrap

__all__ = ["Modern", "modern"]

_address = Tensor._storage_address


def _leaf(t: Any, requires_grad: bool) -> Tensor:
    # .data has a version of its own: what is written through it is not seen, as then.
    result = Tensor.data.__get__(t)
    return result.requires_grad_() if requires_grad else result


class Modern(Function):
    """
    The Function of a formula.

    Parameters
    ----------
    compute : callable
        Of core tensors; returns one, or a tuple of them. What has no gradient is marked so.
    name : str
        For messages.
    """

    def __init__(self, compute: Callable[..., Any], name: str):
        self.compute = compute
        self.name = name
        self._graph: Any = None

    def forward(self, *inputs: Any) -> Any:
        leaves = [_leaf(t, needed) for t, needed in zip(inputs, self.needs_input_grad)]
        if not any(self.needs_input_grad):
            with ag.no_grad():
                result = self.compute(*leaves)
            return self._wrapped(result)
        saved: set[int] = set()

        def pack(t: Tensor) -> Tensor:
            saved.add(_address(t))
            return t.detach()

        with ag.enable_grad(), saved_tensors_hooks(pack, lambda t: t):
            result = self.compute(*leaves)
        outputs = result if isinstance(result, tuple) else (result,)
        returned = self._wrapped(result)
        results = returned if isinstance(returned, tuple) else (returned,)
        constant = [m for m, o in zip(results, outputs) if not o.requires_grad]
        if constant:
            self.mark_non_differentiable(*constant)
        self._graph = leaves, outputs
        self.save_for_backward(*(t for t in (*inputs, *results) if _address(t) in saved))
        return returned

    @staticmethod
    def _wrapped(result: Any) -> Any:
        if isinstance(result, tuple):
            return tuple(wrap(t.detach()) for t in result)
        return wrap(result.detach())

    def backward(self, *grads: Any) -> Any:
        _ = self.saved_tensors  # an error, if they were changed or let go
        if self._graph is None:
            raise RuntimeError(
                "Trying to backward through the graph second time, but the buffers have already "
                f"been freed (by {self.name}). Please specify retain_variables=True when calling "
                "backward for the first time."
            )
        leaves, outputs = self._graph
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        pairs = [(o, ag.reshape(g, o.shape)) for o, g in zip(outputs, grads) if o.requires_grad]
        grads_of_leaves = ag.autograd.grad(
            [o for o, _ in pairs],
            wanted,
            [g for _, g in pairs],
            retain_graph=True,
            allow_unused=True,
        )
        by_leaf = iter(grads_of_leaves)
        return tuple(
            self._gradient(leaf, next(by_leaf)) if leaf.requires_grad else None for leaf in leaves
        )

    @staticmethod
    def _gradient(leaf: Tensor, grad: Tensor | None) -> Any:
        return wrap(ag.zeros_like(leaf) if grad is None else grad)

    def _do_backward(self, grad_outputs: Any, retain_variables: bool) -> Any:
        result = super()._do_backward(grad_outputs, retain_variables)
        if not retain_variables:
            self._graph = None
        return result


# The core's gradients have the types and sizes of the inputs; they needn't be looked at.
Modern._trusted = True


def modern(name: str, compute: Callable[..., Any], *inputs: Any) -> Any:
    """Run a formula on Variables; None among them is passed on as it is."""
    if None not in [x if x is None else 0 for x in inputs]:
        return Modern(compute, name)(*inputs)
    present = [x is not None for x in inputs]

    def with_gaps(*tensors: Tensor) -> Any:
        rest = iter(tensors)
        return compute(*(next(rest) if here else None for here in present))

    return Modern(with_gaps, name)(*(x for x in inputs if x is not None))
