"""Softmax, its logarithm and their gradients on a GPU, against float64 and the CPU."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, bits, close, numbers, wide

import autograd_cy as torch

# name: (shape of the memory, view of it, dimension)
LAYOUTS = {
    "rows": ((7, 33), lambda x: x, 1),
    "rows of packs": ((5, 64), lambda x: x, -1),
    "long rows": ((3, 5003), lambda x: x, 1),
    "long rows of packs": ((2, 4096), lambda x: x, 1),
    "rows off by one": ((257,), lambda x: x[1:], 0),
    "short rows": ((300, 3), lambda x: x, 1),
    "columns": ((33, 7), lambda x: x, 0),
    "long columns": ((1201, 3), lambda x: x, 0),
    "wide columns": ((5, 300), lambda x: x, 0),
    "middle": ((4, 9, 6), lambda x: x, 1),
    "transposed": ((20, 30), lambda x: x.t(), 1),
    "gaps": ((9, 40), lambda x: x[:, ::2], 1),
    "one element": ((), lambda x: x, 0),
    "of size 1": ((6, 1), lambda x: x, 1),
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)
dtypes = pytest.mark.parametrize("dtype", FLOATS)
names = pytest.mark.parametrize("name", ["softmax", "log_softmax"])


def exact(name, x, dim):
    axis = dim if x.ndim else None
    top = x.max(axis, keepdims=True)
    logs = x - top - np.log(np.exp(x - top).sum(axis, keepdims=True))
    return logs if name == "log_softmax" else np.exp(logs)


@names
@layouts
@dtypes
def test_values(name, layout, dtype):
    shape, view, dim = LAYOUTS[layout]
    x = numbers(shape, dtype, low=-6, high=6)
    result = getattr(torch, name)(view(x.to("cuda")), dim)
    assert result.dtype == x.dtype and result.stride() == getattr(view(x), name)(dim).stride()
    close(result, exact(name, wide(view(x)), dim), 1, dtype, error=4)


@names
@layouts
@dtypes
def test_gradients(name, layout, dtype):
    shape, view, dim = LAYOUTS[layout]
    x, g = numbers(shape, dtype, 1), numbers(shape, dtype, 2)
    found = []
    for device, to in (("cuda", x.dtype), ("cpu", torch.float64)):
        leaf = view(x.to(device)).to(to).detach().requires_grad_()
        getattr(torch, name)(leaf, dim).backward(view(g.to(device)).to(to))
        found.append(leaf.grad)
    # What is summed is rounded before, in the result of the forward pass.
    length = view(x).shape[dim] if x.ndim else 1
    close(found[0], wide(found[1]), 2 + length**0.5, dtype, error=4)


@names
@dtypes
def test_far_away_infinite_and_nan(name, dtype):
    inf, nan, big = float("inf"), float("nan"), 1000.0
    x = torch.tensor(
        [[-inf, -inf, -inf], [inf, 1.0, -inf], [-inf, 1.0, 2.0], [big, big, -big],
         [-big, -big, -big], [inf, inf, nan], [0.0, nan, 0.0]],
        dtype=getattr(torch, dtype),
    )  # fmt: skip
    for columns in (1, 40):
        a = x.repeat_interleave(columns, 1)
        for dim in (1, 0):
            result, expected = (getattr(t, name)(dim) for t in (a.to("cuda"), a))
            close(result, wide(expected), 1, dtype, error=2)


@names
def test_dtype_and_out(name):
    x = numbers((5, 40), "float16")
    y = x.to("cuda")
    result = getattr(torch, name)(y, 1, dtype=torch.float32)
    close(result, exact(name, wide(x), 1), 1, "float32", error=4)
    out = torch.zeros(40, 5, dtype=torch.float16, device="cuda").t()
    getattr(torch, name)(y, 1, out=out)
    close(out, exact(name, wide(x), 1), 1, "float16", error=4)


@names
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_of_nothing(name, shape):
    x = torch.empty(shape, device="cuda")
    assert getattr(torch, name)(x, 1).shape == shape


@names
def test_more_rows_than_columns_of_threads(name):
    x = numbers((70_000, 5), "float32")
    close(getattr(torch, name)(x.to("cuda"), 1), exact(name, wide(x), 1), 1, "float32", error=4)
    x = x.t()
    close(getattr(torch, name)(x.to("cuda"), 0), exact(name, wide(x), 0), 1, "float32", error=4)


@names
@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3)])
def test_the_same_bits_in_any_order_of_threads(name, shape):
    y = numbers(shape, "float32").to("cuda")
    first = [bits(getattr(y, name)(dim)) for dim in (0, 1)]
    for seed in range(2):
        with control.ordered("random", seed):
            assert [bits(getattr(y, name)(dim)) for dim in (0, 1)] == first


@names
def test_one_launch_each(name):
    y = numbers((30, 50), "float32").to("cuda").requires_grad_()
    g = numbers((30, 50), "float32", 2).to("cuda")
    result = getattr(y, name)(1)
    result.backward(g)
    y.grad = None
    before = control.counts()
    result = getattr(y, name)(1)
    assert control.spent(before)["launches"] == 1
    before = control.counts()
    result.backward(g)
    spent = control.spent(before)
    assert spent["launches"] == 1
    assert not spent.get("synchronizations") and not spent.get("copies_out")
