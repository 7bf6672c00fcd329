"""Negative log-likelihood and mean squared error against NumPy."""

import numpy as np
import pytest
from bridge import DTYPES, FLOATS, layouts, operate, sample, tolerance, wide

import autograd_cy as ag
from autograd_cy._C import parallel

NONE, MEAN, SUM = range(3)


def nll(x, target, weight, reduction, ignore):
    """Losses and gradient, by the places that the targets name."""
    w = np.ones(x.shape[0 if x.ndim == 1 else 1]) if weight is None else weight
    if x.ndim == 1:
        out, grad = nll(x[None], target.reshape(1), w, reduction, ignore)
        return (out[0] if reduction == NONE else out), grad[0]
    moved = np.moveaxis(x, 1, -1)
    counts = target != ignore
    place = np.where(counts, target, 0)[..., None]
    factor = np.where(counts, w[place[..., 0]], 0.0)
    losses = -factor * np.take_along_axis(moved, place, -1)[..., 0]
    grad, total = np.zeros(moved.shape), factor.sum()
    np.put_along_axis(grad, place, -factor[..., None], -1)
    grad = np.moveaxis(grad, -1, 1)
    if reduction == NONE:
        return losses, grad
    if reduction == SUM:
        return losses.sum(), grad
    with np.errstate(all="ignore"):
        return losses.sum() / np.float64(total), grad / np.float64(total)


SHAPES = [(4,), (5, 3), (0, 3), (4, 3, 2), (2, 3, 4, 5), (9000, 5), (20000, 3)]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_nll(name, weighted, reduction):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        if name in ("float16", "bfloat16") and shape[0] > 100:
            continue
        classes = shape[0] if len(shape) == 1 else shape[1]
        target_shape = () if len(shape) == 1 else (shape[0], *shape[2:])
        target = np.asarray(rng.integers(0, classes, target_shape))
        if target.size > 2:
            target.flat[1] = -7
        weight = np.asarray(rng.random(classes) + 0.5).astype(DTYPES[name]) if weighted else None
        for x in layouts(sample(name, shape)):
            want, gradient = nll(
                wide(x), target, None if weight is None else wide(weight), reduction, -7
            )
            got = operate("nll_loss", x, target, weight, reduction, -7)
            assert got.dtype == x.dtype and got.shape == np.shape(want)
            np.testing.assert_allclose(
                wide(got), want, rtol=10 * tolerance(name), atol=30 * tolerance(name)
            )
            g = sample(name, np.shape(want), seed=2)
            back = operate("nll_gradient", x, target, weight, reduction, -7, g)
            u = wide(g)
            if reduction == NONE and x.ndim > 1:
                u = np.expand_dims(u, 1)
            assert back.dtype == x.dtype
            np.testing.assert_allclose(wide(back), u * gradient, rtol=5 * tolerance(name))


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_squares_of_operands_that_neither_has_the_shape_of_the_result():
    a, b = ag.arange(3.0).reshape(3, 1), ag.arange(4.0).reshape(1, 4)
    found = ag.nn.functional.mse_loss(a, b, reduction="none")
    assert found.tolist() == [[(i - j) ** 2 for j in range(4)] for i in range(3)]
    assert found.is_contiguous()
    assert ag.nn.functional.mse_loss(a, b, reduction="sum").item() == found.sum().item()


def test_nll_all_ignored_is_nan():
    x = np.zeros((2, 3), np.float32)
    target = np.full(2, -100)
    assert np.isnan(operate("nll_loss", x, target, None, MEAN, -100))
    assert operate("nll_loss", x, target, None, SUM, -100) == 0


def test_nll_byte_target():
    x = np.array([[-1.0, -2.0]])
    assert operate("nll_loss", x, np.array([1], np.uint8), None, MEAN, -100) == 2


