"""Convolutions of 3 x 3 taps by tiles: large enough that they are taken, beside plain sums."""

import itertools

import programs
import pytest

import autograd_cy as ag
from autograd_cy._C import cpu

CASES = [
    # Images, channels, outputs, size, padding.
    (4, 16, 16, (8, 8), (1, 1)),
    (2, 64, 48, (32, 32), (1, 1)),
    (3, 17, 19, (7, 9), (1, 1)),
    (30, 70, 33, (6, 10), (0, 0)),
    (2, 300, 70, (14, 14), (2, 2)),
    (3, 31, 65, (9, 14), (0, 2)),
    (16, 512, 130, (4, 4), (1, 1)),
    (40, 20, 50, (2, 2), (1, 1)),
    (1, 33, 24, (56, 56), (1, 0)),
    (1, 16, 16, (3, 1100), (1, 1)),
    (9, 600, 20, (4, 6), (1, 1)),
    (2, 24, 40, (12, 9), (1, 1)),
    (70, 150, 37, (4, 4), (1, 1)),
    (3, 260, 16, (11, 19), (2, 0)),
    (1, 64, 64, (30, 134), (1, 1)),
]


def operands(case):
    images, channels, outputs, size, padding = case
    gen = ag.Generator().manual_seed(0)
    x = ag.randn(images, channels, *size, generator=gen)
    w = ag.randn(outputs, channels, 3, 3, generator=gen) / (3 * channels**0.5)
    b = ag.randn(outputs, generator=gen)
    return x, w, b, {"padding": padding}


def results(x, w, b, dtype=ag.float32, **options):
    x, w, b = (t.detach().to(dtype).requires_grad_() for t in (x, w, b))
    y = ag.conv2d(x, w, b, **options)
    grad = ag.randn(y.shape, generator=ag.Generator().manual_seed(1)).to(dtype)
    return (y.detach(), *ag.autograd.grad(y, (x, w), grad))


def assert_near(found, expected, tolerance=4e-6):
    for a, b in zip(found, expected, strict=True):
        ag.testing.assert_close(
            a.double(), b, rtol=0, atol=tolerance * max(1.0, b.abs().max().item())
        )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_plain_sums(case):
    """Results, and gradients of images and weights; float64 takes plain sums."""
    x, w, b, options = operands(case)
    assert_near(results(x, w, b, **options), results(x, w, b, ag.float64, **options))


@pytest.mark.parametrize("channels", [16, 64, 300])
@pytest.mark.parametrize("positive", [False, True])
def test_rounding_is_that_of_plain_sums(channels, positive):
    """Tiles of 4 x 4 of numbers of one size: a few times what a sum in float32 would lose."""
    x, w, b, options = operands((2, channels, 32, (16, 16), (1, 1)))
    if positive:
        x, w = x.abs(), w.abs()
    found, expected = results(x, w, b, **options), results(x, w, b, ag.float64, **options)
    for a, e in zip(found, expected, strict=True):
        error, size = a.double() - e, e.square().mean().sqrt()
        assert error.square().mean().sqrt() < 1.2e-6 * size
        assert error.abs().max() < 1e-5 * size


@pytest.mark.parametrize("case", CASES, ids=str)
def test_threads_give_the_same_bits(case):
    x, w, b, options = operands(case)
    found, before = [], ag.get_num_threads()
    try:
        for threads in (1, 3):
            ag.set_num_threads(threads)
            found.append(results(x, w, b, **options))
    finally:
        ag.set_num_threads(before)
    assert all(ag.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("case", [CASES[3], CASES[11]], ids=str)
def test_any_layout_gives_the_same(case):
    """Tiles of 2 x 2 and of 4 x 4."""
    x, w, b, options = operands(case)
    expected = results(x, w, b, ag.float64, **options)
    for order in itertools.permutations(range(4)):
        back = [order.index(d) for d in range(4)]
        strided = [t.permute(order).contiguous().permute(back) for t in (x, w)]
        assert_near(results(*strided, b, **options), expected)
    wide = ag.zeros(*x.shape[:-1], 2 * x.shape[-1])
    wide[..., ::2] = x
    assert_near(results(wide[..., ::2], w, b, **options), expected)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 3e38])
