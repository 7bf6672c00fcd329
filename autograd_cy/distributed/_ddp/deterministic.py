"""Sums of gradients that don't depend on the number of ranks.

The batch of a step is k micro-batches. Their gradients are the leaves of one binary tree, in which
a sum of two neighbours of equal height is the node above them. A rank has neighbouring leaves, sums
them as they come (as a binary counter carries), and the ranks' sums are summed in the rest of the
tree: so 1, 2 and 4 ranks round alike, and get the same bits.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy.distributed._world import ProcessGroup
from autograd_cy.distributed.collectives import all_reduce
from autograd_cy.distributed.constants import ReduceOp
from autograd_cy.distributed.gathering import all_gather
from autograd_cy.distributed.point_to_point import P2POp, batch_isend_irecv, irecv, isend

from .tasks import Tasks

__all__ = ["Counter", "TreeReducer", "sum_over_ranks"]

#: Bytes that are gathered at once where the number of ranks isn't a power of two.
_CHUNK = 1 << 20


class Counter:
    """A sum of values as the tree prescribes, of which those that are complete are kept.

    Examples
    --------
    >>> from autograd_cy.distributed._ddp.deterministic import Counter
    >>> counter = Counter()
    >>> for value in (1.0, 2.0, 3.0):
    ...     counter.add(value)
    >>> counter.total()
    6.0
    """

    def __init__(self) -> None:
        self._sums: list[tuple[int, Any]] = []

    def add(self, value: Any) -> None:
        """Add the next leaf."""
        height = 0
        while self._sums and self._sums[-1][0] == height:
            value = self._sums.pop()[1] + value
            height += 1
        self._sums.append((height, value))

    def total(self) -> Any:
        """Return the sum of all leaves, and begin anew."""
        _, value = self._sums.pop()
        while self._sums:
            value = self._sums.pop()[1] + value
        return value


def sum_over_ranks(flat: Tensor, group: ProcessGroup) -> Tensor:
    """Return the sum over ranks by the tree: the same bits on all.

    Parameters
    ----------
    flat : Tensor
        Shape ``(n,)``; of the same size on all ranks.
    group : ProcessGroup
    """
    size = group.size()
    if size & (size - 1) == 0:
        for level in range(size.bit_length() - 1):
            partner = group._ranks[group.rank() ^ (1 << level)]
            other = ag.empty_like(flat)
            for work in batch_isend_irecv(
                [P2POp(irecv, other, partner, group), P2POp(isend, flat, partner, group)]
            ):
                work.wait()
            flat = flat + other
        return flat
    result = ag.empty_like(flat)
    step = _CHUNK // flat.element_size()
    for start in range(0, flat.numel(), step):
        part = flat[start : start + step]
        parts = [ag.empty_like(part) for _ in range(size)]
        all_gather(parts, part, group)
        counter = Counter()
        for each in parts:
            counter.add(each)
        result[start : start + step] = counter.total()
    return result


class TreeReducer:
    """Hooks of one module that sum the gradients of micro-batches by the tree.

    Parameters
    ----------
    names : sequence of str
        Of the parameters, for messages.
    parameters : sequence of Parameter
        Those that record, in the order of the module.
    group : ProcessGroup
    micro_batches : int
        Of a step, over all ranks.
    find_unused : bool
        Parameters may be without a gradient.

    Raises
    ------
    ValueError
        If the ranks can't share the tree.
    """

    def __init__(
        self,
        names: Sequence[str],
        parameters: Sequence[Any],
        group: ProcessGroup,
        micro_batches: int,
        find_unused: bool,
    ) -> None:
        own, rest = divmod(micro_batches, group.size())
        if micro_batches < 1 or rest or (group.size() > 1 and own & (own - 1)):
            raise ValueError(
                f"DistributedDataParallel: micro_batches={micro_batches} for {group.size()} ranks; "
                "each rank must have 1, 2, 4, 8 ... of them"
            )
        self.names = list(names)
        self.parameters = list(parameters)
        self.group = group
        self.micro_batches = micro_batches
        self.find_unused = find_unused
        self.inside_no_sync = False
        self.divisor = group.size()  # without effect
        self.comm_hook = None
        self._own = own
        self._done = 0
        self._current: dict[int, Tensor] = {}
        self._before: dict[int, Tensor] = {}
        self._tasks = Tasks()
        self._expected = False
        self._used: set[int] = set()
        self._counters: list[Counter] = []
        by_dtype: dict[Any, list[int]] = {}
        for number, parameter in enumerate(self.parameters):
            by_dtype.setdefault((parameter.dtype, parameter.device), []).append(number)
        self._parts = list(by_dtype.values())
        self._counters = [Counter() for _ in self._parts]
        self.handles: list[Any] = []
        for number, parameter in enumerate(self.parameters):
            before, after = self._hooks_of(number)
            self.handles.append(parameter.register_hook(before))
            self.handles.append(parameter.register_post_accumulate_grad_hook(after))

    def prepare(self) -> None:
        """Expect a backward: after the forward pass of the module."""
        if self.inside_no_sync:
            raise RuntimeError(
                "DistributedDataParallel.no_sync: with micro_batches, gradients are reduced after "
                "the last of them; leave no_sync out"
            )
        self._expected = True

    def shadow(self) -> None:
        """Refuse ranks without inputs: every leaf of the tree is needed."""
        raise RuntimeError(
            "DistributedDataParallel.join: with micro_batches, every rank must have all of its "
            "micro-batches; use drop_last=True"
        )

    def _hooks_of(self, number: int) -> tuple[Callable[[Any], None], Callable[[Any], None]]:
        # A module may be wrapped again: the hooks of a wrapper that is gone do nothing.
        reference = weakref.ref(self)

        def before(gradient: Any) -> None:
            reducer = reference()
            if reducer is not None:
                reducer._set_aside(number)

        def after(parameter: Any) -> None:
            reducer = reference()
            if reducer is not None:
                reducer._arrive(number)

        return before, after

    def __del__(self) -> None:
        for handle in getattr(self, "handles", ()):
            handle.remove()

    def _set_aside(self, number: int) -> None:
        """Keep what earlier steps accumulated apart from the gradient of this micro-batch."""
        parameter = self.parameters[number]
        if parameter.grad is not None:
            self._before[number], parameter.grad = parameter.grad, None

    def _arrive(self, number: int) -> None:
        if not self._current:
            if not self._expected:
                raise RuntimeError(
                    "DistributedDataParallel: a second backward after one forward pass would count "
                    "as another micro-batch; call the module again before each backward"
                )
            self._expected = False
            self._tasks.begin()
        self._tasks.queue(self._finish)
        parameter = self.parameters[number]
        gradient, parameter.grad = parameter.grad, None
        if number in self._current:  # used again by a checkpoint with use_reentrant=True
            with ag.no_grad():
                gradient = self._current[number] + gradient
        self._current[number] = gradient

    def _finish(self) -> None:
        """Add the gradients of one micro-batch; after the last, reduce."""
        if not self._current:
            return  # a backward inside of this one had the last gradients
        missing = [n for n in range(len(self.parameters)) if n not in self._current]
        if missing and self._tasks.are_inside():
            return
        if missing and not self.find_unused:
            names = ", ".join(self.names[number] for number in missing[:10])
            raise RuntimeError(
                f"DistributedDataParallel: {names} had no gradient in this backward; use "
                "find_unused_parameters=True"
            )
        with ag.no_grad():
            for numbers, counter in zip(self._parts, self._counters, strict=True):
                counter.add(ag.cat([self._gradient(number).reshape(-1) for number in numbers]))
        self._used.update(self._current)
        self._current = {}
        self._done += 1
        if self._done == self._own:
            self._done = 0
            with ag.no_grad():
                self._reduce()

    def _gradient(self, number: int) -> Tensor:
        gradient = self._current.get(number)
        return ag.zeros_like(self.parameters[number]) if gradient is None else gradient

    def _reduce(self) -> None:
        used = self._used_anywhere()
        for numbers, counter in zip(self._parts, self._counters, strict=True):
            total = counter.total()
            if self.group.size() > 1:
                total = sum_over_ranks(total, self.group)
            total = total / self.micro_batches
            start = 0
            for number in numbers:
                parameter = self.parameters[number]
                part = total[start : start + parameter.numel()].view(parameter.shape)
                start += parameter.numel()
                before = self._before.pop(number, parameter.grad)
                if used[number]:
                    parameter.grad = part if before is None else before + part
                else:
                    parameter.grad = before
        self._used = set()

    def _used_anywhere(self) -> list[bool]:
        if not self.find_unused:
            return [True] * len(self.parameters)
        flags = ag.tensor([int(n in self._used) for n in range(len(self.parameters))])
        if self.group.size() > 1:
            all_reduce(flags, ReduceOp.MAX, self.group)
        return [bool(flag) for flag in flags.tolist()]
