"""Quasi-Newton steps of all parameters together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import autograd_cy as ag

from ..autograd import Variable
from ..tensors.wrapping import wrap
from .optimizer import Optimizer

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """
    Steps along an estimate of the inverse Hessian times the gradient, from the last steps.

    Parameters
    ----------
    params : iterable of Variable
        One group only.
    lr : float, optional
    max_iter, max_eval : int, optional
        Iterations and evaluations of a step, at most; ``max_iter * 5 / 4`` evaluations by default.
    tolerance_grad, tolerance_change : float, optional
        A step ends when the sum of absolute gradients, or a change of loss or parameters, is less.
    history_size : int, optional
        How many pairs of steps and changes of the gradient are kept.
    line_search_fn : None
        There are no line searches.

    Notes
    -----
    The two loops of J. Nocedal, "Updating quasi-Newton matrices with limited storage" (1980).

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy import nn, optim
    >>> p = nn.Parameter(torch.ones(2))
    >>> optimizer = optim.LBFGS([p])
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((p - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).data[0], [round(x, 4) for x in p.data]
    (8.0, [3.0, 3.0])
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-5,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: Any = None,
    ):
        options = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self) -> Any:
        """The gradients of all parameters in one vector; zeros where there is none."""
        parts = [
            ag.zeros(p.data.nelement(), dtype=p.data.dtype, device=p.data.device)
            if p.grad is None
            else ag.reshape(p.grad.data, (-1,))
            for p in self._params
        ]
        return ag.cat(parts)

    def _move(self, length: float, direction: Any) -> None:
        begin = 0
        for p in self._params:
            data = wrap(p.data)
            end = begin + data.nelement()
            data.add_(length, wrap(ag.reshape(direction[begin:end], data.shape)))
            begin = end

    @staticmethod
    def _direction(grad: Any, state: dict[str, Any]) -> Any:
        """Minus the estimate of the inverse Hessian times the gradient."""
        pairs = list(zip(state["old_stps"], state["old_dirs"]))
        weights = []
        q = -grad
        for step, change in reversed(pairs):
            weight = ag.dot(step, q) / ag.dot(change, step)
            q = q - weight * change
            weights.append(weight)
        q = q * state["H_diag"]
        for (step, change), weight in zip(pairs, reversed(weights)):
            q = q + (weight - ag.dot(change, q) / ag.dot(change, step)) * step
        return q

    def _learn(self, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Keep the last step, unless the loss isn't convex along it."""
        change = grad - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        curvature = float(ag.dot(change, step))
        if curvature <= 1e-10:
            return
        if len(state["old_stps"]) == group["history_size"]:
            del state["old_stps"][0], state["old_dirs"][0]
        state["old_stps"].append(step)
        state["old_dirs"].append(change)
        state["H_diag"] = curvature / float(ag.dot(change, change))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """
        Take up to ``max_iter`` iterations.

        Parameters
        ----------
        closure : callable
            Computes the loss and its gradients anew, and returns the loss.

        Returns
        -------
        Variable or float
            The loss before.
        """
        if closure is None:
            raise TypeError("LBFGS.step needs a closure that computes the loss and its gradients")
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        if not state:
            state.update(func_evals=0, n_iter=0, old_stps=[], old_dirs=[], H_diag=1)
        first = closure()
        loss = _number(first)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._gradient()
        size = float(ag.sum(ag.abs(grad)))
        if size <= group["tolerance_grad"]:
            return first
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] > 1:
                self._learn(grad, state, group)
            direction = state["d"] = self._direction(grad, state)
            state["prev_flat_grad"], before = grad.clone(), loss
            # The first step has no estimate yet: it is short where the gradient is large.
            length = group["lr"] * (min(1.0, 1.0 / size) if state["n_iter"] == 1 else 1)
            state["t"] = length
            derivative = float(ag.dot(grad, direction))
            if derivative > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                raise RuntimeError("line search function is not supported yet")
            self._move(length, direction)
            if iterations < group["max_iter"]:
                loss = _number(closure())
                grad = self._gradient()
                size = float(ag.sum(ag.abs(grad)))
                evaluations += 1
                state["func_evals"] += 1
            if (
                iterations == group["max_iter"]
                or evaluations >= group["max_eval"]
                or size <= group["tolerance_grad"]
                or float(ag.sum(ag.abs(direction * length))) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first


def _number(loss: Any) -> float:
    return float(loss.data[0]) if isinstance(loss, Variable) else float(loss)
