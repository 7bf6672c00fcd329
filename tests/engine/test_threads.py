"""Backward from several Python threads: nothing is lost, nothing is mixed up."""

import threading
import weakref

import pytest
from failures import with_failing_allocations

import autograd_cy as torch

# The last two release the interpreter's lock while they are added.
SIZES = [10, 5_000, 90_000, 400_000]


def leaf(*shape):
    return torch.ones(*shape, dtype=torch.float64, requires_grad=True)


def values(tensor):
    return set(tensor.flatten().tolist())


# --- shared leaves --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_every_gradient_of_every_thread_is_added(in_threads, size):
    w = leaf(size)

    def work(i):
        for _ in range(15):
            w.sum().backward()

    assert in_threads(4, work) == []
    assert values(w.grad) == {60.0}


@pytest.mark.parametrize("size", SIZES)
def test_the_first_gradient_may_come_from_any_thread(in_threads, size):
    for _ in range(10):
        w = leaf(size)
        assert in_threads(4, lambda i, w=w: (w * (i + 1)).sum().backward()) == []
        assert values(w.grad) == {10.0}


@pytest.mark.parametrize("size", [10, 90_000])
def test_gradients_of_chosen_inputs_are_added(in_threads, size):
    w, other = leaf(size), leaf(size)

    def work(i):
        for _ in range(10):
            (w * other).sum().backward(inputs=[w])

    assert in_threads(4, work) == []
    assert values(w.grad) == {40.0} and other.grad is None


@pytest.mark.parametrize("size", [10, 90_000])
def test_recorded_gradients_are_added(in_threads, size):
    w = leaf(size)

    def work(i):
        for _ in range(5):
            (w * w).sum().backward(create_graph=True)

    with pytest.warns(UserWarning, match="create_graph=True"):
        assert in_threads(4, work) == []
    assert values(w.grad) == {40.0}
    (again,) = torch.autograd.grad(w.grad.sum(), w)
    assert values(again) == {40.0}
    w.grad = None


@pytest.mark.parametrize("size", [10, 90_000])
def test_the_grad_of_a_non_leaf_is_added(in_threads, size):
    y = leaf(size) * 2
    y.retain_grad()
    total = (y * 3).sum()

    def work(i):
        for _ in range(5):
            total.backward(retain_graph=True)

    assert in_threads(4, work) == []
    assert values(y.grad) == {60.0}


def test_a_shared_network_gets_all_gradients(in_threads):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(50, 200), torch.nn.Tanh(), torch.nn.Linear(200, 50))
    model.double()
    inputs = [torch.randn(100, 50, dtype=torch.float64) for _ in range(8)]

    def work(i):
        for x in inputs[2 * i : 2 * i + 2]:
            model(x).square().mean().backward()

    assert in_threads(4, work) == []
    together = [p.grad for p in model.parameters()]
    model.zero_grad()
    for x in inputs:
        model(x).square().mean().backward()
    for mine, p in zip(together, model.parameters()):
        assert torch.allclose(mine, p.grad, rtol=1e-12)


def test_hooks_are_called_for_each_gradient(in_threads):
    w = leaf(90_000)
    seen = []
    w.register_hook(lambda grad: seen.append(threading.get_ident()))
    w.register_post_accumulate_grad_hook(lambda t: seen.append(threading.get_ident()))
    idents = []

    def work(i):
        idents.append(threading.get_ident())
        for _ in range(5):
            w.sum().backward()

    assert in_threads(3, work) == []
    assert sorted(seen) == sorted(idents * 10)


def test_a_hook_may_run_backward_on_the_leaf_that_is_being_added_to(in_threads):
    w = leaf(90_000)
    running = threading.local()

    def again(t):
        if not getattr(running, "inner", False):
            running.inner = True
            with torch.enable_grad():
                (w * 10).sum().backward()
            running.inner = False

    w.register_post_accumulate_grad_hook(again)
    assert in_threads(3, lambda i: w.sum().backward()) == []
    assert values(w.grad) == {33.0}


