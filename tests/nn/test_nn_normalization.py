"""Layers that normalise: what they compute, keep, show and refuse."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

LAYERS = [
    ("BatchNorm1d", (4,), {}, (6, 4)),
    ("BatchNorm1d", (4,), {"momentum": None}, (6, 4, 3)),
    ("BatchNorm1d", (4,), {"affine": False}, (6, 4, 3)),
    ("BatchNorm2d", (4,), {"bias": False, "eps": 0.1}, (2, 4, 3, 5)),
    ("BatchNorm2d", (4,), {"track_running_stats": False}, (2, 4, 3, 5)),
    ("BatchNorm3d", (4, 1e-3, 0.3), {}, (2, 4, 3, 2, 2)),
    ("SyncBatchNorm", (4,), {}, (2, 4, 3)),
    ("InstanceNorm1d", (4,), {}, (2, 4, 3)),
    ("InstanceNorm1d", (4,), {"affine": True}, (4, 3)),
    ("InstanceNorm2d", (4,), {"affine": True, "track_running_stats": True}, (2, 4, 3, 5)),
    ("InstanceNorm3d", (4,), {"track_running_stats": True}, (2, 4, 3, 2, 2)),
    ("LayerNorm", (5,), {}, (2, 3, 5)),
    ("LayerNorm", ((3, 5),), {"bias": False, "eps": 0.1}, (2, 3, 5)),
    ("LayerNorm", ([3, 5],), {"elementwise_affine": False}, (2, 3, 5)),
    ("GroupNorm", (2, 4), {}, (3, 4, 5)),
    ("GroupNorm", (4, 4, 0.1), {"affine": False}, (3, 4, 5, 2)),
    ("GroupNorm", (2, 4), {"bias": False}, (3, 4, 5)),
    ("RMSNorm", (5,), {}, (2, 3, 5)),
    ("RMSNorm", ((3, 5), 0.1), {"elementwise_affine": False}, (2, 3, 5)),
    ("LocalResponseNorm", (3, 0.5), {"k": 2.0}, (2, 6, 3)),
]


def pairs():
    return [pytest.param(*row, id=f"{row[0]}-{k}") for k, row in enumerate(LAYERS)]


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), pairs())
def test_layers_are_those_of_torch(name, args, kwargs, shape):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    ours, theirs = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    assert repr(ours) == repr(theirs)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert list(ours.state_dict()) == list(theirs.state_dict())
    with ag.no_grad(), torch.no_grad():
        for mine, their in zip(ours.parameters(), theirs.parameters()):
            values = rng.standard_normal(mine.shape).astype("float32")
            mine.copy_(ag.tensor(values))
            their.copy_(torch.tensor(values))
    for step in range(4):
        if step == 3:
            ours.eval(), theirs.eval()
        values = (rng.standard_normal(shape) * 2 + 1).astype("float32")
        x, y = ag.tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
        a, b = ours(x), theirs(y)
        a.pow(2).sum().backward(), b.pow(2).sum().backward()
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=2e-3, atol=2e-3)
        for mine, their in zip(ours.parameters(), theirs.parameters()):
            np.testing.assert_allclose(mine.grad.numpy(), their.grad.numpy(), rtol=2e-3, atol=2e-3)
        for key, value in theirs.state_dict().items():
            mine = ours.state_dict()[key]
            assert str(mine.dtype).split(".")[1] == str(value.dtype).split(".")[1]
            np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), pairs())
def test_layers_are_copied_and_converted(name, args, kwargs, shape):
    layer = getattr(nn, name)(*args, **kwargs)
    layer(ag.randn(shape))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        other.eval(), layer.eval()
        x = ag.randn(shape)
        assert ag.equal(other(x), layer(x))
    wide = copy.deepcopy(layer).double()
    x = ag.randn(shape)
    assert ag.allclose(wide(x.double()), layer(x).double(), rtol=1e-4, atol=1e-5)
    for key, value in wide.state_dict().items():
        assert value.dtype == (ag.int64 if key == "num_batches_tracked" else ag.float64)


def test_running_statistics_by_hand():
    layer = nn.BatchNorm1d(2, momentum=0.25)
    x = ag.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    layer(x)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.25 * np.array([3.0, 3.0]), rtol=1e-6)
    expected = 0.75 + 0.25 * np.array([4.0, 7.0])  # the unbiased variance
    np.testing.assert_allclose(layer.running_var.numpy(), expected, rtol=1e-6)
    assert layer.num_batches_tracked.item() == 1
    before = layer.running_mean.clone()
    layer.eval()(x)
    assert ag.equal(layer.running_mean, before) and layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert layer.num_batches_tracked.item() == 0 and layer.running_var.tolist() == [1.0, 1.0]


def test_without_momentum_statistics_are_means_over_batches():
    layer = nn.BatchNorm1d(1, momentum=None)
    means = []
    for k in range(3):
        x = ag.randn(5, 1) + k
        means.append(x.mean().item())
        layer(x)
    np.testing.assert_allclose(layer.running_mean.item(), np.mean(means), rtol=1e-5, atol=1e-6)


def test_states_without_a_counter_of_batches_are_taken():
    layer, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    layer(ag.randn(4, 2))
    state = dict(layer.state_dict())
    del state["num_batches_tracked"]
    nn.Sequential(other).load_state_dict({f"0.{k}": v for k, v in state.items()})
    assert ag.equal(other.running_mean, layer.running_mean)
    assert other.num_batches_tracked.item() == 0


def test_states_of_now_have_to_have_a_counter_of_batches():
    state = nn.BatchNorm1d(2).state_dict()
    assert state._metadata[""]["version"] == 2
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match='Missing key.*"num_batches_tracked"'):
        nn.BatchNorm1d(2).load_state_dict(state)
    state._metadata[""]["version"] = 1
    assert not nn.BatchNorm1d(2).load_state_dict(state).missing_keys
    without = nn.BatchNorm1d(2, affine=False, track_running_stats=False)
    assert not without.load_state_dict({}).missing_keys


def test_a_model_with_batch_normalisation_learns():
    ag.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = ag.optim.SGD(model.parameters(), lr=0.05)
    x = ag.randn(64, 4)
    y = x[:, :1] * x[:, 1:2]
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    model.eval()
    assert nn.functional.mse_loss(model(x), y).item() < losses[0]


def test_conversion_to_synchronised_layers_keeps_what_there_is():
    model = nn.Sequential(nn.BatchNorm2d(3, eps=0.1), nn.Sequential(nn.BatchNorm1d(2, bias=False)))
    model.eval()
    kept = [*model.parameters(), *model.buffers()]
    made = nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group="group")
    assert isinstance(made[0], nn.SyncBatchNorm) and isinstance(made[1][0], nn.SyncBatchNorm)
    assert made[0].eps == 0.1 and not made[0].training and made[0].process_group == "group"
    now = [*made.parameters(), *made.buffers()]
    assert all(a is b for a, b in zip(kept, now, strict=True))


REFUSED = [
    (lambda nn, lib: nn.BatchNorm1d(3)(lib.ones(3)), "2D or 3D input"),
    (lambda nn, lib: nn.BatchNorm2d(3)(lib.ones(3, 3)), "4D input"),
    (lambda nn, lib: nn.BatchNorm3d(3)(lib.ones(3, 3)), "5D input"),
    (lambda nn, lib: nn.BatchNorm1d(3)(lib.ones(1, 3)), "more than 1 value per channel"),
    (lambda nn, lib: nn.BatchNorm1d(3)(lib.ones(2, 4)), "should contain 4 elements not 3"),
    (lambda nn, lib: nn.SyncBatchNorm(3)(lib.ones(3)), "at least 2D input"),
    (lambda nn, lib: nn.InstanceNorm1d(3)(lib.ones(3)), "2D or 3D input"),
    (lambda nn, lib: nn.InstanceNorm2d(3)(lib.ones(3, 3)), "3D or 4D input"),
    (lambda nn, lib: nn.InstanceNorm3d(3)(lib.ones(3, 3)), "4D or 5D input"),
    (lambda nn, lib: nn.InstanceNorm1d(3, affine=True)(lib.ones(2, 4, 3)), "num_features"),
    (lambda nn, lib: nn.GroupNorm(3, 4), "must be divisible by num_groups"),
    (lambda nn, lib: nn.LayerNorm(3)(lib.ones(2, 4)), "expected input with shape"),
    (lambda nn, lib: nn.RMSNorm(3)(lib.ones(2, 4)), "expected input with shape"),
    (lambda nn, lib: nn.LocalResponseNorm(3)(lib.ones(2, 4)), "3D or higher"),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_layers_refuse(k):
    call, text = REFUSED[k]
    with pytest.raises((ValueError, RuntimeError), match=text) as ours:
        call(nn, ag)
    try:
        import torch
    except ImportError:
        return
    with pytest.raises(ours.type, match=text):
        call(torch.nn, torch)


def test_instances_of_other_channels_warn():
    with pytest.warns(UserWarning, match="does not match num_features"):
        nn.InstanceNorm1d(3)(ag.randn(2, 4, 5))


@pytest.mark.parametrize("n", [1, 4, 300])
def test_a_spread_beyond_all_numbers_leaves_nothing(n):
    """The variance is infinite, not NaN; numbers that are NaN or infinite stay NaN."""
    x = ag.linspace(-3.0, 5.0, 4 * n, dtype=ag.float64).reshape(2, 2, n) * 1e200
    for y in (
        nn.functional.group_norm(x, 1),
        nn.functional.group_norm(x.transpose(1, 2).contiguous().transpose(1, 2), 1),
        nn.functional.layer_norm(x, (2, n)),
        nn.functional.batch_norm(x, None, None, training=True),
        nn.functional.instance_norm(x.reshape(1, 2, 2 * n)),
    ):
        assert bool((y == 0).all())
    x[0, 0, 0] = float("inf")
    assert bool(nn.functional.layer_norm(x, (2, n))[0].isnan().all())
