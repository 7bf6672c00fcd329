"""`DataLoader`: batches of samples, gathered here or by worker processes."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection as connections
from typing import Any

from autograd_cy import Generator
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.recorder import record_function
from autograd_cy._environment import threads as _threads
from autograd_cy.utils.data._pinning import pinned, pins
from autograd_cy.utils.preemption import signals_blocked, watched_signals

from . import _transport
from ._worker import Fetcher, Settings, StreamEnded, Task, work
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

__all__ = ["DataLoader"]

_PATIENCE = 5.0  # seconds that a worker has to end

# Labels in profiles, where programs and viewers look for them: the time that a step waits for data.
_HERE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
_OF_WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
_END: Any = object()  # of a pass: in the label an exception would be a failure


# A type that programs annotate with.
_collate_fn_t = Callable[[list], Any]


class _Endless:
    """The indices of a stream, which has none."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader:
    """
    An iterable over the samples of a data set, in batches.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        The samples; anything with ``__getitem__`` and ``__len__`` will do.
    batch_size : int or None, default 1
        Samples in a batch; None gives single samples.
    shuffle : bool, optional
        Whether each pass has a random order of its own.
    sampler : iterable, optional
        Gives indices, in place of `shuffle`.
    batch_sampler : iterable, optional
        Gives lists of indices, in place of all of these.
    num_workers : int, default 0
        Processes that get samples; with 0 it is done here. The order is the same for any number.
    collate_fn : callable, optional
        Makes a batch of a list of samples; by default `default_collate`.
    pin_memory : bool, default False
        Whether batches are in memory that an accelerator copies from directly, where there is one
        that does so; else it changes nothing.
    drop_last : bool, default False
        Whether a last batch that is shorter is left out.
    timeout : float, default 0
        Seconds to wait for a batch of a worker; 0 waits for ever.
    worker_init_fn : callable, optional
        Called with its number in each worker when it starts.
    multiprocessing_context : str or context, optional
        How processes start: ``"fork"``, ``"spawn"`` or ``"forkserver"``; by default as Python
        does it: a fork on Linux before Python 3.14, ``"forkserver"`` since.
    generator : Generator, optional
        Where the order and the seeds of the workers come from.
    prefetch_factor : int, optional
        Batches that each worker makes in advance; 2 unless given.
    persistent_workers : bool, default False
        Whether workers stay for the next pass.
    pin_memory_device : str, optional
        Accepted, and not used.
    in_order : bool, default True
        Whether batches of workers come in the order of their indices, or as they are ready.

    Raises
    ------
    ValueError
        If arguments don't go together.

    Examples
    --------
    >>> from autograd_cy.utils.data import DataLoader
    >>> for batch in DataLoader(range(5), batch_size=2):
    ...     print(batch)
    tensor([0, 1])
    tensor([2, 3])
    tensor([4])
    """

    _fixed = (
        "batch_size",
        "batch_sampler",
        "sampler",
        "drop_last",
        "dataset",
        "persistent_workers",
    )
    # Of the name that programs know, which switch it off to exchange a sampler.
    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable "
                "multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to "
                "None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._iterator: _OfWorkers | None = None
        self._streams = isinstance(dataset, IterableDataset)
        self._answered: int | None = None  # the length of a stream, if someone asked for it
        if self._streams:
            for name, value in (
                ("shuffle", shuffle or None),
                ("sampler", sampler),
                ("batch_sampler", batch_sampler),
            ):
                if value is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                        f"got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                    "and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if self._streams:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.__initialized = True
        _warn_of_many(num_workers)

    def __class_getitem__(cls, item: Any) -> type[DataLoader]:
        return cls

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in self._fixed:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """The context that starts processes."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                methods = multiprocessing.get_all_start_methods()
                if context not in methods:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{methods!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got multiprocessing_context={context}"
                )
        self._context = context

    @property
    def _indices(self) -> Iterable:
        """The indices to take from the data set at a time: lists of indices, or single ones."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _fetcher(self) -> Fetcher:
        return Fetcher(
            self.dataset, self.batch_sampler is not None, self.collate_fn, self.drop_last
        )

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return _Here(self)
        if not self.persistent_workers:
            return _OfWorkers(self)
        if self._iterator is None or not self._iterator._begin_again():
            self._iterator = _OfWorkers(self)
        return self._iterator

    def __len__(self) -> int:
        if not self._streams:
            return len(self._indices)  # type: ignore[arg-type]
        size = len(self.dataset)
        if self.batch_size is not None:
            full, rest = divmod(size, self.batch_size)
            size = full + (rest > 0 and not self.drop_last)
        self._answered = size
        return size


