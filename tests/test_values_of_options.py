"""Options and kinds of arguments that seldom meet: values and gradients, as torch has them.

The numbers are torch's; where it is installed, they are compared with it anew.
"""

import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy

inf, nan = float("inf"), float("nan")


def names(lib):
    """What the calls speak of, of a library."""

    def value(t):
        return [list(t.shape), str(t.dtype).rpartition(".")[2], t.tolist()]

    def gradient(function, x):
        x = lib.tensor(x, requires_grad=True)
        function(x).backward()
        return x.grad.tolist()

    def counted(*shape):
        return lib.arange(float(np.prod(shape))).reshape(shape)

    return {
        "torch": lib, "F": lib.nn.functional, "func": lib.func, "np": np, "inf": inf, "nan": nan,
        "v": value, "g": gradient, "t": lib.tensor, "m": counted,
        "ones": lib.ones, "zeros": lib.zeros, "empty": lib.empty, "rnn": lib.nn.utils.rnn,
        "w3": lib.tensor([1.0, 2.0, 3.0]), "m22": [[1.0, 2.0], [3.0, 4.0]],
    }  # fmt: skip


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-6 * abs(b)
    return type(a) is type(b) and a == b


# t is tensor(), m(2, 3) counts from 0; v(tensor) is its shape, dtype and elements,
# g(function, x) the gradient at x.
CALLS = {
    "g(lambda x: torch.cdist(x, x.detach() + 1, p=0.0).sum(), [[1.0, 2.0]])": [[0.0, 0.0]],
    "g(lambda x: x.prod(), [3.0])": [1.0],
    "g(lambda x: x.prod(0).sum(), [[3.0], [2.0]])": [[2.0], [3.0]],
    "g(lambda x: x.prod(0).sum(), [[3.0, 0.0], [2.0, 5.0]])": [[2.0, 5.0], [3.0, 0.0]],
    "g(lambda x: x.prod(1).sum(), [[3.0, 0.0, 0.0], [2.0, 5.0, 0.0]])": [
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 10.0],
    ],
    "g(lambda x: x.cumprod(0).sum(), [3.0, 0.0, 2.0])": [1.0, 9.0, 0.0],
    "g(lambda x: x.norm(), [3.0, 4.0])": [0.60000002, 0.80000001],
    "g(lambda x: x.norm(p=1, dim=0).sum(), [[3.0, -4.0]])": [[1.0, -1.0]],
    "g(lambda x: x.norm(p=inf, dim=1).sum(), [[3.0, -4.0]])": [[0.0, -1.0]],
    "g(lambda x: x.norm(p=3, dim=1, keepdim=True).sum(), [[0.0, 0.0]])": [[0.0, 0.0]],
    "g(lambda x: x.logcumsumexp(0).sum(), [1.0, -inf, 2.0])": [2.2689414, 0.0, 0.73105854],
    "v(t([1.0, inf, 2.0]).logcumsumexp(0))": [[3], "float32", [1.0, inf, inf]],
    "v(t([-inf, -inf, 2.0]).logcumsumexp(0))": [[3], "float32", [-inf, -inf, 2.0]],
    "v(t([1.0, nan, 2.0]).logcumsumexp(0))": [[3], "float32", [1.0, nan, nan]],
    "v(F.alpha_dropout(ones(3), 0.5, False))": [[3], "float32", [1.0, 1.0, 1.0]],
    "v(F.alpha_dropout(ones(3), 0.0, True))": [[3], "float32", [1.0, 1.0, 1.0]],
    "v(F.feature_alpha_dropout(ones(2, 3), 0.5, False))": [
        [2, 3],
        "float32",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ],
    "v(F.feature_alpha_dropout(ones(2, 3), 0.0, True))": [
        [2, 3],
        "float32",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ],
    "v(F.dropout2d(ones(1, 2, 1, 1), 0.0, True))": [[1, 2, 1, 1], "float32", [[[[1.0]], [[1.0]]]]],
    "v(F.dropout2d(ones(1, 2, 1, 1), 1.0, True))": [[1, 2, 1, 1], "float32", [[[[0.0]], [[0.0]]]]],
    "v(torch.feature_dropout(ones(1, 2, 1), 0.5, False))": [[1, 2, 1], "float32", [[[1.0], [1.0]]]],
    "v(torch.feature_dropout(ones(1, 2, 1), 0.0, True))": [[1, 2, 1], "float32", [[[1.0], [1.0]]]],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 2]), padding_idx=-1, mode='sum'))": [
        [2, 2],
        "float32",
        [[0.0, 1.0], [0.0, 0.0]],
    ],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 2]), padding_idx=-2, mode='mean'))": [
        [2, 2],
        "float32",
        [[2.0, 3.0], [2.0, 3.0]],
    ],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 1]), padding_idx=0, mode='max'))": [
        [2, 2],
        "float32",
        [[0.0, 0.0], [2.0, 3.0]],
    ],
    "v(F.embedding(t([0, 1]), m(2, 2), padding_idx=-1))": [
        [2, 2],
        "float32",
        [[0.0, 1.0], [2.0, 3.0]],
    ],
    "g(lambda x: F.embedding(t([0, 1, 1]), x, padding_idx=-1).sum(), m22)": [
        [1.0, 1.0],
        [0.0, 0.0],
    ],
    "g(lambda x: F.embedding(t([0, 1, 1]), x, 0, scale_grad_by_freq=True).sum(), m22)": [
        [0.0, 0.0],
        [1.0, 1.0],
    ],
    "v(t([np.bool_(True), np.bool_(False)]))": [[2], "bool", [True, False]],
    "v(t([np.int64(3), np.int8(2)]))": [[2], "int64", [3, 2]],
    "v(t([np.float32(1.5), 2]))": [[2], "float32", [1.5, 2.0]],
    "v(t([np.float64(1.5), np.float32(2)]))": [[2], "float64", [1.5, 2.0]],
    "v(t([True, 2, 3.5]))": [[3], "float32", [1.0, 2.0, 3.5]],
    "v(t([True, 2]))": [[2], "int64", [1, 2]],
    "v(t([[True], [False]]))": [[2, 1], "bool", [[True], [False]]],
    "v(t([1, 2j]))": [[2], "complex64", [(1 + 0j), 2j]],
    "v(t([np.complex64(1 + 2j)]))": [[1], "complex64", [(1 + 2j)]],
    "v(t([t(True), t(False)]))": [[2], "bool", [True, False]],
    "v(t([t(3), t(4)]))": [[2], "int64", [3, 4]],
    "v(t(np.array(3, np.int16)))": [[], "int16", 3],
    "v(torch.as_tensor(t([1, 2]), dtype=torch.float64))": [[2], "float64", [1.0, 2.0]],
    "v(torch.as_tensor(t([1, 2]), device='cpu'))": [[2], "int64", [1, 2]],
    "v(torch.as_tensor(np.float32(2)))": [[], "float32", 2.0],
    "v(torch.as_tensor([1, 2.5]))": [[2], "float32", [1.0, 2.5]],
    "v(torch.full((2,), t(3.5).item()))": [[2], "float32", [3.5, 3.5]],
    "v(torch.full((2,), True))": [[2], "bool", [True, True]],
    "v(torch.full((2,), 3))": [[2], "int64", [3, 3]],
    "v(torch.full((2,), 3, dtype=torch.float64))": [[2], "float64", [3.0, 3.0]],
    "v(torch.full((), 2j))": [[], "complex64", 2j],
    "v(rnn.pad_sequence([ones(2), zeros(1)], padding_value=7.0))": [
        [2, 2],
        "float32",
        [[1.0, 0.0], [1.0, 7.0]],
    ],
    "v(rnn.pad_sequence([ones(2, 2), zeros(1, 2)], batch_first=True, padding_side='left'))": [
        [2, 2, 2],
        "float32",
        [[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]],
    ],
    "v(F.multilabel_margin_loss(t([[0.1, 0.2, 0.4, 0.8]]), t([[3, 0, -1, 1]]), reduction='sum'))": [
        [],
        "float32",
        0.85000002,
    ],
    "v(F.multilabel_margin_loss(t([0.1, 0.2, 0.4, 0.8]), t([3, 0, -1, 1])))": [
        [],
        "float32",
        0.85000002,
    ],
    "v(F.multi_margin_loss(t([[0.1, 0.2, 0.4]]), t([2]), p=2, weight=w3))": [[], "float32", 1.13],
    "v(F.multi_margin_loss(t([0.1, 0.2, 0.4]), t(2), reduction='none'))": [[], "float32", 0.5],
    "v(torch.bernoulli(t([0.0, 1.0]), out=empty(2)))": [[2], "float32", [0.0, 1.0]],
    "v(torch.normal(t([1.0, 2.0]), zeros(2), out=empty(2)))": [[2], "float32", [1.0, 2.0]],
    "v(torch.normal(t([1.0, 2.0]), 0.0))": [[2], "float32", [1.0, 2.0]],
    "v(torch.normal(1.0, zeros(2)))": [[2], "float32", [1.0, 1.0]],
    "v(torch.normal(t([[1.0], [2.0]]), zeros(2)))": [[2, 2], "float32", [[1.0, 1.0], [2.0, 2.0]]],
    "v(torch.normal(2.0, 0.0, (2,), out=empty(2)))": [[2], "float32", [2.0, 2.0]],
    "v(torch.randint(2, 3, (2,), out=empty(2, dtype=torch.int64)))": [[2], "int64", [2, 2]],
    "v(torch.randint(2, 3, (2,), dtype=torch.float32))": [[2], "float32", [2.0, 2.0]],
    "v(func.vmap(lambda x: zeros(3).index_add(0, t([0, 2]), x))(ones(2, 2)))": [
        [2, 3],
        "float32",
        [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
    ],
    "v(func.vmap(lambda x: x.index_add(0, t(1), t([2.0])))(zeros(2, 3)))": [
        [2, 3],
        "float32",
        [[0.0, 2.0, 0.0], [0.0, 2.0, 0.0]],
    ],
    "v(func.vmap(lambda x, k: x.index_select(0, k))(m(2, 3), t([[0, 2], [1, 1]])))": [
        [2, 2],
        "float32",
        [[0.0, 2.0], [4.0, 4.0]],
    ],
    "v(func.vmap(lambda x, k: x.index_add(0, k, x[:2]))(m(2, 3), t([[0, 2], [1, 1]])))": [
        [2, 3],
        "float32",
        [[0.0, 1.0, 3.0], [3.0, 11.0, 5.0]],
    ],
    "v(func.vmap(lambda x, k: F.nll_loss(x, k))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2],
        "float32",
        [-2.5, -8.5],
    ],
    "v(func.vmap(lambda x, k: F.nll_loss(x, k, w3))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2],
        "float32",
        [-3.75, -8.5],
    ],
    "v(func.vmap(lambda x: F.nll_loss(x, t([0, -100]), w3))(m(2, 2, 3)))": [
        [2],
        "float32",
        [0.0, -6.0],
    ],
    "v(func.vmap(func.grad(lambda x, k: F.nll_loss(x, k, w3)))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2, 2, 3],
        "float32",
        [[[-0.25, 0.0, 0.0], [0.0, 0.0, -0.75]], [[0.0, -0.5, 0.0], [0.0, -0.5, 0.0]]],
    ],
    "v(func.vmap(lambda x: F.mse_loss(x, zeros(3)))(m(2, 3)))": [
        [2],
        "float32",
        [1.6666666, 16.666666],
    ],
    "v(func.vmap(lambda x: F.mse_loss(x, zeros(()), reduction='sum'))(torch.arange(2.0)))": [
        [2],
        "float32",
        [0.0, 1.0],
    ],
    "v(func.vmap(lambda x: x.unflatten(0, (2, 2)))(m(2, 4)))": [
        [2, 2, 2],
        "float32",
        [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]],
    ],
    "v(torch.fill(zeros(2), t(3.0)))": [[2], "float32", [3.0, 3.0]],
    "v(zeros(2, 3).fill_diagonal_(2.0))": [[2, 3], "float32", [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]],
    "v(zeros(7, 3).fill_diagonal_(2.0, wrap=True))": [
        [7, 3],
        "float32",
        [
            [2.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 2.0],
            [0.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 2.0],
        ],
    ],
    "v(zeros(4, 3).fill_diagonal_(2.0, wrap=True))": [
        [4, 3],
        "float32",
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]],
    ],
    "v(zeros(3, 7).fill_diagonal_(2.0, wrap=True))": [
        [3, 7],
        "float32",
        [
            [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        ],
    ],
    "v(zeros(5, 1).fill_diagonal_(2.0, wrap=True))": [
        [5, 1],
        "float32",
        [[2.0], [0.0], [2.0], [0.0], [2.0]],
    ],
    "v(zeros(2, 2, 2).fill_diagonal_(2.0))": [
        [2, 2, 2],
        "float32",
        [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 2.0]]],
    ],
    "v(torch.addr(ones(2, 3), ones(2), ones(3), beta=0.5, alpha=2, out=empty(2, 3)))": [
        [2, 3],
        "float32",
        [[2.5, 2.5, 2.5], [2.5, 2.5, 2.5]],
    ],
    "v(torch.addr(torch.full((2, 3), nan), ones(2), ones(3), beta=0))": [
        [2, 3],
        "float32",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ],
    "v(torch.norm(t([3.0, 4.0]), out=empty(())))": [[], "float32", 5.0],
    "v(torch.linalg.vector_norm(t([3.0, 4.0]), dtype=torch.float64))": [[], "float64", 5.0],
    "v(torch.unique(t([3, 1, 3]), return_counts=True)[1])": [[2], "int64", [1, 2]],
    "v(torch.unique_consecutive(t([3, 3, 1, 3]), return_inverse=True)[1])": [
        [4],
        "int64",
        [0, 0, 1, 2],
    ],
    "v(t([3.0]).expand(3).clone())": [[3], "float32", [3.0, 3.0, 3.0]],
    "v(torch.take_along_dim(t([[1, 5], [4, 2]]), t([1, 2])))": [[2], "int64", [5, 4]],
    "v(torch.take_along_dim(t([[1, 5], [4, 2]]), t([[1], [0]]), 1))": [[2, 1], "int64", [[5], [4]]],
    "v(torch.nanmedian(t([nan, 2.0, 1.0])))": [[], "float32", 1.0],
    "v(t([nan, 2.0, 1.0]).nanmedian(0).indices)": [[], "int64", 2],
    "v(t([2.0, nan, 1.0]).median(0).indices)": [[], "int64", 1],
    "v(t([2.0, nan, 1.0]).max(0).indices)": [[], "int64", 1],
    "v(t([[2.0, 2.0], [nan, 1.0]]).argmin(0))": [[2], "int64", [1, 1]],
    "v(torch.searchsorted(t([1.0, 2.0, 2.0, 3.0]), t([2.0, 4.0]), right=True))": [
        [2],
        "int64",
        [3, 4],
    ],
    "v(torch.searchsorted(t([1.0, 2.0, 2.0, 3.0]), t([2.0, 4.0]), side='left', out_int32=True))": [
        [2],
        "int32",
        [1, 4],
    ],
    "v(torch.bucketize(t([2.0, nan]), t([1.0, 2.0])))": [[2], "int64", [1, 2]],
    "v(torch.searchsorted(t([3.0, 1.0, 2.0]), t([2.0, 4.0]), sorter=t([1, 2, 0])))": [
        [2],
        "int64",
        [1, 3],
    ],
}


@each("call", CALLS, group=lambda name: name[:1])
def test_values(call):
    assert same(found := eval(call, names(autograd_cy)), CALLS[call]), found


def test_these_are_the_numbers_of_torch():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = {c: x for c in CALLS if not same(x := eval(c, names(torch)), CALLS[c])}
    assert not wrong