# --- shared graphs --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 120])
def test_a_retained_graph_runs_in_all_threads_at_once(in_threads, size):
    w = leaf(size, size)
    y = ((w @ w).exp() * 1e-3).sum()

    def work(i):
        for _ in range(5):
            y.backward(retain_graph=True)

    assert in_threads(4, work) == []
    grad = w.grad
    w.grad = None
    y.backward()
    assert torch.allclose(grad, w.grad * 20, rtol=1e-12)


@pytest.mark.parametrize("size", [3, 120])
def test_different_inputs_of_one_graph_at_once(in_threads, size):
    a, b = leaf(size, size), leaf(size, size)
    hidden = a @ b
    y = (hidden * a + hidden.tanh() * b).sum()
    expected = torch.autograd.grad(y, [a, b, hidden], retain_graph=True)
    inputs = [[a], [b], [hidden], [a, b]]
    wanted = [[expected[0]], [expected[1]], [expected[2]], expected[:2]]

    def work(i):
        for _ in range(20):
            found = torch.autograd.grad(y, inputs[i], retain_graph=True)
            assert all(torch.equal(f, w) for f, w in zip(found, wanted[i]))

    assert in_threads(4, work) == []


@pytest.mark.parametrize("size", [3, 120])
def test_selective_and_full_backward_of_one_graph_at_once(in_threads, size):
    a, b = leaf(size, size), leaf(size, size)
    y = ((a @ b) * (a + b)).sum()
    expected = torch.autograd.grad(y, [a, b], retain_graph=True)

    def work(i):
        for _ in range(20):
            if i % 2:
                (found,) = torch.autograd.grad(y, a, retain_graph=True)
                assert torch.equal(found, expected[0])
            else:
                y.backward(retain_graph=True)

    assert in_threads(4, work) == []
    assert torch.allclose(a.grad, expected[0] * 40, rtol=1e-12)
    assert torch.allclose(b.grad, expected[1] * 40, rtol=1e-12)


@pytest.mark.parametrize("size", [4, 200])
def test_a_graph_that_threads_free_works_or_says_so(in_threads, size):
    for _ in range(10):
        w = leaf(size, size)
        y = (w.exp() @ w).tanh().sum()
        errors = in_threads(3, lambda i, y=y: y.backward())
        assert len(errors) <= 2
        assert all(type(e) is RuntimeError and "retain_graph=True" in str(e) for e in errors)
        w.grad = None
        w.sum().backward()
        assert values(w.grad) == {1.0}


def test_a_failing_thread_leaves_the_others_alone(in_threads):
    shared = leaf(5_000)

    def fail(grad):
        raise KeyError("on purpose")

    def work(i):
        for _ in range(10):
            y = shared * 2
            if i == 0:
                y.register_hook(fail)
                with pytest.raises(KeyError):
                    y.sum().backward()
            else:
                y.sum().backward()

    assert in_threads(3, work) == []
    assert values(shared.grad) == {40.0}


# --- one backward inside another ------------------------------------------------------------------


def test_backward_in_a_hook_of_grad_fills_leaves_that_grad_leaves_out():
    x, w = leaf(2), leaf(2)
    y = x * w

    def hook(grad):
        with torch.enable_grad():
            (w * 3).sum().backward()

    y.register_hook(hook)
    (found,) = torch.autograd.grad(y.sum(), x)
    assert values(found) == {1.0} and values(w.grad) == {3.0} and x.grad is None


def test_backward_in_a_hook_of_grad_runs_nodes_that_grad_leaves_out():
    a, c = leaf(2), leaf(2)
    shared = a * 2
    y = shared * c

    def hook(grad):
        with torch.enable_grad():
            (shared * 3).sum().backward()

    y.register_hook(hook)
    (found,) = torch.autograd.grad(y.sum(), c)
    assert values(found) == {2.0} and values(a.grad) == {6.0} and c.grad is None


