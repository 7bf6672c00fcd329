"""Training with uneven inputs: ranks that have no more batches take part without one.

``with Join([model, optimizer]):`` around the loop over batches lets a rank that leaves the loop
answer the collectives of the others, by zeros, until all have left it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import autograd_cy as ag
from autograd_cy.distributed._world import ProcessGroup
from autograd_cy.distributed.collectives import all_reduce

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """
    A base class for the work of a rank without inputs.

    Examples
    --------
    >>> from autograd_cy.distributed.algorithms.join import JoinHook
    >>> JoinHook().main_hook()
    """

    def main_hook(self) -> None:
        """Answer the collectives of one iteration of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """
        Run once, when all ranks have left the loop.

        Parameters
        ----------
        is_last_joiner : bool
            This rank was one of the last.
        """


class Joinable:
    """
    A class whose objects can be joined, such as DistributedDataParallel: a base class.

    A subclass defines :meth:`join_hook` and ``join_process_group``, and calls
    :meth:`Join.notify_join_context` once in each iteration, before its collectives.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.algorithms.join import Joinable
    >>> issubclass(ag.nn.parallel.DistributedDataParallel, Joinable)
    True
    """

    _join: Join | None = None

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """
        Return what ranks without inputs do.

        Parameters
        ----------
        **kwargs
            Of the context.

        Returns
        -------
        JoinHook
        """
        raise TypeError(f"{type(self).__name__} must define join_hook(**kwargs) to be joined")

    @property
    def join_process_group(self) -> ProcessGroup:
        """Return the group whose ranks are joined."""
        raise TypeError(f"{type(self).__name__} must define join_process_group to be joined")


class Join:
    """
    A context in which ranks may have different numbers of batches.

    Parameters
    ----------
    joinables : list of Joinable
        Objects with collectives in each iteration, in the order of these.
    enable : bool, default True
        False: do nothing.
    throw_on_early_termination : bool, default False
        Raise on all ranks as soon as one has no more batches.
    **kwargs
        For :meth:`Joinable.join_hook`, such as ``divide_by_initial_world_size``.

    Raises
    ------
    ValueError
        If there are no objects, or their groups differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.algorithms.join import Join
    >>> ag.distributed.init_process_group()
    >>> model = ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1))
    >>> with Join([model]):
    ...     for _ in range(3):
    ...         model(ag.ones(1, 2)).sum().backward()
    >>> ag.distributed.destroy_process_group()
    """

    def __init__(
        self,
        joinables: Sequence[Any],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        groups = {joinable.join_process_group for joinable in joinables}
        if len(groups) > 1:
            raise ValueError(
                "Using join context manager with multiple process groups is not supported"
            )
        self.group: ProcessGroup = groups.pop()
        self._joinables = list(joinables)
        self._enable = enable and self.group.size() > 1
        self._throw = throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        #: Ranks of the group that have inputs in the present iteration.
        self.active = list(range(self.group.size()))
        self._has_inputs = True

    def __enter__(self) -> None:
        self._has_inputs = True
        if self._enable:
            for joinable in self._joinables:
                joinable._join = self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._enable:
            return
        try:
            if kind is None:
                self._answer()
        finally:
            for joinable in self._joinables:
                joinable._join = None

    def _answer(self) -> None:
        """Answer the collectives of the other ranks until none has inputs."""
        self._has_inputs = False
        is_last = True
        while True:
            self._count(0)
            if not self.active:
                break
            if self._throw:
                raise RuntimeError(self._early())
            is_last = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _early(self) -> str:
        gone = sorted(set(range(self.group.size())) - set(self.active))
        ranks = ", ".join(str(self.group._ranks[rank]) for rank in gone)
        return (
            f"Detected that ranks {ranks} have exhausted their inputs while others have more, and "
            "throw_on_early_termination is True"
        )

    def _count(self, own: int) -> None:
        """Tell the other ranks whether this one has inputs, and learn which have."""
        flags = ag.zeros(self.group.size(), dtype=ag.int32)
        flags[self.group.rank()] = own
        all_reduce(flags, group=self.group)
        self.active = [rank for rank, flag in enumerate(flags.tolist()) if flag]

    @staticmethod
    def notify_join_context(joinable: Any) -> None:
        """
        Tell the ranks without inputs that an iteration begins.

        Parameters
        ----------
        joinable : Joinable
            Only the first one of the context tells it.

        Raises
        ------
        RuntimeError
            If a rank has no more inputs, and the context was asked to raise then.
        """
        join = joinable._join
        if join is None or not join._has_inputs or joinable is not join._joinables[0]:
            return
        join._count(1)
        if join._throw and len(join.active) < join.group.size():
            raise RuntimeError(join._early())
