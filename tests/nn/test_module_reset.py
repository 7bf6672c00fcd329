"""`reset_parameters` gives a module the values of a new one: every weight, bias and buffer."""

import math

import pytest

import autograd_cy as ag
import autograd_cy.legacy as old
from autograd_cy import nn

MODULES = {
    "AdaptiveLogSoftmaxWithLoss": (16, 20, [5, 10]),
    "BatchNorm1d": (3,),
    "BatchNorm2d": (3,),
    "BatchNorm3d": (3,),
    "Bilinear": (3, 4, 5),
    "Conv1d": (4, 6, 3),
    "Conv2d": (4, 6, (3, 2)),
    "Conv3d": (4, 6, 3),
    "ConvTranspose1d": (4, 6, 3),
    "ConvTranspose2d": (4, 6, (3, 2)),
    "ConvTranspose3d": (4, 6, 3),
    "Embedding": (5, 3),
    "EmbeddingBag": (5, 3),
    "GRU": (3, 4),
    "GRUCell": (3, 4),
    "GroupNorm": (2, 4),
    "InstanceNorm1d": (3,),
    "LSTM": (3, 4),
    "LSTMCell": (3, 4),
    "LayerNorm": ((2, 3),),
    "Linear": (3, 4),
    "PReLU": (3,),
    "RMSNorm": ((2, 3),),
    "RNN": (3, 4),
    "RNNCell": (3, 4),
}
OPTIONS = {
    "BatchNorm1d": [{"affine": False}, {"momentum": None}],
    "Embedding": [{"padding_idx": 2}],
    "EmbeddingBag": [{"padding_idx": 2}],
    "GRU": [{"bias": False}, {"num_layers": 2, "bidirectional": True}],
    "InstanceNorm1d": [{"affine": True, "track_running_stats": True}],
    "LSTM": [{"proj_size": 2}],
    "LayerNorm": [{"bias": False}],
    "Linear": [{"bias": False}],
    "Conv2d": [{"bias": False, "groups": 2}],
}


def states(module):
    return {name: t.detach().clone() for name, t in module.state_dict().items()}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_reset_is_as_a_new_one(name):
    for options in [{}, *OPTIONS.get(name, [])]:
        ag.manual_seed(3)
        module = getattr(nn, name)(*MODULES[name], **options)
        expected = states(module)
        with ag.no_grad():
            for t in [*module.parameters(), *module.buffers()]:
                t.fill_(77)
        ag.manual_seed(3)
        module.reset_parameters()
        for key, found in states(module).items():
            assert ag.equal(found, expected[key]), (key, options)


@pytest.mark.parametrize("missing", ["running_mean", "running_var"])
def test_statistics_that_are_there_begin_anew(missing):
    module = nn.BatchNorm1d(2)
    for t in module.buffers():
        t.fill_(77)
    setattr(module, missing, None)
    module.reset_running_stats()
    begun = {"running_mean": [0.0, 0.0], "running_var": [1.0, 1.0], "num_batches_tracked": 0}
    begun.pop(missing)
    assert {name: t.tolist() for name, t in module.named_buffers()} == begun


def test_attention_is_made_anew_with_all_its_biases():
    for options in ({}, {"kdim": 6, "vdim": 8}, {"bias": False}, {"add_bias_kv": True}):
        module = nn.MultiheadAttention(4, 2, **options)
        drawn = [t for name, t in module.named_parameters() if not name.startswith("out_proj")]
        with ag.no_grad():
            for t in module.parameters():
                t.fill_(77)
        module._reset_parameters()
        assert not any((t == 77).any() for t in drawn), options
        if module.in_proj_bias is not None:
            assert not module.in_proj_bias.any() and not module.out_proj.bias.any()
        if options.get("add_bias_kv"):
            assert module.bias_k.any() and module.bias_v.any()
            assert not ag.equal(module.bias_k, module.bias_v)


def bound_of(name):
    """Return the bound of the initial weights of a layer of the era."""
    module = getattr(old.nn, name)(*MODULES[name])
    if "GRU" in name or "LSTM" in name or "RNN" in name:
        return 1 / math.sqrt(4)
    weight = module.weight.data
    return 1 / math.sqrt(weight.nelement() / weight.size(0))


@pytest.mark.parametrize("name", ["Linear", "Conv1d", "Conv2d", "Conv3d", "GRU", "LSTM", "RNNCell"])
def test_layers_of_the_era_draw_all_weights_anew(name):
    module = getattr(old.nn, name)(*MODULES[name])
    for parameter in module.parameters():
        parameter.data.fill_(77)
    old.manual_seed(3)
    module.reset_parameters()
    drawn = [parameter.data for parameter in module.parameters()]
    assert len(drawn) >= 2
    bound = bound_of(name)
    for t in drawn:
        assert 0 < t.abs().max() <= bound + 1e-6
        assert t.nelement() < 9 or (t.min() < -bound / 3 and t.max() > bound / 3)
