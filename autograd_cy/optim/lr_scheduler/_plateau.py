"""A schedule that looks at a metric."""

from __future__ import annotations

import math
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy.optim.optimizer import Optimizer

from ._scheduler import (
    LRScheduler,
    check_optimizer,
    check_state,
    per_group,
    rate_as_number,
    set_option,
)


def _check_modes(mode: Any, threshold_mode: Any) -> None:
    if mode not in ("min", "max"):
        raise ValueError(f"mode {mode} is unknown!")
    if threshold_mode not in ("rel", "abs"):
        raise ValueError(f"threshold mode {threshold_mode} is unknown!")


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a metric hasn't got better for some steps.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    mode : {"min", "max"}, optional
        Whether better is smaller or larger.
    factor : float, optional
        The factor, below 1.
    patience : int, optional
        Steps without improvement that are borne.
    threshold : float, optional
        How much better counts.
    threshold_mode : {"rel", "abs"}, optional
        Whether the threshold is a part of the best value or a difference to it.
    cooldown : int, optional
        Steps after a reduction that don't count.
    min_lr : float or list of float, optional
        The lowest rate, for all groups or for each.
    eps : float, optional
        Smaller changes of the rate are not made.

    Raises
    ------
    TypeError
        If `optimizer` is none.
    ValueError
        If the factor is not below 1, or a mode is unknown.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     optimizer.step()
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        _check_modes(mode, threshold_mode)
        self.factor = factor
        self.optimizer = optimizer
        self.min_lrs = per_group("min_lr", min_lr, optimizer)
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._reset()
        self._remember()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of another schedule of the same kind.

        Parameters
        ----------
        state_dict : dict
            What `state_dict` returned.

        Raises
        ------
        ValueError
            If it has a mode that there is not.
        """
        check_state(self, state_dict)
        _check_modes(
            state_dict.get("mode", self.mode), state_dict.get("threshold_mode", self.threshold_mode)
        )
        super().load_state_dict(state_dict)

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of a step, and reduce the rates if it is time.

        Parameters
        ----------
        metrics : float or Tensor
            The metric; a tensor of one element.
        epoch : int, optional
            The number of the step; deprecated.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(torch.tensor(0.5))
        """
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            _warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible.",
                UserWarning,
            )
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._remember()

    def _reduce_lr(self, epoch: int) -> None:
        # By the name under which subclasses do more when it gets smaller, as loading the best.
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to the "
                    "optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs):
            old = rate_as_number(group["lr"])
            new = max(old * self.factor, lowest)
            if old - new > self.eps:
                set_option(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """True if steps don't count yet after the last reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        if self.threshold_mode == "rel":
            # A part of the best value; that of an infinite one is infinite.
            part = 1.0 - self.threshold if self.mode == "min" else 1.0 + self.threshold
            bound = best * part
        else:
            bound = best - self.threshold if self.mode == "min" else best + self.threshold
        return a < bound if self.mode == "min" else a > bound
