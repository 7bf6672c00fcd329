"""The steps of the methods as formulas of tensors, which record what they do.

A function computes one step of one parameter: ``x`` after it, from ``x``, the gradient ``g`` and
the state, which it replaces. They are what `differentiable=True` computes (``_recorded.py``), and
what tests compare the compiled steps with (ext/kernels/optimizer_loops.pyx): neither is tested
without the other. A function has the name of the operator, and its options are those of a group,
where pairs of numbers have the names of the operator's arguments. Each is a number or a tensor of
one. `t` counts steps from 1. The docstrings of the classes name the sources.
"""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, lerp, maximum, sign, where, zeros_like

__all__ = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "asgd",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
]

Number = float | Tensor
State = dict[str, Any]


def counts(number: Number) -> bool:
    """Tell whether a factor has an effect: it isn't zero, or it requires grad."""
    return (isinstance(number, Tensor) and number.requires_grad) or bool(number != 0)


def decayed(x: Tensor, g: Tensor, decay: Number) -> Tensor:
    """Return the gradient of the loss with a decay: without one, infinite `x` don't matter."""
    return g + decay * x if counts(decay) else g


def toward(m: Tensor, g: Tensor, weight: Number) -> Tensor:
    """Return a mean of `m` and `g`, which is `g` itself where its weight is 1."""
    return m + weight * (g - m) if isinstance(weight, Tensor) else lerp(m, g, weight)


def root(v: Tensor) -> Tensor:
    r"""
    Return the square root of sums of squares, whose derivative at zero is taken as zero.

    It stands in quotients such as :math:`f(g) = g / (\sqrt{g^2} + \epsilon)`, which have the
    derivative :math:`1 / \epsilon` at zero, while that of the root isn't finite.
    """
    zero = v == 0
    return where(zero, zeros_like(v), where(zero, v + 1, v).sqrt())


def sgd(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    momentum: Number,
    dampening: Number,
    weight_decay: Number,
    nesterov: bool,
) -> Tensor:
    """Return `x` after a step of stochastic gradient descent."""
    g = decayed(x, g, weight_decay)
    if counts(momentum):
        b = state.get("momentum_buffer")
        # The first one is a copy, since the gradient is the caller's.
        b = g.clone() if b is None else momentum * b + (1 - dampening) * g
        state["momentum_buffer"] = b
        g = g + momentum * b if nesterov else b
    return x - lr * g


def adam(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    weight_decay: Number,
    amsgrad: bool,
    decoupled_weight_decay: bool,
) -> Tensor:
    """Return `x` after a step of Adam, or of AdamW if weights decay apart."""
    x, g = _with_decay(x, g, lr, weight_decay, decoupled_weight_decay)
    m, v = _means(g, state, beta1, beta2)
    if amsgrad:
        v = state["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], v)
    rate, spread = lr / (1 - beta1**t), (1 - beta2**t) ** 0.5
    return x - rate * m / (root(v) / spread + eps)


def _with_decay(
    x: Tensor, g: Tensor, lr: Number, weight_decay: Number, apart: bool
) -> tuple[Tensor, Tensor]:
    """Return parameter and gradient, one of which has a part of the decay."""
    if not apart:
        return x, decayed(x, g, weight_decay)
    return (x * (1 - lr * weight_decay) if counts(weight_decay) else x), g


def _means(g: Tensor, state: State, beta1: Number, beta2: Number) -> tuple[Tensor, Tensor]:
    """Return the running means of the gradient and of its square."""
    m = state["exp_avg"] = toward(state["exp_avg"], g, 1 - beta1)
    v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
    return m, v


def adamax(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    weight_decay: Number,
) -> Tensor:
    """Return `x` after a step of Adamax."""
    g = decayed(x, g, weight_decay)
    m = state["exp_avg"] = toward(state["exp_avg"], g, 1 - beta1)
    u = state["exp_inf"] = maximum(beta2 * state["exp_inf"], abs(g) + eps)
    return x - lr / (1 - beta1**t) * m / u


def nadam(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    weight_decay: Number,
    momentum_decay: Number,
    decoupled_weight_decay: bool,
) -> Tensor:
    """Return `x` after a step of NAdam."""
    x, g = _with_decay(x, g, lr, weight_decay, decoupled_weight_decay)
    m, v = _means(g, state, beta1, beta2)
    now = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))
    after = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
    product = state["mu_product"] = state["mu_product"] * now
    by_grad, by_mean = lr * (1 - now) / (1 - product), lr * after / (1 - product * after)
    return x - (by_grad * g + by_mean * m) / (root(v) / (1 - beta2**t) ** 0.5 + eps)


