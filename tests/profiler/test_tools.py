"""Files of nvprof and Nsight Systems, small helpers, ranges for other tools, CUDA's profiler."""

import os
import sqlite3
import sys
import threading
import types
import warnings
from contextlib import closing

import pytest
from lifetimes import heap

from autograd_cy.profiler._counts import EnforceUnique, KinetoStepTracker
from autograd_cy.profiler._events import MemRecordsAcc, StringTable
from autograd_cy.profiler._ranges import text_of_range
from autograd_cy.profiler._tools import load_nsys, load_nvprof, parse_nvprof_trace


def nvprof_file(path, without=()):
    """A range in a range, a launch in each, one outside, and a call that is no launch."""
    tables = {
        "StringTable": (
            "_id_ INTEGER, value TEXT",
            [(1, "outer"), (2, "inner"), (3, "_Z3addPf"), (4, "_Z3mulPf")],
        ),
        "CUPTI_ACTIVITY_KIND_MARKER": (
            "_id_ INTEGER, flags INTEGER, timestamp INTEGER, id INTEGER, name INTEGER",
            [
                (1, 2, 5000, 70, 1),
                (2, 2, 6000, 71, 2),
                (3, 4, 9000, 71, 0),
                (4, 4, 20000, 70, 0),
            ],
        ),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (
            "_id_ INTEGER, cbid INTEGER, start INTEGER, end INTEGER, correlationId INTEGER",
            [
                (1, 211, 6500, 7000, 501),
                (2, 211, 10000, 10500, 502),
                (3, 211, 30000, 30500, 503),
                (4, 13, 11000, 11500, 504),
            ],
        ),
        "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": (
            "_id_ INTEGER, start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, "
            "name INTEGER",
            [(k, 40000 * k, 40000 * k + 2500, 1, 500 + k, 3 + k % 2) for k in range(1, 5)],
        ),
    }
    write(path, tables, without)
    return path


def nsys_file(path, without=()):
    tables = {
        "StringIds": ("id INTEGER, value TEXT", [(1, "named"), (2, "_Z3addPf")]),
        "NVTX_EVENTS": (
            "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
            "globalTid INTEGER",
            [
                (1000, 9000, 59, "outer", None, 77),
                (2000, 4000, 59, None, 1, 77),
                (2500, 3500, 59, "other thread", None, 88),
                (2600, None, 34, "a mark", None, 77),
            ],
        ),
        "CUPTI_ACTIVITY_KIND_RUNTIME": (
            "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER",
            [(2600, 2700, 77, 5, 0), (2800, 2900, 88, 6, 0), (2800, 2900, 99, 7, 0)],
        ),
        "CUPTI_ACTIVITY_KIND_KERNEL": (
            "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER, "
            "shortName INTEGER, demangledName INTEGER",
            [(5000, 6500, 0, k, 1, 2) for k in (5, 6, 7)],
        ),
    }
    write(path, tables, without)
    return path


def write(path, tables, without):
    with closing(sqlite3.connect(path)) as base, base:
        for name, (columns, rows) in tables.items():
            if name not in without:
                base.execute(f"CREATE TABLE {name} ({columns})")
                marks = ", ".join("?" * len(rows[0]))
                base.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def test_nvprof_ranges_have_the_kernels_that_they_started(tmp_path):
    outer, inner = parse_nvprof_trace(nvprof_file(tmp_path / "x.nvprof"))
    assert (outer.name, inner.name, outer.id) == ("outer", "inner", 70)
    # From nanoseconds, and from the first range on.
    assert (outer.time_range.start, outer.time_range.end) == (0.0, 15.0)
    assert (inner.time_range.start, inner.time_range.end) == (1.0, 4.0)
    assert inner.cpu_parent is outer
    assert inner.kernels == [("mul(float*)", 1, 2.5)]
    assert outer.kernels == [("add(float*)", 1, 2.5)]
    assert outer.device_time_total == 5.0 and outer.self_device_time_total == 2.5


def test_nvprof_files_are_lists_with_a_table(tmp_path):
    events = load_nvprof(nvprof_file(tmp_path / "x.nvprof"))
    assert "Self CUDA" in str(events)
    assert [a.cuda_time_total for a in events.key_averages()] == [5.0, 2.5]


