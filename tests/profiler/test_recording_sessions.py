"""Sessions of the recorder, threads, processes and interrupts; it changes nothing of a program."""

import gc
import os
import signal
import threading
import weakref

import numpy as np
import pytest
from endless import in_child
from recordings import Exp, assert_nested, names_of, recorded

import autograd_cy as ag
from autograd_cy.profiler._labels import record_function
from autograd_cy.profiler._session import Session

# --- sessions -------------------------------------------------------------------------------------


def test_sessions_nest_and_overlap():
    first, second = Session(), Session(record_shapes=True)
    x = ag.ones(3)
    first.start()
    x.neg()
    second.start()
    x.exp()
    a = first.stop()
    x.sin()
    b = second.stop()
    assert names_of(a) == ["aten::neg", "aten::exp"]
    assert names_of(b) == ["aten::exp", "aten::sin"]
    assert (a.shape == -1).all() and not a.shapes
    assert b.shapes[b.shape[0]][0] == [[3]]
    assert not ag._C.recorder._enabled()


def test_many_overlapping_sessions_keep_no_old_events():
    x = ag.ones(3)
    before = Session()
    before.start()
    for _ in range(20):
        following = Session()
        following.start()
        for _ in range(300):
            x.neg()
        assert len(before.stop()) in (300, 600)
        before = following
    assert len(before.stop()) == 300


def test_a_session_is_started_and_stopped_once():
    session = Session()
    with pytest.raises(RuntimeError, match="isn't running"):
        session.stop()
    session.start()
    with pytest.raises(RuntimeError, match="started already"):
        session.start()
    session.stop()
    with pytest.raises(ValueError, match="max_events"):
        Session(max_events=0)


def test_events_beyond_the_limit_are_counted():
    x = ag.ones(3)
    columns = recorded(lambda: [x.neg() for _ in range(50)], max_events=20)
    assert len(columns) == 20 and columns.dropped == 30
    assert_nested(columns)


def test_the_limit_is_that_of_each_session():
    x = ag.ones(3)
    small, large = Session(max_events=5), Session()
    large.start()
    small.start()
    for _ in range(9):
        x.neg()
    a, b = small.stop(), large.stop()
    assert (len(a), a.dropped) == (5, 4)
    assert (len(b), b.dropped) == (9, 0)


@pytest.mark.parametrize("counter", [False, True])
def test_both_clocks_agree_with_the_system(counter):
    import time

    from autograd_cy._C.recorder import _use_counter

    before = _use_counter(counter)
    try:
        session = Session()
        start = time.perf_counter_ns()
        session.start()
        x = ag.ones(200, 200)
        for _ in range(40):
            x = x @ x * 1e-3
        columns = session.stop()
        passed = time.perf_counter_ns() - start
    finally:
        _use_counter(before)
    assert 0 < columns.wall_ns <= passed
    assert columns.end.max() <= columns.wall_ns + 1000
    assert (columns.end - columns.start).sum() > 0.1 * columns.wall_ns
    assert_nested(columns)


def test_blocks_of_events_follow_each_other():
    x = ag.ones(3)

    def run():
        with record_function("all"):
            for i in range(1500):
                with record_function(f"step {i}"):
                    x.neg()

    columns = recorded(run)
    assert len(columns) == 3001
    names = names_of(columns)
    assert names[1::2] == [f"step {i}" for i in range(1500)]
    assert (columns.parent[1::2] == 0).all()
    assert (columns.parent[2::2] == np.arange(1, 3001, 2)).all()


# --- threads, processes, interrupts ---------------------------------------------------------------


def test_threads_are_recorded_as_they_are():
    x = ag.ones(3)
    barrier = threading.Barrier(4)

    def work(name):
        barrier.wait()
        with record_function(name):
            for _ in range(200):
                x.neg()

    def run():
        threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    columns = recorded(run)
    assert_nested(columns)
    assert len(columns) == 4 * 201
    for thread in np.unique(columns.thread):
        here = columns.thread == thread
        labels = [n for n, h in zip(names_of(columns), here, strict=True) if h and n[0] == "t"]
        assert len(labels) == 1 and here.sum() == 201
    alone = recorded(run, all_threads=False)
    assert len(alone) == 0


def test_stop_while_another_thread_is_inside_of_an_event():
    inside, go = threading.Event(), threading.Event()

    class Waits(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            inside.set()
            go.wait()
            return x.neg()

    thread = threading.Thread(target=lambda: Waits.apply(ag.ones(2)))
    session = Session()
    session.start()
    thread.start()
    inside.wait()
    columns = session.stop()
    names = names_of(columns)
    assert columns.unfinished[names.index("Waits")]
    other = Session()
    other.start()
    go.set()
    thread.join()
    assert names_of(other.stop()) == ["aten::neg"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_records_nothing_of_its_parent():
    session = Session()
    session.start()
    ag.ones(2).neg()

    def work():
        assert not ag._C.recorder._enabled()
        ag.ones(2).exp()
        assert len(session.stop()) == 0
        assert "aten::sin" in names_of(recorded(lambda: ag.ones(2).sin()))

    assert in_child(work, 10) == 0
    ag.ones(2).exp()
    names = names_of(session.stop())
    assert "aten::neg" in names and "aten::exp" in names and "aten::sin" not in names


@pytest.fixture
def interrupts():
    """SIGINT raises, also in a process that was started in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_leaves_no_event_open():
    x = ag.ones(3, requires_grad=True)

    def hook(grad):
        signal.raise_signal(signal.SIGINT)

    x.register_hook(hook)

    def run():
        with pytest.raises(KeyboardInterrupt):
            (x * 2).sum().backward()
        ag.ones(2).neg()

    columns = recorded(run)
    assert_nested(columns)
    assert not columns.unfinished.any()
    assert columns.parent[names_of(columns).index("aten::neg")] == -1
    assert columns.failed.any()


# --- it changes nothing ---------------------------------------------------------------------------


def test_nothing_is_kept_alive():
    session = Session(record_shapes=True, with_stack=True, profile_memory=True, with_modules=True)
    session.start()
    x = ag.ones(3, requires_grad=True)
    y = Exp.apply(x * 2)
    y.sum().backward()
    refs = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
    del x, y
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3
    session.stop()


def test_results_and_ownership_are_the_same_under_the_recorder():
    def train():
        ag.manual_seed(0)
        w = ag.randn(5, 3, requires_grad=True)
        x = ag.randn(7, 5)
        for _ in range(3):
            loss = (x @ w).tanh().pow(2).mean()
            loss.backward()
            with ag.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        (x @ w).sum().backward()
        return w.detach().numpy().tobytes(), w.grad.numpy().tobytes(), loss.item()

    plain = train()
    seen = []
    recorded(lambda: seen.append(train()), record_shapes=True, with_stack=True, profile_memory=True)
    assert seen == [plain]


def test_a_gradient_is_taken_over_under_the_recorder():
    """Accumulation takes a gradient that nobody else has; a recorder's reference would show."""

    def address():
        x = ag.ones(1000, requires_grad=True)
        before = ag.memory_summary()["live_blocks"]
        (x * 2).backward(ag.ones(1000))
        assert x.grad is not None
        return ag.memory_summary()["live_blocks"] - before

    plain = address()
    found = []
    recorded(lambda: found.append(address()), record_shapes=True)
    assert found == [plain]


def test_a_recording_without_its_object_stops():
    held = [Session(profile_memory=True)]
    held[0].start()
    assert ag.autograd._profiler_enabled()
    with pytest.warns(ResourceWarning, match="never stopped"):
        held.clear()
    assert not ag.autograd._profiler_enabled()
