"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer


class RMSprop(FusedOptimizer):
    r"""RMSprop: steps divided by the root of the running mean of squared gradients.

    With :math:`v \leftarrow \alpha v + (1 - \alpha) g^2`, the parameter moves by
    :math:`-\gamma\, g / (\sqrt v + \epsilon)`; if centered, :math:`v` less the square of the
    running mean of the gradient stands below the root. With momentum it moves by :math:`-\gamma b`,
    :math:`b \leftarrow \mu b + g / (\sqrt v + \epsilon)`. After Hinton's lecture 6e of "Neural
    Networks for Machine Learning" (2012); centered as by Graves (2013).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    alpha : float or Tensor, optional
        The factor of the running means.
    eps : float or Tensor, optional
        Added to the denominator.
    weight_decay : float or Tensor, optional
        Factor of the parameter that is added to its gradient.
    momentum : float or Tensor, optional
        The factor :math:`\mu`.
    centered : bool, optional
        Whether the variance of the gradient is used in place of its square.
    capturable, foreach : bool, optional
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
    >>> torch.optim.RMSprop([x], lr=0.5, alpha=0.75).step()
    >>> x
    tensor([1.], requires_grad=True)
    """

    _later_options: ClassVar[dict[str, Any]] = {
        **FusedOptimizer._later_options,
        "momentum": 0,
        "centered": False,
    }
    operator = "_fused_rmsprop_"
    arrays = ("square_avg", "grad_avg", "momentum_buffer")
    option_names = (
        "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
    )
    not_negative = "lr eps momentum weight_decay alpha"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float | Tensor = 0.99,
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 0,
        momentum: float | Tensor = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _used(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)
