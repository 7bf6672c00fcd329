"""How collectives run: the call, its comparison between ranks, the wait, and checks of operands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C import rank_memory

from . import _mpi
from ._operands import (
    as_input,
    check_tensors,
    describe,
)
from ._world import ProcessGroup, world
from .constants import ReduceOp
from .work import Work, _finish_dropped

__all__ = [
    "LARGE",
    "average",
    "check_list",
    "check_op",
    "check_whole",
    "joined",
    "parts_of",
    "run",
    "takes_messages",
]


#: Bytes from which operations go by messages, or else ranks sleep until all have come and are awake
#: while data move.
LARGE = 1 << 16
#: The most ranks of a group that send messages instead.
_RANKS = 3


def takes_messages(group: ProcessGroup, nbytes: int = LARGE) -> bool:
    """Return whether an operation goes by messages (``rank_messages``); alike on all ranks.

    By default of any size, as for lists of tensors, which MPI's operations don't take. Memory of
    GPUs is left to an MPI that takes it.
    """
    return nbytes >= LARGE and 1 < len(group._ranks) <= _RANKS and not world.cuda_aware


def run(
    group: ProcessGroup,
    text: str | Callable[[], str],
    signature: Any,
    start: Callable[[], Any],
    finish: Callable[[], None],
    async_op: bool,
    tensors: Sequence[Tensor],
    nbytes: int,
    direct: Callable[[int], Any] | None = None,
) -> Work | None:
    """Start an operation, and wait for it unless it is asynchronous.

    ``nbytes`` must be alike on all ranks, since large operations of MPI begin by a barrier.
    ``direct`` starts the operation by messages instead, from the number of the call.
    """
    if group._comm is None:
        if async_op:
            return Work(group, group._call(text), None, finish, tensors)
        finish()
        return None
    call = group._call(text)
    if signature not in group._agreed or world.compare_all:
        group._agree(call, signature)
    if direct is not None:
        start = functools.partial(direct, call.number)
    try:
        request: Any = start()
        if direct is None and nbytes >= LARGE:
            request = _WithBarrier(group._comm.Ibarrier(), request)
    except world.mpi.Exception as error:
        if direct is not None:  # some of its messages may be under way
            world.abandoned.append((start, finish))
        if nbytes < _mpi.MANY or world.mpi.VERSION >= 4:
            raise
        raise _mpi.too_many(call.text) from error
    except BaseException:
        world.abandoned.append((start, finish))
        raise
    if async_op:
        return Work(group, call, request, finish, tensors, memory=start)
    try:
        world.watch.wait(request, call)
    except BaseException:
        # Such as from the handler of a signal: MPI may still use the memory.
        world.abandoned.append((start, finish))
        raise
    finish()
    _finish_dropped()
    return None


class _WithBarrier:
    """A request, and a barrier that says when all ranks have started it."""

    __slots__ = ("_barrier", "_request", "is_moving")

    def __init__(self, barrier: Any, request: Any) -> None:
        self._barrier = barrier
        self._request = request
        self.is_moving = False

    def Test(self) -> bool:
        if not self.is_moving:
            self.is_moving = self._barrier.Test()
        return self._request.Test() and self.is_moving


def check_op(op: Any, function: str, dtype: Any) -> Any:
    """Return MPI's operation for tensors of a dtype; None in a world without MPI.

    Raises
    ------
    TypeError, RuntimeError, ValueError
        If it isn't an operation, or isn't one of the dtype.
    """
    found = _mpi.known_operation(op, dtype)
    if found is not None:
        return found
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{function}: op must be a ReduceOp, such as ReduceOp.SUM, not {op!r}")
    return _mpi.operation(op, dtype)


def average(memory: Tensor, size: int) -> None:
    """Divide sums by the number of ranks."""
    with ag.no_grad():
        memory.div_(size)


def check_list(tensors: Any, name: str, like: Tensor, size: int, function: str) -> None:
    """Refuse a list that isn't one tensor a rank, each as the other argument."""
    if rank_memory.are_alike(tensors, like) and len(tensors) == size:
        return
    check_tensors(tensors, name)
    if len(tensors) != size:
        raise RuntimeError(
            f"{function}: {name} has {len(tensors)} tensors; one for each of the {size} ranks is "
            "needed"
        )
    dtype, count = like.dtype, like.numel()
    for number, tensor in enumerate(tensors):
        if tensor.dtype != dtype or tensor.numel() != count:
            error = ValueError if tensor.dtype != like.dtype else RuntimeError
            raise error(
                f"{function}: {name}[{number}] is {describe(tensor)}, and the other tensor "
                f"{describe(like)}; all must have the same dtype and number of elements"
            )


def check_whole(whole: Tensor, part: Tensor, size: int, function: str, names: str) -> None:
    if whole.dtype != part.dtype or whole.numel() != size * part.numel():
        raise RuntimeError(
            f"{function}: {names} are {describe(whole)} and {describe(part)}; the first must have "
            f"{size} times the elements of the second, one part a rank, and the same dtype"
        )


def parts_of(memory: Tensor, group: ProcessGroup) -> list[Any]:
    """Return memory as mpi4py takes it where each rank has an equal part."""
    address, count, datatype = _mpi.buffer_of(memory)
    return [address, count // group.size(), datatype]


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """Return the values of tensors one after the other."""
    if len(tensors) == 1:
        return as_input(tensors[0])
    return ag.cat([as_input(tensor).reshape(-1) for tensor in tensors])
