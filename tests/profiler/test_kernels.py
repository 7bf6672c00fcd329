"""Kernels of GPUs in columns: whose they are, and what reports say of them."""

import json

import numpy as np

import autograd_cy as ag
from autograd_cy.profiler._columns import Columns, joined
from autograd_cy.profiler._kernels import owners
from autograd_cy.profiler._reports import Loaded


def columns():
    """Two threads; ``outer`` has ``inner`` in it, and ``other`` is in the second thread."""
    return Columns(
        names=["outer", "inner", "other", "mul_f32", "Memcpy HtoD (Pageable -> Device)"],
        name=[0, 1, 2],
        start=[0, 1000, 500],
        end=[10_000, 3000, 5000],
        thread=[1, 1, 2],
        parent=[-1, 0, -1],
        threads=[71, 72],
        thread_names=["a", "b"],
        kernel_name=[3, 3, 4],
        kernel_start=[4000, 9000, 20_000],
        kernel_end=[6000, 10_000, 24_000],
        kernel_event=[1, 0, -1],
        kernel_device=[0, 0, 1],
        kernel_stream=[0, 1, 0],
        wall_ns=30_000,
        options={"use_device": "cuda"},
    )


def test_a_kernel_belongs_to_the_innermost_event_that_was_open():
    put = np.array([500, 1500, 3500, 20_000, 600, 400, 1500])
    threads = [71, 71, 71, 71, 72, 72, 99]
    assert owners(columns(), put, threads).tolist() == [0, 1, 0, -1, 2, -1, -1]
    assert owners(Columns(threads=[71]), put[:1], [71]).tolist() == [-1]


def test_times_of_kernels_are_those_of_their_events():
    report = Loaded(columns())
    found = {a.key: a for a in report.key_averages()}
    assert (found["outer"].device_time_total, found["outer"].self_device_time_total) == (3.0, 1.0)
    assert found["inner"].cuda_time_total == 2.0 and found["other"].device_time_total == 0
    assert (found["mul_f32"].count, found["mul_f32"].device_time_total) == (2, 3.0)
    assert found["mul_f32"].cpu_time_total == 0 == found["mul_f32"].self_cpu_time_total
    events = report._report("").events
    assert [k.duration for k in events[0].kernels] == [1.0]
    assert [e.name for e in events[3:]] == ["mul_f32", "mul_f32", columns().names[4]]
    assert report.total_average().device_time_total == 5.0  # outer's and inner's, as those of time
    text = report.key_averages().table(sort_by="cuda_time_total")
    assert "Self CUDA time total: 7.000us" in text and "CUDA time avg" in text
    nothing = Columns(
        names=["k"], kernel_name=[0], kernel_start=[0], kernel_end=[5000], kernel_event=[-1],
        kernel_device=[0], kernel_stream=[0],
    )  # fmt: skip
    assert [a.device_time_total for a in Loaded(nothing).key_averages()] == [5.0]


def test_a_trace_shows_streams_and_arrows(tmp_path):
    Loaded(columns()).export_chrome_trace(tmp_path / "x.json")
    events = json.loads((tmp_path / "x.json").read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")]
    assert [(e["pid"], e["tid"], e["ts"], e["dur"]) for e in kernels] == [
        (0, 0, 4.0, 2.0),
        (0, 1, 9.0, 1.0),
        (1, 0, 20.0, 4.0),
    ]
    arrows = [(e["ph"], e["id"], e["ts"]) for e in events if e.get("cat") == "ac2g"]
    assert arrows == [("s", 1, 1.0), ("f", 1, 4.0), ("s", 2, 0.0), ("f", 2, 9.0)]
    named = [(e["pid"], e["args"]) for e in events if e["name"] == "process_labels"]
    assert named[1:] == [(0, {"labels": "GPU 0"}), (1, {"labels": "GPU 1"})]


def test_files_and_joined_sessions_keep_kernels(tmp_path):
    columns().save(tmp_path / "x.npz")
    again = Columns.load(tmp_path / "x.npz")
    assert again.kernel_end.tolist() == [6000, 10_000, 24_000]
    both = joined([columns(), again])
    assert both.kernel_event.tolist() == [1, 0, -1, 4, 3, -1]
    assert [both.names[n] for n in both.kernel_name[2:4]] == [columns().names[4], "mul_f32"]
    with np.load(tmp_path / "x.npz") as file:
        older = {k: file[k] for k in file.files if not k.startswith("kernel")}
    np.savez(tmp_path / "older.npz", **older)
    assert len(Columns.load(tmp_path / "older.npz").kernel_name) == 0


def test_without_a_gpu_nothing_is_timed():
    if ag.cuda.is_available():
        return
    assert ag.profiler.supported_activities() == {ag.profiler.ProfilerActivity.CPU}
    with ag.profiler.profile() as prof:
        ag.ones(2) * 2
    assert "CUDA" not in prof.key_averages().table()
