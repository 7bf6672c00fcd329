"""Reductions against NumPy: every dtype, layout and kind of dims."""

import functools
import warnings

import numpy as np
import pytest
from bridge import (
    CODE,
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    NAMES,
    layouts,
    operate,
    sample,
    tolerance,
    wide,
)

import autograd_cy as ag
from autograd_cy._C import ops_reduction, parallel

SHAPES = [
    (),
    (1,),
    (5,),
    (0,),
    (3, 0),
    (7, 5),
    (3, 4, 5),
    (2, 1, 3, 4),
    (70, 300),
    (2000, 3),
    (3, 9000),
]


def dims_of(ndim):
    yield None
    yield ()
    for d in range(ndim):
        yield d
    yield -1
    if ndim > 1:
        yield (0, ndim - 1)
        yield tuple(range(ndim))
    if ndim > 2:
        yield (0, 1)
        yield (1, 2)


def axes(dims, ndim):
    """Return the dimensions as NumPy's axes."""
    if dims is None or dims == ():
        return tuple(range(ndim))
    if ndim == 0:
        return ()
    return dims if isinstance(dims, tuple) else (dims,)


def check(got, want, name, scale=1.0):
    want = np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want.astype(got.dtype))
    else:
        np.testing.assert_allclose(
            wide(got), wide(want), rtol=tolerance(name), atol=tolerance(name) * scale
        )


def cases(name):
    """
    (array, dims, reference) in all layouts; ``reference(compute)`` is ``compute(values)``.

    It is computed for the first layout, as the values are the same in all.
    """
    for shape in SHAPES:
        base = sample(name, shape)
        values, known = wide(base), {}

        def reference(compute, dims, values=values, known=known):
            if dims not in known:
                known[dims] = compute(values)
            return known[dims]

        for a in layouts(base):
            for dims in dims_of(a.ndim):
                yield a, dims, functools.partial(reference, dims=dims)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keepdim", [False, True])
def test_sum(name, keepdim):
    for a, dims, reference in cases(name):
        got = operate("sum", a, dims, keepdim, -1)
        want = reference(lambda x: x.sum(axes(dims, x.ndim), keepdims=keepdim))
        assert got.dtype == (np.int64 if name in INTS else DTYPES[name])
        check(got, want, name, scale=np.sqrt(a.size + 1.0))


@pytest.mark.parametrize("name", FLOATS + COMPLEX)
def test_mean(name):

    def mean(x):
        if x.size == 0:
            return x.sum(axes(dims, x.ndim)) * np.nan
        return x.mean(axes(dims, x.ndim))

    for a, dims, reference in cases(name):
        with np.errstate(all="ignore"):
            want = reference(mean)
        check(operate("mean", a, dims, False, -1), want, name)


@pytest.mark.parametrize("name", NAMES)
def test_prod(name):

    def near_one(x):
        return x if name in INTS else (1 + x / (10 * max(1, x.size))).astype(DTYPES[name])

    for a, dims, reference in cases(name):
        if isinstance(dims, tuple):
            continue  # over one dimension or all
        if name not in INTS:
            a = np.copy(a)
            a[...] = near_one(wide(a))
        want = reference(lambda x: wide(near_one(x)).prod(axes(dims, x.ndim), keepdims=True))
        got = operate("prod", a, dims, True, -1)
        check(got, want, name, scale=10)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in COMPLEX])
@pytest.mark.parametrize("which", ["amax", "amin"])
def test_extremes(name, which):
    for a, dims, reference in cases(name):
        if a.size == 0:
            continue
        got = operate(which, a, dims, False)
        assert got.dtype == a.dtype
        want = reference(lambda x: getattr(x, which[1:])(axes(dims, x.ndim)))
        np.testing.assert_array_equal(wide(got), want)


