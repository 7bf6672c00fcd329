"""Ctrl-C in long matrix products: it is raised, and everything works afterwards."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_cy as ag

ROOT = Path(ag.__file__).parents[1]

PROGRAM = """
import signal, time
import autograd_cy as ag

def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
a, b = ag.ones(2048, 4096), ag.ones(4096, 4096)
signal.setitimer(signal.ITIMER_REAL, 0.005)
before = ag.memory_summary()["live_blocks"]
for _ in range(1000):
    try:
        c = a @ b
    except KeyboardInterrupt:
        print("served")
        break
assert ag.memory_summary()["live_blocks"] <= before + 1
assert (ag.ones(64, 64) @ ag.ones(64, 64))[0, 0].item() == 64
c = ag.ones(4, 4096) @ b
assert c.sum().item() == 4 * 4096 * 4096
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals by a timer")
def test_ctrl_c_in_a_long_product_leaves_everything_usable():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0 and "served" in done.stdout, done.stderr[-800:]
