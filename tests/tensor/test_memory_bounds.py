"""Blocks of memory end where they should: sizes of what is shared, and of what is allocated."""

import numpy as np
import pytest

import autograd_cy as ag


@pytest.fixture
def no_cache():
    before = ag.set_allocator_caching(False)
    yield
    ag.set_allocator_caching(True if before is None else before)


def windows():
    a = np.arange(24.0)
    yield a
    yield a[::2]
    yield a.reshape(4, 6)
    yield a.reshape(4, 6)[:, ::2]
    yield a.reshape(4, 6).T
    yield a.reshape(2, 3, 4)[:, 1:, :3]
    yield np.broadcast_to(a[:1], (5,))


@pytest.mark.parametrize("array", list(windows()))
def test_a_shared_array_ends_with_its_last_element(array):
    x = ag.from_numpy(array.copy() if 0 in array.strides else array)
    last = sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
    assert ag.as_strided(x, (last + 1,), (1,)).shape == (last + 1,)
    with pytest.raises(RuntimeError, match="out of bounds"):
        ag.as_strided(x, (last + 2,), (1,))
    with pytest.raises(RuntimeError, match="out of bounds"):
        ag.as_strided(x, (1,), (1,), last + 1)


def test_neighbouring_blocks_do_not_share_bytes(no_cache):
    # Each capacity of the allocator, several blocks of each, all written to their ends.
    sizes = [(4 + q % 4 + 1) << (q // 4 + 4) for q in range(40)]
    kept = [(ag.full((n // 4,), float(i)), i) for i, n in enumerate(sizes * 3)]
    for t, i in kept:
        assert t.numpy().min() == i == t.numpy().max()


def test_a_block_is_hardly_larger_than_what_was_asked_for():
    for n in [*range(1, 400, 7), 1000, 1025, 5000, 70_000, 1 << 17]:
        before = ag.memory_summary()["live_bytes"]
        t = ag.empty(n, dtype=ag.uint8)
        used = ag.memory_summary()["live_bytes"] - before
        assert n <= used <= max(64, n * 5 // 4 + 16)
        del t
        assert ag.memory_summary()["live_bytes"] == before


def test_ranges_of_a_dtype_end_with_its_largest_number():
    assert sorted(ag.randperm(256, dtype=ag.uint8).tolist()) == list(range(256))
    assert sorted(ag.randperm(128, dtype=ag.int8).tolist()) == list(range(128))
    for n, dtype in [(257, ag.uint8), (129, ag.int8), (2**15 + 1, ag.int16), (2050, ag.float16)]:
        with pytest.raises(RuntimeError, match="do not fit"):
            ag.randperm(n, dtype=dtype)
