"""Tensors made of data of several kinds, filled, and drawn without chance."""

import pytest
from call_tables import names, same, wrong_numbers
from grouping import each

import autograd_cy

# What the calls speak of is in call_tables.py; the values are torch's.
CALLS = {
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
    "v(torch.bernoulli(t([0.0, 1.0]), out=empty(2)))": [[2], "float32", [0.0, 1.0]],
    "v(torch.normal(t([1.0, 2.0]), zeros(2), out=empty(2)))": [[2], "float32", [1.0, 2.0]],
    "v(torch.normal(t([1.0, 2.0]), 0.0))": [[2], "float32", [1.0, 2.0]],
    "v(torch.normal(1.0, zeros(2)))": [[2], "float32", [1.0, 1.0]],
    "v(torch.normal(t([[1.0], [2.0]]), zeros(2)))": [[2, 2], "float32", [[1.0, 1.0], [2.0, 2.0]]],
    "v(torch.normal(2.0, 0.0, (2,), out=empty(2)))": [[2], "float32", [2.0, 2.0]],
    "v(torch.randint(2, 3, (2,), out=empty(2, dtype=torch.int64)))": [[2], "int64", [2, 2]],
    "v(torch.randint(2, 3, (2,), dtype=torch.float32))": [[2], "float32", [2.0, 2.0]],
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
    "v(t([3.0]).expand(3).clone())": [[3], "float32", [3.0, 3.0, 3.0]],
}


@each("call", CALLS, group=lambda name: name[:1])
def test_values(call):
    assert same(found := eval(call, names(autograd_cy)), CALLS[call]), found


def test_these_are_the_numbers_of_torch():
    assert not wrong_numbers(pytest.importorskip("torch"), CALLS)
