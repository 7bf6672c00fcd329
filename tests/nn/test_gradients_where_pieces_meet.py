"""A gradient where pieces of a function meet lies between the derivatives of both sides."""

import importlib

import numpy as np
import pytest

import autograd_cy as ag

STEP = 2.0**-20
ONE = (1.0,)
IMAGE = (np.arange(25.0).reshape(1, 1, 5, 5) / 3 - 2) ** 2


def sampled(padding, aligned):
    def sample(torch, x):
        grid = torch.stack([x, x * 0 + 0.1]).reshape(1, 1, 1, 2)
        image = torch.tensor(IMAGE)
        return torch.nn.functional.grid_sample(image, grid, "bilinear", padding, aligned)

    return sample


def function(name, *before, **options):
    def call(torch, x):
        others = [torch.tensor(value, dtype=torch.float64) for value in before]
        return getattr(torch.nn.functional, name)(x.reshape(1), *others, **options)

    return call


def loss(name, target, dtype="float64", **options):
    def call(torch, x):
        target_ = torch.tensor(target, dtype=getattr(torch, dtype))
        row = torch.stack([x, x * 0 + 0.25, x * 0 - 0.5])
        return getattr(torch.nn.functional, name)(row, target_, **options)

    return call


def triplet(torch, x):
    zero = torch.zeros(1, 1, dtype=torch.float64)
    return torch.nn.functional.triplet_margin_loss(zero, x.reshape(1, 1), zero + 3, margin=1.0)


def ranking(torch, x):
    one = torch.ones(1, dtype=torch.float64)
    return torch.nn.functional.margin_ranking_loss(x.reshape(1), one, one, margin=0.5)


# Places where pieces meet, and the function there.
CASES = {
    **{
        f"grid_sample {padding} {aligned}": ((-3.0, -1.8, -1.2, -1, -0.8, 0.8, 1, 1.2, 1.8, 3), f)
        for padding in ("border", "reflection")
        for aligned in (True, False)
        for f in [sampled(padding, aligned)]
    },
    "relu6": ((0.0, 6.0), function("relu6")),
    "hardtanh": ((-1.0, 1.0), function("hardtanh")),
    "hardsigmoid": ((-3.0, 3.0), function("hardsigmoid")),
    "hardswish": ((-3.0, 3.0), function("hardswish")),
    "leaky_relu": ((0.0,), function("leaky_relu")),
    "prelu": ((0.0,), function("prelu", ONE)),
    "elu": ((0.0,), function("elu", alpha=2.0)),
    "selu": ((0.0,), function("selu")),
    "celu": ((0.0,), function("celu", alpha=0.5)),
    "softshrink": ((-0.5, 0.5), function("softshrink")),
    "l1_loss": ((1.0,), function("l1_loss", ONE)),
    "smooth_l1_loss": ((0.0, 1.0, 2.0), function("smooth_l1_loss", ONE)),
    "huber_loss": ((-1.0, 1.0, 3.0), function("huber_loss", ONE, delta=2.0)),
    "hinge_embedding_loss": ((1.0,), function("hinge_embedding_loss", (-1.0,))),
    "soft_margin_loss": ((0.0,), function("soft_margin_loss", ONE)),
    "multi_margin_loss": ((0.75, -0.25, 1.25, 0.5), loss("multi_margin_loss", 1, "int64")),
    "multilabel_margin_loss": (
        (1.25, -0.75, 0.5),
        loss("multilabel_margin_loss", (1, -1, -1), "int64"),
    ),
    "margin_ranking_loss": ((1.5,), ranking),
    "triplet_margin_loss": ((2.0,), triplet),
}


@pytest.mark.parametrize(("place", "name"), [(p, n) for n in CASES for p in CASES[n][0]])
def test_a_gradient_lies_between_the_slopes_of_both_sides(place, name):
    f = CASES[name][1]

    def value(x):
        return f(ag, ag.tensor(x, dtype=ag.float64)).sum().item()

    slopes = [(value(place + s * STEP) - value(place)) / (s * STEP) for s in (-1, 1)]
    found = gradient(ag, f, place)
    assert min(slopes) - 1e-4 <= found <= max(slopes) + 1e-4, (found, slopes)


@pytest.mark.parametrize(("place", "name"), [(p, n) for n in CASES for p in CASES[n][0]])
def test_a_gradient_is_that_of_torch(place, name):
    torch = pytest.importorskip("torch")
    f = CASES[name][1]
    np.testing.assert_allclose(gradient(ag, f, place), gradient(torch, f, place), atol=1e-12)


def gradient(torch, f, place):
    importlib.import_module(f"{torch.__name__}.nn.functional")
    x = torch.tensor(place, dtype=torch.float64, requires_grad=True)
    f(torch, x).sum().backward()
    return x.grad.item()
