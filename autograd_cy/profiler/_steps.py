"""Recording by steps of a program: schedules, the profile that follows them, handlers."""

from __future__ import annotations

import enum
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy.profiler._averages import EventList
from autograd_cy.profiler._columns import Columns, joined
from autograd_cy.profiler._counts import KinetoStepTracker
from autograd_cy.profiler._kernels import usable as kernels_usable
from autograd_cy.profiler._labels import record_function
from autograd_cy.profiler._reports import Reports
from autograd_cy.profiler._session import Session, ended_by
from autograd_cy.profiler._trace import new_trace_id

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
    "trace_handler",
]

STEPS = "ProfilerStep"
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


class ProfilerAction(enum.Enum):
    """The action of the profiler in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """The devices that can be recorded: the CPU, and CUDA where GPUs can be used."""

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5


RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """
    Return the activities that can be recorded.

    Returns
    -------
    set of ProfilerActivity

    Examples
    --------
    >>> from autograd_cy.profiler import ProfilerActivity, supported_activities
    >>> ProfilerActivity.CPU in supported_activities()
    True
    """
    return {ProfilerActivity.CPU} | ({ProfilerActivity.CUDA} if kernels_usable() else set())


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """
    Return the schedule of a profile: after `skip_first` steps, cycles of waiting, warming up and
    recording.

    Parameters
    ----------
    wait, warmup, active : int
        Steps of each part of a cycle.
    repeat : int, default 0
        Number of cycles; 0 for no end.
    skip_first : int, default 0
    skip_first_wait : int, default 0
        If not 0, the first cycle has no waiting.

    Returns
    -------
    callable
        From the number of a step to a :class:`ProfilerAction`.

    Raises
    ------
    AssertionError
        If a number is out of range.

    Examples
    --------
    >>> from autograd_cy.profiler import schedule
    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        _warn("Profiler won't be using warmup, this can skew profiler results")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * length:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def _checked_key(function: str, key: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{function}: the key is a str, not {type(key).__name__}")
    return key


class profile(Reports):
    """
    Record some steps of a program.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        Default: all that are supported.
    schedule : callable, optional
        From the number of a step to a :class:`ProfilerAction`; default: record everything.
    on_trace_ready : callable, optional
        Called with the profile when a cycle of the schedule has ended.
    record_shapes, profile_memory, with_stack, with_flops, with_modules : bool
        As for :class:`autograd_cy.autograd.profiler.profile`.
    acc_events : bool, default False
        Keep the events of earlier cycles.
    custom_trace_id_callback : callable, optional
        Gives the name of each trace.
    use_cuda : bool, optional
        Deprecated; True is `activities` with CUDA.
    experimental_config, execution_trace_observer, post_processing_timeout_s
        Taken, and change nothing.

    Attributes
    ----------
    step_num : int
        Number of the step that runs.

    Raises
    ------
    AssertionError
        If no activity is supported; on asking for results before the start.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.profiler import profile, schedule
    >>> x = ag.ones(3)
    >>> ready = []
    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> with profile(schedule=plan, on_trace_ready=lambda p: ready.append(p.step_num)) as prof:
    ...     for step in range(6):
    ...         y = x * 2
    ...         prof.step()
    >>> ready, [a.count for a in prof.key_averages() if a.key == "ProfilerStep*"]
    ([4], [2])
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = set(supported_activities() if activities is None else activities)
        if not self.activities & supported_activities():
            raise AssertionError(
                f"No valid profiler activities found; supported are {supported_activities()}"
            )
        if use_cuda:
            _warn(
                "`use_cuda` is deprecated, use `activities` argument instead",
                FutureWarning,
            )
            self.activities |= supported_activities() & {ProfilerActivity.CUDA}
        self.on_trace_ready = on_trace_ready
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self.custom_trace_id_callback = custom_trace_id_callback
        self._schedule = schedule
        self._options: dict[str, Any] = {
            "record_shapes": record_shapes or with_flops,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "with_flops": with_flops,
            "with_modules": with_modules,
        }
        if ProfilerActivity.CUDA in self.activities & supported_activities():
            self._options["use_device"] = "cuda"
        self._metadata: dict[str, Any] = {}
        self._trace_id: str | None = None
        self._running = False
        self._session: Session | None = None
        self._label: record_function | None = None
        self._parts: list[Columns] = []
        self._result: Columns | None = None

    # --- the course of recording ----------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        ended_by(self.stop, error)

    def _planned(self, step: int) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(step)

    def start(self) -> None:
        """
        Begin with step 0.

        Raises
        ------
        RuntimeError
            If it has begun already.
        """
        if self._running:
            raise RuntimeError("profile.start: it runs already; call stop() first")
        self._running = True
        self.step_num = 0
        self._parts.clear()
        self._result = Columns(options=self._options)
        KinetoStepTracker.init_step_count(STEPS)
        self.current_action = self._planned(0)
        if self.current_action in RECORDING:
            self._begin()
        self._begin_label()

    def stop(self) -> None:
        """
        End; what was being recorded goes to `on_trace_ready`.

        Raises
        ------
        AssertionError
            Before the start.
        """
        if not self._running:
            if self._result is None:
                raise AssertionError("Profiler must be initialized before stopping trace")
            return
        self._end_label()
        recording = self.current_action in RECORDING
        if recording:
            self._end()  # after an error here, stop() may be called again
        self._running = False
        KinetoStepTracker.erase_step_count(STEPS)
        if recording:
            self._ready()
        self.current_action = ProfilerAction.NONE

    def step(self) -> None:
        """
        Say that a step has ended and the next one begins.

        Raises
        ------
        AssertionError
            Before the start.
        """
        if not self._running:
            raise AssertionError("Profiler must be initialized before stepping; call start()")
        self._end_label()
        before = self.current_action
        self.step_num += 1
        self.current_action = after = self._planned(self.step_num)
        KinetoStepTracker.increment_step(STEPS)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            self._ready()
        elif before is ProfilerAction.RECORD and after not in RECORDING:
            _warn(
                f"profile: the schedule goes from RECORD to {after.name}, so what was recorded "
                "is given to nobody; let a cycle end with RECORD_AND_SAVE",
            )
            self._end()
        if after in RECORDING and (before is not ProfilerAction.RECORD):
            self._begin()
        self._begin_label()

    def _begin_label(self) -> None:
        # Without a schedule, steps mean nothing; without a session, nobody sees them.
        if self._schedule is not None and self._session is not None:
            self._label = record_function(f"{STEPS}#{self.step_num}")
            self._label.__enter__()

    def _end_label(self) -> None:
        if self._label is not None:
            self._label.__exit__(None, None, None)
            self._label = None

    def _begin(self) -> None:
        if not self.acc_events:
            self._parts.clear()
        named = self.custom_trace_id_callback
        self._trace_id = named() if named is not None else new_trace_id()
        self._resume()

    def _resume(self) -> None:
        self._session = Session(**self._options)
        self._session.start()

    def _pause(self) -> None:
        if self._session is not None:
            self._parts.append(self._session.stop())
            self._session = None

    def _end(self) -> None:
        self._pause()
        if self._parts:
            self._result = joined(self._parts)

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """
        Pause recording in a step, or go on.

        Parameters
        ----------
        enable : bool
        activities : iterable of ProfilerActivity
            Nothing happens unless the CPU is among them.
        """
        if ProfilerActivity.CPU not in activities or self.current_action not in RECORDING:
            return
        if not enable:
            self._pause()
        elif self._session is None and self._running:
            self._resume()

    # --- results --------------------------------------------------------------------------------

    def _columns(self, purpose: str) -> Columns:
        if self._result is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        return self._result

    @property
    def profiler(self) -> profile | None:
        """Itself, once it was started: programs ask ``prof.profiler`` for tables, too."""
        return None if self._result is None else self

    @property
    def function_events(self) -> EventList:
        """As :meth:`events`, under the name that the older interface has for it."""
        return self.events()

    def events(self) -> EventList:
        """
        Return the events of the last cycle that has ended.

        Returns
        -------
        EventList

        Raises
        ------
        AssertionError
            Before the start.
        """
        return self._report("accessing events").events

    def export_chrome_trace(self, path: str | Path, use_python_export: bool = False) -> None:  # type: ignore[override]
        """
        Write JSON that chrome://tracing and Perfetto open.

        Parameters
        ----------
        path : str or Path
            Gzipped if it ends in ``.gz``.
        use_python_export : bool
            Taken, and changes nothing.
        """
        super().export_chrome_trace(path)

    def _trace_head(self) -> tuple[Mapping[str, Any], str | None]:
        return self._metadata, self._trace_id

    def add_metadata(self, key: str, value: str) -> None:
        """
        Put a text into the top level of the trace.

        Parameters
        ----------
        key, value : str

        Raises
        ------
        TypeError
            If the key is no string.
        """
        self._metadata[_checked_key("add_metadata", key)] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """
        Put a value into the top level of the trace.

        Parameters
        ----------
        key : str
        value : str
            The value as JSON.

        Raises
        ------
        TypeError
            If the key is no string.
        ValueError
            If the value is no JSON.
        """
        key = _checked_key("add_metadata_json", key)
        try:
            self._metadata[key] = json.loads(value)
        except ValueError as error:
            raise ValueError(f"add_metadata_json: {value!r} is no JSON ({error})") from None

    preset_metadata_json = add_metadata_json

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """
        Let a function name the next traces.

        Parameters
        ----------
        callback : callable
        """
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """
        Return the name of the trace, or None before the first one.

        Returns
        -------
        str or None
        """
        return self._trace_id

    def __str__(self) -> str:
        return "<unfinished autograd_cy.profiler.profile>" if self._result is None else self.table()


# --- handlers -------------------------------------------------------------------------------------


def rank_of_process() -> int | None:
    """This process's number among those of an MPI program or a launcher; None if it is alone."""
    for name in RANKS:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None


def worker_of_process() -> str:
    """Host, process and, under MPI, rank."""
    rank = rank_of_process()
    worker = f"{platform.node()}_{os.getpid()}"
    return worker if rank is None else f"{worker}_rank{rank}"


def tensorboard_trace_handler(
    dir_name: str | Path,
    worker_name: str | None = None,
    use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[Any], None]:
    """
    Return a handler that writes each trace into a folder, where TensorBoard looks for it.

    Parameters
    ----------
    dir_name : str or Path
        Made if it isn't there.
    worker_name : str, optional
        Default: host and process, and the rank under MPI.
    use_gzip : bool, default False
    use_python_export : bool
        Taken, and changes nothing.

    Returns
    -------
    callable
        For `on_trace_ready`; it writes ``<worker>.<ns>.pt.trace.json`` and, compressed, ``.gz``.

    Examples
    --------
    >>> import os
    >>> import autograd_cy as ag
    >>> with ag.profiler.profile(on_trace_ready=ag.profiler.tensorboard_trace_handler("traces")):
    ...     x = ag.ones(2) * 2
    >>> len(os.listdir("traces"))
    1
    """

    def handler(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or worker_of_process()
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


def trace_handler(dir_name: str | Path, table: bool = True) -> Callable[[Any], None]:
    """
    Return a handler that writes each trace, and its averages as a table.

    Parameters
    ----------
    dir_name : str or Path
        Made if it isn't there.
    table : bool, default True
        Write the table too.

    Returns
    -------
    callable
        For `on_trace_ready`; it writes ``<worker>.<ns>.trace.json`` and ``<worker>.<ns>.txt``.

    Examples
    --------
    >>> import os
    >>> import autograd_cy as ag
    >>> with ag.profiler.profile(on_trace_ready=ag.profiler.trace_handler("traces_and_tables")):
    ...     x = ag.ones(2) * 2
    >>> len(os.listdir("traces_and_tables"))
    2
    """

    def handler(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        base = os.path.join(dir_name, f"{worker_of_process()}.{time.time_ns()}")
        prof.export_chrome_trace(f"{base}.trace.json")
        if table:
            text = prof.key_averages().table(sort_by="self_cpu_time_total")
            Path(f"{base}.txt").write_text(text, encoding="utf-8")

    return handler
