"""Policies of the allocator: what is kept for reuse, what is given back, what is counted."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import programs
import pytest
from mallinfo import heap

import autograd_cy as ag
from autograd_cy._C import storage
from autograd_cy._C.recorder import Recording

ROOT = Path(ag.__file__).parents[1]
BLOCK = 1 << 20


def cached():
    return ag.memory_summary()["cached_bytes"]


def test_the_cache_keeps_no_more_than_its_limit():
    text = """
import autograd_cy as ag
assert ag.memory_summary()["cache_limit"] == 2 << 20
tensors = [ag.empty(1 << 18) for _ in range(6)]     # 1 MiB each
del tensors
assert 0 < ag.memory_summary()["cached_bytes"] <= 2 << 20
print("kept")
"""
    done = programs.run("-c", text, cwd=ROOT, env=os.environ | {"AUTOGRAD_CY_CACHE_MB": "2"})
    assert done.stdout.strip() == "kept", done.stderr


def test_switching_the_cache_off_gives_its_blocks_back():
    ag.set_allocator_caching(True)
    try:
        t = ag.empty(BLOCK)
        del t
        assert cached() >= BLOCK
        ag.set_allocator_caching(False)
        assert cached() == 0
        t = ag.empty(BLOCK)
        del t
        assert cached() == 0
    finally:
        ag.set_allocator_caching(True)


def test_peak_memory_starts_from_what_is_alive():
    kept = ag.zeros(1000)
    temporary = ag.zeros(BLOCK)
    del temporary
    ag.reset_peak_memory()
    summary = ag.memory_summary()
    assert summary["peak_bytes"] == summary["live_bytes"] >= 4000
    assert kept.numel() == 1000


def test_data_of_read_only_memory_is_read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    x = ag.from_numpy(array)
    with pytest.raises(RuntimeError, match="read-only"):
        x.data.add_(1)
    y = ag.zeros(3, dtype=ag.float64)
    y.data = x
    with pytest.raises(RuntimeError, match="read-only"):
        y.add_(1)
    assert array.tolist() == [0, 0, 0]


def test_small_blocks_survive_switching_the_cache():
    first = [ag.tensor(float(i)) for i in range(600)]
    ag.set_allocator_caching(False)
    try:
        second = [ag.tensor(float(i)) for i in range(600)]
        del first
    finally:
        ag.set_allocator_caching(True)
    third = [ag.tensor(float(i)) for i in range(600)]
    del second
    assert [t.item() for t in third] == [float(i) for i in range(600)]
    ag.empty_cache()
    assert cached() == 0


def test_unsqueeze_gives_the_stride_that_a_contiguous_tensor_has():
    x = ag.zeros(2, 3, 4)
    assert x.unsqueeze(0).stride() == (24, 12, 4, 1)
    assert x.unsqueeze(1).stride() == (12, 12, 4, 1)
    assert x.unsqueeze(-1).stride() == (12, 4, 1, 1)
    assert ag.zeros(2, 3).t().unsqueeze(1).stride() == (1, 6, 3)


def test_several_ellipses_stand_for_what_has_no_index():
    x = ag.arange(6.0).reshape(2, 3)
    assert x[..., ...].tolist() == x.tolist()
    assert x[..., 0, ...].tolist() == [0.0, 3.0]


def test_neighbouring_windows_do_not_overlap():
    x = ag.arange(6.0)
    x[:3].add_(x[3:])  # they touch, no more
    assert x.tolist() == [3, 5, 7, 3, 4, 5]
    ag.add(x[:3], 1, out=x[3:])
    assert x[3:].tolist() == [4, 6, 8]


def test_a_row_of_the_tensor_itself_as_operand():
    x = ag.arange(1.0, 5.0)
    expected = (x * x[1].item()).tolist()
    x.mul_(x[1].clone())
    assert x.tolist() == expected


def test_an_array_of_another_dtype_needs_a_copy():
    x = ag.ones(2)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        x.__array__(np.float64, copy=False)
    assert x.__array__(np.float32, copy=False).tolist() == [1, 1]


def test_generators_move_by_what_was_drawn():
    for n in (1, 4, 1 << 12, (1 << 16) - 4, 1 << 16, (1 << 16) + 4):
        g = ag.Generator().manual_seed(3)
        one = ag.rand(n, generator=g)
        after = ag.rand(8, generator=g)
        h = ag.Generator().manual_seed(3)
        together = ag.rand(n, generator=h)
        assert one.tolist() == together.tolist()
        assert after.tolist() == ag.rand(8, generator=h).tolist()


# --- what is counted --------------------------------------------------------------------------


@pytest.fixture
def uncached():
    ag.set_allocator_caching(False)
    yield
    ag.set_allocator_caching(True)


def summary():
    return ag.memory_summary()


def capacity(nbytes):
    """Bytes that are held for so many."""
    before = summary()["live_bytes"]
    made = ag.empty(nbytes, dtype=ag.uint8)
    assert made.numel() == nbytes
    return summary()["live_bytes"] - before


def test_four_sizes_of_blocks_in_each_power_of_two():
    sizes = [64] + [part << power for power in range(4, 20) for part in (5, 6, 7, 8)]
    given = [0, 1, 2, 63, *(size + more for size in sizes for more in (-1, 0, 1))]
    wanted = {n: next(size for size in [*sizes, 10 << 19] if size >= n) for n in given}
    assert {n: capacity(n) for n in given} == wanted


@pytest.mark.usefixtures("uncached")
def test_blocks_without_a_cache_are_as_long_as_they_must_be():
    assert [capacity(n) for n in (0, 1, 2, 63, 64, 65, 1000)] == [1, 1, 2, 63, 64, 65, 1000]


@pytest.mark.parametrize("nbytes", [50, 1500])
def test_so_many_blocks_of_a_size_are_kept(nbytes):
    ag.empty_cache()
    each = capacity(nbytes)
    ag.empty_cache()

    def made(count):
        return [ag.empty(nbytes, dtype=ag.uint8) for _ in range(count)]

    for _ in range(2):
        before = summary()
        blocks = made(300)
        after = summary()
        assert (after["hits"] - before["hits"], after["misses"] - before["misses"]) == (0, 300)
        assert after["live_blocks"] - before["live_blocks"] == 300
        assert after["live_bytes"] - before["live_bytes"] == 300 * each
        before = cached()
        blocks.clear()
        assert cached() - before == 256 * each
        blocks = made(100)
        assert summary()["hits"] - after["hits"] == 100
        assert cached() - before == 156 * each
        blocks += made(200)
        assert summary()["hits"] - after["hits"] == 256
        blocks.clear()
        assert cached() - before == 256 * each
        ag.empty_cache()
        assert cached() == 0
        made(1)
        assert cached() == each
        ag.empty_cache()


def test_memory_beyond_what_is_kept_goes_back():
    """Blocks of either kind go back, also while memory is watched, or without a cache."""

    def run(size):
        blocks = [ag.empty(size, dtype=ag.uint8) for _ in range(500)]
        blocks.clear()

    def watched(size):
        made = Recording(2, 1 << 30)
        made.start()
        run(size)
        made.drop()

    def flushed(size):
        run(size)
        ag.empty_cache()

    def uncached(size):
        ag.set_allocator_caching(False)
        run(size)
        ag.set_allocator_caching(True)

    def borrowed(size):
        for _ in range(500):
            x = ag.from_numpy(np.zeros(size, np.uint8))
            x.data.add_(1)
            y = ag.ones(size, dtype=ag.uint8)
            z = y.detach()
            y.data = x
            assert z._version == 0

    for action in (run, watched, flushed, uncached, borrowed):
        for size in (10, 1500):
            lost = []
            while len(lost) < 8 and (len(lost) < 2 or lost[-1][0] > 6000 or lost[-1][1] > 100):
                gc.collect()
                before = heap(), sys.getallocatedblocks()
                action(size)
                gc.collect()
                after = heap(), sys.getallocatedblocks()
                lost.append([abs(a - b) for a, b in zip(after, before)])
            assert lost[-1][0] <= 6000 and lost[-1][1] <= 100, (action.__name__, size, lost)


@pytest.mark.usefixtures("uncached")
def test_memory_without_a_cache_is_watched():
    made = Recording(2, 100)
    made.start()
    x = ag.empty(3)
    y = ag.empty(5)
    del x
    del y
    assert made.stop()[0]["mem_bytes"].tolist() == [12, 20, -12, -20]


def test_the_allocation_that_is_asked_to_fail_fails():
    for n in range(4):
        storage._fail_allocation_after(n)
        made = []
        with pytest.raises(MemoryError, match=r"cannot allocate 12 bytes \(\d+ bytes are in use"):
            made.extend(ag.empty(3) for _ in range(9))
        assert len(made) == n
        assert len([ag.empty(3) for _ in range(6)]) == 6


def test_memory_of_another_use_has_nothing_of_it():
    first = ag.zeros(500)
    first.add_(1)
    x = ag.zeros(500, requires_grad=True) * 1
    x.mul_(2)
    assert (first._version, x._version) == (1, 1)
    del first, x
    for _ in range(3):
        y = ag.empty(500)
        assert (y._version, y.grad_fn, y.is_leaf) == (0, None, True)
        y.zero_()
        y.data.zero_()
        assert y._version == 1
    x = ag.empty(500, device="meta")
    x.add_(1)
    assert (x._version, x.untyped_storage().nbytes()) == (1, 2000)
    alias = x.data
    assert (alias.device, alias._version) == (x.device, 0)


def test_the_environment_switches_the_cache_off():
    text = "import autograd_cy as ag; print(ag.memory_summary()['caching'])"
    for value, wanted in (("0", "False"), ("1", "True")):
        done = programs.run("-c", text, cwd=ROOT, env=os.environ | {"AUTOGRAD_CY_CACHE": value})
        assert done.stdout.strip() == wanted, done.stderr


def test_what_is_kept_gives_way_where_memory_is_short():
    text = """
import resource
import autograd_cy as ag
size = 64 << 20
ag.empty(size, dtype=ag.uint8)
assert ag.memory_summary()["cached_bytes"] >= size
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (now + size, limits[1]))
made = ag.empty(size + size // 2, dtype=ag.uint8)
assert ag.memory_summary()["cached_bytes"] == 0
print(made.numel() - size)
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc")
    done = programs.run("-c", text, cwd=ROOT, env=os.environ | {"AUTOGRAD_CY_CACHE_MB": "512"})
    assert done.stdout.strip() == str(32 << 20), done.stderr
