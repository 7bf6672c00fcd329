"""Numbers that a dtype doesn't hold, data of which no tensor is made, states of no generator."""

import numpy as np
from call_tables import assert_refused

import autograd_cy as torch

x2 = torch.zeros(2)
nested65 = 1.0
for _ in range(65):
    nested65 = [nested65]


def put(t, *args):
    t.__setitem__(*args)


NAMES = globals() | {"np": np}

# call: (type of error, words of its message)
REFUSED = {
    "torch.tensor([[[0]]] if False else eval('[' * 65 + '1' + ']' * 65))": (
        ValueError,
        "too many dimensions: a tensor has at most 64",
    ),
    "torch.tensor([np.zeros(2), 1])": (
        TypeError,
        "not a sequence: expected one of length 2 at dim 1, got int",
    ),
    "torch.tensor([object()])": (RuntimeError, "Could not infer dtype of object"),
    "torch.full((2,), 1 << 64, dtype=torch.int64)": (
        OverflowError,
        "int too big to convert: 18446744073709551616 does not fit in 6",
    ),
    "put(torch.zeros(2, dtype=torch.int64), 0, 1 << 64)": (
        ValueError,
        "Overflow when unpacking long long: 18446744073709551616",
    ),
    "put(torch.zeros(2), 0, 1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: 1j",
    ),
    "torch.zeros(2).fill_(1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: fi",
    ),
    "torch.manual_seed(1 << 70)": (
        ValueError,
        "manual_seed: Overflow when unpacking long long: 11805916207174",
    ),
    "torch.Generator().set_state(torch.zeros(16, dtype=torch.uint8))": (RuntimeError, "state"),
    "torch.set_rng_state(torch.zeros(16, dtype=torch.uint8))": (RuntimeError, "state"),
    "torch.Generator().set_state(torch.Generator().get_state() ^ 255)": (
        RuntimeError,
        "these bytes are no state of an autograd_cy generator",
    ),
    "torch.set_default_dtype(torch.int64)": (TypeError, "only floating-point types"),
    "torch.set_default_tensor_type('torch.LongTensor')": (TypeError, "floating-point types"),
    "torch.fill(x2, 1j)": (
        RuntimeError,
        "fill: value cannot be converted to type float without",
    ),
    "torch.tensor([1j], dtype=torch.float32)": (
        TypeError,
        "must be real number, not complex (1j into float32)",
    ),
    "torch.tensor(1j, dtype=torch.int64)": (
        TypeError,
        "must be real number, not complex (1j into int64)",
    ),
    "torch.tensor([[1.0, 1j]], dtype=torch.float64)": (
        TypeError,
        "must be real number, not complex (1j into float64)",
    ),
    "torch.full((2,), 1j, dtype=torch.float32)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: 1j",
    ),
    "x2.new_tensor([1j])": (TypeError, "must be real number, not complex (1j into float32)"),
    "x2.new_full((2,), 1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: 1j",
    ),
    "torch.tensor([x2, 3])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    "torch.tensor([{}])": (RuntimeError, "Could not infer dtype of dict"),
    "torch.tensor([None])": (RuntimeError, "Could not infer dtype of NoneType"),
    "torch.tensor(None)": (RuntimeError, "Could not infer dtype of NoneType"),
    'torch.tensor([1, "a"])': (TypeError, "new(): invalid data type 'str'"),
    "torch.tensor([[1], [2, 3]])": (ValueError, "expected sequence of length 1 at dim 1 (got 2)"),
    "torch.tensor([[1, 2], 3])": (
        TypeError,
        "not a sequence: expected one of length 2 at dim 1, got int",
    ),
    "torch.tensor([np.ones(2), np.ones(3)])": (
        ValueError,
        "expected sequence of length 2 at dim 1 (got 3)",
    ),
    'torch.tensor([np.str_("a")])': (ValueError, "too many dimensions 'str_'"),
    'torch.tensor(np.array(["a"]))': (
        TypeError,
        "can't convert np.ndarray of type <U1. The only supported types are:",
    ),
    "x2.fill_(1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: fill_ got",
    ),
    "torch.full_like(x2, 1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: 1j",
    ),
    "x2.__setitem__(0, 1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow: 1j",
    ),
    "torch.tensor([np.ones(2), 3])": (
        TypeError,
        "not a sequence: expected one of length 2 at dim 1, got int",
    ),
    "torch.tensor([torch.ones(2), 3.0])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    "torch.tensor([[1, 2], [3, object()]])": (RuntimeError, "Could not infer dtype of object"),
    "torch.tensor([x2, x2])": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
    ),
    'torch.tensor(["a"])': (ValueError, "too many dimensions 'str'"),
    "torch.tensor(nested65)": (ValueError, "too many dimensions: a tensor has at most 64"),
}


def test_numbers_that_do_not_fit_are_refused():
    assert_refused(REFUSED, NAMES)
