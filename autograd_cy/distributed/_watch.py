"""Waiting for other ranks: without an end only where nothing is wrong, and with names where it is.

Every call that needs other ranks starts a non-blocking operation and waits for it here, by asking
MPI again and again, so that signals, time-outs and messages of other ranks are seen. Ranks talk
about their state through a communicator of their own:

- ``query``: a rank whose time is out asks where the others are; those that wait answer.
- ``bye``: a rank has ended, with the number of calls that it has made in each group. That is an
  error only for those that wait for a later call of it.
- ``report``: a rank is about to end the job, and says why; the others stay silent.

A rank that computes, is stopped or is gone gives no answer, which says as much. The job ends by
``MPI_Abort``, since ranks that wait in a call which others have left can't go on. Under ``srun``
that ends one process only, so that the rank which reports has SLURM end the step.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import traceback
from types import TracebackType
from typing import Any

from autograd_cy._C import rank_messages
from autograd_cy._C.rank_end import kill_later
from autograd_cy._C.rank_messages import Call
from autograd_cy._environment.launcher import Launch, step_of_srun
from autograd_cy._environment.threads import cgroup_path, cpu_quota

from ._background import Background, is_wanted

__all__ = [
    "OF_PARENT",
    "Call",
    "EverywhereError",
    "Watch",
    "cancel_step",
]

#: The error of a forked process.
OF_PARENT = (
    "distributed: a process that was forked, such as a worker of a DataLoader, can't "
    "communicate: MPI belongs to its parent; communicate there"
)

# Tests before the processor is offered to others, and the seconds until a rank begins to sleep.
_TESTS = 100
_AWAKE = 0.002
#: The same from the moment at which all ranks have come and data move.
_AWAKE_MOVING = 1.0
#: Longest pause between two tests, and the time between two looks at messages, in seconds.
_PAUSE = 0.001
_LOOK = 0.05
#: Seconds until ranks are asked whether they wait in another call; each further wait is longer.
_QUERY = 1.0
#: How long answers, and the end of the job by another rank, are waited for, in seconds.
_ANSWERS = 2.0
_OTHERS_REPORT = 5.0
#: How long a message of a rank that has ended may still be on its way, in seconds.
_ON_ITS_WAY = 2.0
#: How long SLURM may take to end a step, in seconds.
_CANCELLED = 20.0
#: How long MPI may take to end this process, in seconds.
_ABORTED = 3.0
_TAG = 1


class EverywhereError(RuntimeError):
    """An error that every rank of the job raises alike; one of them prints it."""


class Watch:
    """The state of this rank beside the others, and how it waits.

    Parameters
    ----------
    mpi : module
        ``mpi4py.MPI``.
    counts : dict
        Calls so far by number of the group, kept by the groups.
    """

    def __init__(self, mpi: Any, counts: dict[int, int]) -> None:
        self._mpi = mpi
        self._comm = mpi.COMM_WORLD.Dup()
        self._comm.Set_errhandler(mpi.ERRORS_RETURN)
        self.rank = self._comm.Get_rank()
        self.size = self._comm.Get_size()
        self._counts = counts
        self._ended: dict[int, dict[int, int]] = {}
        self._ended_since: dict[int, float] = {}
        self._answers: dict[int, tuple[str, int, int]] = {}
        self._reported = False
        #: The lowest rank that has reported.
        self._reporter = self.size
        self._sent: list[Any] = []
        #: Requests whose wait an exception has ended, with their memory, which MPI may still use.
        self.abandoned: list[Any] = []
        #: Operations by messages that are under way.
        self.exchanges = rank_messages.exchanges
        self._background = Background(self._go_on)
        self._call: Call | None = None
        self._at_end = False
        self.is_of_parent = False
        mask, quota = tuple(sorted(os.sched_getaffinity(0))), cpu_quota()
        place = socket.gethostname(), mask, cgroup_path(), _process()
        places = self._comm.allgather(place)
        self.hosts: list[str] = [each[0] for each in places]
        self._has_thread = is_wanted(self.hosts) and mpi.Query_thread() == mpi.THREAD_MULTIPLE
        #: Processes of other ranks that this one sees, with the times of their start, by rank.
        self._processes: dict[int, tuple[int, int]] = {
            rank: (number, start)
            for rank, (*_, (space, number)) in enumerate(places)
            if rank != self.rank and space and space == place[3][0]
            if (start := _start_of(number))
        }
        self._gone_since: dict[int, float] = {}
        #: Processors that this rank may use, divided by the ranks that may use the same ones.
        self.processors = max(1, len(mask) // sum(each[:2] == place[:2] for each in places))
        if quota is not None:
            ranks = sum(each[::2] == place[::2] for each in places)
            self.processors = max(1, min(self.processors, int(quota / ranks)))

    # --- messages -------------------------------------------------------------------------------

    def _send(self, rank: int, *message: Any) -> None:
        self._sent = [request for request in self._sent if not request.Test()]
        self._sent.append(self._comm.isend(message, rank, _TAG))

    def look(self) -> None:
        """Read the messages of other ranks, and answer."""
        while True:
            message = self._comm.improbe(tag=_TAG)
            if message is None:
                return
            status = self._mpi.Status()
            kind, *values = message.recv(status=status)
            source = status.Get_source()
            if kind == "query":
                self._send(source, "answer", self._place())
            elif kind == "answer":
                self._answers[source] = values[0]
            elif kind == "bye":
                self._ended[source] = values[0]
                self._ended_since[source] = time.monotonic()
            elif kind == "report":
                self._reported = True
                self._reporter = min(self._reporter, source)

    def _place(self) -> tuple[str, int, int]:
        """Return where this rank is: a text, and group and number of its call."""
        call = self._call
        if self._at_end:
            return "has ended", -1, -1
        if call is None:
            return "waits in another call", -1, -1
        return f"waits in {call}", call.group, call.number

    def _query(self, call: Call) -> None:
        """Ask the other ranks of a call where they are."""
        for rank in call.peers:
            if rank != self.rank and rank not in self._ended:
                self._send(rank, "query")

    def _gone(self, ranks: Any) -> int | None:
        """Return a rank of this host whose process is gone without a word, None without one."""
        now = time.monotonic()
        for rank in ranks:
            process = self._processes.get(rank)
            if process is None or rank in self._ended:
                continue
            if _start_of(process[0]) == process[1]:
                self._gone_since.pop(rank, None)
            elif now - self._gone_since.setdefault(rank, now) > _ON_ITS_WAY:
                return rank
        return None

    # --- waiting --------------------------------------------------------------------------------

    def progress(self) -> None:
        """Let operations by messages go on: another rank may wait for any of them."""
        self.refuse_in_child()
        rank_messages.progress()

    def refuse_in_child(self) -> None:
        """Refuse a forked process, whose calls would take the messages of its parent.

        Raises
        ------
        RuntimeError
        """
        if self.is_of_parent:
            raise RuntimeError(OF_PARENT)

    def _go_on(self) -> None:
        """Let all operations go on, from another thread."""
        # Those who wait for an operation get its error.
        with contextlib.suppress(Exception):
            self.progress()
            # MPI goes on with all that is under way whenever it is asked about anything.
            self._comm.Iprobe(tag=_TAG)

    def begin_background(self) -> None:
        """Let operations go on by a thread from now on, where that helps and MPI allows threads."""
        if self._has_thread:
            self._background.begin()

    def end_background(self) -> None:
        """Leave all operations to this thread, which is about to wait."""
        self._background.end()

    def wait(self, request: Any, call: Call) -> None:
        """Wait until a request is complete.

        Parameters
        ----------
        request : mpi4py.MPI.Request
            Or an object with ``Test()``. If it has ``is_moving``, this says that all ranks have
            come and data move, which MPI does only while it is asked: then don't sleep.
        call : Call
            Named in messages.
        """
        self.refuse_in_child()
        before = self._call
        try:
            if rank_messages.test(request, _TESTS):
                return
            self._call = call
            self._wait_long(call, request)
        except self._mpi.Exception as error:
            self.abandoned.append(request)
            raise self.failure(call, error) from error
        except BaseException:
            self.abandoned.append(request)
            raise
        finally:
            self._call = before

    def failure(self, call: Call, error: Exception) -> RuntimeError:
        """Return the error of a call that MPI has refused."""
        return RuntimeError(
            f"{call}: MPI can't do it ({error}); a rank sends another number of elements than "
            "this one expects, or the call is another one there"
        )

    def _wait_long(self, call: Call, request: Any) -> None:
        start = now = time.monotonic()
        awake, was_moving = start + _AWAKE, False
        next_look, next_query, pause = start + _LOOK, start + _QUERY, 2e-5
        next_search = start + _QUERY
        while not rank_messages.test(request):
            now = time.monotonic()
            if not was_moving and getattr(request, "is_moving", False):
                was_moving, awake = True, now + _AWAKE_MOVING
            if now < awake:
                os.sched_yield()
                continue
            if now >= next_look:
                next_look = now + _LOOK
                self.look()
                self._check(call, now, now - start)
                if now >= next_search:
                    next_search = now + _QUERY
                    self._end_if_gone(str(call), call.peers)
                if now >= next_query and call.number:
                    next_query = now + 2 * (now - start)
                    self._query(call)
            time.sleep(pause)
            pause = min(pause * 1.2, _PAUSE)

    def _check(self, call: Call, now: float, waited: float) -> None:
        for rank in call.peers:
            counts = self._ended.get(rank)
            if counts is None:
                continue
            missed = counts.get(call.group, 0) < call.number
            if missed or (call.number == 0 and now - self._ended_since[rank] > _ON_ITS_WAY):
                hint = "" if missed else "; a message of another dtype or tag isn't taken"
                self._end_job(
                    f"{call} waits for rank {rank}{self._host(rank)}, which has ended{hint}"
                )
        if self._reported:
            self._end_silently()
        for rank, (place, group, number) in self._answers.items():
            if group == call.group and number == call.number > 0 and place != f"waits in {call}":
                self._end_job(
                    f"{call} waits for rank {rank}{self._host(rank)}, which {place}. Ranks must "
                    "make the "
                    "same calls in the same order, with tensors of the same shape and dtype"
                )
        self._answers.clear()
        if waited > call.timeout:
            self._end_job(self._why_late(call, waited))

    def _end_if_gone(self, text: str, ranks: Any) -> None:
        gone = self._gone(ranks)
        if gone is not None:
            self._end_job(
                f"{text} waits for rank {gone}{self._host(gone)}, whose process "
                f"{self._processes[gone][0]} is gone: it was killed, such as for want of memory, "
                "or has ended by os._exit"
            )

    def place(self) -> Launch:
        """Return the place of this rank among the others, as a launcher would."""
        host = self.hosts[self.rank]
        local_rank, local_size = self.hosts[: self.rank].count(host), self.hosts.count(host)
        return Launch("MPI", self.rank, self.size, local_rank, local_size)

    def _host(self, rank: int) -> str:
        return f" on {self.hosts[rank]}"

    def missing(self, call: Call) -> dict[int, str]:
        """Return where the other ranks of a call are that don't wait in it, by rank."""
        self._answers.clear()
        others = [rank for rank in call.peers if rank != self.rank]
        self._query(call)
        until = time.monotonic() + _ANSWERS
        while time.monotonic() < until and not all(
            rank in self._answers or rank in self._ended for rank in others
        ):
            self.look()
            time.sleep(_PAUSE)
        places = {}
        for rank in others:
            nowhere = "gives no answer: it computes, is stopped or is gone"
            place = self._answers.get(rank, (nowhere, -1, -1))[0]
            if rank in self._ended:
                place = "has ended"
            if place != f"waits in {call}":
                places[rank] = place
        return places

    def _why_late(self, call: Call, waited: float) -> str:
        places = self.missing(call)
        if places:
            where = "; ".join(
                f"rank {rank}{self._host(rank)} {place}" for rank, place in places.items()
            )
        else:
            where = "all ranks wait in it: the network, or a rank that was gone for a while"
        return (
            f"{call} has waited {waited:.0f} s, its timeout. Not there: {where}. Ranks must make "
            "the same calls in the same order; for work that takes longer, give "
            "init_process_group(timeout=...) more time"
        )

    # --- the end --------------------------------------------------------------------------------

    def _end_job(self, text: str) -> None:
        """Print a message on one rank, the lowest that has one, and end the job on all."""
        until = time.monotonic() + 0.3 * min(self.rank, 10)
        while time.monotonic() < until and not self._reported:
            self.look()
            time.sleep(_PAUSE)
        if self._reported:
            self._end_silently()
        self._tell_report()
        stack = "".join(traceback.format_list(_own_frames()))
        sys.stdout.flush()
        sys.stderr.write(
            f"autograd_cy.distributed: rank {self.rank}{self._host(self.rank)}: {text}.\n"
            f"Rank {self.rank} is here:\n{stack}"
        )
        self.abort()

    def _tell_report(self) -> None:
        for rank in range(self.size):
            if rank != self.rank:
                self._send(rank, "report")
        # The messages go out while MPI is asked.
        until = time.monotonic() + 0.1
        while time.monotonic() < until and not all(request.Test() for request in self._sent):
            time.sleep(_PAUSE)

    def _end_silently(self) -> None:
        time.sleep(_OTHERS_REPORT)
        self.abort()

    def abort(self) -> None:
        """End all ranks of the job with exit status 1, or have SLURM kill them."""
        sys.stdout.flush()
        sys.stderr.flush()
        if not self._reported or self.rank < self._reporter:  # one asks for all
            cancel_step()
        # MPICH would first wait for messages to other hosts, where a stopped rank takes none.
        kill_later(_ABORTED)
        self._comm.Abort(1)

    def on_exception(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
        print_error: Any,
    ) -> None:
        """Print an exception that nothing has caught, and end the job: the others can't know."""
        if isinstance(error, EverywhereError) and self.rank:
            until = time.monotonic() + _OTHERS_REPORT
            while time.monotonic() < until and not self._reported:
                self.look()
                time.sleep(_PAUSE)
            if self._reported:
                self._end_silently()
        self._tell_report()
        sys.stderr.write(
            f"autograd_cy.distributed: an exception on rank {self.rank}{self._host(self.rank)} "
            "ends the job:\n"
        )
        print_error(kind, error, trace)
        self.abort()

    def install(self) -> None:
        """Let uncaught exceptions and the end of Python go by this object."""
        print_error = sys.excepthook

        def hook(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            if self.is_of_parent:
                print_error(kind, error, trace)
            else:
                self.on_exception(kind, error, trace, print_error)

        sys.excepthook = hook
        # After the one of mpi4py, so that it runs before.
        atexit.register(self.leave)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Leave MPI to the parent, in a process that was forked, such as a loader's worker."""
        self.is_of_parent = True
        # The thread isn't here, and may have had the lock.
        self._has_thread, self._background = False, Background(self._go_on)
        atexit.unregister(self.leave)

    def is_over(self) -> bool:
        """Return whether MPI isn't there any more for this process."""
        return self.is_of_parent or self._mpi.Is_finalized()

    def leave(self) -> None:
        """Tell the others that this rank ends, and wait for them: MPI ends for all at once."""
        if self.is_over():
            return
        self._at_end = True
        self.end_background()
        for rank in range(self.size):
            if rank != self.rank:
                self._send(rank, "bye", dict(self._counts))
        pause, next_search = _PAUSE, time.monotonic() + _QUERY
        while len(self._ended) < self.size - 1 or not all(r.Test() for r in self._sent):
            self.look()
            self.progress()
            if self._reported:
                self._end_silently()
            if time.monotonic() > next_search:
                next_search += _QUERY
                self._end_if_gone("the end of the program", range(self.size))
            time.sleep(pause)
            pause = min(1.5 * pause, _LOOK)


def _own_frames() -> list[Any]:
    """Return the frames of the caller that aren't of this module."""
    return [frame for frame in traceback.extract_stack() if frame.filename != __file__]


def _start_of(process: int) -> int:
    """Return the time at which a process has started, in ticks since boot; 0 if it is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name of the program, in parentheses, may have blanks.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def _process() -> tuple[str, int]:
    """Return the number of this process and where it counts, an empty text if that isn't known."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            space = f"{file.read().strip()} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        space = ""
    return space, os.getpid()


def cancel_step() -> None:
    """Kill the step of SLURM whose tasks are the ranks; nothing without srun or scancel."""
    step, program = step_of_srun(), shutil.which("scancel")
    if step is None or program is None:
        return
    command = [program, "--signal=KILL", step]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_CANCELLED)
    except (OSError, subprocess.SubprocessError):
        return
    if done.returncode == 0:  # the end is on its way
        time.sleep(_OTHERS_REPORT)
