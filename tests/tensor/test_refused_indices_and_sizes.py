"""Indices and sizes that a tensor can't have: too many of them, more than 64 dimensions."""

from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy.nn import functional as F

x2, m23 = torch.zeros(2), torch.zeros(2, 3)
i2 = torch.zeros(2, dtype=torch.int64)
scalar = torch.tensor(1.0)
deep = torch.zeros((1,) * 64)


def deleted():
    t = torch.ones(2)
    del t[0]


NAMES = globals() | {"F": F}

# call: (type of error, words of its message)
REFUSED = {
    "scalar[0:1]": (IndexError, "too many indices for tensor of dimension 0"),
    "scalar[0]": (IndexError, "invalid index of a 0-dim tensor"),
    "m23[0, 0, 0]": (IndexError, "too many indices for tensor of dimension 2"),
    "m23[:, :, :]": (IndexError, "too many indices for tensor of dimension 2"),
    "m23[i2, i2, i2]": (IndexError, "too many indices for tensor of dimension 2"),
    "m23[i2, torch.zeros(3, dtype=torch.int64)]": (
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast togeth",
    ),
    "deep[i2, None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[torch.zeros(1, 1, dtype=torch.int64)]": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "deep[torch.zeros((1,) * 64, dtype=torch.int64)]": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "deep.__setitem__(torch.zeros((1,) * 64, dtype=torch.int64), 1.0)": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "deep[:, torch.zeros((1,) * 64, dtype=torch.int64)]": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "deep.__setitem__((0, slice(None), i2[:1].view((1,) * 64)), 1.0)": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "deep.index_put((torch.zeros((1,) * 64, dtype=torch.int64),), scalar)": (
        ValueError,
        "a tensor has at most 64 dimensions",
    ),
    "torch.view_as_real(torch.zeros((1,) * 64, dtype=torch.complex64))": (
        RuntimeError,
        "a tensor has at most 64 dimensions",
    ),
    "torch.zeros(2).resize_(-1)": (RuntimeError, "negative"),
    "torch.empty_strided((2,), (-1,))": (RuntimeError, "strides must not be negative"),
    "torch.zeros(2, size=(2,))": (TypeError, "multiple values"),
    "x2.view(dtype=None)": (TypeError, "view(): argument 'dtype' must be torch.dtype, not None"),
    "x2.view(1, size=(2,))": (TypeError, "view() got multiple values for argument 'size'"),
    "deleted()": (TypeError, "does not support deleting items"),
    "deep[:, None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[None, 0]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[..., i2.reshape(2,1,1)[:1]]": (ValueError, "a tensor has at most 64 dimensions"),
    "deep[None, i2[:1]]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "x2[1:1, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0, 1:]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0][0]": (IndexError, "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a"),
    "x2[..., :, :]": (IndexError, "too many indices for tensor of dimension 1"),
    "torch.tensor(1.0)[:]": (IndexError, "too many indices for tensor of dimension 0"),
    "torch.tensor(1.0)[0]": (
        IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a",
    ),
    "torch.tensor(1.0)[None][0, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "deep[None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep[i2[:1].reshape(1, 1)]": (ValueError, "a tensor has at most 64 dimensions"),
    "deep[..., None]": (RuntimeError, "a tensor has at most 64 dimensions"),
    "x2[(slice(None),)*3]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[..., 0, 0]": (IndexError, "too many indices for tensor of dimension 1"),
    "x2[0, :]": (IndexError, "too many indices for tensor of dimension 1"),
    "torch.index_put(x2, (), x2, True)": (
        ValueError,
        "index_put_: at least one index tensor is needed to accumulate",
    ),
    "x2.index_put_((), x2, accumulate=True)": (
        RuntimeError,
        "index_put_: unsupported operation: some elements of the input tensor",
    ),
    "torch.empty(2, size=(2,))": (TypeError, "empty() got multiple values for argument 'size'"),
    "torch.zeros((2,), size=(2,))": (TypeError, "zeros() got multiple values for argument 'size'"),
    "x2.expand((2,), size=(2,))": (TypeError, "expand() got multiple values for argument 'size'"),
    "x2.view(2, size=(2,))": (TypeError, "view() got multiple values for argument 'size'"),
    "x2.new_zeros((2,), size=(2,))": (
        TypeError,
        "new_zeros() got multiple values for argument 'size'",
    ),
    "torch.stack([deep])": (RuntimeError, "stack: the result would have more than 64 dimensions"),
    "deep.unfold(0, 1, 1)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep.unsqueeze(0)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "torch.full((1,)*65, 1.0)": (ValueError, "full: a tensor has at most 64 dimensions, not 65"),
    "deep.expand((1,)*65)": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "deep.reshape((1,)*65)": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "deep.new_ones((1,)*65)": (ValueError, "new_ones: a tensor has at most 64 dimensions, not 65"),
    "torch.view_as_real(deep.to(torch.complex64))": (
        RuntimeError,
        "a tensor has at most 64 dimensions",
    ),
    "deep.diag_embed()": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
    "F.one_hot(deep.long())": (RuntimeError, "a tensor has at most 64 dimensions"),
    "torch.atleast_3d(deep).unfold(0,1,1)": (RuntimeError, "a tensor has at most 64 dimensions"),
    "deep.unflatten(0, (1, 1))": (RuntimeError, "a tensor has at most 64 dimensions, not 65"),
}


def test_indices_and_sizes_that_cannot_be_are_refused():
    assert_refused(REFUSED, NAMES)
