"""Activations: functions and modules against torch and against their formulas."""

import inspect
import math

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

POINTS = [-7.0, -3.0, -1.5, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.5, 3.0, 6.0, 30.0]
FUNCTIONS = {
    "relu6": (),
    "elu": (1.5,),
    "selu": (),
    "celu": (0.7,),
    "leaky_relu": (0.2,),
    "rrelu": (0.1, 0.4),
    "silu": (),
    "mish": (),
    "softplus": (2.0, 3.0),
    "softsign": (),
    "softshrink": (0.4,),
    "hardshrink": (0.4,),
    "tanhshrink": (),
    "hardtanh": (-0.5, 2.0),
    "hardsigmoid": (),
    "hardswish": (),
    "logsigmoid": (),
    "softmin": (0,),
    "gelu": (),
    "threshold": (0.4, -2.0),
}
IN_PLACE = ("relu", "relu6", "elu", "selu", "celu", "leaky_relu", "rrelu", "silu", "mish")
IN_PLACE += ("hardtanh", "hardsigmoid", "hardswish")
MODULES = {
    "ReLU6": (),
    "ELU": (0.5,),
    "SELU": (),
    "CELU": (2,),
    "LeakyReLU": (0.2,),
    "RReLU": (),
    "SiLU": (),
    "Mish": (),
    "Softplus": (2, 5),
    "Softsign": (),
    "Softshrink": (0.3,),
    "Hardshrink": (),
    "Tanhshrink": (),
    "Hardtanh": (-2, 2),
    "Hardsigmoid": (),
    "Hardswish": (),
    "LogSigmoid": (),
    "GLU": (0,),
    "Softmin": (1,),
    "Softmax2d": (),
    "PReLU": (2,),
    "Threshold": (0.1, 5),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_those_of_torch(name, dtype):
    torch = pytest.importorskip("torch")
    ours = ag.tensor(POINTS, dtype=getattr(ag, dtype), requires_grad=True)
    theirs = torch.tensor(POINTS, dtype=getattr(torch, dtype), requires_grad=True)
    a = getattr(F, name)(ours, *FUNCTIONS[name])
    b = getattr(torch.nn.functional, name)(theirs, *FUNCTIONS[name])
    assert a.grad_fn.name() == b.grad_fn.name()
    weights = [1.0 + 0.1 * i for i in range(len(POINTS))]
    a.backward(ag.tensor(weights, dtype=a.dtype))
    b.backward(torch.tensor(weights, dtype=b.dtype))
    tolerance = 2e-2 if dtype == "bfloat16" else 1e-6
    np.testing.assert_allclose(a.tolist(), b.tolist(), tolerance, tolerance)
    np.testing.assert_allclose(ours.grad.tolist(), theirs.grad.tolist(), tolerance, tolerance)


@pytest.mark.parametrize("name", IN_PLACE)
def test_the_flag_and_the_underscore_change_the_input(name):
    expected = getattr(F, name)(ag.tensor(POINTS)).tolist()
    x = ag.tensor(POINTS)
    version = x._version
    assert getattr(F, name)(x, inplace=True) is x
    assert x.tolist() == expected and x._version > version
    if hasattr(F, name + "_"):
        y = ag.tensor(POINTS)
        assert getattr(F, name + "_")(y) is y
        assert y.tolist() == expected


@pytest.mark.parametrize("name", IN_PLACE)
def test_gradients_in_place_are_those_beside(name):
    gradients = []
    for inplace in (False, True):
        x = ag.tensor(POINTS, dtype=ag.float64, requires_grad=True)
        getattr(F, name)(x * 1.5, inplace=inplace).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


def test_bounds_of_integers_stay_integers():
    x = ag.tensor([-3, 0, 7])
    assert F.relu6(x).tolist() == [0, 0, 6] and F.relu6(x).dtype is ag.int64
    assert F.hardtanh(x).tolist() == [-1, 0, 1]
    assert F.relu6(x, inplace=True) is x and x.tolist() == [0, 0, 6]
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        F.hardtanh(ag.tensor([1], dtype=ag.uint8))
    with pytest.raises(RuntimeError, match="Bool inputs not supported"):
        F.hardtanh(ag.tensor([True]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: F.hardtanh(x, 2, 1), ValueError, "min_val cannot be greater than max_val"),
        (lambda x: F.celu(x, 0), RuntimeError, "alpha cannot be 0 for CELU"),
        (lambda x: F.elu(x, 1j), RuntimeError, "without overflow"),
        (lambda x: F.elu(x, "1"), TypeError, "argument 'alpha'"),
        (lambda x: F.softshrink(x, -1), RuntimeError, "lambda must be in range"),
        (lambda x: F.rrelu(x, 0.5, 0.1), RuntimeError, "less than or equal to the upper bound"),
        (lambda x: F.rrelu(x, 0.5, math.inf), RuntimeError, "must be finite"),
        (lambda x: F.prelu(x, ag.ones(2)), RuntimeError, "parameter numbers = 2 and channel"),
        (lambda x: F.prelu(x, ag.ones(1, dtype=ag.float64)), RuntimeError, "Type promoting"),
        (lambda x: F.glu(x), RuntimeError, "must be even, but dimension 0 is size 3"),
        (lambda x: F.elu(x.long()), NotImplementedError, "elu"),
        (lambda x: F.mish(x.bool()), NotImplementedError, "mish"),
        (lambda x: ag.nn.Softmax2d()(x), ValueError, "expected input to be 3D or 4D, got 1D"),
        (lambda x: ag.nn.Hardtanh(1, 1), AssertionError, "must be greater than min_val"),
    ],
)
def test_what_can_not_be_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(ag.ones(3))


