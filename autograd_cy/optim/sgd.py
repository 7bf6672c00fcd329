"""Stochastic gradient descent, with momentum as most programs mean it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from autograd_cy import Tensor
from autograd_cy._C.optimize import sgd_step

from .optimizer import LATER, Optimizer, check_implementation, check_option, check_rate


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    With the gradient :math:`g` (plus ``weight_decay`` times the parameter), the momentum buffer is
    :math:`b \leftarrow \mu b + (1 - \tau) g` and the parameter moves by :math:`-\gamma b`; with
    Nesterov's momentum by :math:`-\gamma (g + \mu b)`. The first buffer is the first gradient.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float, optional
        The learning rate :math:`\gamma`.
    momentum : float, optional
        The factor :math:`\mu`.
    dampening : float, optional
        The damping :math:`\tau` of the momentum.
    weight_decay : float, optional
        Factor of the parameter that is added to its gradient.
    nesterov : bool, optional
        Whether the momentum is Nesterov's.
    maximize : bool, optional
        Whether to climb instead of to descend.
    foreach, fused : bool, optional
        They choose between implementations in PyTorch; here there is one, and they change nothing.
    differentiable : bool, optional
        Must be False: the step is not recorded.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([x], lr=0.25, momentum=0.9)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([1.], requires_grad=True)
    """

    _later_options: ClassVar[dict[str, Any]] = {**LATER, "nesterov": False, "fused": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        # NaN is none of these; other optimizers refuse it, as in torch.
        check_rate(lr)
        check_option("learning rate", lr, not lr < 0.0)
        check_option("momentum value", momentum, not momentum < 0.0)
        check_option("weight_decay value", weight_decay, not weight_decay < 0.0)
        check_option("differentiable value", differentiable, not differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(foreach, fused)
        options = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, options)

    def _update(self, group: dict[str, Any]) -> None:
        params = [param for param in group["params"] if param.grad is not None]
        grads = [param.grad for param in params]
        momentum = group["momentum"]
        buffers: list[Tensor | None] = []
        if momentum:
            buffers = [self.state[param].get("momentum_buffer") for param in params]
        sgd_update(
            params,
            grads,
            buffers,
            lr=float(group["lr"]),
            momentum=momentum,
            dampening=group["dampening"],
            weight_decay=group["weight_decay"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
        )
        for param, buffer in zip(params, buffers):
            self.state[param]["momentum_buffer"] = buffer


def sgd_update(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    bufs: list[Tensor | None],
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
) -> None:
    """Do one step of `SGD` on tensors, in place and unrecorded.

    Parameters
    ----------
    params, grads : sequence of Tensor
        Parameters and their gradients.
    bufs : list of Tensor or None
        Momentum buffers; a None is replaced by a new one. Not used without momentum.
    lr, momentum, dampening, weight_decay, nesterov, maximize
        See `SGD`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.sgd import sgd_update
    >>> x, buffers = torch.tensor([2.0]), [None]
    >>> sgd_update([x], [torch.tensor([4.0])], buffers, lr=0.25, momentum=0.9)
    >>> x, buffers
    (tensor([1.]), [tensor([4.])])
    """
    sgd_step(
        list(params),
        list(grads),
        bufs if momentum else None,
        lr,
        momentum,
        dampening,
        weight_decay,
        nesterov,
        maximize,
    )
