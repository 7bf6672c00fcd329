"""Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from ._groups import first_number


class NAdam(FusedOptimizer):
    r"""NAdam: Adam with Nesterov's momentum.

    With the means :math:`m` and :math:`v` of `Adam`, and
    :math:`\mu_t = \beta_1 (1 - 0.96^{t \psi} / 2)`, the parameter moves in step `t` by
    :math:`-\gamma\, (\mu_{t+1} m / (1 - P_{t+1}) + (1 - \mu_t) g / (1 - P_t)) /
    (\sqrt{v / (1 - \beta_2^t)} + \epsilon)`, where :math:`P_t` is the product of all
    :math:`\mu` up to :math:`\mu_t`. After "Incorporating Nesterov Momentum into Adam"
    (Dozat, 2016).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    betas : tuple of float or of Tensor, optional
        The factors of the two means.
    eps : float or Tensor, optional
        Added to the denominator.
    weight_decay : float or Tensor, optional
        Factor of the parameter that is added to its gradient.
    momentum_decay : float or Tensor, optional
        The decay :math:`\psi` of the momentum.
    decoupled_weight_decay : bool, optional
        Whether weights decay apart, as in `AdamW`.
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
    >>> x.grad = torch.tensor([3.0])
    >>> torch.optim.NAdam([x], lr=0.5).step()
    >>> round(x.item(), 4)
    1.4718
    """

    _numbers_of_state = ("mu_product", "step")
    _later_options: ClassVar[dict[str, Any]] = {
        **FusedOptimizer._later_options,
        "decoupled_weight_decay": False,
    }
    operator = "_fused_nadam_"
    arrays = ("exp_avg", "exp_avg_sq")
    option_names = (
        "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
        "capturable differentiable"
    )
    not_negative = "lr eps weight_decay momentum_decay"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 0,
        momentum_decay: float | Tensor = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        state.update(step=first_number(group, param), mu_product=first_number(group, param, 1.0))
        super()._begin(state, param, group)
