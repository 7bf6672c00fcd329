"""The updates of SGD and Adam, against PyTorch; test_recorded_steps.py has their formulas."""

import numpy as np
import pytest

import autograd_cy
from autograd_cy import optim

STEPS = 5


def gradients(shape):
    return np.random.default_rng(1).normal(size=(STEPS, *shape))


def start(shape):
    return np.random.default_rng(0).normal(size=shape)


def run(library, name, shape=(3, 4), **options):
    """Return the parameter after each step."""
    x = library.tensor(start(shape), requires_grad=True)
    optimizer = getattr(library.optim, name)([x], **options)
    seen = []
    for grad in gradients(shape):
        x.grad = library.tensor(grad)
        optimizer.step()
        seen.append(x.detach().numpy().copy())
    return np.array(seen)


SGD_OPTIONS = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "dampening": 0.3},
    {"momentum": 0.9, "nesterov": True},
    {"weight_decay": 0.1},
    {"momentum": 0.9, "weight_decay": 0.1, "maximize": True},
    {"maximize": True},
]
ADAM_OPTIONS = [
    {},
    {"betas": (0.8, 0.9)},
    {"weight_decay": 0.1},
    {"amsgrad": True, "betas": (0.5, 0.5)},
    {"maximize": True, "eps": 1e-3},
]


@pytest.mark.parametrize("options", SGD_OPTIONS, ids=str)
def test_sgd_is_that_of_torch(options):
    torch = pytest.importorskip("torch")
    ours, theirs = (run(library, "SGD", lr=0.1, **options) for library in (autograd_cy, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("options", ADAM_OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_adam_is_that_of_torch(name, options):
    torch = pytest.importorskip("torch")
    ours, theirs = (run(library, name, lr=0.1, **options) for library in (autograd_cy, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_strided_parameters_are_updated_where_they_are():
    base = autograd_cy.zeros(4, 6)
    x = base.t()[1:3].detach().requires_grad_()
    x.grad = autograd_cy.ones(2, 4)
    optim.SGD([x], lr=0.5, momentum=0.9).step()
    assert base.sum().item() == -4.0
    assert base[:, 1].tolist() == [-0.5] * 4


def test_learning_rate_may_change_between_steps():
    x = autograd_cy.tensor([0.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=1.0)
    x.grad = autograd_cy.tensor([1.0])
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.5
    optimizer.step()
    assert x.item() == -1.5


def test_descent_finds_the_minimum_of_a_parabola():
    for method, options in ((optim.SGD, {"momentum": 0.5}), (optim.Adam, {}), (optim.AdamW, {})):
        x = autograd_cy.tensor([3.0, -2.0], requires_grad=True)
        optimizer = method([x], lr=0.1, **options)
        for _ in range(200):
            optimizer.zero_grad()
            ((x - 1.0) ** 2).sum().backward()
            optimizer.step()
        np.testing.assert_allclose(x.detach().numpy(), 1.0, atol=0.02)
