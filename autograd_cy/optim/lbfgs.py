"""The quasi-Newton method with limited memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from autograd_cy import Tensor, cat, empty, enable_grad, no_grad, view_as_real

from ._line_search import cubic, strong_wolfe
from .optimizer import Optimizer, check_option, check_rate


class LBFGS(Optimizer):
    r"""L-BFGS: steps along :math:`-H g`, with the inverse Hessian :math:`H` of the last steps.

    Each call of `step` makes up to `max_iter` of them, and calls the closure as often as it needs
    gradients. After "On the Limited Memory BFGS Method for Large Scale Optimization" (Liu and
    Nocedal, 1989); the line search is that of Nocedal and Wright, "Numerical Optimization" (2006),
    section 3.5.

    Parameters
    ----------
    params : iterable of Tensor
        What to optimize; all in one group.
    lr : float, optional
        The length of the first trial of each step.
    max_iter : int, optional
        Most steps in a call.
    max_eval : int, optional
        Most calls of the closure in a call; by default ``max_iter * 5 // 4``.
    tolerance_grad : float, optional
        The largest element of a gradient that ends the search.
    tolerance_change : float, optional
        The change of the loss, or of all parameters, that ends the search.
    history_size : int, optional
        How many steps are remembered.
    line_search_fn : {"strong_wolfe"}, optional
        Search for a length that satisfies the strong Wolfe conditions; by default none.

    Raises
    ------
    ValueError
        If there are several groups or the rate is negative.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([3.0, -1.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - torch.tensor([1.0, 2.0])) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> torch.allclose(x, torch.tensor([1.0, 2.0]), atol=0.05)
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_rate(lr)
        check_option("learning rate", lr, bool(lr >= 0.0))
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

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Search for a minimum from where the parameters are.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss and its gradients, and returns the loss.

        Returns
        -------
        Tensor or float
            The loss before the first step.

        Raises
        ------
        TypeError
            If there is no closure.
        RuntimeError
            If the line search is unknown.
        """
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss and its gradients")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                "only 'strong_wolfe' is supported as line_search_fn, got "
                f"{group['line_search_fn']!r}"
            )
        key = group["params"][0]
        try:
            return self._search(group, self.state[key], enable_grad()(closure))
        except BaseException:
            # Half of a step is no history: the next call starts anew.
            self.state.pop(key, None)
            raise

    def _search(
        self, group: dict[str, Any], state: dict[str, Any], evaluate: Callable[[], Any]
    ) -> Any:
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss = float(first)
        state["func_evals"] += 1
        evals = 1
        grad = self._gradient()
        if _largest(grad) <= group["tolerance_grad"]:
            return first

        direction: Any = state.get("d")
        length: Any = state.get("t")
        steps = state.get("old_stps", [])
        changes = state.get("old_dirs", [])
        # PyTorch's states have tensors for these numbers.
        inverses = [float(inverse) for inverse in state.get("ro", [])]
        scale = float(state.get("H_diag", 1.0))
        last_grad: Any = state.get("prev_flat_grad")
        last_loss: Any = state.get("prev_loss")
        factors: list[float] | None = None
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction, steps, changes, inverses, scale = -grad, [], [], [], 1.0
            else:
                change, displacement = grad - last_grad, direction * length
                curvature = float(change.dot(displacement))
                if curvature > 1e-10:
                    if len(steps) == group["history_size"]:
                        for remembered in (steps, changes, inverses):
                            remembered.pop(0)
                    steps.append(displacement)
                    changes.append(change)
                    inverses.append(1.0 / curvature)
                    scale = curvature / float(change.dot(change))
                direction, factors = two_loops(grad, steps, changes, inverses, scale)
            last_grad, last_loss = grad.clone(), loss

            rate = float(group["lr"])
            length = rate
            if state["n_iter"] == 1:
                total = float(grad.abs().sum())
                length = length / total if total > 1.0 else length
            derivative = float(grad.dot(direction))
            if derivative > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                along = partial(self._evaluate_at, evaluate, self._copies(), direction)
                most = 1 + group["max_eval"] - evals  # PyTorch doesn't count the first trial
                loss, grad, length, calls = strong_wolfe(
                    along, direction, loss, grad, derivative, length, 1e-9, most=most
                )  # fmt: skip
                self._move(length, direction)
            else:
                self._move(length, direction)
                if n != group["max_iter"]:
                    # The gradient after the last step is not needed.
                    loss = float(evaluate())
                    grad = self._gradient()
                    calls = 1
            done = _largest(grad) <= group["tolerance_grad"]
            evals += calls
            state["func_evals"] += calls
            if evals >= group["max_eval"] or done:
                break
            if _largest(direction * length) <= group["tolerance_change"]:
                break
            if abs(loss - last_loss) < group["tolerance_change"]:
                break
        if factors is not None:  # not needed again; PyTorch's states have them
            unused = [None] * (group["history_size"] - len(factors))
            state["al"] = [grad.new_tensor(factor) for factor in factors] + unused
        state.update(
            d=direction, t=length, old_dirs=changes, old_stps=steps, ro=inverses, H_diag=scale,
            prev_flat_grad=last_grad, prev_loss=last_loss,
        )  # fmt: skip
        return first

    def _gradient(self) -> Tensor:
        """Return all gradients in one vector; complex ones as pairs."""
        return cat([
            _flat(param.new_zeros(param.shape) if param.grad is None else param.grad)
            for param in self._params()
        ])  # fmt: skip

    def _move(self, length: float, direction: Tensor) -> None:
        """Add the direction times the length to the parameters."""
        at = 0
        for param in self._params():
            real = view_as_real(param) if param.is_complex() else param
            n = real.numel()
            real.add_(direction[at : at + n].view_as(real), alpha=length)
            at += n

    def _evaluate_at(
        self, evaluate: Callable[[], Any], start: list[Tensor], direction: Tensor, length: float
    ) -> tuple[float, Tensor]:
        """Return loss and gradient along the direction; the parameters stay at the start."""
        self._move(length, direction)
        try:
            return float(evaluate()), self._gradient()
        finally:
            for param, value in zip(self._params(), start):
                param.copy_(value)

    def _copies(self) -> list[Tensor]:
        return [param.clone() for param in self._params()]


def two_loops(
    grad: Tensor, steps: list[Tensor], changes: list[Tensor], inverses: list[float], scale: float
) -> tuple[Tensor, list[float]]:
    """
    Return minus the product of the approximate inverse Hessian and the gradient, and factors.

    Algorithm 7.4 of Nocedal and Wright, "Numerical Optimization" (2006). `inverses` are those of
    the products of steps and changes, `scale` is the factor of the identity that stands for the
    first Hessian. The factors say how far the first loop went along each change.
    """
    q = -grad
    factors = [0.0] * len(steps)
    for i in reversed(range(len(steps))):
        factors[i] = float(steps[i].dot(q)) * inverses[i]
        q.add_(changes[i], alpha=-factors[i])
    q.mul_(scale)
    for i in range(len(steps)):
        q.add_(steps[i], alpha=factors[i] - float(changes[i].dot(q)) * inverses[i])
    return q, factors


def _flat(t: Tensor) -> Tensor:
    return (view_as_real(t) if t.is_complex() else t).reshape(-1)


def _largest(t: Tensor) -> float:
    return float(t.abs().max()) if t.numel() else 0.0


# --- what programs with line searches of their own import ---------------------------------------


def _strong_wolfe(
    obj_func: Callable[[Any, float, Tensor], tuple[float, Tensor]],
    x: Any,
    t: float,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, float, int]:
    """Return loss, gradient, length and number of calls of a search from `t` on, along `d`."""
    return strong_wolfe(
        lambda length: obj_func(x, length, d),
        d, f, g, float(gtd), float(t), tolerance_change, c1, c2, 1 + max_ls,
    )  # fmt: skip


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> float:
    """Return the minimum of the cubic through two points with their derivatives, within bounds."""
    nothing = empty(0)
    one = float(x1), float(f1), nothing, float(g1)
    other = float(x2), float(f2), nothing, float(g2)
    least, most = sorted((one[0], other[0])) if bounds is None else bounds
    return cubic(one, other, float(least), float(most))
