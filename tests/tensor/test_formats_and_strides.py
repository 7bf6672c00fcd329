"""Formats of what is resized, and strides of dimensions of one."""

import pytest

import autograd_cy as ag


def test_resizing_asks_for_the_format_where_the_shape_stays_and_where_memory_grows():
    last = {"memory_format": ag.channels_last}
    for x, size in ((ag.ones(1, 2, 3, 4), (1, 2, 3, 4)), (ag.empty(0), (1, 2, 3, 4)),
                    (ag.ones(1, 2, 3, 4), (1, 4, 2, 2))):  # fmt: skip
        before = x._version
        assert x.resize_(size, **last) is x
        _, c, h, w = size
        assert (x.shape, x.stride()) == (size, (c * h * w, 1, c * w, c))
        assert x._version == before + 1
    x = ag.ones(2, 3)
    assert (x.resize_(2, 3)._version, x.t().resize_(3, 2).stride()) == (0, (1, 3))


def test_a_dimension_of_one_may_have_any_stride():
    x = ag.arange(6.0).as_strided((1, 2), (3, 1))
    assert x.view(ag.float64).shape == (1, 1)
    assert x.view(ag.float64).view(ag.float32).tolist() == [[0.0, 1.0]]
    with pytest.raises(RuntimeError, match="divisible by 2"):
        ag.arange(6.0).as_strided((2, 2), (3, 1)).view(ag.float64)
