"""Kernels read and write nothing beside their operands, whose memory is fenced by pages of none."""

import os
import sys
from pathlib import Path

import pytest
from programs import run

from autograd_cy._C import cpu

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect is called by ctypes")
@pytest.mark.parametrize("target", ["base", "avx2", "avx512"])
def test_nothing_is_touched_beside_operands(target):
    if target not in cpu.usable_targets():
        pytest.skip(f"this processor or this build has no {target}")
    path = os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    own = {"PYTHONPATH": path, "AUTOGRAD_CY_CPU": target, "AUTOGRAD_CY_BLAS": "own"}
    done = run(Path(__file__).with_name("fenced.py"), env=os.environ | own)
    said = done.stdout.splitlines()
    assert said and said[-1] == "done", (done.returncode, said[-1:], done.stderr[-2000:])
