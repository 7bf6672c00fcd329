"""Ctrl-C in long matrix products: it is raised, and everything works afterwards."""

import os
import signal
from pathlib import Path

import programs
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
    done = programs.run("-c", PROGRAM, cwd=ROOT)
    assert done.returncode == 0 and "served" in done.stdout, done.stderr[-800:]


LATENCY = """
import math, signal, sys, time
import autograd_cy as ag

def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
# All operands show the same memory, as filling it would take longer than the calls do.
MEMORY = ag.zeros(40 * 800 * 800 * 8, dtype=ag.uint8)

def operands(dtype, *shapes):
    flat = MEMORY.view(dtype)
    return [flat[: math.prod(shape)].view(shape) for shape in shapes]

# Each takes 0.2 s or more on one core.
CALLS = {
    "float64": (ag.mm, operands(ag.float64, (3000, 3000), (3000, 3000))),
    "float32": (ag.mm, operands(ag.float32, (4000, 4000), (4000, 4000))),
    "complex128": (ag.mm, operands(ag.complex128, (2000, 2000), (2000, 2000))),
    "float16": (ag.mm, operands(ag.float16, (2500, 2500), (2500, 2500))),
    "int64": (ag.mm, operands(ag.int64, (1500, 1500), (1500, 1500))),
    "batch": (ag.bmm, operands(ag.float64, (40, 800, 800), (40, 800, 800))),
    "long sum": (ag.mm, operands(ag.complex128, (128, 100000), (100000, 128))),
}
# Integers and halves have no other provider.
names = [n for n in CALLS if sys.argv[1] == "own" or n not in ("float16", "int64")]
for threads, name in [(n, name) for n in (1, 2) for name in names]:
    ag.set_num_threads(threads)
    call, (a, b) = CALLS[name]
    call(a[..., :8], b[..., :8, :8])
    wait = 0.02
    begun = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, wait)
    try:
        call(a, b)
        print("finished", name, time.monotonic() - begun)
    except KeyboardInterrupt:
        print("served", name, time.monotonic() - begun - wait)
    signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals by a timer")
@pytest.mark.parametrize("provider", ["own", "scipy"])
def test_ctrl_c_is_served_between_tiles_of_any_product(provider):
    """By one and two threads; some 0.05 s on an idle machine, the limit is for a busy one."""
    env = {**os.environ, "AUTOGRAD_CY_BLAS": provider}
    done = programs.run("-c", LATENCY, provider, cwd=ROOT, timeout=300, env=env)
    assert done.returncode == 0, done.stderr[-800:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 2 * (7 if provider == "own" else 5)
    late = [line for line in lines if line[0] != "served" or float(line[-1]) > 2]
    assert late == [], lines


def test_large_products_by_tiles_are_right():
    """Longer sums than a tile takes at once, and tiles that the shape doesn't fill."""
    text = """
import sys, numpy as np, autograd_cy as ag
random = np.random.default_rng(0)
cases = [(70, 9000, 60, "float64"), (700, 300, 90, "float64"), (90, 300, 70, "complex128")]
if sys.argv[1] == "scipy":
    cases += [(120, 80000, 120, "float64"), (120, 20000, 120, "complex128")]
for m, k, n, dtype in cases:
    a, b = random.random((m, k)) - 0.5, random.random((k, n)) - 0.5
    x, y = a.astype(dtype), b.astype(dtype)
    if dtype == "complex128":
        x, y = x + 1j * x[::-1], y - 1j * y[:, ::-1]
    found = (ag.from_numpy(x) @ ag.from_numpy(y)).numpy()
    c = ag.ones(m, n, dtype=ag.from_numpy(x).dtype)
    added = ag.addmm(c, ag.from_numpy(x), ag.from_numpy(y), beta=3, alpha=2).numpy()
    wanted = x @ y
    scale = 1e-13 * k**0.5 * 10
    assert abs(found - wanted).max() < scale, (m, k, n, dtype)
    assert abs(added - (3 + 2 * wanted)).max() < 2 * scale, (m, k, n, dtype)
print("right")
"""
    for provider in ("own", "scipy"):
        env = {**os.environ, "AUTOGRAD_CY_BLAS": provider}
        done = programs.run("-c", text, provider, cwd=ROOT, timeout=300, env=env)
        assert done.returncode == 0 and "right" in done.stdout, done.stderr[-800:]
