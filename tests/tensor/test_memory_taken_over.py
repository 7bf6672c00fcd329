"""Memory that is taken over or copied: `asarray`, copies of stretched tensors, equal storages."""

import copy
import pickle

import numpy as np
from call_tables import assert_given, assert_refused

import autograd_cy as torch

x2, m23 = torch.zeros(2), torch.arange(6.0).reshape(2, 3)
meta = torch.zeros(2, device="meta")
storage = x2.untyped_storage()


def copied(t):
    return [pickle.loads(pickle.dumps(t)), copy.deepcopy(t)]


NAMES = globals() | {"np": np}

# call: its value
GIVEN = {
    "torch.asarray(meta, device='meta') is meta": True,
    "torch.asarray(meta, device='meta', copy=False) is meta": True,
    "torch.asarray(x2, device='cpu').data_ptr() == x2.data_ptr()": True,
    "torch.asarray(x2, device='cpu', copy=False) is x2": True,
    "torch.asarray(x2, device='meta').is_meta": True,
    "torch.asarray([1.0], device='cpu').tolist()": [1.0],
    "torch.asarray([1.0], device='meta').is_meta": True,
    "torch.asarray(np.ones(2), device='meta').is_meta": True,
    "[t.stride() for t in copied(torch.ones(1).expand(3))]": [(0,), (0,)],
    "[t.tolist() for t in copied(torch.ones(1).expand(3))]": [[1.0] * 3] * 2,
    "[t.stride() for t in copied(m23[:, :1].expand(2, 4))]": [(3, 0), (3, 0)],
    "[t.tolist() for t in copied(m23.t()[1:])]": [[[1.0, 4.0], [2.0, 5.0]]] * 2,
    "[t.shape for t in copied(torch.ones(2, 0, 3))]": [(2, 0, 3)] * 2,
    "storage == 5": False,
    "storage != 5": True,
    "storage == 'a'": False,
    "storage == None": False,
    "storage == x2.untyped_storage()": True,
    "storage != x2.untyped_storage()": False,
    "storage == x2.clone().untyped_storage()": False,
}


def test_memory_is_taken_over_or_copied():
    assert_given(GIVEN, NAMES)


# call: (type of error, words of its message)
REFUSED = {
    "torch._C.copying._storage_on_meta(-1)": (RuntimeError, "not a storage: -1 bytes"),
    "storage < storage": (TypeError, "not supported between instances"),
}


def test_what_is_no_memory_is_refused():
    assert_refused(REFUSED, NAMES)