@pytest.mark.parametrize("which", ["max", "min"])
@pytest.mark.parametrize("n", [1, 7, 63, 64, 65, 200, 9000, 40000, 100000])
def test_nan_wins(which, n):
    for name in ("float16", "bfloat16", "float32", "float64"):
        for at in {0, n // 2, n - 1}:
            a = sample(name, n)
            a[at] = np.nan
            assert np.isnan(wide(operate(f"{which}_all", a)))
            assert operate(f"arg{which}", a, None, False) == at
            b = np.stack([a, a, a], 1)
            assert np.isnan(wide(operate(f"a{which}", b, 0, False))).all()
            values, index = operate(f"{which}_dim", b, 0, False)
            assert np.isnan(wide(values)).all()
            assert (index == at).all()


@pytest.mark.parametrize("name", [n for n in NAMES if n not in COMPLEX])
@pytest.mark.parametrize("which", ["max", "min"])
def test_first_position(name, which):
    arg = np.argmax if which == "max" else np.argmin
    for shape in [
        (),
        (1,),
        (9,),
        (5, 7),
        (3, 4, 5),
        (2, 1500),
        (1500, 2),
        (40, 150),
        (2, 40000),
        (50, 30, 9),
    ]:
        base = sample(name, shape)
        x = wide(base)
        places = [arg(x, dim) for dim in range(x.ndim)]
        extremes = [getattr(x, which)(dim) for dim in range(x.ndim)]
        for a in layouts(base):
            for dim in range(-1 if a.ndim == 0 else 0, a.ndim):
                values, index = operate(f"{which}_dim", a, dim, False)
                if a.ndim == 0:
                    assert index == 0
                    continue
                np.testing.assert_array_equal(index, places[dim])
                np.testing.assert_array_equal(wide(values), extremes[dim])
            if name != "bool":
                got = operate(f"arg{which}", a, None, False)
                assert got == arg(x)
                got = operate(f"arg{which}", a, None, True)
                assert got.shape == (1,) * a.ndim


@pytest.mark.parametrize("name", NAMES)
def test_all_any(name):

    def both(x):
        x = x.astype(bool)
        return [
            x if dims == () else getattr(x, which)(axes(dims, x.ndim)) for which in ("all", "any")
        ]

    for a, dims, reference in cases(name):
        for which, want in zip(("all", "any"), reference(both), strict=True):
            got = operate(which, a, dims, False)
            assert got.dtype == (np.uint8 if name == "uint8" else np.bool_)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", FLOATS)
def test_logsumexp(name):
    for a, dims, reference in cases(name):
        with np.errstate(all="ignore"):
            want = reference(lambda x: np.log(np.exp(x).sum(axes(dims, x.ndim), keepdims=True)))
        check(operate("logsumexp", a, dims, True), want, name, scale=2)


def test_logsumexp_of_infinities():
    inf = np.inf
    a = np.array([[inf, 1], [-inf, -inf], [np.nan, 0], [800, 800], [inf, -inf]], np.float32)
    want = [inf, -inf, np.nan, 800 + np.log(2), inf]
    for b in (a, np.repeat(a, 30, 0).reshape(5, 30, 2).transpose(1, 0, 2).copy()):
        got = operate("logsumexp", b, -1, False)
        np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), rtol=1e-6)
        got = operate("logsumexp", np.ascontiguousarray(b.swapaxes(0, -1)), 0, False)
        np.testing.assert_allclose(got.T, np.broadcast_to(want, got.T.shape), rtol=1e-6)
    got = operate("logsumexp", np.array([1, 2, 3]), 0, False)
    assert got.dtype == np.float32


@pytest.mark.parametrize("name", FLOATS + COMPLEX)
def test_var(name):

    def both(x):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [x.var(axes(dims, x.ndim), ddof=correction) for correction in (0, 1)]

    for a, dims, reference in cases(name):
        if a.size == 0:
            continue
        for correction, want in zip((0.0, 1.0), reference(both), strict=True):
            got = operate("var", a, dims, correction, False)
            assert got.dtype == {"complex64": np.float32, "complex128": np.float64}.get(
                name, a.dtype
            )
            check(got, want, name, scale=5)


