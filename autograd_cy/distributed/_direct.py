"""Large operations of few ranks, by messages between each two of them.

MPI's non-blocking collectives of large tensors take a multiple of the time of the blocking ones in
some MPIs, and hold a copy of the whole tensor meanwhile. With two or three ranks, each of which
sends to each, no other order of messages moves less. Sums go by pieces, so that what arrives is
still in the cache when it is added, and scratch memory stays small.

Each operation is an object with ``Test()``, as a request of mpi4py. What is sent as it is comes as
mpi4py takes it: memory, count and datatype (``_mpi.slice_of``). Messages go through the control
communicator of the group, where no other messages between two ranks are, with tags of the call.
Unlike an operation of MPI, one in pieces goes on only while this package waits or is asked: so
every wait lets all of them go on (``Watch.progress``), as another rank may wait for any of them.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from . import _mpi
from ._watch import OF_HANDLER, interrupted
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
PART = 1 << 20
DEPTH = 4
#: Bytes from which a message has a first part of its own, and bytes of that.
LONG, HEAD = 1 << 22, 1 << 14
#: Elements of a message, of which not every MPI takes 2**31.
MOST = 1 << 30
#: Steps of a piece, which have a tag each, and calls after which tags repeat. MPI has 32767.
_STEPS, _CALLS = 2, 8192

#: Scratch memory that no operation uses.
_scratch: list[Tensor] = []


def takes(group: ProcessGroup, nbytes: int = LEAST) -> bool:
    """Return whether an operation goes by messages; alike on all ranks.

    By default of any size, as for lists of tensors, which MPI's operations don't take. Memory of
    GPUs is left to an MPI that takes it.
    """
    return nbytes >= LEAST and 1 < group.size() <= RANKS and not world.cuda_aware


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

    Two threads may ask one operation (``Watch.background``): one of them lets it go on. After an
    exception within a piece, such as one from the handler of a signal, nobody knows what has been
    sent: the operation never becomes complete, and each test of it is an error.

    Parameters
    ----------
    pieces : iterator of iterator of list of mpi4py.MPI.Request
        The requests of a piece that must be complete before its next step.
    depth : int, optional
        The most pieces that are under way at once.

    Attributes
    ----------
    is_moving : bool
        A message of another rank has come.
    """

    __slots__ = (
        "_depth",
        "_done",
        "_error",
        "_is_inside",
        "_lock",
        "_pieces",
        "_test",
        "_under_way",
        "is_moving",
    )

    def __init__(self, pieces: Iterator[Iterator[list[Any]]], depth: int = DEPTH) -> None:
        self._pieces: Iterator[Iterator[list[Any]]] | None = pieces
        self._depth = depth
        self._under_way: list[tuple[Iterator[list[Any]], list[Any], int]] = []
        self._test = world.mpi.Request.Testall
        self._done = False
        self._error: BaseException | None = None
        # A thread that an exception has interrupted with the lock in hand may go on.
        self._lock = threading.RLock()
        self._is_inside = False
        self.is_moving = False
        try:
            self._start()
        except BaseException:
            world.abandoned.append(self)
            raise
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

    def _ask(self) -> bool:
        """Let the pieces under way go on, as far as no other thread does so.

        Returns
        -------
        bool
            False where the handler of a signal has interrupted just that.
        """
        if self._done or self._error is not None or not self._lock.acquire(False):
            return True
        try:
            if self._is_inside:
                return False
            self._is_inside = True
            try:
                if self._error is None and not self._done and self._go_on():
                    self._leave()
                    self._done = True
            except BaseException as error:
                self._error = error
                self._leave()
                raise
            finally:
                self._is_inside = False
        finally:
            self._lock.release()
        return True

    def Test(self) -> bool:
        """Let the pieces under way go on, and return whether all are complete.

        Raises
        ------
        RuntimeError
            If an exception has interrupted it, or in the handler of a signal that does so.
        """
        if not self._ask():
            raise RuntimeError(OF_HANDLER)
        error = self._error
        if error is not None:
            if isinstance(error, world.mpi.Exception):
                raise error
            raise interrupted(error) from error
        return self._done

    def _leave(self) -> None:
        # Twice, if a signal comes between.
        if self in world.watch.exchanges:
            world.watch.exchanges.remove(self)

    def go_on(self) -> None:
        """Let the pieces go on while another operation is waited for, which has other errors."""
        try:  # noqa: SIM105  contextlib.suppress takes longer than the rest
            self._ask()
        except world.mpi.Exception:  # Test has it
            pass

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
            self.is_moving = True
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


