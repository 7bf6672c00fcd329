"""Softmax and log-softmax, forward and backward, against NumPy."""

import numpy as np
import pytest
from bridge import CODE, FLOATS, layouts, operate, sample, tolerance, wide

from autograd_cy._C import parallel

SHAPES = [
    (),
    (1,),
    (9,),
    (0,),
    (3, 0),
    (0, 3),
    (100, 10),
    (5, 24),
    (9, 25),
    (7, 1000),
    (3, 2500),
    # Vectors and blocks of them, and what is left of a row.
    *((8, n) for n in (31, 32, 33, 47, 511, 513, 528, 1025, 1543)),
    (3, 4, 5),
    (2, 30, 300),
    (70, 3, 2),
]


def cases(name):
    for shape in SHAPES:
        for a in layouts(sample(name, shape)):
            for dim in range(-1, a.ndim):
                yield a, dim


def log_softmax(x, dim):
    if x.size == 0:
        return x
    m = x.max(dim, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(dim, keepdims=True))


def axis(a, dim):
    return dim if a.ndim else ()


@pytest.mark.parametrize("name", FLOATS)
def test_forward(name):
    for a, dim in cases(name):
        want = log_softmax(wide(a), axis(a, dim))
        got = operate("log_softmax", a, dim, -1)
        assert got.dtype == a.dtype and got.shape == a.shape
        np.testing.assert_allclose(wide(got), want, rtol=tolerance(name), atol=3 * tolerance(name))
        got = operate("softmax", a, dim, -1)
        np.testing.assert_allclose(wide(got), np.exp(want), rtol=6 * tolerance(name), atol=1e-7)


@pytest.mark.parametrize("name", FLOATS)
def test_backward(name):
    for a, dim in cases(name):
        logs = log_softmax(wide(a), axis(a, dim))
        g = sample(name, a.shape, seed=1)
        for kind, y in (("softmax", np.exp(logs)), ("log_softmax", logs)):
            result = np.asarray(y).astype(a.dtype)
            y, u = wide(result), wide(g)
            if kind == "softmax":
                want = y * (u - (u * y).sum(axis(a, dim), keepdims=True))
            else:
                want = u - np.exp(y) * u.sum(axis(a, dim), keepdims=True)
            got = operate(f"{kind}_backward", g, result, dim)
            assert got.dtype == a.dtype
            np.testing.assert_allclose(
                wide(got), want, rtol=tolerance(name), atol=30 * tolerance(name)
            )


def test_infinities():
    inf = np.inf
    a = np.array([[inf, 1], [-inf, -inf], [np.nan, 0], [-inf, 0], [1000, 1000]], np.float32)
    want = np.array([[np.nan, np.nan], [np.nan, np.nan], [np.nan, np.nan], [0, 1], [0.5, 0.5]])
    for b in (a, np.repeat(a, 8, 0)):
        w = np.repeat(want, len(b) // 5, 0)
        np.testing.assert_array_equal(operate("softmax", b, 1, -1), w)
        np.testing.assert_array_equal(operate("softmax", b.T.copy(), 0, -1), w.T)


@pytest.mark.parametrize("n", [25, 32, 47, 513, 1025])
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_an_element_that_is_not_plain_stays_in_its_row(name, n):
    a = sample(name, (12, n))
    plain = operate("softmax", a, 1, -1)
    for at in (0, n // 2, n - 1):
        for value in (np.nan, np.inf, -np.inf):
            b = a.copy()
            b[3, at] = value
            got = operate("softmax", b, 1, -1)
            assert np.isnan(got[3]).all() == (value != -np.inf)
            assert value != -np.inf or got[3, at] == 0
            assert np.array_equal(got[:3], plain[:3])
            assert np.array_equal(got[4:], plain[4:])


def test_dtype_argument_and_errors():
    half = np.zeros(4, np.float16)
    assert operate("softmax", half, 0, CODE["float32"]).dtype == np.float32
    ints = np.zeros(4, np.int64)
    np.testing.assert_array_equal(operate("softmax", ints, 0, CODE["float32"]), [0.25] * 4)
    for bad in (ints, np.zeros(4, np.bool_), np.zeros(4, np.complex64)):
        with pytest.raises(RuntimeError, match="not implemented for"):
            operate("softmax", bad, 0, -1)
    with pytest.raises(IndexError, match=r"range of \[-1, 0\], but got 1"):
        operate("log_softmax", half, 1, -1)
    with pytest.raises(RuntimeError, match="doesn't match the result"):
        operate("softmax_backward", np.zeros(3), np.zeros(4), 0)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_bit_equal_for_any_number_of_threads(name):
    before = parallel.get_num_threads()
    try:
        for shape in [(5000, 10), (300, 1000), (2, 100_000), (30, 40, 50)]:
            a = sample(name, shape)
            for dim in (0, -1):
                runs = []
                for n in (1, 2, 5):
                    parallel.set_num_threads(n)
                    y = operate("log_softmax", a, dim, -1)
                    runs.append([y.tobytes(), operate("log_softmax_backward", a, y, dim).tobytes()])
                assert runs[0] == runs[1] == runs[2]
    finally:
        parallel.set_num_threads(before)
