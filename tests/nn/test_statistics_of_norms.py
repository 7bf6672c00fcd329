"""Norms with statistics that are given: both, or none."""

import math

import pytest

import autograd_cy as torch
from autograd_cy.nn import functional as F

BATCH = torch.ones(2, 3, 4)
PARTS = {"running_mean": torch.zeros(3), "running_var": torch.ones(3)}


@pytest.mark.parametrize("name", PARTS)
def test_statistics_come_in_pairs_where_they_are_not_computed(name):
    for op in (torch.instance_norm, torch.batch_norm):
        args = [PARTS.get(k) if k == name else None for k in PARTS]
        with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
            op(BATCH, None, None, *args, False, 0.1, 1e-5, False)
        with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
            op(BATCH, None, None, *args, True, 0.1, 1e-5, False)
    with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
        F.instance_norm(BATCH, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.instance_norm(BATCH, use_input_stats=False, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.batch_norm(BATCH, PARTS[name] if name == "running_mean" else None,
                     PARTS[name] if name == "running_var" else None)  # fmt: skip


LAYOUTS = {
    "rows": lambda values: values.reshape(-1, 1),
    "planes": lambda values: values.reshape(1, 1, -1),
    "planes of samples": lambda values: values.reshape(-1, 1, 1).repeat(1, 1, 2),
    "shorter planes": lambda values: values.repeat(2).reshape(2, 1, -1),
    "channels last": lambda values: values.reshape(1, 1, 1, -1).contiguous(
        memory_format=torch.channels_last
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_means_of_infinities_are_infinite(layout, dtype):
    dtype = getattr(torch, dtype)
    inf, nan = math.inf, math.nan
    kind = torch.nn.BatchNorm2d if layout == "channels last" else torch.nn.BatchNorm1d
    for values, expected in (
        ([inf, 1.0], inf),
        ([1.0, inf], inf),
        ([-inf, 1.0, 2.0], -inf),
        ([inf, inf], inf),
        ([inf, -inf], nan),
        ([1.0, nan], nan),
        ([inf, nan], nan),
    ):
        layer = kind(1, dtype=torch.float32 if dtype is torch.bfloat16 else dtype)
        x = LAYOUTS[layout](torch.tensor(values, dtype=dtype))
        assert layer(x).isnan().all()
        assert layer.running_mean.item() == pytest.approx(expected, nan_ok=True)
        assert layer.running_var.isnan().all()
        assert layer.eval()(x).isnan().all()


def test_an_infinite_channel_leaves_the_others_as_they_are():
    x = torch.arange(24.0).reshape(8, 3) ** 2
    spoilt = x.clone()
    spoilt[3, 1] = math.inf
    layers = torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)
    results = [layer(given) for layer, given in zip(layers, (x, spoilt), strict=True)]
    for i in (0, 2):
        assert torch.equal(results[0][:, i], results[1][:, i])
        for name in ("running_mean", "running_var"):
            assert getattr(layers[0], name)[i] == getattr(layers[1], name)[i]
    assert layers[1].running_mean[1] == math.inf


@pytest.mark.parametrize("shape", [(4, 3, 2), (8, 3), (1, 3, 8), (2, 3, 2, 2)])
def test_an_infinity_has_the_same_statistics_in_any_shape(shape):
    x = torch.ones(shape)
    x[(0, 1) + (0,) * (len(shape) - 2)] = math.inf
    mean, var = torch.zeros(3), torch.ones(3)
    F.batch_norm(x, mean, var, training=True, momentum=0.5)
    assert mean.tolist() == [0.5, math.inf, 0.5]
    assert var[0] == var[2] == 0.5
    assert var[1].isnan()


def test_moments_beyond_the_range_of_sums():
    layer = torch.nn.BatchNorm1d(1, momentum=1.0)
    x = torch.tensor([3e38, -3e38, 1.0, 1.0]).reshape(-1, 1)
    layer(x)
    assert (layer.running_mean.item(), layer.running_var.item()) == (0.5, math.inf)
