"""One span of recording: what is asked of the recorder (ext/core/recorder.pyx), and its columns."""

from __future__ import annotations

import contextlib
import operator
import os
import sys
import threading
import time
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import numpy as np

from autograd_cy._C import recorder as _recorder
from autograd_cy._C._warned import warn as _warn
from autograd_cy.profiler._columns import BACKWARD, MEMORY_ARRAYS, OPERATOR, Columns
from autograd_cy.profiler._kernels import Kernels
from autograd_cy.profiler._modules import watch as _watch_modules

__all__ = ["MAX_EVENTS", "Session", "checked_events", "ended_by"]

MAX_EVENTS = 10_000_000

# Bits of D_* in recorder.pxd.
ARGUMENTS, MEMORY, STACK, MODULES = 1, 2, 4, 8
FAILED = 1

_recorder._prepare()


def checked_events(most: int) -> int:
    """`max_events`, if it is a number of events."""
    try:
        most = operator.index(most)
    except TypeError:
        raise TypeError(f"profile: max_events is an integer, not {type(most).__name__}") from None
    if not 0 < most < 1 << 63:
        raise ValueError(f"profile: max_events is a positive number below 2**63, not {most}")
    return most


def ended_by(stop: Callable[[], Any], error: BaseException | None) -> None:
    """Call `stop` at the end of a block; if an error left the block, that is what is raised."""
    try:
        stop()
    except Exception as failure:
        if error is None:
            raise
        with contextlib.suppress(Warning):
            _warn(
                f"profile: the end of the block failed too: {type(failure).__name__}: {failure}",
                RuntimeWarning,
            )


