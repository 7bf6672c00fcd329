"""Averages of a model's weights over steps of its training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, Literal

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.nn.module import Module
from autograd_cy.optim.lr_scheduler import LRScheduler
from autograd_cy.optim.lr_scheduler._scheduler import snapshot as _snapshot
from autograd_cy.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1].")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """
    Return the function that moves an average by ``1 - decay`` of the way to the new weights.

    Parameters
    ----------
    decay : float, optional
        From 0 to 1.

    Returns
    -------
    callable
        For `AveragedModel`'s `avg_fn`: of the average, the new weight, and the number averaged.

    Raises
    ------
    ValueError
        `decay` is not in [0, 1].

    Examples
    --------
    >>> import autograd_cy as torch
    >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.75)
    >>> average(torch.tensor(1.0), torch.tensor(5.0), 3)
    tensor(2.)
    """
    _check_decay(decay)

    @ag.no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """
    Return the function of the mean of all weights so far.

    Returns
    -------
    callable
        For `AveragedModel`'s `avg_fn`: of the average, the new weight, and the number averaged.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> average = torch.optim.swa_utils.get_swa_avg_fn()
    >>> average(torch.tensor(1.0), torch.tensor(5.0), 3)
    tensor(2.)
    """

    @ag.no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """
    Return the function of `get_ema_avg_fn` for lists of weights, which it changes in place.

    Parameters
    ----------
    decay : float, optional
        From 0 to 1.

    Returns
    -------
    callable
        For `AveragedModel`'s `multi_avg_fn`.

    Raises
    ------
    ValueError
        `decay` is not in [0, 1].

    Examples
    --------
    >>> import autograd_cy as torch
    >>> average = [torch.tensor(1.0)]
    >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, [torch.tensor(5.0)], 3)
    >>> average
    [tensor(2.)]
    """
    _check_decay(decay)

    @ag.no_grad()
    def ema_update(
        ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Any
    ) -> None:
        for average, new in zip(ema_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(new, 1 - decay)
            else:
                average.copy_(average * decay + new * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """
    Return the function of `get_swa_avg_fn` for lists of weights, which it changes in place.

    Returns
    -------
    callable
        For `AveragedModel`'s `multi_avg_fn`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> average = [torch.tensor(1.0)]
    >>> torch.optim.swa_utils.get_swa_multi_avg_fn()(average, [torch.tensor(5.0)], 3)
    >>> average
    [tensor(2.)]
    """

    @ag.no_grad()
    def swa_update(
        averaged_param_list: Sequence[Tensor],
        current_param_list: Sequence[Tensor],
        num_averaged: Any,
    ) -> None:
        share = 1 / (float(num_averaged) + 1)
        for average, new in zip(averaged_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(new, share)
            else:
                average.copy_(average + (new - average) * share)

    return swa_update


class AveragedModel(Module):
    """
    A copy of a model whose parameters are averages of what the model's were.

    Parameters
    ----------
    model : Module
        What is averaged. It is copied.
    device : device, optional
        Where the averages are.
    avg_fn : callable, optional
        The new average of ``(average, weight, number averaged)``.
    multi_avg_fn : callable, optional
        The same in place, for lists of them. Without both, the mean of all.
    use_buffers : bool, optional
        Average buffers, too; otherwise they are copied at each update.

    Attributes
    ----------
    module : Module
        The copy.
    n_averaged : Tensor
        How many updates there were.

    Raises
    ------
    AssertionError
        Both functions are given.

    Notes
    -----
    P. Izmailov et al., "Averaging weights leads to wider optima and better generalization"
    (2018); moving averages: B. Polyak, A. Juditsky, "Acceleration of stochastic approximation by
    averaging" (1992).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> model = torch.nn.Linear(1, 1)
    >>> averaged = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     torch.nn.init.constant_(model.weight, value)
    ...     averaged.update_parameters(model)
    Parameter containing:
    tensor([[1.]], requires_grad=True)
    Parameter containing:
    tensor([[2.]], requires_grad=True)
    Parameter containing:
    tensor([[6.]], requires_grad=True)
    >>> averaged.module.weight.item()
    3.0
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ag.tensor(0, dtype=ag.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """
        Return the result of the copy of the model.

        Parameters
        ----------
        *args, **kwargs
            Those of the model.

        Returns
        -------
        object
        """
        return self.module(*args, **kwargs)

    @ag.no_grad()
    def update_parameters(self, model: Module) -> None:
        """
        Take the present parameters of the model into the averages.

        Parameters
        ----------
        model : Module
            The model, or one with the same parameters.
        """
        ours: list[Tensor] = list(self.module.parameters())
        theirs: list[Tensor] = list(model.parameters())
        if self.use_buffers:
            ours += self.module.buffers()
            theirs += model.buffers()
        if self.n_averaged == 0:
            for average, new in zip(ours, theirs):
                average.copy_(new)
        elif self.avg_fn is not None:
            for average, new in zip(ours, theirs):
                average.copy_(self.avg_fn(average.detach(), new.detach(), self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(
                [average.detach() for average in ours],
                [new.detach() for new in theirs],
                self.n_averaged,
            )
        if not self.use_buffers:
            for buffer, new in zip(self.module.buffers(), model.buffers()):
                buffer.copy_(new.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """
    Compute the running statistics of batch norms anew, in one pass over the data.

    Parameters
    ----------
    loader : iterable
        Batches, or lists and tuples whose first element is the batch.
    model : Module
        The modes of its parts and the momenta of its batch norms are afterwards as before.
    device : device, optional
        Where batches are moved.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> model = torch.nn.BatchNorm1d(1)
    >>> torch.optim.swa_utils.update_bn([torch.tensor([[2.0], [4.0]])], model)
    >>> model.running_mean
    tensor([3.])
    """
    from autograd_cy.nn.normalization import _BatchNorm

    norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    modes = [(part, part.training) for part in model.modules()]
    model.train()
    try:
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the mean of all batches
        with ag.no_grad():
            for batch in loader:
                x = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(x if device is None else x.to(device))
    finally:
        for norm, momentum in zip(norms, momenta):
            norm.momentum = momentum
        for part, training in modes:
            part.training = training


class SWALR(LRScheduler):
    """
    Lead the learning rates to a constant, at which weights are averaged.

    Parameters
    ----------
    optimizer : Optimizer
        Its groups get the rates.
    swa_lr : float or sequence of float
        The constant, for all groups or for each.
    anneal_epochs : int, optional
        Steps until it is reached.
    anneal_strategy : {"cos", "linear"}, optional
        The way there.
    last_epoch : int, optional
        The last step of the run that is resumed.

    Raises
    ------
    ValueError
        Another strategy, fewer or more rates than groups, or negative `anneal_epochs`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = torch.optim.swa_utils.SWALR(optimizer, 0.5, 2, "linear")
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else None
        if rates is None:
            rates = [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups: swa_lr has "
                f"{len(rates)}, optimizer.param_groups has {len(optimizer.param_groups)}"
            )
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = _snapshot(rate)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """Return the share of the constant in the rate of a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        """
        Return the rates of this step; where they began is worked out from the present ones, which
        another schedule may have set meanwhile.

        Returns
        -------
        list of float
        """
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            rate, constant = group["lr"], group["swa_lr"]
            start = constant if before == 1 else (rate - before * constant) / (1 - before)
            rates.append(constant * now + start * (1 - now))
        return rates
