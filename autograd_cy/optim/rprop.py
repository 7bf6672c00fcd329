"""Rprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from ._groups import first_array, first_number
from .optimizer import check_option, check_pair


class Rprop(FusedOptimizer):
    r"""Rprop: steps grow while the sign of the gradient stays, and shrink when it turns.

    Where the sign turned, there is no step, and the next one counts as the first. After "A Direct
    Adaptive Method for Faster Backpropagation Learning: The RPROP Algorithm" (Riedmiller and Braun,
    1993). For gradients of all data; with batches the signs turn by chance.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The size of the first steps.
    etas : tuple of float or of Tensor, optional
        The factors that shrink and grow a step.
    step_sizes : tuple of float or of Tensor, optional
        The smallest and the largest step.
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
    >>> torch.optim.Rprop([x], lr=0.5).step()
    >>> x
    tensor([1.5000], requires_grad=True)
    """

    operator = "_fused_rprop_"
    arrays = ("prev", "step_size")
    option_names = "lr etas step_sizes foreach maximize differentiable capturable"
    pairs: ClassVar[dict[str, tuple[str, str]]] = {
        "etas": ("etaminus", "etaplus"),
        "step_sizes": ("step_size_min", "step_size_max"),
    }

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float | Tensor, float | Tensor] = (0.5, 1.2),
        step_sizes: tuple[float | Tensor, float | Tensor] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        check_pair("etas", options["etas"])
        check_pair("step_sizes", options["step_sizes"])
        shrink, grow = options["etas"]
        check_option("eta values", f"{shrink}, {grow}", 0.0 < shrink < 1.0 < grow)
        super()._check_options(options)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        state.update(step=first_number(group, param), prev=first_array(group, param))
        state["step_size"] = first_array(group, param, group["lr"])
