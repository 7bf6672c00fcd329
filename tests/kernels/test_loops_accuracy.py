"""Accuracy of the transcendental formulas, in units of the last place."""

from functools import cache

import numpy as np
import pytest
import scipy.special as special
from loops import each_table
from ulps import ulps

from autograd_cy._C import cpu as _cpu

# float64 is compared with long double where that has more bits, else with itself.
EXTENDED = np.longdouble if np.finfo(np.longdouble).nmant > 60 else np.float64
SLACK = 0.0 if EXTENDED is np.longdouble else 1.0
DTYPES = {"f32": (np.float32, np.float64), "f64": (np.float64, EXTENDED)}


def points(dtype, low=None, high=None):
    """Random points on several scales and everything awkward, cut to an interval."""
    rng = np.random.default_rng(7)
    info = np.finfo(dtype)
    x = [rng.uniform(-s, s, 1200) for s in (1, 3, 10, 40, 100, 750)]
    x.append(rng.uniform(-1, 1, 3000) * 2.0 ** rng.uniform(info.minexp, info.maxexp, 3000))
    x.append(1 + rng.uniform(-1, 1, 1500) * 2.0 ** rng.uniform(-24, 0, 1500))
    whole = np.arange(-1100.0, 1100.0)
    x.append(np.concatenate([whole, whole / 2, whole * np.pi / 4]))
    edges = [info.tiny, info.smallest_subnormal, info.max, 1.0, 0.5, 0.0, -0.0, np.inf, np.nan]
    x.append(np.array([*edges, *(-e for e in edges)]))
    with np.errstate(over="ignore"):
        x = np.concatenate(x).astype(dtype)
        x = np.concatenate([x, np.nextafter(x, dtype(0)), np.nextafter(x, dtype(np.inf))])
    keep = np.isnan(x)
    keep |= (x >= (-np.inf if low is None else low)) & (x <= (np.inf if high is None else high))
    return x[keep]


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def log_sigmoid(x):
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


# name: (reference, units allowed, interval)
FUNCTIONS = {
    "exp": (np.exp, 1.1),
    "exp2": (np.exp2, 1.3),
    "expm1": (np.expm1, 2.2),
    "log": (np.log, 1.0),
    "log2": (np.log2, 1.0),
    "log10": (np.log10, 1.0),
    "log1p": (np.log1p, 1.6),
    "sin": (np.sin, 1.8),
    "cos": (np.cos, 1.8),
    "tan": (np.tan, 3.0),
    "asin": (np.arcsin, 2.5),
    "acos": (np.arccos, 1.5),
    "atan": (np.arctan, 3.5),
    "sinh": (np.sinh, 2.5),
    "cosh": (np.cosh, 1.8),
    "tanh": (np.tanh, 2.5),
    "asinh": (np.arcsinh, 2.2),
    "acosh": (np.arccosh, 2.5),
    "atanh": (np.arctanh, 2.3),
    "sigmoid": (sigmoid, 2.5),
    "log_sigmoid": (log_sigmoid, 2.0),
    "sqrt": (np.sqrt, 0.5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1.5),
    "reciprocal": (lambda x: 1 / x, 0.5),
}


@cache
def exact_values(name, dtype):
    """(points, values) of a function, for all tables."""
    reference, _ = FUNCTIONS[name]
    small, big = DTYPES[dtype]
    x = points(small)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(big))
        if name in ("sin", "cos", "tan") and dtype == "f64":
            # x87 reduces huge arguments by a short pi; libm's double is right to half a unit.
            exact = np.where(np.abs(x) > 1e15, reference(x), exact)
    return x, exact


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_within_its_stated_units(table, name, dtype):
    x, exact = exact_values(name, dtype)
    error = ulps(table.run(name, dtype, x), exact)
    worst = int(np.argmax(error))
    assert error[worst] <= FUNCTIONS[name][1] + SLACK, (x[worst], error[worst])


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithms_of_powers_are_whole(table, dtype):
    small = DTYPES[dtype][0]
    info = np.finfo(small)
    for name, base, powers in (
        ("log2", 2.0, np.arange(info.minexp - info.nmant, info.maxexp)),
        ("log10", 10.0, np.arange(0, 11 if small is np.float32 else 23)),
    ):
        x = (base ** powers.astype(float)).astype(small)
        np.testing.assert_array_equal(table.run(name, dtype, x), powers)


