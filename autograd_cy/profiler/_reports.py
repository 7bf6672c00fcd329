"""The methods that all profiles share: tables, averages, traces, pictures of a session."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from autograd_cy.profiler._averages import EventList, FunctionEventAvg, averages_of, total_of
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._events import FunctionEvent
from autograd_cy.profiler._kernels import kernel_events
from autograd_cy.profiler._spans import Spans

if TYPE_CHECKING:
    from autograd_cy.profiler._compare import Changes
    from autograd_cy.profiler._groups import Groups
    from autograd_cy.profiler._memory import Memory

__all__ = ["Loaded", "Reports", "load"]

_Options = ParamSpec("_Options")


class _Session:
    """The columns of a session, and what has been made of them so far."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._spans: Spans | None = None
        self._events: EventList | None = None

    @property
    def spans(self) -> Spans:
        if self._spans is None:
            self._spans = Spans(self.columns)
        return self._spans

    @property
    def events(self) -> EventList:
        if self._events is None:
            events = self.spans.events()
            self._events = self.listed(events + kernel_events(self.spans, events))
        return self._events

    def listed(self, events: list) -> EventList:
        options = self.columns.options
        result = EventList(
            events,
            use_device=options.get("use_device"),
            profile_memory=bool(options.get("profile_memory")),
            with_flops=bool(options.get("with_flops")),
        )
        notes = []
        if self.columns.dropped:
            notes.append(f"{self.columns.dropped:,} events were dropped: raise max_events")
        failed = int(self.columns.failed.sum())
        if failed:
            notes.append(f"{failed:,} events were left by an exception")
        unfinished = int(self.columns.unfinished.sum())
        if unfinished:
            notes.append(f"{unfinished:,} events were open when the session ended, and end there")
        result._note = "\n".join(notes)
        return result

    def event_at(self, place: int) -> FunctionEvent:
        return self.events[place]


def _with_options_of(
    method: Callable[Concatenate[EventList, _Options], str],
) -> Callable[[Callable[..., str]], Callable[Concatenate[Reports, _Options], str]]:
    """Give a method that forwards its arguments the signature of the other one."""

    def shown(function: Any) -> Any:
        function.__signature__ = inspect.signature(method)
        return function

    return shown


