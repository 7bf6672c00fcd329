"""Times of kernels and copies in the profiler's events, tables, traces and files."""

import json
import threading
import time

import pytest
from emulator import control

import autograd_cy as ag
from autograd_cy._C import cuda_timing
from autograd_cy.profiler import ProfilerActivity, profile, supported_activities

CUDA = ag.profiler._events.DeviceType.CUDA


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Kernels are loaded, and generators are there."""
    net()(ag.randn(4, 3, device="cuda")).sum().backward()


def net():
    return ag.nn.Sequential(ag.nn.Linear(3, 5), ag.nn.Tanh()).cuda()


def recorded(**options):
    model, x = net(), ag.ones(4, 3)
    with ag.autograd.profiler.profile(use_device="cuda", **options) as prof:
        with ag.autograd.profiler.record_function("step"):
            loss = model(x.cuda()).sum()
            loss.backward()
            loss.item()
    return prof


def test_kernels_belong_to_the_operators_that_put_them_on_streams():
    prof = recorded()
    there = [e for e in prof.function_events if e.device_type == CUDA]
    here = [e for e in prof.function_events if e.device_type != CUDA]
    names = {e.name for e in there}
    assert any(n.startswith("Memcpy HtoD") for n in names), names
    assert any(n.startswith("Memcpy DtoH") for n in names)
    assert any(n.startswith("tanh") for n in names)
    assert all(e.device_index == 0 and e.device_resource_id == 0 for e in there)
    by_name = {e.name: e for e in here}
    assert [k.name.split("_")[0] for k in by_name["aten::tanh"].kernels] == ["tanh"]
    assert by_name["TanhBackward0"].device_time_total > 0
    assert sum(len(e.kernels) for e in here) == len(there)
    step = by_name["step"]
    inside = [e for e in here if e.thread == step.thread]
    assert step.device_time_total == pytest.approx(sum(e.self_device_time_total for e in inside))
    assert all(e.time_range.start <= e.time_range.end for e in there)


def test_averages_and_tables_have_a_column_of_the_device():
    prof = recorded(profile_memory=True)
    averages = prof.key_averages()
    tanh = next(a for a in averages if a.key == "aten::tanh")
    assert tanh.device_time_total > 0 and tanh.self_device_time_total > 0
    assert tanh.cuda_time_total == tanh.device_time_total
    kernels = [a for a in averages if a.device_type == CUDA]
    copies = sum(a.count for a in kernels if a.key.startswith("Memcpy HtoD"))
    assert copies >= 1 and all(a.cpu_time_total == 0 for a in kernels)
    events = prof.function_events.key_averages()
    for a in averages:
        b = next(b for b in events if (b.key, b.device_type) == (a.key, a.device_type))
        assert b.self_device_time_total == pytest.approx(a.self_device_time_total)
        assert b.count == a.count
    for text in (prof.table(), averages.table(sort_by="self_cuda_time_total")):
        assert "Self CUDA" in text and "CUDA total" in text and "Self CUDA time total" in text
        assert "CUDA Mem" in text and "Memcpy HtoD (Pageable -> Device)" in text
    total = prof.total_average()
    assert total.self_device_time_total == pytest.approx(
        sum(a.self_device_time_total for a in kernels)
    )


def test_traces_have_kernels_with_arrows_from_their_operators(tmp_path):
    prof = recorded()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(path)
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    assert {e["cat"] for e in kernels} >= {"kernel", "gpu_memcpy"}
    assert {(e["pid"], e["tid"]) for e in kernels} == {(0, 0)}
    flows = [e for e in events if e.get("cat") == "ac2g"]
    starts, ends = ({e["id"]: e for e in flows if e["ph"] == ph} for ph in "sf")
    assert starts.keys() == ends.keys() == {e["args"]["correlation"] for e in kernels}
    own = ("cpu_op", "user_annotation")
    operators = {(e["tid"], e["ts"]) for e in events if e.get("cat") in own}
    assert all((e["tid"], e["ts"]) in operators for e in starts.values())
    labels = [e["args"] for e in events if e["name"] == "process_labels"]
    assert {"labels": "GPU 0"} in labels


def test_files_keep_kernels(tmp_path):
    prof = recorded()
    prof.save(tmp_path / "run.npz")
    again = ag.profiler.load(tmp_path / "run.npz")
    assert again.key_averages().table() == prof.key_averages().table()
    columns = prof.to_columns()
    joined = ag.profiler._columns.joined([columns, columns])
    assert len(joined.kernel_name) == 2 * len(columns.kernel_name)
    names = {joined.names[n] for n in joined.kernel_name}
    assert names == {columns.names[n] for n in columns.kernel_name}
    assert (joined.kernel_event[len(columns.kernel_name) :] >= len(columns)).all()


def test_steps_record_what_activities_say():
    assert supported_activities() == {ProfilerActivity.CPU, ProfilerActivity.CUDA}
    x = ag.ones(10, device="cuda")
    for activities, wanted in (
        ([ProfilerActivity.CPU], False),
        ([ProfilerActivity.CPU, ProfilerActivity.CUDA], True),
        (None, True),
    ):
        with profile(activities=activities) as prof:
            x * 2
        found = [e for e in prof.events() if e.device_type == CUDA]
        assert bool(found) == wanted
    with (
        pytest.warns(FutureWarning, match="use_cuda"),
        profile(activities=[ProfilerActivity.CPU], use_cuda=True) as prof,
    ):
        x * 2
    assert any(e.device_type == CUDA for e in prof.events())


def test_streams_and_threads_are_told_apart():
    side = ag.cuda.Stream()
    x = ag.ones(10, device="cuda")
    side.wait_stream(ag.cuda.current_stream())
    with profile() as prof:
        with ag.cuda.stream(side):
            y = x * 2
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    ag.cuda.current_stream().wait_stream(side)
    assert y.sum().item() == 20
    events = prof.events()
    rows = {e.name.partition("_")[0]: e.device_resource_id for e in events if e.device_type == CUDA}
    assert rows == {"mul": 1, "exp": 0}
    owners = {e.kernels[0].name.partition("_")[0]: e.name for e in events if e.kernels}
    assert owners == {"mul": "aten::mul", "exp": "aten::exp"}


def test_sessions_within_each_other_get_their_own():
    x = ag.ones(10, device="cuda")
    with profile() as outer:
        x * 2
        with profile() as inner:
            x.exp()
        x.tanh()
    count = [sum(e.device_type == CUDA for e in p.events()) for p in (outer, inner)]
    assert count == [3, 1]


@pytest.mark.emulated
def test_nothing_is_recorded_that_nobody_asked_for():
    x = ag.ones(10, device="cuda")

    def events(call):
        before = control.counts()
        call()
        return control.spent(before).get("events_recorded", 0)

    def profiled(**options):
        with ag.autograd.profiler.profile(**options):
            x * 2

    assert events(lambda: x * 2) == 0 == events(profiled)
    assert events(lambda: profiled(use_device="cuda")) == 3  # one that the others count from


def test_an_error_of_a_kernel_comes_out_at_the_end_and_leaves_nothing():
    x, i = ag.ones(3, 2, device="cuda"), ag.tensor([7], device="cuda")
    prof = ag.autograd.profiler.profile(use_device="cuda")
    with pytest.raises(IndexError), prof:
        ag.nn.functional.embedding(i, x)
    with profile() as after:
        x * 2
    assert sum(e.device_type == CUDA for e in after.events()) == 1
    with pytest.raises(KeyError), ag.autograd.profiler.profile(use_device="cuda"):
        raise KeyError


def test_copies_may_outlast_the_session_that_saw_them_begin():
    """Another session may have begun by then, from whose first event times don't count yet."""
    x = ag.ones(1 << 16, device="cuda")
    done = threading.Event()

    def copies():
        while not done.is_set():
            x.cpu()

    worker = threading.Thread(target=copies)
    worker.start()
    try:
        for _ in range(500):
            first = cuda_timing.begin()
            time.sleep(0.0003)
            assert all(name.startswith("Memcpy") for name, *_ in cuda_timing.end(first))
    finally:
        done.set()
        worker.join()
