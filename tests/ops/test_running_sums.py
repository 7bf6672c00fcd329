"""Running sums and products: zeros of complex logarithms, results that go where `out` says."""

import numpy as np

import autograd_cy as ag

inf, nan = float("inf"), float("nan")


def test_complex_logarithms_of_running_sums_with_zeros():
    def sums(*numbers):
        return ag.tensor(numbers).logcumsumexp(0).tolist()

    zero, one = complex(-inf, 0), complex(1, 1)
    assert sums(zero, one) == [zero, one]
    assert sums(one, zero) == [one, one]
    assert sums(zero, zero, one)[1:] == [zero, one]
    assert [x.real for x in sums(complex(-inf, 1), complex(-inf, 2))] == [-inf, -inf]
    found = sums(complex(-inf, nan), complex(1, 0))[1]
    assert np.isnan(found.real) and np.isnan(found.imag)


def test_running_products_go_where_out_says():
    for dtype in (ag.float16, ag.float32, ag.float64, ag.int64, ag.complex64):
        for start in (ag.empty(0, dtype=dtype), ag.empty(3, 2, dtype=dtype).t()):
            x = ag.tensor([[2, 3, 4], [1, 5, 6]], dtype=dtype)
            strides, before = start.stride(), start._version
            assert ag.cumprod(x, 1, out=start) is start
            assert start.tolist() == [[2, 6, 24], [1, 5, 30]]
            assert start.stride() == (strides if len(strides) == 2 else (3, 1))
            assert start._version > before
