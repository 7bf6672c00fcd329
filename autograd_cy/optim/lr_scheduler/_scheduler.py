"""The base class of schedules: which step it is, and learning rates written into the groups."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from typing import Any

from autograd_cy import Tensor, tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy.optim.optimizer import Optimizer

GUIDE = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


class LRScheduler:
    """The base class of schedules of learning rates.

    A subclass defines `get_lr`, which returns the rate of each group for the step `last_epoch`.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates. The rate a group has now becomes its ``"initial_lr"``.
    last_epoch : int, optional
        The last step of the run that is resumed; -1 starts anew.

    Attributes
    ----------
    base_lrs : list of float
        The rates that groups began with.
    last_epoch : int
        The number of the step, from 0.

    Raises
    ------
    TypeError
        If `optimizer` is none.
    KeyError
        If a resumed run has a group without ``"initial_lr"``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Halved(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / 2**self.last_epoch for base in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halved(optimizer)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    # Whether `step` asks `get_lr`, and not a program, and whether it is the first time.
    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", snapshot(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    f"scheduler with last_epoch >= 0 (last_epoch={last_epoch}). Give the groups "
                    "the rates that the first run began with, or load its state_dict."
                )
        self.base_lrs: list[Any] = [
            snapshot(group["initial_lr"]) for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        count_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer.

        Returns
        -------
        dict

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> torch.optim.lr_scheduler.StepLR(optimizer, 5).state_dict()["last_epoch"]
        0
        """
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule of the same kind.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned. The rates of the groups are the optimizer's to load.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> one, other = (torch.optim.lr_scheduler.StepLR(optimizer, n) for n in (5, 7))
        >>> one.load_state_dict(other.state_dict())
        >>> one.step_size
        7
        """
        check_state(self, state_dict)
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the rates that this schedule wrote last, one per group.

        Returns
        -------
        list of float

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5).get_last_lr()
        [0.5]
        """
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the rates for the step `last_epoch`; programs ask `get_last_lr`.

        Returns
        -------
        list of float

        Raises
        ------
        NotImplementedError
            If the subclass does not.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr.")

    def step(self, epoch: int | None = None) -> None:
        """Go to the next step, and write its rates into the groups.

        Parameters
        ----------
        epoch : int, optional
            Go to this step instead; deprecated.

        Warns
        -----
        UserWarning
            If the optimizer hasn't made a step yet, or for `epoch`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.step()
        >>> schedule.step()
        >>> optimizer.param_groups[0]["lr"]
        0.5
        """
        if self._step_count == 1:
            warn_of_order(self.optimizer)
        self._step_count += 1
        if epoch is None:
            self._write(self._rates(self.last_epoch + 1))
        else:
            _warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the scheduler. "
                "During the deprecation, if epoch is different from None, the closed form is used "
                "instead of the new chainable form, where available.",
                UserWarning,
            )
            self._write(self._rates(epoch, closed=True))

    def _restart(self) -> None:
        """Begin anew, where others have been at work."""
        self._write(self._rates(0, closed=True))

    def _rates(self, epoch: int, closed: bool = False) -> list[Any]:
        """Go to a step and return its rates."""
        self.last_epoch = epoch
        if closed and hasattr(self, "_get_closed_form_lr"):
            return self._get_closed_form_lr()
        with _enable_get_lr_call(self):
            return self.get_lr()

    def _write(self, rates: list[Any]) -> None:
        groups = self.optimizer.param_groups
        if len(rates) != len(groups):
            raise ValueError(
                f"{type(self).__name__} has {len(rates)} learning rates for {len(groups)} groups "
                "of parameters: groups were added after it was made; make a new one"
            )
        for group, rate in zip(groups, rates):
            set_option(group, "lr", rate)
        self._remember()

    def _remember(self) -> None:
        self._last_lr = [snapshot(group["lr"]) for group in self.optimizer.param_groups]

    def _current(self) -> list[float]:
        """The rates that groups have now, which programs may have changed."""
        if not getattr(self, "_get_lr_called_within_step", False):
            _warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
            )
        return [rate_as_number(group["lr"]) for group in self.optimizer.param_groups]


class _enable_get_lr_call:
    """The context in which `get_lr` doesn't warn; schedules with a `step` of their own use it."""

    def __init__(self, schedule: LRScheduler) -> None:
        self.o = schedule

    def __enter__(self) -> _enable_get_lr_call:
        self.o._get_lr_called_within_step = True
        return self

    def __exit__(self, *error: object) -> None:
        self.o._get_lr_called_within_step = False


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless it is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def check_state(schedule: Any, state_dict: Any, *needed: str) -> None:
    """Raise TypeError unless it is a dictionary, and KeyError if it lacks a name."""
    if not isinstance(state_dict, Mapping):
        raise TypeError(
            f"{type(schedule).__name__}.load_state_dict(): expected what state_dict() returned, a "
            f"dict, but got {type(state_dict).__name__}"
        )
    for name in needed:
        if name not in state_dict:
            raise KeyError(name)