def _take_scratch(nbytes: int) -> Tensor:
    """Return memory of at least some bytes, from an operation before if there is some."""
    # Another thread may take some at the same time.
    with contextlib.suppress(IndexError):
        memory = _scratch.pop()
        if memory.nbytes >= nbytes:
            return memory
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
    requests: list[Any] = []
    for place in range(len(others)):
        assert scratch is not None
        address = scratch.data_ptr() + place * nbytes
        part = [world.mpi.buffer.fromaddress(address, nbytes), *into[1:]]
        parts.append(part)
    try:
        requests += [
            control.Irecv(part, peer, tag) for part, peer in zip(parts, others, strict=True)
        ]
        requests += [control.Isend(buffer, peer, tag) for peer, buffer in own if buffer[1]]
        yield requests
    except BaseException:
        world.abandoned.append(scratch)  # MPI may still use it
        raise
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
        parts = [_mpi.slice_of(memory, bounds[each], bounds[each + 1]) for each in range(size)]
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
        buffer = _mpi.slice_of(memory, start, stop)
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
    _copy(_mpi.buffer_of(memory), _mpi.slice_of(source, rank * count, (rank + 1) * count))
    others = [peer for peer in range(size) if peer != rank]

    def piece(start: int, stop: int) -> Iterator[list[Any]]:
        sent = [
            (peer, _mpi.slice_of(source, peer * count + start, peer * count + stop))
            for peer in others
        ]
        own = _mpi.slice_of(memory, start, stop)
        yield from _add(group, op, own, (stop - start) * element, sent, _tag(number))

    step = max(1, PART // element)
    return Exchange(piece(start, min(start + step, count)) for start in range(0, count, step))


def _exchange(
    group: ProcessGroup,
    sent: Iterable[tuple[int, list[Any]]],
    received: Iterable[tuple[int, list[Any]]],
    number: int,
) -> Any:
    """Send buffers to other ranks, and receive from them."""
    control, tag, rank = group._control, _tag(number), group.rank()
    requests, rests = [], []
    for post, pairs in ((control.Irecv, received), (control.Isend, sent)):
        for peer, (memory, count, datatype) in pairs:
            if peer == rank or not count:
                continue
            nbytes = len(memory)
            if nbytes >= LONG:
                # The first part says that the others are there, and data move.
                element = nbytes // count
                head = HEAD // element
                for begin in range(head, count, MOST):
                    end = min(begin + MOST, count)
                    part = memory[begin * element : end * element]
                    rests.append((post, peer, [part, end - begin, datatype]))
                memory, count = memory[: head * element], head
            requests.append(post([memory, count, datatype], peer, tag))
    if rests:

        def pieces() -> Iterator[Iterator[list[Any]]]:
            yield iter([requests])
            yield iter([[post(rest, peer, tag) for post, peer, rest in rests]])

        return Exchange(pieces())
    return requests[0] if len(requests) == 1 else _Messages(requests)


def _copy(into: list[Any], source: list[Any]) -> None:
    if into[1] and into[0].address != source[0].address:
        into[0][:] = source[0]


def broadcast(group: ProcessGroup, memory: list[Any], root: int, number: int) -> Any:
    """Send memory of the root to all others."""
    if group.rank() == root:
        return _exchange(group, [(peer, memory) for peer in range(group.size())], [], number)
    return _exchange(group, [], [(root, memory)], number)


def gather(
    group: ProcessGroup, source: list[Any], memories: Sequence[list[Any]], root: int, number: int
) -> Any:
    """Send memory of all ranks to the root, which has some for each."""
    if group.rank() != root:
        return _exchange(group, [(root, source)], [], number)
    messages = _exchange(group, [], enumerate(memories), number)
    _copy(memories[root], source)
    return messages


def scatter(
    group: ProcessGroup, sources: Sequence[list[Any]], memory: list[Any], root: int, number: int
) -> Any:
    """Send each rank one part of the root's memory."""
    if group.rank() != root:
        return _exchange(group, [], [(root, memory)], number)
    messages = _exchange(group, enumerate(sources), [], number)
    _copy(memory, sources[root])
    return messages


def all_to_all(
    group: ProcessGroup, sources: Sequence[list[Any]], memories: Sequence[list[Any]], number: int
) -> Any:
    """Send one part to each rank, and receive one from each."""
    messages = _exchange(group, enumerate(sources), enumerate(memories), number)
    _copy(memories[group.rank()], sources[group.rank()])
    return messages
