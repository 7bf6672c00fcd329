"""Events as objects: spans of time with what is known of them, and the tree that they make."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from autograd_cy.profiler._formats import FormattedTimesMixin

__all__ = [
    "MEMORY_EVENT_NAME",
    "OUT_OF_MEMORY_EVENT_NAME",
    "DeviceType",
    "FunctionEvent",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
    "build_tree",
]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"
STEP = "ProfilerStep#"


class DeviceType(enum.IntEnum):
    """The device on which an event ran."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    MTIA = 19
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    PrivateUse1 = 20

    __str__ = enum.Enum.__str__


class Interval:
    """
    A span of time, in microseconds.

    Parameters
    ----------
    start, end : float

    Examples
    --------
    >>> from autograd_cy.autograd.profiler_util import Interval
    >>> Interval(1.0, 3.5).elapsed_us()
    2.5
    """

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Length of the span."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"Interval(start={self.start}, end={self.end})"


class Kernel(NamedTuple):
    """
    A kernel that ran on a device for an event.

    Attributes
    ----------
    name : str
    device : int
        Number of the device.
    duration : float
        Microseconds.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler_util import Kernel
    >>> Kernel("gemm", 0, 2.5).duration
    2.5
    """

    name: str
    device: int
    duration: float


class FunctionEvent(FormattedTimesMixin):
    """
    One span in one thread: an operator, a step of backward, or a label.

    Parameters
    ----------
    id : int
    name : str
        What averages go by; steps of a program are ``ProfilerStep*``, in full they are
        `trace_name`.
    thread : int
    start_us, end_us : float
        Microseconds from the start of the session.
    **others
        Kept as attributes of their names; see ``docs/profiler.md``.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import FunctionEvent
    >>> event = FunctionEvent(0, "aten::mul", 1, 2.0, 3.5)
    >>> event.cpu_time_total, event.op
    (1.5, 'mul')
    """

    # Most events have these values; those that don't have attributes of their own.
    count = 1
    overload_name: str | None = None
    scope = 0
    use_device: str | None = None
    cpu_memory_usage = 0
    device_memory_usage = 0
    is_async = False
    is_remote = False
    sequence_nr = -1
    node_id = -1
    device_type = DeviceType.CPU
    device_index = 0
    device_resource_id: int | None = None
    is_legacy = False
    is_user_annotation = False
    is_python_function = False
    activity_type: str | None = None
    metadata_json: str | None = None
    flow_id: int | None = None
    flow_type: int | None = None
    flow_start: bool | None = None
    external_id = 0
    linked_correlation_id = 0
    extra_meta: Any = None
    concrete_inputs: list[Any] | None = None
    kwinputs: dict[str, Any] | None = None
    structured_input_shapes: list[Any] | None = None
    structured_input_strides: list[Any] | None = None
    input_dtypes: list[Any] | None = None
    input_shapes: list[Any] | None = None
    stack: list[str] | None = None
    flops: int | None = None
    fwd_thread: int | None = None
    trace_name: str | None = None
    python_id = python_parent_id = python_module_id = -1
    self_cpu_percent = total_cpu_percent = total_device_percent = -1
    cpu_parent: FunctionEvent | None = None
    # Beyond torch.
    failed = False
    unfinished = False
    module = ""
    bytes_moved = 0
    team = 1
    saved = 0

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: list[Any] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: Any = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: list[Any] | None = None,
        kwinputs: dict[str, Any] | None = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        activity_type: str | None = None,
        metadata_json: str | None = None,
        flow_id: int | None = None,
        flow_type: int | None = None,
        flow_start: bool | None = None,
        external_id: int = 0,
        linked_correlation_id: int = 0,
        extra_meta: Any = None,
        structured_input_shapes: list[Any] | None = None,
        structured_input_strides: list[Any] | None = None,
        input_dtypes: list[Any] | None = None,
        python_id: int = -1,
        python_parent_id: int = -1,
        python_module_id: int = -1,
    ) -> None:
        fields = dict(locals())
        del fields["self"], fields["start_us"], fields["end_us"]
        self.__dict__.update(fields)
        self.time_range = Interval(start_us, end_us)
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.cpu_children: list[FunctionEvent] = []
        self.kernels: list[Kernel] = []

    def __getattr__(self, name: str) -> Any:
        # Events made of columns get their lists when somebody asks.
        if name in ("cpu_children", "kernels"):
            result: list[Any] = []
            self.__dict__[name] = result
            return result
        return super().__getattr__(name)

    @property
    def key(self) -> str:
        """The key of averages: the name."""
        return self.name

    @property
    def op(self) -> str:
        """
        The bare name, without the prefix of its package.

        Examples
        --------
        >>> from autograd_cy.autograd.profiler import FunctionEvent
        >>> FunctionEvent(0, "aten::add_", 1, 0, 1).op
        'add_'
        """
        return short_name(self.name)

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Note a kernel that the event started on a device."""
        if self.device_type != DeviceType.CPU:
            raise AssertionError("Expected device_type to be CPU")
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """
        Note an event that lies directly in this one.

        Raises
        ------
        AssertionError
            If it is no event.
        """
        if not isinstance(child, FunctionEvent):
            raise AssertionError("Expected child to be a FunctionEvent")
        if self.device_type != DeviceType.CPU:
            raise AssertionError("Expected device_type to be CPU")
        if child.device_type != DeviceType.CPU:
            raise AssertionError("Expected child device_type to be CPU")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """
        Note the event in which this one lies directly.

        Raises
        ------
        AssertionError
            If it is no event.
        """
        if not isinstance(parent, FunctionEvent):
            raise AssertionError("Expected parent to be a FunctionEvent")
        if self.device_type != DeviceType.CPU:
            raise AssertionError("Expected device_type to be CPU")
        if parent.device_type != DeviceType.CPU:
            raise AssertionError("Expected parent device_type to be CPU")
        self.cpu_parent = parent

    @property
    def cpu_time_total(self) -> float:
        """Length in microseconds."""
        if self.device_type != DeviceType.CPU:
            return 0
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """Length without the children; 0 for what is asynchronous."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Net bytes without the children."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self) -> int:
        """Net bytes on the device without the children."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.device_memory_usage - sum(
            child.device_memory_usage for child in self.cpu_children
        )

    @property
    def device_time_total(self) -> float:
        """Microseconds of the kernels of this event and its children; its own on a device."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type != DeviceType.CPU:
            return self.time_range.elapsed_us()
        own = sum(kernel.duration for kernel in self.kernels)
        return own + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """Microseconds of the event's own kernels."""
        if self.is_async or not self.use_device:
            return 0
        return self.device_time_total - sum(child.device_time_total for child in self.cpu_children)

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type!s} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} "
            f"{device}_time={self.device_time_str} name={self.name} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} "
            f"is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )

    id: int
    name: str
    thread: int
    time_range: Interval
    kernels: list[Kernel]
    cpu_children: list[FunctionEvent]