def test_var_without_enough_elements():
    a = np.ones((2, 1), np.float32)
    assert np.isnan(operate("var", a, 1, 1.0, False)).all()
    assert np.isnan(operate("var", np.ones((2, 0), np.float32), 1, 1.0, False)).all()


@pytest.mark.parametrize("name", NAMES)
def test_cumsum(name):
    for shape in [(), (1,), (9,), (0, 3), (5, 7), (3, 4, 5), (90, 37), (300, 200)]:
        for a in layouts(sample(name, shape)):
            for dim in range(-1, a.ndim):
                got = operate("cumsum", a, dim, -1)
                want = wide(a).cumsum(dim) if a.ndim else wide(a)
                check(got, want, name, scale=10)
    assert operate("cumsum", np.array([3, 4]), 0, CODE["float32"]).dtype == np.float32


@pytest.mark.parametrize("name", [n for n in NAMES if n != "bool"])
def test_sum_to_shape(name):
    for a in layouts(sample(name, (4, 3, 5))):
        for shape in [(4, 3, 5), (3, 5), (5,), (), (1, 5), (3, 1), (4, 1, 5), (1, 1, 1), (1, 3, 1)]:
            got = operate("sum_to_shape", a, shape)
            full = (1,) * (3 - len(shape)) + shape
            over = tuple(i for i in range(3) if full[i] == 1)
            want = wide(a).sum(over, keepdims=True).reshape(shape).astype(a.dtype)
            assert got.dtype == a.dtype
            check(got, want, name, scale=10)
    expanded = np.broadcast_to(sample("float32", (1, 5)), (4, 5))
    check(operate("sum_to_shape", expanded, (4, 1)), expanded.sum(1, keepdims=True), "float32")


def test_dtype_argument():
    a = np.array([200, 100], np.uint8)
    assert operate("sum", a, None, False, CODE["uint8"]) == 44
    assert operate("sum", a, None, False, CODE["bool"]).dtype == np.bool_
    assert operate("mean", a, None, False, CODE["float64"]) == 150.0
    assert operate("prod", a, None, False, CODE["float32"]) == 20000.0
    half = np.full(70000, 1, np.float16)
    assert operate("sum", half, None, False, CODE["float32"]) == 70000.0
    assert np.isinf(operate("sum", half, None, False, -1))


@pytest.mark.parametrize(
    ("error", "text", "args"),
    [
        (IndexError, r"range of \[-2, 1\], but got 2", ("sum", 2, False, -1)),
        (RuntimeError, "dim 0 appears multiple times", ("sum", (0, -2), False, -1)),
        (TypeError, "must be tuple of ints, not float", ("sum", 0.5, False, -1)),
        (IndexError, "but got -3", ("amax", -3, False)),
        (IndexError, "Dimension out of range", ("max_dim", 5, False)),
        (IndexError, "Dimension out of range", ("argmax", 5, False)),
        (IndexError, "Dimension out of range", ("cumsum", 5, -1)),
        (IndexError, "Dimension out of range", ("logsumexp", 5, False)),
        (RuntimeError, "multiple times", ("var", (1, 1), 1.0, False)),
    ],
)
def test_bad_dims(error, text, args):
    name, *rest = args
    with pytest.raises(error, match=text):
        operate(name, np.ones((2, 3)), *rest)


