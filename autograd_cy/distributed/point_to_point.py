"""Messages between two ranks.

The dtype is a part of MPI's tag, so that a message of another dtype isn't taken for the one that is
expected: both ranks wait, and the time-out names both calls.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autograd_cy import Tensor

from . import _mpi
from ._operands import as_input, check_tensor, check_written, describe, group_root, output_of
from ._watch import Call
from ._world import ProcessGroup, world
from .groups import own_group
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]

#: More than there are dtypes.
_CODES = 32


def _tag(tag: int, tensor: Tensor, function: str) -> int:
    most = world.mpi.COMM_WORLD.Get_attr(world.mpi.TAG_UB) // _CODES - 1
    if not hasattr(tag, "__index__") or not 0 <= tag <= most:
        raise ValueError(f"{function}: tag must be a number from 0 to {most}, not {tag!r}")
    return operator.index(tag) * _CODES + _mpi.code_of(tensor.dtype)


def _group_of_two(group: Any, function: str) -> ProcessGroup | None:
    mine = own_group(group, function)
    if mine is not None and mine._comm is None:
        raise ValueError(
            f"{function}: the group has one rank, and a rank can't send to itself; copy the tensor"
        )
    return mine


def _call(mine: ProcessGroup, text: str, peer: int | None) -> Call:
    peers = mine._ranks if peer is None else (mine._ranks[peer],)
    return Call(text, mine._number, 0, peers, mine._timeout)


def _peer(
    mine: ProcessGroup, root: int | None, in_group: int | None, function: str, name: str
) -> int:
    peer = group_root(mine, root, in_group, function, name)
    if peer == mine.rank():
        raise ValueError(
            f"Invalid {'destination' if name == 'dst' else 'source'} rank: {name} rank should not "
            "be the same as the rank of the current process."
        )
    return peer


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """
    Begin to send a tensor to a rank.

    Parameters
    ----------
    tensor : Tensor
        It must not be written before the operation is complete.
    dst : int, optional
        The rank in the world.
    group : ProcessGroup, optional
        By default all processes.
    tag : int, default 0
        Received by the same tag.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.

    Returns
    -------
    Work or None
        None if this process isn't in the group.

    Raises
    ------
    ValueError
        If there is no such rank, or it is this one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> try:
    ...     ag.distributed.isend(ag.ones(2), 0)
    ... except ValueError as error:
    ...     print(str(error)[:33])
    isend: the group has one rank, an
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = _group_of_two(group, "isend")
    if mine is None:
        return None
    peer = _peer(mine, dst, group_dst, "isend", "dst")
    text = f"send of {describe(tensor)} to rank {mine._ranks[peer]}, tag {tag}"
    _mpi.check_count(tensor.numel(), text)
    values = as_input(tensor)
    request = mine._comm.Isend(_mpi.buffer_of(values), peer, _tag(tag, values, "isend"))
    return Work(mine, _call(mine, text, peer), request, None, [values])


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """
    Begin to receive a tensor.

    Parameters
    ----------
    tensor : Tensor
        Written; of the shape and dtype that is sent.
    src : int, optional
        The rank in the world; by default any.
    group : ProcessGroup, optional
        By default all processes.
    tag : int, default 0
        That of the sender.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Returns
    -------
    Work or None
        None if this process isn't in the group.

    Raises
    ------
    ValueError
        If there is no such rank, or it is this one.
    RuntimeError
        From ``wait``, if another number of elements arrives; of a leaf that records.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> try:
    ...     ag.distributed.irecv(ag.ones(2), 0)
    ... except ValueError as error:
    ...     print(str(error)[:33])
    irecv: the group has one rank, an
    >>> ag.distributed.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    mine = _group_of_two(group, "irecv")
    if mine is None:
        return None
    check_written(tensor, "irecv")
    peer = None
    if src is not None or group_src is not None:
        peer = _peer(mine, src, group_src, "irecv", "src")
    sender = "any rank" if peer is None else f"rank {mine._ranks[peer]}"
    text = f"recv of {describe(tensor)} from {sender}"
    _mpi.check_count(tensor.numel(), text)
    output = output_of(tensor)
    memory, mpi = output.memory, world.mpi
    request = mine._comm.Irecv(
        _mpi.buffer_of(memory),
        mpi.ANY_SOURCE if peer is None else peer,
        _tag(tag, memory, "irecv"),
    )
    received = _Received(request, mpi.Status())

    def finish() -> None:
        count = received.status.Get_count(_mpi.datatype(memory.dtype))
        source = mine._ranks[received.status.Get_source()]
        if count != memory.numel():
            raise RuntimeError(
                f"irecv: rank {source} sent {count} elements of {memory.dtype}, and the tensor has "
                f"{memory.numel()}, shape {list(memory.shape)}"
            )
        output.finish()

    return Work(
        mine,
        _call(mine, f"{text}, tag {tag}", peer),
        received,
        finish,
        [tensor],
        lambda: mine._ranks[received.status.Get_source()],
    )


class _Received:
    """A request that keeps its status."""

    __slots__ = ("request", "status")

    def __init__(self, request: Any, status: Any) -> None:
        self.request = request
        self.status = status

    def Test(self) -> bool:
        # A request that is complete is null: to test it again would empty the status. The handler
        # of a signal may have interrupted the wait that completed it.
        return not self.request or self.request.Test(self.status)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """
    Send a tensor to a rank.

    Parameters
    ----------
    tensor : Tensor
    dst : int, optional
        The rank in the world.
    group : ProcessGroup, optional
        By default all processes.
    tag : int, default 0
        Received by the same tag.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.

    Raises
    ------
    ValueError
        If there is no such rank, or it is this one.

    See Also
    --------
    isend : which returns at once

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> if ag.distributed.get_world_size() > 1:
    ...     ag.distributed.send(ag.ones(2), 1)
    >>> ag.distributed.destroy_process_group()
    """
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """
    Receive a tensor.

    Parameters
    ----------
    tensor : Tensor
        Written; of the shape and dtype that is sent.
    src : int, optional
        The rank in the world; by default any.
    group : ProcessGroup, optional
        By default all processes.
    tag : int, default 0
        That of the sender.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Returns
    -------
    int
        The rank in the world that sent it, -1 if this process isn't in the group.

    Raises
    ------
    ValueError
        If there is no such rank, or it is this one.
    RuntimeError
        If another number of elements arrives; of a leaf that records.

    See Also
    --------
    irecv : which returns at once

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> if ag.distributed.get_world_size() > 1:
    ...     ag.distributed.recv(ag.ones(2), 0)
    >>> ag.distributed.destroy_process_group()
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """
    One message of :func:`batch_isend_irecv`.

    Parameters
    ----------
    op : callable
        :func:`isend` or :func:`irecv`.
    tensor : Tensor
    peer : int, optional
        The other rank in the world.
    group : ProcessGroup, optional
        By default all processes.
    tag : int, default 0
    group_peer : int, optional
        The other rank in the group, instead of ``peer``.

    Raises
    ------
    ValueError
        If ``op`` isn't one of the two.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.P2POp(ag.distributed.isend, ag.ones(2), 1).peer
    1
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.peer = peer
        self.group = group
        self.tag = tag
        self.group_peer = group_peer

    def __repr__(self) -> str:
        return (
            f"P2POp({self.op.__name__}, {describe(self.tensor)}, peer={self.peer}, tag={self.tag})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """
    Begin several messages at once.

    Parameters
    ----------
    p2p_op_list : list of P2POp

    Returns
    -------
    list of Work
        In the same order.

    Raises
    ------
    ValueError
        If the list is empty, or has something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> try:
    ...     ag.distributed.batch_isend_irecv([])
    ... except ValueError:
    ...     print("no messages")
    no messages
    """
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("p2p_op_list must be a list of P2POp, at least one")
    # Receptions first: what is sent finds its place.
    order = sorted(range(len(p2p_op_list)), key=lambda i: p2p_op_list[i].op is isend)
    works: list[Any] = [None] * len(order)
    for i in order:
        each = p2p_op_list[i]
        works[i] = each.op(each.tensor, each.peer, each.group, each.tag, each.group_peer)
    return [work for work in works if work is not None]