def roots_near_midpoints(bits):
    """Numbers of so many bits whose square roots are as near as can be to the middle of two others.

    The middle m / 2 of two such roots is odd in m; its square lies k / 4 of a unit from a number if
    m^2 = k modulo a power of two, which has four solutions for k = 1 modulo 8 and none else.
    """
    found = []
    for power in (bits + 1, bits + 2):
        for k in range(-799, 800, 8):
            root = 1
            for bit in range(3, power):
                if (root * root - k) % 2 ** (bit + 1):
                    root += 2 ** (bit - 1)
            half = 2 ** (power - 1)
            for start in (root, -root, root + half, half - root):
                for m in (start % 2**power, start % 2**power + 2**power):
                    x = (m * m - k) >> power
                    if 2**bits <= m < 2 ** (bits + 1) and 2 ** (bits - 1) <= x < 2**bits:
                        # m / 2 is the root of x times 2 ** (power - 2).
                        found.append(x << (power & 1))
    return found


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
def test_square_roots(table, dtype):
    small = DTYPES[dtype][0]
    info = np.finfo(small)
    hard = np.array([float(x) for x in roots_near_midpoints(info.nmant + 1)], np.float64)
    assert len(hard) > 250
    scale = 2 * np.arange(info.minexp // 2 + 30, info.maxexp // 2 - 30, 7)
    x = np.ldexp(hard.astype(small), scale[:, None].astype(np.int32)).ravel()
    rng = np.random.default_rng(11)
    every = rng.uniform(1, 4, 30000).astype(small)
    low = 2.0 ** rng.uniform(info.minexp - info.nmant, info.maxexp, 30000)
    x = np.concatenate([x, every, low.astype(small), points(small)])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(table.run("sqrt", dtype, x), np.sqrt(x))


@each_table
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_in_float32(table, name):
    x = points(np.float32)
    error = ulps(table.run(name, "f32", x), getattr(special, name)(x.astype(float)))
    assert error.max() <= {"erf": 1.5, "erfc": 4.5}[name], x[np.argmax(error)]


@each_table
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_in_float64(table, name):
    mpmath = pytest.importorskip("mpmath")
    x = points(np.float64)[::40]
    x = x[np.isfinite(x) & (np.abs(x) < 27)]
    with mpmath.workprec(120):
        exact = [getattr(mpmath, name)(mpmath.mpf(v)) for v in x]
        result = table.run(name, "f64", x)
        error = [
            abs(mpmath.mpf(r) - e) / mpmath.mpf(max(np.spacing(abs(float(e))), 5e-324))
            for r, e in zip(result, exact, strict=True)
        ]
    assert max(error) <= {"erf": 1.6, "erfc": 4.6}[name], x[int(np.argmax(error))]


@each_table
def test_error_functions_of_nan_and_infinity(table):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 5e-324])
    np.testing.assert_array_equal(table.run("erf", "f64", x), special.erf(x))
    np.testing.assert_array_equal(table.run("erfc", "f64", x), special.erfc(x))
    assert np.signbit(table.run("erf", "f64", x))[4]


# name: (reference, units allowed in float32 and float64, interval). Zeros of lgamma and digamma at
# negative numbers are left out: their errors are those of the terms, not of the sum. i1 loses most
# towards 8, where its series multiplies a small quotient by the argument.
GAMMA_AND_BESSEL = {
    "lgamma": (special.gammaln, 5, 6, 1e-3, None),
    "digamma": (special.psi, 24, 24, 1e-3, None),
    "trigamma": (lambda x: special.zeta(2, x), 5, 5, 1e-3, None),
    "i0": (special.i0, 8, 8, -85, 85),
    "i0e": (special.i0e, 6, 6, None, None),
    "i1": (special.i1, 24, 24, -85, 85),
    "i1e": (special.i1e, 24, 24, None, None),
    "i1e_quotient": (lambda x: np.where(x, special.i1e(x) / x, 0.5), 24, 24, None, None),
}


@each_table
@pytest.mark.parametrize("name", GAMMA_AND_BESSEL)
def test_gamma_and_bessel_functions_in_float32(table, name):
    reference, units, _, low, high = GAMMA_AND_BESSEL[name]
    x = points(np.float32, low, high)
    if name == "lgamma":  # SciPy loses its last places there
        x = x[~(np.abs(x - 1) < 1e-3)]
    with np.errstate(all="ignore"):
        error = ulps(table.run(name, "f32", x), reference(x.astype(float)))
    assert error.max() <= units, x[np.argmax(error)]


