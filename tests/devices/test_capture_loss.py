"""Losses as launches: run again on other memory they give the bits of a fresh run."""

import pytest
from grouping import each
from helpers import claimed, family, launched_again, others_memory

import autograd_cy as ag
import autograd_cy.nn.functional as F
from autograd_cy._C.launch import capture

CASES = family("loss", keep=lambda r: r.kernel.shape is not None)


@each("case,dtype", claimed(CASES, "float32", "float64", "float16"))
def test_losses_run_again(case, dtype):
    launched_again(case, dtype)


def classes(x):
    """Targets that depend on values."""
    return x.argmax(1)


LARGE = {
    "nll": (lambda x, y: F.nll_loss(x, classes(y)), (90_000, 3)),
    "weighted nll": (lambda x, y: F.nll_loss(x, classes(y), y[0].exp()), (500, 4)),
    "nll of images": (lambda x, y: F.nll_loss(x, classes(y), reduction="none"), (5, 4, 6, 7)),
    "nll summed": (lambda x, y: F.nll_loss(x.half(), classes(y), reduction="sum"), (300, 4)),
    "cross entropy": (lambda x, y: F.cross_entropy(x, classes(y), label_smoothing=0.1), (50, 7)),
    "squares": (F.mse_loss, (700, 1000)),
    "squares of halves": (lambda x, y: F.mse_loss(x.half(), y.half()), (70, 100)),
    "squares of strided ones": (lambda x, y: F.mse_loss(x.t(), y.t()), (70, 100)),
    "squares, promoted": (lambda x, y: ag.mse_loss(x, y[:1].double()), (70, 100)),
    "each square": (lambda x, y: F.mse_loss(x, y, reduction="none"), (700, 100)),
    "each square, turned": (lambda x, y: F.mse_loss(x.t(), y.t(), reduction="none"), (70, 10)),
}


def with_gradient(run, x, y):
    x = x.detach().requires_grad_()
    value = run(x, y)
    (gradient,) = ag.autograd.grad(value, x, ag.ones_like(value))
    return value.detach(), gradient


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_loss_and_its_gradient_run_again(name, threads):
    run, shape = LARGE[name]
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        x, y, kept = ag.randn(shape), ag.randn(shape), []
        new = ag.randn(shape), ag.randn(shape)
        program = capture(lambda: kept.extend(with_gradient(run, x, y)))
        x.copy_(new[0])
        y.copy_(new[1])
        assert program.poison() > 0
        with others_memory():
            program.replay_elsewhere([x, y])
        for got, want in zip(kept, with_gradient(run, *new), strict=True):
            assert got.numpy().tobytes() == want.numpy().tobytes()
    finally:
        ag.set_num_threads(before)


def test_squares_keep_the_order_of_dimensions():
    a, b = ag.randn(4, 5).t(), ag.randn(5, 4)
    assert F.mse_loss(a, b, reduction="none").stride() == ((a - b) ** 2).stride()
    assert F.mse_loss(b, a, reduction="none").stride() == ((b - a) ** 2).stride()
    assert ag.mse_loss(b[0], a, reduction="none").stride() == ((b[0] - a) ** 2).stride()
