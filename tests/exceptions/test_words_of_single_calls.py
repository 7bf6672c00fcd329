"""Exceptions of calls that no record has samples of: PyTorch's types, and its key words."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
if str(HERE.parent) not in sys.path:
    sys.path.insert(0, str(HERE.parent))

from call_tables import assert_refused  # noqa: E402

import autograd_cy as torch  # noqa: E402


class Closed:
    """A sequence whose items can't be read."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        raise KeyError(i)


KNOWN = {
    "torch": torch,
    "func": torch.func,
    "closed": Closed(),
    "scalar": torch.tensor(1.0),
    "x2": torch.ones(2),
    "x3": torch.ones(3),
    "x23": torch.ones(2, 3),
    "x234": torch.ones(2, 3, 4),
    "at": torch.tensor([5]),
    "eyes": torch.stack([torch.eye(3), torch.zeros(3, 3)]),
}
BATCH = "(Batch element 1): The "
EMPTY = "Expected f to be a function that has non-empty output (got output = []"
NONE = "Expected f to be a function that has non-empty output (got output = [None])"
SPLIT = "torch.{}split requires a tensor with at least {} dimension"
PAIR = "received an invalid combination of arguments"
LINALG = torch.linalg.LinAlgError

REFUSED = {
    "linear algebra": {
        "torch.linalg.cholesky(eyes)": (
            LINALG,
            f"linalg.cholesky: {BATCH}factorization could not be completed because the input is "
            "not positive-definite (the leading minor of order 1 is not positive-definite)",
        ),
        "torch.linalg.cholesky(torch.tensor([[1.0, 2], [2, 1]]))": (LINALG, "minor of order 2 is"),
        "torch.linalg.inv(eyes)": (LINALG, f"linalg.inv: {BATCH}diagonal element 1 is zero"),
        "torch.linalg.inv(torch.ones(2, 2))": (LINALG, "The diagonal element 2 is zero"),
        "torch.linalg.solve(eyes, torch.ones(2, 3, 1))": (
            LINALG,
            f"linalg.solve: {BATCH}solver failed because the input matrix is singular",
        ),
        "torch.linalg.cross(x23, torch.ones(2, 1))": (RuntimeError, "must have length 3"),
        "torch.linalg.cross(x23, x3)": (RuntimeError, "must have the same number of dimensions"),
    },
    "indices": {
        "x23[0, 5]": (IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
        "x234[0, 0, 9]": (IndexError, "index 9 is out of bounds for dimension 2 with size 4"),
        "x234[None, 0, 9]": (IndexError, "index 9 is out of bounds for dimension 2 with size 3"),
        "x234[..., 0, 9]": (IndexError, "index 9 is out of bounds for dimension 2 with size 4"),
        "x23.__setitem__((0, 5), 1.0)": (IndexError, "out of bounds for dimension 1 with size 3"),
        "x23.gather(1, at[None])": (RuntimeError, "index 5 is out of bounds for dimension 1 with"),
        "x23.clone().index_copy_(1, at, torch.ones(2, 1))": (
            IndexError,
            "index 5 is out of bounds for dimension 1 with size 3",
        ),
    },
    "positions": {
        "torch.transpose(x23, 'a', 0)": (TypeError, "argument 'dim0' (position 2) must be int"),
        "x23.transpose('a', 0)": (TypeError, "argument 'dim0' (position 1) must be int"),
        "torch.Tensor.transpose(x23, 0, 'a')": (TypeError, "argument 'dim1' (position 2) must be"),
        "x23.vdot(1)": (TypeError, "argument 'other' (position 1) must be Tensor, not int"),
        "torch.vdot(x23, 1)": (TypeError, "argument 'other' (position 2) must be Tensor, not int"),
        "x23.moveaxis([0.5], 0)": (TypeError, "argument 'source' (position 1) must be tuple"),
        "x23.mul_('a')": (TypeError, "argument 'other' (position 1) must be Tensor"),
        "x23.unbind(dim='a')": (TypeError, "argument 'dim' must be int, not str"),
        "x23.mul(1, 2)": (TypeError, "mul() takes 1 positional argument but 2 were given"),
        "x23.mul_(1, 2)": (TypeError, "mul_() takes 1 positional argument but 2 were given"),
        "torch.mul(x23, 1, 2)": (TypeError, "mul() takes 2 positional arguments but 3 were given"),
        "x23.vdot(x2, x2)": (TypeError, "vdot() takes 1 positional argument but 2 were given"),
    },
    "dimensions": {
        "torch.softmax(x23, 2**31)": (IndexError, "range of [-2, 1], but got 2147483648)"),
        "x23.log_softmax(-2**40)": (IndexError, "range of [-2, 1], but got -1099511627776)"),
        "scalar.softmax(99)": (IndexError, "range of [-1, 0], but got 99)"),
        "torch.hsplit(scalar, 2)": (RuntimeError, SPLIT.format("h", 1)),
        "torch.vsplit(x3, 2)": (RuntimeError, SPLIT.format("v", 2)),
        "torch.dsplit(x23, 2)": (RuntimeError, SPLIT.format("d", 3)),
        "torch.hsplit(x3, 2)": (
            RuntimeError,
            "torch.hsplit attempted to split along dimension 0, but the size of the dimension 3 is "
            "not divisible by the split_size 2!",
        ),
        "torch.movedim(x234, (0, 0), (1, 2))": (
            RuntimeError,
            "movedim: repeated dim in `source` ([0, 0])",
        ),
        "torch.movedim(x234, (0, 1), (1, 1))": (
            RuntimeError,
            "movedim: repeated dim in `destination` ([1, 1])",
        ),
        "x3.adjoint()": (RuntimeError, "tensor.adjoint() is only supported on matrices"),
    },
    "numbers alone": {
        f"torch.{name}(2, 3)": (TypeError, "must be Tensor, not int")
        for name in (
            "remainder bitwise_and bitwise_or bitwise_xor pow float_power xlogy fmod eq logaddexp "
            "bitwise_left_shift maximum copysign hypot rsub special.xlogy"
        ).split()
    },
    "bounds": {
        "torch.clamp(x2, x2, 1.0)": (TypeError, PAIR),
        "torch.clamp(x2, 0.0, x2)": (TypeError, PAIR),
        "torch.nn.functional.multi_margin_loss(x23, torch.tensor([0, 1]), weight=x2)": (
            RuntimeError,
            "inconsistent weight size, expected 3 but got [2]",
        ),
    },
    "transformations": {
        "func.vjp(lambda x: (), x2)": (RuntimeError, f"vjp(f, *primals): {EMPTY}"),
        "func.vjp(lambda x: None, x2)": (RuntimeError, f"vjp(f, *primals): {NONE}"),
        "func.jvp(lambda x: (), (x2,), (x2,))": (
            RuntimeError,
            f"jvp(f, primals, tangents): {EMPTY}",
        ),
        "torch.vmap(lambda x: x, out_dims=('x',))(x3)": (
            ValueError,
            "`out_dims` must be an int, None or a python collection of ints",
        ),
    },
    "exchange": {
        "x3.__dlpack__(stream=object())": (TypeError, "stream must be ``int`` or ``none``"),
        "torch.tensor(closed)": (
            ValueError,
            "could not determine the shape of object type 'Closed'",
        ),
    },
}


def test_calls_raise_what_pytorch_raises():
    for table in REFUSED.values():
        assert_refused(table, KNOWN)
