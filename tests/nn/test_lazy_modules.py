"""Layers that learn the number of their inputs from the first input."""

import copy
import io
import pickle

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.modules.lazy import LazyModuleMixin
from autograd_cy.nn.parameter import is_lazy

SHAPES = {1: (2, 4, 6), 2: (2, 4, 6, 5), 3: (2, 4, 6, 5, 5)}
# Layer, the same without Lazy, an input.
LAYERS = {
    "LazyLinear": (lambda n: n.LazyLinear(3), lambda n: n.Linear(4, 3), (2, 4)),
    **{
        f"Lazy{kind}{d}d": (
            lambda n, kind=kind, d=d: getattr(n, f"Lazy{kind}{d}d")(6, 3, groups=2),
            lambda n, kind=kind, d=d: getattr(n, f"{kind}{d}d")(4, 6, 3, groups=2),
            SHAPES[d],
        )
        for kind in ("Conv", "ConvTranspose")
        for d in SHAPES
    },
    **{
        f"Lazy{kind}{d}d": (
            lambda n, kind=kind, d=d: getattr(n, f"Lazy{kind}{d}d")(),
            lambda n, kind=kind, d=d: getattr(n, f"{kind}{d}d")(
                4, affine=True, track_running_stats=True
            ),
            SHAPES[d],
        )
        for kind in ("BatchNorm", "InstanceNorm")
        for d in SHAPES
    },
}
EACH = pytest.mark.parametrize("name", LAYERS)


def test_all_lazy_layers_are_tested():
    assert {n for n in dir(nn) if n.startswith("Lazy")} == {*LAYERS}


@EACH
def test_a_layer_becomes_the_one_without_lazy(name):
    lazy, plain, shape = LAYERS[name]
    layer, other, x = lazy(nn), plain(nn), ag.randn(shape)
    params = dict(layer.named_parameters())
    assert layer.has_uninitialized_params() and all(map(is_lazy, params.values()))
    y = layer(x)
    assert type(layer) is type(other) and repr(layer) == repr(other)
    assert not layer.__dict__.get("_forward_pre_hooks") and not hasattr(layer, "_load_hook")
    for key, value in other.state_dict().items():
        mine = layer.state_dict()[key]
        assert (mine.shape, mine.dtype) == (value.shape, value.dtype), key
    for key, param in layer.named_parameters():
        assert param is params[key] and type(param) is nn.Parameter  # an optimizer may have it
    assert all(type(b) is ag.Tensor for b in layer.buffers())
    y.sum().backward()
    assert all(p.grad.shape == p.shape for p in layer.parameters())
    other.load_state_dict(layer.state_dict())
    assert ag.allclose(other.eval()(x), layer.eval()(x))


@EACH
def test_states_go_from_lazy_and_plain_layers_to_lazy_ones(name):
    lazy, plain, shape = LAYERS[name]
    other = plain(nn)
    layer = lazy(nn)
    assert layer.load_state_dict(lazy(nn).state_dict()).missing_keys == []
    assert layer.has_uninitialized_params()
    layer.load_state_dict(other.state_dict())
    assert not layer.has_uninitialized_params()
    x = ag.randn(shape)
    layer.eval()(x)
    assert type(layer) is type(other)
    assert ag.allclose(layer(x), other.eval()(x))
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        other.load_state_dict(lazy(nn).state_dict())


@EACH
def test_lazy_layers_are_copied_pickled_converted_and_saved(name):
    lazy, _, shape = LAYERS[name]
    for layer in (copy.deepcopy(lazy(nn)), pickle.loads(pickle.dumps(lazy(nn)))):
        assert all(map(is_lazy, layer.parameters()))
        assert layer(ag.randn(shape)).shape[0] == shape[0]
    layer = lazy(nn).double()
    assert layer(ag.randn(shape, dtype=ag.float64)).dtype is ag.float64
    file = io.BytesIO()
    ag.save(lazy(nn).state_dict(), file)
    file.seek(0)
    found = ag.load(file, weights_only=False)
    assert {k for k, v in found.items() if is_lazy(v)} >= {k for k in found if "weight" in k}


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_options_are_those_of_torch():
    torch = pytest.importorskip("torch")
    for name, (lazy, _, shape) in LAYERS.items():
        ours, theirs = lazy(nn), lazy(torch.nn)
        assert repr(ours) == repr(theirs), name
        ours(ag.ones(shape)), theirs(torch.ones(shape))
        assert repr(ours) == repr(theirs), name
        assert list(ours.state_dict()) == list(theirs.state_dict())


def test_a_model_of_lazy_layers_trains():
    model = nn.Sequential(
        nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)
    )
    x = ag.randn(8, 2, 4, 4)
    optimizer = ag.optim.SGD(model.parameters(), lr=0.1)
    before = model(x).square().mean().item()
    for _ in range(5):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    assert model(x).square().mean().item() < before


def test_what_has_no_shape_says_so():
    weight = nn.UninitializedParameter(dtype=ag.float64)
    assert repr(weight) == "<UninitializedParameter>" and weight.dtype is ag.float64
    for use in (
        lambda: weight + 1,
        lambda: weight.numel(),
        lambda: ag.sin(weight),
        lambda: weight.requires_grad_(),
    ):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        weight.shape
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized"):
        weight.share_memory_()
    weight.materialize((2, 3))
    assert type(weight) is nn.Parameter and weight.shape == (2, 3) and weight.dtype is ag.float64
    assert (weight * 0 + 1).sum().item() == 6


def test_modules_of_programs_are_lazy_by_the_mixin():
    class Scale(LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.UninitializedParameter()
            self.register_buffer("count", nn.UninitializedBuffer())

        def initialize_parameters(self, x, *, more=0):
            self.factor.materialize(x.shape[-1:])
            nn.init.ones_(self.factor)
            if more is not None:
                self.count.materialize((1,))
                self.count.zero_()

        def forward(self, x, *, more=0):
            return self.factor * x + more

    module = Scale()
    assert module(ag.ones(2), more=1).tolist() == [2.0, 2.0]
    assert type(module) is Scale and type(module.count) is ag.Tensor
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        Scale()(ag.ones(2), more=None)

    class Nothing(LazyModuleMixin, nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for"):
        Nothing()(ag.ones(1))


def test_inputs_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to"):
        nn.LazyConv2d(2, 3)(ag.ones(2, 2))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv1d(4, 1, groups=2)(ag.ones(1, 3, 2))
    assert nn.LazyConv2d(2, 1)(ag.ones(3, 2, 2)).shape == (2, 2, 2)
