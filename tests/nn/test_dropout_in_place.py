"""Dropout that overwrites its input."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_dropout_in_place_changes_its_input_and_scales_what_is_left(p):
    ag.manual_seed(0)
    leaf = ag.ones(1000, requires_grad=True)
    x = leaf * 3
    y = F.dropout(x, p, inplace=True)
    assert y is x
    kept = 0.0 if p == 1 else 3 / (1 - p)
    assert set(x.tolist()) <= {0.0, kept}
    assert abs((x != 0).sum().item() - 1000 * (1 - p)) < 100
    y.sum().backward()
    assert ag.equal(leaf.grad, x.detach())  # three times the mask, like the values


def test_dropout_in_place_leaves_its_input_alone_in_evaluation():
    x = ag.ones(5)
    assert F.dropout(x, 0.5, training=False, inplace=True) is x
    layer = ag.nn.Dropout(0.5, inplace=True).eval()
    assert layer(x) is x and x.tolist() == [1.0] * 5


def test_dropout_in_place_refuses_leaves_that_require_grad():
    x = ag.ones(5, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        F.dropout(x, inplace=True)
    assert x.tolist() == [1.0] * 5


MODULES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


@pytest.mark.parametrize("name", MODULES)
def test_where_nothing_is_dropped_nothing_was_changed(name):
    dims = {"2d": 4, "3d": 5}.get(name[-2:], 3)
    for p, training in ((0.5, False), (0.0, True), (1.0, False)):
        layer = getattr(ag.nn, name)(p, inplace=True).train(training)
        leaf = ag.ones((2,) * dims, requires_grad=True)
        assert layer(leaf) is leaf, "a leaf is no obstacle"
        y = leaf.sigmoid()  # keeps its result
        assert layer(y) is y and y._version == 0
        y.sum().backward()
        assert set(leaf.grad.flatten().tolist()) == {
            (leaf.sigmoid() * (1 - leaf.sigmoid())).flatten()[0].item()
        }


@pytest.mark.parametrize("name", MODULES)
def test_modules_in_place_change_what_those_of_torch_change(name):
    torch = pytest.importorskip("torch")
    dims = {"2d": 4, "3d": 5}.get(name[-2:], 3)

    def changes(library, training):
        x = library.ones((3,) * dims)
        y = getattr(library.nn, name)(0.999, inplace=True).train(training)(x)
        return y is x, x._version, bool((x == 1).all())

    for training in (False, True):
        assert changes(ag, training) == changes(torch, training)
