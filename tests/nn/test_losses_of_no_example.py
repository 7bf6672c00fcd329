"""Losses of no example: no element, a sum of zero, a mean that is none."""

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy.nn import functional as F

nan = float("nan")
nothing, none, ones = ag.zeros(0, 3), ag.zeros(0, dtype=ag.int64), ag.ones(0)


LOSSES = {
    "multi_margin_loss": ((nothing, none), 0.0),
    "multilabel_margin_loss": ((nothing, ag.zeros(0, 3, dtype=ag.int64)), 0.0),
    "cross_entropy": ((nothing, none), nan),
    "nll_loss": ((nothing, none), nan),
    "mse_loss": ((nothing, nothing), nan),
    "l1_loss": ((nothing, nothing), nan),
    "smooth_l1_loss": ((nothing, nothing), nan),
    "huber_loss": ((nothing, nothing), nan),
    "binary_cross_entropy": ((nothing, nothing), nan),
    "binary_cross_entropy_with_logits": ((nothing, nothing), nan),
    "kl_div": ((nothing, nothing), nan),
    "poisson_nll_loss": ((nothing, nothing), nan),
    "soft_margin_loss": ((nothing, nothing), nan),
    "hinge_embedding_loss": ((nothing, nothing), nan),
    "margin_ranking_loss": ((ones, ones, ones), nan),
    "triplet_margin_loss": ((nothing, nothing, nothing), nan),
    "cosine_embedding_loss": ((nothing, nothing, ones), nan),
    "multilabel_soft_margin_loss": ((nothing, nothing), nan),
}


@each("name", LOSSES)
@pytest.mark.filterwarnings("ignore")
def test_losses_of_no_example(name):
    args, mean = LOSSES[name]
    function = getattr(F, name)
    assert function(*args, reduction="none").numel() == 0
    for reduction, want in (("mean", mean), ("sum", 0.0)):
        found = function(*args, reduction=reduction)
        assert found.shape == ()
        np.testing.assert_equal(found.item(), want)


MEANS = {
    "poisson_nll_loss": lambda F, a, b: F.poisson_nll_loss(a, b),
    "full poisson_nll_loss": lambda F, a, b: F.poisson_nll_loss(a, b, full=True, log_input=False),
    "gaussian_nll_loss": lambda F, a, b: F.gaussian_nll_loss(a, b, b + 1.0),
    "margin_ranking_loss": lambda F, a, b: F.margin_ranking_loss(a, b, b),
    "hinge_embedding_loss": lambda F, a, b: F.hinge_embedding_loss(a, b),
    "triplet_margin_loss": lambda F, a, b: F.triplet_margin_loss(a, b, b),
    "multilabel_soft_margin_loss": lambda F, a, b: F.multilabel_soft_margin_loss(a, b),
    "cross_entropy": lambda F, a, b: F.cross_entropy(a, b),
    "mean": lambda F, a, b: (a * b).mean(),
    "mean of a dimension": lambda F, a, b: (a * b).mean((0, 1)),
    "mse_loss": lambda F, a, b: F.mse_loss(a, b),
    "smooth_l1_loss": lambda F, a, b: F.smooth_l1_loss(a, b),
    "huber_loss": lambda F, a, b: F.huber_loss(a, b),
    "kl_div": lambda F, a, b: F.kl_div(a, b),
}


def zeros_or_none(x):
    return x is None or (not x.isnan().any() and not x.count_nonzero())


@pytest.mark.filterwarnings("ignore")
def test_derivatives_of_means_of_nothing_are_zeros():
    """Whatever the mean depends on: what scales its elements, and the gradient it is given."""
    for name, call in MEANS.items():
        scale = ag.ones((), requires_grad=True)
        given = ag.ones((), requires_grad=True)
        y = call(F, ag.zeros(0, 3) * scale, ag.zeros(0, 3))
        assert y.isnan(), name
        (gradient,) = ag.autograd.grad(y, scale, given, create_graph=True)
        assert gradient.item() == 0.0, name
        a = ag.zeros(0, 3, requires_grad=True)
        (gradient,) = ag.autograd.grad(call(F, a, ag.zeros(0, 3)), a, given, create_graph=True)
        assert gradient.shape == (0, 3)
        if gradient.requires_grad:
            u = ag.ones(0, 3, requires_grad=True)
            second = ag.autograd.grad(gradient, (given, a), u, create_graph=True, allow_unused=True)
            assert all(map(zeros_or_none, second)), name
            for x in second:
                if x is not None and x.requires_grad:
                    third = ag.autograd.grad(
                        x.sum(), (given, a, u), allow_unused=True, retain_graph=True
                    )
                    assert all(map(zeros_or_none, third)), name


@each("dtype", ["float32", "float64", "float16"])
def test_smooth_l1_loss_within_a_width_that_is_zero_in_the_dtype(dtype):
    dtype = getattr(ag, dtype)
    for beta in (0.0, 1e-50, 1e-330):
        x = ag.tensor([0.0, 1.0, 2.0, nan], dtype=dtype, requires_grad=True)
        t = ag.tensor([0.0, 3.0, 1.0, 0.0], dtype=dtype, requires_grad=True)
        loss = F.smooth_l1_loss(x, t, reduction="none", beta=beta)
        np.testing.assert_equal(loss.tolist(), [0.0, 2.0, 1.0, nan])
        gradients = ag.autograd.grad(loss.nansum(), (x, t))
        assert gradients[0][:3].tolist() == [0.0, -1.0, 1.0]
        assert gradients[1][:3].tolist() == [0.0, 1.0, -1.0]
        tangent = ag.func.jvp(
            lambda x: F.smooth_l1_loss(x, t.detach(), reduction="none", beta=beta),
            (x.detach(),),
            (ag.ones(4, dtype=dtype),),
        )[1]
        assert tangent[:3].tolist() == [0.0, -1.0, 1.0]
