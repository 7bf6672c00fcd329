"""Several Python threads run backward at once; forked children work; memory is freed."""

import gc
import threading
import weakref

import pytest
from endless import in_child

import autograd_cy as torch
from autograd_cy._C import storage


def in_threads(n, work):
    errors = []

    def run(i):
        try:
            work(i)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return errors


def test_separate_graphs_on_shared_leaves_lose_nothing():
    w = torch.ones(64, 64, dtype=torch.float64, requires_grad=True)
    x = torch.ones(64, 64, dtype=torch.float64)

    def work(i):
        for _ in range(20):
            (x @ w).sum().backward()

    assert in_threads(4, work) == []
    assert w.grad.tolist() == [[64.0 * 80] * 64] * 64


def test_one_retained_graph_in_several_threads():
    w = torch.ones(50, 50, dtype=torch.float64, requires_grad=True)
    y = ((w @ w) @ w).sum()

    def work(i):
        for _ in range(10):
            y.backward(retain_graph=True)

    assert in_threads(4, work) == []
    single = torch.ones(50, 50, dtype=torch.float64, requires_grad=True)
    ((single @ single) @ single).sum().backward()
    assert torch.allclose(w.grad, single.grad * 40)


def test_freeing_one_graph_from_two_threads_works_or_says_so():
    for _ in range(20):
        w = torch.ones(80, 80, requires_grad=True)
        y = ((w @ w) @ w).sum()
        errors = in_threads(2, lambda i: y.backward())
        assert all(isinstance(e, RuntimeError) and "retain_graph=True" in str(e) for e in errors)
        assert len(errors) <= 1


def test_grad_mode_belongs_to_the_thread():
    seen = []
    with torch.no_grad():
        in_threads(1, lambda i: seen.append(torch.is_grad_enabled()))
    assert seen == [True]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_computes():
    a = torch.randn(300, 300)
    a @ a
    (torch.randn(1_000_000) * 2).sum()

    def work():
        x = torch.ones(300, 300, requires_grad=True)
        ((a @ x) * torch.ones(300, 300)).sum().backward()
        assert x.grad.shape == (300, 300)
        assert (torch.ones(2_000_000) * 3).sum().item() == 6_000_000

    assert in_child(work, 10) == 0


def test_graph_is_freed_when_the_output_dies():
    x = torch.ones(1000, requires_grad=True)
    gc.collect()
    before = storage.memory_summary()["live_blocks"]
    y = (x * 2).exp().sum()
    del y
    assert storage.memory_summary()["live_blocks"] == before


def test_backward_frees_what_was_saved():
    x = torch.ones(1000, requires_grad=True)
    y = (x * 2).exp()
    z = y.sum()
    del y
    z.backward()
    x.grad = None
    gc.collect()
    before = storage.memory_summary()["live_blocks"]
    for _ in range(50):
        ((x * 2).exp().sum()).backward()
        x.grad = None
    assert storage.memory_summary()["live_blocks"] == before


def test_cycle_through_an_attribute_is_collected():
    y = torch.ones(1, requires_grad=True) * 2
    y.me = y
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_cycle_through_a_hook_is_collected():
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g, y=y: None)
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_cycle_through_metadata_is_collected():
    y = torch.ones(1, requires_grad=True) * 2
    z = y * 3
    z.grad_fn.metadata["owner"] = z
    ref = weakref.ref(z)
    del z
    gc.collect()
    assert ref() is None


def test_failed_allocation_is_a_memory_error_and_leaves_everything_usable():
    x = torch.ones(1000, requires_grad=True)
    for n in range(12):
        storage._fail_allocation_after(n)
        try:
            y = ((x * 2).exp() + x).sum()
            y.backward()
        except MemoryError:
            pass
        finally:
            storage._fail_allocation_after(-1)
        x.grad = None
    (x * 2).sum().backward()
    assert x.grad.sum().item() == 2000


def test_impossible_allocation_is_a_memory_error():
    with pytest.raises(MemoryError):
        torch.empty(1 << 58, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="overflow"):
        torch.empty(1 << 40, 1 << 40)