@pytest.mark.parametrize(
    ("error", "text", "x", "target", "weight"),
    [
        (IndexError, "Target 5 is out of bounds.", (4, 3), [0, 1, 5, 1], None),
        (IndexError, "Target -1 is out of bounds.", (4, 3), [0, -1, 5, 1], None),
        (
            RuntimeError,
            "expected scalar type Long but found Float",
            (4, 3),
            np.zeros(4, "f4"),
            None,
        ),
        (RuntimeError, "expected scalar type Long but found Int", (4, 3), np.zeros(4, "i4"), None),
        (ValueError, r"batch_size \(4\) to match target batch_size \(3\)", (4, 3), [0, 1, 2], None),
        (RuntimeError, "0D or 1D target tensor expected", (4, 3), [[0]] * 4, None),
        (ValueError, "must have size 1, but got target size: 2", (3,), [0, 1], None),
        (ValueError, r"Expected 1 or more dimensions \(got 0\)", (), 0, None),
        (RuntimeError, "either for all 3 classes or no classes", (4, 3), [0] * 4, np.ones(4, "f4")),
        (RuntimeError, "expected scalar type Float but found Double", (4, 3), [0] * 4, np.ones(3)),
        (RuntimeError, "expected a target of 2 dimensions", (4, 3, 1), [0] * 4, None),
        (RuntimeError, "size mismatch", (4, 3, 2), [[0]] * 4, None),
    ],
)
def test_nll_errors(error, text, x, target, weight):
    with pytest.raises(error, match=text):
        operate("nll_loss", np.zeros(x, np.float32), np.asarray(target), weight, MEAN, -100)


def test_nll_needs_floats():
    with pytest.raises(RuntimeError, match="not implemented for"):
        operate("nll_loss", np.zeros((4, 3), int), np.zeros(4, int), None, MEAN, -100)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_mse(name, reduction):
    for shape in [(), (1,), (0,), (7,), (5, 6), (70, 1100)]:
        for a in layouts(sample(name, shape)):
            b = sample(name, shape, seed=1)
            d = wide(a) - wide(b)
            with np.errstate(all="ignore"):
                scale = 1.0 if reduction != MEAN else 1.0 / np.float64(d.size)
                want = d * d if reduction == NONE else np.asarray((d * d).sum() * scale)
            got = operate("mse_loss", a, b, reduction)
            assert got.dtype == a.dtype and got.shape == want.shape
            rtol = (4 if reduction == NONE else 2) * tolerance(name)
            with np.errstate(all="ignore"):
                want = wide(want.astype(a.dtype))
            np.testing.assert_allclose(wide(got), want, rtol=rtol, atol=3 * tolerance(name))
            g = sample(name, want.shape, seed=2)
            back = operate("mse_gradient", a, b, reduction, g)
            if d.size:
                np.testing.assert_allclose(
                    wide(back),
                    2 * d * wide(g) * scale,
                    rtol=4 * tolerance(name),
                    atol=3 * tolerance(name),
                )
            assert back.shape == a.shape


def test_mse_promotes_and_broadcasts():
    a, b = sample("float32", (3, 1)), sample("float64", (1, 4), seed=1)
    got = operate("mse_loss", a, b, MEAN)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, ((a - b) ** 2).mean())
    with pytest.raises(RuntimeError, match="not implemented for"):
        operate("mse_loss", np.zeros(3, int), np.zeros(3, int), MEAN)


def test_bit_equal_for_any_number_of_threads():
    before = parallel.get_num_threads()
    x = sample("float32", (100_000, 7))
    target = np.random.default_rng(0).integers(0, 7, 100_000)
    runs = []
    try:
        for n in (1, 2, 5):
            parallel.set_num_threads(n)
            out = operate("nll_loss", x, target, None, MEAN, -100)
            back = operate("nll_gradient", x, target, None, MEAN, -100, out)
            mse = operate("mse_loss", x, x[::-1].copy(), MEAN)
            runs.append([out.tobytes(), back.tobytes(), mse.tobytes()])
    finally:
        parallel.set_num_threads(before)
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("place", [0, 1, 5, 1023, 1024, 2999])
def test_a_wrong_class_is_found_wherever_it_stands(place):
    x = ag.zeros(3000, 4)
    for bad in (4, -1):
        target = ag.zeros(3000, dtype=ag.int64)
        target[place] = bad
        for reduction in ("mean", "sum", "none"):
            with pytest.raises(IndexError, match=f"Target {bad} is out of bounds"):
                ag.nn.functional.nll_loss(x, target, reduction=reduction)
