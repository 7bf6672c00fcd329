"""Numbers of heads that fit each other, and those that don't."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


def test_heads_that_fit_and_that_do_not():
    def attend(q, k, v, **options):
        shapes = ((*shape, 3, 5) for shape in (q, k, v))
        return F.scaled_dot_product_attention(*map(ag.ones, shapes), **options).shape

    assert attend((2, 4), (2, 2), (2, 2), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 2), (2, 4), enable_gqa=True) == (2, 4, 3, 5)
    assert attend((4,), (2,), (2,), enable_gqa=True) == (4, 3, 5)
    assert attend((2, 4), (1, 4), (1, 4)) == (2, 4, 3, 5)
    assert attend((2, 4), (2, 1), (2, 1)) == (2, 4, 3, 5)
    with pytest.raises(RuntimeError, match="must match the size"):
        attend((2, 4), (2, 2), (2, 2))
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        attend((2, 4), (2, 3), (2, 3), enable_gqa=True)
