"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from ._groups import first_array, first_number
from .optimizer import LATER, check_implementation


class Adagrad(FusedOptimizer):
    r"""Adagrad: steps divided by the root of the sum of all squared gradients.

    With :math:`s \leftarrow s + g^2`, the parameter moves in step `t` by
    :math:`-\gamma / (1 + (t - 1) \eta)\; g / (\sqrt s + \epsilon)`. After "Adaptive Subgradient
    Methods for Online Learning and Stochastic Optimization" (Duchi, Hazan and Singer, 2011).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    lr_decay : float or Tensor, optional
        Its decay :math:`\eta`.
    weight_decay : float or Tensor, optional
        Factor of the parameter that is added to its gradient.
    initial_accumulator_value : float or Tensor, optional
        The sum before the first step.
    eps : float or Tensor, optional
        Added to the denominator.
    foreach, fused : bool, optional
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
    >>> optimizer = torch.optim.Adagrad([x], lr=0.5)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([1.5000], requires_grad=True)
    """

    operator = "_fused_adagrad_"
    arrays = ("sum",)
    option_names = (
        "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable "
        "fused"
    )
    not_negative = "lr lr_decay weight_decay initial_accumulator_value eps"
    _later_options: ClassVar[dict[str, Any]] = {**LATER, "fused": None}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float | Tensor = 0,
        weight_decay: float | Tensor = 0,
        initial_accumulator_value: float | Tensor = 0,
        eps: float | Tensor = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        check_implementation(options)
        super()._check_options(options)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, whose sums begin at once.

        Parameters
        ----------
        param_group : dict
            As for :meth:`Optimizer.add_param_group`.
        """
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for param in group["params"]:
            self._begin(self.state[param], param, group)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        start = group["initial_accumulator_value"]
        state.update(step=first_number(group, param), sum=first_array(group, param, start))
