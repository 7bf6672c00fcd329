"""
Python's :mod:`multiprocessing` with tensors in shared memory, and :func:`spawn`.

Tensors that are sent (by queues, pipes and pools, as arguments of spawned processes) lie in shared
memory from then on: what one process writes, the others see. Views of one memory stay views of one
memory where they are sent together. One whose memory other tensors use too, which are not sent with
it, arrives as a copy; call :meth:`Tensor.share_memory_` before there are others. Gradients are not
sent. A tensor that has a history is refused.

Examples
--------
>>> import autograd_cy as ag
>>> ag.multiprocessing.get_context("fork").get_start_method()
'fork'
"""

from __future__ import annotations

import multiprocessing as _standard
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import *  # noqa: F403
from multiprocessing import connection

from autograd_cy._environment.threads import unbound as _unbound
from autograd_cy._tensors import sharing as _sharing

_sharing.register()

__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
]

_STRATEGIES = (
    {"file_system"}
    if sys.platform in ("darwin", "win32")
    else {
        "file_descriptor",
        "file_system",
    }
)


def get_all_sharing_strategies() -> set[str]:
    """
    Return the strategies that :func:`set_sharing_strategy` accepts.

    Returns
    -------
    set of str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> "file_system" in ag.multiprocessing.get_all_sharing_strategies()
    True
    """
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """
    Return the strategy by which tensors are shared from now on.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.multiprocessing.get_sharing_strategy() in ag.multiprocessing.get_all_sharing_strategies()
    True
    """
    return _sharing._strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """
    Choose how tensors that are shared from now on travel between processes.

    ``file_descriptor`` keeps an open file for each of them, of which a process may not have many
    (``ulimit -n``); nothing is left behind, however processes end. ``file_system`` names files in
    /dev/shm instead. They are removed when nobody uses them any more, and when all processes have
    ended, even if some were killed.

    Parameters
    ----------
    new_strategy : {'file_descriptor', 'file_system'}

    Raises
    ------
    AssertionError
        If PyTorch has no such strategy on this system.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> before = ag.multiprocessing.get_sharing_strategy()
    >>> ag.multiprocessing.set_sharing_strategy("file_system")
    >>> ag.multiprocessing.get_sharing_strategy()
    'file_system'
    >>> ag.multiprocessing.set_sharing_strategy(before)
    """
    if new_strategy not in _STRATEGIES:
        known = ", ".join(sorted(_STRATEGIES))
        raise AssertionError(f"sharing strategy must be one of {known}, not {new_strategy!r}")
    _sharing._strategy = new_strategy
    if new_strategy == "file_system":
        _sharing.start_tracker()  # before any child is forked


class ProcessException(Exception):
    """
    A process that :func:`spawn` started has failed.

    Attributes
    ----------
    error_index : int
        Which of them.
    pid : int
        Its process number; also ``error_pid``.
    """

    def __init__(self, msg: str, error_index: int, pid: int | None):
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = self.error_pid = pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid), vars(self)


class ProcessRaisedException(ProcessException):
    """A process that :func:`spawn` started raised an exception; the text has its traceback."""

    def __init__(self, msg: str, error_index: int, error_pid: int | None):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """
    A process that :func:`spawn` started was killed, or ended with another status than 0.

    Attributes
    ----------
    exit_code : int
        Its exit status; minus the number of the signal, if one killed it.
    signal_name : str or None
        Such as ``"SIGKILL"``.
    """

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int | None,
        exit_code: int,
        signal_name: str | None = None,
    ):
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple:
        args = self.msg, self.error_index, self.pid, self.exit_code, self.signal_name
        return type(self), args, vars(self)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"number {number}"


def _run(function, index, args, sender):
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        sender.send(traceback.format_exc())
        raise SystemExit(1) from None


class ProcessContext:
    """
    The processes that :func:`spawn` started.

    Attributes
    ----------
    processes : list of Process

    Examples
    --------
    >>> import autograd_cy as ag
    >>> context = ag.multiprocessing.spawn(divmod, (3,), nprocs=2, join=False, start_method="fork")
    >>> len(context.pids())
    2
    >>> while not context.join():
    ...     pass
    """

    def __init__(self, processes: list, receivers: list):
        self.processes = processes
        self._receivers = receivers
        self._errors: dict[int, str] = {}

    def pids(self) -> list:
        """Process numbers."""
        return [p.pid for p in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """
        Wait for processes; if one fails, the others are ended.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for one of them.

        Returns
        -------
        bool
            Whether all have ended.

        Raises
        ------
        ProcessRaisedException
            If a process raised an exception.
        ProcessExitedException
            If one was killed by a signal, or ended with another status than 0.
        """
        running = [i for i, p in enumerate(self.processes) if p.is_alive()]
        if running:
            # A process that fails may wait until its error, which can be long, is read.
            pipes = [self._receivers[i] for i in running if i not in self._errors]
            connection.wait([*(self.processes[i].sentinel for i in running), *pipes], timeout)
        self._read_errors()
        failed = [i for i, p in enumerate(self.processes) if p.exitcode not in (0, None)]
        failed += [i for i in self._errors if i not in failed]
        if not failed:
            return all(p.exitcode == 0 for p in self.processes)
        first = failed[0]
        process = self.processes[first]
        if first in self._errors:
            process.join()
        for p in self.processes:
            if p.is_alive():
                p.terminate()
            p.join()
        if first in self._errors:
            reason = f"\n\n-- Process {first} terminated with the following error:\n"
            raise ProcessRaisedException(reason + self._errors[first], first, process.pid)
        code = process.exitcode
        if code >= 0:
            reason, name = f"process {first} terminated with exit code {code}", None
        else:
            name = _signal_name(-code)
            reason = f"process {first} (pid {process.pid}) terminated with signal {name}"
        raise ProcessExitedException(reason, first, process.pid, code, name)

    def _read_errors(self) -> None:
        for i, receiver in enumerate(self._receivers):
            try:
                if i not in self._errors and receiver.poll():
                    self._errors[i] = receiver.recv()
            except EOFError:
                pass  # it ended without an error


def spawn(
    fn: Callable,
    args: Sequence = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """
    Run ``fn(i, *args)`` in `nprocs` processes.

    Parameters
    ----------
    fn : callable
        Of a module that the processes can import.
    args : sequence
    nprocs : int
    join : bool, default True
        Wait for all of them.
    daemon : bool
        End them with this process.
    start_method : {'spawn', 'fork', 'forkserver'}

    Returns
    -------
    ProcessContext or None
        None after waiting.

    Raises
    ------
    ProcessRaisedException
        If a process raised an exception; the others are ended then.
    ProcessExitedException
        If one was killed by a signal, or ended with another status than 0; the same.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.multiprocessing.spawn(divmod, (3,), nprocs=2, start_method="fork")
    """
    standard = _standard.get_context(start_method)
    processes, receivers = [], []
    for i in range(nprocs):
        receiver, sender = standard.Pipe(False)
        run_args = (fn, i, tuple(args), sender)
        process = standard.Process(  # type: ignore[attr-defined]
            target=_run, args=run_args, daemon=daemon
        )
        with _unbound():
            process.start()
        sender.close()
        processes.append(process)
        receivers.append(receiver)
    context = ProcessContext(processes, receivers)
    if not join:
        return context
    while not context.join():
        pass
    return None