def test_nsys_files_give_the_same(tmp_path):
    outer, named, other = load_nsys(nsys_file(tmp_path / "x.sqlite"))
    assert [e.name for e in (outer, named, other)] == ["outer", "named", "other thread"]
    assert (outer.thread, other.thread) == (1, 2) and named.cpu_parent is outer
    assert named.kernels == other.kernels == [("add(float*)", 0, 1.5)]
    assert outer.kernels == []


@pytest.mark.parametrize(
    ("load", "make", "table"),
    [
        (load_nvprof, nvprof_file, "StringTable"),
        (load_nvprof, nvprof_file, "CUPTI_ACTIVITY_KIND_MARKER"),
        (load_nvprof, nvprof_file, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"),
        (load_nsys, nsys_file, "NVTX_EVENTS"),
        (load_nsys, nsys_file, "CUPTI_ACTIVITY_KIND_KERNEL"),
    ],
)
def test_missing_files_and_tables_are_named(tmp_path, load, make, table):
    path = make(tmp_path / "x", without=(table,))
    with pytest.raises(RuntimeError, match=rf"x: can't read table {table}"):
        load(path)
    with pytest.raises(FileNotFoundError, match="there is no file .*nothing"):
        load(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    path.write_text("no database, but long enough to be looked at" * 50)
    with pytest.raises(RuntimeError, match="can't read table"):
        load(path)


def test_missing_names_are_demangled():
    table = StringTable()
    assert [table[k] for k in ("i", "foo", "_Z3foov", "_ZN2at3addEv")] == [
        "i",
        "foo",
        "foo()",
        "at::add()",
    ]
    assert table["_Z3foov"] == "foo()" and len(table) == 4
    assert StringTable(lambda: 1 / 0)["a"] == "a"


def test_the_memory_of_names_is_given_back():
    lost = []
    while len(lost) < 6 and (len(lost) < 2 or lost[-1] > 10_000):
        before = heap()
        for _ in range(300):
            assert StringTable()["_Z3foo" + "PKc" * 60].startswith("foo(char const*, ")
        lost.append(heap() - before)
    assert lost[-1] <= 10_000, lost


def test_records_of_memory_are_found_by_time():
    records = [(types.SimpleNamespace(start_ns=lambda t=t: t), t) for t in (5, 1, 3, 9, 3)]
    found = MemRecordsAcc(records)
    assert [t for _, t in found.in_interval(3, 5)] == [3, 3, 5]
    assert [t for _, t in found.in_interval(10, 20)] == []
    assert list(MemRecordsAcc([]).in_interval(0, 5)) == []


def test_keys_are_unique():
    seen = EnforceUnique()
    seen.see("a", 1)
    seen.see("a", 2)
    with pytest.raises(RuntimeError, match="duplicate key"):
        seen.see("a", 1)


@pytest.fixture
def tracker(monkeypatch):
    monkeypatch.setattr(KinetoStepTracker, "_step_dict", {})
    monkeypatch.setattr(KinetoStepTracker, "_current_step", 0)
    return KinetoStepTracker


def test_the_global_step_is_the_largest_and_never_falls(tracker):
    tracker.init_step_count("one")
    assert [tracker.increment_step("one") for _ in range(3)] == [1, 2, 3]
    # Newcomers start where all others are.
    assert tracker.increment_step("other") == 4
    assert tracker.increment_step("one") == 4
    assert tracker.erase_step_count("other") and not tracker.erase_step_count("other")
    assert tracker.current_step() == 4 and tracker._step_dict == {"one": 4}
    tracker._step_dict["one"] += 3
    with pytest.warns(UserWarning, match="increased more than 1"):
        assert tracker.increment_step("one") == 8


def test_an_error_of_a_jump_is_raised_once(tracker):
    """Not by each later step, too."""
    tracker.init_step_count("one")
    tracker._step_dict["one"] += 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="current_step = 0 step"):
            tracker.increment_step("one")
        assert tracker.increment_step("one") == 5


def test_steps_of_several_threads_are_counted(tracker):
    def count():
        for _ in range(500):
            tracker.increment_step("one")

    threads = [threading.Thread(target=count) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with warnings.catch_warnings(record=True) as jumps:
            warnings.simplefilter("always")
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert tracker.current_step() == 2000
    assert not jumps


def test_a_fork_does_not_wait_for_a_thread_that_counted(tracker):
    with tracker._lock:
        pid = os.fork()
        if not pid:
            os._exit(tracker.increment_step("one"))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def test_texts_of_ranges():
    assert text_of_range("aten::mul", 3, 0, None) == "aten::mul, seq = 3"
    assert text_of_range("MulBackward0", 3, 1, None) == "MulBackward0, stashed seq = 3"
    assert (
        text_of_range("aten::mul", 3, 0, [[2, 3], []]) == "aten::mul, seq = 3, sizes = [[2, 3], []]"
    )
    assert text_of_range("a label", -1, 7, None) == "a label"


def stub(monkeypatch, name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_ranges_and_marks_go_to_the_package(monkeypatch):
    from autograd_cy.cuda import nvtx

    calls = []
    stub(
        monkeypatch,
        "nvtx",
        push_range=lambda text: calls.append(text),
        pop_range=lambda: calls.append("pop"),
        mark=lambda text: calls.append(f"mark {text}"),
    )
    assert nvtx.range_push("a") == 0 and nvtx.range_push("b") == 1
    assert nvtx.range_pop() == 1 and nvtx.range_pop() == 0 and nvtx.range_pop() == -1
    nvtx.mark("here")

    @nvtx.range("step {}", 3)
    def step():
        return 5

    assert step() == 5
    with pytest.raises(KeyError), nvtx.range("failing"):
        raise KeyError
    assert calls == ["a", "b", "pop", "pop", "mark here", "step 3", "pop", "failing", "pop"]


def test_a_range_may_end_in_another_thread(monkeypatch):
    from autograd_cy.cuda import nvtx

    calls = []
    stub(
        monkeypatch,
        "nvtx",
        push_range=None,
        pop_range=None,
        mark=None,
        start_range=lambda text: (calls.append(text), 7)[1],
        end_range=calls.append,
    )
    nvtx.range_end(nvtx.range_start("epoch"))
    assert calls == ["epoch", 7]


def test_ranges_go_to_the_library_where_there_is_no_package(monkeypatch):
    from autograd_cy.cuda import nvtx
    from autograd_cy.profiler import _ranges

    calls = []

    class Function:
        def __init__(self, name):
            self.name = name

        def __call__(self, *args):
            calls.append((self.name, *args))
            return 3

    class Library:
        def __init__(self, name):
            assert name == "libnvToolsExt.so.1"
            for kind in ("RangePushA", "RangePop", "MarkA", "RangeStartA", "RangeEnd"):
                setattr(self, f"nvtx{kind}", Function(kind))

    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.setattr(_ranges.ctypes, "CDLL", Library)
    _ranges._of_library.cache_clear()
    try:
        with nvtx.range("a"):
            nvtx.mark("b")
        nvtx.range_end(nvtx.range_start("c"))
    finally:
        _ranges._of_library.cache_clear()
    assert calls == [
        ("RangePushA", b"a"),
        ("MarkA", b"b"),
        ("RangePop",),
        ("RangeStartA", b"c"),
        ("RangeEnd", 3),
    ]


def test_missing_packages_are_named_with_their_extra(monkeypatch):
    from autograd_cy.cuda import nvtx, profiler
    from autograd_cy.profiler._ranges import emit_itt, emit_nvtx

    for name in ("nvtx", "ittapi", "pycuda"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("autograd_cy.profiler._ranges._of_library", lambda: None)
    with pytest.raises(RuntimeError, match=r"package nvtx: pip install .autograd_cy\[nvtx\]"):
        nvtx.range_push("a")
    with pytest.raises(RuntimeError, match=r"autograd_cy\[nvtx\]"), emit_nvtx():
        pass
    with pytest.raises(RuntimeError, match=r"autograd_cy\[itt\]"), emit_itt():
        pass
    for make in (emit_nvtx, emit_itt):
        with make(enabled=False) as nothing:
            assert nothing.enabled is False
    with pytest.raises(RuntimeError, match="PyCUDA is missing"):
        profiler.start()
    block = profiler.profile()  # nothing happens before it is entered
    with pytest.raises(RuntimeError, match="PyCUDA is missing"), block:
        pass


def test_the_driver_starts_and_stops(monkeypatch):
    from autograd_cy.cuda import profiler

    calls = []
    devices = types.SimpleNamespace(count=lambda: 1)
    driver = types.SimpleNamespace(
        init=lambda: None,
        Device=devices,
        start_profiler=lambda: calls.append("start"),
        stop_profiler=lambda: calls.append("stop"),
    )
    stub(monkeypatch, "pycuda", driver=driver)
    with pytest.raises(KeyError), profiler.profile():
        raise KeyError
    assert calls == ["start", "stop"]
    devices.count = lambda: 0
    with pytest.raises(RuntimeError, match="no GPU is found"):
        profiler.stop()


def test_programs_may_ask_for_gpus():
    import autograd_cy as torch

    assert torch.cuda.is_available() is False and torch.cuda.device_count() == 0


@pytest.fixture
def ranges(monkeypatch):
    """The calls of the package nvtx: texts, and None where one ends."""
    calls = []
    stub(
        monkeypatch,
        "nvtx",
        push_range=calls.append,
        pop_range=lambda: calls.append(None),
        mark=calls.append,
    )
    return calls


def numbers_in(texts, name, word):
    found = [text for text in texts if text and text.startswith(f"{name}, {word} = ")]
    return [int(text.split(" = ")[1].split(",")[0]) for text in found]


def test_events_are_ranges_and_forward_and_backward_can_be_matched(ranges):
    import autograd_cy as torch
    from autograd_cy.autograd.profiler import emit_nvtx, record_function

    x = torch.ones(2, 3, requires_grad=True)
    with emit_nvtx():
        with record_function("a label"):
            y = x * 2
        y.sum().backward()
        with pytest.raises(RuntimeError):
            torch.ones(2, 3) @ torch.ones(2, 3)
    assert ranges.count(None) == len(ranges) - ranges.count(None)
    assert ranges[0] == "a label" and ranges[1].startswith("aten::mul, seq = ")
    (forward,) = numbers_in(ranges, "aten::mul", "seq")
    (backward,) = numbers_in(ranges, "MulBackward0", "stashed seq")
    assert forward == backward == y.grad_fn._sequence_nr()
    # In backward nothing is recorded, so its operators have no number.
    assert "aten::mul" in ranges
    depth = 0
    for text in ranges:
        depth += 1 if text is not None else -1
        assert depth >= 0
    x * 2
    assert ranges.count("aten::mul") == 1


def test_ranges_have_sizes(ranges):
    import autograd_cy as torch
    from autograd_cy.autograd.profiler import emit_nvtx

    x = torch.ones(2, 3)
    with emit_nvtx(record_shapes=True), torch.no_grad():
        x * 2
    assert ranges == ["aten::mul, sizes = [[2, 3], []]", None]


def test_ranges_go_on_when_the_recording_is_begun_anew(ranges, monkeypatch):
    import autograd_cy as torch
    from autograd_cy.autograd.profiler import emit_nvtx
    from autograd_cy.profiler import _ranges

    monkeypatch.setattr(_ranges, "KEPT", 8)
    with emit_nvtx(), torch.no_grad():
        for _ in range(100):
            torch.ones(2) * 2
    assert ranges.count("aten::mul") == 100 and ranges.count(None) == len(ranges) // 2


def test_one_tool_at_a_time_is_told_and_its_faults_are_dropped(monkeypatch):
    import autograd_cy as torch
    from autograd_cy.autograd.profiler import emit_nvtx

    stub(monkeypatch, "nvtx", push_range=lambda text: 1 / 0, pop_range=lambda: 1 / 0, mark=None)
    with emit_nvtx() as outer:
        assert (torch.ones(2) * 2).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="another tool already"), emit_nvtx():
            pass
        with pytest.raises(RuntimeError, match="not reentrant"):
            outer.__enter__()
    with outer:
        pass