def test_grad_in_a_hook_of_the_same_graph():
    a, b = leaf(3), leaf(3)
    y = (a * b).exp()
    total = y.sum()
    inner = []

    def hook(grad):
        if not inner:
            inner.append(None)
            inner.append(torch.autograd.grad(total, a, retain_graph=True)[0])

    y.register_hook(hook)
    (found,) = torch.autograd.grad(total, b, retain_graph=True)
    expected = torch.ones(3, dtype=torch.float64).exp()
    assert torch.allclose(found, expected) and torch.allclose(inner[1], expected)


def test_in_place_history_of_views_with_chosen_inputs():
    base, source = leaf(4), leaf(2)
    y = base * 2
    y[1:3].mul_(source)
    y = y.sum()
    (only,) = torch.autograd.grad(y, base, retain_graph=True)
    assert only.tolist() == [2.0, 2.0, 2.0, 2.0]
    (only,) = torch.autograd.grad(y, source, retain_graph=True)
    assert only.tolist() == [2.0, 2.0]
    both = torch.autograd.grad(y, [source, base])
    assert both[0].tolist() == [2.0, 2.0] and both[1].tolist() == [2.0] * 4


# --- modes ----------------------------------------------------------------------------------------


def test_modes_belong_to_their_thread(in_threads):
    x = leaf(2)

    def work(i):
        for _ in range(200):
            if i == 0:
                with torch.no_grad():
                    assert not (x * 2).requires_grad
            elif i == 1:
                with torch.inference_mode():
                    assert torch.ones(1).is_inference() and not (x * 2).requires_grad
            else:
                y = x * 2
                assert y.requires_grad and not y.is_inference() and torch.is_grad_enabled()

    assert in_threads(4, work) == []
    assert torch.is_grad_enabled()


def test_the_number_of_each_node_is_unique(in_threads):
    x = leaf(1)
    numbers = []

    def work(i):
        made = [x * 2 for _ in range(500)]
        numbers.extend(y.grad_fn._sequence_nr() for y in made)

    assert in_threads(4, work) == []
    assert len(set(numbers)) == 2000


@pytest.mark.parametrize("kind", ["leaf", "result"])
def test_a_finalizer_of_the_replaced_gradient_may_add_to_the_same_tensor(in_threads, kind):
    """A thread that waits for itself would wait for ever."""
    w = leaf(4)
    y = w * 2
    y.retain_grad()
    shown = w if kind == "leaf" else y
    total = (y * 3).sum()

    def add(factor):
        total.backward(factor, create_graph=True)

    def work(i):
        add(torch.tensor(1.0, dtype=torch.float64))
        weakref.finalize(shown.grad, add, torch.tensor(10.0, dtype=torch.float64))
        add(torch.tensor(100.0, dtype=torch.float64))

    with pytest.warns(UserWarning, match="create_graph=True"):
        assert in_threads(1, work, timeout=10) == []
    assert values(w.grad) == {6 * 111.0}
    assert values(y.grad) == {3 * 111.0}
    w.grad = y.grad = None


@pytest.mark.parametrize("kind", ["leaf", "result"])
def test_a_failed_addition_lets_go_of_the_tensor(in_threads, kind):
    w = leaf(4000)
    y = w * 2
    if kind == "result":
        y.retain_grad()
    for _ in with_failing_allocations(lambda: (y * 3).sum().backward(retain_graph=True)):
        w.grad = y.grad = None
        assert in_threads(1, lambda i: (y * 3).sum().backward(retain_graph=True), 10) == []
        assert values(w.grad) == {6.0}


def test_a_refused_addition_lets_go_of_the_leaf(in_threads):
    w = leaf(4)

    def inside(x):
        (w * x).sum().backward()
        return x

    with pytest.raises(RuntimeError, match="inside a functorch transform"):
        torch.func.vmap(inside)(torch.ones(3, dtype=torch.float64))
    assert in_threads(1, lambda i: w.sum().backward(), timeout=10) == []
    assert values(w.grad) == {1.0}
