"""Grids whose alignment isn't said."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


@pytest.mark.filterwarnings("ignore:Default grid_sample")
def test_grids_are_not_aligned_by_default():
    x, grid = ag.arange(12.0).reshape(1, 1, 3, 4), ag.tensor([[[[-1.0, -0.3], [0.2, 0.9]]]])
    theta, size = ag.tensor([[[1.0, 2, 0], [0, 1, 3]]]), (1, 1, 2, 3)
    for function, args in ((F.grid_sample, (x, grid)), (F.affine_grid, (theta, size))):
        plain = function(*args)
        assert ag.equal(plain, function(*args, align_corners=False))
        assert not ag.equal(plain, function(*args, align_corners=True))
