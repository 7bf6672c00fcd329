"""Adam, and AdamW, which differs in how weights decay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from autograd_cy import Tensor, zeros_like
from autograd_cy._C.optimize import adam_step, keep_steps, next_steps

from .optimizer import (
    LATER,
    Optimizer,
    as_number,
    check_implementation,
    check_option,
    check_pair,
    check_rate,
    each_in_turn,
)


class Adam(Optimizer):
    r"""Adam: steps scaled by running means of the gradient and of its square.

    With :math:`m \leftarrow \beta_1 m + (1 - \beta_1) g` and
    :math:`v \leftarrow \beta_2 v + (1 - \beta_2) g^2`, both divided by :math:`1 - \beta^t` in step
    `t`, the parameter moves by :math:`-\gamma\, m / (\sqrt v + \epsilon)`.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float, optional
        The learning rate :math:`\gamma`.
    betas : tuple of float, optional
        The factors of the two means.
    eps : float, optional
        Added to the denominator.
    weight_decay : float, optional
        Factor of the parameter that is added to its gradient.
    amsgrad : bool, optional
        Whether the largest of all `v` so far is used.
    foreach, capturable, fused : bool, optional
        They choose between implementations in PyTorch; here there is one, and they change nothing.
    maximize : bool, optional
        Whether to climb instead of to descend.
    differentiable : bool, optional
        Must be False: the step is not recorded.
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

    _numbers_of_state = ("step",)
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
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_rate(lr)
        check_option("learning rate", lr, lr >= 0.0)
        check_option("epsilon value", eps, eps >= 0.0)
        check_pair("betas", betas)
        betas = (betas[0], betas[1])
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index, beta in enumerate(betas):
            check_option(f"beta parameter at index {index}", beta, 0.0 <= beta < 1.0)
        check_option("weight_decay value", weight_decay, weight_decay >= 0.0)
        check_option("differentiable value", differentiable, not differentiable)
        check_implementation(foreach, fused)
        if foreach and isinstance(lr, Tensor) and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        options = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, options)

    def _update(self, group: dict[str, Any]) -> None:
        params = [param for param in group["params"] if param.grad is not None]
        turns = each_in_turn(group, params)
        if turns:
            for turn in turns:
                self._update(turn)
            return
        states = [self._state_of(param, group["amsgrad"]) for param in params]
        steps = next_steps(states)
        adam_update(
            params,
            [param.grad for param in params],
            [state.get("exp_avg") for state in states],
            [state.get("exp_avg_sq") for state in states],
            [state.get("max_exp_avg_sq") for state in states],
            steps,
            lr=float(group["lr"]),
            betas=group["betas"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
            decoupled_weight_decay=group.get("decoupled_weight_decay", False),
        )
        keep_steps(states, steps)

    def _state_of(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[param]
        if not state:
            state.update(step=as_number(0), exp_avg=zeros_like(param), exp_avg_sq=zeros_like(param))
            if amsgrad:
                state["max_exp_avg_sq"] = zeros_like(param)
        return state


class AdamW(Adam):
    r"""Adam whose weights decay apart, :math:`\theta \leftarrow (1 - \gamma \lambda) \theta`.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float, optional
        The learning rate :math:`\gamma`.
    betas : tuple of float, optional
        The factors of the two means.
    eps : float, optional
        Added to the denominator.
    weight_decay : float, optional
        The decay :math:`\lambda`.
    amsgrad : bool, optional
        Whether the largest of all second means so far is used.
    maximize : bool, optional
        Whether to climb instead of to descend.
    foreach, capturable, fused : bool, optional
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
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def adam_update(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    means: Sequence[Tensor | None],
    squares: Sequence[Tensor | None],
    largest: Sequence[Tensor | None],
    steps: Sequence[int],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
    maximize: bool = False,
    decoupled_weight_decay: bool = False,
) -> None:
    """Do one step of `Adam` on tensors, in place and unrecorded.

    Parameters
    ----------
    params, grads : sequence of Tensor
        Parameters and their gradients.
    means, squares : sequence of Tensor
        Running means of the gradients and of their squares; updated.
    largest : sequence of Tensor or None
        Largest means of squares so far; updated. Only used with ``amsgrad``.
    steps : sequence of int
        Number of the step, from one, for each parameter.
    lr, betas, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay
        See `Adam`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.adam import adam_update
    >>> x, mean, square = torch.tensor([2.0]), torch.zeros(1), torch.zeros(1)
    >>> adam_update([x], [torch.tensor([4.0])], [mean], [square], [None], [1], lr=1.0)
    >>> round(x.item(), 4)
    1.0
    """
    beta1, beta2 = betas
    adam_step(
        list(params),
        list(grads),
        list(means),
        list(squares),
        list(largest) if amsgrad else None,
        list(steps),
        lr,
        beta1,
        beta2,
        eps,
        weight_decay,
        amsgrad,
        decoupled_weight_decay,
        maximize,
    )
