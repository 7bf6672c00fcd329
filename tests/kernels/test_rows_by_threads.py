"""Strided operands that threads cut inside of rows: the same as with one thread."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

# Elements of 1 to 16 bytes; a row of each length ends elsewhere in what a thread gets.
DTYPES = ["bool", "float16", "float32", "float64", "complex128"]
ROWS = [3, 7, 13, 33, 130, 1000]
COUNT = 140_000  # From 65,536 on there are threads; windows have half of it.
WINDOWS = {
    "gaps": np.s_[:, :-1],
    "steps": np.s_[:, ::2],
    "rows apart": np.s_[::2, 1:],
}


@pytest.fixture(autouse=True)
def _three_threads():
    before = ag.get_num_threads()
    ag.set_num_threads(3)
    yield
    ag.set_num_threads(before)


def numbers(shape, dtype):
    values = np.random.default_rng(0).integers(0, 100, shape)
    return (values % 2).astype(bool) if dtype == "bool" else values.astype(dtype)


@each("dtype, inner", [(dtype, inner) for dtype in DTYPES for inner in ROWS])
def test_parts_of_rows_are_moved_as_whole_ones(dtype, inner):
    source = numbers((COUNT // inner, inner + 1), dtype)
    for name, window in WINDOWS.items():
        expected = source[window]
        dense = ag.from_numpy(source)[window].contiguous()
        assert np.array_equal(dense.numpy(), expected), name
        into = ag.zeros_like(ag.from_numpy(source))
        into[window].copy_(dense)
        assert np.array_equal(into[window].numpy(), expected), name
        into[window].zero_()
        assert not into.any(), f"{name}: written outside of the window"


@each("dtype, inner", [(dtype, inner) for dtype in DTYPES[2:] for inner in ROWS])
def test_parts_of_rows_are_added_as_whole_ones(dtype, inner):
    source = numbers((COUNT // inner, inner + 1), dtype)
    short = numbers((1, inner + 1), dtype)
    for name, window in WINDOWS.items():
        a, b = source[window], short[:, window[1]]
        x, y = ag.from_numpy(source)[window], ag.from_numpy(short)[:, window[1]]
        assert np.array_equal((x + y).numpy(), a + b), name
        assert np.array_equal((x * x).numpy(), a * a), name
        condition = ag.from_numpy(source.real > 50)[window]
        chosen = ag.where(condition, x, y).numpy()
        assert np.array_equal(chosen, np.where(a.real > 50, a, b)), name
