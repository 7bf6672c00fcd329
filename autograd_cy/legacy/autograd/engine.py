"""
Backward: from root Variables along ``previous_functions`` to the leaves.

A Function runs when all gradients that will arrive have arrived. Nothing recurses, so a graph may
be as deep as memory allows.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from ..tensors.wrapping import wrap
from . import _recording
from ._state import VariableBase

__all__ = ["ImperativeEngine"]

# Set by the first StochasticFunction; until then nobody looks for one among the ancestors.
STOCHASTIC = {"used": False}


class ImperativeEngine:
    """
    The engine that ``Variable.backward`` calls, as ``Variable._execution_engine``; it may be
    replaced.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy.autograd import Variable
    >>> x = Variable(torch.ones(1), requires_grad=True)
    >>> Variable._execution_engine.run_backward((x * 2,), (torch.ones(1),), False)
    >>> x.grad.data.tolist()
    [2.0]
    """

    def run_backward(
        self, variables: tuple[Any, ...], grad_variables: tuple[Any, ...], retain_variables: bool
    ) -> None:
        """
        Add into the leaves the gradients of the roots, each weighted.

        Parameters
        ----------
        variables : tuple of Variable
            The roots; the same may occur twice.
        grad_variables : tuple of tensor or None
            A weight for each; None for a root that needs none.
        retain_variables : bool
            Whether saved tensors are kept for another backward.

        Raises
        ------
        RuntimeError
            If nothing requires grad, or something that was saved can't be used any more.
        """
        run = _Run(bool(retain_variables))
        for variable, grad in zip(_roots(variables, grad_variables), grad_variables, strict=True):
            run.start(variable, grad)
        with ag.no_grad():
            run.all(variables)


def _roots(variables: Any, grads: Any) -> Any:
    if not isinstance(variables, tuple) or not isinstance(grads, tuple):
        raise TypeError("run_backward expects a tuple of Variables and a tuple of gradients")
    if len(variables) != len(grads):
        raise RuntimeError(
            f"run_backward got {len(variables)} variables and {len(grads)} gradients"
        )
    for place, variable in enumerate(variables):
        if not isinstance(variable, VariableBase):
            raise TypeError(
                f"element {place} of variables is a {type(variable).__name__}, not a Variable"
            )
        if variable._is_volatile:
            raise RuntimeError(
                f"element {place} of variables is volatile: nothing was recorded that made it"
            )
    return variables


class _Run:
    """One backward: gradients that have arrived, and how many are yet to come."""

    def __init__(self, retain: bool) -> None:
        self.retain = retain
        # By identity: a program's Functions may compare as they like.
        self.arrived: dict[int, Any] = {}
        self.expected: dict[int, int] = {}
        self.roots: list[Any] = []
        # Nodes of the modern API compute gradients; Functions of users run in the mode of now.
        self.mode = ag.enable_grad() if ag.is_grad_enabled() else ag.no_grad()

    def start(self, variable: Any, grad: Any) -> None:
        """Put the gradient of a root in place."""
        if grad is None or not variable._needs_grad:
            return
        if isinstance(grad, VariableBase):
            grad = grad._tensor
        if not isinstance(grad, Tensor):
            raise TypeError(
                f"gradients have to be tensors, Variables or None, but got {type(grad).__name__}"
            )
        own = variable._tensor
        grad = _recording.fitted(
            wrap(grad.detach()), own.dtype, own.shape, "backward: the gradient"
        )
        node = variable if variable._maker is None else variable._maker
        self.add(node, variable.output_nr if variable._maker is not None else 0, grad)

    def add(self, node: Any, number: int, grad: Any) -> None:
        """Sum a gradient into the place of an output, or of a leaf."""
        grads = self.arrived.get(id(node))
        if grads is None:
            leaf = isinstance(node, VariableBase)
            grads = self.arrived[id(node)] = [None] * (1 if leaf else node.num_outputs)
            if id(node) not in self.expected:
                self.roots.append(node)
        before = grads[number]
        # Never in place: gradients that Functions pass on may be one tensor in several places.
        grads[number] = grad if before is None else ag.add(before, grad)

    def all(self, variables: Any) -> None:
        """Run everything between the roots and the leaves."""
        samples = _stochastic_ancestors(variables) if STOCHASTIC["used"] else []
        if not self.roots and not samples:
            raise RuntimeError("there are no graph nodes that require computing gradients")
        for node in samples:
            node._check_reward()
        starts = self.roots + [node for node in samples if id(node) not in self.arrived]
        self.count(starts)
        expected = self.expected
        ready = [node for node in starts if not expected.get(id(node))]
        # The one found first runs first among roots; then the newest, as a depth-first walk.
        ready.reverse()
        while ready:
            node = ready.pop()
            grads = self.arrived.pop(id(node), None)
            if isinstance(node, VariableBase):
                _accumulate(node, grads[0])
            else:
                self.run(node, grads, ready)

    def count(self, starts: list[Any]) -> None:
        """Count the gradients that each node will get."""
        expected = self.expected
        seen = {id(node) for node in starts}
        stack = [node for node in starts if not isinstance(node, VariableBase)]
        while stack:
            node = stack.pop()
            for (previous, _), needed in zip(
                node.previous_functions, node.needs_input_grad, strict=True
            ):
                if needed:
                    key = id(previous)
                    expected[key] = expected.get(key, 0) + 1
                    if key not in seen:
                        seen.add(key)
                        if not isinstance(previous, VariableBase):
                            stack.append(previous)

    def run(self, node: Any, grads: Any, ready: list[Any]) -> None:
        """Run a Function and pass its gradients on."""
        if grads is None:
            grads = [None] * node.num_outputs
        hooks = node._output_hooks
        if hooks is not None:
            for number, of_output in hooks.items():
                if of_output and grads[number] is not None:
                    grads[number] = _recording.through_variable_hooks(of_output, grads[number])
        if node._trusted:
            results = node._do_backward(tuple(grads), self.retain)
        else:
            with self.mode:
                results = node._do_backward(tuple(grads), self.retain)
        if len(results) != node.num_inputs:
            results = _recording.checked_gradients(node, results)
        arrived, expected = self.arrived, self.expected
        for (previous, number), needed, grad in zip(
            node.previous_functions, node.needs_input_grad, results, strict=True
        ):
            if not needed:
                continue
            if grad is None:
                _missing(node, results)
            key = id(previous)
            there = arrived.get(key)
            if there is None:
                if isinstance(previous, VariableBase):
                    arrived[key] = [grad]
                else:
                    there = arrived[key] = [None] * previous.num_outputs
                    there[number] = grad
            elif there[number] is None:
                there[number] = grad
            else:
                there[number] = ag.add(there[number], grad)
            left = expected[key] - 1
            expected[key] = left
            if not left:
                ready.append(previous)


def _missing(node: Any, results: Any) -> None:
    pairs = zip(node.needs_input_grad, results, strict=True)
    place = next(i for i, (needed, grad) in enumerate(pairs) if needed and grad is None)
    raise RuntimeError(
        f"{type(node).__name__}.backward: missing gradient: it returned None for input {place}, "
        "which requires grad"
    )


def _accumulate(leaf: Any, grad: Any) -> None:
    """Add a complete gradient to that of a leaf."""
    if not leaf._needs_grad:
        return
    if leaf._hooks:
        grad = _recording.through_variable_hooks(leaf._hooks, grad)
    own, sum_ = leaf._tensor, leaf._gradient
    if sum_ is None:
        grad = _recording.fitted(grad, own.dtype, own.shape, "backward: the gradient of a leaf")
        # A copy: the gradient may be in use elsewhere, and grows in place from now on.
        leaf._gradient = _recording.volatile_of(ag.clone(grad).contiguous())
    else:
        own = sum_._tensor
        grad = _recording.fitted(grad, own.dtype, own.shape, "backward: the gradient of a leaf")
        ag.add_(own, grad)


def _stochastic_ancestors(variables: Any) -> list[Any]:
    """Each stochastic Function, however far back, that made a root and has an input to lead to."""
    stack = [v._maker for v in variables if v._maker is not None]
    seen = {id(node) for node in stack}
    ancestors = []
    while stack:
        node = stack.pop()
        if node._is_stochastic and node._requires_grad:
            ancestors.append(node)
        for previous, _ in node.previous_functions:
            if id(previous) not in seen and not isinstance(previous, VariableBase):
                seen.add(id(previous))
                stack.append(previous)
    return ancestors