def per_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """Return one value for each group, of one for all or of a list of as many."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [snapshot(value) for _ in range(n)]
    if len(value) != n:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups {n}."
        )
    return [snapshot(one) for one in value]


# By id, of rates in tensors on devices: a weak reference, the version, and the number that is known
# to be there then, so that a schedule doesn't wait for the device in each step.
_known: dict[int, tuple[weakref.ref[Tensor], int, Any]] = {}


def _remember(rate: Tensor, value: Any) -> None:
    place = id(rate)
    gone = weakref.ref(rate, lambda _: _known.pop(place, None))
    _known[place] = (gone, rate._version, value)


def _remembered(rate: Tensor) -> Any:
    entry = _known.get(id(rate))
    if entry is None or entry[0]() is not rate or entry[1] != rate._version:
        return None
    return entry[2]


def snapshot(rate: Any) -> Any:
    """Return a rate to keep: of a tensor, which steps fill, a copy."""
    if not isinstance(rate, Tensor):
        return rate
    copy = rate.detach().clone()
    if not (rate.is_cpu or rate.is_meta):
        _remember(copy, rate_as_number(rate))
    return copy


def rate_as_number(rate: Any) -> Any:
    """Return a rate as a number; programs may keep it in a tensor."""
    if not isinstance(rate, Tensor):
        return rate
    if rate.is_cpu:
        return rate.item()
    value = _remembered(rate)
    if value is None:
        value = rate.item()
        _remember(rate, value)
    return value


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Write an option of a group; a tensor stays the same object."""
    if isinstance(group[name], Tensor):
        there, value = group[name], rate_as_number(value)
        there.fill_(value)
        if not there.is_cpu:
            value = tensor(value, dtype=there.dtype, device="cpu").item()  # rounded as there
            _remember(there, value)
    else:
        group[name] = value


def count_steps(optimizer: Optimizer) -> None:
    """Let the optimizer remember that it has made a step, for the warning about the order."""
    if hasattr(optimizer.step, "_counts"):
        return
    method = type(optimizer).step
    own = optimizer.__dict__.get("step")
    # The wrapper lies in the optimizer: a strong reference would make a cycle.
    known = weakref.ref(optimizer)

    @functools.wraps(method)
    def step(*args: Any, **kwargs: Any) -> Any:
        alive = known()
        if alive is None:
            raise ReferenceError("the optimizer of this step is gone")
        alive._opt_called = True  # type: ignore[attr-defined]
        return method(alive, *args, **kwargs) if own is None else own(*args, **kwargs)

    step._counts = True  # type: ignore[attr-defined]
    optimizer._opt_called = False  # type: ignore[attr-defined]
    optimizer.step = step  # type: ignore[method-assign]


def warn_of_order(optimizer: Optimizer) -> None:
    """Warn if a schedule goes on before the optimizer has made a step."""
    if not hasattr(optimizer.step, "_counts"):
        _warn(
            "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
            "initialization. Please, make sure to call `optimizer.step()` before "
            f"`lr_scheduler.step()`. See more details at {GUIDE}",
            UserWarning,
        )
    elif not getattr(optimizer, "_opt_called", False):
        _warn(
            "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call "
            "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`. Failure "
            "to do this will result in PyTorch skipping the first value of the learning rate "
            f"schedule. See more details at {GUIDE}",
            UserWarning,
        )
