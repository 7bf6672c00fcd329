"""Options of reductions, norms and searches: values and gradients."""

import pytest
from call_tables import names, same, wrong_numbers
from grouping import each

import autograd_cy

inf, nan = float("inf"), float("nan")


# What the calls speak of is in call_tables.py; the values are torch's.
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
    assert not wrong_numbers(pytest.importorskip("torch"), CALLS)
