"""Small images, many channels: taps that only meet margins, many images for one pass of weights."""

import itertools

import pytest
from endless import soon

import autograd_cy as ag

CASES = [
    # Images, channels, outputs, size, kernel, stride, padding, dilation.
    (12, 160, 170, (1, 1), (3, 3), (1, 1), (1, 1), (1, 1)),
    (11, 160, 170, (2, 2), (3, 3), (2, 2), (1, 1), (1, 1)),
    (13, 150, 170, (2, 1), (3, 3), (1, 2), (1, 1), (1, 1)),
    (9, 160, 170, (4, 4), (3, 3), (1, 1), (1, 1), (1, 1)),
    (9, 150, 170, (3, 5), (3, 2), (2, 2), (1, 1), (1, 1)),
    (3, 2, 3, (2, 3), (3, 4), (1, 2), (4, 3), (3, 2)),
    (3, 2, 3, (1, 1), (4, 1), (3, 1), (4, 0), (2, 1)),
    (2, 3, 5, (1, 2), (2, 2), (1, 1), (3, 3), (1, 4)),
    # No tap meets anything.
    (2, 3, 5, (1, 1), (2, 2), (4, 4), (2, 2), (1, 1)),
    (2, 3, 5, (1, 2), (1, 2), (3, 2), (1, 1), (2, 3)),
    (0, 2, 3, (1, 1), (3, 3), (1, 1), (1, 1), (1, 1)),
]


def results(x, w, padding, dtype, **rest):
    x = x.to(dtype).requires_grad_()
    w = w.to(dtype).requires_grad_()
    top, left = padding
    wide = ag.nn.functional.pad(x, (left, left, top, top)) if rest.pop("beforehand") else x
    y = ag.conv2d(wide, w, padding=0 if wide is not x else padding, **rest)
    gen = ag.Generator().manual_seed(1)
    grad = ag.randn(y.shape, generator=gen).to(dtype)
    return (y.detach(), *ag.autograd.grad(y, (x, w), grad))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_margins_are_zeros(case, dtype):
    """The results are those of images that hold their margins, for any number of threads."""
    images, channels, outputs, size, kernel, stride, padding, dilation = case
    gen = ag.Generator().manual_seed(0)
    x = ag.randn(images, channels, *size, generator=gen).to(getattr(ag, dtype))
    w = (ag.randn(outputs, channels, *kernel, generator=gen) / 8).to(getattr(ag, dtype))
    exact = ag.complex128 if dtype == "complex64" else ag.float64
    options = {"padding": padding, "stride": stride, "dilation": dilation}
    expected = results(x, w, dtype=exact, beforehand=True, **options)
    tolerance = 5e-2 if dtype == "bfloat16" else 1e-4
    found, before = [], ag.get_num_threads()
    for threads in (1, 2, 3):
        ag.set_num_threads(threads)
        with soon():
            found.append(results(x, w, dtype=x.dtype, beforehand=False, **options))
    ag.set_num_threads(before)
    for a, b in zip(found[0], expected):
        scale = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        ag.testing.assert_close(a.to(exact), b, rtol=0, atol=tolerance * scale)
    for other in found[1:]:
        assert all(ag.equal(a, b) for a, b in zip(found[0], other))


def test_weights_that_meet_nothing_get_zeros():
    w = ag.ones(3, 3, 3, 2).permute(3, 0, 1, 2).requires_grad_()
    y = ag.conv2d(ag.ones(1, 3, 1, 1), w, padding=1)
    (grad,) = ag.autograd.grad(y.sum(), w)
    for i, j in itertools.product(range(3), range(3)):
        assert (grad[:, :, i, j] == float(i == j == 1)).all()
