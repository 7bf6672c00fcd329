"""Running sums and products: zeros of complex logarithms, results that go where `out` says."""

import numpy as np
import pytest

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


# --- derivatives of logcumsumexp --------------------------------------------------------------


def terms(a, r):
    """exp(a_i - r_j) for i <= j, else 0: the derivative of each result by each element."""
    return np.triu(np.exp(a[:, None] - r[None, :]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_derivatives_of_running_logarithms_are_linear_also_at_zero(dtype):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 5)
    if dtype == "complex128":
        x = x + 1j * rng.uniform(-1, 1, 5)
    x = ag.from_numpy(x).to(getattr(ag, dtype))
    v = ag.tensor([1.0, 0.0, -2.0, 0.0, 3.0], dtype=x.dtype)
    a = x.numpy().astype("D")
    weights = terms(a, np.log(np.cumsum(np.exp(a))))
    pushed, pulled = v.numpy() @ weights, weights.conj() @ v.numpy()
    near = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-12}

    def function(x):
        return x.logcumsumexp(0)

    def same(found, expected):
        expected = expected if found.is_complex() else expected.real
        np.testing.assert_allclose(found.numpy(), expected, **near)

    same(ag.func.jvp(function, (x,), (v,))[1], pushed)
    same(ag.func.linearize(function, x)[1](v), pushed)
    same(ag.autograd.functional.jvp(function, x, v)[1], pushed)
    same(ag.autograd.functional.vjp(function, x, v)[1], pulled)
    zero = ag.zeros_like(x)
    same(ag.func.jvp(lambda g: ag.func.vjp(function, x)[1](g)[0], (zero,), (v,))[1], pulled)


@pytest.mark.parametrize("layout", ["rows", "columns", "number", "batched"])
def test_running_logarithms_can_be_differentiated_in_every_way(layout):
    rng = np.random.default_rng(1)
    shape, dim = {
        "rows": ((2, 4), 1), "columns": ((4, 2), 0), "number": ((), 0), "batched": ((2, 3, 2), -2)
    }[layout]  # fmt: skip
    for complex_ in (False, True):
        x = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if complex_ else 0)
        x = ag.from_numpy(np.asarray(x)).requires_grad_()

        def function(x, dim=dim):
            return x.logcumsumexp(dim)

        assert ag.autograd.gradcheck(
            function, (x,), check_forward_ad=True, check_batched_grad=True,
            check_batched_forward_grad=True,
        )  # fmt: skip
        assert ag.autograd.gradgradcheck(function, (x,), check_fwd_over_rev=True)
    x = x.detach().real

    def total(x):
        return x.logcumsumexp(dim).sin().sum()

    jacfwd, jacrev = ag.func.jacfwd, ag.func.jacrev
    third, other = jacfwd(jacfwd(jacrev(total))), jacrev(jacrev(jacrev(total)))
    np.testing.assert_allclose(third(x).numpy(), other(x).numpy(), atol=1e-10)


def test_gradients_of_running_logarithms_do_not_overflow():
    x = ag.tensor([1e308, 0.0], dtype=ag.float64, requires_grad=True)
    assert ag.autograd.grad(x.logcumsumexp(0).sum(), x)[0].tolist() == [2, 0]
    x = ag.tensor([-1000.0, 1000.0, -1000.0, 1000.0], requires_grad=True)
    (g,) = ag.autograd.grad(x.logcumsumexp(0).sum(), x)
    np.testing.assert_allclose(g.tolist(), [1, 2.5, 0, 0.5])
    z = ag.tensor([800 + 1j, -800 + 2j, 1j], dtype=ag.complex128, requires_grad=True)
    (g,) = ag.autograd.grad(z.logcumsumexp(0).real.sum(), z)
    np.testing.assert_allclose(g.numpy(), [3, 0, 0], atol=1e-300)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_derivatives_of_running_logarithms_see_more_of_a_sum_than_its_dtype(dtype):
    """A sum of 1000.69 is 1000.5 in float16: exp would make an error of 20 % of that."""
    a = np.array([1000.0, 996.0, 1000.0, 992.0, 1004.0])  # all dtypes have these
    v = np.array([1.0, 0.0, -2.0, 0.5, 3.0])
    weights = terms(a, np.logaddexp.accumulate(a))
    x = ag.tensor(a.tolist(), dtype=getattr(ag, dtype))
    t = ag.tensor(v.tolist(), dtype=x.dtype)
    tangent = ag.func.jvp(lambda x: x.logcumsumexp(0), (x,), (t,))[1]
    _, pulled = ag.autograd.functional.vjp(lambda x: x.logcumsumexp(0), x, t)
    near = {"rtol": 3e-7 if dtype == "float32" else float(ag.finfo(x.dtype).eps), "atol": 1e-7}
    np.testing.assert_allclose(tangent.double().numpy(), v @ weights, **near)
    np.testing.assert_allclose(pulled.double().numpy(), weights @ v, **near)


def test_infinities_of_running_logarithms():
    inf, nan = float("inf"), float("nan")
    for values, expected in (
        ([-inf, 0.0, 1.0], [nan, 1 + 1 / (1 + np.e), np.e / (1 + np.e)]),
        ([0.0, -inf, 0.0], [2.5, 0, 0.5]),
        ([0.0, inf, 1.0], [1, nan, 0]),
        ([0.0, nan, 1.0], [nan, nan, nan]),
    ):
        x = ag.tensor(values, dtype=ag.float64, requires_grad=True)
        (g,) = ag.autograd.grad(x.logcumsumexp(0).sum(), x)
        np.testing.assert_allclose(g.tolist(), expected)


def test_running_logarithms_of_complex_infinities():
    inf = float("inf")

    def of(*values):
        return ag.tensor(values, dtype=ag.complex128).logcumsumexp(0).tolist()

    assert of(complex(inf, 0), complex(inf, 0)) == [inf, inf]
    assert of(complex(inf, 0), complex(inf, 1))[1] == complex(inf, np.pi / 4)
    assert of(complex(inf, 2), 1 + 1j, complex(-inf, 1)) == [complex(inf, 2)] * 3
    assert of(complex(0, 1), complex(inf, 1), 1)[1:] == [complex(inf, 1)] * 2
    assert of(complex(-inf, 4), complex(-inf, 1), 1j) == [-inf, -inf, 1j]
