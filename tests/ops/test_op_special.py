"""Special values: infinities, NaN, signed zeros and the ends of domains.

Complex functions follow C99, Annex G, and the array API (annex_g.py); everything else follows
torch, whose answers are written down here. Where we differ on purpose, the record says why.
"""

import math

import numpy as np
import pytest
from annex_g import TABLES, TURNED, agrees, rows, turned

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw

inf, nan = math.inf, math.nan

COMPLEX = {"complex64": 1e-6, "complex128": 1e-15}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("function", [*TABLES, *TURNED])
def test_complex_functions_have_the_values_of_their_tables(function, name):
    found = list(rows(function) if function in TABLES else turned(function))
    points = np.array([z for z, _, _ in found], name)
    # In one loop and, among numbers of which nothing is special, in others.
    together = getattr(ag, function)(ag.from_numpy(points)).numpy()
    for i, (z, (re, re_free), (im, im_free)) in enumerate(found):
        spread = np.full(9, 0.25 + 0.25j, name)
        spread[i % 9] = points[i]
        alone = getattr(ag, function)(ag.from_numpy(spread)).numpy()[i % 9]
        for value in (together[i], alone):
            assert agrees(value.real, re, re_free, COMPLEX[name]), (z, value)
            assert agrees(value.imag, im, im_free, COMPLEX[name]), (z, value)


@pytest.mark.parametrize("z", [complex(a, b) for a in (0.0, -0.0, inf, nan) for b in (-0.0, -inf)])
def test_complex_numbers_keep_their_parts_on_the_way_in_and_out(z):
    for dtype in (ag.complex64, ag.complex128):
        for t in (ag.tensor([z], dtype=dtype), ag.full((1,), z, dtype=dtype)):
            for value in (t.item(), t.tolist()[0], complex(t), t.numpy()[0]):
                assert str(complex(value)) == str(z)
    assert str((ag.zeros(1, dtype=ag.complex128) + complex(inf, 0.0)).item()) == "(inf+0j)"


def test_complex_division_by_zero_divides_both_parts_by_zero():
    for zero in (0j, complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)):
        z = ag.tensor([1 - 2j, complex(nan, 1), complex(-inf, 0)], dtype=ag.complex128)
        found = (z / ag.full((3,), zero, dtype=ag.complex128)).tolist()
        assert str(found) == "[(inf-infj), (nan+infj), (-inf+nanj)]"
    assert str(ag.tensor(0j).reciprocal().item()) == "(inf+nanj)"


def test_exponentials_do_not_overflow_before_the_result_does():
    z = ag.tensor([complex(709.9, math.pi / 4), complex(-800, 1)], dtype=ag.complex128)
    size = math.exp(709) * (math.exp(0.9) * math.sqrt(0.5))
    # In parts: the absolute value, which older versions of NumPy take, is none.
    np.testing.assert_allclose(ag.exp(z).numpy().view(float), [size, size, 0, 0], rtol=1e-12)
    z = ag.tensor([complex(89, math.pi / 4)], dtype=ag.complex64)
    size = math.exp(89) * math.sqrt(0.5)
    np.testing.assert_allclose(ag.exp(z).numpy(), [complex(size, size)], rtol=1e-6)
    sigmoid = ag.sigmoid(ag.tensor([complex(-800, 1), complex(800, 1)], dtype=ag.complex128))
    assert sigmoid.tolist() == [0, 1]


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("function", ["exp", "exp2", "expm1", "sinh", "cosh", "sin", "cos"])
def test_parts_are_finite_where_only_the_modulus_overflows(function, name):
    end = math.log(np.finfo(name).max)
    sizes = [end + step for step in (-16, -2, -0.5, 0.2, 0.6, 0.8, 2, 4)]
    angles = [0.01, 0.14, 0.8, 1.5, 1.57, 3.0, -3.14]
    parts = [(sign * size, angle) for size in sizes for angle in angles for sign in (1, -1)]
    if function == "exp2":
        parts = [(size / math.log(2), angle) for size, angle in parts]
    points = np.array([complex(*p) for p in parts], name)
    if function in ("sin", "cos"):
        points = points * np.array(1j, name)
    wider = points.astype("complex128" if name == "complex64" else "clongdouble")
    found = getattr(ag, function)(ag.from_numpy(points)).numpy()
    with np.errstate(over="ignore"):
        if function == "exp2":
            turned = np.exp(1j * wider.imag * np.log(wider.real.dtype.type(2)))
            expected = (np.exp2(wider.real) * turned).astype(name)
        else:
            expected = getattr(np, function)(wider).astype(name)
    limits = np.finfo(name)
    for part in ("real", "imag"):
        got, wanted = getattr(found, part), getattr(expected, part)
        tolerance = {"rtol": 8 * limits.eps, "atol": 2 * float(limits.smallest_subnormal)}
        np.testing.assert_allclose(got, wanted, **tolerance)