@each_table
@pytest.mark.parametrize("name", GAMMA_AND_BESSEL)
def test_gamma_and_bessel_functions_in_float64(table, name):
    mpmath = pytest.importorskip("mpmath")
    exact = {
        "lgamma": mpmath.loggamma,
        "digamma": mpmath.digamma,
        "trigamma": lambda v: mpmath.polygamma(1, v),
        "i0": lambda v: mpmath.besseli(0, v),
        "i0e": lambda v: mpmath.besseli(0, v) * mpmath.exp(-abs(v)),
        "i1": lambda v: mpmath.besseli(1, v),
        "i1e": lambda v: mpmath.besseli(1, v) * mpmath.exp(-abs(v)),
        "i1e_quotient": lambda v: mpmath.besseli(1, v) * mpmath.exp(-abs(v)) / v,
    }[name]
    _, _, units, low, high = GAMMA_AND_BESSEL[name]
    x = points(np.float64, low, high)[::150]
    x = x[np.isfinite(x) & (np.abs(x) < 1e5) & (np.abs(x) > 1e-290)]
    with mpmath.workprec(120):
        error = [
            abs(mpmath.mpf(r) - e) / mpmath.mpf(np.spacing(abs(float(e))))
            for r, e in zip(table.run(name, "f64", x), (exact(mpmath.mpf(v)) for v in x))
        ]
    assert max(error) <= units, x[int(np.argmax(error))]


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
def test_gamma_functions_of_negative_numbers(table, dtype):
    small = DTYPES[dtype][0]
    x = np.random.default_rng(5).uniform(-30, 0, 3000).astype(small)
    x = x[np.abs(x - np.rint(x)) > 1e-2].astype(small)
    for name, reference in (
        ("lgamma", special.gammaln),
        ("digamma", special.psi),
        (
            "trigamma",
            lambda v: (np.pi / np.sin(np.pi * (v - np.rint(v)))) ** 2 - special.zeta(2, 1 - v),
        ),
    ):
        exact = reference(x.astype(float))
        terms = np.maximum(np.abs(exact), 100.0 if name == "lgamma" else 4.0)
        error = np.abs(table.run(name, dtype, x) - exact) / terms
        assert error.max() <= 40 * np.finfo(small).eps, (name, x[np.argmax(error)])


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
def test_gamma_and_bessel_functions_at_their_ends(table, dtype):
    small, inf, nan = DTYPES[dtype][0], np.inf, np.nan
    x = np.array([0.0, -0.0, inf, -inf, nan, -1, -2, 1, 2, 1e30, -1e30], small)
    ends_of_i1e = [3.9894228e-16, -3.9894228e-16]
    ends = {
        "lgamma": [inf, inf, inf, inf, nan, inf, inf, 0, 0, 6.8077552e31, inf],
        "digamma": [-inf, inf, inf, nan, nan, nan, nan, -0.5772156649, 0.4227843351, 69.07755, nan],
        "trigamma": [inf, inf, 0, nan, nan, inf, inf, np.pi**2 / 6, np.pi**2 / 6 - 1, 1e-30, inf],
        "i0": [1, 1, inf, inf, nan, 1.266065878, 2.279585302, 1.266065878, 2.279585302, inf, inf],
        "i1": [0, 0, inf, -inf, nan, -0.5651591, -1.5906368, 0.5651591, 1.5906368, inf, -inf],
        "i1e": [0, 0, 0, 0, nan, -0.2079104, -0.2152693, 0.2079104, 0.2152693, *ends_of_i1e],
        "i1e_quotient": [.5, .5, 0, 0, nan, 0.2079104, 0.1076346, 0.2079104, 0.1076346, 0, 0],
    }  # fmt: skip
    for name, values in ends.items():
        result = table.run(name, dtype, x)
        exact = np.array(values, small)
        np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-17, err_msg=name)
    assert not np.signbit(table.run("i1", dtype, x[:2])).any()  # torch's sign of zero


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu"])
def test_activation_is_exact_relative_to_its_argument(table, name, dtype):
    small, big = DTYPES[dtype]
    x = points(small)
    x = x[np.isfinite(x) & (np.abs(x) < 1e30)]
    t = x.astype(big)
    if name == "gelu":
        share = special.ndtr(x.astype(np.float64)).astype(big)
    elif name == "silu":
        share = sigmoid(t)
    else:
        inner = np.sqrt(big(2) / np.arccos(big(-1))) * (t + big(0.044715) * t**3)
        share = sigmoid(2 * inner)
    with np.errstate(all="ignore"):
        error = np.abs(table.run(name, dtype, x) - t * share) / np.spacing(np.abs(x))
    assert error.max() <= 4, x[np.argmax(error)]


@each_table
def test_gelu_keeps_its_left_tail(table):
    x = np.linspace(-14, 0, 5000, dtype=np.float32)
    exact = x.astype(float) * special.ndtr(x.astype(float))
    assert ulps(table.run("gelu", "f32", x), exact).max() <= 6
    mpmath = pytest.importorskip("mpmath")
    x = np.linspace(-37, 0, 300)
    with mpmath.workprec(120):
        exact = [float(mpmath.mpf(v) * mpmath.ncdf(mpmath.mpf(v))) for v in x]
    np.testing.assert_allclose(table.run("gelu", "f64", x), exact, rtol=1.2e-15)


