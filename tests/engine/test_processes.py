"""Forward and backward in other processes: after a fork, and in workers of multiprocessing."""

import multiprocessing
import os
import threading
import weakref

import pytest
from endless import in_child

import autograd_cy as torch

PATIENCE = 60
METHODS = [
    m for m in ("fork", "forkserver", "spawn") if m in multiprocessing.get_all_start_methods()
]

# From Python 3.12 on, forking with threads around is warned of; that it works is what is tested.
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


def train(seed, steps=5):
    """Weights after some steps of a small network, with sizes that threads would share."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Tanh(), torch.nn.Linear(256, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = torch.randn(512, 64), torch.randn(512, 8)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return [p.detach().numpy().tobytes() for p in model.parameters()]


def warm_up():
    """Use all that a parent may have used before it forks: threads, BLAS, the allocator's cache."""
    return train(0)


def check(condition):
    if not condition:
        raise AssertionError("wrong result in the child")


def test_a_forked_child_trains_as_its_parent_does():
    expected = warm_up()
    assert in_child(lambda: check(train(0) == expected)) == 0
    assert train(0) == expected


def test_a_child_of_a_child():
    expected = warm_up()
    assert in_child(lambda: check(in_child(lambda: check(train(0) == expected)) == 0)) == 0


def test_a_graph_from_before_the_fork_runs_in_both():
    x = torch.ones(300, 300, requires_grad=True)
    y = (x @ x).sum()

    def work():
        y.backward()
        check(x.grad.tolist() == [[600.0] * 300] * 300)

    assert in_child(work) == 0
    assert x.grad is None
    work()


def test_a_child_may_use_threads_of_python():
    warm_up()
    w = torch.zeros(90_000, dtype=torch.float64, requires_grad=True)

    def work():
        threads = [threading.Thread(target=lambda: w.sum().backward()) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        check(set(w.grad.tolist()) == {3.0})

    assert in_child(work) == 0


def test_fork_in_a_thread():
    warm_up()
    found = []
    thread = threading.Thread(target=lambda: found.append(in_child(lambda: train(1))))
    thread.start()
    thread.join(PATIENCE)
    assert found == [0]


def test_fork_inside_backward():
    x = torch.ones(90_000, requires_grad=True)
    found = []

    def work():
        y = torch.ones(90_000, requires_grad=True)
        (y * 2).sum().backward()
        check(set(y.grad.tolist()) == {2.0})

    def hook(grad):
        with torch.enable_grad():
            found.append(in_child(work))

    x.register_hook(hook)
    (x * 3).sum().backward()
    assert found == [0] and set(x.grad.tolist()) == {3.0}


def test_fork_while_other_threads_run_backward(eager_switching):
    w = torch.zeros(60_000, dtype=torch.float64, requires_grad=True)
    stop = threading.Event()
    errors = []

    def keep_running():
        try:
            while not stop.is_set():
                (w * 2).sum().backward()
        except BaseException as error:
            errors.append(error)

    def work():
        # The leaf that the parent's threads were adding to is free here.
        (w * 2).sum().backward()
        fresh = torch.zeros(60_000, requires_grad=True)
        (fresh * 2).sum().backward()
        check((fresh.grad.numpy() == 2).all())

    threads = [threading.Thread(target=keep_running) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert in_child(work) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert errors == []


@pytest.mark.filterwarnings("ignore:Using backward.* with create_graph=True")
@pytest.mark.parametrize("retained", [False, True], ids=["leaf", "retained"])
def test_fork_while_another_thread_has_put_half_a_gradient(retained):
    """The old one is let go while the mark of who puts the new one is set."""
    w = torch.ones(3, requires_grad=True)
    x = w * 1.0
    x.retain_grad()
    place = x if retained else w
    half, forked = threading.Event(), threading.Event()
    (x * 2).sum().backward(create_graph=True)

    def let_go(_):
        half.set()
        forked.wait(PATIENCE)

    old = weakref.ref(place.grad, let_go)
    thread = threading.Thread(target=lambda: (x * 2).sum().backward(create_graph=True))

    def work():
        (x * 3).sum().backward()
        check(place.grad.tolist() == [7.0] * 3)

    thread.start()
    try:
        assert half.wait(PATIENCE) and old() is None
        assert in_child(work, 8) == 0
    finally:
        forked.set()
        thread.join(PATIENCE)
    assert place.grad.tolist() == [4.0] * 3
    w.grad = x.grad = None  # they lead to their graphs, which lead to w and x


# --- multiprocessing ------------------------------------------------------------------------------


def gradient_of_square(x):
    x.requires_grad_()
    x.square().sum().backward()
    return x.grad


@pytest.fixture(scope="module", params=METHODS)
def pool(request):
    warm_up()
    with multiprocessing.get_context(request.param).Pool(2) as pool:
        yield pool


def test_workers_train_as_the_parent_does(pool):
    found = pool.map_async(train, [3, 4, 5]).get(PATIENCE)
    assert found == [train(3), train(4), train(5)]


def test_tensors_go_to_workers_and_back(pool):
    inputs = [torch.full((3,), float(i)) for i in range(4)]
    found = pool.map_async(gradient_of_square, inputs).get(PATIENCE)
    assert [g.tolist() for g in found] == [[2.0 * i] * 3 for i in range(4)]
