"""
Stopping before a job of SLURM is preempted or out of time, and starting it again.

A scheduler can send a signal some time before it ends a job. :class:`PreemptionHandler` turns it
into a flag that all ranks see at the same step, so that they save together, and puts the job back
into the queue.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

__all__ = ["PreemptionHandler"]

#: The handlers of this process that wait for a signal, and what Python called before the first.
_open: dict[int, list[PreemptionHandler]] = {}
_before: dict[int, Any] = {}


class PreemptionHandler:
    """
    Wait for signals, and tell all ranks at the same step that one has come.

    Make it in the main thread, early: until then, the signal ends the program. It is a context
    manager, too: at the end the handlers of before come back.

    Parameters
    ----------
    signals : iterable of int, optional
        The signals; by default SIGUSR1 alone. With SIGTERM among them, ``scancel`` no longer ends
        the job at once, but 30 seconds later.
    process_group : ProcessGroup, optional
        The ranks that stop together; by default all, or this process if there are no groups.
    every : int, default 1
        Only each so many-th call of :meth:`should_stop` compares the ranks.

    Attributes
    ----------
    signals : tuple of Signals
        The signals.

    Raises
    ------
    ValueError
        If there is no such signal, it can't be handled, or this isn't the main thread.

    Examples
    --------
    >>> import os, signal
    >>> from autograd_cy.utils.preemption import PreemptionHandler
    >>> with PreemptionHandler() as handler:
    ...     for step in range(5):
    ...         if handler.should_stop():
    ...             break
    ...         if step == 2:
    ...             os.kill(os.getpid(), signal.SIGUSR1)
    >>> step
    3
    """

    def __init__(
        self,
        signals: Iterable[int] = (signal.SIGUSR1,),
        process_group: Any = None,
        every: int = 1,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"PreemptionHandler: every must be at least 1, not {every!r}")
        if threading.current_thread() is not threading.main_thread():
            raise ValueError(
                "PreemptionHandler: Python handles signals in the main thread; make it there"
            )
        self.signals = tuple(dict.fromkeys(_signal(number) for number in signals))
        self._group = process_group
        self._every = every
        self._calls = 0
        self._came = False
        self._stops = False
        self._owner = os.getpid()
        for number in self.signals:
            before = signal.signal(number, _on_signal)
            if before is not _on_signal:
                _before[number] = before
            _open.setdefault(number, []).append(self)

    @property
    def requested(self) -> bool:
        """Return whether this rank has got a signal; others may not know yet."""
        return self._came

    def should_stop(self) -> bool:
        """
        Return whether any rank has got a signal; all ranks call it at the same steps.

        Each comparison is an ``all_reduce`` of one number, in which ranks wait for each other.

        Returns
        -------
        bool
            The same on all ranks. Once True, it stays so.

        Raises
        ------
        ValueError
            If there are several processes without a group.
        """
        self._calls += 1
        if self._stops or self._calls % self._every:
            return self._stops
        self._stops = _any(self._came, self._group)
        return self._stops

    def requeue(self) -> None:
        """
        Put the job back into SLURM's queue, by ``scontrol requeue`` on the first rank.

        All ranks call it, after they have saved. SLURM then ends the job and starts it again with
        the same number; in an array, the task of the array. The job must be one that
        ``sbatch --requeue`` has submitted. End the program afterwards.

        Raises
        ------
        RuntimeError
            On all ranks, if this is no job of SLURM or SLURM refuses.
        """
        text = _requeue() if _rank(self._group) == 0 else ""
        text = _from_first(text, self._group)
        if text:
            raise RuntimeError(f"PreemptionHandler.requeue: {text}")

    def close(self) -> None:
        """Bring the handlers of before back, when the last of those for a signal is closed."""
        for number in self.signals:
            handlers = _open.get(number, [])
            if self not in handlers:
                continue  # closed before
            handlers.remove(self)
            if handlers:
                continue
            del _open[number]
            # None if a program has brought the function of this module back, without a handler.
            before = _before.pop(number, None)
            if signal.getsignal(number) is _on_signal:
                signal.signal(number, signal.SIG_DFL if before is None else before)

    def __enter__(self) -> PreemptionHandler:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _on_signal(number: int, frame: FrameType | None) -> None:
    for handler in _open.get(number, ()):
        if os.getpid() == handler._owner:  # and not a worker of a loader
            handler._came = True


def _signal(number: int) -> signal.Signals:
    try:
        value = signal.Signals(number)
    except ValueError:
        raise ValueError(
            f"PreemptionHandler: there is no signal {number!r}; give one such as signal.SIGUSR1"
        ) from None
    if value in (signal.SIGKILL, signal.SIGSTOP):
        raise ValueError(
            f"PreemptionHandler: {value.name} can't be handled; give one such as signal.SIGUSR1"
        )
    return value


# --- ranks ---------------------------------------------------------------------------------------


def _group_of(group: Any) -> Any:
    """Return the group that is meant; None for one process.

    Raises
    ------
    ValueError
    """
    from autograd_cy import distributed
    from autograd_cy._environment.launcher import detect

    if group is None and not distributed.is_initialized():
        launch = detect()
        if launch is not None and launch.size > 1:
            raise ValueError(
                f"PreemptionHandler: {launch.launcher} started {launch.size} processes, which "
                "don't know each other: call init_process_group() first"
            )
        return None
    group = distributed.group.WORLD if group is None else group
    return group if distributed.get_world_size(group) > 1 else None


def _any(flag: bool, group: Any) -> bool:
    group = _group_of(group)
    if group is None:
        return flag
    import autograd_cy as ag

    value = ag.tensor([int(flag)], dtype=ag.int32, device="cpu")
    ag.distributed.all_reduce(value, ag.distributed.ReduceOp.MAX, group=group)
    return bool(value.item())


def _rank(group: Any) -> int:
    group = _group_of(group)
    return 0 if group is None else group.rank()


def _from_first(text: str, group: Any) -> str:
    group = _group_of(group)
    if group is None:
        return text
    from autograd_cy import distributed

    texts = [text]
    distributed.broadcast_object_list(texts, group=group, group_src=0)
    return texts[0]


# --- SLURM ---------------------------------------------------------------------------------------


def job_name() -> str | None:
    """Return the number of this job for ``scontrol``, with its task in an array."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{name}", "") for name in ("JOB_ID", "TASK_ID"))
    if array and task:
        return f"{array}_{task}"
    return os.environ.get("SLURM_JOB_ID") or os.environ.get("SLURM_JOBID") or None


def _requeue() -> str:
    """Put the job back into the queue; return what is wrong, or an empty text."""
    import shutil
    import subprocess

    job = job_name()
    if job is None:
        return (
            "this isn't a job of SLURM (SLURM_JOB_ID isn't set): start the program again by hand, "
            "or submit it by sbatch"
        )
    command = shutil.which("scontrol")
    if command is None:
        return (
            "there is no scontrol on this node, which would put the job back into the queue: let "
            f"the job script do it (scontrol requeue {job})"
        )
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        result = subprocess.run(
            [command, "requeue", job], capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return f"SLURM gave no answer to scontrol requeue {job} in 60 s: submit the job again"
    if result.returncode == 0:
        return ""
    return (
        f"scontrol requeue {job} failed: {(result.stderr or result.stdout).strip()}; submit the "
        "job by sbatch --requeue, so that it may be requeued"
    )


# --- processes that this one starts --------------------------------------------------------------


def watched_signals() -> frozenset[int]:
    """Return the signals that handlers of this process wait for."""
    return frozenset(map(int, _open))


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Start processes that never see the signals: SLURM sends them to all processes of a step."""
    if not _open:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, list(_open))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
