"""Policies of the allocator: what is kept for reuse, what is given back, what is counted."""

import os
from pathlib import Path

import numpy as np
import programs
import pytest

import autograd_cy as ag

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
