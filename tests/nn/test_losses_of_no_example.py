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
