"""A gradient with leading dimensions of one element that its tensor lacks: no sum is needed."""

import pytest

import autograd_cy as ag
from autograd_cy.profiler import profile


def _names(function):
    function()
    with profile() as seen:
        function()
    return [event.name for event in seen.events()]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("lead", [(1,), (1, 1)])
def test_they_are_dropped_without_a_sum(lead, create_graph):
    b = ag.tensor([1.0, 2.0], requires_grad=True)
    x = ag.ones(*lead, 2)
    seed = ag.tensor([3.0, 5.0]).expand(*lead, 2).clone()

    def run():
        return ag.autograd.grad(x * b, b, seed, create_graph=create_graph)[0]

    assert run().tolist() == [3, 5] and run().shape == (2,)
    assert "aten::sum" not in _names(run)


def test_a_gradient_of_a_leaf_has_memory_of_its_own():
    a = ag.ones(2, requires_grad=True)
    b = ag.ones(1, 2, requires_grad=True)
    (a + b).backward(ag.tensor([[1.0, 2.0]]))
    assert a.grad.tolist() == [1, 2] and b.grad.tolist() == [[1, 2]]
    a.grad.mul_(2)
    assert b.grad.tolist() == [[1, 2]]
    (a + b).backward(ag.tensor([[1.0, 2.0]]))
    assert a.grad.tolist() == [3, 6] and b.grad.tolist() == [[2, 4]]


def test_the_seed_stays_what_it_was():
    a = ag.ones(2, requires_grad=True)
    seed = ag.ones(1, 2)
    (a + ag.zeros(1, 2)).backward(seed)
    a.grad.mul_(5)
    assert seed.tolist() == [[1, 1]]


def test_second_derivatives_and_vmap_go_through():
    def f(b):
        return ((ag.ones(1, 3) * b) ** 3).sum()

    b = ag.tensor([1.0, 2.0, 3.0])
    assert ag.func.hessian(f)(b).diagonal().tolist() == [6, 12, 18]
    each = ag.func.vmap(ag.func.grad(f))(ag.stack([b, b * 2]))
    assert each.tolist() == [[3, 12, 27], [12, 48, 108]]


def test_other_dimensions_are_summed_still():
    b = ag.ones(1, 3, requires_grad=True)
    (ag.ones(1, 4, 3) * b).sum().backward()
    assert b.grad.tolist() == [[4, 4, 4]]
    c = ag.ones(3, requires_grad=True)
    (ag.ones(1, 4, 3) * c).sum().backward()
    assert c.grad.tolist() == [4, 4, 4]
