"""Files, data sets and batches that mean nothing: their errors, a line each."""

import io
import pickle

import numpy as np
from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy.serialization._pickles import LoadError
from autograd_cy.utils import data as D
from autograd_cy.utils import safetensors as S

x2, m23 = torch.zeros(2), torch.zeros(2, 3)


def own():
    file = io.BytesIO()
    torch.save({"a": x2}, file)
    file.seek(0)
    return file


NAMES = globals() | {"D": D, "S": S, "np": np, "pickle": pickle}

# call: (type of error, words of its message)
REFUSED = {
    "torch.load(io.BytesIO(pickle.dumps(5)), mmap=True)": (
        LoadError,
        "load: this is not a file that autograd_cy.save or torch.save w",
    ),
    "torch.utils.data.default_collate([np.array(['a'])])": (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, num",
    ),
    "torch.utils.data.default_collate([object()])": (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, num",
    ),
    "torch.load(own(), mmap=True)": (
        ValueError,
        "load: f must be a path in order to use mmap=True",
    ),
    'torch.load(own(), map_location="cuda")': (
        RuntimeError,
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_ava",
    ),
    'D.default_collate([np.array(["a"]), np.array(["b"])])': (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, numbers,",
    ),
    'D.default_collate([np.array("a"), np.array("b")])': (
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, numbers,",
    ),
    "D.ConcatDataset([[1, 2], [3]])[-4]": (
        ValueError,
        "absolute value of index should not exceed dataset length",
    ),
    "D.ConcatDataset([[1, 2], [3]])[3]": (
        IndexError,
        "index 3 is out of range: there are 3 samples",
    ),
    "D.random_split([1, 2], [1.5, -0.5])": (
        ValueError,
        "Fraction at index 0 is not between 0 and 1",
    ),
    "iter(D.Sampler())": (NotImplementedError, "Subclasses of Sampler should implement __iter__."),
    "S._specs(None, 5)": (ValueError, "expected a dict of name to tensor, got int"),
    'S._specs(None, {"a": 5})': (ValueError, "key `a` is no tensor but a int"),
    'S._tensor("a", {"dtype": "none"})': (
        ValueError,
        "key `a` has the dtype none, which isn't here",
    ),
    'S._specs(None, {"a": m23.t()})': (
        ValueError,
        "You are trying to save a non contiguous tensor: `a` which is not",
    ),
    'S._specs(None, {"a": x2, "b": x2[:1]})': (
        RuntimeError,
        "Some tensors share memory, which safetensors can't say: `a` and `b`.",
    ),
}


def test_data_that_means_nothing_is_refused():
    assert_refused(REFUSED, NAMES)
