"""The profiler as in ``torch.autograd.profiler``: a block is recorded, then asked.

What goes beyond torch (`summary`, `group`, `memory`, pictures) is described in docs/profiler.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy.profiler._averages import EventList
from autograd_cy.profiler._columns import Columns, joined
from autograd_cy.profiler._counts import EnforceUnique, KinetoStepTracker
from autograd_cy.profiler._events import MEMORY_EVENT_NAME, FunctionEvent, MemRecordsAcc
from autograd_cy.profiler._kernels import usable as kernels_usable
from autograd_cy.profiler._labels import record_function
from autograd_cy.profiler._ranges import emit_itt, emit_nvtx
from autograd_cy.profiler._reports import Reports
from autograd_cy.profiler._session import MAX_EVENTS, Session, checked_events, ended_by
from autograd_cy.profiler._tools import load_nsys, load_nvprof, parse_nvprof_trace
from autograd_cy.profiler._trace import new_trace_id

__all__ = [
    "MEMORY_EVENT_NAME",
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "load_nsys",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]

DEVICES = ("cuda", "xpu", "mtia", "hpu", "privateuseone")


def kineto_available() -> bool:
    """
    Return whether traces, schedules and stacks work: yes, and without a library of that name.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.autograd.profiler.kineto_available()
    True
    """
    return True


class profile(Reports):
    """
    Record what a block does, and answer questions about it afterwards.

    Parameters
    ----------
    enabled : bool, default True
        Otherwise nothing happens, and all results are empty.
    use_cuda : bool, default False
        Deprecated; True is ``use_device="cuda"``.
    use_device : str, optional
        ``"cuda"``: record times of kernels and copies on GPUs, too. Where there is none, a warning.
    record_shapes : bool, default False
        Sizes and values of arguments.
    with_flops : bool, default False
        Operations of products, convolutions, sums and products of elements.
    profile_memory : bool, default False
        Bytes allocated and released.
    with_stack : bool, default False
        Lines of the program.
    with_modules : bool, default False
        Paths of modules.
    use_cpu : bool, default True
        Has to be true, or there is nothing to record; the CPU is recorded in any case.
    use_kineto, experimental_config, post_processing_timeout_s, activity_filters, use_mtia
        Taken, and change nothing.
    acc_events : bool, default False
        Keep the events of earlier blocks of this object.
    custom_trace_id_callback : callable, optional
        Gives the name of the trace.
    all_threads : bool, default True
        Record all Python threads, not only the one that enters.
    max_events : int
        Later events are dropped, and counted.

    Raises
    ------
    AssertionError
        If nothing is to be recorded.
    RuntimeError
        On entering an object twice, or asking it before the block has ended.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(3, requires_grad=True)
    >>> with ag.autograd.profiler.profile() as prof:
    ...     (x * 2).sum().backward()
    >>> [a.count for a in prof.key_averages() if a.key == "MulBackward0"]
    [1]
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Mapping[Any, Any] | None = None,
        use_mtia: bool = False,
        all_threads: bool = True,
        max_events: int = MAX_EVENTS,
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.use_cpu = use_cpu
        self.use_device: str | None = None
        self.custom_trace_id_callback = custom_trace_id_callback
        self.trace_id = ""
        self.entered = False
        self._all_threads = all_threads
        self._max_events = checked_events(max_events)
        self._session: Session | None = None
        self._parts: list[Columns] = []
        options = {"profile_memory": profile_memory, "with_stack": with_stack}
        self._result: Columns | None = None if enabled else Columns(options=options)
        if not enabled:
            return
        if use_cuda:
            _warn(
                "The attribute `use_cuda` will be deprecated soon, please use "
                "``use_device = 'cuda'`` instead.",
                FutureWarning,
            )
            use_device = "cuda"
        if use_device == "cuda" and kernels_usable():
            self.use_device = use_device
        elif use_device is not None:
            if use_device in DEVICES:
                name = use_device.upper()
                text = f"{name} is not available, disabling {name} profiling"
            else:
                text = f"The {use_device} is not a valid device option."
            _warn(text)
        if not use_cpu and self.use_device is None:
            raise AssertionError(
                "profile: nothing to record with use_cpu=False; leave it out, there is no device "
                "other than the CPU"
            )

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._start()
        return self

    def _start(self) -> None:
        named = self.custom_trace_id_callback
        self.trace_id = named() if named is not None else new_trace_id()
        self._session = Session(
            record_shapes=self.record_shapes,
            with_flops=self.with_flops,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_modules=self.with_modules,
            use_device=self.use_device,
            all_threads=self._all_threads,
            max_events=self._max_events,
        )
        self._session.start()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        ended_by(self._stop, error)

    def _stop(self) -> None:
        if self._session is not None:
            self._parts.append(self._session.stop())
            self._session = None
        if self._parts:  # also of one that ends while it pauses
            self._result = joined(self._parts)

    def _columns(self, purpose: str) -> Columns:
        if self._result is None or self._session is not None:
            raise RuntimeError(f"Profiler didn't finish running before {purpose}")
        return self._result

    def _trace_head(self) -> tuple[Mapping[str, Any], str | None]:
        return {}, self.trace_id or None

    @property
    def function_events(self) -> EventList:
        """The events as objects, made when first asked for."""
        return self._report("accessing events").events

    def toggle_collection_dynamic(self, enabled: bool, activities: Any) -> None:
        """
        Pause recording in the block, or go on.

        Parameters
        ----------
        enabled : bool
        activities : iterable
            Nothing happens unless the CPU is among them.
        """
        if not self.entered or self._result is not None:
            return  # it has not begun, or has ended
        if not any(getattr(a, "name", a) == "CPU" for a in activities):
            return
        if enabled and self._session is None:
            self._start()
        elif not enabled and self._session is not None:
            self._parts.append(self._session.stop())
            self._session = None

    def __str__(self) -> str:
        if self._result is None or self._session is not None:
            return "<unfinished autograd_cy.autograd.profile>"
        return self.table()

    def __repr__(self) -> str:
        if self._result is None or self._session is not None:
            return "<unfinished autograd_cy.autograd.profile>"
        return repr(self.function_events)
