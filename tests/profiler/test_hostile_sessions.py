"""Sessions among errors, garbage, strange arguments and other sessions."""

import contextlib
import copy
import gc
import json
import pathlib
import pickle
import sys
import threading
from xml.dom import minidom

import numpy as np
import programs
import pytest

import autograd_cy as ag
from autograd_cy import profiler
from autograd_cy.autograd.profiler import profile, record_function
from autograd_cy.profiler import _session
from autograd_cy.profiler._reports import load
from autograd_cy.profiler._session import Session
from autograd_cy.profiler._stacks import _Box, _cut

# --- counts of operations -------------------------------------------------------------------

REFUSED = {
    "dot": lambda: ag.dot(ag.tensor(1.0), ag.ones(3)),
    "mm": lambda: ag.mm(ag.ones(3), ag.ones(3)),
    "mv": lambda: ag.mv(ag.tensor(1.0), ag.ones(3)),
    "bmm": lambda: ag.bmm(ag.tensor(1.0), ag.tensor(1.0)),
    "addmm": lambda: ag.addmm(ag.ones(2), ag.ones(2), ag.tensor(1.0)),
    "baddbmm": lambda: ag.baddbmm(ag.ones(2), ag.ones(2), ag.tensor(1.0)),
    "linear": lambda: ag.nn.functional.linear(ag.ones(2, 3), ag.tensor(1.0)),
    "add": lambda: ag.add(ag.ones(2), ag.ones(3)),
    "mul": lambda: ag.mul(ag.ones(2), ag.ones(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_operations_of_a_refused_call_are_none(name):
    with profile(with_flops=True) as prof:
        with contextlib.suppress(RuntimeError, ValueError, TypeError, IndexError):
            REFUSED[name]()
    assert all(not event.flops for event in prof.function_events)


def test_operations_of_calls_that_succeed_are_counted_beside_refused_ones():
    with profile(with_flops=True) as prof:
        with pytest.raises(RuntimeError):
            ag.dot(ag.tensor(1.0), ag.ones(3))
        ag.dot(ag.ones(3), ag.ones(3))
    assert [e.flops for e in prof.function_events if e.name == "aten::dot"] == [0, 6]


def test_the_error_of_a_block_with_counts_is_its_own():
    with pytest.raises(RuntimeError), profile(with_flops=True):
        ag.mm(ag.ones(3), ag.ones(3))


def test_every_rule_bears_sizes_of_any_length():
    session = Session(with_flops=True)
    session.start()
    x, image, cube = ag.ones(3, 3), ag.ones(1, 1, 3, 3), ag.ones(2, 3, 3)
    x + x, x * x, ag.mm(x, x), ag.addmm(x, x, x), ag.mv(x, x[0]), ag.dot(x[0], x[0])
    ag.bmm(cube, cube), ag.baddbmm(cube, cube, cube), ag.nn.functional.conv2d(image, image)
    flops = session._recording.stop()[5]
    assert len(flops) >= 9
    for arguments in ([], [[]], [[]] * 9, [[2, 3]] * 3, [[[1], [2]]] * 2, [[-1]] * 2):
        shapes = [(arguments, [], [])]
        for number, rule in flops:
            counts = _session._counted(np.array([number]), np.array([0]), [(number, rule)], shapes)
            assert counts.shape == (1,)


# --- sessions that begin and end while another one is being read -------------------------------


class Nested:
    """Garbage that records while it goes."""

    count = 0

    def __init__(self):
        self.cycle = self

    def __del__(self):
        Nested.count += 1
        with profile(record_shapes=True, with_stack=True, with_modules=True):
            for i in range(40):
                ag.ones(3 + i % 5, 1 + i)


def test_sessions_of_garbage_leave_alone_what_another_one_reads():
    before = gc.get_threshold()
    Nested.count = 0
    session = Session(record_shapes=True, with_stack=True, with_modules=True)
    session.start()
    for i in range(120):
        ag.ones(i + 1, 2)
        with record_function(f"label {i}"):
            pass
    try:
        gc.disable()
        garbage = [Nested() for _ in range(4)]
        gc.enable()
        gc.set_threshold(5, 1, 1)
        del garbage
        columns = session.stop()
    finally:
        gc.set_threshold(*before)
        gc.enable()
    gc.collect()
    assert Nested.count == 4
    found = [
        columns.shapes[i][1]
        for i, n in zip(columns.shape, columns.name, strict=True)
        if columns.names[n] == "aten::ones"
    ]
    assert len(found) >= 120
    assert [n for n in columns.names if n.startswith("label")] == [f"label {i}" for i in range(120)]
    assert not ag.autograd._profiler_enabled()


def test_a_session_that_begins_while_another_one_is_read_records_only_its_own(monkeypatch):
    outer, inner, found = Session(record_shapes=True), Session(record_shapes=True), []
    outer.start()
    ag.ones(2)
    real = np.empty

    def empty(*args, **named):
        if not inner.running and not found:
            found.append(None)
            inner.start()
            ag.zeros(3)
            found[0] = inner.stop()
        return real(*args, **named)

    monkeypatch.setattr(np, "empty", empty)
    columns = outer.stop()
    monkeypatch.undo()
    assert "aten::ones" in columns.names and "aten::zeros" not in columns.names
    assert "aten::zeros" in found[0].names and "aten::ones" not in found[0].names
    assert columns.shapes and not ag.autograd._profiler_enabled()


def test_reading_that_failed_can_be_done_again(monkeypatch):
    session = Session(record_shapes=True)
    session.start()
    ag.ones(2)

    def full(*args, **named):
        raise MemoryError("full")

    monkeypatch.setattr(np, "empty", full)
    with pytest.raises(MemoryError):
        session.stop()
    monkeypatch.undo()
    assert not session.running and not ag.autograd._profiler_enabled()
    ag.zeros(2)
    columns = session.stop()
    assert "aten::ones" in columns.names and "aten::zeros" not in columns.names
    with pytest.raises(RuntimeError, match="isn't running"):
        session.stop()


@pytest.mark.parametrize("make", [profile, profiler.profile])
def test_an_error_of_reading_hides_no_error_of_the_block(make, monkeypatch):
    def fails(*args):
        raise KeyError("columns")

    monkeypatch.setattr(_session, "_columns", fails)
    with (
        pytest.warns(RuntimeWarning, match="failed too: KeyError"),
        pytest.raises(ValueError, match="of the block"),
        make() as prof,
    ):
        raise ValueError("of the block")
    with pytest.raises(KeyError), make():
        pass
    monkeypatch.undo()
    prof.__exit__(None, None, None)
    assert len(prof.to_columns()) == 0
    assert not ag.autograd._profiler_enabled()


def test_threads_that_end_and_begin_while_sessions_overlap_keep_their_events():
    def work(count):
        def run():
            for _ in range(count):
                ag.ones(1)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    outer = Session()
    for _ in range(20):
        first = Session()
        first.start()
        work(50)
        second = Session()
        second.start()
        first.stop()
        work(1)
        columns = second.stop()
        assert sum(columns.names[n] == "aten::ones" for n in columns.name) == 1
    assert not outer.running


# --- arguments ------------------------------------------------------------------------------


def test_lists_in_themselves_and_deep_ones_are_recorded_to_some_depth():
    cycle = []
    cycle.append(cycle)
    broad = []
    broad.extend([broad] * 10)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with profile(record_shapes=True) as prof:
        for sizes in (cycle, broad, deep):
            with pytest.raises((TypeError, RuntimeError, RecursionError, ValueError)):
                ag.ones(sizes)
        ag.ones([2, 3])
    ones = [event for event in prof.function_events if event.name == "aten::ones"]
    assert len(ones) == 4 and ones[-1].concrete_inputs[0] == [2, 3]
    while deep:
        deep = deep[0]


def test_numbers_are_recorded_as_long_as_they_have_64_bits():
    bounds = [sign * 2**bits + more for sign in (-1, 1) for bits in (62, 63) for more in (-1, 0, 1)]
    with profile(record_shapes=True) as prof:
        for value in bounds:
            with contextlib.suppress(Exception):
                ag.ones([value])
    found = [e.concrete_inputs for e in prof.function_events if e.name == "aten::ones"]
    assert found == [[[v if -(2**63) <= v < 2**63 else None]] for v in bounds]


def test_thousands_of_shapes_are_told_apart():
    code = """
import autograd_cy as ag
from autograd_cy.autograd.profiler import profile
with profile(record_shapes=True) as prof:
    for n in range(3000):
        ag.empty(n, n % 7)
found = [e.concrete_inputs for e in prof.function_events if e.name == "aten::empty"]
assert found == [[n, n % 7] for n in range(3000)], found[:5]
"""
    done = programs.run("-c", code, timeout=60)  # a loop may have no end
    assert done.returncode == 0, done.stderr


def test_frames_are_read_whatever_the_path_of_imports_holds(monkeypatch):
    monkeypatch.setattr(sys, "path", [pathlib.Path("/tmp"), None, 3, b"x", *sys.path])
    with profile(with_stack=True) as prof:
        ag.ones(2)
    assert any("test_frames_are_read" in frame for frame in prof.function_events[0].stack)


def test_a_huge_number_of_events_is_none_that_overflows():
    first, second = Session(), Session(max_events=2**63 - 1)
    first.start()
    ag.ones(1)
    second.start()
    first.stop()
    ag.zeros(1)
    columns = second.stop()
    assert "aten::zeros" in columns.names and columns.dropped == 0


@pytest.mark.parametrize(
    ("most", "error"),
    [(2**63, ValueError), (0, ValueError), (-1, ValueError), (1.5, TypeError), ("3", TypeError)],
)
def test_a_number_of_events_is_a_positive_integer(most, error):
    with pytest.raises(error, match="max_events"):
        profile(max_events=most)
    with pytest.raises(error, match="max_events"):
        Session(max_events=most)


@pytest.mark.parametrize("make", [profile, profiler.profile])
def test_a_profile_that_becomes_garbage_stops_and_says_so(make):
    held = [make()]
    held[0].__enter__()
    assert ag.autograd._profiler_enabled()
    with pytest.warns(ResourceWarning, match="never stopped"):
        held.clear()
    assert not ag.autograd._profiler_enabled()


def test_a_profile_with_a_schedule_that_becomes_garbage_stops_too():
    plan = profiler.schedule(wait=0, warmup=1, active=5)
    held = [profiler.profile(schedule=plan, with_modules=True)]
    held[0].start()
    held[0].step()
    assert ag.autograd._profiler_enabled()
    with pytest.warns(ResourceWarning, match="never stopped"):
        held.clear()
    assert not ag.autograd._profiler_enabled()


# --- what is written ------------------------------------------------------------------------


@pytest.mark.parametrize("key", [1, None, b"k", ("a",)])
def test_metadata_has_keys_of_text(key):
    with profiler.profile() as prof:
        for add in (prof.add_metadata, prof.add_metadata_json):
            with pytest.raises(TypeError, match="the key is a str"):
                add(key, "1")


def test_pictures_and_stacks_are_written_whatever_labels_hold(tmp_path):
    with profile(with_stack=True) as prof, record_function("a\x00\x1b\x7f\ud800\ufffe<b>"):
        code = compile("y = ag.ones(20000) * 2", "odd\x01 \udc80;file.py", "exec")
        exec(code, {"ag": ag})
    path = tmp_path / "graph.svg"
    prof.export_flamegraph(path)
    assert "\N{REPLACEMENT CHARACTER}" in path.read_text(encoding="utf-8")
    minidom.parse(str(path))
    prof.export_stacks(tmp_path / "stacks")
    prof.function_events.export_stacks(tmp_path / "listed")
    (tmp_path / "stacks").read_text(encoding="utf-8")
    (tmp_path / "listed").read_text(encoding="utf-8")


def test_both_writers_of_stacks_add_up_before_they_round(tmp_path):
    x = ag.ones(2)
    with profile(with_stack=True) as prof:
        for _ in range(300):
            x = x + 1
        (x * ag.ones(2, requires_grad=True)).sum().backward()
    prof.export_stacks(tmp_path / "columns")
    prof.function_events.export_stacks(tmp_path / "events")
    both = [
        sorted((tmp_path / name).read_text(encoding="utf-8").splitlines())
        for name in ("columns", "events")
    ]
    assert both[0] == both[1] and both[0]
    loop = sum(e.self_cpu_time_total for e in prof.function_events if e.name == "aten::add")
    assert max(int(line.rpartition(" ")[2]) for line in both[0]) >= int(loop) - 1


def test_averages_are_pickled_and_copied():
    with profile(record_shapes=True) as prof:
        ag.ones(3) * 2
    averages = prof.key_averages(group_by_input_shape=True)
    again = pickle.loads(pickle.dumps(averages))
    assert [(a.key, a.count, a.cpu_time_total, a.input_shapes) for a in again] == [
        (a.key, a.count, a.cpu_time_total, a.input_shapes) for a in averages
    ]
    assert again.table() == averages.table()
    listed = prof.function_events.key_averages()
    assert [a.key for a in pickle.loads(pickle.dumps(listed))] == [a.key for a in listed]
    assert copy.copy(averages[0]).cpu_children is averages[0].cpu_children
    total = pickle.loads(pickle.dumps(prof.total_average()))
    assert total.key == "Total" and total.count == len(prof.function_events)


@pytest.mark.parametrize("nbytes", [800, 4096, 1_020_000, 3 * 1024**2])
def test_the_axis_of_memory_has_the_scale_of_its_notes(nbytes):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with profile(profile_memory=True) as prof:
        ag.empty(nbytes, dtype=ag.uint8)
    ax = prof.plot_memory()
    assert ax.figure is not None
    number, unit = ax.texts[0].get_text().splitlines()[0].removeprefix("peak ").split()
    assert ax.get_ylabel() == f"allocated {unit}"
    (dot,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert dot.get_ydata()[0] == pytest.approx(float(number), abs=0.006)
    pyplot.close("all")


def test_what_is_asked_for_reads_well(tmp_path):
    with profile(profile_memory=True, record_shapes=True) as prof:
        x = ag.ones(2)
    found = prof.memory()
    assert repr(found).startswith("<Memory peak=") and repr(found).endswith("holders=1>")
    assert prof.key_averages()[0].name == prof.key_averages()[0].key
    assert repr(prof.function_events[0].time_range).startswith("Interval(start=")
    prof.save(tmp_path / "x.npz")
    assert repr(load(tmp_path / "x.npz")) == f"<profile of {len(prof.function_events)} events>"
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.key_averages().export_stacks(tmp_path / "x", "self_time")
    del x


def test_dropped_events_stand_in_traces(tmp_path):
    with profile(max_events=1) as prof:
        ag.ones(2)
    prof.export_chrome_trace(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["droppedEvents"] == 1


def test_a_summary_of_threads_says_how_many():
    with profile() as prof:
        thread = threading.Thread(target=ag.ones, args=(2,))
        thread.start()
        thread.join()
        ag.ones(2)
    assert "threads            2, whose times add up" in prof.summary()


def test_pictures_of_little_and_of_much(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    from autograd_cy.profiler import _pictures

    monkeypatch.setattr(_pictures, "MOST_BARS", 3)
    with profile(profile_memory=True) as prof:
        for _ in range(5):
            ag.ones(2)
    ax = prof.plot_timeline()
    assert sum(len(drawn.get_paths()) for drawn in ax.collections) == 3
    with profile(profile_memory=True) as prof:
        pass
    assert prof.plot_memory().get_title() == "nothing was allocated"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="export_flamegraph"):
        prof.plot_timeline()


def test_a_narrow_box_has_the_function_and_the_line():
    box = _Box("folder/model.py(12): forward", "frame")
    assert [_cut(box, room) for room in (21, 14, 6, 3)] == [
        "model.py(12): forward",
        "forward (12)",
        "(12)",
        "f..",
    ]
    assert _cut(_Box("threshold_backward", "op"), 6) == "thre.."


def test_a_schedule_takes_the_older_ways_of_speaking():
    with pytest.warns(FutureWarning, match="use `activities`"):
        prof = profiler.profile(use_cuda=True)
    assert str(prof).startswith("<unfinished")
    prof.set_custom_trace_id_callback(lambda: "mine")
    with prof:
        ag.ones(2)
    assert prof.get_trace_id() == "mine"
    assert str(prof) == prof.profiler.table()
