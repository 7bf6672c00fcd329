"""Dropout of channels, and the kinds that keep mean and variance."""

import math
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

LIMIT = -1.6732632423543772 * 1.0507009873554805
SHAPES = {"dropout1d": (40, 30, 5), "dropout2d": (40, 30, 3, 2), "dropout3d": (40, 30, 2, 1, 3)}
MODULES = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


@pytest.fixture(autouse=True)
def _seed():
    ag.manual_seed(11)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_channels_are_kept_or_dropped_whole(name, inplace):
    x = ag.ones(SHAPES[name])
    y = getattr(F, name)(x, 0.25, True, inplace)
    assert (y is x) == inplace
    channels = y.flatten(2).numpy()
    assert (channels == channels[:, :, :1]).all()
    assert set(np.unique(channels).tolist()) == {0.0, np.float32(1 / 0.75)}
    assert abs((channels[:, :, 0] == 0).mean() - 0.25) < 0.05


@pytest.mark.parametrize(
    ("name", "shape"), [("dropout1d", (300, 2)), ("dropout3d", (300, 2, 1, 2))]
)
def test_channels_come_first_without_a_batch(name, shape):
    x = ag.ones(shape)
    for inplace in (False, True):
        y = getattr(F, name)(x, 0.5, True, inplace)
        rows = y.flatten(1).numpy()
        assert y.shape == x.shape and (rows == rows[:, :1]).all() and 0 < (rows == 0).mean() < 1


@pytest.mark.parametrize("feature", [False, True])
def test_alpha_dropout_keeps_mean_and_variance(feature):
    x = ag.randn(300, 200, 2, dtype=ag.float64)
    function = F.feature_alpha_dropout if feature else F.alpha_dropout
    p = 0.3
    y = function(x, p, True)
    assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.03
    scale = 1 / math.sqrt((LIMIT**2 * p + 1) * (1 - p))
    dropped = (LIMIT * (1 - p)) * scale
    np.testing.assert_allclose(y[(y - dropped).abs() < 1e-12].mean().item(), dropped)
    gone = ((y - dropped).abs() < 1e-12).numpy()
    assert abs(gone.mean() - p) < 0.02
    kept = ~gone
    np.testing.assert_allclose(y.numpy()[kept], scale * (x.numpy()[kept] - LIMIT * p))
    if feature:
        assert (gone == gone[:, :, :1]).all()
    else:
        assert (gone[..., 0] != gone[..., 1]).any()


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout", "dropout2d"])
def test_gradients_are_zero_where_something_was_dropped(name):
    x = ag.randn(20, 10, 3, 2, dtype=ag.float64, requires_grad=True)
    for inplace in (False, True):
        x.grad = None
        y = getattr(F, name)(x * 1, 0.5, True, inplace)
        y.sum().backward()
        values = y.detach().numpy()
        gone = (
            np.abs(values - (0 if name == "dropout2d" else values[x.grad.numpy() == 0][0])) < 1e-12
        )
        assert ((x.grad.numpy() == 0) == gone).all() and gone.any() and not gone.all()
        assert len(np.unique(x.grad.numpy().round(12))) == 2


@pytest.mark.parametrize("name", [*SHAPES, "alpha_dropout", "feature_alpha_dropout", "dropout"])
def test_nothing_happens_in_evaluation_and_without_a_probability(name):
    x = ag.randn(2, 3, 4, 2)
    function = getattr(F, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = x[..., 0] if name == "dropout1d" else x
        assert ag.equal(function(x, 0.9, False), x) and ag.equal(function(x, 0.0, True), x)
        assert function(x, 1.0, True).abs().sum() == 0
        for p in (-0.1, 1.1, math.nan):
            # As in torch: the function compares, what gets through the operator refuses.
            error = RuntimeError if math.isnan(p) else ValueError
            with pytest.raises(error, match="has to be between 0 and 1"):
                function(x, p)


def test_other_shapes_are_refused_or_warn():
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 4D"):
        F.dropout1d(ag.ones(1, 2, 3, 4))
    with pytest.warns(UserWarning, match="Received a 3D input to dropout2d"):
        assert F.dropout2d(ag.ones(1, 2, 3)).shape == (1, 2, 3)
    with pytest.warns(UserWarning, match="dropout3d: Received a 2-D input"):
        F.dropout3d(ag.ones(2, 3))
    for function in (ag.feature_dropout, ag.feature_alpha_dropout):
        with pytest.raises(RuntimeError, match="requires at least 2 dimensions"):
            function(ag.ones(3), 0.5, True)
        assert function(ag.ones(3), 0.5, False).tolist() == [1, 1, 1]
        with pytest.raises(RuntimeError, match="has to be between 0 and 1"):
            function(ag.ones(3), 2.0, True)
    with pytest.raises(NotImplementedError, match="alpha_dropout"):
        ag.alpha_dropout(ag.ones(3).long(), 0.5, True)


def test_vmap_draws_once_or_for_each_example():
    x = ag.ones(2, 200, 3)

    def drop(t):
        return ag.feature_dropout(t.unsqueeze(0), 0.5, True)[0]

    for name, function in (("channels", drop), ("alpha", lambda t: ag.alpha_dropout(t, 0.5, True))):
        same = ag.vmap(function, randomness="same")(x)
        assert ag.equal(same[0], same[1]), name
        each = ag.vmap(function, randomness="different")(x)
        assert not ag.equal(each[0], each[1]), name
        with pytest.raises(RuntimeError, match="randomness error mode"):
            ag.vmap(function)(x)
    whole = ag.vmap(drop, randomness="different")(x)
    assert ag.equal(whole, whole[..., :1].expand(2, 200, 3))


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    for arguments in ({}, {"p": 0.25, "inplace": True}):
        ours, theirs = getattr(ag.nn, name)(**arguments), getattr(torch.nn, name)(**arguments)
        assert repr(ours) == repr(theirs) and (ours.p, ours.inplace) == (theirs.p, theirs.inplace)
    x = ag.ones(2, 30, 3, 2) if name != "Dropout1d" else ag.ones(2, 30, 3)
    layer = getattr(ag.nn, name)(0.5)
    assert not ag.equal(layer(x), x) and ag.equal(layer.eval()(x), x)
    for p in (-0.1, 1.5):
        with pytest.raises(ValueError, match="has to be between 0 and 1"):
            getattr(ag.nn, name)(p)
