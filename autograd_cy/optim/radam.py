"""Adam with a rectified variance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer


class RAdam(FusedOptimizer):
    r"""RAdam: Adam whose first steps, whose variance is not known yet, are those of momentum.

    With :math:`\rho = 2 / (1 - \beta_2) - 1` and
    :math:`\rho_t = \rho - 2 t \beta_2^t / (1 - \beta_2^t)`, the step of `Adam` is multiplied by the
    root of :math:`(\rho_t - 4)(\rho_t - 2) \rho / ((\rho - 4)(\rho - 2) \rho_t)` if
    :math:`\rho_t > 5`, and is :math:`-\gamma m / (1 - \beta_1^t)` otherwise. After "On the
    Variance of the Adaptive Learning Rate and Beyond" (Liu and others, 2020).

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
    >>> torch.optim.RAdam([x], lr=0.5).step()
    >>> x
    tensor([0.5000], requires_grad=True)
    """

    _later_options: ClassVar[dict[str, Any]] = {
        **FusedOptimizer._later_options,
        "decoupled_weight_decay": False,
    }
    operator = "_fused_radam_"
    arrays = ("exp_avg", "exp_avg_sq")
    option_names = (
        "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
        "differentiable"
    )

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())
