"""Stochastic gradient descent, with momentum as most programs mean it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor
from autograd_cy._C import ops_optimizers

from ._fused import FusedOptimizer, rate_of
from ._groups import first_array, first_number
from .optimizer import LATER, check_implementation, check_option, check_rate


class SGD(FusedOptimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    With the gradient :math:`g` (plus ``weight_decay`` times the parameter), the momentum buffer is
    :math:`b \leftarrow \mu b + (1 - \tau) g` and the parameter moves by :math:`-\gamma b`; with
    Nesterov's momentum by :math:`-\gamma (g + \mu b)`. The first buffer is the first gradient.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimize.
    lr : float or Tensor, optional
        The learning rate :math:`\gamma`.
    momentum : float or Tensor, optional
        The factor :math:`\mu`.
    dampening : float or Tensor, optional
        The damping :math:`\tau` of the momentum.
    weight_decay : float or Tensor, optional
        Factor of the parameter that is added to its gradient.
    nesterov : bool, optional
        Whether the momentum is Nesterov's.
    maximize : bool, optional
        Whether to climb instead of to descend.
    foreach, fused : bool, optional
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
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([x], lr=0.25, momentum=0.9)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([1.], requires_grad=True)
    """

    operator = "_fused_sgd_"
    arrays = ("momentum_buffer",)
    option_names = (
        "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
    )
    not_negative = ""
    pairs: ClassVar[dict[str, tuple[str, str]]] = {}
    _numbers_of_state = ()
    _in_turn = False  # a first step makes a momentum for each place where a parameter is listed
    _later_options: ClassVar[dict[str, Any]] = {**LATER, "nesterov": False, "fused": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float | Tensor = 0,
        dampening: float | Tensor = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, locals())

    def _check_options(self, options: dict[str, Any]) -> None:
        # NaN is none of these; other optimizers refuse it, as in torch.
        lr, momentum, decay = options["lr"], options["momentum"], options["weight_decay"]
        check_rate(lr)
        check_option("learning rate", lr, not lr < 0.0)
        check_option("momentum value", momentum, not momentum < 0.0)
        check_option("weight_decay value", decay, not decay < 0.0)
        if options["nesterov"] and (momentum <= 0 or options["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(options)
        super()._check_options(options)

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        pass  # the first step makes the momentum

    def _step_of(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        if group["momentum"]:
            self._step_with_momentum(group, params, grads)
        elif self._is_scaled():
            self._call(group, params, grads, [()], {**self._options(group), "is_first_step": False})
        else:
            # The same without dicts of options, as a step takes little time.
            ops_optimizers._fused_sgd_(
                params,
                grads,
                (),
                weight_decay=group["weight_decay"],
                momentum=0.0,
                lr=rate_of(group, params[0]),
                dampening=0.0,
                nesterov=False,
                maximize=bool(group["maximize"]),
                is_first_step=False,
            )

    def _step_with_momentum(
        self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]
    ) -> None:
        buffers: list[Tensor] = []
        # Whether a first step was made is in memory as well: one that overflowed made none.
        begun: list[Tensor] = []
        fresh: list[tuple[Tensor, Tensor]] = []
        known, states, waiting = self._begun, self.state, False
        for param in params:
            buffer = states[param].get("momentum_buffer")
            if buffer is None:
                buffer = first_array(group, param)
                fresh.append((param, buffer))
            elif known.get(param) is not True:
                waiting = True
            buffers.append(buffer)
        if waiting or fresh:
            begun = [self._started(group, *pair) for pair in zip(params, buffers)]
        elif not self._is_scaled():
            ops_optimizers._fused_sgd_(
                params,
                grads,
                buffers,
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                lr=rate_of(group, params[0]),
                dampening=group["dampening"],
                nesterov=bool(group["nesterov"]),
                maximize=bool(group["maximize"]),
                is_first_step=False,
            )
            return
        first = {"is_first_step": bool(begun), "begun": begun}
        self._call(group, params, grads, [buffers], {**self._options(group), **first})
        for param, buffer in fresh:
            self.state[param]["momentum_buffer"] = buffer
        for param, started in zip(params, begun):
            # Without a test for overflows there is nothing to wait for any more.
            self._begun[param] = True if getattr(self, "found_inf", None) is None else started

    def _started(self, group: dict[str, Any], param: Tensor, buffer: Tensor) -> Tensor:
        """Return 1, or 0 before the first step with a momentum, in memory."""
        started = self._begun.get(param)
        if self.state[param].get("momentum_buffer") is not buffer:
            return first_number(group, param)
        return started if isinstance(started, Tensor) else first_number(group, param, 1.0)

    @property
    def _begun(self) -> dict[Tensor, Any]:
        return self.__dict__.setdefault("_begun_of", {})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_begun_of": self._begun}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and momentum, as :meth:`Optimizer.load_state_dict` does.

        Parameters
        ----------
        state_dict : dict
            What ``state_dict`` returned.
        """
        super().load_state_dict(state_dict)
        self._begun.clear()

    def state_dict(self) -> dict[str, Any]:
        """Return state and groups, as :meth:`Optimizer.state_dict` does.

        Returns
        -------
        dict
            Without a momentum that waits for its first step.
        """
        flags = {x: flag for x, flag in self._begun.items() if flag is not True}
        waiting = [x for x, flag in flags.items() if not flag.is_meta and not flag.item()]
        for param in waiting:
            self.state[param].pop("momentum_buffer", None)
        return super().state_dict()
