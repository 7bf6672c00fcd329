"""Modules beside those of PyTorch, where it is installed: names, text and numbers."""

import numpy as np
import pytest

import autograd_cy

torch = pytest.importorskip("torch")

MODELS = {
    "layers": lambda nn: nn.Sequential(
        nn.Flatten(),
        nn.Linear(6, 5),
        nn.ReLU(),
        nn.Linear(5, 4, bias=False),
        nn.GELU(),
        nn.GELU(approximate="tanh"),
        nn.Tanh(),
        nn.Sigmoid(),
        nn.Dropout(0.0),
        nn.Identity(),
        nn.LogSoftmax(dim=1),
        nn.Softmax(dim=-1),
    ),
    "nested": lambda nn: nn.Sequential(
        nn.Flatten(1, -1), nn.Sequential(nn.Linear(6, 3), nn.Sequential(nn.ReLU(inplace=True)))
    ),
    "lists": lambda nn: nn.ModuleDict(
        {"many": nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()]), "none": nn.ReLU()}
    ),
}


@pytest.fixture(params=MODELS)
def pair(request):
    return MODELS[request.param](autograd_cy.nn), MODELS[request.param](torch.nn)


def test_text_is_the_same(pair):
    ours, theirs = pair
    assert repr(ours) == repr(theirs)


def test_names_are_the_same(pair):
    ours, theirs = pair
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for walk in ("named_parameters", "named_modules", "named_children", "named_buffers"):
        assert [n for n, _ in getattr(ours, walk)()] == [n for n, _ in getattr(theirs, walk)()]


@pytest.mark.parametrize("name", ["layers", "nested"])
def test_outputs_and_gradients_are_the_same(name):
    ours, theirs = MODELS[name](autograd_cy.nn), MODELS[name](torch.nn)
    ours.load_state_dict(
        {key: autograd_cy.tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    )
    x = np.random.default_rng(0).normal(size=(4, 2, 3)).astype("float32")
    results = []
    for library, model in ((autograd_cy, ours), (torch, theirs)):
        y = model(library.tensor(x))
        (y * y).sum().backward()
        results.append([y.detach().numpy()] + [p.grad.numpy() for p in model.parameters()])
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
