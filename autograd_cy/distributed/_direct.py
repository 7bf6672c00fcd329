"""Large operations of few ranks, by messages between each two of them.

MPI's non-blocking collectives of large tensors take a multiple of the time of the blocking ones in
some MPIs, and hold a copy of the whole tensor meanwhile. With two or three ranks, each of which
sends to each, no other order of messages moves less. Sums go by pieces, so that what arrives is
still in the cache when it is added, and scratch memory stays small.

Each operation is an object with ``Test()``, as a request of mpi4py. Messages go through the control
communicator of the group, where no other messages between two ranks are, with tags of the call.
Unlike an operation of MPI, one in pieces goes on only while this package waits or is asked: so
every wait lets all of them go on (``Watch.progress``), as another rank may wait for any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from . import _mpi
from ._operands import is_cuda_aware
from ._world import ProcessGroup, world

__all__ = [
    "Exchange",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
    "takes",
]

#: Bytes from which operations go by messages, and the most ranks of a group for which they do.
LEAST, RANKS = 1 << 16, 3
#: Bytes of the part of a piece that one rank adds, and the pieces that are under way at once.
PART = 1 << 19
DEPTH = 4
#: Steps of a piece, which have a tag each, and calls after which tags repeat. MPI has 32767.
_STEPS, _CALLS = 2, 8192

#: Scratch memory that no operation uses.
_scratch: list[Tensor] = []


def takes(group: ProcessGroup, nbytes: int = LEAST) -> bool:
    """Return whether an operation goes by messages; alike on all ranks.

    By default of any size, as for lists of tensors, which MPI's operations don't take. Memory of
    GPUs is left to an MPI that takes it.
    """
    return nbytes >= LEAST and 1 < group.size() <= RANKS and not is_cuda_aware()


class _Messages:
    """Several messages."""

    __slots__ = ("_requests", "_test")

    def __init__(self, requests: list[Any]) -> None:
        self._requests = requests
        self._test = world.mpi.Request.Testall

    def Test(self) -> bool:
        return self._test(self._requests)


class Exchange:
    """Pieces of one operation, of which some are under way at once.

    Parameters
    ----------
    pieces : iterator of iterator of list of mpi4py.MPI.Request
        The requests of a piece that must be complete before its next step.
    depth : int, optional
        The most pieces that are under way at once.
    """

    __slots__ = ("_depth", "_done", "_error", "_pieces", "_test", "_under_way")

    def __init__(self, pieces: Iterator[Iterator[list[Any]]], depth: int = DEPTH) -> None:
        self._pieces: Iterator[Iterator[list[Any]]] | None = pieces
        self._depth = depth
        self._under_way: list[tuple[Iterator[list[Any]], list[Any], int]] = []
        self._test = world.mpi.Request.Testall
        self._done = False
        self._error: BaseException | None = None
        self._start()
        world.watch.exchanges.append(self)

    def _start(self) -> None:
        """Start pieces, as far as they may be under way."""
        while self._pieces is not None and len(self._under_way) < self._depth:
            piece = next(self._pieces, None)
            if piece is None:
                self._pieces = None
                return
            requests = next(piece, None)
            if requests is not None:
                self._under_way.append((piece, requests, 0))

    def Test(self) -> bool:
        """Let the pieces under way go on, and return whether all are complete."""
        if self._error is not None:
            raise self._error
        if not self._done and self._go_on():
            self._done = True
            world.watch.exchanges.remove(self)
        return self._done

    def go_on(self) -> None:
        """Let the pieces go on while another operation is waited for, which has other errors."""
        try:
            self.Test()
        except world.mpi.Exception as error:
            self._error = error
            world.watch.exchanges.remove(self)

    def _go_on(self) -> bool:
        test, place, before = self._test, 0, _STEPS
        under_way = self._under_way
        while place < len(under_way):
            piece, requests, step = under_way[place]
            # Messages of a step have one tag: all ranks must send and expect them in one order.
            if step >= before or not test(requests):
                before = min(before, step)
                place += 1
                continue
            following = next(piece, None)
            if following is not None:
                under_way[place] = piece, following, step + 1
                before = step + 1
                place += 1
                continue
            del under_way[place]
            self._start()
        return not under_way


def _tag(number: int, step: int = 0) -> int:
    return _STEPS * (number % _CALLS) + step


def _buffer(memory: Tensor, start: int, stop: int) -> list[Any]:
    """Return elements of contiguous memory as mpi4py takes them."""
    size = memory.element_size()
    address = memory.data_ptr() + start * size
    count = stop - start
    return [
        world.mpi.buffer.fromaddress(address, count * size),
        count,
        _mpi.datatype(memory.dtype),
    ]


def _take_scratch(nbytes: int) -> Tensor:
    """Return memory of at least some bytes, from an operation before if there is some."""
    for place, memory in enumerate(_scratch):
        if memory.nbytes >= nbytes:
            return _scratch.pop(place)
    return ag.empty(nbytes, dtype=ag.uint8)


def _ranges(count: int, ranks: int, element: int) -> list[list[int]]:
    """Return for each piece where the parts of the ranks begin, and where the last one ends."""
    step = ranks * max(1, PART // element)
    pieces = []
    for start in range(0, count, step):
        stop = min(start + step, count)
        bounds = [start + (stop - start) * rank // ranks for rank in range(ranks + 1)]
        pieces.append(bounds)
    return pieces


def _add(
    group: ProcessGroup,
    op: Any,
    into: list[Any],
    nbytes: int,
    own: list[tuple[int, list[Any]]],
    tag: int,
) -> Iterator[list[Any]]:
    """Send parts to other ranks, and reduce theirs into the own one.

    Parameters
    ----------
    group : ProcessGroup
    op : mpi4py.MPI.Op
    into : list
        The buffer of the own part.
    nbytes : int
        Of this part.
    own : list of (int, list)
        Ranks, and the buffers that are sent to them.
    tag : int
    """
    control, rank = group._control, group.rank()
    others = [peer for peer in range(group.size()) if peer != rank] if into[1] else []
    scratch = _take_scratch(max(PART, nbytes) * len(others)) if others else None
    parts = []
    requests = []
    for place, peer in enumerate(others):
        assert scratch is not None
        address = scratch.data_ptr() + place * nbytes
        part = [world.mpi.buffer.fromaddress(address, nbytes), *into[1:]]
        parts.append(part)
        requests.append(control.Irecv(part, peer, tag))
    requests += [control.Isend(buffer, peer, tag) for peer, buffer in own if buffer[1]]
    yield requests
    for part in parts:
        op.Reduce_local(part, into)
    if scratch is not None and len(_scratch) < 2 * DEPTH:
        _scratch.append(scratch)


def all_reduce(group: ProcessGroup, memory: Tensor, op: Any, number: int) -> Exchange:
    """Reduce memory of all ranks: each reduces a part of each piece, and sends it to the others.

    Parameters
    ----------
    group : ProcessGroup
    memory : Tensor
        Contiguous.
    op : mpi4py.MPI.Op
    number : int
        Of the call.
    """
    control, rank, size = group._control, group.rank(), group.size()
    element = memory.element_size()
    others = [peer for peer in range(size) if peer != rank]

    def piece(bounds: list[int]) -> Iterator[list[Any]]:
        parts = [_buffer(memory, bounds[each], bounds[each + 1]) for each in range(size)]
        own = parts[rank]
        nbytes = own[1] * element
        sent = [(peer, parts[peer]) for peer in others]
        yield from _add(group, op, own, nbytes, sent, _tag(number))
        tag = _tag(number, 1)
        requests = [control.Irecv(parts[peer], peer, tag) for peer in others if parts[peer][1]]
        if own[1]:
            requests += [control.Isend(own, peer, tag) for peer in others]
        yield requests

    return Exchange(piece(bounds) for bounds in _ranges(memory.numel(), size, element))


def reduce(group: ProcessGroup, memory: Tensor, op: Any, root: int, number: int) -> Exchange:
    """Reduce memory of all ranks into that of the root, which adds what the others send."""
    element = memory.element_size()
    is_root = group.rank() == root

    def piece(start: int, stop: int) -> Iterator[list[Any]]:
        buffer = _buffer(memory, start, stop)
        if is_root:
            yield from _add(group, op, buffer, (stop - start) * element, [], _tag(number))
        else:
            yield [group._control.Isend(buffer, root, _tag(number))]

    step = max(1, PART // element)
    starts = range(0, memory.numel(), step)
    return Exchange(piece(start, min(start + step, memory.numel())) for start in starts)


def reduce_scatter(
    group: ProcessGroup, source: Tensor, memory: Tensor, op: Any, number: int
) -> Exchange:
    """Reduce parts of the ranks' memory, each into that of one rank."""
    rank, size, count = group.rank(), group.size(), memory.numel()
    element = memory.element_size()
    with ag.no_grad():
        memory.view(-1).copy_(source.view(-1)[rank * count : (rank + 1) * count])
    others = [peer for peer in range(size) if peer != rank]

    def piece(start: int, stop: int) -> Iterator[list[Any]]:
        sent = [
            (peer, _buffer(source, peer * count + start, peer * count + stop)) for peer in others
        ]
        own = _buffer(memory, start, stop)
        yield from _add(group, op, own, (stop - start) * element, sent, _tag(number))

    step = max(1, PART // element)
    return Exchange(piece(start, min(start + step, count)) for start in range(0, count, step))


def _exchange(
    group: ProcessGroup,
    sent: Iterable[tuple[int, Tensor]],
    received: Iterable[tuple[int, Tensor]],
    number: int,
) -> Any:
    """Send memory to other ranks, and receive from them."""
    control, tag, rank = group._control, _tag(number), group.rank()
    requests = []
    for post, pairs in ((control.Irecv, received), (control.Isend, sent)):
        for peer, memory in pairs:
            if peer != rank and memory.numel():
                requests.append(post(_mpi.buffer_of(memory), peer, tag))
    return requests[0] if len(requests) == 1 else _Messages(requests)


def _copy(memory: Tensor, source: Tensor) -> None:
    if memory.data_ptr() != source.data_ptr():
        with ag.no_grad():
            memory.view(-1).copy_(source.view(-1))


def broadcast(group: ProcessGroup, memory: Tensor, root: int, number: int) -> Any:
    """Send memory of the root to all others."""
    if group.rank() == root:
        return _exchange(group, [(peer, memory) for peer in range(group.size())], [], number)
    return _exchange(group, [], [(root, memory)], number)


def gather(
    group: ProcessGroup, source: Tensor, memories: Sequence[Tensor], root: int, number: int
) -> Any:
    """Send memory of all ranks to the root, which has one tensor for each."""
    if group.rank() != root:
        return _exchange(group, [(root, source)], [], number)
    _copy(memories[root], source)
    return _exchange(group, [], enumerate(memories), number)


def scatter(
    group: ProcessGroup, sources: Sequence[Tensor], memory: Tensor, root: int, number: int
) -> Any:
    """Send each rank one of the root's tensors."""
    if group.rank() != root:
        return _exchange(group, [], [(root, memory)], number)
    _copy(memory, sources[root])
    return _exchange(group, enumerate(sources), [], number)


def all_to_all(
    group: ProcessGroup, sources: Sequence[Tensor], memories: Sequence[Tensor], number: int
) -> Any:
    """Send one tensor to each rank, and receive one from each."""
    _copy(memories[group.rank()], sources[group.rank()])
    return _exchange(group, enumerate(sources), enumerate(memories), number)