def radam(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    weight_decay: Number,
    decoupled_weight_decay: bool,
) -> Tensor:
    """Return `x` after a step of RAdam."""
    x, g = _with_decay(x, g, lr, weight_decay, decoupled_weight_decay)
    m, v = _means(g, state, beta1, beta2)
    unbiased, longest = 1 - beta2**t, 2 / (1 - beta2) - 1
    length = longest - 2 * t * beta2**t / unbiased
    rate = lr / (1 - beta1**t)
    if not length > 5:
        return x - rate * m
    part = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return x - rate * (unbiased * part) ** 0.5 * m / (root(v) + eps)


def adagrad(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    lr_decay: Number,
    weight_decay: Number,
    eps: Number,
) -> Tensor:
    """Return `x` after a step of Adagrad."""
    g = decayed(x, g, weight_decay)
    total = state["sum"] = state["sum"] + g * g
    return x - lr / (1 + (t - 1) * lr_decay) * g / (root(total) + eps)


def adadelta(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    rho: Number,
    eps: Number,
    weight_decay: Number,
) -> Tensor:
    """Return `x` after a step of Adadelta."""
    g = decayed(x, g, weight_decay)
    v = state["square_avg"] = rho * state["square_avg"] + (1 - rho) * g * g
    step = root(state["acc_delta"] + eps) / root(v + eps) * g
    state["acc_delta"] = rho * state["acc_delta"] + (1 - rho) * step * step
    return x - lr * step


def rmsprop(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    alpha: Number,
    eps: Number,
    weight_decay: Number,
    momentum: Number,
    centered: bool,
) -> Tensor:
    """Return `x` after a step of RMSprop."""
    g = decayed(x, g, weight_decay)
    v = state["square_avg"] = alpha * state["square_avg"] + (1 - alpha) * g * g
    if centered:
        m = state["grad_avg"] = toward(state["grad_avg"], g, 1 - alpha)
        v = v - m * m
    step = g / (root(v) + eps)
    if counts(momentum):
        step = state["momentum_buffer"] = momentum * state["momentum_buffer"] + step
    return x - lr * step


def rprop(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    etaminus: Number,
    etaplus: Number,
    step_size_min: Number,
    step_size_max: Number,
) -> Tensor:
    """Return `x` after a step of Rprop; the sizes of the first steps are in the state."""
    turn, size = g * state["prev"], state["step_size"]
    # NaN has no sign: it turns nothing, and moves nothing.
    size = where(turn > 0, size * etaplus, where(turn < 0, size * etaminus, size))
    size = where(size < step_size_min, step_size_min, size)
    size = state["step_size"] = where(size > step_size_max, step_size_max, size)
    g = state["prev"] = where(turn < 0, 0.0, g)
    return x - sign(g) * size


def asgd(
    x: Tensor,
    g: Tensor,
    t: float,
    state: State,
    *,
    lr: Number,
    lambd: Number,
    alpha: Number,
    t0: Number,
    weight_decay: Number,
) -> Tensor:
    """Return `x` after a step of averaged stochastic gradient descent."""
    eta, mu = state["eta"], state["mu"]
    x = x * (1 - lambd * eta) - eta * decayed(x, g, weight_decay)
    # Before the average begins it is the parameter itself, to the last bit.
    follows = not isinstance(mu, Tensor) and mu == 1
    state["ax"] = x.clone() if follows else state["ax"] + mu * (x - state["ax"])
    # Those of the next step, as states are saved with them.
    state["eta"] = lr / (1 + lambd * lr * t) ** alpha
    averaged = t - t0
    averaged = averaged.clamp(min=1.0) if isinstance(averaged, Tensor) else max(1.0, averaged)
    state["mu"] = 1 / averaged
    return x
