"""Recorded events in columns: defaults, checks, files."""

import numpy as np
import pytest

from autograd_cy.profiler._columns import EVENT_ARRAYS, MEMORY_ARRAYS, Columns


def two_events():
    return Columns(
        names=["aten::mul", "step"],
        name=[1, 0],
        start=[0, 10],
        end=[100, 40],
        scope=[7, 0],
        seq=[-1, 3],
        shape=[-1, 0],
        stack=[-1, 0],
        shapes=[([[2, 3], []], ["", 2.5], ["float", "Scalar"])],
        stacks=[("model.py(12): forward", "run.py(3): <module>")],
        mem_time=[12],
        mem_bytes=[64],
        mem_total=[64],
        mem_address=[2**63 + 1],
        mem_thread=[1],
        mem_event=[1],
        threads=[77],
        thread_names=["MainThread"],
        base_ns=5,
        wall_ns=120,
        options={"record_shapes": True},
    )


def test_what_was_not_recorded_has_the_value_of_none():
    columns = Columns(names=["a"], name=[0, 0], start=[1, 2], end=[2, 3])
    assert len(columns) == 2
    assert columns.seq.tolist() == columns.shape.tolist() == columns.parent.tolist() == [-1, -1]
    assert columns.flops.tolist() == columns.fwd_thread.tolist() == [0, 0]
    assert columns.failed.dtype == bool and not columns.failed.any()
    assert len(columns.mem_time) == 0


def test_arrays_of_another_length_are_refused():
    with pytest.raises(ValueError, match="Columns: start has shape"):
        Columns(name=[0, 0], start=[1])
    with pytest.raises(ValueError, match="Columns: mem_bytes has shape"):
        Columns(mem_time=[0, 1], mem_bytes=[1])
    with pytest.raises(TypeError, match="unknown colour"):
        Columns(colour=3)


def test_a_file_gives_the_same_columns(tmp_path):
    columns = two_events()
    path = tmp_path / "run.profile"  # the name is taken as it is
    columns.save(path)
    again = Columns.load(path)
    for key in (*EVENT_ARRAYS, *MEMORY_ARRAYS):
        kept, read = getattr(columns, key), getattr(again, key)
        assert kept.dtype == read.dtype and np.array_equal(kept, read), key
    for key in ("names", "shapes", "stacks", "threads", "thread_names", "wall_ns", "options"):
        assert getattr(again, key) == getattr(columns, key), key
    assert repr(again) == "<Columns of 2 events, 1 changes of memory>"


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.ones(2))
    with pytest.raises(ValueError, match="no file of a profile"):
        Columns.load(path)
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match="no file of a profile"):
        Columns.load(path)