def test_random_slopes_lie_between_their_limits_and_are_differentiated():
    x = ag.linspace(-2, 2, 1001, dtype=ag.float64).requires_grad_()
    for inplace in (False, True):
        x.grad = None
        y = F.rrelu(x * 1, 0.1, 0.3, training=True, inplace=inplace)
        assert y.grad_fn.name() == "RreluWithNoiseBackward0" and y.grad_fn._saved_training is True
        y.sum().backward()
        slopes = x.grad[x < 0]
        assert slopes.min() >= 0.1 and slopes.max() <= 0.3 and slopes.std() > 0.03
        assert bool((x.grad[x > 0] == 1).all())
        np.testing.assert_allclose((x * x.grad).tolist(), y.tolist())
    batched = ag.vmap(lambda t: F.rrelu(t, 0.1, 0.3, training=True), randomness="different")
    rows = batched(-ag.ones(2, 50))
    assert not ag.equal(rows[0], rows[1])


def test_gumbel_softmax_draws_by_the_logits():
    ag.manual_seed(3)
    logits = ag.tensor([0.2, 0.3, 0.5], dtype=ag.float64).log().expand(4000, 3)
    drawn = F.gumbel_softmax(logits, hard=True)
    np.testing.assert_allclose(drawn.sum(-1).tolist(), np.ones(4000))
    np.testing.assert_allclose(drawn.amax(-1).tolist(), np.ones(4000))
    np.testing.assert_allclose(drawn.mean(0).tolist(), [0.2, 0.3, 0.5], atol=0.03)
    x = ag.zeros(2, 3, requires_grad=True)
    (F.gumbel_softmax(x, tau=0.5, hard=True)[:, 0]).sum().backward()
    assert x.grad.abs().sum() > 0
    np.testing.assert_allclose(x.grad.sum(-1).tolist(), [0.0, 0.0], atol=1e-6)
    with pytest.warns(UserWarning, match="deprecated and has no effect"):
        F.gumbel_softmax(x, eps=1e-5)


def test_softmin_without_a_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmin"):
        assert F.softmin(ag.zeros(2, 2)).tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(ag.nn, name)(*MODULES[name]), getattr(torch.nn, name)(*MODULES[name])
    assert repr(ours) == repr(theirs)
    a = inspect.signature(type(ours).__init__).parameters
    b = inspect.signature(type(theirs).__init__).parameters
    if "args" not in b:
        assert {k: p.default for k, p in a.items()} == {k: p.default for k, p in b.items()}
    for key, value in vars(theirs).items():
        if not key.startswith("_"):
            assert getattr(ours, key) == value, key
    assert {k: v.tolist() for k, v in ours.state_dict().items()} == {
        k: v.tolist() for k, v in theirs.state_dict().items()
    }
    x = np.linspace(-3, 3, 48).reshape(4, 2, 2, 3).astype(np.float32)
    found = ours.eval()(ag.tensor(x)).detach().numpy()
    np.testing.assert_allclose(found, theirs.eval()(torch.tensor(x)).detach().numpy(), 1e-6, 1e-6)
    if "inplace" in a:
        ours = type(ours)(*MODULES[name], inplace=True)
        assert repr(ours) == repr(type(theirs)(*MODULES[name], inplace=True))
        x = ag.tensor(x)
        assert ours.eval()(x) is x and x.tolist() == found.tolist()


def test_old_names_of_bounds_warn():
    with pytest.warns(FutureWarning) as seen:
        layer = ag.nn.Hardtanh(min_value=-2, max_value=3)
    assert (layer.min_val, layer.max_val) == (-2, 3)
    assert "`min_value` is deprecated and renamed to `min_val`" in str(seen[0].message)


def test_slopes_for_each_channel_are_learned():
    layer = ag.nn.PReLU(3, init=0.1, dtype=ag.float64)
    x = ag.tensor(np.random.default_rng(0).normal(size=(4, 3, 5)))
    layer(x).sum().backward()
    expected = np.where(x.numpy() > 0, 0, x.numpy()).sum((0, 2))
    np.testing.assert_allclose(layer.weight.grad.tolist(), expected)
    assert ag.autograd.gradcheck(F.prelu, (x.requires_grad_(), layer.weight))
    assert ag.autograd.gradgradcheck(F.prelu, (x, layer.weight))


def test_small_gradients_of_silu_keep_what_float32_holds():
    """Left of -90 its slope is normal, though the sigmoid in it is not."""
    x = ag.tensor([-90.698449, -95.0, -88.0]).requires_grad_()
    F.silu(x).backward(ag.full((3,), 1.8e-5))
    wide = x.detach().double().requires_grad_()
    F.silu(wide).backward(ag.full((3,), 1.8e-5).double())
    np.testing.assert_allclose(x.grad.numpy(), wide.grad.numpy(), rtol=0, atol=3e-45)