def _warn_of_many(num_workers: int) -> None:
    cores = _threads.affinity()
    if num_workers > cores:
        _warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested "
            f"max number of worker in current system is {cores}, which is smaller than what this "
            "DataLoader is going to create. Please be aware that excessive worker creation might "
            "get DataLoader running slow or even freeze, lower the worker number to avoid "
            "potential slowness/freeze if necessary.",
        )


class _Passing:
    """A pass over a loader: what both kinds share."""

    def __init__(self, loader: DataLoader):
        # Threads may share a pass. A handler of signals may ask for a batch inside of another call.
        self._lock = threading.RLock()
        self._begin(loader)

    def _begin(self, loader: DataLoader) -> None:
        self._n_fetched = 0
        # A stream isn't asked here: it may count by reading all, or refuse, as a chain of streams.
        self._expected = loader._answered

    def _count(self) -> None:
        self._n_fetched += 1
        if self._expected is not None and self._n_fetched > self._expected:
            _warn(
                f"Length of IterableDataset was reported to be {self._expected} (when accessing "
                f"len(dataloader)), but {self._n_fetched} samples have been fetched. With several "
                "workers, each must give its own share; see get_worker_info().",
            )
            self._expected = None

    def __iter__(self) -> Iterator[Any]:
        return self  # type: ignore[return-value]


class _Here(_Passing):
    """A pass without workers."""

    def __init__(self, loader: DataLoader):
        if loader.timeout:
            raise AssertionError(
                f"DataLoader: timeout={loader.timeout} needs workers to wait for; set num_workers "
                "or leave timeout at 0"
            )
        super().__init__(loader)
        self._loader = loader
        draw_seed(loader.generator)  # as with workers, so that the order is the same
        self._fetcher = loader._fetcher()
        self._indices = iter(loader._indices)

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        with record_function(_HERE):
            try:
                if self._loader._streams:
                    with self._lock:
                        batch = self._fetcher.fetch(next(self._indices))
                else:
                    with self._lock:
                        index = next(self._indices)
                    batch = self._fetcher.fetch(index)  # by several threads at once
            except (StreamEnded, StopIteration):
                batch = _END
        if batch is _END:
            raise StopIteration
        with self._lock:
            self._count()
        return pinned(batch) if pins(self._loader.pin_memory) else batch


