"""Interrupts: modes and levels are restored on every way out, and Ctrl-C is served soon."""

import signal
import textwrap
import threading
import time
from pathlib import Path

import programs
import pytest

import autograd_cy as ag

ROOT = Path(ag.__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs signals that arrive by a timer"
)


def run(text, timeout=120):
    """Run a program in another process; what it printed."""
    done = programs.run("-c", textwrap.dedent(text), cwd=ROOT, timeout=timeout)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


# KeyboardInterrupt at random moments while `work()` runs; then everything must be as before.
STRESS = """
import random, signal, time
import autograd_cy as ag
from autograd_cy._vmap import mapping as _vmap
from autograd_cy._C.tensor import _get_modes

WORK
random.seed(0)
work()      # imports, in whose weak references Python loses an interrupt
before = _get_modes()
hit = 0
def until_interrupted():    # at the head of a loop of its own Python 3.13.0 misses `except`
    signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-6, 3e-4))
    begun = time.monotonic()
    while time.monotonic() < begun + 1:
        work()
end = time.monotonic() + SECONDS
while time.monotonic() < end or hit <= 50:      # longer on a busy machine
    try:
        until_interrupted()
    except KeyboardInterrupt:
        hit += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert _get_modes() == before, (hit, _get_modes())
    assert _vmap.frames.list == [], hit
    assert ag.is_grad_enabled()
assert hit > 50, hit
x = ag.ones(3, requires_grad=True)
(ag.vmap(lambda t: t * 2)(x)).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0]
print("fine")
"""

WORKS = {
    "vmap": """
x = ag.ones(4, 3)
def work():
    ag.vmap(lambda t: ag.vmap(lambda u: u * 2)(t).sum())(x)
""",
    "no_grad": """
x = ag.ones(3)
def work():
    with ag.no_grad():
        x + 1
    with ag.inference_mode(), ag.enable_grad():
        x + 1
    ag.no_grad()(lambda: x + 1)()
""",
    "func": """
x = ag.ones(3)
def work():
    ag.func.jvp(lambda t: (t * t).sum(), (x,), (x,))
    ag.func.grad(lambda t: (t * t).sum())(x)
""",
    "backward": """
x = ag.ones(3, requires_grad=True)
class F(ag.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
def work():
    y = x
    for _ in range(5):
        y = F.apply(y) * 2
    y.sum().backward()
""",
    "saved": """
x = ag.ones(3, requires_grad=True)
def work():
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x * x).sum()
    y.backward()
""",
}
HANDLER = """
import signal
def raise_interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, raise_interrupt)
"""


@pytest.mark.parametrize("name", WORKS)
@pytest.mark.parametrize("seconds", [0.25, pytest.param(5, marks=pytest.mark.slow)])
def test_modes_survive_interrupts_at_any_moment(name, seconds):
    stress = STRESS.replace("WORK", WORKS[name], 1).replace("SECONDS", str(seconds), 1)
    assert "fine" in run(HANDLER + stress)


SERVED = """
import signal, sys, threading, time
import autograd_cy as ag

WORK
times = []
def handler(*_):
    times.append(time.monotonic())
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
served = False
signal.setitimer(signal.ITIMER_REAL, WAIT)
try:
    work()
except KeyboardInterrupt:
    served = True
signal.setitimer(signal.ITIMER_REAL, 0)
print("served" if served else "finished")
x = ag.ones(3, requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0]
"""


def test_a_long_backward_is_interrupted_between_nodes():
    work = """
    x = ag.ones(1, requires_grad=True)
    y = x
    for _ in range(300000):
        y = y * 1.0
    y = y.sum()
    def work():
        while True:
            y.backward(retain_graph=True)
    """
    # The handler runs inside the first backward: a loop of C code alone would end it first.
    found = run(SERVED.replace("WORK", textwrap.dedent(work), 1).replace("WAIT", "0.001"))
    assert "served" in found


def test_backward_can_run_again_after_an_interrupt():
    text = """
    calls = []
    x = ag.ones(1, requires_grad=True)
    y = x
    for _ in range(200000):
        y = y * 1.0
    y = y.sum()
    def work():
        y.backward(retain_graph=True)
        calls.append(1)
    """
    check = """
if served:
    assert calls == [] and x.grad is None
y.backward()
assert x.grad.item() in (1.0, 2.0) and ag.autograd.graph is not None
print("again")
"""
    text = SERVED.replace("WORK", textwrap.dedent(text), 1).replace("WAIT", "0.002")
    text = text.replace("x = ag.ones(3, requires_grad=True)\n", "z = x\nx = x\n")
    text = text.split("z = x\n")[0] + check
    assert "again" in run(text)


def test_signals_of_other_threads_do_not_matter():
    """Backward in a thread that isn't the main one never sees Ctrl-C."""
    x = ag.ones(1, requires_grad=True)
    errors = []

    def work():
        y = x
        for _ in range(2000):
            y = y * 1.0
        try:
            y.sum().backward()
        except BaseException as error:  # whatever it is, the test shows it
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == [] and x.grad.item() == 1


def test_absurd_numbers_of_threads_are_cut(capsys):
    found = run("""
        import autograd_cy as ag
        for n in (2**31 - 1, 10**18, 100000):
            ag.set_num_threads(n)
            assert 1 <= ag.get_num_threads() <= 4096, ag.get_num_threads()
        (ag.ones(10**6) + 1).sum()
        print("alive")
    """)
    assert "alive" in found


LONG = ag.zeros(100_000)
LEAF = ag.zeros(100_000, requires_grad=True)
NUMBERS = [0.5, 1] * 500_000
ROWS = [[0.5, 1.5]] * 200_000
LONG_CALLS = {
    "tolist": ag.zeros(1_000_000).tolist,
    "tolist of long rows": ag.zeros(2, 500_000).tolist,
    "tolist of short rows": ag.zeros(50_000, 2, 2).tolist,
    "unbind": LONG.unbind,
    "unbind with a graph": LEAF.unbind,
    "iter": lambda: iter(LONG),
    "split": lambda: LONG.split(1),
    "split into sizes": lambda: LONG.split((1,) * 100_000),
    "chunk": lambda: LONG.chunk(100_000),
    "unsafe_split": lambda: ag.unsafe_split(LONG, 1),
    "tensor of numbers": lambda: ag.tensor(NUMBERS),
    "tensor of rows": lambda: ag.tensor(ROWS),
    "tensor of rows of one": lambda: ag.tensor([[0.5]] * 100_000, dtype=ag.float32),
    "tensor_split": lambda: LONG.tensor_split(100_000),
    "tensor_split at": lambda: LONG.tensor_split(tuple(range(100_000))),
}


class Stopped(Exception):
    """Raised by a signal. A KeyboardInterrupt that comes too late would end all tests."""


@pytest.mark.parametrize("name", LONG_CALLS)
def test_what_makes_many_objects_is_interrupted_on_the_way(name):
    call = LONG_CALLS[name]

    def stop(*_):
        raise Stopped

    def stopped():
        signal.setitimer(signal.ITIMER_REAL, whole / 20)
        call()

    begun = time.process_time()  # other programs may make the clock on the wall run on
    call()
    whole = time.process_time() - begun
    before = signal.signal(signal.SIGALRM, stop)
    try:
        begun = time.process_time()
        with pytest.raises(Stopped):
            stopped()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - begun < whole / 2