def canonical(name: str) -> str:
    """The name that averages go by: steps of the program are one kind of event."""
    return "ProfilerStep*" if name.startswith(STEP) else name


def short_name(name: str) -> str:
    """The name without the prefixes of packages; labels keep theirs."""
    if name.startswith("autograd::engine::evaluate_function: "):
        return name.rpartition(" ")[2].rpartition("::")[2]
    head, separator, tail = name.rpartition("::")
    return tail if separator and head.replace("::", "").isidentifier() and tail else name


def build_tree(events: list[FunctionEvent]) -> None:
    """Tie each event to the one in which it lies: that of its thread, by times."""
    threads: dict[tuple[int, int], list[FunctionEvent]] = defaultdict(list)
    for event in events:
        if not event.is_async and event.device_type == DeviceType.CPU:
            threads[event.thread, event.node_id].append(event)
    for group in threads.values():
        group.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
        open_ones: list[FunctionEvent] = []
        for event in group:
            start, end = event.time_range.start, event.time_range.end
            while open_ones:
                last = open_ones[-1].time_range
                if start >= last.end or end > last.end:
                    open_ones.pop()
                    continue
                if event.cpu_parent is not None:
                    raise AssertionError(f"There is already a CPU parent event for {event.key}")
                open_ones[-1].append_cpu_child(event)
                event.set_cpu_parent(open_ones[-1])
                break
            open_ones.append(event)


def merge_alone(events: list[FunctionEvent]) -> list[FunctionEvent]:
    """The events without those that are alone in a parent of the same name, which stay for both."""
    while True:
        merged = set()
        for event in events:
            parent = event.cpu_parent
            if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
                continue
            parent.cpu_children = event.cpu_children
            parent.kernels = event.kernels
            for child in event.cpu_children:
                child.cpu_parent = parent
            merged.add(id(event))
        if not merged:
            return events
        events = [event for event in events if id(event) not in merged]


class StringTable(defaultdict):
    """
    Names by their C++ symbol: what is missing is demangled.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler_util import StringTable
    >>> StringTable()["a"]
    'a'
    """

    def __missing__(self, key: str) -> str:
        # One letter would be taken for the code of a type.
        self[key] = text = _demangled(key) if len(key) > 1 else key
        return text


def _demangled(symbol: str) -> str:
    import ctypes

    try:
        library = ctypes.CDLL("libstdc++.so.6")
        demangle, free = library.__cxa_demangle, ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p
    free.argtypes = [ctypes.c_void_p]
    status = ctypes.c_int()
    text = demangle(symbol.encode(), None, None, ctypes.byref(status))
    if status.value or not text:
        return symbol
    try:
        return (ctypes.cast(text, ctypes.c_char_p).value or b"").decode()
    finally:
        free(text)


class MemRecordsAcc:
    """
    Records of memory, found by time.

    Parameters
    ----------
    mem_records : list of tuple
        The first of each has a method ``start_ns()``.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import MemRecordsAcc
    >>> class At:
    ...     def __init__(self, ns):
    ...         self.ns = ns
    ...     def start_ns(self):
    ...         return self.ns
    >>> records = MemRecordsAcc([(At(5), "b"), (At(2), "a")])
    >>> [name for _, name in records.in_interval(0, 5)]
    ['a', 'b']
    """

    def __init__(self, mem_records: Iterable[tuple]) -> None:
        self._mem_records = list(mem_records)
        self._order = sorted(
            range(len(self._mem_records)), key=lambda i: self._mem_records[i][0].start_ns()
        )
        self._start_nses = [self._mem_records[i][0].start_ns() for i in self._order]

    def in_interval(self, start_ns: int, end_ns: int) -> Iterator[tuple]:
        """
        The records with ``start_ns <= time <= end_ns``, by time.

        Parameters
        ----------
        start_ns, end_ns : int

        Yields
        ------
        tuple
        """
        from bisect import bisect_left, bisect_right

        first = bisect_left(self._start_nses, start_ns)
        last = bisect_right(self._start_nses, end_ns)
        for k in range(first, last):
            yield self._mem_records[self._order[k]]
