"""Nodes called as functions, collected with a cycle, and given gradients that don't fit."""

import gc
import itertools
import sys
import weakref

import pytest

import autograd_cy as ag


def leaf(*values):
    return ag.tensor(values, requires_grad=True)


def test_a_node_of_two_inputs_returns_both_gradients():
    a, b = leaf(2.0, 3.0), leaf(5.0, 7.0)
    first, second = (a * b).grad_fn(ag.tensor([1.0, 10.0]))
    assert first.tolist() == [5.0, 70.0]
    assert second.tolist() == [2.0, 30.0]


def test_a_node_of_three_inputs_returns_all_gradients():
    a, b, c = leaf(2.0), leaf(3.0), leaf(5.0)
    found = ag.addcmul(a, b, c).grad_fn(ag.tensor([10.0]))
    assert [g.tolist() for g in found] == [[10.0], [50.0], [30.0]]


def test_a_node_of_several_outputs_takes_a_gradient_for_each():
    parts = leaf(1.0, 2.0, 3.0, 4.0).split(2)
    found = parts[0].grad_fn(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    assert found.tolist() == [1.0, 2.0, 3.0, 4.0]
    found = parts[0].grad_fn(None, ag.tensor([3.0, 4.0]))
    assert found.tolist() == [0.0, 0.0, 3.0, 4.0]
    with pytest.raises(TypeError, match="2"):
        parts[0].grad_fn(ag.tensor([1.0, 2.0]))


def test_a_collected_cycle_releases_the_nodes_below_it_once():
    below = leaf(1.0) * 2
    node = below.grad_fn
    gc.collect()
    before = sys.getrefcount(node)
    for _ in range(3):
        above = below.sin()
        above.grad_fn.register_hook(lambda *grads, kept=above: None)
        assert sys.getrefcount(node) == before + 1
        del above
        gc.collect()
        assert sys.getrefcount(node) == before
    (grad,) = ag.autograd.grad(below.sin(), below)
    assert grad.item() == pytest.approx(ag.tensor(2.0).cos().item())


class GradientOf(ag.autograd.Function):
    """The identity, whose backward returns a tensor of the given shape."""

    @staticmethod
    def forward(ctx, x, shape):
        ctx.shape = shape
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return ag.ones(ctx.shape), None


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 1), (3, 2), (2, 2, 2)])
def test_a_gradient_that_cannot_be_summed_to_the_shape_is_refused(shape):
    x = ag.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 0 - got .* but expected"):
        GradientOf.apply(x, shape).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize(("shape", "sum_of"), [((2, 3), 1), ((4, 2, 3), 4), ((5, 1, 2, 3), 5)])
def test_a_gradient_of_more_dimensions_is_summed_to_the_shape(shape, sum_of):
    x = ag.ones(2, 3, requires_grad=True)
    GradientOf.apply(x, shape).sum().backward()
    assert x.grad.tolist() == [[sum_of] * 3] * 2


def test_nodes_are_walked_depth_first_in_the_order_of_the_roots():
    from autograd_cy.autograd.traversal import nodes_below

    x = leaf(1.0)
    first, second = x.sin(), x.exp()
    both = first * second
    names = [type(n).__name__ for n in nodes_below([first.grad_fn, second.grad_fn])]
    assert names == ["SinBackward0", "AccumulateGrad", "ExpBackward0"]
    names = [type(n).__name__ for n in nodes_below([both.grad_fn])]
    assert names == ["MulBackward0", "SinBackward0", "AccumulateGrad", "ExpBackward0"]


class Keeper(ag.autograd.Function):
    """The identity, whose context keeps what it is given."""

    @staticmethod
    def forward(ctx, x, kept):
        ctx.kept = kept
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad, None


@pytest.mark.parametrize("operators", [0, 1, 2, 5])
def test_a_cycle_through_nodes_of_operators_is_collected(operators):
    class Witness:
        pass

    witness = Witness()
    kept = [witness]
    result = Keeper.apply(leaf(1.0), kept)
    for _ in range(operators):
        result = result * 2
    kept.append(result)
    seen = weakref.ref(witness)
    del witness, kept, result
    gc.collect()
    assert seen() is None


def test_every_node_says_that_it_requires_grad():
    x = leaf(1.0)
    for node in (x.exp().grad_fn, Keeper.apply(x, []).grad_fn, (x * 2).split(1)[0].grad_fn):
        assert node.requires_grad is True
        assert node.next_functions[0][0].requires_grad is True


@pytest.mark.parametrize("shape", [(3,), (40, 50)])
def test_gradients_that_meet_are_added_whoever_owns_them(shape):
    given = ag.full(shape, 10.0)
    parts = {
        "spread": (lambda h: h.sum(), 1.0),
        "made": (lambda h: (h * 3).sum(), 3.0),
        "given": (lambda h: Keeper.apply(h, None).mul(given).sum(), 10.0),
        "turned": (lambda h: (h.T * 5).sum() if h.ndim == 2 else (h * 5).sum(), 5.0),
    }
    for names in itertools.permutations(parts):
        x = ag.ones(shape, requires_grad=True)
        h = x * 2
        total = sum(parts[n][0](h) for n in names)
        total.backward()
        assert (x.grad == 2 * 19).all(), names
        y = ag.ones(shape, requires_grad=True)
        sum(parts[n][0](y) for n in names).backward()
        assert (y.grad == 19).all(), names
    assert (given == 10).all()


def test_a_deleted_gradient_is_gone():
    x = leaf(1.0)
    x.sum().backward()
    kept = x.grad
    del x.grad
    assert x.grad is None
    x.sum().backward()
    assert x.grad is not kept
    assert (x.grad.tolist(), kept.tolist()) == ([1.0], [1.0])
