"""Convolutions of small images, whose channels are the lanes of vectors, and those beside them.

float64 goes another way. Images of small whole numbers have sums that no order of them changes.
"""

import itertools

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 17, 20, 23, 28, 31, 43)


def whole(*shape, seed=0):
    gen = ag.Generator().manual_seed(seed)
    return ag.randint(-4, 5, shape, generator=gen).float()


def both(x, w, bias, function=F.conv2d, **options):
    """Result, and gradients of images and weights, in float32 and in float64."""
    found = []
    for dtype in (ag.float32, ag.float64):
        a, b, c = (t.detach().to(dtype).requires_grad_() for t in (x, w, bias))
        y = function(a, b, c, **options)
        grads = ag.autograd.grad(y, (a, b, c), whole(*y.shape, seed=9).to(dtype))
        found.append([t.detach().double() for t in (y, *grads)])
    return found


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert ag.equal(a, b)


@pytest.mark.parametrize("outputs", [8, 12, 16, 24, 32, 47, 64])
@pytest.mark.parametrize("padding", [0, 2])
def test_rows_of_any_width(outputs, padding):
    w, bias = whole(outputs, 3, 2, 3, seed=1), whole(outputs, seed=2)
    for width in WIDTHS:
        if width + 2 * padding >= 3:
            x = whole(2, 3, 2 + width % 5, width)
            assert_same(*both(x, w, bias, padding=padding))


@pytest.mark.parametrize("stride", [1, 2, 3, (1, 2), (2, 1)])
@pytest.mark.parametrize("dilation", [1, 2, (1, 3)])
@pytest.mark.parametrize("padding", [0, 1, (3, 0)])
def test_steps_and_margins(stride, dilation, padding):
    w, bias = whole(32, 5, 3, 2, seed=1), whole(32, seed=2)
    for size in ((13, 14), (9, 7), (20, 11)):
        options = {"stride": stride, "dilation": dilation, "padding": padding}
        assert_same(*both(whole(3, 5, *size), w, bias, **options))


@pytest.mark.parametrize("channels", [8, 12, 16, 24, 32])
def test_images_that_one_window_reads_in_part(channels):
    """Elements that no window reads have gradient 0, also where a step leads past the end."""
    for size, taps, step in itertools.product(range(1, 8), range(1, 4), range(1, 9)):
        if taps <= size:
            w, bias = whole(16, channels, taps, taps, seed=1), whole(16, seed=2)
            assert_same(*both(whole(2, channels, size, size), w, bias, stride=step))
            x = whole(2, channels, taps, size)
            assert_same(*both(x, w, bias, stride=step, padding=(1, 0)))


@pytest.mark.parametrize(("groups", "inputs", "outputs"), [(2, 9, 16), (3, 4, 32), (5, 10, 20)])
def test_groups(groups, inputs, outputs):
    w, bias = whole(groups * outputs, inputs, 3, 3, seed=1), whole(groups * outputs, seed=2)
    x = whole(3, groups * inputs, 12, 10)
    assert_same(*both(x, w, bias, padding=1, groups=groups))


@pytest.mark.parametrize("size", [(16, 16), (16, 32), (32, 32)])
def test_images_a_power_of_two_apart(size):
    """Their channels are copied, so that they don't meet in the cache."""
    w, bias = whole(32, 12, 3, 5, seed=1), whole(32, seed=2)
    assert_same(*both(whole(2, 12, *size), w, bias, padding=(0, 0)))
    assert_same(*both(whole(2, 12, *size), w[:, :, :1, :1], bias))


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_other_dimensions(padding):
    bias = whole(16, seed=2)
    x, w = whole(2, 6, 21), whole(16, 6, 4, seed=1)
    assert_same(*both(x, w, bias, F.conv1d, padding=padding))
    x, w = whole(2, 4, 5, 6, 7), whole(16, 4, 3, 2, 3, seed=1)
    assert_same(*both(x, w, bias, F.conv3d, padding=padding))
    assert_same(*both(x, w, bias, F.conv3d, padding=padding, stride=(2, 1, 2)))


@pytest.mark.parametrize("padding", [0, 1, 4])
def test_transposed(padding):
    x, w, bias = whole(3, 20, 9, 10), whole(20, 32, 3, 5, seed=1), whole(32, seed=2)
    assert_same(*both(x, w, bias, F.conv_transpose2d, padding=padding if padding < 4 else (2, 4)))
    w = whole(20, 16, 3, 5, seed=1)
    assert_same(*both(x, w, bias, F.conv_transpose2d, padding=1, groups=2))


def test_images_that_lie_anyhow():
    w, bias = whole(16, 6, 5, 5, seed=1), whole(16, seed=2)
    x = whole(4, 6, 14, 14)
    expected = F.conv2d(x, w, bias)
    strided = whole(4, 6, 28, 28)
    strided[:, :, ::2, 1::2] = x
    for same in (x.transpose(2, 3).contiguous().transpose(2, 3), strided[:, :, ::2, 1::2]):
        assert ag.equal(F.conv2d(same, w, bias), expected)
    turned = w.flip(1).permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    assert ag.equal(F.conv2d(x.flip(1), turned, bias), expected)
    row = x[:1].expand(4, -1, -1, -1)
    assert ag.equal(F.conv2d(row, w, bias), expected[:1].expand(4, -1, -1, -1))


@pytest.mark.parametrize("images", [1, 5, 64])
def test_threads_give_the_same_bits(images):
    gen = ag.Generator().manual_seed(0)
    x = ag.randn(images, 8, 30, 30, generator=gen)
    w = ag.randn(64, 8, 5, 5, generator=gen)
    before, found = ag.get_num_threads(), []
    try:
        for threads, padding in itertools.product((1, 2, 3), (0, 2)):
            ag.set_num_threads(threads)
            found.append(F.conv2d(x, w, padding=padding))
    finally:
        ag.set_num_threads(before)
    for i in range(2, 6):
        assert ag.equal(found[i], found[i % 2])
    assert (found[0] - F.conv2d(x.double(), w.double())).abs().max() < 1e-4


def test_an_image_is_the_same_in_any_batch():
    gen = ag.Generator().manual_seed(0)
    x, w = ag.randn(7, 6, 14, 14, generator=gen), ag.randn(16, 6, 5, 5, generator=gen)
    together = F.conv2d(x, w)
    for i in range(7):
        assert ag.equal(F.conv2d(x[i : i + 1], w)[0], together[i])


def test_what_is_no_number():
    """It reaches the results whose windows have it, and no others."""
    x, w = ag.ones(1, 6, 14, 14), ag.ones(16, 6, 5, 5)
    x[0, 2, 7, 3] = float("nan")
    hit = F.conv2d(x, w, padding=2).isnan()[0]
    expected = ag.zeros(14, 14, dtype=ag.bool)
    expected[5:10, 1:6] = True
    assert ag.equal(hit, expected.expand(16, -1, -1))
