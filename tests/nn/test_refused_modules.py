"""Calls of modules and layers that mean nothing: their errors, a line each."""

import warnings

from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F

x2, x3, m23 = torch.zeros(2), torch.zeros(3), torch.zeros(2, 3)
i2 = torch.zeros(2, dtype=torch.int64)


def before_init(method, *args):
    class Bare(nn.Module):
        def __init__(self):
            getattr(self, method)(*args)

    Bare()


def attention(**changes):
    given = {
        "query": torch.ones(2, 3, 4), "key": torch.ones(2, 3, 4), "value": torch.ones(2, 3, 4),
        "embed_dim_to_check": 4, "num_heads": 2, "in_proj_weight": torch.ones(12, 4),
        "in_proj_bias": torch.ones(12), "bias_k": None, "bias_v": None, "add_zero_attn": False,
        "dropout_p": 0.0, "out_proj_weight": torch.ones(4, 4), "out_proj_bias": torch.ones(4),
    }  # fmt: skip
    return F.multi_head_attention_forward(**(given | changes))


def weight_normed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = nn.utils.weight_norm(nn.Linear(2, 2))
        return nn.utils.weight_norm(module)


NAMES = globals() | {"F": F}

# call: (type of error, words of its message)
REFUSED = {
    "torch.amp.GradScaler('cpu').scale(5)": (ValueError, "Tensor or an iterable of Tensors"),
    "torch.amp.GradScaler('cpu').scale([5])": (ValueError, "Tensor or an iterable of Tensors"),
    "before_init('__setattr__', 'weight', nn.Parameter(x2))": (
        AttributeError,
        "before Module.__init__()",
    ),
    "before_init('__setattr__', 'child', nn.ReLU())": (AttributeError, "before Module.__init__()"),
    "nn.RNN(2, 3)(x2)": (ValueError, "RNN: Expected input to be 2D or 3D, got 1D tensor instead"),
    "nn.GRU(2, 3)(torch.ones(1, 1, 1, 2))": (
        ValueError,
        "GRU: Expected input to be 2D or 3D, got 4D instead",
    ),
    "nn.LSTM(2, 3)(torch.ones(4, 1, 2), (x2,))": (
        RuntimeError,
        "lstm expects two hidden states, got 1",
    ),
    "nn.LSTM(2, 3)(torch.ones(4, 1, 2), (x2, x2, x2))": (
        RuntimeError,
        "lstm expects two hidden states, got 3",
    ),
    "nn.SyncBatchNorm(2)(torch.ones(2, 0, 2))": (
        ValueError,
        "SyncBatchNorm number of input channels should be non-zero",
    ),
    "attention(static_k=torch.ones(3, 2, 2))": (AssertionError, "expecting static_k.size(0) of 6"),
    "attention(static_v=torch.ones(6, 2, 3))": (AssertionError, "expecting static_v.size(2) of 2"),
    (
        "attention(bias_k=torch.ones(1, 1, 4), bias_v=torch.ones(1, 1, 4), static_k=torch.ones(6,"
        " 2, 2))"
    ): (AssertionError, "bias cannot be added to static key"),
    (
        "attention(bias_k=torch.ones(1, 1, 4), bias_v=torch.ones(1, 1, 4), static_v=torch.ones(6,"
        " 2, 2))"
    ): (AssertionError, "bias cannot be added to static"),
    "attention(use_separate_proj_weight=True)": (
        AssertionError,
        "use_separate_proj_weight is True but",
    ),
    "F.embedding_bag(i2, m23, x2.long()[:1], mode='max', sparse=True)": (
        ValueError,
        "max mode does not support sparse",
    ),
    "F.embedding_bag(i2, x3, i2[:1])": (
        ValueError,
        "weight has to be a 2D Tensor, but got Tensor of dimension 1",
    ),
    "F.embedding_bag(i2, m23, i2[:0], include_last_offset=True)": (
        RuntimeError,
        "number of offset should be at least 1",
    ),
    "nn.utils.spectral_norm(nn.Linear(2, 2, bias=False), 'bias')": (ValueError, "is None"),
    "weight_normed()": (RuntimeError, "two weight_norm hooks on the same parameter"),
    (
        "nn.utils.parametrizations.orthogonal(nn.Linear(2, 2, dtype=torch.complex64), "
        "orthogonal_map='householder')"
    ): (ValueError, "complex"),
    "F.ctc_loss(torch.zeros(4, 1, 3), torch.ones(1, 2, dtype=torch.int64), [4], [-2])": (
        RuntimeError,
        "ctc_loss: target_lengths must not be negative, but there is -2",
    ),
    "F.embedding(i2.reshape((2,)+(1,)*63), torch.ones(2,3))": (
        RuntimeError,
        "embedding: indices have too many dimensions (64)",
    ),
    (
        "F.embedding_bag(i2, torch.ones(2,3), i2[:1], per_sample_weights=torch.ones(2), "
        'mode="mean")'
    ): (
        NotImplementedError,
        "embedding_bag: per_sample_weights was not None. per_sample_weights is",
    ),
    'F.embedding_bag(i2, torch.ones(2,3), i2[:1], per_sample_weights=torch.ones(3), mode="sum")': (
        ValueError,
        "embedding_bag: If per_sample_weights (autograd_cy.Size([3])) is not",
    ),
    'F.embedding_bag(i2, torch.ones(2,3), i2[:1], mode="none")': (
        ValueError,
        "mode has to be one of sum, mean or max",
    ),
    "nn.LSTM(2, 3).check_input(x2, None)": (RuntimeError, "input must have 3 dimensions, got 1"),
    "nn.RNN(2, 3).check_input(torch.ones(2,2,5), None)": (
        RuntimeError,
        "input.size(-1) must be equal to input_size. Expected 2, got 5",
    ),
    'before_init("register_parameter","w",None)': (
        AttributeError,
        "cannot assign parameter before Module.__init__() call",
    ),
    'before_init("register_buffer","w",None)': (
        AttributeError,
        "cannot assign buffer before Module.__init__() call",
    ),
    'before_init("add_module","w",nn.ReLU())': (
        AttributeError,
        "cannot assign module before Module.__init__() call",
    ),
}


def test_calls_of_modules_that_mean_nothing_are_refused():
    assert_refused(REFUSED, NAMES)