class Session:
    """
    A span of recording; several may run at the same time, and each gets the events of its own.

    Most arguments say what is recorded beside times. ``use_device="cuda"`` records kernels and
    copies of GPUs, `all_threads` the work of other threads than the one that starts. Events after
    the first `max_events` are dropped, and counted. `options` go into those of the columns.
    """

    def __init__(
        self,
        *,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_device: str | None = None,
        all_threads: bool = True,
        max_events: int = MAX_EVENTS,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.options = {
            "record_shapes": bool(record_shapes),
            "with_flops": bool(with_flops),
            "profile_memory": bool(profile_memory),
            "with_stack": bool(with_stack),
            "with_modules": bool(with_modules),
            "all_threads": bool(all_threads),
            "max_events": checked_events(max_events),
            **({"use_device": use_device} if use_device else {}),
            **(options or {}),
        }
        wanted = (
            ARGUMENTS * bool(record_shapes or with_flops)
            | MEMORY * bool(profile_memory)
            | STACK * bool(with_stack)
            | MODULES * bool(with_modules)
        )
        self._recording = _recorder.Recording(wanted, self.options["max_events"])
        self._kernels: Kernels | None = Kernels() if use_device == "cuda" else None
        self._taken: tuple | None = None  # what was recorded, until there are columns of it

    # Set when the recording starts.
    _thread: int
    _base_ns: int

    @property
    def running(self) -> bool:
        """True if it was started and not stopped yet."""
        return self._recording.running

    def start(self) -> None:
        """
        Record from now on.

        Raises
        ------
        RuntimeError
            If it runs already.
        """
        self._base_ns = time.time_ns()
        self._thread = self._recording.thread
        if self._kernels is not None:
            self._kernels.start()
        try:
            self._recording.start()
        except BaseException:
            if self._kernels is not None:
                self._kernels.drop()
            raise
        if self.options["with_modules"]:
            _watch_modules()

    def stop(self) -> Columns:
        """
        End it.

        Returns
        -------
        Columns
            The events. A process that was forked meanwhile gets none.

        Raises
        ------
        RuntimeError
            If it doesn't run.

        Notes
        -----
        After an error, for want of memory say, it may be called again.
        """
        taken = self._taken
        if taken is None:
            only = None if self.options["all_threads"] else self._thread
            # Of kernels first: their times are asked for by the ticks of this session.
            try:
                launches = self._kernels.stop() if self._kernels is not None else []
            finally:
                # After an error of a kernel, too: nothing records then, and a second call gives
                # what the host has done.
                taken = self._taken = self._recording.stop(only)
            if taken is not None and self._kernels is not None:
                self._kernels.keep(launches, self._recording)
        if taken is None:
            return Columns(base_ns=self._base_ns, options=self.options)
        self._taken = taken
        columns = _columns(taken, self._base_ns, self.options)
        if self._kernels is not None:
            columns = self._kernels.put(columns)
        self._taken = None
        return columns

    def __del__(self) -> None:
        # What an interrupt kept from its block, or a program forgot, costs no operator any more.
        recording = getattr(self, "_recording", None)
        if recording is None:
            return
        running = recording.running
        recording.drop()
        if self._kernels is not None:
            self._kernels.drop()
        if running:
            _warn(
                "profile: it was never stopped, and nobody can ask it any more; what it recorded "
                "is lost. Use a with block, or call stop()",
                ResourceWarning,
                source=self,
            )


def _columns(taken: tuple, base_ns: int, options: dict[str, Any]) -> Columns:
    """Return the result of :class:`Recording` as columns."""
    columns, threads, names, backward, ordered, flops, *tables, dropped, wall_ns = taken
    columns = dict(columns)
    shapes, stacks, modules = tables
    if backward:
        _from_forward(columns)
    if options["with_flops"]:
        # Shapes of an event that failed may be those that its operator refused.
        shape, failed = columns["shape"], columns["failed"]
        if failed.any():
            shape = np.where(failed, -1, shape)
        columns["flops"] = _counted(columns["name"], shape, flops, shapes)
    if not options["record_shapes"]:
        columns.pop("shape", None)
    if not ordered:
        order = np.argsort(columns["mem_time"], kind="stable")
        for key in MEMORY_ARRAYS:
            columns[key] = columns[key][order]
    known = {t.ident: t.name for t in threading.enumerate()}
    return Columns(
        **columns,
        names=names,
        shapes=shapes if options["record_shapes"] else [],
        stacks=_stack_texts(stacks) if options["with_stack"] else [],
        modules=modules if options["with_modules"] else [],
        threads=[native for native, _ in threads],
        thread_names=[known.get(ident, "") for _, ident in threads],
        base_ns=base_ns,
        wall_ns=wall_ns,
        dropped=dropped,
        options=options,
    )


def _from_forward(columns: dict[str, np.ndarray]) -> None:
    """Give backward events the thread, the frames and the module of their forward operator."""
    columns["fwd_thread"] = np.zeros(len(columns["seq"]), np.int32)
    later = np.flatnonzero((columns["scope"] == BACKWARD) & (columns["seq"] >= 0))
    makers = np.flatnonzero((columns["scope"] == OPERATOR) & (columns["seq"] >= 0))
    if not len(makers):
        return
    order = makers[np.argsort(columns["seq"][makers], kind="stable")]
    wanted = columns["seq"][later]
    place = np.minimum(np.searchsorted(columns["seq"][order], wanted), len(order) - 1)
    has_forward = columns["seq"][order[place]] == wanted
    later, maker = later[has_forward], order[place[has_forward]]
    columns["fwd_thread"][later] = columns["thread"][maker]
    for key in ("stack", "module"):
        if key in columns:
            columns[key][later] = columns[key][maker]


class _Sizes(list):
    """Sizes for rules, which are compiled without checks of indices for a plain list."""


def _arguments(sizes: list, values: list, kinds: list) -> list:
    """Sizes of tensors and values of other arguments."""
    return [_Sizes(size) if value is None else value for size, value in zip_longest(sizes, values)]


def _counted(name: np.ndarray, shape: np.ndarray, flops: list, shapes: list) -> np.ndarray:
    """Operations of each event: the records' rules, once for each description of arguments."""
    counts = np.zeros(len(name), np.int64)
    for number, rule in flops:
        here = name == number
        there = np.bincount(shape[here] + 1)[1:]
        of_shape = np.zeros(len(shapes) + 1, np.int64)  # the last one for those without
        for one in np.flatnonzero(there).tolist():
            try:
                of_shape[one] = rule(*_arguments(*shapes[one]))
            except Exception:
                continue  # no rule for arguments like these: nothing is counted
        np.copyto(counts, of_shape[shape], where=here)
    return counts


def _stack_texts(rows: list) -> list[tuple[str, ...]]:
    """Frames as texts, with the paths of files as imports see them."""
    # Programs put all sorts of things there.
    folders = [os.fspath(path) for path in sys.path if isinstance(path, (str, os.PathLike))]
    paths = {path.rstrip("/") + "/" for path in folders if isinstance(path, str) and path}
    roots = sorted(paths, key=len, reverse=True)

    def shown(file: str) -> str:
        root = next((root for root in roots if file.startswith(root)), "")
        return file[len(root) :]

    return [tuple(f"{shown(file)}({line}): {name}" for file, line, name in row) for row in rows]
