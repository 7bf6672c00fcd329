"""Adamax."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy import Tensor

from ._fused import FusedOptimizer


class Adamax(FusedOptimizer):
    r"""Adamax: Adam with the largest gradient in place of the mean of squares.

    With :math:`m \leftarrow \beta_1 m + (1 - \beta_1) g` and
    :math:`u \leftarrow \max(\beta_2 u, |g| + \epsilon)`, the parameter moves in step `t` by
    :math:`-\gamma / (1 - \beta_1^t)\; m / u`. After "Adam: A Method for Stochastic Optimization"
    (Kingma and Ba, 2015), section 7.1.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    betas : tuple of float or of Tensor, optional
        The factors of the mean and of the largest gradient.
    eps : float or Tensor, optional
        Added to the size of the gradient.
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
    >>> x.grad = torch.tensor([3.0])
    >>> torch.optim.Adamax([x], lr=0.5).step()
    >>> x
    tensor([1.5000], requires_grad=True)
    """

    operator = "_fused_adamax_"
    arrays = ("exp_avg", "exp_inf")
    option_names = "lr betas eps weight_decay foreach maximize differentiable capturable"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, locals())
