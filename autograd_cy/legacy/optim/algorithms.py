"""The optimizers, each an update of one parameter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .optimizer import Optimizer, required

__all__ = ["ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "RMSprop", "Rprop"]


def _decayed(grad: Any, data: Any, group: dict[str, Any]) -> Any:
    """The gradient with that of the penalty on squared weights."""
    decay = group["weight_decay"]
    return grad.add(decay, data) if decay else grad


def _zeros(data: Any) -> Any:
    return data.new().resize_as_(data).zero_()


class SGD(Optimizer):
    """
    Stochastic gradient descent, with momentum.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy import nn, optim
    >>> p = nn.Parameter(torch.ones(1))
    >>> (p * 2).sum().backward()
    >>> optim.SGD([p], lr=0.25).step()
    >>> p.data[0]
    0.5
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = required,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, options)

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        grad = _decayed(grad, data, group)
        momentum = group["momentum"]
        if momentum:
            if "momentum_buffer" not in state:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer = state["momentum_buffer"]
                buffer.mul_(momentum).add_(1 - group["dampening"], grad)
            grad = grad.add(momentum, buffer) if group["nesterov"] else buffer
        data.add_(-group["lr"], grad)


class Adam(Optimizer):
    """
    Steps by running means of gradients and of their squares.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> from autograd_cy.legacy import nn, optim
    >>> p = nn.Parameter(torch.ones(1))
    >>> (p * 2).sum().backward()
    >>> optim.Adam([p], lr=0.5).step()
    >>> round(p.data[0], 4)
    0.5
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
    ):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, options)

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, exp_avg=_zeros(data), exp_avg_sq=_zeros(data))
        state["step"] += 1
        first, second = group["betas"]
        grad = _decayed(grad, data, group)
        mean = state["exp_avg"].mul_(first).add_(1 - first, grad)
        square = state["exp_avg_sq"].mul_(second).addcmul_(1 - second, grad, grad)
        scale = math.sqrt(1 - second ** state["step"]) / (1 - first ** state["step"])
        data.addcdiv_(-group["lr"] * scale, mean, square.sqrt().add_(group["eps"]))


class Adamax(Optimizer):
    """Adam by the largest gradient instead of the mean square."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
    ):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, options)

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, exp_avg=_zeros(data), exp_inf=_zeros(data))
        state["step"] += 1
        first, second = group["betas"]
        grad = _decayed(grad, data, group)
        mean = state["exp_avg"].mul_(first).add_(1 - first, grad)
        state["exp_inf"] = (state["exp_inf"] * second).cmax(grad.abs().add_(group["eps"]))
        data.addcdiv_(-group["lr"] / (1 - first ** state["step"]), mean, state["exp_inf"])


class Adagrad(Optimizer):
    """Steps that become smaller by the sum of squared gradients."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
    ):
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay})

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, sum=_zeros(data))
        state["step"] += 1
        grad = _decayed(grad, data, group)
        lr = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(1, grad, grad)
        data.addcdiv_(-lr, grad, total.sqrt().add_(1e-10))


class Adadelta(Optimizer):
    """Steps in proportion to those before, which need no learning rate."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
    ):
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, square_avg=_zeros(data), acc_delta=_zeros(data))
        state["step"] += 1
        rho, eps = group["rho"], group["eps"]
        grad = _decayed(grad, data, group)
        square = state["square_avg"].mul_(rho).addcmul_(1 - rho, grad, grad)
        delta = (state["acc_delta"] + eps).sqrt_().div_((square + eps).sqrt_()).mul_(grad)
        data.add_(-group["lr"], delta)
        state["acc_delta"].mul_(rho).addcmul_(1 - rho, delta, delta)


class RMSprop(Optimizer):
    """Steps by gradients over the root of their mean square."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
    ):
        options = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
        }
        super().__init__(params, options)

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            names = ["square_avg", *["momentum_buffer"] * (group["momentum"] > 0)]
            names += ["grad_avg"] * group["centered"]
            state.update({name: _zeros(data) for name in names}, step=0)
        state["step"] += 1
        alpha = group["alpha"]
        grad = _decayed(grad, data, group)
        square = state["square_avg"].mul_(alpha).addcmul_(1 - alpha, grad, grad)
        if group["centered"]:
            mean = state["grad_avg"].mul_(alpha).add_(1 - alpha, grad)
            root = square.addcmul(-1, mean, mean).sqrt_().add_(group["eps"])
        else:
            root = square.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, root)
            data.add_(-group["lr"], buffer)
        else:
            data.addcdiv_(-group["lr"], grad, root)


class ASGD(Optimizer):
    """Gradient descent whose mean over the steps is in the state, under "ax"."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
    ):
        options = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
        }
        super().__init__(params, options)

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, eta=group["lr"], mu=1, ax=_zeros(data))
        state["step"] += 1
        grad = _decayed(grad, data, group)
        data.mul_(1 - group["lambd"] * state["eta"]).add_(-state["eta"], grad)
        if state["mu"] == 1:
            state["ax"].copy_(data)
        else:
            state["ax"].add_(state["mu"], data.sub(state["ax"]))
        slower = (1 + group["lambd"] * group["lr"] * state["step"]) ** group["alpha"]
        state["eta"] = group["lr"] / slower
        state["mu"] = 1 / max(1, state["step"] - group["t0"])


class Rprop(Optimizer):
    """Steps by the sign of the gradient, longer while it stays and shorter when it turns."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
    ):
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes})

    def _update(self, data: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            size = _zeros(data).fill_(group["lr"])
            state.update(step=0, prev=_zeros(data), step_size=size)
        state["step"] += 1
        shorter, longer = group["etas"]
        turned = grad.mul(state["prev"]).sign()
        factor = turned.clone().fill_(1)
        factor[turned.gt(0)] = longer
        factor[turned.lt(0)] = shorter
        state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.clone()
        grad[turned.lt(0)] = 0
        data.addcmul_(-1, grad.sign(), state["step_size"])
        state["prev"].copy_(grad)
