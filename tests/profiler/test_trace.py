"""The Chrome trace: its form, what it holds, that it is written piece by piece."""

import gzip
import json
import tracemalloc

import pytest
from samples import training, with_memory

import autograd_cy as torch
from autograd_cy.autograd.profiler import profile
from autograd_cy.profiler import _trace
from autograd_cy.profiler._averages import EventList
from autograd_cy.profiler._columns import Columns
from autograd_cy.profiler._events import FunctionEvent
from autograd_cy.profiler._reports import Loaded

NUMBER = (int, float)
# Of each phase: the keys that an event must have, and their types.
SCHEMA = {
    "X": {
        "name": str, "cat": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER, "args": dict,
    },
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "s": {"name": str, "cat": str, "id": int, "pid": int, "tid": int, "ts": NUMBER},
    "f": {"name": str, "cat": str, "id": int, "pid": int, "tid": int, "ts": NUMBER, "bp": str},
    "i": {"name": str, "s": str, "pid": int, "tid": int, "ts": NUMBER, "args": dict},
    "C": {"name": str, "pid": int, "ts": NUMBER, "args": dict},
}  # fmt: skip
TOP = {
    "schemaVersion": int,
    "displayTimeUnit": str,
    "baseTimeNanoseconds": int,
    "host_name": str,
    "trace_id": str,
    "traceEvents": list,
}


def checked(path):
    """The trace of a file, after a check of its form."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        trace = json.load(file)
    for key, kind in TOP.items():
        assert isinstance(trace[key], kind), key
    for event in trace["traceEvents"]:
        for key, kind in SCHEMA[event["ph"]].items():
            assert isinstance(event[key], kind), (key, event)
        assert event.get("dur", 0) >= 0
    return trace


def of_phase(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_the_trace_has_the_form_that_viewers_read(tmp_path, name):
    columns = with_memory(training(steps=2, threads=2))
    columns.failed[1] = columns.unfinished[2] = True
    Loaded(columns).export_chrome_trace(tmp_path / name)
    trace = checked(tmp_path / name)
    assert trace["displayTimeUnit"] == "ms" and trace["schemaVersion"] == 1
    assert trace["baseTimeNanoseconds"] == columns.base_ns
    complete = of_phase(trace, "X")
    assert len(complete) == len(columns)
    assert {event["tid"] for event in complete} == {4000, 4001}
    assert {event["cat"] for event in complete} == {"cpu_op", "user_annotation"}
    label, mul = complete[0], next(event for event in complete if event["name"] == "aten::mul")
    assert label["name"] == "step" and label["cat"] == "user_annotation"
    args = mul["args"]
    assert (args["Sequence number"], args["Fwd thread id"]) == (1000, 0)
    assert args["Input Dims"] == [[2, 3], []] and args["Input type"] == ["float", "Scalar"]
    assert args["Concrete Inputs"] == ["", "2.0"] and args["Failed"] is True
    assert args["Call stack"] == "model.py(3): forward;\nrun me.py(9): <module>"
    assert (mul["ts"], mul["dur"]) == (
        columns.start[1] / 1e3,
        pytest.approx((columns.end[1] - columns.start[1]) / 1e3),
    )
    assert sum("Unfinished" in event["args"] for event in complete) == 1
    names = {event["args"].get("name") for event in of_phase(trace, "M")}
    assert {"python", "MainThread"} <= names


def test_flows_go_from_forward_to_backward(tmp_path):
    Loaded(training(steps=3)).export_chrome_trace(tmp_path / "t.json")
    trace = checked(tmp_path / "t.json")
    starts = {event["id"]: event for event in of_phase(trace, "s")}
    ends = {event["id"]: event for event in of_phase(trace, "f")}
    assert len(starts) == 3 and starts.keys() == ends.keys()
    by_time = {event["ts"]: event for event in of_phase(trace, "X")}
    for number, start in starts.items():
        assert start["cat"] == "fwdbwd"
        forward, backward = by_time[start["ts"]], by_time[ends[number]["ts"]]
        assert forward["name"] == "aten::mul" and backward["name"].endswith(": MulBackward0")
        assert forward["args"]["Sequence number"] == backward["args"]["Sequence number"]


def test_a_graph_that_is_walked_twice_has_an_arrow_for_each_walk(tmp_path):
    x = torch.ones(3, requires_grad=True)
    with profile() as prof:
        y = (x * 2).sum()
        y.backward(retain_graph=True)
        y.backward()
    prof.export_chrome_trace(tmp_path / "t.json")
    trace = checked(tmp_path / "t.json")
    starts, ends = ([event["id"] for event in of_phase(trace, kind)] for kind in "sf")
    assert len(set(starts)) == len(starts) == 4 and sorted(starts) == sorted(ends)


def test_memory_is_instants_and_a_counter(tmp_path):
    columns = with_memory(training(steps=2))
    Loaded(columns).export_chrome_trace(tmp_path / "t.json")
    trace = checked(tmp_path / "t.json")
    instants = of_phase(trace, "i")
    assert [event["args"]["Bytes"] for event in instants] == columns.mem_bytes.tolist()
    assert {event["name"] for event in instants} == {"[memory]"}
    assert instants[0]["args"]["Addr"] == 1 and instants[0]["args"]["Total Allocated"] == 100
    counter = of_phase(trace, "C")
    assert {event["name"] for event in counter} == {"allocated bytes"}
    assert [event["args"]["bytes"] for event in counter] == columns.mem_total.tolist()


def test_names_of_any_characters_are_written(tmp_path):
    name = 'a "quoted" \\ \n <label> \u2603'
    Loaded(Columns(names=[name], name=[0], start=[1], end=[2])).export_chrome_trace(tmp_path / "t")
    assert of_phase(checked(tmp_path / "t"), "X")[0]["name"] == name


def test_an_empty_session_is_a_trace(tmp_path):
    Loaded(Columns()).export_chrome_trace(tmp_path / "t")
    assert of_phase(checked(tmp_path / "t"), "X") == []


def test_lists_of_events_are_traces_too(tmp_path):
    events = [
        FunctionEvent(0, "a", 1, 0.5, 3, input_shapes=[[2], []], stack=["f.py(1): g"]),
        FunctionEvent(1, "b", 2, 1, 2, sequence_nr=4),
    ]
    EventList(events).export_chrome_trace(tmp_path / "t")
    one, other = of_phase(checked(tmp_path / "t"), "X")
    assert (one["ts"], one["dur"], one["args"]["Input Dims"]) == (0.5, 2.5, [[2], []])
    assert one["args"]["Call stack"] == "f.py(1): g"
    assert (other["tid"], other["args"]["Sequence number"]) == (2, 4)


def test_many_events_need_no_object_each(tmp_path, monkeypatch):
    monkeypatch.setattr(_trace, "CHUNK", 512)
    report = Loaded(training(steps=900))
    events = len(report.to_columns())
    report.key_averages(), report._report("x").spans.forward_of
    report.export_chrome_trace(tmp_path / "t.json")  # what is made once is there
    tracemalloc.start()
    try:
        report.export_chrome_trace(tmp_path / "t.json")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = (tmp_path / "t.json").stat().st_size
    # A dictionary alone would be 200 bytes an event, its text as much again.
    assert peak < 150 * events < size, (peak, events, size)
