"""Python objects between ranks, as pickles."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _mpi
from ._operands import group_root
from ._world import ProcessGroup, world
from .groups import own_group
from .point_to_point import _call, _group_of_two, _peer

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]

#: The tag of objects, which no tensor has: codes of dtypes are smaller.
_TAG = 31


def _wait(mine: ProcessGroup, request: Any, text: str) -> None:
    world.watch.wait(request, mine._call(text))


def _exchange(mine: ProcessGroup, value: Any, function: str) -> list[Any]:
    """Return the objects of all ranks."""
    if mine._comm is None:
        return [pickle.loads(pickle.dumps(value))]
    mine._agree(mine._call(function), (function,))
    own = np.frombuffer(pickle.dumps(value), dtype=np.uint8)
    sizes = np.empty(mine.size(), dtype=np.int64)
    count = np.array([own.size], dtype=np.int64)
    _wait(mine, mine._comm.Iallgather(count, sizes), f"{function}: sizes")
    _mpi.check_count(int(sizes.sum()), function)
    every = np.empty(int(sizes.sum()), dtype=np.uint8)
    _wait(mine, mine._comm.Iallgatherv(own, [every, sizes.tolist()]), function)
    ends = np.cumsum(sizes)
    return [
        pickle.loads(every[end - size : end].tobytes())
        for end, size in zip(ends, sizes, strict=True)
    ]


def _broadcast(mine: ProcessGroup, value: Any, root: int, function: str) -> Any:
    """Return the object of one rank."""
    if mine._comm is None:
        return pickle.loads(pickle.dumps(value))
    mine._agree(mine._call(function), (function, root))
    is_root = mine.rank() == root
    own = np.array(bytearray(pickle.dumps(value) if is_root else b""), dtype=np.uint8)
    count = np.array([own.size], dtype=np.int64)
    _wait(mine, mine._comm.Ibcast(count, root), f"{function}: size")
    _mpi.check_count(int(count[0]), function)
    if not is_root:
        own = np.empty(int(count[0]), dtype=np.uint8)
    _wait(mine, mine._comm.Ibcast(own, root), function)
    return pickle.loads(own.tobytes())


def _check_places(places: Any, count: int, name: str, function: str) -> None:
    if not isinstance(places, list) or len(places) < count:
        raise ValueError(
            f"{function}: {name} must be a list of {count} objects, one a rank, which are replaced"
        )


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """
    Give every rank the objects of all ranks.

    Parameters
    ----------
    object_list : list
        One element a rank, which is replaced.
    obj : object
        That can be pickled.
    group : ProcessGroup, optional
        By default all processes.

    Raises
    ------
    ValueError
        If the list is too short.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> objects = [None]
    >>> ag.distributed.all_gather_object(objects, {"loss": 0.5})
    >>> objects
    [{'loss': 0.5}]
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "all_gather_object")
    if mine is None:
        return
    _check_places(object_list, mine.size(), "object_list", "all_gather_object")
    object_list[: mine.size()] = _exchange(mine, obj, "all_gather_object")


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """
    Give one rank the objects of all ranks.

    Parameters
    ----------
    obj : object
        That can be pickled.
    object_gather_list : list, optional
        One element a rank, which is replaced: on rank ``dst`` alone.
    dst : int, default 0
        The rank in the world that gets them.
    group : ProcessGroup, optional
        By default all processes.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.

    Raises
    ------
    ValueError
        If the list is too short, or missing on ``dst``, or given elsewhere.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> objects = [None]
    >>> ag.distributed.gather_object("a", objects, dst=0)
    >>> objects
    ['a']
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "gather_object")
    if mine is None:
        return
    dst = mine._ranks[0] if dst is None and group_dst is None else dst
    root = group_root(mine, dst, group_dst, "gather_object", "dst")
    is_root = mine.rank() == root
    if is_root:
        _check_places(object_gather_list, mine.size(), "object_gather_list", "gather_object")
    elif object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if mine._comm is None:
        objects = _exchange(mine, obj, "gather_object")
    else:
        objects = _gather(mine, obj, root)
    if is_root and object_gather_list is not None:
        object_gather_list[: mine.size()] = objects


def _gather(mine: ProcessGroup, value: Any, root: int) -> list[Any]:
    """Return the objects of all ranks on the root, none on the others."""
    mine._agree(mine._call("gather_object"), ("gather_object", root))
    own = np.frombuffer(pickle.dumps(value), dtype=np.uint8)
    is_root = mine.rank() == root
    sizes = np.empty(mine.size(), dtype=np.int64)
    count = np.array([own.size], dtype=np.int64)
    # To all, so that each rank refuses what is too much.
    _wait(mine, mine._comm.Iallgather(count, sizes), "gather_object: sizes")
    _mpi.check_count(int(sizes.sum()), "gather_object")
    every = np.empty(int(sizes.sum()) if is_root else 0, dtype=np.uint8)
    parts = [every, sizes.tolist()] if is_root else None
    _wait(mine, mine._comm.Igatherv(own, parts, root), "gather_object")
    if not is_root:
        return []
    ends = np.cumsum(sizes)
    return [
        pickle.loads(every[end - size : end].tobytes())
        for end, size in zip(ends, sizes, strict=True)
    ]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """
    Give every rank the objects of one rank.

    Parameters
    ----------
    object_list : list
        Of the same length on all ranks. Its elements are replaced, but on ``src``.
    src : int, default 0
        The rank in the world whose objects they are.
    group : ProcessGroup, optional
        By default all processes.
    device : Device, optional
        Ignored.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Raises
    ------
    TypeError
        If it isn't a list.
    RuntimeError
        If the lengths differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.broadcast_object_list(["a", 1], src=0)
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "broadcast_object_list")
    if mine is None:
        return
    if not isinstance(object_list, list):
        raise TypeError(f"broadcast_object_list: object_list must be a list, not {object_list!r}")
    src = mine._ranks[0] if src is None and group_src is None else src
    root = group_root(mine, src, group_src, "broadcast_object_list", "src")
    objects = _broadcast(mine, object_list, root, "broadcast_object_list")
    if len(objects) != len(object_list):
        raise RuntimeError(
            f"broadcast_object_list: rank {mine._ranks[root]} has {len(objects)} objects, and this "
            f"rank {len(object_list)}"
        )
    if mine.rank() != root:
        object_list[:] = objects


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: Sequence[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """
    Give each rank one object of a list that one rank has.

    Parameters
    ----------
    scatter_object_output_list : list
        Not empty; its first element is replaced.
    scatter_object_input_list : sequence, optional
        One object a rank: on rank ``src``.
    src : int, default 0
        The rank in the world that has the list.
    group : ProcessGroup, optional
        By default all processes.
    group_src : int, optional
        The rank in the group, instead of ``src``.

    Raises
    ------
    ValueError
        If a list doesn't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> result = [None]
    >>> ag.distributed.scatter_object_list(result, ["a"], src=0)
    >>> result
    ['a']
    >>> ag.distributed.destroy_process_group()
    """
    mine = own_group(group, "scatter_object_list")
    if mine is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    src = mine._ranks[0] if src is None and group_src is None else src
    root = group_root(mine, src, group_src, "scatter_object_list", "src")
    if mine.rank() == root:
        objects = list(scatter_object_input_list or ())
        if len(objects) != mine.size():
            raise ValueError(
                f"scatter_object_list: scatter_object_input_list has {len(objects)} objects; one "
                f"for each of the {mine.size()} ranks is needed"
            )
    else:
        objects = []
    pickles = [pickle.dumps(each) for each in objects]
    own = _broadcast(mine, pickles, root, "scatter_object_list")[mine.rank()]
    scatter_object_output_list[0] = pickle.loads(own)


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """
    Send objects to a rank.

    Parameters
    ----------
    object_list : list
        Of objects that can be pickled.
    dst : int, optional
        The rank in the world.
    group : ProcessGroup, optional
        By default all processes.
    device : Device, optional
        Ignored.
    group_dst : int, optional
        The rank in the group, instead of ``dst``.
    use_batch : bool, default False
        Ignored.

    Raises
    ------
    ValueError
        If there is no such rank, or it is this one.

    See Also
    --------
    recv_object_list : which receives them

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> if ag.distributed.get_world_size() > 1:
    ...     ag.distributed.send_object_list(["a"], 1)
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group_of_two(group, "send_object_list")
    if mine is None:
        return
    peer = _peer(mine, dst, group_dst, "send_object_list", "dst")
    own = np.frombuffer(pickle.dumps(list(object_list)), dtype=np.uint8)
    _mpi.check_count(own.size, "send_object_list")
    text = f"send_object_list to rank {mine._ranks[peer]}"
    world.watch.wait(mine._comm.Isend(own, peer, _TAG), _call(mine, text, peer))


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """
    Receive objects.

    Parameters
    ----------
    object_list : list
        As long as the one that is sent; its elements are replaced.
    src : int, optional
        The rank in the world; by default any.
    group : ProcessGroup, optional
        By default all processes.
    device : Device, optional
        Ignored.
    group_src : int, optional
        The rank in the group, instead of ``src``.
    use_batch : bool, default False
        Ignored.

    Returns
    -------
    int
        The rank in the world that sent them, -1 if this process isn't in the group.

    Raises
    ------
    RuntimeError
        If another number of objects arrives.

    See Also
    --------
    send_object_list : which sends them

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> if ag.distributed.get_world_size() > 1:
    ...     ag.distributed.recv_object_list([None], 0)
    >>> ag.distributed.destroy_process_group()
    """
    mine = _group_of_two(group, "recv_object_list")
    if mine is None:
        return -1
    peer = None
    if src is not None or group_src is not None:
        peer = _peer(mine, src, group_src, "recv_object_list", "src")
    source = world.mpi.ANY_SOURCE if peer is None else peer
    probe = _Probe(mine._comm, source, world.mpi.Status())
    text = f"recv_object_list from {'any rank' if peer is None else f'rank {mine._ranks[peer]}'}"
    call = _call(mine, text, peer)
    world.watch.wait(probe, call)
    own = np.empty(probe.status.Get_count(world.mpi.BYTE), dtype=np.uint8)
    world.watch.wait(probe.message.Irecv(own), call)
    objects = pickle.loads(own.tobytes())
    sender = mine._ranks[probe.status.Get_source()]
    if len(objects) != len(object_list):
        raise RuntimeError(
            f"recv_object_list: rank {sender} sent {len(objects)} objects, and the list has "
            f"{len(object_list)}"
        )
    object_list[:] = objects
    return sender


class _Probe:
    """A message that may have come, asked as a request."""

    def __init__(self, comm: Any, source: int, status: Any) -> None:
        self._comm = comm
        self._source = source
        self.status = status
        self.message: Any = None

    def Test(self) -> bool:
        self.message = self._comm.Improbe(self._source, _TAG, self.status)
        return self.message is not None
