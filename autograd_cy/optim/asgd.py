"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from ._groups import first_array, first_number


class ASGD(FusedOptimizer):
    r"""Stochastic gradient descent, with an average of the parameters in the state.

    In step `t` the parameter moves by :math:`-\eta (g + \lambda \theta)`, where
    :math:`\eta = \gamma / (1 + \lambda \gamma (t - 1))^\alpha`; from step `t0` on ``state["ax"]``
    is the mean of what it was. After "Acceleration of Stochastic Approximation by Averaging"
    (Polyak and Juditsky, 1992).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    lambd : float or Tensor, optional
        The decay :math:`\lambda`.
    alpha : float or Tensor, optional
        The power of the decay of the rate.
    t0 : float or Tensor, optional
        The step at which the average begins.
    weight_decay : float or Tensor, optional
        Factor of the parameter that is added to its gradient.
    foreach, capturable : bool, optional
        They choose between implementations in PyTorch; here there is one, and they change nothing.
    maximize : bool, optional
        Whether to climb instead of to descend.
    differentiable : bool, optional
        Whether steps are recorded in the graph. Parameters must then be clones, or other tensors
        that are no leaves, and options may be tensors that require grad.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> optimizer = torch.optim.ASGD([x], lr=0.5, lambd=0.0, t0=0)
    >>> for _ in range(2):
    ...     x.grad = torch.tensor([1.0])
    ...     optimizer.step()
    >>> x, optimizer.state[x]["ax"]
    (tensor([1.], requires_grad=True), tensor([1.]))
    """

    _numbers_of_state = ("mu", "eta", "step")
    operator = "_fused_asgd_"
    arrays = ("ax",)
    option_names = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float | Tensor = 1e-4,
        alpha: float | Tensor = 0.75,
        t0: float | Tensor = 1e6,
        weight_decay: float | Tensor = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        rate = group["lr"]
        state.update(step=first_number(group, param), eta=first_number(group, param, rate))
        state.update(mu=first_number(group, param, 1.0), ax=first_array(group, param))
