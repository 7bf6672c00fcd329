"""Warnings about what a program does: of the category and the beginning that torch's have."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

# What is done, and the beginning of the warning (None: there is none).
READ_ONLY = "The given buffer is not writable"
ARRAYS = "Creating a tensor from a list of numpy.ndarrays is extremely slow"
COMPLEX = "Complex modules are a new feature"
VALUES = "torch.searchsorted(): input value tensor is non-contiguous"
BOUNDARIES = "torch.searchsorted(): boundary tensor is non-contiguous"
SORTER = "torch.searchsorted(): sorter tensor is non-contiguous"
USES = {
    "a buffer of bytes": (lambda t: t.frombuffer(b"12345678", dtype=t.float32), READ_ONLY),
    "a writable buffer": (lambda t: t.frombuffer(bytearray(8), dtype=t.float32), None),
    "a list of arrays": (lambda t: t.tensor([np.ones(2), np.ones(2)]), ARRAYS),
    "a tuple of arrays": (lambda t: t.tensor((np.ones(2), np.ones(2))), ARRAYS),
    "arrays deeper": (lambda t: t.tensor([[np.ones(2)]]), ARRAYS),
    "as_tensor of arrays": (lambda t: t.as_tensor([np.ones(2)]), ARRAYS),
    "asarray of arrays": (lambda t: t.asarray([np.ones(2)]), ARRAYS),
    "a tensor type of arrays": (lambda t: t.FloatTensor([np.ones(2)]), ARRAYS),
    "a list of numbers of NumPy": (lambda t: t.tensor([np.float64(1)]), None),
    "an array": (lambda t: t.tensor(np.ones(2)), None),
    "a complex module": (lambda t: t.nn.Linear(2, 2).to(t.complex64), COMPLEX),
    "a module and a complex tensor": (
        lambda t: t.nn.Linear(2, 2).to(t.ones(1, dtype=t.complex128)),
        COMPLEX,
    ),
    "a real module": (lambda t: t.nn.Linear(2, 2).to(t.float64), None),
    "a layer made complex": (lambda t: t.nn.Linear(2, 2, dtype=t.complex64), None),
    "transposed values": (lambda t: t.bucketize(t.ones(2, 3).t(), t.arange(3.0)), VALUES),
    "strided boundaries": (lambda t: t.bucketize(t.ones(2), t.arange(6.0)[::2]), BOUNDARIES),
    "transposed rows": (
        lambda t: t.searchsorted(t.arange(6.0).view(3, 2).t(), t.ones(2, 1)),
        BOUNDARIES,
    ),
    "a transposed sorter": (
        lambda t: t.searchsorted(
            t.ones(2, 3), t.ones(2, 1), sorter=t.zeros(3, 2, dtype=t.int64).t()
        ),
        SORTER,
    ),
    "contiguous boundaries": (lambda t: t.bucketize(t.ones(2), t.arange(3.0)), None),
    "one pixel": (
        lambda t: t.nn.functional.affine_grid(t.zeros(1, 2, 3), [1, 1, 1, 1], True),
        "Since version 1.3.0, affine_grid behavior has changed for unit-size grids",
    ),
    "two pixels": (
        lambda t: t.nn.functional.affine_grid(t.zeros(1, 2, 3), [1, 1, 2, 2], True),
        None,
    ),
    "equal bounds": (
        lambda t: t.testing.make_tensor((2,), dtype=t.float32, device="cpu", low=2, high=2),
        "Passing `low==high` to",
    ),
    "mH of a number": (lambda t: t.tensor(1.0).mH, "Tensor.mH is deprecated on 0-D tensors"),
    "mH of a matrix": (lambda t: t.ones(2, 2).mH, None),
    "the older registration": (
        lambda t: t.utils._pytree._register_pytree_node(type("New", (), {}), list, tuple),
        "`",
    ),
}


@pytest.fixture(autouse=True)
def always():
    ag.set_warn_always(True)
    yield
    ag.set_warn_always(False)


def seen_in(package, use):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        use(package)
    return [(w.category, str(w.message)) for w in seen], {Path(w.filename) for w in seen}


@each("name", sorted(USES))
def test_a_use_warns_of_its_line(name):
    use, beginning = USES[name]
    found, files = seen_in(ag, use)
    if beginning is None:
        assert found == []
    else:
        assert len(found) == 1 and found[0][1].startswith(beginning)
        assert files == {Path(__file__)}


@each("name", sorted(USES))
def test_torch_warns_alike(name):
    torch = pytest.importorskip("torch")
    use, beginning = USES[name]
    torch.set_warn_always(True)
    theirs, _ = seen_in(torch, use)
    torch.set_warn_always(False)
    theirs = [(kind, text) for kind, text in theirs if "jit.script" not in text]
    ours, _ = seen_in(ag, use)
    assert {kind for kind, _ in ours} == {kind for kind, _ in theirs}
    assert all(text.startswith(beginning) for _, text in theirs)
