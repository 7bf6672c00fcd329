"""Inference mode, no_grad and anomaly mode around functions that are transformed."""

import pytest

import autograd_cy as ag
from autograd_cy.func import grad, hessian, jacrev, linearize, vjp, vmap

x = ag.tensor([1.0, 2.0])


@pytest.fixture
def features():
    with ag.inference_mode():
        return ag.tensor([2.0, 3.0])


def test_what_was_computed_in_inference_mode_is_a_constant_of_transforms(features):
    rows = ag.stack([features, 2 * features])
    assert grad(lambda x: (x * features).sum())(x).equal(features)
    assert grad(lambda x: (x * features[0]).sum())(x).tolist() == [2, 2]
    assert vjp(lambda x: x**2 * features, x)[1](ag.ones(2))[0].tolist() == [4, 12]
    assert jacrev(lambda x: x**2 * features)(x).tolist() == [[4, 0], [0, 12]]
    assert hessian(lambda x: (x**3 * features).sum())(x).tolist() == [[12, 0], [0, 36]]
    assert linearize(lambda x: x**2 * features, x)[1](x).tolist() == [4, 24]
    assert vmap(grad(lambda x: (x * features).sum()))(rows).tolist() == [[2, 3], [2, 3]]
    assert grad(lambda x: vmap(ag.dot)(x, rows).sum())(rows).equal(rows)
    with ag.inference_mode():
        assert grad(lambda x: (x * features).sum())(x).equal(features)


def test_a_change_of_an_inference_tensor_is_found_in_the_gradient(features):
    def f(x, features):
        y = x * features
        with ag.inference_mode():
            features.add_(1)
        return y.sum()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grad(f)(x, features)


def test_a_plain_graph_does_not_save_inference_tensors(features):
    w = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        w * features


def test_pullbacks_made_without_grad_mode_are_recorded_where_it_is_on():
    w = ag.tensor([1.0, 2.0], requires_grad=True)
    with ag.no_grad():
        y, pull = vjp(lambda x: x**3, w)
        assert not pull(ag.ones(2))[0].requires_grad
    assert not y.requires_grad
    (found,) = pull(ag.ones(2))
    found.sum().backward()
    assert w.grad.tolist() == [6, 12]


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:.*Traceback of forward")
def test_anomaly_mode_looks_at_the_examples_of_a_vmap():
    def f(x):
        return (x.sqrt() * 0).sum()

    with ag.autograd.detect_anomaly():
        assert vmap(grad(f))(ag.ones(2, 2)).equal(ag.zeros(2, 2))
        with pytest.raises(RuntimeError, match="returned nan values"):
            vmap(grad(f))(ag.tensor([[1.0, 1.0], [1.0, 0.0]]))
        with pytest.raises(RuntimeError, match="returned nan values"):
            vmap(vmap(grad(f)))(ag.tensor([[[1.0, 1.0], [1.0, 0.0]]]))