def test_errors():
    empty = np.ones((2, 0))
    with pytest.raises(
        RuntimeError, match=r"max\(\): Expected reduction dim to be specified for input.num"
    ):
        operate("max_all", empty)
    with pytest.raises(
        IndexError, match=r"max\(\): Expected reduction dim 1 to have non-zero size"
    ):
        operate("max_dim", empty, 1, False)
    with pytest.raises(IndexError, match=r"argmax\(\): Expected reduction dim to be specified"):
        operate("argmax", empty, None, False)
    assert operate("max_dim", empty, 0, False)[0].shape == (0,)
    refused = [
        (np.ones(3, np.int64), ("mean", None, False, -1)),
        (np.ones(3), ("mean", None, False, CODE["int64"])),
        (np.ones(3, np.complex64), ("amax", None, False)),
        (np.ones(3, np.complex64), ("max_dim", 0, False)),
        (np.ones(3, np.bool_), ("argmax", None, False)),
        (np.ones(3, np.int64), ("var", None, 1.0, False)),
    ]
    for a, (name, *rest) in refused:
        with pytest.raises(
            (RuntimeError, NotImplementedError),
            match="not implemented for|only support|must be floating|does not support",
        ):
            operate(name, a, *rest)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [4095, 4096, 8191, 8192, 8193, 8703, 8705, 33_000, 73_741])
def test_each_element_of_a_long_sum_counts_once(dtype, n):
    x = np.random.default_rng(n).integers(-9, 10, (2, n)).astype(dtype)
    if np.iscomplexobj(x):
        x += 1j * np.random.default_rng(n + 1).integers(-9, 10, (2, n))
    t = ag.from_numpy(x)
    assert t.sum(1).tolist() == x.sum(1).tolist()  # whole numbers: exact in any order
    assert t[0].sum().item() == x[0].sum()


def test_precision_of_long_sums():
    a = np.full(3_000_000, 0.1, np.float32)
    want = a.astype(np.float64).sum()
    assert abs(operate("sum", a, None, False, -1) - want) < 1e-6 * want
    tall = np.ascontiguousarray(np.broadcast_to(np.float32(0.1), (400_000, 4)))
    np.testing.assert_allclose(
        operate("sum", tall, 0, False, -1), tall.astype(np.float64).sum(0), rtol=1e-6
    )


@pytest.fixture
def threads():
    before = parallel.get_num_threads()
    yield parallel.set_num_threads
    parallel.set_num_threads(before)


BIG = [(300_000,), (512, 150), (3, 50_000), (50_000, 3), (50, 30, 70)]


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "int32"])
def test_bit_equal_for_any_number_of_threads(name, threads):
    jobs = [("sum", -1)]
    if name not in INTS:
        jobs += [("mean", -1)]
    for shape in BIG:
        a = sample(name, shape)
        for dims in (None, 0, -1, (0, len(shape) - 1)):
            if isinstance(dims, tuple) and len(shape) < 2:
                continue
            runs = []
            for n in (1, 2, 3, 5):
                threads(n)
                got = [operate(job, a, dims, False, dt) for job, dt in jobs]
                if not isinstance(dims, tuple):
                    got.append(operate("prod", a, dims, False, -1))
                if name not in INTS:
                    got.append(operate("var", a, dims, 1.0, False))
                if name in ("float32", "float64"):
                    got.append(operate("logsumexp", a, dims, False))
                    got.append(operate("argmax", a, None, False))
                runs.append([g.tobytes() for g in got])
            assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize("name", ["float32", "int64", "complex64", "float16"])
def test_tiles_that_call_their_loop_several_times(name):
    # More results than tiles are wanted, and each of more elements than one call takes.
    for shape, dims in [((36, 70_000), 1), ((12, 130, 5, 150), (0, 2)), ((300, 2, 4, 40), (0, 3))]:
        a = sample(name, shape)
        check(operate("sum", a, dims, False, -1), wide(a).sum(dims), name, scale=300)
        if name not in COMPLEX:
            np.testing.assert_array_equal(operate("amax", a, dims, False), a.max(dims))


def test_a_recurrence_refuses_operands_that_differ_and_says_how():
    scan = ops_reduction._linear_scan
    with pytest.raises(RuntimeError, match=r"Float \[3\] and Double \[3\]"):
        scan(ag.ones(3), ag.ones(3, dtype=ag.float64), 0, False)
    with pytest.raises(RuntimeError, match=r"Float \[3\] and Float \[2\]"):
        scan(ag.ones(3), ag.ones(2), 0, False)
