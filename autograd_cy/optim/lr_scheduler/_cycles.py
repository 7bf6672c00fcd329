"""Schedules that go up and down: cycles, one cycle, cosines with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autograd_cy.optim.optimizer import Optimizer

from ._scheduler import (
    LRScheduler,
    check_optimizer,
    check_state,
    per_group,
    rate_as_number,
    set_option,
)


def between_cosine(start: float, end: float, part: float) -> float:
    """From start (part 0) to end (part 1) along half a cosine."""
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def between_linear(start: float, end: float, part: float) -> float:
    """From start (part 0) to end (part 1) along a line."""
    return (end - start) * part + start


def cycles_momentum(optimizer: Optimizer) -> bool:
    """Return whether the optimizer's momentum is the first of its betas; ValueError if it has
    none."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled; "
            "give cycle_momentum=False"
        )
    return "betas" in optimizer.defaults


def put_momentum(group: dict[str, Any], value: float, is_beta: bool) -> None:
    """Write the momentum, or the first beta, of a group."""
    if is_beta:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """The rate goes up and down between two bounds, a step per batch.

    After "Cyclical Learning Rates for Training Neural Networks" (Smith, 2017).

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    base_lr, max_lr : float or list of float
        The bounds, for all groups or for each.
    step_size_up : int, optional
        Steps of the way up.
    step_size_down : int, optional
        Steps of the way down; by default as many.
    mode : {"triangular", "triangular2", "exp_range"}, optional
        Cycles of one height, of half the height each time, or of ``gamma ** step``.
    gamma : float, optional
        For ``"exp_range"``.
    scale_fn : callable, optional
        Takes the number of the cycle (or step) and returns the height; instead of `mode`.
    scale_mode : {"cycle", "iterations"}, optional
        What `scale_fn` takes.
    cycle_momentum : bool, optional
        Whether the momentum goes the other way.
    base_momentum, max_momentum : float or list of float, optional
        Its bounds.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    TypeError
        If `optimizer` is none.
    ValueError
        If the mode is unknown, a list has another length than the groups, or the optimizer has no
        momentum to cycle.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1, momentum=0.9)
    >>> schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                f"mode is invalid and scale_fn is None: mode={mode!r} is none of 'triangular', "
                "'triangular2', 'exp_range'"
            )
        lowest = per_group("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for rate, group in zip(lowest, optimizer.param_groups):
                set_option(group, "lr", rate)
        self.max_lrs = per_group("max_lr", max_lr, optimizer)
        step_size_down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(step_size_down)
        self.step_ratio = float(step_size_up) / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = "iterations" if mode == "exp_range" and scale_fn is None else scale_mode
        if scale_fn is None and mode != "exp_range":
            self.scale_mode = "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = cycles_momentum(optimizer)
            self.base_momentums = per_group("base_momentum", base_momentum, optimizer)
            self.max_momentums = per_group("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                for group, high, low in zip(
                    optimizer.param_groups, self.max_momentums, self.base_momentums
                ):
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """Return the height of a cycle, by its number or by the step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`; writes momenta, too."""
        self._current()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        up = x <= self.step_ratio
        height = x / self.step_ratio if up else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups)
            for low, high, group in bounds:
                put_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [
            low + (high - low) * height * scale
            for low, high in zip(
                map(rate_as_number, self.base_lrs), map(rate_as_number, self.max_lrs)
            )
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer; of `scale_fn` only the fields of an object.

        Returns
        -------
        dict
        """
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        plain = not getattr(function, "__dict__", None)
        state["_scale_fn_custom"] = None if plain else dict(function.__dict__)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state; `scale_fn` stays, and an object gets the fields of the saved one.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned; it is not changed.
        """
        check_state(self, state_dict, "_scale_fn_custom")
        fields = state_dict["_scale_fn_custom"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if fields is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(fields)


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Down along half a cosine, again and again, each time from the first rate.

    :math:`\eta_t = \eta_{min} + (\eta_0 - \eta_{min}) (1 + \cos(\pi T_{cur} / T_i)) / 2`, after
    "SGDR: Stochastic Gradient Descent with Warm Restarts" (Loshchilov and Hutter, 2017).

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    T_0 : int
        Steps of the first run.
    T_mult : int, optional
        How many times longer each run is than the one before.
    eta_min : float, optional
        The lowest rate.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If `T_0` is no int above 0, or `T_mult` none above or equal to 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates `T_cur` steps after the last restart."""
        self._current()
        turn = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [
            self.eta_min + (rate_as_number(base) - self.eta_min) * turn / 2
            for base in self.base_lrs
        ]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next step, or to any, also between two whole ones.

        Parameters
        ----------
        epoch : float, optional
            The step; batches within an epoch can give parts of it.

        Raises
        ------
        ValueError
            If it is negative.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=1)
        >>> optimizer.step()
        >>> schedule.step(0.5)
        >>> round(schedule.get_last_lr()[0], 6)
        0.5
        """
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i  # by more than one, where a run is resumed
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._restart_before(epoch)
        self._write(self._rates(math.floor(epoch)))

    def _restart(self) -> None:
        self._restart_before(0)
        self._write(self._rates(0))

    def _restart_before(self, epoch: float) -> None:
        if epoch < self.T_0:
            runs, begun = 0, 0
        elif self.T_mult == 1:
            runs, begun = 0, int(epoch // self.T_0) * self.T_0
        else:
            # Whole runs that lie before: their lengths are a geometric series.
            runs = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            begun = self.T_0 * (self.T_mult**runs - 1) // (self.T_mult - 1)
        self.T_cur = epoch - begun  # type: ignore[assignment]
        self.T_i = self.T_0 * self.T_mult**runs


class OneCycleLR(LRScheduler):
    """Up to the highest rate and down far below the first one, in one cycle, a step per batch.

    After "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates"
    (Smith and Topin, 2018).

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    max_lr : float or list of float
        The highest rate, for all groups or for each.
    total_steps : int, optional
        Steps of the cycle; or give `epochs` and `steps_per_epoch`.
    epochs, steps_per_epoch : int, optional
        Their product is the number of steps.
    pct_start : float, optional
        The part of the steps that goes up.
    anneal_strategy : {"cos", "linear"}, optional
        The form of the ways.
    cycle_momentum : bool, optional
        Whether the momentum goes the other way.
    base_momentum, max_momentum : float or list of float, optional
        Its bounds.
    div_factor : float, optional
        The highest rate over the first.
    final_div_factor : float, optional
        The first rate over the last.
    three_phase : bool, optional
        Whether the way down has the length of the way up, before the last part.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    TypeError
        If `optimizer` is none.
    ValueError
        If the number of steps is missing or not positive, an option is out of range, a list has
        another length than the groups, the optimizer has no momentum to cycle, or a step is asked
        for after the last.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1, momentum=0.9)
    >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> round(schedule.get_last_lr()[0], 6)
    0.04
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _steps_of(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        up = float(pct_start * self.total_steps) - 1
        highest, first, last = "max_lr", "initial_lr", "min_lr"
        self._schedule_phases: list[dict[str, Any]] = [
            {"end_step": up, "start_lr": first, "end_lr": highest,
             "start_momentum": "max_momentum", "end_momentum": "base_momentum"},
            {"end_step": self.total_steps - 1, "start_lr": highest, "end_lr": last,
             "start_momentum": "base_momentum", "end_momentum": "max_momentum"},
        ]  # fmt: skip
        if three_phase:
            down = {**self._schedule_phases[1], "end_step": 2 * up, "end_lr": first}
            last_part = {**down, "end_step": self.total_steps - 1}
            last_part.update(start_lr=first, end_lr=last, start_momentum="max_momentum")
            self._schedule_phases[1:] = [down, last_part]
        self._anneal_func_type = anneal_strategy
        rates = per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = cycles_momentum(optimizer)
            highs = per_group("max_momentum", max_momentum, optimizer)
            lows = per_group("base_momentum", base_momentum, optimizer)
            if last_epoch == -1:
                for low, high, group in zip(lows, highs, optimizer.param_groups):
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`; writes momenta, too."""
        self._current()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        between = between_cosine if self._anneal_func_type == "cos" else between_linear
        start: float = 0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                part = (step - start) / (end - start)
                break
            start = end
        rates = []
        for group in self.optimizer.param_groups:
            ends = group[phase["start_lr"]], group[phase["end_lr"]]
            rates.append(between(rate_as_number(ends[0]), rate_as_number(ends[1]), part))
            if self.cycle_momentum:
                bounds = group[phase["start_momentum"]], group[phase["end_momentum"]]
                put_momentum(group, between(*bounds, part), self.use_beta1)
        return rates


def _steps_of(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """Return the number of steps, given in one of two ways."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    if not isinstance(epochs, int) or epochs <= 0:
        raise ValueError(f"Expected positive integer epochs, but got {epochs}")
    if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
        raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
    return epochs * steps_per_epoch
