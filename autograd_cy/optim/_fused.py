"""What methods of one update per element share: options, state, one compiled step for all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from autograd_cy import Tensor, zeros_like
from autograd_cy._C.optimize import fused_step, keep_numbers, next_states

from .optimizer import (
    LATER,
    Optimizer,
    as_number,
    check_option,
    check_pair,
    check_rate,
    each_in_turn,
)


class FusedOptimizer(Optimizer):
    """The base of optimizers whose step is one pass over each parameter and its state.

    A subclass names its method and arrays, and says the numbers of a parameter's step.
    """

    method: ClassVar[str]
    #: Names of the arrays of state, in the order of the compiled step.
    arrays: ClassVar[tuple[str, ...]]
    _numbers_of_state: ClassVar[tuple[str, ...]] = ("step",)
    _later_options: ClassVar[dict[str, Any]] = {**LATER, "capturable": False}

    def __init__(
        self,
        params: Iterable[Any],
        options: dict[str, Any],
        differentiable: bool,
        checks: dict[str, str],
    ) -> None:
        """Check that the options which `checks` gives a name for are not negative."""
        check_rate(options["lr"])
        for name, shown in checks.items():
            check_option(shown, options[name], options[name] >= 0.0)
        check_pair("betas", options.get("betas", (0.0, 0.0)))
        for index, beta in enumerate(options.get("betas", ())):
            check_option(f"beta parameter at index {index}", beta, 0.0 <= beta < 1.0)
        check_option("differentiable value", differentiable, not differentiable)
        super().__init__(params, options)

    def _update(self, group: dict[str, Any]) -> None:
        params = [param for param in group["params"] if param.grad is not None]
        if not params:
            return
        turns = each_in_turn(group, params)
        if turns:
            for turn in turns:
                self._update(turn)
            return
        states = [self.state[param] for param in params]
        for param, state in zip(params, states):
            if not state:
                self._begin(state, param, group)
        # A step that is refused leaves no count behind.
        after = next_states(states, self._numbers_of_state)
        if any(state["step"] < 1 for state in after):
            raise ValueError(f"{type(self).__name__}: steps are counted from 1")
        sign = -1.0 if group["maximize"] else 1.0
        rate = float(group["lr"])
        used = self._used(group)
        try:
            numbers = [self._numbers(group, state, rate, sign) for state in after]
            arrays = [
                [state[name] if name in used else None for state in states] for name in self.arrays
            ]
        except KeyError as missing:
            raise RuntimeError(
                f"{type(self).__name__}: {missing} of the state of a parameter is missing; was the "
                "state loaded from another optimizer, or an option changed after the first step?"
            ) from None
        fused_step(
            self.method,
            params,
            [param.grad for param in params],
            arrays,
            numbers,
        )
        keep_numbers(states, after, self._numbers_of_state)

    def _used(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Return the arrays that a step with these options needs."""
        return self.arrays

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        """Make the state of a parameter before its first step."""
        state["step"] = as_number(0)
        for name in self.arrays:
            state[name] = zeros_like(param)

    def _numbers(
        self, group: dict[str, Any], state: dict[str, Any], rate: float, sign: float
    ) -> dict[str, float]:
        raise NotImplementedError(f"{type(self).__name__} defines no step.")


#: Options that must not be negative, as messages name them.
RATE = {"lr": "learning rate"}
EPSILON = {"eps": "epsilon value"}
DECAY = {"weight_decay": "weight_decay value"}
