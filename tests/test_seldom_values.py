"""Calls that few programs make, and what they give: one line each, worked out by hand."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F

x2, x5 = torch.zeros(2), torch.arange(5.0)[None, None]
meta = torch.zeros(2, device="meta")
storage = x2.untyped_storage()
m23 = torch.arange(6.0).reshape(2, 3)
v3 = torch.ones(3)


def copied(t):
    return [pickle.loads(pickle.dumps(t)), copy.deepcopy(t)]


def drawn(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.randint(*args, **named).tolist()))


def drawn_like(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.randint_like(torch.zeros(50), *args, **named).tolist()))


def drawn_in_place(*args, **named):
    torch.manual_seed(0)
    return sorted(set(torch.zeros(50).random_(*args, **named).tolist()))


def padded(pad, mode):
    return F.pad(x5, pad, mode=mode)[0, 0].tolist()


NAMES = globals() | {"np": np, "nn": nn}

# group: {call: its value}
CALLS = {
    "asarray": {
        "torch.asarray(meta, device='meta') is meta": True,
        "torch.asarray(meta, device='meta', copy=False) is meta": True,
        "torch.asarray(x2, device='cpu').data_ptr() == x2.data_ptr()": True,
        "torch.asarray(x2, device='cpu', copy=False) is x2": True,
        "torch.asarray(x2, device='meta').is_meta": True,
        "torch.asarray([1.0], device='cpu').tolist()": [1.0],
        "torch.asarray([1.0], device='meta').is_meta": True,
        "torch.asarray(np.ones(2), device='meta').is_meta": True,
    },
    "copies of stretched tensors": {
        "[t.stride() for t in copied(torch.ones(1).expand(3))]": [(0,), (0,)],
        "[t.tolist() for t in copied(torch.ones(1).expand(3))]": [[1.0] * 3] * 2,
        "[t.stride() for t in copied(m23[:, :1].expand(2, 4))]": [(3, 0), (3, 0)],
        "[t.tolist() for t in copied(m23.t()[1:])]": [[[1.0, 4.0], [2.0, 5.0]]] * 2,
        "[t.shape for t in copied(torch.ones(2, 0, 3))]": [(2, 0, 3)] * 2,
    },
    "whole numbers": {
        "drawn(2, size=(50,))": [0, 1],
        "drawn(3, 5, size=(50,))": [3, 4],
        "drawn(high=2, size=(50,))": [0, 1],
        "drawn(low=2, high=4, size=(50,))": [2, 3],
        "drawn(2, high=4, size=(50,))": [2, 3],
        "drawn(2, (50,))": [0, 1],
        "drawn(2, 4, (50,))": [2, 3],
        "drawn(-2, 0, (50,))": [-2, -1],
        "drawn_like(2)": [0.0, 1.0],
        "drawn_like(2, 4)": [2.0, 3.0],
        "drawn_like(high=2)": [0.0, 1.0],
        "drawn_like(2, high=4)": [2.0, 3.0],
        "drawn_like(low=2, high=4)": [2.0, 3.0],
        "drawn_in_place(2)": [0.0, 1.0],
        "drawn_in_place(to=2)": [0.0, 1.0],
        "drawn_in_place(2, 4)": [2.0, 3.0],
        "drawn_in_place(2, to=4)": [2.0, 3.0],
        "drawn_in_place(**{'from': 2, 'to': 4})": [2.0, 3.0],
        "drawn_in_place(-2, 0)": [-2.0, -1.0],
        "min(torch.zeros(99, dtype=torch.uint8).random_().tolist()) >= 0": True,
        "min(torch.zeros(9, dtype=torch.int8).random_(0, 1).tolist())": 0,
        "max(torch.zeros(500, dtype=torch.bool).random_().tolist())": True,
        "min(torch.zeros(500, dtype=torch.bool).random_().tolist())": False,
    },
    "storages": {
        "storage == 5": False,
        "storage != 5": True,
        "storage == 'a'": False,
        "storage == None": False,
        "storage == x2.untyped_storage()": True,
        "storage != x2.untyped_storage()": False,
        "storage == x2.clone().untyped_storage()": False,
    },
    "padding": {
        "padded((-1, 2), 'circular')": [1.0, 2.0, 3.0, 4.0, 1.0, 2.0],
        "padded((2, -1), 'circular')": [2.0, 3.0, 0.0, 1.0, 2.0, 3.0],
        "padded((-1, -2), 'circular')": [1.0, 2.0],
        "padded((5, 5), 'circular')": [0.0, 1.0, 2.0, 3.0, 4.0] * 3,
        "padded((2, -4), 'replicate')": [0.0, 0.0, 0.0],
        "padded((2, -5), 'replicate')": [0.0, 0.0],
        "padded((-5, 2), 'replicate')": [4.0, 4.0],
        "padded((2, -5), 'reflect')": [2.0, 1.0],
        "padded((-5, 2), 'reflect')": [3.0, 2.0],
        "padded((-4, 2), 'replicate')": [4.0, 4.0, 4.0],
        "padded((-1, -1), 'replicate')": [1.0, 2.0, 3.0],
        "padded((-1, 3), 'reflect')": [1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0],
        "padded((4, -3), 'reflect')": [4.0, 3.0, 2.0, 1.0, 0.0, 1.0],
        "padded((-2, 1), 'constant')": [2.0, 3.0, 4.0, 0.0],
    },
    "chains of products": {
        "torch.linalg.multi_dot([v3, torch.ones(3, 4)]).tolist()": [3.0] * 4,
        "torch.linalg.multi_dot([v3, torch.ones(3, 4), torch.ones(4, 5)]).tolist()": [12.0] * 5,
        "torch.linalg.multi_dot([v3, torch.ones(3, 4), torch.ones(4)]).tolist()": 12.0,
        "torch.linalg.multi_dot([m23, torch.ones(3, 4), torch.ones(4)]).tolist()": [12.0, 48.0],
        "torch.linalg.multi_dot([v3, torch.ones(3, 1)]).tolist()": [3.0],
        "torch.linalg.multi_dot([v3, torch.ones(3, 2), torch.ones(2, 1)]).tolist()": [6.0],
        "torch.linalg.multi_dot([m23[1:], torch.ones(3, 2), torch.ones(2)]).tolist()": [24.0],
        "torch.tensordot(m23, torch.ones(1, 4), ([1], [0])).tolist()": [[3.0] * 4, [12.0] * 4],
        "torch.tensordot(torch.ones(2, 1), m23, ([1], [0])).tolist()": [[3.0, 5.0, 7.0]] * 2,
    },
    "pools": {
        "F.adaptive_avg_pool2d(torch.ones(2, 3, 4), (None, 2)).shape": (2, 3, 2),
        "F.adaptive_avg_pool2d(torch.ones(2, 3, 4), (2, None)).shape": (2, 2, 4),
        "F.adaptive_max_pool2d(torch.ones(1, 2, 3, 4), (None, 2)).shape": (1, 2, 3, 2),
        "F.adaptive_avg_pool3d(torch.ones(1, 2, 3, 4), (None, 2, None)).shape": (1, 2, 2, 4),
    },
    "words": {
        "repr(nn.Embedding(2, 3, sparse=True))": "Embedding(2, 3, sparse=True)",
        "repr(nn.EmbeddingBag(2, 3, padding_idx=1))": (
            "EmbeddingBag(2, 3, mode='mean', padding_idx=1)"
        ),
    },
}


@pytest.mark.parametrize("group", CALLS)
def test_what_is_given(group):
    wrong = {}
    for call, want in CALLS[group].items():
        found = eval(call, NAMES)
        if found != want or (type(want) in (bool, str) and type(found) is not type(want)):
            wrong[call] = found
    assert not wrong


REFUSED = {
    "torch.randint_like(x2, 1, 3, low=0)": (TypeError, "multiple values for argument 'low'"),
    "torch.randint_like(x2, 1, 3, high=5)": (TypeError, "multiple values for argument 'low'"),
    "torch.zeros(2).random_(5, **{'from': 4})": (TypeError, "multiple values for argument 'from'"),
    "torch.zeros(2).random_(4, 5, to=6)": (TypeError, "multiple values for argument 'to'"),
    "x2.repeat_interleave(torch.tensor([-1, 2]))": (
        RuntimeError,
        "repeat_interleave: repeats can not be negative",
    ),
    "x2.repeat_interleave(-1)": (RuntimeError, "repeat_interleave: repeats can not be negative"),
    "torch._C.copying._storage_on_meta(-1)": (RuntimeError, "not a storage: -1 bytes"),
    "F.fold(torch.ones(1, 4, 4), (0, 3), 2)": (RuntimeError, "output_size should be greater than"),
    "F.fold(torch.ones(1, 4, 4), (3, 0), 2)": (RuntimeError, "output_size should be greater than"),
    "F.fold(torch.ones(1, 4, 4), (3, 3), (0, 2))": (RuntimeError, "kernel size should be greater"),
    "F.adaptive_avg_pool2d(m23, (None, 2))": (ValueError, "Input dimension should be at least 3"),
    "F.adaptive_max_pool2d(m23, (None, 2))": (ValueError, "Input dimension should be at least 3"),
    "padded((-1, 6), 'circular')": (RuntimeError, "wrapping around more than once"),
    "padded((6, 0), 'circular')": (RuntimeError, "wrapping around more than once"),
    "padded((-5, 2), 'circular')": (RuntimeError, "takes away what it would repeat"),
    "padded((-2, -3), 'replicate')": (RuntimeError, "too small. Calculated output W: 0"),
    "storage < storage": (TypeError, "not supported between instances"),
    "x2.softmax(-65)": (IndexError, "expected to be in range of [-64, 63], but got -65"),
    "x2.softmax(64)": (IndexError, "expected to be in range of [-64, 63], but got 64"),
}


def test_what_is_refused():
    for call, (kind, words) in REFUSED.items():
        with pytest.raises(kind) as error:
            eval(call, NAMES)
        assert words in str(error.value), call