class _OfWorkers(_Passing):
    """A pass by worker processes; with persistent ones, all passes."""

    def __init__(self, loader: DataLoader):
        # It may have been set since the loader was made; NaN would be waited for without an end.
        if not loader.timeout >= 0:
            raise ValueError(
                f"timeout option should be non-negative, a number of seconds, not {loader.timeout}"
            )
        super().__init__(loader)
        self._loader = loader
        self._epoch = -1
        # Whether an exchange with a worker has begun and not ended: what comes out of it then
        # (Ctrl-C, an exception of a handler of signals) leaves part of a message in a pipe.
        self._unsettled = False
        base_seed = self._reset()
        context = loader.multiprocessing_context or multiprocessing.get_context()
        copies = context.get_start_method() == "fork"
        self._processes: list[Any] = []
        self._pipes: list[Any] = []
        self._stop = weakref.finalize(self, _end, self._processes, self._pipes, os.getpid())
        count = loader.num_workers
        for i in range(count):
            ours, theirs = context.Pipe(duplex=True)
            self._pipes.append(ours)
            settings = Settings(
                loader.dataset,
                loader.batch_sampler is not None,
                loader.collate_fn,
                loader.drop_last,
                base_seed,
                loader.worker_init_fn,
                i,
                count,
                self._epoch,
                watched_signals(),
            )
            inherited = list(self._pipes) if copies else []
            process = context.Process(target=work, args=(settings, theirs, inherited), daemon=True)
            with _threads.unbound(), signals_blocked():
                process.start()
            theirs.close()
            self._processes.append(process)
        self._fill()

    def _reset(self) -> int:
        """Begin a pass; return the seed of workers that begin with it."""
        self._begin(self._loader)
        self._epoch += 1
        base_seed = draw_seed(self._loader.generator)
        self._indices = iter(self._loader._indices)
        self._next_task = 0  # tasks that were given out
        self._next = 0  # the task whose batch comes next
        self._worker_of: dict[int, int] = {}
        self._ready: dict[int, tuple[str, Any]] = {}
        self._active = [True] * self._loader.num_workers
        self._waiting = [0] * self._loader.num_workers
        self._turn = 0
        self._more = True
        return base_seed

    def _begin_again(self) -> bool:
        """Begin another pass; return whether the workers are fit for it."""
        with self._lock:
            if self._unsettled:
                return False
            if not self._stop.alive:
                raise RuntimeError(
                    "the workers of this DataLoader have ended; make another DataLoader"
                )
            self._reset()
            self._unsettled = True
            for pipe in self._pipes:
                self._send(pipe, Task(self._epoch, None))
            self._unsettled = False
            self._fill()
        return True

    def _send(self, pipe: Any, task: Any) -> None:
        # If the worker is gone, that is noticed where its batch is waited for.
        with contextlib.suppress(ConnectionError):
            _transport.send(pipe, None, _transport.pack(task))

    def _fill(self) -> None:
        """Give out tasks, as many as workers may have."""
        limit = max(self._loader.prefetch_factor or 0, 1)
        while self._more:
            count = len(self._pipes)
            order = ((self._turn + i) % count for i in range(count))
            worker = next((w for w in order if self._active[w] and self._waiting[w] < limit), None)
            if worker is None:
                return
            try:
                index = next(self._indices)
            except StopIteration:
                self._more = False
                return
            self._unsettled = True
            self._turn = (worker + 1) % count
            number, self._next_task = self._next_task, self._next_task + 1
            self._worker_of[number] = worker
            self._waiting[worker] += 1
            self._send(self._pipes[worker], Task(self._epoch, number, index))
            self._unsettled = False

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        with record_function(_OF_WORKERS), self._lock:
            try:
                batch = self._next_batch()
            except StopIteration:
                batch = _END
                if not self._loader.persistent_workers:
                    self._stop()
            except BaseException:
                # After an error of a sample the pass may go on; without the workers it can't.
                if self._unsettled or not all(p.is_alive() for p in self._processes):
                    self._stop()
                raise
        if batch is _END:
            raise StopIteration
        return pinned(batch) if pins(self._loader.pin_memory) else batch

    def _next_batch(self) -> Any:
        deadline = time.monotonic() + self._loader.timeout if self._loader.timeout else None
        while True:
            number = self._choose()
            if number is None:
                raise StopIteration
            if number not in self._ready:
                self._receive(number, deadline)
                continue
            kind, packed = self._ready.pop(number)
            worker = self._worker_of.pop(number)
            if kind == "end":
                self._active[worker] = False
                self._fill()
                continue
            self._fill()
            if kind == "failure":
                _transport.unpack(packed).reraise()
            self._count()
            return _transport.unpack(packed)

    def _choose(self) -> int | None:
        """The task whose batch is wanted now."""
        if not self._worker_of:
            return None
        if not self._loader.in_order and self._ready:
            return next(iter(self._ready))
        return min(self._worker_of)

    def _receive(self, number: int, deadline: float | None) -> None:
        """Take in what workers have sent; wait until there is something."""
        if not self._stop.alive:
            raise RuntimeError("the workers of this DataLoader have ended; begin another pass")
        sentinels = [p.sentinel for p in self._processes]
        pipes = self._pipes
        if self._loader.in_order:
            pipes = [self._pipes[self._worker_of[number]]]  # others keep theirs until it is wanted
        wait = None if deadline is None else max(deadline - time.monotonic(), 0)
        ready = connections.wait([*pipes, *sentinels], wait)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._loader.timeout} seconds")
        heard = False
        self._unsettled = True
        for pipe in pipes:
            if pipe in ready:
                try:
                    (epoch, done, kind), packed = _transport.receive(pipe)
                except (EOFError, OSError):
                    continue  # it has ended
                heard = True
                if epoch == self._epoch:
                    self._waiting[self._pipes.index(pipe)] -= 1
                    self._ready[done] = kind, packed
        self._unsettled = False
        if not heard:
            self._complain()

    def _complain(self) -> None:
        """Raise the error for workers that have ended."""
        for process in self._processes:
            process.join(0.1)
        dead = [p for p in self._processes if not p.is_alive()]
        pids = ", ".join(str(p.pid) for p in dead)
        reasons = ", ".join(_reason(p.pid, p.exitcode) for p in dead)
        self._stop()
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {reasons}")


def _reason(pid: int | None, code: int | None) -> str:
    if code is None or code >= 0:
        return f"DataLoader worker (pid {pid}) exited with exit status {code}"
    try:
        kind = signal.Signals(-code)
        name = f"{signal.strsignal(kind)} ({kind.name})"
    except ValueError:
        name = f"number {-code}"
    hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    return f"DataLoader worker (pid {pid}) is killed by signal: {name}{hint}"


def _end(processes: list[Any], pipes: list[Any], owner: int) -> None:
    """End workers, those that don't listen by force."""
    if os.getpid() != owner:
        return  # a copy of the loader in another process
    for pipe in pipes:
        # Closing isn't enough: processes that were forked since have copies of this end.
        # Nor is a message: the last one may have been interrupted before its end.
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
        pipe.close()
    limit = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(limit - time.monotonic(), 0))
    for process in processes:
        if process.is_alive():
            process.terminate()
            process.join(_PATIENCE / 5)
        if process.is_alive():
            process.kill()
            process.join()


# The names of these classes in torch, which programs ask for by isinstance.
_BaseDataLoaderIter = _Passing
_SingleProcessDataLoaderIter = _Here
_MultiProcessingDataLoaderIter = _OfWorkers
