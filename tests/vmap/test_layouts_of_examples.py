"""The memory format of examples, and operators whose arguments may be empty under vmap."""

import pytest

import autograd_cy as ag
from autograd_cy.func import grad, vmap


def test_examples_cloned_contiguously_are_contiguous():
    found = vmap(lambda x: x.clone(memory_format=ag.contiguous_format), in_dims=1, out_dims=1)(
        ag.ones(2, 3, 4)
    )
    assert found.stride() == (4, 8, 1)
    kept = vmap(lambda x: x.clone(), in_dims=1, out_dims=1)(ag.ones(2, 3, 4))
    assert kept.stride() == (12, 4, 1)


def test_examples_have_strides_that_were_asked_for():
    def f(x):
        made = x.new_empty_strided((2, 3), (1, 2))
        assert made.stride() == (1, 2)
        return made.copy_(x)

    batch = ag.arange(12.0).view(2, 2, 3)
    found = vmap(f)(batch)
    assert found.stride() == (6, 1, 2) and found.equal(batch)
    assert vmap(vmap(f))(batch[None]).equal(batch[None])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_vectors_without_elements_join_examples_of_any_shape(dim):
    batch = ag.arange(12.0).view(2, 2, 3)
    for empty, place in ((ag.empty(0), None), (ag.empty(2, 0), 0)):
        found = vmap(lambda x, e: ag.cat([e, x, x], dim), in_dims=(0, place))(batch, empty)
        assert found.equal(ag.cat([batch, batch], dim + 1 if dim >= 0 else dim))
    wide = vmap(lambda x: ag.cat([ag.empty(0, dtype=ag.float64), x], dim))(batch)
    assert wide.dtype == ag.float64
    shared = vmap(lambda e, x: ag.cat([e, x], dim), in_dims=(0, None))(ag.empty(2, 0), batch[0])
    assert shared.equal(batch[0].expand(2, 2, 3))
    assert vmap(grad(lambda x: ag.cat([ag.empty(0), x * x], dim).sum()))(batch).equal(2 * batch)


def test_windows_of_numbers_have_gradients_under_vmap():
    x = ag.tensor([3.0, 4.0])
    assert vmap(grad(lambda x: (x**2).unfold(0, 1, 1).sum()))(x).tolist() == [6, 8]
    assert vmap(grad(lambda x: x.unfold(0, 0, 1).sum() + x))(x).tolist() == [1, 1]
    y = ag.tensor(3.0, requires_grad=True)
    seeds = ag.tensor([[1.0], [2.0]])
    found = ag.autograd.grad(y.unfold(0, 1, 1), y, seeds, is_grads_batched=True)
    assert found[0].tolist() == [1, 2]


def test_no_dimensions_are_squeezed_under_vmap_where_none_are_named():
    assert vmap(lambda x: x.squeeze(()))(ag.ones(2, 1, 3)).shape == (2, 1, 3)
    assert vmap(lambda x: x.squeeze((0,)))(ag.ones(2, 1, 3)).shape == (2, 3)
    assert vmap(lambda x: x.squeeze(0))(ag.ones(2)).shape == (2,)
    with pytest.raises(IndexError, match="Dimension out of range"):
        vmap(lambda x: x.squeeze(1))(ag.ones(2))


def test_the_same_random_numbers_are_in_all_chunks():
    def noisy(x):
        return x + ag.rand(2)

    ag.manual_seed(3)
    whole = vmap(noisy, randomness="same")(ag.ones(5))
    after = ag.rand(1)
    ag.manual_seed(3)
    assert vmap(noisy, randomness="same", chunk_size=2)(ag.ones(5)).equal(whole)
    assert ag.rand(1).equal(after)
    ag.manual_seed(3)
    other = vmap(noisy, randomness="different", chunk_size=2)(ag.ones(5))
    assert not other[0].equal(other[2])


def test_plain_jacobians_and_hessians_of_examples():
    batch = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    found = vmap(lambda x: ag.autograd.functional.jacobian(lambda y: y**2, x))(batch)
    assert found.equal(ag.diag_embed(2 * batch))
    found = vmap(lambda x: ag.autograd.functional.hessian(lambda y: (y**3).sum(), x))(batch)
    assert found.equal(ag.diag_embed(6 * batch))


def test_functional_gradients_see_transforms_of_what_all_examples_share():
    def f(x):
        return (x**3).sum()

    x = ag.tensor([1.0, 2.0])
    found = vmap(lambda c: c * ag.autograd.functional.vjp(lambda x: grad(f)(x).sum(), x)[1])(x)
    assert found.equal(ag.outer(x, 6 * x))
