"""Methods with one update per element: options, state, one operator for all parameters."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from autograd_cy import Tensor, float32, float64
from autograd_cy._C import ops_optimizers
from autograd_cy._C.launch import _note_term, is_capturing
from autograd_cy._C.optimize import are_numbers, state_lists, state_number, with_gradients
from autograd_cy._C.tensor import ModeContext

from ._captured import make_replay_check
from ._groups import ParamGroup, first_array, first_number, part_of
from .optimizer import LATER, Optimizer, check_option, check_pair, check_rate, each_in_turn


class _NoGrad(ModeContext):
    """The context `no_grad`, without the ways to write it as a decorator."""

    _change = "no_grad"


class FusedOptimizer(Optimizer):
    """The base of optimizers whose step is one operator over lists of parameters and their state.

    A subclass names the operator, its lists of state and the options of a group. Options that are
    arguments of the operator are passed to it. It reads the learning rate, the numbers of states,
    ``grad_scale`` and ``found_inf`` from memory, so that a captured step goes on where it is
    replayed.
    """

    #: The operator, of autograd_cy/ops/optimizers.py.
    operator: ClassVar[str]
    #: The operator of groups with `decoupled_weight_decay`, if it is another one.
    decoupled_operator: ClassVar[str | None] = None
    #: Names of the arrays of state, in the order of the operator's lists.
    arrays: ClassVar[tuple[str, ...]]
    #: Names of the options of a group, in the order of torch.
    option_names: ClassVar[str]
    #: Options that must not be negative, in the order in which they are checked.
    not_negative: ClassVar[str] = "lr eps weight_decay"
    #: Options of two numbers, and the arguments that these are.
    pairs: ClassVar[dict[str, tuple[str, str]]] = {"betas": ("beta1", "beta2")}
    #: Names of the numbers of state, which the operator's lists end with.
    _numbers_of_state: ClassVar[tuple[str, ...]] = ("step",)
    #: Options that are arguments of the operator by the same name; None before the first step.
    _passed: ClassVar[tuple[str, ...] | None] = None
    _later_options: ClassVar[dict[str, Any]] = {**LATER, "capturable": False}
    #: A parameter that is listed twice is stepped twice, with what the first step left.
    _in_turn: ClassVar[bool] = True
    #: `GradScaler` leaves scale and overflow to the step.
    _step_supports_amp_scaling: bool = True

    def __init__(self, params: Iterable[Any], arguments: dict[str, Any]) -> None:
        """Take the options from the arguments of the ``__init__`` of a subclass."""
        options = {name: arguments[name] for name in self.option_names.split()}
        self._check_options(options)
        super().__init__(params, options)
        self._choose_step()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._choose_step()

    def _choose_step(self) -> None:
        """Let steps be recorded if the optimizer is differentiable, so that others test nothing."""
        if self.defaults.get("differentiable"):
            # A strong reference would make a cycle, which would keep graphs.
            recorded = functools.partial(_recorded_step, weakref.ref(self))
            self._update = recorded  # type: ignore[method-assign]
            # What `GradScaler` does to gradients is recorded, too.
            self._step_supports_amp_scaling = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._passed = None

    def _check_options(self, options: dict[str, Any]) -> None:
        """Raise ValueError if an option is out of range. Subclasses add checks of their own."""
        check_rate(options["lr"])
        for name in self.not_negative.split():
            if name in options:
                check_option(_SHOWN.get(name, f"{name} value"), options[name], options[name] >= 0.0)
        check_pair("betas", options.get("betas", (0.0, 0.0)))
        for index, beta in enumerate(options.get("betas", ())):
            check_option(f"beta parameter at index {index}", beta, 0.0 <= beta < 1.0)

    def _update(self, group: dict[str, Any]) -> None:
        params, grads, together, differ = with_gradients(group["params"])
        if not params:
            return
        if together and (differ or not self._in_turn):
            with _NoGrad():
                self._step_of(group, params, grads)
            if is_capturing():
                _note_term(self, make_replay_check)
            return
        turns = each_in_turn(group, params) if self._in_turn else []
        for turn in turns or _each_device(group, params):
            self._update(turn)

    def _step_of(self, group: dict[str, Any], params: list[Tensor], grads: list[Tensor]) -> None:
        """Do the step of some parameters on one device."""
        known = self.state
        for param in params:
            state = known[param]
            if not state:
                fresh: dict[str, Any] = {}  # there is all of it or nothing, also without memory
                self._begin(fresh, param, group)
                state.update(fresh)
        names = self._numbers_of_state
        odd: list[tuple[dict[str, Any], str, Tensor]] = []
        try:
            lists = state_lists(known, params, self.arrays, self._used(group), names)
        except KeyError as missing:
            raise missing_state(self, missing) from None
        for place in range(len(lists) - len(names), len(lists)):
            if not are_numbers(lists[place]):
                name = names[place - len(lists)]
                states = [known[param] for param in params]
                lists[place] = self._numbers(name, states, params, odd)
        self._call(group, params, grads, lists, self._options(group))
        for state, name, number in odd:
            _keep(state, name, number)

    def _call(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        lists: Sequence[Sequence[Tensor]],
        options: dict[str, Any],
    ) -> None:
        """Call the operator, with what all methods give it."""
        options["lr"] = rate_of(group, params[0])
        options["maximize"] = bool(group["maximize"])
        if self._is_scaled():
            for name in ("grad_scale", "found_inf"):
                number = getattr(self, name, None)
                if number is not None:
                    options[name] = number.to(params[0].device)
        name = self.operator
        if self.decoupled_operator is not None and group.get("decoupled_weight_decay"):
            name = self.decoupled_operator
        getattr(ops_optimizers, name)(params, grads, *lists, **options)

    def _is_scaled(self) -> bool:
        """Tell whether a `GradScaler` leaves scale and overflow to this step."""
        return "found_inf" in self.__dict__ or "grad_scale" in self.__dict__

    def _used(self, group: dict[str, Any]) -> tuple[str, ...]:
        """Return the arrays that a step with these options needs."""
        return self.arrays

    def _begin(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        """Make the state of a parameter before its first step."""
        if "step" not in state:
            state["step"] = first_number(group, param)
        for name in self._used(group):
            state[name] = first_array(group, param)

    def _options(self, group: dict[str, Any]) -> dict[str, Any]:
        """Return the numbers that stay the same from step to step, by their names."""
        options = {}
        passed = self._passed
        if passed is None:
            passed = type(self)._passed = self._passed_to_operator()
        for name in passed:
            options[name] = bool(group[name]) if name in FLAGS else group[name]
        for pair, names in self.pairs.items():
            if pair in group:
                first, second = group[pair]
                options.update(zip(names, (float(first), float(second))))
        return options

    @classmethod
    def _passed_to_operator(cls) -> tuple[str, ...]:
        """Return the options that are arguments of the operator, without those of `_call`."""
        arguments = getattr(ops_optimizers, cls.operator).__signature__.parameters
        names = set(arguments) - {"lr", "maximize", *cls.pairs}
        return tuple(name for name in cls.option_names.split() if name in names)

    def _numbers(
        self,
        name: str,
        states: list[dict[str, Any]],
        params: list[Tensor],
        odd: list[tuple[dict[str, Any], str, Tensor]],
    ) -> list[Tensor]:
        """Return a number of each state as the operator takes it; `odd`: those to write back."""
        numbers = [state[name] for state in states]
        for i, (param, state) in enumerate(zip(params, states)):
            if are_numbers([numbers[i]]):
                continue
            if isinstance(numbers[i], Tensor):
                number = numbers[i].detach().to(device=param.device, dtype=float32).reshape(())
            else:
                number = state_number(param, float(numbers[i]), wide=True)
            numbers[i] = number
            odd.append((state, name, number))
        return numbers


def _recorded_step(there: weakref.ref[FusedOptimizer], group: dict[str, Any]) -> None:
    """Do the step of a group of an optimizer whose steps are recorded."""
    from ._recorded import update  # at first use

    optimizer = there()
    if optimizer is None:
        raise ReferenceError("the optimizer of this step is gone")
    update(optimizer, group)


def missing_state(optimizer: FusedOptimizer, missing: KeyError) -> RuntimeError:
    """Return the error of a state that lacks a name."""
    return RuntimeError(
        f"{type(optimizer).__name__}: {missing} of the state of a parameter is missing; was the "
        "state loaded from another optimizer, or an option changed after the first step?"
    )


def rate_of(group: dict[str, Any], param: Tensor) -> Tensor:
    """Return the learning rate of a group in memory on the device of a parameter."""
    rate = group["lr"]
    known = group.rates.get(param.device) if type(group) is ParamGroup else None
    if known is not None and known[1] == rate and type(rate) is float:
        return known[0]
    if isinstance(rate, Tensor) and rate.is_floating_point():
        wide = rate if rate.dtype in (float32, float64) else rate.to(float64)
        return wide.detach().reshape(())
    if not isinstance(group, ParamGroup):  # of a program that put its own there
        return state_number(param, float(rate), wide=True)
    return group.rate_on(param)


def _keep(state: dict[str, Any], name: str, number: Tensor) -> None:
    """Write a number back that was no tensor of float32 or float64."""
    before = state[name]
    if isinstance(before, Tensor):
        before.copy_(number)
    else:
        state[name] = type(before)(number.item())


def _each_device(group: dict[str, Any], params: list[Tensor]) -> list[dict[str, Any]]:
    """Return a group for the parameters of each device."""
    apart: dict[Any, list[Tensor]] = {}
    for param in params:
        apart.setdefault(param.device, []).append(param)
    return [part_of(group, some) for some in apart.values()]


# Options that are true or false; programs have 0, 1 and None for them, too, as from files.
FLAGS = frozenset({"amsgrad", "centered", "decoupled_weight_decay", "nesterov"})
# How messages name options that must not be negative, if not by their name.
_SHOWN = {"lr": "learning rate", "eps": "epsilon value"}
