"""The counts and caches of the allocator: classes of sizes, waiting blocks, memory that runs
out."""

import gc

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import storage

PER_CLASS = 256  # blocks of one class that are kept


@pytest.fixture(autouse=True)
def empty_cache():
    ag.set_allocator_caching(True)
    gc.collect()
    ag.empty_cache()
    yield
    storage._fail_allocation_after(-1)
    ag.set_allocator_caching(True)


def numbers():
    return np.array([ag.memory_summary()[name] for name in NAMES])


NAMES = ["live_bytes", "live_blocks", "cached_bytes", "hits", "misses"]


def block(nbytes):
    return ag.empty(nbytes, dtype=ag.uint8)


def rounded(nbytes):
    """Four classes for each power of two, none below 64."""
    if nbytes <= 64:
        return 64
    step = 1 << ((nbytes - 1).bit_length() - 3)
    return -(-nbytes // step) * step


SIZES = sorted({max(0, n + d) for k in range(26) for n in (4 << k, 5 << k, 6 << k, 7 << k)
                for d in (-1, 0, 1)})  # fmt: skip


def test_a_block_is_of_the_smallest_class_that_holds_it():
    wrong = {}
    for n in SIZES:
        before = numbers()
        t = block(n)
        made = numbers() - before
        del t
        gone = numbers() - before
        wanted = rounded(n)
        if made.tolist() != [wanted, 1, 0, 0, 1] or gone.tolist() != [0, 0, wanted, 0, 1]:
            wrong[n] = made, gone
        ag.empty_cache()
    assert not wrong


def test_a_waiting_block_is_used_again_by_its_class_only():
    wrong = {}
    for n in (1, 64, 65, 80, 4096, 4097, 1 << 21):
        t = block(n)
        t.zero_()
        place = t.data_ptr()
        del t
        before = numbers()
        t = block(rounded(n))  # the largest of the class
        used = numbers() - before
        other = block(rounded(n) + 1)
        missed = numbers() - before - used
        if (
            used.tolist() != [rounded(n), 1, -rounded(n), 1, 0]
            or missed.tolist() != [rounded(rounded(n) + 1), 1, 0, 0, 1]
            or (t.data_ptr(), t._version, t.is_leaf, t.device.type) != (place, 0, True, "cpu")
            or t.untyped_storage().is_readonly()
        ):
            wrong[n] = used, missed
        del t, other
        ag.empty_cache()
    assert not wrong


@pytest.mark.parametrize("n", [8, 1000])
def test_so_many_blocks_of_a_class_wait(n):
    held = [block(n) for _ in range(PER_CLASS + 44)]
    before = numbers()
    del held
    assert (numbers() - before)[2] == PER_CLASS * rounded(n)
    before = numbers()
    held = [block(n) for _ in range(PER_CLASS + 44)]
    assert (numbers() - before)[3:].tolist() == [PER_CLASS, 44]
    assert len({t.data_ptr() for t in held}) == len(held)
    del held
    assert ag.memory_summary()["cached_bytes"] == PER_CLASS * rounded(n)
    ag.empty_cache()
    assert ag.memory_summary()["cached_bytes"] == 0


def test_without_a_cache_blocks_have_their_own_size():
    ag.set_allocator_caching(False)
    assert ag.memory_summary()["caching"] is False
    wrong = {}
    for n in (0, 1, 2, 63, 64, 65, 1000, 3 << 20):
        before = numbers()
        t = block(n)
        t.fill_(7)
        made = numbers() - before
        del t
        gone = numbers() - before
        if made.tolist() != [max(n, 1), 1, 0, 0, 1] or gone.tolist() != [0, 0, 0, 0, 1]:
            wrong[n] = made, gone
    ag.set_allocator_caching(True)
    assert not wrong
    assert ag.memory_summary()["caching"] is True


def test_blocks_of_either_kind_are_freed_as_they_were_made():
    for nbytes in (8, 1000):
        for first in (True, False):
            ag.set_allocator_caching(first)
            before = numbers()
            t = block(nbytes)
            ag.set_allocator_caching(not first)
            del t
            assert (numbers() - before)[:3].tolist() == [0, 0, 0]


def test_the_peak_is_the_most_that_was_alive():
    ag.reset_peak_memory()
    live = ag.memory_summary()["live_bytes"]
    a = block(1 << 20)
    b = block(1 << 18)
    del a
    c = block(1 << 19)
    summary = ag.memory_summary()
    assert summary["peak_bytes"] == live + (1 << 20) + (1 << 18)
    assert summary["live_bytes"] == live + (1 << 18) + (1 << 19)
    del b, c


WRITTEN_AT_ONCE = {
    "softmax": lambda x, to: ag.softmax(x, 0, out=to),
    "cumsum": lambda x, to: ag.cumsum(x, 0, out=to),
    "cat": lambda x, to: ag.cat((x[:100], x[100:]), out=to),
    "tril": lambda x, to: ag.tril(x, out=to),
    "mm": lambda x, to: ag.mm(x, x, out=to),
    "tril_": lambda x, to: to.tril_(),
    "cumsum_": lambda x, to: to.cumsum_(0),
    "addmm_": lambda x, to: to.addmm_(x, x),
}


@pytest.mark.parametrize("name", WRITTEN_AT_ONCE)
def test_results_go_where_they_belong_without_a_second_tensor(name):
    x, to = ag.rand(300, 300), ag.zeros(300, 300)
    ag.reset_peak_memory()
    live = ag.memory_summary()["live_bytes"]
    WRITTEN_AT_ONCE[name](x, to)
    assert ag.memory_summary()["peak_bytes"] - live < to.nbytes


@pytest.mark.parametrize("left", [0, 1, 3])
def test_the_hook_lets_one_allocation_fail(left):
    before = numbers()
    storage._fail_allocation_after(left)
    held = [block(10) for _ in range(left)]
    in_use = before[0] + 64 * left
    with pytest.raises(MemoryError, match=rf"cannot allocate 10 bytes \({in_use} bytes are in use"):
        block(10)
    held.append(block(10))
    assert (numbers() - before)[1] == left + 1
    storage._fail_allocation_after(0)
    storage._fail_allocation_after(-1)
    held.append(block(10))
    assert len(held) == left + 2


@pytest.mark.parametrize("caching", [True, False])
def test_too_much_is_refused_after_the_cache_is_given_back(caching):
    ag.set_allocator_caching(caching)
    t = block(1000)
    del t
    before = numbers()
    with pytest.raises(MemoryError, match=f"cannot allocate {1 << 60} bytes"):
        block(1 << 60)
    assert (numbers() - before)[:2].tolist() == [0, 0]
    assert ag.memory_summary()["cached_bytes"] == 0
    with pytest.raises(MemoryError, match=f"cannot allocate {(1 << 62) + 6} bytes"):
        ag.empty_strided((2,), ((1 << 62) + 5,), dtype=ag.uint8)


def test_large_blocks_begin_at_large_pages():
    for n in ((2 << 20) - 1, 2 << 20, 5 << 20):
        t = block(n)
        # A header of 64 bytes lies before the memory.
        assert (t.data_ptr() - 64) % (2 << 20) == 0
        assert t.data_ptr() % 64 == 0


def test_foreign_memory_is_not_counted():
    array = np.zeros(1000)
    before = numbers()
    t = ag.from_numpy(array)
    u = t.detach()
    m = ag.empty(1000, device="meta")
    assert (numbers() - before).tolist() == [0, 0, 0, 0, 0]
    del t, u, m
    assert (numbers() - before).tolist() == [0, 0, 0, 0, 0]


def test_versions_are_counted_together_after_data_is_replaced():
    """The counter of `x.data = y` outlives either memory, and is freed with the last."""
    for order in (0, 1):
        x = ag.zeros(3)
        view = x.detach()
        x.add_(1)
        assert x._version == view._version == 1
        x.data = ag.ones(3)
        x.add_(1)
        assert (x._version, view._version) == (2, 2)
        x.data = ag.ones(3)
        view.add_(1)
        assert (x._version, view._version) == (3, 3)
        if order:
            del x
            view.add_(1)
            assert view._version == 4
        else:
            del view
            x.add_(1)
            assert x._version == 4
    # Memory that comes from the cache afterwards counts for itself.
    fresh = [ag.zeros(3) for _ in range(10)]
    fresh[0].add_(1)
    assert [t._version for t in fresh] == [1] + [0] * 9
