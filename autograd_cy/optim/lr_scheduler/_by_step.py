"""Schedules that depend on the number of the step alone.

Those with a closed form go on from the rate that the group has now, so that several schedules of
one optimizer multiply, and a rate that the program changed stays changed.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy.optim.optimizer import Optimizer

from ._scheduler import LRScheduler, check_optimizer, check_state, per_group, rate_as_number


class LambdaLR(LRScheduler):
    """The first rate times a function of the step.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    lr_lambda : callable or list of callable
        Takes the number of the step and returns the factor; one for all groups, or one for each.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If there are not as many functions as groups.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.1)
    >>> schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (epoch + 1))
    >>> schedule.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.lr_lambdas = per_group("lr_lambda", lr_lambda, optimizer)
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer; of the functions only the fields of objects.

        Returns
        -------
        dict
        """
        state = super().state_dict()
        del state["lr_lambdas"]  # they come last, as in torch
        state["lr_lambdas"] = [
            None if isinstance(function, types.FunctionType) else dict(function.__dict__)
            for function in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state; functions stay, and objects get the fields of the saved ones.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned; it is not changed.
        """
        check_state(self, state_dict, "lr_lambdas")
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, fields in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if fields is not None:
                function.__dict__.update(fields)

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`."""
        self._current()
        return [
            base * function(self.last_epoch)
            for base, function in zip(map(rate_as_number, self.base_lrs), self.lr_lambdas)
        ]


class MultiplicativeLR(LambdaLR):
    """The rate times a function of the step, again in every step.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    lr_lambda : callable or list of callable
        Takes the number of the step and returns the factor; one for all groups, or one for each.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If there are not as many functions as groups.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`."""
        rates = self._current()
        if self._is_initial:
            return rates
        return [rate * f(self.last_epoch) for rate, f in zip(rates, self.lr_lambdas)]


class _Stepwise(LRScheduler):
    """A schedule whose rate follows from the last one: `_next`; `_closed` is the same at once."""

    def _next(self, rate: float) -> float:
        raise NotImplementedError

    def _closed(self, base: float) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`."""
        # Groups that were added later go along.
        return [self._next(rate) for rate in self._current()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [self._closed(rate_as_number(base)) for base in self.base_lrs]


class StepLR(_Stepwise):
    """The rate times `gamma` every `step_size` steps.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    step_size : int
        Steps from one decay to the next.
    gamma : float, optional
        The factor.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        decays = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return rate * self.gamma if decays else rate

    def _closed(self, base: float) -> float:
        return base * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Stepwise):
    """The rate times `gamma` at each of some steps.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    milestones : iterable of int
        The steps; one that is named twice counts twice.
    gamma : float, optional
        The factor.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        times = self.milestones.get(self.last_epoch, 0)
        return rate * self.gamma**times if times else rate

    def _closed(self, base: float) -> float:
        return base * self.gamma ** bisect_right(
            sorted(self.milestones.elements()), self.last_epoch
        )


class ConstantLR(_Stepwise):
    """The first rate times `factor`, until `total_iters` steps are done.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    factor : float, optional
        The factor of the first steps, from 0 to 1.
    total_iters : int, optional
        How many steps it holds.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If the factor is not from 0 to 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(
                f"Constant multiplicative factor expected to be between 0 and 1, got {factor}."
            )
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        if self.last_epoch == 0:
            return rate * self.factor
        return rate * (1.0 / self.factor) if self.last_epoch == self.total_iters else rate

    def _closed(self, base: float) -> float:
        return base * (self.factor if self.last_epoch < self.total_iters else 1.0)


class LinearLR(_Stepwise):
    """The first rate times a factor that goes from one number to another in equal parts.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    start_factor, end_factor : float, optional
        The factors at step 0 and from step `total_iters` on.
    total_iters : int, optional
        How many steps it takes.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If the first factor is not above 0 and at most 1, or the last one not from 0 to 1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> rates = []
    >>> for _ in range(3):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.75, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                f"to 1, got {start_factor}."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(
                f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        if self.last_epoch == 0:
            return rate * self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        # The quotient of two factors that lie one step apart.
        rise = self.end_factor - self.start_factor
        return rate * (
            1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)
        )

    def _closed(self, base: float) -> float:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * part)


class ExponentialLR(_Stepwise):
    """The rate times `gamma` in every step.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    gamma : float
        The factor.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        return rate if self._is_initial else rate * self.gamma

    def _closed(self, base: float) -> float:
        return base * self.gamma**self.last_epoch


class PolynomialLR(_Stepwise):
    r"""The first rate times :math:`(1 - t / T)^p`, and 0 from step :math:`T` on.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    total_iters : int, optional
        The steps :math:`T`.
    power : float, optional
        The power :math:`p`.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: float) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        left, before = (1.0 - t / self.total_iters for t in (self.last_epoch, self.last_epoch - 1))
        return rate * (left / before) ** self.power

    def _closed(self, base: float) -> float:
        done = min(self.total_iters, self.last_epoch)
        return base * (1.0 - done / self.total_iters) ** self.power


class CosineAnnealingLR(_Stepwise):
    r"""From the first rate down to `eta_min` along half a cosine of `T_max` steps, and up again.

    :math:`\eta_t = \eta_{min} + (\eta_0 - \eta_{min}) (1 + \cos(\pi t / T_{max})) / 2`, as in
    "SGDR: Stochastic Gradient Descent with Warm Restarts" (Loshchilov and Hutter, 2017), without
    the restarts.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    T_max : int
        Steps of half a cosine.
    eta_min : float, optional
        The lowest rate.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates of the step `last_epoch`."""
        rates, t = self._current(), self.last_epoch
        if self._is_initial or t == 0:
            return rates
        if self._step_count == 1 and t > 0:
            return self._get_closed_form_lr()
        if (t - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The last rate was eta_min: there is nothing that could be multiplied.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                rate + (base - self.eta_min) * rise
                for rate, base in zip(rates, map(rate_as_number, self.base_lrs))
            ]
        now, before = (1 + math.cos(math.pi * x / self.T_max) for x in (t, t - 1))
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _closed(self, base: float) -> float:
        turn = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (base - self.eta_min) * turn / 2
