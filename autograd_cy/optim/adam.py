"""Adam, and AdamW, which differs in how weights decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor

from ._fused import FusedOptimizer
from .optimizer import LATER, check_implementation, check_pair


class Adam(FusedOptimizer):
    r"""Adam: steps scaled by running means of the gradient and of its square.

    With :math:`m \leftarrow \beta_1 m + (1 - \beta_1) g` and
    :math:`v \leftarrow \beta_2 v + (1 - \beta_2) g^2`, both divided by :math:`1 - \beta^t` in step
    `t`, the parameter moves by :math:`-\gamma\, m / (\sqrt v + \epsilon)`.

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
    amsgrad : bool, optional
        Whether the largest of all `v` so far is used.
    foreach, capturable, fused : bool, optional
        They choose between implementations in PyTorch; here there is one, and they change nothing.
    maximize : bool, optional
        Whether to climb instead of to descend.
    differentiable : bool, optional
        Whether steps are recorded in the graph. Parameters must then be clones, or other tensors
        that are no leaves, and options may be tensors that require grad.
    decoupled_weight_decay : bool, optional
        Whether the parameter itself shrinks instead, as in `AdamW`.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([x], lr=1.0)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> round(x.item(), 4)
    1.0
    """

    operator = "_fused_adam_"
    decoupled_operator = "_fused_adamw_"
    arrays = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    option_names = (
        "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused "
        "decoupled_weight_decay"
    )
    _later_options: ClassVar[dict[str, Any]] = {
        **LATER,
        "amsgrad": False,
        "capturable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        check_pair("betas", options["betas"])
        betas = options["betas"] = (options["betas"][0], options["betas"][1])
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        check_implementation(options)
        if options["foreach"] and isinstance(options["lr"], Tensor) and not options["capturable"]:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        super()._check_options(options)

    def _used(self, group: dict[str, Any]) -> tuple[str, ...]:
        return self.arrays if group["amsgrad"] else self.arrays[:2]


class AdamW(Adam):
    r"""Adam whose weights decay apart, :math:`\theta \leftarrow (1 - \gamma \lambda) \theta`.

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
        The decay :math:`\lambda`.
    amsgrad : bool, optional
        Whether the largest of all second means so far is used.
    maximize : bool, optional
        Whether to climb instead of to descend.
    foreach, capturable, fused : bool, optional
        They choose between implementations in PyTorch; here there is one, and they change nothing.
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
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> x.grad = torch.zeros(1)
    >>> torch.optim.AdamW([x], lr=1.0, weight_decay=0.5).step()
    >>> x
    tensor([0.5000], requires_grad=True)
    """

    _later_options: ClassVar[dict[str, Any]] = {
        **Adam._later_options,
        "decoupled_weight_decay": True,
    }

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float | Tensor = 1e-8,
        weight_decay: float | Tensor = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        arguments = {**locals(), "decoupled_weight_decay": True}
        FusedOptimizer.__init__(self, params, arguments)
