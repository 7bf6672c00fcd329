"""Tangents that a Function's jvp returns for outputs that are not differentiable."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd import forward_ad


class SortedWithPlaces(ag.autograd.Function):
    """Values and places; `jvp` returns a tangent for the places only if told so."""

    @staticmethod
    def forward(ctx, x, too_many):
        values, places = x.sort()
        ctx.too_many = too_many
        ctx.places = places
        ctx.mark_non_differentiable(places)
        return values, places

    @staticmethod
    def jvp(ctx, tangent, _):
        chosen = tangent[ctx.places]
        return chosen, (ag.zeros(3) if ctx.too_many else None)


def test_an_output_that_is_not_differentiable_has_no_tangent():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(ag.tensor([3.0, 1.0, 2.0]), ag.tensor([30.0, 10.0, 20.0]))
        values, places = SortedWithPlaces.apply(dual, False)
        assert forward_ad.unpack_dual(values).tangent.tolist() == [10, 20, 30]
        assert forward_ad.unpack_dual(places).tangent is None
        with pytest.raises(RuntimeError, match="gradient at position 1"):
            SortedWithPlaces.apply(dual, True)
