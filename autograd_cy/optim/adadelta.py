"""Adadelta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from .optimizer import check_option


class Adadelta(FusedOptimizer):
    r"""Adadelta: steps as large as the last ones, per size of the gradient.

    With :math:`v \leftarrow \rho v + (1 - \rho) g^2` and
    :math:`\Delta = \sqrt{u + \epsilon} / \sqrt{v + \epsilon}\; g`, the parameter moves by
    :math:`-\gamma \Delta`, and :math:`u \leftarrow \rho u + (1 - \rho) \Delta^2`. After "ADADELTA:
    An Adaptive Learning Rate Method" (Zeiler, 2012).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The factor :math:`\gamma`.
    rho : float or Tensor, optional
        The factor :math:`\rho` of the running means.
    eps : float or Tensor, optional
        Added below the roots.
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
    >>> torch.optim.Adadelta([x], rho=0.75, eps=0.25).step()
    >>> round(x.item(), 4)
    1.0513
    """

    operator = "_fused_adadelta_"
    arrays = ("square_avg", "acc_delta")
    option_names = "lr rho eps weight_decay maximize capturable foreach differentiable"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float | Tensor = 0.9,
        eps: float | Tensor = 1e-6,
        weight_decay: float | Tensor = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        check_option("rho value", options["rho"], 0.0 <= options["rho"] <= 1.0)
        super()._check_options(options)
