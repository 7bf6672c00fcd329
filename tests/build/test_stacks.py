"""The stack of every compiled function fits that of threads (see ext/build/stacks.py)."""

import pytest
from building import ROOT  # noqa: F401 - makes `ext` importable

from ext.build import stacks

pytestmark = pytest.mark.slow


def test_large_frames_are_those_of_loops():
    found = stacks.frames()
    assert len(found) > 1000
    assert stacks.refused(found) == []
    seen = {(module, name) for size, module, name in found if size > stacks.SMALL}
    # What no longer is large needs no word.
    assert {(m, n) for m, names in stacks.IN_LOOPS.items() for n in names} <= seen


def test_a_large_frame_is_refused_by_name():
    found = [(90_000, "gemm_loops", "pack"), (30_000, "reduce", "sum"), (21_000, "reduce", "min")]
    words = stacks.refused(found)
    assert len(words) == 2
    assert words[0].startswith("gemm_loops.pack takes 90000 bytes of stack, more than 80000")
    assert words[1].startswith("reduce.sum takes 30000 bytes of stack, more than 22000: take")
    place = "build/x.c:6829:13:__pyx_fuse_1__pyx_f_11autograd_cy_2_C_10grid_loops_to_points.part.0"
    assert stacks.function_of("grid_loops", place) == "to_points"


def test_a_module_without_c_and_a_build_that_cannot_be_are_said(monkeypatch, capsys):
    monkeypatch.setattr(stacks.sys, "argv", ["stacks", "no_such_module"])
    assert stacks.main() == 2
    assert "There is no generated C of no_such_module: build first" in capsys.readouterr().err
    monkeypatch.setenv("MAX_JOBS", "all")
    assert stacks.main() == 2
    assert "MAX_JOBS=all is no number" in capsys.readouterr().out