# values: function -> [(arguments, value)]
VALUES = {
    "relu": [((-0.0,), -0.0), ((nan,), nan), ((-inf,), 0.0)],
    "heaviside": [((nan, 2.0), 0.0), ((-0.0, nan), nan), ((inf, nan), 1.0), ((-inf, 2.0), 0.0)],
    "floor_divide": [
        *[((x, y), nan) for x in (inf, -inf) for y in (1.0, -1.0, 5e-324)],
        *[((inf, y), math.copysign(inf, y)) for y in (0.0, -0.0)],
        *[((-inf, y), math.copysign(inf, -y)) for y in (0.0, -0.0)],
        *[((x, y), nan) for x in (inf, -inf) for y in (inf, -inf, nan)],
        *[((x, y), nan) for x in (0.0, -0.0) for y in (0.0, -0.0)],
        ((1.0, inf), 0.0),
        ((1.0, -inf), -1.0),
        ((-1.0, inf), -1.0),
        ((-1.0, -inf), 0.0),
        ((0.0, -inf), -0.0),
        ((1.0, 0.0), inf),
        ((1.0, -0.0), -inf),
        ((nan, 1.0), nan),
        ((1.0, nan), nan),
    ],
    "remainder": [
        ((-0.0, 1.0), 0.0),
        ((0.0, -1.0), -0.0),
        ((-0.0, inf), 0.0),
        ((0.0, -inf), -0.0),
        ((2.0, -1.0), -0.0),
        ((1.0, inf), 1.0),
        ((1.0, -inf), -inf),
        ((-1.0, inf), inf),
        ((inf, 1.0), nan),
        ((1.0, 0.0), nan),
    ],
    "logit": [((0.0,), -inf), ((1.0,), inf), ((2.0,), nan), ((-0.5,), nan), ((nan,), nan)],
    "atan2": [((0.0, -0.0), math.pi), ((-0.0, -0.0), -math.pi), ((inf, -inf), 3 * math.pi / 4)],
    "xlogy": [((0.0, 0.0), 0.0), ((0.0, nan), nan), ((0.0, -1.0), 0.0), ((1.0, 0.0), -inf)],
    "hypot": [((inf, nan), inf), ((nan, -inf), inf), ((1e200, 1e200), 1e200 * 2**0.5)],
    "logaddexp": [((inf, inf), inf), ((-inf, -inf), -inf), ((inf, nan), nan), ((-inf, 1.0), 1.0)],
}


@pytest.mark.parametrize("function", VALUES)
def test_values(function):
    arguments, expected = zip(*VALUES[function])
    # Long enough for whole vectors, and what doesn't fill one.
    columns = [np.tile(np.array(c), 5) for c in zip(*arguments)]
    found = getattr(ag, function)(*[ag.from_numpy(c) for c in columns]).numpy()
    expected = np.tile(np.array(expected), 5)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    real = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[real]), np.signbit(expected[real]))


