"""Reductions, broadcasts and barriers of all ranks of a group.

Each is MPI's non-blocking operation on the memory of the tensors, compared between ranks
at its first call with each shape and dtype (``ProcessGroup._agree``), and waited for by
``Watch.wait``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from autograd_cy import Tensor
from autograd_cy._C import rank_messages

from . import _mpi
from ._operands import (
    as_input,
    check_tensor,
    check_written,
    describe,
    group_root,
    output_of,
)
from ._operation import average, check_op, run, takes_messages
from ._world import world
from .constants import ReduceOp
from .groups import _seconds, own_group
from .work import Work

__all__ = [
    "all_reduce",
    "barrier",
    "broadcast",
    "monitored_barrier",
    "reduce",
]


def all_reduce(
    tensor: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    *,
    _text: str | Callable[[], str] = "",
) -> Work | None:
    """
    Reduce a tensor over all ranks, and give every rank the result in place.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    op : ReduceOp, default ReduceOp.SUM
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.

    Returns
    -------
    Work or None
        None if it isn't asynchronous, or the process isn't in the group.

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of a leaf that records.
    ValueError
        If the operation isn't one of the dtype, or there is no group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> x = ag.ones(2)
    >>> ag.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "all_reduce")
    if mine is None:
        return None
    check_written(tensor, "all_reduce")
    operation = check_op(op, "all_reduce", tensor.dtype)
    output = output_of(tensor, values=True)
    memory = output.memory

    def start() -> Any:
        return mine._comm.Iallreduce(world.mpi.IN_PLACE, _mpi.buffer_of(memory), operation)

    def by_messages(number: int) -> Any:
        return rank_messages.all_reduce(mine, memory, operation, number)

    def finish() -> None:
        if op is ReduceOp.AVG:
            average(memory, mine.size())
        output.finish()

    return run(
        mine,
        _text or (lambda: f"all_reduce of {describe(tensor)} by {op.name}"),
        ("all_reduce", tensor.dtype, tensor.shape, op._value_),
        start,
        finish,
        async_op,
        [tensor],
        memory.nbytes,
        by_messages if takes_messages(mine, memory.nbytes) else None,
    )


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """
    Give every rank the values of one rank, in place.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    src : int, optional
        The rank in the world whose values they are.
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of a leaf that records.
    ValueError
        If there is no such rank.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.broadcast(ag.ones(2), src=0)
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "broadcast")
    if mine is None:
        return None
    root = group_root(mine, src, group_src, "broadcast", "src")
    is_root = mine.rank() == root
    # A leaf on the source, too, so that no rank waits for others.
    check_written(tensor, "broadcast", not is_root)
    if is_root:
        memory, finish = as_input(tensor), lambda: None
    else:
        output = output_of(tensor)
        memory, finish = output.memory, output.finish

    def by_messages(number: int) -> Any:
        return rank_messages.broadcast(mine, _mpi.buffer_of(memory), root, number)

    return run(
        mine,
        lambda: f"broadcast of {describe(tensor)} from rank {mine._ranks[root]}",
        ("broadcast", tensor.dtype, tensor.shape, root),
        lambda: mine._comm.Ibcast(_mpi.buffer_of(memory), root),
        finish,
        async_op,
        [tensor],
        memory.nbytes,
        by_messages if takes_messages(mine, memory.nbytes) else None,
    )


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """
    Reduce a tensor over all ranks, and give one rank the result in place.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks. On ranks other than ``dst`` it stays as it is.
    dst : int, optional
        The rank in the world that gets the result.
    op : ReduceOp, default ReduceOp.SUM
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.

    Returns
    -------
    Work or None

    Raises
    ------
    RuntimeError
        On every rank, if shapes or dtypes differ; of a leaf that records.
    ValueError
        If there is no such rank, or the operation isn't one of the dtype.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.reduce(ag.ones(2), dst=0)
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = own_group(group, "reduce")
    if mine is None:
        return None
    root = group_root(mine, dst, group_dst, "reduce", "dst")
    is_root = mine.rank() == root
    check_written(tensor, "reduce", is_root)  # a leaf everywhere, so that no rank waits
    operation = check_op(op, "reduce", tensor.dtype)
    output = output_of(tensor, values=True)
    memory = output.memory

    def start() -> Any:
        buffer = _mpi.buffer_of(memory)
        if is_root:
            return mine._comm.Ireduce(world.mpi.IN_PLACE, buffer, operation, root)
        return mine._comm.Ireduce(buffer, None, operation, root)

    def by_messages(number: int) -> Any:
        return rank_messages.reduce(mine, memory, operation, root, number)

    def finish() -> None:
        if is_root:
            if op is ReduceOp.AVG:
                average(memory, mine.size())
            output.finish()

    return run(
        mine,
        lambda: f"reduce of {describe(tensor)} by {op.name} to rank {mine._ranks[root]}",
        ("reduce", tensor.dtype, tensor.shape, op._value_, root),
        start,
        finish,
        async_op,
        [tensor],
        memory.nbytes,
        by_messages if takes_messages(mine, memory.nbytes) else None,
    )


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """
    Wait until all ranks are here.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.
    async_op : bool, default False
        Return at once, with the operation.
    device_ids : list of int, optional
        Ignored.

    Returns
    -------
    Work or None

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.barrier()
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "barrier")
    if mine is None:
        return None
    return run(
        mine,
        "barrier",
        ("barrier",),
        lambda: mine._comm.Ibarrier(),
        lambda: None,
        async_op,
        (),
        0,
    )


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """
    Wait until all ranks are here, and name those that don't come.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.
    timeout : datetime.timedelta, optional
        By default that of the group.
    wait_all_ranks : bool, default False
        Name all ranks that are missing, not the first alone.

    Raises
    ------
    RuntimeError
        If the time has passed, with the ranks that are missing. The group can't be used after it.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.monitored_barrier()
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "monitored_barrier")
    if mine is None or mine._comm is None:
        return
    seconds = mine._timeout if timeout is None else _seconds(timeout, "monitored_barrier")
    call = mine._call("monitored_barrier")
    request, until, watch = mine._control.Ibarrier(), time.monotonic() + seconds, world.watch
    while not request.Test():
        watch.look()
        watch.progress()
        if time.monotonic() > until:
            places = watch.missing(call)
            if not wait_all_ranks:
                places = dict(list(places.items())[:1])
            names = ", ".join(f"{rank} ({place})" for rank, place in places.items())
            watch.abandoned.append(request)  # the others may still come
            raise RuntimeError(
                f"Rank {mine.rank()} timed out in monitoredBarrier after {1000 * seconds:.0f} ms. "
                f"Ranks that failed to pass: {names or 'none that answers'}"
            )
        time.sleep(0.0005)
