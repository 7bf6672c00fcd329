"""EmbeddingBag whose last offset is below the number of indices: what is left is in no bag."""

import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.nn import functional

INDICES, OFFSETS = ag.tensor([0, 1, 2, 3]), ag.tensor([0, 2, 3])


def bags(weight, mode, factors=None, indices=INDICES):
    return functional.embedding_bag(
        indices, weight, OFFSETS, mode=mode, per_sample_weights=factors, include_last_offset=True
    )


@each("mode", ["sum", "mean", "max"])
def test_values_and_gradients_are_those_without_what_is_left(mode):
    results = []
    for indices in (INDICES, INDICES[:3]):
        weight = ag.arange(10.0).view(5, 2).requires_grad_()
        found = bags(weight, mode, indices=indices)
        found.sum().backward()
        results.append((found.tolist(), weight.grad.tolist()))
    assert results[0] == results[1]


def test_factors_of_what_is_left_have_no_gradient():
    factors = ag.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    bags(ag.ones(5, 2), "sum", factors).sum().backward()
    assert factors.grad.tolist() == [2.0, 2.0, 2.0, 0.0]


def test_offsets_beyond_the_indices_are_refused():
    with pytest.raises(RuntimeError, match="can not be greater than input's length"):
        bags(ag.ones(5, 2), "sum", indices=INDICES[:2])


@each("mode", ["sum", "mean", "max"])
def test_the_same_where_offsets_are_not_read(mode):
    """Neither a capture nor vmap looks at values: what is left is cut off another way."""
    weight = ag.arange(10.0).view(5, 2)
    expected = bags(weight, mode).tolist()
    results = []
    capture(lambda: results.append(bags(weight, mode)))
    assert results[0].tolist() == expected
    several = ag.stack([INDICES, INDICES.flip(0)])
    found = ag.vmap(lambda indices: bags(weight, mode, indices=indices))(several)
    assert found.tolist() == [expected, bags(weight, mode, indices=several[1]).tolist()]