@each_table
@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu", "sigmoid", "log_sigmoid", "tanh"])
def test_activation_at_infinity(table, name):
    ends = {
        "gelu": (np.inf, 0),
        "gelu_tanh": (np.inf, 0),
        "silu": (np.inf, 0),
        "sigmoid": (1, 0),
        "log_sigmoid": (0, -np.inf),
        "tanh": (1, -1),
    }[name]
    for dtype in ("f32", "f64"):
        x = np.array([np.inf, -np.inf, np.nan], DTYPES[dtype][0])
        if name == "silu":
            x[1] = -3e38  # at -inf it is -inf times 0
        y = table.run(name, dtype, x)
        assert (y[0], y[1]) == ends
        assert np.isnan(y[2])


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
def test_power_over_the_whole_plane(table, dtype):
    small, big = DTYPES[dtype]
    rng = np.random.default_rng(3)
    info = np.finfo(small)
    x = np.abs(rng.standard_normal(20000)) * 2.0 ** rng.uniform(-20, 20, 20000)
    y = rng.uniform(-1, 1, 20000) * 2.0 ** rng.uniform(-10, 8, 20000)
    special_values = [0, 1, 2, 3, 0.5, 1.5, np.inf, np.nan, info.max, info.tiny, 2.0**24, 2.0**24
                      + 1,
                      info.smallest_subnormal, 1e5 + 1]  # fmt: skip
    values = np.array([s * v for v in special_values for s in (1, -1)])
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    x, y = np.concatenate([x, a]).astype(small), np.concatenate([y, b]).astype(small)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(big), y.astype(big))
    result = table.run("pow", dtype, x, y)
    error = ulps(result, exact)
    worst = int(np.argmax(error))
    assert error[worst] <= 1.0 + SLACK, (x[worst], y[worst], result[worst], exact[worst])
    zero = (exact == 0) & (result == 0)
    np.testing.assert_array_equal(np.signbit(result)[zero], np.signbit(exact)[zero])


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["atan2", "hypot", "logaddexp"])
def test_function_of_two_arguments(table, name, dtype):
    small, big = DTYPES[dtype]
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 20000)) * 2.0 ** rng.uniform(-30, 30, (2, 20000))
    values = [0.0, 1.0, np.inf, np.nan, float(np.finfo(small).max), float(np.finfo(small).tiny)]
    values = np.array([s * v for v in values for s in (1, -1)])
    grid = np.array([g.ravel() for g in np.meshgrid(values, values)])
    x, y = np.concatenate([x, grid], axis=1).astype(small)
    reference = {"atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp}[name]
    with np.errstate(all="ignore"):
        exact = reference(x.astype(big), y.astype(big))
    result = table.run(name, dtype, x, y)
    error = ulps(result, exact)
    if name == "logaddexp":  # a result near 0 is a difference: in units of the arguments
        with np.errstate(all="ignore"):
            unit = np.spacing(np.maximum(np.abs(x), np.maximum(np.abs(y), np.abs(result))))
            error = np.where(np.isfinite(unit), np.abs(result - exact) / unit, error)
    worst = int(np.argmax(error))
    assert error[worst] <= 3.5 + SLACK, (x[worst], y[worst], result[worst], exact[worst])
    if name == "atan2":
        np.testing.assert_array_equal(np.signbit(result), np.signbit(exact) & ~np.isnan(exact))


@each_table
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_argument_does_not_spoil_its_neighbours(table, name, dtype):
    x = np.linspace(0.1, 3, 2000).astype(DTYPES[dtype][0])
    plain = table.run(name, dtype, x)
    x[700] = np.finfo(x.dtype).max
    mixed = table.run(name, dtype, x)
    keep = np.arange(len(x)) != 700
    np.testing.assert_array_equal(plain[keep], mixed[keep])
    with np.errstate(all="ignore"):
        assert abs(mixed[700] - getattr(np, name)(x[700])) <= np.spacing(abs(mixed[700]))


def test_signed_zero_and_subnormals_pass_through():
    names = "expm1 log1p sin tan asin atan sinh tanh asinh atanh erf".split()
    table = _tables()[-1]
    for dtype, (small, _) in DTYPES.items():
        least = np.finfo(small).smallest_subnormal
        x = np.array([-0.0, 0.0, least, -least, 5 * least], small)
        for name in names:
            y = table.run(name, dtype, x)
            scale = 2 / np.sqrt(np.pi) if name == "erf" else 1
            np.testing.assert_array_equal(y, (x.astype(np.longdouble) * scale).astype(small), name)
            assert np.signbit(y[0]), name
            assert not np.signbit(y[1]), name


def _tables():
    from loops import TABLES

    assert set(TABLES) == set(_cpu.usable_targets())
    return list(TABLES.values())
