"""Schedules made of others: all at once, or one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from autograd_cy.optim.optimizer import Optimizer

from ._plateau import ReduceLROnPlateau
from ._scheduler import LRScheduler, check_state, rate_as_number, set_option


def _check_schedulers(name: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    """Raise unless all are schedules of one optimizer, and none wants a metric."""
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                f"kwargs to be specified when calling `step`, but got one at index {i} in the "
                "given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is "
                f"different from {optimizer}."
            )


def _take_back(schedule: LRScheduler) -> None:
    """Undo the step that a schedule made on its own; of one made of others, theirs."""
    parts = getattr(schedule, "_schedulers", None)
    if parts is None:
        schedule.last_epoch -= 1
        return
    for part in parts:
        _take_back(part)


class _Combined(LRScheduler):
    """States of the parts are saved in the whole."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer, and the states of the parts.

        Returns
        -------
        dict
        """
        state = super().state_dict()
        del state["_schedulers"]  # they come last, as in torch
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state, with those of the parts.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned; it is not changed.
        """
        check_state(self, state_dict, "_schedulers")
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for part, state in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(state)


class ChainedScheduler(_Combined):
    """All schedules in every step, each on what the one before left.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        Schedules of one optimizer.
    optimizer : Optimizer, optional
        By default that of the first.

    Raises
    ------
    ValueError
        If there are none, or of several optimizers.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, 0.5, total_iters=1), ExponentialLR(optimizer, 0.5)]
    >>> schedule = ChainedScheduler(parts)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        _check_schedulers(type(self).__name__, schedulers, optimizer)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer  # type: ignore[assignment]
        self._remember()

    def step(self) -> None:  # type: ignore[override]
        """Let every schedule take a step; there is none to go to, they may be at different ones."""
        for part in self._schedulers:
            part.step()
        self._remember()


class SequentialLR(_Combined):
    """One schedule after the other.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    schedulers : sequence of LRScheduler
        Schedules of this optimizer.
    milestones : sequence of int
        The steps at which the next one begins, one less than there are schedules.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Raises
    ------
    ValueError
        If there are none, of other optimizers, or not one more than milestones.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, 0.5, total_iters=9), ExponentialLR(optimizer, 0.5)]
    >>> schedule = SequentialLR(optimizer, parts, milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     optimizer.step()
    ...     schedule.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        _check_schedulers(name, schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        for i, milestone in enumerate(milestones):
            if not isinstance(milestone, (int, float)):
                raise TypeError(
                    f"{name}: milestones must be numbers of steps, but the one at index {i} is a "
                    f"{type(milestone).__name__}"
                )
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # All made their first step on these groups: undo that, and let the first one do it again.
        for group in optimizer.param_groups:
            set_option(group, "lr", rate_as_number(group["initial_lr"]))
        for part in self._schedulers:
            _take_back(part)
        first = self._schedulers[bisect_right(self._milestones, self.last_epoch)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go to the next step of the schedule whose turn it is."""
        turn = bisect_right(self._milestones, self.last_epoch + 1)
        part = self._schedulers[turn]
        begins = turn > 0 and self._milestones[turn - 1] == self.last_epoch + 1
        if begins and isinstance(part, _Combined):
            raise NotImplementedError(
                f"SequentialLR: a {type(part).__name__} can only be the first of its schedulers: "
                f"it can't begin anew at a milestone, and it is at index {turn}. Give its parts to "
                "the SequentialLR itself."
            )
        self.last_epoch += 1
        if begins:
            part._restart()
        else:
            part.step()
        self._last_lr = part.get_last_lr()