# function, inputs, gradients for an incoming gradient of ones: torch's answers.
GRADIENTS = {
    "maximum passes NaN to both": (
        ag.maximum,
        ([0.0, nan, nan, 1.0], [nan, 0.0, nan, 1.0]),
        ([1, 1, 1, 0.5], [1, 1, 1, 0.5]),
    ),
    "minimum passes NaN to both": (
        ag.minimum,
        ([0.0, nan, nan, 1.0], [nan, 0.0, nan, 1.0]),
        ([1, 1, 1, 0.5], [1, 1, 1, 0.5]),
    ),
    "max: shared among NaNs": (lambda x: x.max(), ([1.0, nan, nan],), ([0, 0.5, 0.5],)),
    "min: shared among NaNs": (lambda x: x.min(), ([1.0, nan, nan],), ([0, 0.5, 0.5],)),
    "amax: NaN beside NaN": (
        lambda x: x.amax(1),
        ([[1.0, nan], [1, 1]],),
        ([[nan, nan], [0.5, 0.5]],),
    ),
    "amin: NaN beside NaN": (
        lambda x: x.amin(1),
        ([[1.0, nan], [1, 2]],),
        ([[nan, nan], [1, 0]],),
    ),
    "clamp: nothing at NaN": (
        lambda x: x.clamp(0, 1),
        ([nan, inf, -inf, 0.0, 1.0],),
        ([0, 0, 0, 1, 1],),
    ),
    "clamp by NaN": (
        lambda x, a, b: x.clamp(a, b),
        ([nan, 1.0, 1.0], [0.0, nan, 0.0], [2.0, 2.0, nan]),
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ),
    "clamp_min by NaN": (lambda x, a: x.clamp_min(a), ([nan, 1.0], [0.0, nan]), ([0, 0], [0, 0])),
    "atan2: 0 at the origin, no overflow or underflow": (
        ag.atan2,
        ([0.0, -0.0, 0.0, 1e-200, 1e200, inf, inf], [0.0, 0.0, -0.0, 1e-200, 1e200, inf, 1.0]),
        ([0, 0, 0, 5e199, 5e-201, nan, 0], [0, 0, 0, -5e199, -5e-201, nan, nan]),
    ),
    "xlogy: 0 only where the logarithm is none": (
        ag.xlogy,
        ([0.0, 0, 0, 1, 0, nan, 0], [2.0, 0, -1, 0, nan, 0, inf]),
        ([math.log(2), 0, 0, -inf, nan, -inf, inf], [0, nan, 0, inf, nan, nan, 0]),
    ),
    "xlogy with a number": (lambda x: ag.xlogy(x, 2), ([0.0, 1],), ([math.log(2)] * 2,)),
    "logit": (
        ag.logit,
        ([0.0, 1, 2, -0.5, 0.5, nan, inf],),
        ([inf, inf, nan, nan, 4, nan, nan],),
    ),
    "logit with eps": (
        lambda x: ag.logit(x, 0.1),
        ([0.0, 1, 2, -0.5, 0.5, nan, 0.1, 0.9],),
        ([0, 0, 0, 0, 4, nan, 1 / 0.09, 1 / 0.09],),
    ),
    "copysign": (
        ag.copysign,
        ([inf, 1, 0, -0.0, nan, -2], [1.0, -1, 1, -1, 1, 1]),
        ([nan, -1, 0, 0, nan, -1], [0] * 6),
    ),
    "remainder": (
        ag.remainder,
        ([1.0, 1, 1, nan, -1, 1], [-inf, inf, 0, 1, inf, nan]),
        ([1] * 6, [1, 0, -inf, nan, 1, nan]),
    ),
    "fmod": (
        ag.fmod,
        ([1.0, 1, 1, nan, -1, 1], [-inf, inf, 0, 1, inf, nan]),
        ([1] * 6, [0, 0, -inf, nan, 0, nan]),
    ),
    "prod with two zeros": (lambda x: x.prod(), ([inf, 0.0, 0.0, nan],), ([0, 0, 0, 0],)),
    "prod with one zero": (lambda x: x.prod(), ([inf, 0.0, 2.0],), ([0, inf, nan],)),
    "prod along a dimension": (
        lambda x: x.prod(1),
        ([[inf, 0.0, 0.0], [1, 2, 3]],),
        ([[0, 0, 0], [6, 3, 2]],),
    ),
    "acosh": (ag.acosh, ([-1.0, 1, 0, inf, nan],), ([inf, inf, nan, 0, nan],)),
    "x ** 0": (lambda x: x**0, ([0.0, 1, nan, inf],), ([0, 0, 0, 0],)),
    "pow": (
        ag.pow,
        ([-2.0, 0, 0, 0, -2, 0], [0.0, 0, 1, 2, 2, -1]),
        ([0, 0, 1, 0, -4, -inf], [nan, 0, 0, 0, nan, -inf]),
    ),
    **{
        f"norm {p} of zeros": (lambda x, p=p: x.norm(p), ([0.0, 0, 0],), ([0, 0, 0],))
        for p in (0.5, 1, 1.1, 1.5, 2, 3, 4, inf, -1, -2, -inf)
    },
    "norm with a zero": (
        lambda x: x.norm(0.5),
        ([0.0, 1, -2],),
        ([0, 1 + 2**0.5, -(1 + 2**0.5) / 2**0.5],),
    ),
    "norm along a dimension": (
        lambda x: x.norm(1.5, 1),
        ([[0.0, 0], [0, 1]],),
        ([[0, 0], [0, 1]],),
    ),
    "negative norm with a zero": (lambda x: x.norm(-1), ([0.0, 1, -2],), ([0, 0, 0],)),
    "norm of an infinity": (lambda x: x.norm(3), ([inf, 1.0],), ([nan, 0],)),
    "std of equal numbers": (lambda x: x.std(), ([1.0, 1, 1],), ([0, 0, 0],)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    function, arrays, expected = GRADIENTS[name]
    for recorded in (False, True):
        inputs = [ag.tensor(a, dtype=ag.float64, requires_grad=True) for a in arrays]
        y = function(*inputs)
        found = ag.autograd.grad(y, inputs, ag.ones_like(y), create_graph=recorded)
        for g, wanted in zip(found, expected):
            np.testing.assert_allclose(g.detach().numpy(), np.asarray(wanted, float), rtol=1e-14)


TANGENTS = {
    "norm of zeros": (lambda x: x.norm(1.5), [0.0, 0.0], 0),
    "xlogy": (lambda x: ag.xlogy(x, 2.0), [0.0], [math.log(2)]),
    "logit outside": (ag.logit, [-0.5, 0.0], [nan, inf]),
    "acosh": (ag.acosh, [-1.0, 1.0], [inf, inf]),
    "std of equal numbers": (lambda x: x.std(), [1.0, 1.0], 0),
    "atan2": (lambda x: ag.atan2(x, x), [0.0], [0]),
    "clamp": (lambda x: x.clamp(0, 1), [nan], [0]),
    "relu": (ag.relu, [-0.0], [0]),
}


@pytest.mark.parametrize("name", TANGENTS)
def test_tangents(name):
    function, array, expected = TANGENTS[name]
    x = ag.tensor(array, dtype=ag.float64)
    with fw.dual_level():
        tangent = fw.unpack_dual(function(fw.make_dual(x, ag.ones_like(x)))).tangent
    np.testing.assert_allclose(tangent.numpy(), expected, rtol=1e-14)


def second(function, *arrays):
    """Sums of the second derivatives with respect to each input."""
    inputs = [ag.tensor(a, dtype=ag.float64, requires_grad=True) for a in arrays]
    y = function(*inputs)
    first = ag.autograd.grad(y, inputs, ag.ones_like(y), create_graph=True)
    live = [g for g in first if g.requires_grad]
    found = ag.autograd.grad(live, inputs, [ag.ones_like(g) for g in live], allow_unused=True)
    return [np.zeros(y.shape) if g is None else g.numpy() for g in found]


@pytest.mark.parametrize("function", [ag.remainder, ag.fmod])
def test_second_derivatives_of_remainders_are_zero_even_by_zero_and_nan(function):
    for g in second(function, [1.0, 1.0, 2.0], [0.0, nan, 3.0]):
        np.testing.assert_array_equal(g, [0, 0, 0])


def test_second_derivatives_at_the_ends_of_domains():
    np.testing.assert_array_equal(second(ag.acosh, [1.0, -1.0])[0], [-inf, inf])
    np.testing.assert_array_equal(second(ag.asin, [1.0, -1.0])[0], [inf, -inf])
    np.testing.assert_array_equal(second(ag.xlogy, [0.0], [2.0])[0], [0.5])
    for p in (1.5, 3, -1):
        np.testing.assert_array_equal(second(lambda x, p=p: x.norm(p), [0.0, 0.0])[0], [0, 0])


def test_derivatives_of_the_power_zero_are_zeros():
    x = ag.zeros(2, dtype=ag.float64, requires_grad=True)
    (g,) = ag.autograd.grad((x**0).sum(), x, create_graph=True)
    assert g.tolist() == [0, 0]
    assert ag.autograd.grad(g.sum(), x)[0].tolist() == [0, 0]


def test_second_derivatives_of_a_negative_base_to_the_power_zero():
    a = ag.tensor([-2.0], dtype=ag.float64, requires_grad=True)
    b = ag.tensor([0.0], dtype=ag.float64, requires_grad=True)
    (gb,) = ag.autograd.grad(ag.pow(a, b).sum(), b, create_graph=True)
    (found,) = ag.autograd.grad(gb.sum(), a)
    assert found.tolist() == [-0.5]


@pytest.mark.parametrize("base", [-2.0, ag.tensor([-2.0], dtype=ag.float64)], ids=type)
def test_a_negative_real_base_has_a_complex_logarithm(base):
    z = ag.tensor([0.1 + 0.2j, 1 + 1j], dtype=ag.complex128, requires_grad=True)
    y = base**z
    (g,) = ag.autograd.grad(y, z, ag.ones_like(y))
    log = math.log(2) + 1j * math.pi
    expected = np.conj(np.exp(z.detach().numpy() * log) * log)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-14)


def test_logit_of_integers_computes_in_floating_point():
    x = ag.tensor([156, 2, 0, 1], dtype=ag.uint8)
    np.testing.assert_array_equal(ag.logit(x).numpy(), [nan, nan, -inf, inf])
    np.testing.assert_allclose(ag.logit(x, eps=0.25).numpy(), np.log([3, 3, 1 / 3, 3]), rtol=1e-6)
    out = ag.tensor([0.05, 0.5]).logit_(0.1)
    np.testing.assert_allclose(out.numpy(), [math.log(1 / 9), 0], rtol=1e-6)
    with pytest.raises(RuntimeError, match="logit"):
        ag.logit(ag.ones(2, dtype=ag.complex64))