@pytest.mark.parametrize("where", ["x", "w", "grad"])
def test_what_is_not_finite_stays_where_plain_sums_have_it(value, where):
    """Not in other results of its tile."""
    x, w, _, options = operands(CASES[0])
    grad = ag.randn(x.shape[0], w.shape[0], 8, 8, generator=ag.Generator().manual_seed(1))
    target = {"x": x, "w": w, "grad": grad}[where]
    target[(1, 2, 1, 1) if where == "w" else (1, 2, 3, 4)] = value
    answers = []
    for dtype in (ag.float32, ag.float64):
        a, b = (t.to(dtype).requires_grad_() for t in (x, w))
        y = ag.conv2d(a, b, **options)
        answers.append((y, *ag.autograd.grad(y, (a, b), grad.to(dtype))))
    for found, expected in zip(*answers, strict=True):
        small = expected.abs() < 1e30
        assert small.any()
        assert found[small].isfinite().all()
        if value == 3e38:
            continue
        assert ag.equal(found.isnan(), expected.isnan())
        assert ag.equal(found.isinf(), expected.isinf())


def test_an_image_does_not_depend_on_those_beside_it():
    x, w, b, options = operands(CASES[1])
    y = ag.conv2d(x, w, b, **options)
    for i in range(x.shape[0]):
        ag.testing.assert_close(
            ag.conv2d(x[i : i + 1], w, b, **options), y[i : i + 1], rtol=0, atol=1e-5
        )


def some_as_plain_sums():
    """Some; with AUTOGRAD_CY_CPU set, the test above runs all of them."""
    for case in CASES[2:12:3]:
        test_as_plain_sums(case)


@pytest.mark.parametrize("target", ["base", "avx2", "avx512"])
def test_every_instruction_set(target):
    """Each instruction set runs in a process with its loops."""
    if target not in cpu.usable_targets() or target == cpu.selected_target():
        pytest.skip(f"{target} isn't there, or was tested above")
    names = [
        "some_as_plain_sums",
        "test_rounding_is_that_of_plain_sums",
        "test_any_layout_gives_the_same",
        "test_what_is_not_finite_stays_where_plain_sums_have_it",
    ]
    count = programs.run_tests(__file__, names, AUTOGRAD_CY_CPU=target)
    assert count == 1 + 3 * 2 + 2 + 3 * 3


def masked(kind, gen):
    """Kernels of which some taps are zero in every channel."""
    w = ag.randn(16, 16, 3, 3, generator=gen)
    if kind == "identity":
        return ag.zeros(16, 16, 3, 3).index_put(
            (ag.arange(16), ag.arange(16), ag.tensor(1), ag.tensor(1)), ag.ones(16)
        )
    if kind == "causal":
        w[:, :, 1, 1:] = 0
        w[:, :, 2] = 0
    if kind == "one result":
        w[5, :, 0, 2] = 0
    return w


@pytest.mark.parametrize("kind", ["identity", "causal", "one result"])
def test_what_a_weight_of_zero_hides_costs_no_digits(kind):
    gen = ag.Generator().manual_seed(4)
    w = masked(kind, gen)
    x = ag.randn(2, 16, 16, 16, generator=gen)
    plain = ag.conv2d(x.double(), w.double(), padding=1).float()
    x[:, :, 7:] *= 1e6
    large = ag.conv2d(x, w, padding=1)
    hidden = {"identity": 7, "causal": 7, "one result": 6}[kind]
    ag.testing.assert_close(large[:, :, :hidden], plain[:, :, :hidden], rtol=1e-4, atol=1e-4)
    if kind == "identity":
        assert ag.equal(large, x)
    # The gradient of the image is such a sum with the taps turned.
    image = ag.zeros_like(x).requires_grad_()
    ag.conv2d(image, w, padding=1).backward(x)
    turned = ag.conv2d(x.double(), w.double().transpose(0, 1).flip(2, 3), padding=1)
    if kind != "one result":
        ag.testing.assert_close(
            image.grad[:, :, :5].double(), turned[:, :, :5], rtol=1e-4, atol=1e-4
        )


def test_kernels_of_zeros_give_zeros():
    x = ag.randn(2, 16, 8, 8)
    w = ag.randn(17, 16, 3, 3)
    w[3] = 0
    assert (ag.conv2d(x, w, padding=1)[:, 3] == 0).all()
