"""Muon: momentum whose matrices are made orthogonal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy import Tensor, addmm, bfloat16, lerp, no_grad, zeros_like

from .optimizer import Optimizer, check_rate

# Steps of Newton and Schulz beyond which there are none in torch, either.
_MOST_STEPS = 100


class Muon(Optimizer):
    r"""Muon: steps along the orthogonal matrix that is nearest to the momentum.

    The momentum is :math:`B \leftarrow \mu B + (1 - \mu) G`, and the direction :math:`U`, by
    `nesterov`, :math:`\mu B + (1 - \mu) G` or `B`. Its singular values go towards 1 by steps of
    Newton and Schulz, :math:`X \leftarrow a X + (b A + c A^2) X` with :math:`A = X X^T`, in
    bfloat16, which begin with :math:`U / \max(\|U\|, \epsilon)`. After "Muon: An optimizer for
    hidden layers in neural networks" (Jordan and others, 2024).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize: matrices. Others, and embeddings and the last layer, are for `AdamW`.
    lr : float, optional
        The learning rate.
    weight_decay : float, optional
        Factor by which, times `lr`, weights decay apart.
    momentum : float, optional
        The factor :math:`\mu`.
    nesterov : bool, optional
        Whether the direction looks one step ahead.
    ns_coefficients : tuple of float, optional
        `a`, `b` and `c`.
    eps : float, optional
        The least norm by which a direction is divided.
    ns_steps : int, optional
        Steps of Newton and Schulz.
    adjust_lr_fn : {'original', 'match_rms_adamw'}, optional
        How the rate follows the shape, rows by columns: times
        :math:`\sqrt{\max(1, rows / columns)}`, which is the default, or
        :math:`0.2 \sqrt{\max(rows, columns)}`, for rates as those of `AdamW`.

    Raises
    ------
    ValueError
        If an option is out of range, or a parameter is no matrix.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[2.0, 0.0], [0.0, 2.0]], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> torch.optim.Muon([x], lr=0.5, weight_decay=0.0).step()
    >>> bool((x.diagonal() < 2).all())
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_rate(lr)
        for what, value in (
            ("Learning rate", lr),
            ("momentum", momentum),
            ("weight decay", weight_decay),
        ):
            if not value >= 0:
                raise ValueError(f"{what} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        options = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, options)
        for group in self.param_groups:
            for param in group["params"]:
                if param.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.shape}"
                    )

    @no_grad()
    def _update(self, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if param.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            if grad.dim() != 2:
                raise ValueError("Param gradient must be a 2D matrix")
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(grad)
            buffer = lerp(state["momentum_buffer"], grad, 1 - momentum)
            direction = lerp(grad, buffer, momentum) if group["nesterov"] else buffer
            update = _orthogonal(direction, group).to(param.dtype)
            rate = float(group["lr"])
            # Only now, as what is above may find no memory.
            state["momentum_buffer"].copy_(buffer)
            param.mul_(1 - rate * group["weight_decay"])
            param.add_(update, alpha=-rate * _factor(group, param))


def _factor(group: dict[str, Any], param: Tensor) -> float:
    """Return the factor of the rate that the shape of a parameter asks for."""
    rows, columns = param.shape
    if group["adjust_lr_fn"] == "match_rms_adamw":
        return float(0.2 * max(rows, columns) ** 0.5)
    return float(max(1.0, rows / columns) ** 0.5)


def _orthogonal(direction: Tensor, group: dict[str, Any]) -> Tensor:
    """Return a matrix with the singular vectors of another one, and singular values near 1."""
    steps, coefficients = group["ns_steps"], group["ns_coefficients"]
    if steps >= _MOST_STEPS:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    X = direction.to(bfloat16)
    tall = X.shape[0] > X.shape[1]
    if tall:
        X = X.t()
    X = X / X.norm().clamp(min=group["eps"])
    for _ in range(steps):
        square = X @ X.t()
        polynomial = addmm(square, square, square, beta=b, alpha=c)
        X = addmm(X, polynomial, X, beta=a)
    return X.t() if tall else X
