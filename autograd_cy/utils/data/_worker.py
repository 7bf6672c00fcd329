"""The main loop of a worker process of a loader, and its knowledge of itself."""

from __future__ import annotations

import os
import queue
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import connection as connections
from multiprocessing import parent_process
from typing import Any

import numpy as np

from autograd_cy import Tensor, manual_seed, set_num_threads, tensor

from . import _transport
from .collate import default_collate
from .dataset import IterableDataset, Subset, TensorDataset

__all__ = ["Failure", "Fetcher", "StreamEnded", "WorkerInfo", "get_worker_info", "work"]


@dataclass(frozen=True)
class WorkerInfo:
    """
    A worker process, as `get_worker_info` describes it.

    Attributes
    ----------
    id : int
        Its number, from 0.
    num_workers : int
        How many there are.
    seed : int
        With which its random numbers began.
    dataset : Dataset
        Its copy of the data set.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.utils.data.get_worker_info() is None  # in the main process
    True
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """
    Return what the worker process is in which this is called; None in the main process.

    Returns
    -------
    WorkerInfo or None

    Examples
    --------
    >>> from autograd_cy.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """
    return _info


class StreamEnded(Exception):
    """An iterable data set has no more samples."""


class Failure:
    """An exception of another process: its class, and its traceback as text."""

    def __init__(self, error: BaseException, where: str):
        self.kind: type[BaseException] = type(error)
        # Without the frames of this package's loop, which say nothing about the cause.
        self.text = "".join(traceback.format_exception(*sys.exc_info()))
        self.where = where

    def packed(self) -> tuple[bytes, list[memoryview]]:
        """The pickle; of a class that has none, the text remains."""
        try:
            return _transport.pack(self)
        except Exception:
            self.kind = RuntimeError
            return _transport.pack(self)

    def reraise(self) -> None:
        """Raise an exception of the same class, whose text has the traceback."""
        text = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if issubclass(self.kind, KeyError):
            raise self.kind(_Text(text))  # a key is shown by its repr
        try:
            error = self.kind(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Fetcher:
    """
    Get the samples of a batch and put them together.

    Parameters
    ----------
    dataset : Dataset
    batched : bool
        Whether indices come in lists.
    collate : callable
    drop_last : bool
        Of a stream: whether a last batch that is shorter is left out.
    """

    def __init__(self, dataset: Any, batched: bool, collate: Callable, drop_last: bool):
        self.dataset = dataset
        self.batched = batched
        self.collate = collate
        self.drop_last = drop_last
        self.samples: Iterator | None = None
        self.ended = False
        if isinstance(dataset, IterableDataset):
            self.samples = iter(dataset)
        self.rows = _rows_of(dataset) if batched and collate is default_collate else None

    def fetch(self, index: Any) -> Any:
        if self.samples is not None:
            return self.collate(self.next_of_stream(index))
        if not self.batched:
            return self.collate(self.dataset[index])
        if self.rows is not None:
            rows = self.rows(index)
            if rows is not None:
                return rows
        at_once = getattr(self.dataset, "__getitems__", None)
        if at_once:
            return self.collate(at_once(index))
        return self.collate([self.dataset[i] for i in index])

    def next_of_stream(self, index: Any) -> Any:
        if self.ended:
            raise StreamEnded
        if not self.batched:
            try:
                return next(self.samples)  # type: ignore[arg-type]
            except StopIteration:
                self.ended = True
            raise StreamEnded
        samples = []
        for _ in index:
            try:
                samples.append(next(self.samples))  # type: ignore[arg-type]
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StreamEnded
        return samples


def _rows_of(dataset: Any) -> Callable[[list], list | None] | None:
    """
    Return the function that gets a batch of rows of tensors at once, if the data set has one.

    It gives what `default_collate` makes of single rows, with one operation for each tensor.
    """
    if type(dataset) is Subset:
        inner = _rows_of(dataset.dataset)
        if inner is None:
            return None
        return lambda index: inner([dataset.indices[i] for i in index])
    if type(dataset) is not TensorDataset or not all(type(x) is Tensor for x in dataset.tensors):
        return None

    def rows(index: list) -> list | None:
        if not all(type(i) is int for i in index) or not index:
            return None
        places = tensor(index, device="cpu")
        return [x[places] for x in dataset.tensors]

    return rows


@dataclass
class Task:
    """A request of the main process: a batch, or a new pass (`number` is None)."""

    epoch: int
    number: int | None
    index: Any = None


@dataclass
class Settings:
    """The settings that a worker gets when it starts."""

    dataset: Any
    batched: bool
    collate: Callable
    drop_last: bool
    base_seed: int
    init: Callable | None
    id: int
    count: int
    epoch: int
    #: Signals for the main process alone.
    blocked: frozenset[int]


def work(settings: Settings, tasks: Any, inherited: list) -> None:
    """Run in a worker process: answer tasks until there is nobody to ask."""
    for other in inherited:  # ends of other workers' pipes, which a fork copies
        other.close()
    # Ctrl-C goes to all processes of a terminal; the main one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A fork server that was started before doesn't block them.
    signal.pthread_sigmask(signal.SIG_BLOCK, settings.blocked)
    set_num_threads(1)
    seed = (settings.base_seed + settings.id) % 2**63
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(np.random.SeedSequence([settings.base_seed, settings.id]).generate_state(4))
    global _info
    _info = WorkerInfo(settings.id, settings.count, seed, settings.dataset)

    # Results go out in a thread, so that tasks are always taken in: else both ends could wait.
    results: queue.SimpleQueue = queue.SimpleQueue()
    sender = threading.Thread(target=_send_all, args=(tasks, results), daemon=True)
    sender.start()
    where = f"in DataLoader worker process {settings.id}"
    fetcher: Fetcher | None = None
    failure: Any = None
    try:
        if settings.init is not None:
            settings.init(settings.id)
        fetcher = _fetcher(settings)
    except Exception as error:
        failure = Failure(error, where).packed()

    parent = parent_process()
    watched = [tasks] if parent is None else [tasks, parent.sentinel]
    while True:
        ready = connections.wait(watched)
        if tasks not in ready:
            os._exit(1)  # the main process is gone, and nobody reads
        try:
            _, message = _transport.receive(tasks)
        except (EOFError, OSError):
            break
        task = _transport.unpack(message)
        kind = "failure"
        if task.number is None:
            try:
                fetcher, failure = _fetcher(settings), None
            except Exception as error:
                failure = Failure(error, where).packed()
            continue
        if failure is not None or fetcher is None:
            packed = failure
        else:
            try:
                packed, kind = _transport.pack(fetcher.fetch(task.index)), "batch"
            except StreamEnded:
                packed, kind = _transport.pack(None), "end"
            except Exception as error:
                packed = Failure(error, where).packed()
        results.put(((task.epoch, task.number, kind), packed))
        del packed
    # What is still to be sent, nobody waits for; the thread ends with the process.


def _fetcher(settings: Settings) -> Fetcher:
    return Fetcher(settings.dataset, settings.batched, settings.collate, settings.drop_last)


def _send_all(connection: Any, results: queue.SimpleQueue) -> None:
    while True:
        result = results.get()
        try:
            _transport.send(connection, *result)
        except BaseException as error:
            if isinstance(error, ConnectionError) or connection.closed:
                return  # nobody reads any more
            # The main process would wait for what never comes; that a worker ends it sees.
            traceback.print_exc()
            os._exit(1)
        del result
