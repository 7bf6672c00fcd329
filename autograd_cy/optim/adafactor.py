"""Adafactor, whose second moments of a matrix are a row and a column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor, finfo, lerp, no_grad

from ._groups import first_number
from .optimizer import Optimizer, check_rate


class Adafactor(Optimizer):
    r"""Adafactor: Adam without momentum, and with less memory.

    With :math:`\beta_t = 1 - t^{c}`, where `c` is `beta2_decay`, the mean squares of the rows and
    columns of a gradient :math:`G` move by :math:`R \leftarrow \beta_t R + (1 - \beta_t) \,
    \mathrm{mean}_{col}(G^2)` and likewise :math:`C`, and :math:`V = R C / \max(\mathrm{mean}(R),
    \epsilon_1)`; a vector has all of :math:`V`. The update :math:`U = G / \sqrt{\max(V,
    \epsilon_1^2)}` is divided by :math:`\max(1, \mathrm{RMS}(U) / d)`, and the step is
    :math:`-\max(\epsilon_2, \mathrm{RMS}(\theta)) \min(\gamma, 1 / \sqrt{t}) \, U`. After
    "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost" (Shazeer and Stern, 2018).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float, optional
        The largest rate :math:`\gamma`, relative to the size of the parameter.
    beta2_decay : float, optional
        The exponent `c`, not positive.
    eps : tuple of float, optional
        :math:`\epsilon_1`, None for the ``eps`` of the parameter's dtype, and :math:`\epsilon_2`.
    d : float, optional
        The root mean square of an update beyond which it is scaled down.
    weight_decay : float, optional
        Factor by which, times `lr`, weights decay apart.
    foreach : bool, optional
        It chooses between implementations in PyTorch; here it changes nothing.
    maximize : bool, optional
        Whether to climb instead of to descend.

    Raises
    ------
    ValueError
        If an option is out of range.
    RuntimeError
        If a parameter is complex.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[2.0, 4.0]], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> torch.optim.Adafactor([x], lr=0.1).step()
    >>> x
    tensor([[1.6838, 3.6838]], requires_grad=True)
    """

    _numbers_of_state: ClassVar[tuple[str, ...]] = ("step",)
    _later_options: ClassVar[dict[str, Any]] = {"foreach": None}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_rate(lr)
        for what, value, bound, valid in (
            ("Learning rate", lr, ">= 0", lr >= 0),
            ("beta2_decay", beta2_decay, "<= 0", beta2_decay <= 0),
            ("epsilon1", eps[0], ">= 0", eps[0] is None or eps[0] >= 0),
            ("epsilon2", eps[1], ">= 0", eps[1] >= 0),
            ("Clipping threshold d", d, ">= 1", d >= 1),
            ("weight_decay", weight_decay, ">= 0", weight_decay >= 0),
        ):
            if not valid:
                raise ValueError(f"{what} should be {bound} but is: {value}")
        options = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, options)

    @no_grad()
    def _update(self, group: dict[str, Any]) -> None:
        for param in group["params"]:
            if param.grad is None:
                continue
            if param.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self.state[param]
            if not state:
                _begin(state, group, param)
            _step(group, param, state)


def _begin(state: dict[str, Any], group: dict[str, Any], param: Tensor) -> None:
    """Make the state of a parameter before its first step."""
    fresh: dict[str, Any] = {"step": first_number(group, param)}
    grad = param.grad
    assert grad is not None
    if grad.dim() > 1:
        rows, columns = [*grad.shape], [*grad.shape]
        rows[-1] = columns[-2] = 1
        fresh["row_var"] = grad.new_zeros(rows)
        fresh["col_var"] = grad.new_zeros(columns)
    else:
        fresh["variance"] = grad.new_zeros(grad.shape)
    state.update(fresh)


def _step(group: dict[str, Any], param: Tensor, state: dict[str, Any]) -> None:
    grad = param.grad
    assert grad is not None
    if group["maximize"]:
        grad = -grad
    eps1, eps2 = group["eps"]
    if eps1 is None:
        eps1 = finfo(param.dtype).eps
    step = state["step"].item() + 1
    share = step ** group["beta2_decay"]
    rate = min(float(group["lr"]), 1 / step**0.5)
    size = _root_mean_square(param)
    alpha = max(eps2, size) * rate
    squares = grad * grad
    if grad.dim() > 1:
        rows = lerp(state["row_var"], squares.mean(-1, keepdim=True), share)
        columns = lerp(state["col_var"], squares.mean(-2, keepdim=True), share)
        variance = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=eps1)
        moments = {"row_var": rows, "col_var": columns}
    else:
        variance = lerp(state["variance"], squares, share)
        moments = {"variance": variance}
    update = variance.clamp(min=eps1 * eps1).rsqrt() * grad
    excess = max(1.0, _root_mean_square(update) / group["d"])
    # Only now, as what is above may find no memory.
    state["step"] += 1
    for name, moment in moments.items():
        state[name].copy_(moment)
    if group["weight_decay"]:
        param.mul_(1 - float(group["lr"]) * group["weight_decay"])
    param.add_(update, alpha=-alpha / excess)


def _root_mean_square(x: Tensor) -> float:
    return float(x.norm(2)) / x.numel() ** 0.5 if x.numel() else 0.0
