"""Ranges of integer dtypes with fractional bounds."""

import pytest

import autograd_cy as ag


@pytest.mark.parametrize(
    ("args", "dtype", "values"),
    [
        ((0.1,), ag.int8, [0]),
        ((0.0, 5.5), ag.int32, [0, 1, 2, 3, 4, 5]),
        ((0.0, 5.5), ag.int64, [0, 1, 2, 3, 4]),
        ((0, 5, 1.5), ag.int32, [0, 1, 2, 3]),
        ((0, 5, 1.5), ag.int64, [0, 1, 2, 3, 4]),
        ((-0.5, 2.5), ag.int16, [0, 1, 2]),
        ((-1.5, 2.5), ag.int16, [-1, 0, 1, 2]),
        ((0.9, 6.1, 1.9), ag.int8, [0, 1, 2]),
        ((5, 0, -1.5), ag.int32, [5, 4, 3, 2]),
        ((0.5, 3.5, 0.5), ag.int32, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_arange_counts_as_floats_but_int64_truncates_first(args, dtype, values):
    assert ag.arange(*args, dtype=dtype).tolist() == values
    out = ag.empty(0, dtype=dtype)
    assert ag.arange(*args, out=out).tolist() == values


@pytest.mark.parametrize(
    ("args", "dtype", "values"),
    [
        ((4.3, -3, 5), ag.int64, [4, 2, 0, -1, -3]),
        ((0.9, 9.9, 4), ag.int32, [0, 3, 6, 9]),
        ((-1.5, 1.5, 4), ag.int8, [-1, 0, 0, 1]),
        ((0, 10, 7), ag.int64, [0, 1, 3, 5, 6, 8, 10]),
    ],
)
def test_linspace_truncates_its_bounds(args, dtype, values):
    assert ag.linspace(*args, dtype=dtype).tolist() == values
    assert ag.linspace(*args, out=ag.empty(0, dtype=dtype)).tolist() == values


@pytest.mark.parametrize(
    ("args", "dtype", "values"),
    [
        ((0.5, 1, 2), ag.int8, [1, 10]),
        ((0.9, 2.1, 4), ag.int32, [1, 4, 21, 100]),
        ((0, 3, 4, 2.5), ag.int64, [1, 2, 6, 15]),
        ((0.9, 2.1, 4, 3.7), ag.int16, [1, 2, 5, 13]),
    ],
)
def test_logspace_truncates_its_exponents(args, dtype, values):
    assert ag.logspace(*args, dtype=dtype).tolist() == values
