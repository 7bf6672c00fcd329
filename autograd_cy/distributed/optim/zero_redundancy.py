"""An optimizer whose state is spread over ranks: each steps some parameters and sends them on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import autograd_cy as ag
from autograd_cy.distributed.algorithms.join import Join, Joinable, JoinHook
from autograd_cy.distributed.collectives import broadcast
from autograd_cy.distributed.groups import own_group
from autograd_cy.distributed.objects import gather_object
from autograd_cy.optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """
    Keep the state of each parameter on one rank alone.

    Each rank makes an optimizer for its share of the parameters, balanced by their sizes. After its
    step, the ranks send their parameters to all others. The memory of the state is divided by the
    number of ranks; the results are those of the optimizer itself.

    Parameters
    ----------
    params : iterable
        Parameters, or groups of them as dicts; alike on all ranks.
    optimizer_class : type
        Of the optimizer of each rank.
    process_group : ProcessGroup, optional
        By default all processes.
    parameters_as_bucket_view : bool, default False
        Without effect: parameters of a dtype are sent in one message.
    overlap_with_ddp : bool, default False
        Not supported.
    **defaults
        Options of the optimizer.

    Attributes
    ----------
    optim : Optimizer
        The one of this rank.

    Raises
    ------
    ValueError
        If ``overlap_with_ddp`` is True, or there is no group.

    References ---------- S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training
    Trillion Parameter Models", SC20.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.optim import ZeroRedundancyOptimizer
    >>> ag.distributed.init_process_group()
    >>> model = ag.nn.Linear(2, 1)
    >>> optimizer = ZeroRedundancyOptimizer(model.parameters(), ag.optim.Adam, lr=0.01)
    >>> model(ag.ones(3, 2)).sum().backward()
    >>> optimizer.step()
    >>> ag.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise ValueError(
                "ZeroRedundancyOptimizer: overlap_with_ddp isn't supported; leave it out, and step "
                "after backward"
            )
        group = own_group(process_group, "ZeroRedundancyOptimizer")
        if group is None:
            raise ValueError("ZeroRedundancyOptimizer: this process isn't in process_group")
        self.process_group = group
        self._class = optimizer_class
        self._made = False
        super().__init__(params, defaults)
        self._made = True
        self._saved: list[dict[str, Any]] | None = None
        self._make()

    # --- shares ---------------------------------------------------------------------------------

    def _all_parameters(self) -> list[Any]:
        return [p for group in self.param_groups for p in group["params"]]

    def _owners(self) -> list[int]:
        """Return the rank of each parameter: the largest first, each to the rank with least."""
        parameters = self._all_parameters()
        loads = [0] * self.process_group.size()
        owners = [0] * len(parameters)
        for number in sorted(range(len(parameters)), key=lambda n: -parameters[n].numel()):
            owner = loads.index(min(loads))
            owners[number] = owner
            loads[owner] += parameters[number].numel()
        return owners

    def _share(self) -> list[dict[str, Any]]:
        """Return the groups with this rank's parameters alone."""
        groups, start = [], 0
        for group in self.param_groups:
            own = [
                p
                for number, p in enumerate(group["params"], start)
                if self._owner[number] == self.process_group.rank()
            ]
            start += len(group["params"])
            groups.append({**group, "params": own})
        return groups

    def _make(self) -> None:
        self._owner = self._owners()
        share = self._share()
        if not any(group["params"] for group in share):
            # More ranks than parameters: an optimizer of none refuses to be made.
            share = [{**share[0], "params": [ag.nn.Parameter(ag.zeros(()))]}, *share[1:]]
        self.optim = self._class(share, **self.defaults)
        # Options that the class adds, as its defaults are known to it alone.
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            for name, value in own.items():
                if name != "params":
                    group.setdefault(name, value)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """
        Add parameters with options of their own, on all ranks alike.

        Parameters
        ----------
        param_group : dict
            ``"params"`` and any options.

        Raises
        ------
        RuntimeError
            If steps were made already: shares would change.
        """
        if self._made and any(self.optim.state.values()):
            raise RuntimeError(
                "ZeroRedundancyOptimizer.add_param_group: the shares of the ranks would change "
                "after a step; make a new optimizer"
            )
        super().add_param_group(param_group)
        if self._made:
            self._make()

    # --- a step ---------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None, **options: Any) -> Any:
        """
        Step this rank's parameters, and get those of the others.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss again.
        **options
            Of the optimizer's own step.

        Returns
        -------
        object
            What the closure returned.
        """
        Join.notify_join_context(self)
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            own.update({name: value for name, value in group.items() if name != "params"})
        loss = self.optim.step(closure, **options) if closure else self.optim.step(**options)
        self._send()
        return loss

    def _send(self) -> None:
        """Give all ranks the parameters of each, those of a dtype in one message."""
        if self.process_group.size() == 1:
            return
        parts: dict[Any, list[Any]] = {}
        for parameter, owner in zip(self._all_parameters(), self._owner, strict=True):
            parts.setdefault((owner, parameter.dtype, parameter.device), []).append(parameter)
        with ag.no_grad():
            for (owner, *_), parameters in parts.items():
                flat = ag.cat([p.detach().reshape(-1) for p in parameters])
                broadcast(flat, group=self.process_group, group_src=owner)
                start = 0
                for p in parameters:
                    if owner != self.process_group.rank():
                        p.copy_(flat[start : start + p.numel()].view(p.shape))
                    start += p.numel()

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """
        Return what a rank without inputs does: it steps its parameters, and sends them.

        Parameters
        ----------
        **kwargs
            Ignored.

        Returns
        -------
        JoinHook
        """
        return _Shadow(self)

    @property
    def join_process_group(self) -> Any:
        """Return the group whose ranks are joined."""
        return self.process_group

    # --- saving ---------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """
        Gather the state of all ranks on one, so that its :meth:`state_dict` is complete.

        Parameters
        ----------
        to : int, default 0
            The rank in the world.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> from autograd_cy.distributed.optim import ZeroRedundancyOptimizer
        >>> ag.distributed.init_process_group()
        >>> model = ag.nn.Linear(2, 1)
        >>> optimizer = ZeroRedundancyOptimizer(model.parameters(), ag.optim.SGD, lr=0.1)
        >>> optimizer.consolidate_state_dict()
        >>> sorted(optimizer.state_dict())
        ['param_groups', 'state']
        >>> ag.distributed.destroy_process_group()
        """
        group = self.process_group
        is_root = group._ranks[group.rank()] == to
        every: list[Any] | None = [None] * group.size() if is_root else None
        gather_object(self._own_state(), every, dst=to, group=group)
        self._saved = every

    def _own_state(self) -> dict[int, Any]:
        """Return the state of this rank's parameters by their number among all."""
        return {
            number: dict(self.optim.state[parameter])
            for number, parameter in enumerate(self._all_parameters())
            if parameter in self.optim.state
        }

    def state_dict(self) -> dict[str, Any]:
        """
        Return the complete state, as the optimizer itself would; see
        :meth:`consolidate_state_dict`.

        Returns
        -------
        dict

        Raises
        ------
        RuntimeError
            If the state wasn't gathered on this rank.
        """
        if self._saved is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.process_group.rank()})` on all ranks beforehand "
                "if you meant to save the global state."
            )
        state = {number: value for part in self._saved for number, value in part.items()}
        return {"state": dict(sorted(state.items())), "param_groups": self._numbered_groups()}

    def _numbered_groups(self) -> list[dict[str, Any]]:
        """Return the options of the groups, with the numbers of their parameters."""
        groups, start = [], 0
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            count = len(group["params"])
            groups.append({**options, "params": list(range(start, start + count))})
            start += count
        return groups

    # The protocol of distributed.checkpoint for a state that is spread.

    def _share_of_state(self) -> dict[str, Any]:
        """Return what this rank saves: the state of its parameters, and all options."""
        return {"state": self._own_state(), "param_groups": self._numbered_groups()}

    def _needs_state(self, part: str, number: Any) -> bool:
        """Return whether this rank loads an entry of a part of the complete state."""
        if part != "state" or not 0 <= number < len(self._owner):
            return True
        return self._owner[number] == self.process_group.rank()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """
        Take this rank's share of a complete state.

        Parameters
        ----------
        state_dict : dict
            As :meth:`state_dict` returns it, or the optimizer itself without ranks.

        Raises
        ------
        ValueError
            If its groups don't fit.
        """
        counts = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in state_dict["param_groups"]] != counts:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        numbers = [n for group in state_dict["param_groups"] for n in group["params"]]
        rank, own_number = self.process_group.rank(), 0
        state, groups, start = {}, [], 0
        for saved, count in zip(state_dict["param_groups"], counts, strict=True):
            own = []
            for place in range(start, start + count):
                if self._owner[place] == rank:
                    if numbers[place] in state_dict["state"]:
                        state[own_number] = state_dict["state"][numbers[place]]
                    own.append(own_number)
                    own_number += 1
            groups.append({**saved, "params": own})
            start += count
        if own_number:
            self.optim.load_state_dict({"state": state, "param_groups": groups})
        for group, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({name: value for name, value in saved.items() if name != "params"})
        self._saved = None


class _Shadow(JoinHook):
    """The work of a rank without inputs for an optimizer."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        self.optimizer.step()
