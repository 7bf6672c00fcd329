"""The reduction of gradients over ranks, by hooks of their parameters.

The hook of a parameter runs when backward has its gradient. It brings the gradient into a bucket; a
bucket that is complete is reduced at once by a non-blocking operation, in the order of the buckets,
which is the same on all ranks. Later hooks ask MPI about the operations under way, because most
MPIs move data only while they are asked. The end of backward waits for the rest.

Source of the scheme: S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel
Training", VLDB 2020.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy.distributed._operands import describe
from autograd_cy.distributed._world import ProcessGroup, world
from autograd_cy.distributed.collectives import all_reduce, broadcast
from autograd_cy.distributed.constants import ReduceOp
from autograd_cy.distributed.groups import own_group
from autograd_cy.distributed.work import Work

from .buckets import FIRST_BYTES, Bucket, GradBucket, assign
from .tasks import Tasks

__all__ = ["Reducer"]


class Reducer:
    """Buckets and hooks of one module.

    Parameters
    ----------
    names : sequence of str
        Of the parameters, for messages.
    parameters : sequence of Parameter
        Those that record, in the order of the module.
    group : ProcessGroup
    bucket_bytes : int
        Size of a bucket; the first one is at most 1 MB.
    find_unused : bool
        Parameters may be without a gradient in a backward.
    static_graph : bool
        The same parameters are without one in every backward.
    as_view : bool
        Buckets stay, and gradients share their memory in every step. Otherwise each step has new
        memory, and gradients that are there before a backward stay where they are.
    """

    def __init__(
        self,
        names: Sequence[str],
        parameters: Sequence[Any],
        group: ProcessGroup,
        bucket_bytes: int,
        find_unused: bool,
        static_graph: bool,
        as_view: bool,
    ) -> None:
        self.names = list(names)
        self.parameters = list(parameters)
        self.group = group
        self.bucket_bytes = bucket_bytes
        self.find_unused = find_unused
        self.static_graph = static_graph
        self.as_view = as_view
        #: Gradients that were there before this backward, by number, if they stay where they are.
        self._before: dict[int, Any] = {}
        #: Within ``no_sync`` now, and within it at the last forward pass.
        self.inside_no_sync = False
        self._local = False
        self.divisor = group.size()
        self.comm_hook: tuple[Any, Callable[..., Any]] | None = None
        self._never: set[int] = set()
        self._expected = False
        self._running = False
        self._arrived: list[int] = []
        self._used: set[int] = set()
        self._accumulated: set[int] = set()
        self._tasks = Tasks()
        self._next = 0
        self._steps = 0
        self._order: list[int] | None = None
        self.rebuild(range(len(self.parameters))[::-1])
        self.handles = [
            parameter.register_post_accumulate_grad_hook(self._hook_of(number))
            for number, parameter in enumerate(self.parameters)
        ]

    # --- buckets --------------------------------------------------------------------------------

    def rebuild(self, order: Sequence[int]) -> None:
        """Make the buckets for gradients that come in an order."""
        first = min(FIRST_BYTES, self.bucket_bytes)
        self.buckets = []
        self._place: dict[int, tuple[Bucket, int]] = {}
        for numbers in assign(self.parameters, order, first, self.bucket_bytes):
            bucket = Bucket(numbers, [self.parameters[number] for number in numbers])
            self.buckets.append(bucket)
            for place, number in enumerate(numbers):
                self._place[number] = (bucket, place)

    def _adopt_order(self) -> None:
        """Rebuild the buckets once, in the order in which rank 0 had the gradients."""
        count = len(self.parameters)
        order = ag.tensor(self._order, dtype=ag.int64)
        if self.group.size() > 1:
            broadcast(order, group=self.group, group_src=0)
        self._order = None
        # As views, accumulated gradients (zero_grad(set_to_none=False)) move to the new buckets.
        held = {
            number: self.parameters[number].grad
            for number in range(count)
            if self.as_view and self._is_view(number)
        }
        self.rebuild(order.tolist())
        for number, gradient in held.items():
            bucket, place = self._place[number]
            with ag.no_grad():
                bucket.views[place].copy_(gradient)
            self.parameters[number].grad = bucket.views[place]

    def _is_view(self, number: int) -> bool:
        bucket, place = self._place[number]
        return bucket.has(self.parameters[number].grad, place)

    def _is_alone(self) -> bool:
        """Return whether there is nothing to reduce, and gradients stay as they are."""
        return self.group.size() == 1 and self.comm_hook is None

    def _separate(self) -> None:
        """Begin with new memory, so that a program may hold gradients of an earlier step."""
        self._before = {}
        if self._is_alone():
            return
        for bucket in self.buckets:
            gradients = [parameter.grad for parameter in bucket.parameters]
            if not bucket.resume(gradients):
                for number, gradient in zip(bucket.numbers, gradients, strict=True):
                    if gradient is not None:
                        self._before[number] = gradient
        if len(self._before) == 1:
            self._before = {}  # the first gradient of this backward, which no program has yet

    def _set_gradient(self, number: int) -> None:
        """Give a parameter the reduced gradient, in the memory that it had before if it had one."""
        bucket, place = self._place[number]
        before = self._before.get(number)
        if before is None and not self._is_view(number):
            self.parameters[number].grad = bucket.views[place]
        elif before is not None:
            with ag.no_grad():
                before.copy_(bucket.views[place])

    # --- a step ---------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Expect a backward: after the forward pass of the module, which decides about it."""
        self._local = self.inside_no_sync
        if self._local:
            return
        if self._running and self.group.size() > 1:
            world.watch.end_background()
            raise RuntimeError(
                "DistributedDataParallel: a backward has ended by an error before all gradients "
                "were reduced; the other ranks wait for them: end the job"
            )
        if self._order is not None:
            self._adopt_order()
        self._running, self._expected = False, True

    def _hook_of(self, number: int) -> Callable[[Any], None]:
        # A module may be wrapped again: the hooks of a wrapper that is gone do nothing.
        reference = weakref.ref(self)

        def hook(parameter: Any) -> None:
            reducer = reference()
            if reducer is not None and reducer._reduces():
                reducer._arrive(number)

        return hook

    def __del__(self) -> None:
        for handle in getattr(self, "handles", ()):
            handle.remove()

    def _reduces(self) -> bool:
        """Return whether a gradient that comes now is reduced, or stays on this rank."""
        if self._running:
            return True
        if self._expected:
            return not (self.inside_no_sync and self._local)
        return not (self.inside_no_sync or self._local)

    def _begin(self) -> None:
        if not self._expected:
            raise RuntimeError(
                "DistributedDataParallel: a second backward after one forward pass would reduce "
                "gradients "
                "that are reduced already. Add the losses and call backward once, call the module "
                "again before each backward, or run all but the last forward and backward within "
                "no_sync(), which also lets the wrapped module be called without its wrapper"
            )
        self._expected = False
        self._reset()
        self._tasks.begin()

    def _reset(self) -> None:
        """Begin a reduction: no gradient is there yet, but zeros for those that never come."""
        self._running = True
        self._arrived, self._used, self._accumulated, self._next = [], set(), set(), 0
        for bucket in self.buckets:
            bucket.pending = len(bucket.numbers)
            bucket.operation = None
        if not self.as_view:
            self._separate()
        for number in self._never:
            self._set_missing(number)

    def shadow(self) -> None:
        """Take part in the reduction of the other ranks with zeros, for a rank without inputs."""
        if self._order is not None:
            self._adopt_order()
        self._reset()
        self._before = {}
        for number in range(len(self.parameters)):
            self.parameters[number].grad = None
        missing = [n for n in range(len(self.parameters)) if n not in self._never]
        for number in missing:
            self._set_missing(number)
        self._complete(missing)

    def _arrive(self, number: int) -> None:
        if not self._running:
            self._begin()
        self._tasks.queue(self._finish)
        if number in self._used:
            raise RuntimeError(
                f"DistributedDataParallel: parameter {self.names[number]} has a second gradient in "
                "one "
                "backward, as by checkpoints with use_reentrant=True; use use_reentrant=False, or "
                "static_graph=True with one backward"
            )
        if number in self._never:
            raise RuntimeError(
                f"DistributedDataParallel: parameter {self.names[number]} had no gradient in the "
                "first backward and has one now; leave static_graph out, or use "
                "find_unused_parameters=True"
            )
        self._used.add(number)
        self._arrived.append(number)
        bucket, place = self._place[number]
        if self._is_alone():
            self._count(bucket)
            return
        parameter, view = self.parameters[number], bucket.views[place]
        gradient = parameter.grad
        is_view = bucket.has(gradient, place)
        with ag.no_grad():
            if self.comm_hook is not None:
                if not is_view:
                    view.copy_(gradient)
            elif is_view:
                view.div_(self.divisor)
            else:
                ag.div(gradient, self.divisor, out=view)
        if not is_view and number not in self._before:
            parameter.grad = view
        self._count(bucket)
        self._progress()

    def _set_missing(self, number: int) -> None:
        """Take part for an unused parameter: with zeros, or with what accumulated before."""
        bucket, place = self._place[number]
        gradient = self.parameters[number].grad
        if not self._is_alone():
            view = bucket.views[place]
            with ag.no_grad():
                if gradient is None:
                    view.zero_()
                elif self.comm_hook is None:
                    ag.div(gradient, self.divisor, out=view)
                elif not self._is_view(number):
                    view.copy_(gradient)
        if gradient is not None:
            self._accumulated.add(number)
        self._count(bucket)

    def _count(self, bucket: Bucket) -> None:
        """Note one gradient of a bucket, and reduce the buckets that are complete, in order."""
        bucket.pending -= 1
        while self._next < len(self.buckets) and self.buckets[self._next].pending == 0:
            self._reduce(self._next)
            self._next += 1
            if self.group.size() > 1:
                world.watch.begin_background()

    def _reduce(self, index: int) -> None:
        if self._is_alone():
            own_group(self.group, "all_reduce")  # an error if it has been destroyed
            return
        bucket = self.buckets[index]
        last = index == len(self.buckets) - 1
        if self.comm_hook is not None:
            state, hook = self.comm_hook
            bucket.operation = hook(state, GradBucket(index, bucket, last))
            if not hasattr(bucket.operation, "wait"):
                raise TypeError(
                    "register_comm_hook: the hook must return a Future, not "
                    f"{type(bucket.operation).__name__}"
                )
            return

        names, count = self.names, len(self.buckets)

        def text() -> str:  # without self, whose hooks end with it when a backward has failed
            return f"gradients, bucket {index} of {count} ({bucket.describe(names)})"

        bucket.operation = all_reduce(
            bucket.flat, ReduceOp.SUM, self.group, async_op=True, _text=text
        )

    def _progress(self) -> None:
        """Let MPI go on with the operations that are under way."""
        for bucket in self.buckets[: self._next]:
            operation = bucket.operation
            if isinstance(operation, Work):
                operation.is_completed()
            elif operation is not None:
                operation.done()

    # --- the end of backward --------------------------------------------------------------------

    def _finish(self) -> None:
        if not self._running:
            return  # a backward inside of this one had the last gradients
        missing = [
            number
            for number in range(len(self.parameters))
            if number not in self._used and number not in self._never
        ]
        if missing and self._tasks.are_inside():
            return
        learns = self.static_graph and self._steps == 0
        if missing and not (self.find_unused or learns):
            names = ", ".join(self.names[number] for number in missing[:10])
            more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
            raise RuntimeError(
                f"DistributedDataParallel: {names}{more} had no gradient in this backward, so that "
                "ranks "
                "would wait for each other. Use find_unused_parameters=True, static_graph=True if "
                "they never have one, or let every parameter take part in the loss"
            )
        for number in missing:
            self._set_missing(number)
        self._complete(missing)

    def _complete(self, missing: list[int]) -> None:
        """Wait for all reductions, and give the gradients that other ranks have to this one."""
        if world.watch is not None:
            world.watch.end_background()
        learns = self.static_graph and self._steps == 0
        used = self._used_anywhere() if self.find_unused or learns else None
        for index, bucket in enumerate(self.buckets):
            self._wait(index, bucket)
        if not self._is_alone():
            for number in missing:
                if used is None or used[number]:
                    self._set_gradient(number)
            for number in self._before:
                if number in self._used:
                    self._set_gradient(number)
        self._before = {}
        if not self.as_view:
            for bucket in self.buckets:
                bucket.release()
        if learns and used is not None:
            self._never = {number for number in missing if not used[number]}
        self._running = False
        self._steps += 1
        if self._steps == 1 and len(self.buckets) > 1:
            late = [n for n in range(len(self.parameters)) if n not in self._used]
            self._order = [*self._arrived, *late]

    def _used_anywhere(self) -> list[bool]:
        """Return for each parameter whether a rank has a gradient of it, now or from before."""
        used = ag.zeros(len(self.parameters), dtype=ag.uint8)
        for number in self._used | self._accumulated:
            used[number] = 1
        all_reduce(used, ReduceOp.MAX, self.group)
        return [bool(flag) for flag in used.tolist()]

    def _wait(self, index: int, bucket: Bucket) -> None:
        operation, bucket.operation = bucket.operation, None
        if operation is None:
            return
        result = operation.wait()
        if self.comm_hook is None:
            return
        if isinstance(result, (list, tuple)) and len(result) == 1:
            (result,) = result
        if not isinstance(result, ag.Tensor) or result.numel() != bucket.flat.numel():
            raise RuntimeError(
                f"register_comm_hook: the future of bucket {index} must give a tensor of "
                f"{describe(bucket.flat)}, not {result!r}"
            )
        if result.data_ptr() != bucket.flat.data_ptr():
            with ag.no_grad():
                bucket.flat.copy_(result.reshape(-1))
