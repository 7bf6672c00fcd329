"""Gradients that depend on an input by name only stay in its graph: their derivative is zero."""

import warnings

import pytest
from calls import EVALUATOR, RECORDS, Case, make, outputs

import autograd_cy as ag

STAYING = [r for r in RECORDS if r.derivatives.stays and r.tests.samples]


@pytest.mark.parametrize("record", [pytest.param(r, id=r.key) for r in STAYING])
def test_gradients_that_stay_have_a_zero_derivative(record):
    call = make(Case(record, 0), "float64")
    form = EVALUATOR.form(record)
    for key, inputs in record.derivatives.stays.items():
        names = [leaf.name for leaf in call.leaves]
        if key not in names or not set(inputs) <= set(names):
            continue
        tensors = call.tensors()
        moving = [tensors[names.index(name)].requires_grad_() for name in dict.fromkeys(inputs)]
        x = tensors[names.index(key)].requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [t for t in outputs(call(tensors, form)) if t.requires_grad]
        (g,) = ag.autograd.grad(
            results, x, [ag.ones_like(t) for t in results], create_graph=True, allow_unused=True
        )
        assert g.requires_grad, key
        (plain,) = ag.autograd.grad(
            results, x, [ag.ones_like(t) for t in results], retain_graph=True
        )
        assert not plain.requires_grad and plain.tolist() == g.tolist()
        for t, h in zip(moving, ag.autograd.grad(g.sum(), moving, allow_unused=True)):
            assert h is not None and h.shape == t.shape
            if t is x and record.name not in ("pow", "scatter_reduce", "index_reduce"):
                assert not h.any(), key


@pytest.mark.parametrize("power", [1, 1.0])
def test_the_first_power_can_be_differentiated_twice(power):
    for function in (ag.pow, ag.float_power):
        x = ag.tensor([0.5, 1.5], dtype=ag.float64, requires_grad=True)
        (g,) = ag.autograd.grad(function(x, power).sum(), x, create_graph=True)
        (h,) = ag.autograd.grad(g.sum(), x, create_graph=True)
        assert g.tolist() == [1, 1] and h.tolist() == [0, 0]


def test_derivatives_of_a_cube_end_with_zeros():
    x = ag.tensor([1.5, 2.0], dtype=ag.float64, requires_grad=True)
    d, found = x**3, []
    for _ in range(4):
        (d,) = ag.autograd.grad(d.sum(), x, create_graph=True)
        found.append(d.tolist())
    assert found == [[6.75, 12], [9, 12], [6, 6], [0, 0]]


def test_gradients_of_what_is_linear_leave_the_graph():
    """The results have no graph, as in torch: there is nothing to differentiate, and NumPy takes
    them."""
    x = ag.tensor([1.5, 2.0], requires_grad=True)
    (g,) = ag.autograd.grad((2 * x).sum(), x, create_graph=True)
    assert not g.requires_grad and g.numpy().tolist() == [2, 2]


def test_the_gradient_that_came_in_keeps_its_own_history():
    x = ag.tensor([1.5, 2.0], requires_grad=True)
    incoming = ag.ones(2)
    (g,) = ag.autograd.grad(x**1, x, incoming, create_graph=True)
    assert g.requires_grad and not incoming.requires_grad and incoming.grad_fn is None
    moving = ag.ones(2, requires_grad=True)
    (g,) = ag.autograd.grad(x**1, x, moving, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), moving)
    assert h.tolist() == [1, 1]
