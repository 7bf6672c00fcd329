"""arange, linspace and logspace: values, dtypes, ends, errors."""

import math

import numpy as np
import pytest

import autograd_cy as ag


class TestArange:
    @pytest.mark.parametrize(
        ("args", "values"),
        [
            ((5,), [0, 1, 2, 3, 4]),
            ((1, 5), [1, 2, 3, 4]),
            ((1, 5, 2), [1, 3]),
            ((1, 6, 2), [1, 3, 5]),
            ((5, 1, -2), [5, 3]),
            ((3, 3), []),
            ((0,), []),
            ((2**62, 2**62 + 2), [2**62, 2**62 + 1]),
            ((-(2**63), -(2**63) + 2), [-(2**63), -(2**63) + 1]),
        ],
    )
    def test_integers_give_int64(self, args, values):
        t = ag.arange(*args)
        assert t.dtype == ag.int64
        assert t.tolist() == values

    @pytest.mark.parametrize("args", [(5.0,), (0, 1, 0.1), (1, 5.5, 2), (5, 1, -1.5), (0.5, 3)])
    def test_floats_give_the_default_dtype(self, args):
        t = ag.arange(*args)
        assert t.dtype == ag.float32
        np.testing.assert_allclose(t.numpy(), np.arange(*args), rtol=1e-6)

    def test_values_are_rounded_once(self):
        t = ag.arange(0, 1, 0.1, dtype=ag.float64)
        assert t.tolist() == [i * 0.1 for i in range(10)]

    def test_bounds_can_be_named(self):
        assert ag.arange(start=1, end=4).tolist() == [1, 2, 3]
        assert ag.arange(end=3).tolist() == [0, 1, 2]
        assert ag.arange(1, end=6, step=2).tolist() == [1, 3, 5]

    def test_bounds_can_be_0d_tensors(self):
        assert ag.arange(ag.tensor(3)).dtype == ag.int64
        assert ag.arange(ag.tensor(3.0)).dtype == ag.float32

    def test_integer_dtype_cuts_the_bounds(self):
        assert ag.arange(1.5, 6, 1.5, dtype=ag.int64).tolist() == [1, 2, 3, 4, 5]
        assert ag.arange(5, dtype=ag.int8).dtype == ag.int8

    def test_half_dtype(self):
        assert ag.arange(5, dtype=ag.float16).tolist() == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            ((1, 5, 0), "step must be nonzero"),
            ((5, 1), "inconsistent with step sign"),
            ((1, 5, -1), "inconsistent with step sign"),
            ((float("nan"),), "unsupported range"),
            ((math.inf,), "unsupported range"),
            ((1e30,), "invalid size"),
            ((2**63,), "without overflow"),
            ((1j,), "value cannot be converted"),
        ],
    )
    def test_impossible_ranges_raise(self, args, message):
        with pytest.raises(RuntimeError, match=message):
            ag.arange(*args)

    def test_step_that_is_cut_to_zero_raises(self):
        with pytest.raises(ValueError, match="step must be nonzero"):
            ag.arange(0, 1, 0.3, dtype=ag.int64)

    def test_missing_and_double_arguments_raise(self):
        with pytest.raises(TypeError, match='"end"'):
            ag.arange()
        with pytest.raises(TypeError, match='"end"'):
            ag.arange(start=4)
        with pytest.raises(TypeError, match="multiple values"):
            ag.arange(1, 2, end=3)
        with pytest.raises(TypeError, match="must be Number, not str"):
            ag.arange("a")

    @pytest.mark.parametrize("dtype", [ag.bool, ag.complex64])
    def test_dtypes_without_order_raise(self, dtype):
        with pytest.raises(NotImplementedError, match="arange"):
            ag.arange(2, dtype=dtype)


class TestLinspace:
    @pytest.mark.parametrize(
        ("args", "values"),
        [
            ((0, 1, 5), [0, 0.25, 0.5, 0.75, 1]),
            ((0, 1, 1), [0]),
            ((0, 1, 0), []),
            ((1, -1, 3), [1, 0, -1]),
            ((2, 2, 3), [2, 2, 2]),
        ],
    )
    def test_values(self, args, values):
        assert ag.linspace(*args).tolist() == values

    def test_both_ends_are_exact_and_the_middle_is_symmetric(self):
        t = ag.linspace(-0.3, 0.3, 101, dtype=ag.float64).numpy()
        assert t[0] == -0.3
        assert t[-1] == 0.3
        assert (t == -t[::-1]).all()

    @pytest.mark.parametrize("steps", [2, 3, 4, 7, 10, 101])
    @pytest.mark.parametrize("end", [0.3, 0.3 - 0.7j, 1e30])
    def test_each_half_is_as_exact_as_its_end(self, end, steps):
        dtype = ag.complex128 if isinstance(end, complex) else ag.float64
        start, step = 1e-20 * end, (end - 1e-20 * end) / (steps - 1)
        t = ag.linspace(start, end, steps, dtype=dtype).tolist()
        assert t[0] == start or steps == 1
        assert t[-1] == end
        assert t[1] == pytest.approx(start + step, rel=1e-15)
        assert t[: steps // 2] == [start + i * step for i in range(steps // 2)]
        assert t[steps // 2 :] == [end - i * step for i in reversed(range(-(-steps // 2)))]

    def test_integers_are_cut(self):
        assert ag.linspace(0, 10, 4, dtype=ag.int64).tolist() == [0, 3, 6, 10]

    def test_complex_ends(self):
        t = ag.linspace(0, 1j, 3)
        assert t.dtype == ag.complex64
        assert t.tolist() == [0, 0.5j, 1j]

    def test_ends_can_be_0d_tensors(self):
        t = ag.linspace(ag.tensor(0.0), ag.tensor(1.0), 3)
        assert t.tolist() == [0, 0.5, 1]

    def test_wrong_arguments_raise(self):
        with pytest.raises(RuntimeError, match="number of steps must be non-negative"):
            ag.linspace(0, 1, -1)
        with pytest.raises(TypeError, match="'steps' must be int, not float"):
            ag.linspace(0, 1, 5.0)
        with pytest.raises(RuntimeError, match="0-dimensional start and end"):
            ag.linspace(ag.zeros(2), 1, 3)
        with pytest.raises(NotImplementedError, match="bool"):
            ag.linspace(0, 1, 3, dtype=ag.bool)
        with pytest.raises(RuntimeError, match="complex"):
            ag.linspace(0, 1j, 3, dtype=ag.float32)


class TestLogspace:
    def test_values(self):
        assert ag.logspace(0, 2, 3).tolist() == [1, 10, 100]
        assert ag.logspace(0, 3, 4, base=2).tolist() == [1, 2, 4, 8]
        assert ag.logspace(0, 3, 4, dtype=ag.int64).tolist() == [1, 10, 100, 1000]

    def test_complex_exponents(self):
        t = ag.logspace(0, 1j, 3, dtype=ag.complex128).numpy()
        np.testing.assert_allclose(t, 10 ** np.linspace(0, 1j, 3))

    def test_negative_base_gives_nan_between_integers(self):
        t = ag.logspace(0, 1, 3, base=-2).tolist()
        assert math.isnan(t[1])
        assert t[2] == -2