class Reports:
    """Tables, pictures and files of a session; a profile, or a file read again."""

    _cached_report: _Session | None = None

    def _columns(self, purpose: str) -> Columns:
        """Return the columns of the session, or an error of the type that suits."""
        raise NotImplementedError

    def _report(self, purpose: str) -> _Session:
        columns = self._columns(purpose)
        if self._cached_report is None or self._cached_report.columns is not columns:
            self._cached_report = _Session(columns)
        return self._cached_report

    # --- as in torch ----------------------------------------------------------------------------

    @_with_options_of(EventList.table)
    def table(self, *args: Any, **options: Any) -> str:
        """
        Return all events as a table; see :meth:`EventList.table`.

        Parameters
        ----------
        sort_by : str, optional
        row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width : int
        header : str, optional
        top_level_events_only : bool, default False
        time_unit : {"s", "ms", "us"}, optional
        short_names, rates : bool, default False

        Returns
        -------
        str
        """
        return self._report("printing a table").events.table(*args, **options)

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """
        Return the sums over events of one name, in the order of first appearance.

        Parameters
        ----------
        group_by_input_shape : bool, default False
            Events of other shapes apart.
        group_by_stack_n : int, default 0
            Events of another place in the program apart, by that many frames.
        group_by_overload_name : bool, default False
            Nothing here has overloads; taken for programs that pass it.

        Returns
        -------
        EventList of FunctionEventAvg
        """
        session = self._report("getting key averages")
        return session.listed(
            averages_of(session.spans, group_by_input_shape, group_by_stack_n, session.event_at)
        )

    def total_average(self) -> FunctionEventAvg:
        """
        Return the sums over all events; the key is "Total".

        Returns
        -------
        FunctionEventAvg
        """
        return total_of(self._report("getting the total average").spans)

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the self times, in microseconds."""
        spans = self._report("summing times").spans
        return float(spans.self_time.sum()) / 1e3

    def export_chrome_trace(
        self,
        path: str | Path,
        metadata: Mapping[str, Any] | None = None,
        use_python_export: bool = False,
    ) -> None:
        """
        Write JSON that chrome://tracing and Perfetto open.

        Parameters
        ----------
        path : str or Path
            Gzipped if it ends in ``.gz``.
        metadata : mapping, optional
            Further entries of the top level.
        use_python_export : bool
            Taken, and changes nothing.
        """
        from autograd_cy.profiler._trace import write_trace

        session = self._report("exporting chrome trace")
        own, trace_id = self._trace_head()
        write_trace(path, session.columns, session.spans, {**own, **(metadata or {})}, trace_id)

    def _trace_head(self) -> tuple[Mapping[str, Any], str | None]:
        """Further entries of the trace's top level, and its name."""
        return {}, None

    def export_stacks(self, path: str | Path, metric: str = "self_cpu_time_total") -> None:
        """
        Write folded stacks, the input of flame graphs: ``outer;inner 123`` in microseconds.

        Parameters
        ----------
        path : str or Path
        metric : str
            One of ``supported_export_stacks_metrics()`` of the events.

        Raises
        ------
        AssertionError
            Without ``with_stack=True``.
        ValueError
            If the metric is another.
        """
        from autograd_cy.profiler._stacks import write_stacks

        session = self._report("exporting stacks")
        if not session.columns.options.get("with_stack"):
            raise AssertionError("export_stacks() requires with_stack=True")
        write_stacks(path, session.spans, metric)

    # --- beyond torch ---------------------------------------------------------------------------

    def summary(self) -> str:
        """
        Return one screen that says where the time went.

        Returns
        -------
        str
        """
        from autograd_cy.profiler._summary import summary

        session = self._report("summarizing")
        return summary(session.spans, session.event_at)

    def group(self, by: str | Callable[[FunctionEvent], Hashable] = "op") -> Groups:
        """
        Return the sums with forward and backward side by side.

        Parameters
        ----------
        by : {"op", "shape", "line", "module", "label", "thread"} or callable
            A function is given each event and returns its key.

        Returns
        -------
        Groups
            A list of rows ``(key, forward, backward, total, calls, allocated, saved)``; its text
            is a table.

        Raises
        ------
        ValueError
            If `by` is something else, or needs what was not recorded.
        """
        from autograd_cy.profiler._groups import group

        session = self._report("grouping")
        return group(session.spans, by, lambda: session.events)

    def memory(self) -> Memory:
        """
        Return the sources of memory at its peak, and the memory that nodes save for backward.

        Returns
        -------
        Memory
            Its text is a table.

        Raises
        ------
        ValueError
            Without ``profile_memory=True``.
        """
        from autograd_cy.profiler._memory import memory

        return memory(self._report("reading memory").spans)

    def plot_memory(self, ax: Any = None) -> Any:
        """
        Draw allocated bytes over time, with matplotlib.

        Nothing is shown or written: ``prof.plot_memory().figure.savefig("memory.png")`` saves it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; made with a figure of their own if not given.

        Returns
        -------
        matplotlib axes
        """
        from autograd_cy.profiler._pictures import plot_memory

        return plot_memory(self._report("drawing memory").spans, ax)

    def plot_timeline(self, ax: Any = None, thread: int | None = None) -> Any:
        """
        Draw the events over time, with matplotlib.

        Nothing is shown or written: ``prof.plot_timeline().figure.savefig("time.png")`` saves it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; made with a figure of their own if not given.
        thread : int, optional
            Only this one.

        Returns
        -------
        matplotlib axes
        """
        from autograd_cy.profiler._pictures import plot_timeline

        return plot_timeline(self._report("drawing a timeline").spans, ax, thread)

    def export_flamegraph(self, path: str | Path, by: str = "time") -> None:
        """
        Write a flame graph as SVG, forward and backward coloured apart.

        Parameters
        ----------
        path : str or Path
        by : {"time", "bytes"}
            Self time, or bytes allocated.
        """
        from autograd_cy.profiler._stacks import write_flamegraph

        write_flamegraph(path, self._report("exporting a flame graph").spans, by)

    def to_columns(self) -> Columns:
        """
        Return the recording itself, as NumPy arrays.

        Returns
        -------
        Columns
        """
        return self._report("getting columns").columns

    def save(self, path: str | Path) -> None:
        """
        Write the recording to a compact file, which :func:`load` reads.

        Parameters
        ----------
        path : str or Path
        """
        self._report("saving").columns.save(path)

    def compare(self, other: Reports, by: str = "op") -> Changes:
        """
        This run before, another one after.

        Parameters
        ----------
        other : profile, or what :func:`load` gives
        by : {"op", "shape", "line", "module", "label", "thread"}

        Returns
        -------
        Changes
            A list of rows ``(key, before, after, ratio, count_before, count_after)``; its text is
            a table.
        """
        from autograd_cy.profiler._compare import compare

        if not isinstance(other, Reports):
            raise TypeError(
                "compare: expected a profile or what profiler.load gives, "
                f"not {type(other).__name__}"
            )
        return compare(self._report("comparing").spans, other._report("comparing").spans, by)


class Loaded(Reports):
    """A recording that was read from a file."""

    def __init__(self, columns: Columns) -> None:
        self._own_columns = columns

    def _columns(self, purpose: str) -> Columns:
        return self._own_columns

    def events(self) -> EventList:
        """
        Return the events.

        Returns
        -------
        EventList
        """
        return self._report("accessing events").events

    @property
    def function_events(self) -> EventList:
        """The events."""
        return self.events()

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<profile of {len(self._own_columns)} events>"


def load(path: str | Path) -> Loaded:
    """
    Read what ``prof.save(path)`` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Loaded
        Answers all that a profile answers.

    Raises
    ------
    ValueError
        If the file is something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.profiler.profile() as prof:
    ...     x = ag.ones(2) * 2
    >>> prof.save("run.npz")
    >>> ag.profiler.load("run.npz").events()[-1].name
    'aten::mul'
    """
    return Loaded(Columns.load(path))
