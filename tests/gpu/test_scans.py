"""Scans on a GPU: running sums, products, extremes, logarithms of sums, recurrences."""

import numpy as np
import pytest
from emulator import control
from reducing import ALL, COMPLEX, FLOATS, HALVES, INTS, bits, close, numbers, same, wide

import autograd_cy as torch

# name: (shape of the memory, view of it, dimension)
LAYOUTS = {
    "row": ((9,), lambda x: x, 0),
    "rows": ((7, 33), lambda x: x, 1),
    "rows of packs": ((5, 64), lambda x: x, -1),
    "short rows": ((300, 3), lambda x: x, 1),
    "a warp has a row": ((5, 240), lambda x: x, 1),
    "a block has a row": ((2, 2047), lambda x: x, 1),
    "steps of a block": ((2, 4100), lambda x: x, 1),
    "parts": ((40_001,), lambda x: x, 0),
    "parts of packs": ((2, 49_152), lambda x: x, 1),
    "columns": ((33, 7), lambda x: x, 0),
    "long columns": ((1201, 3), lambda x: x, 0),
    "parts of columns": ((9000, 5), lambda x: x, 0),
    "wide columns": ((5, 300), lambda x: x, 0),
    "middle": ((4, 9, 6), lambda x: x, 1),
    "transposed": ((20, 30), lambda x: x.t(), 1),
    "gaps": ((9, 40), lambda x: x[:, ::2], 1),
    "one element": ((), lambda x: x, 0),
    "of size 1": ((6, 1), lambda x: x, 1),
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)
SCANS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")


def both(layout, dtype, **more):
    shape, view, dim = LAYOUTS[layout]
    x = numbers(shape, dtype, **more)
    return view(x), view(x.to("cuda")), dim


def along(function, x, dim):
    return function(x, dim) if x.ndim else x


@layouts
@pytest.mark.parametrize("dtype", ALL)
def test_sums(layout, dtype):
    x, y, dim = both(layout, dtype)
    result = y.cumsum(dim)
    if dtype in ("bool", *INTS):
        same(result, x.cumsum(dim))
        return
    assert result.dtype == x.dtype
    expected = along(np.cumsum, wide(x), dim)
    size = along(np.cumsum, np.abs(wide(x)), dim)
    # What is added in float32 is added by a tree.
    close(result, expected, size, dtype, error=4)


@layouts
@pytest.mark.parametrize("dtype", ALL)
def test_products(layout, dtype):
    x, y, dim = both(layout, dtype, low=0.9, high=1.1)
    if dtype in COMPLEX:
        x, y = x / 1.4, y / 1.4
    if dtype in ("bool", *INTS):
        same(y.cumprod(dim), x.cumprod(dim))
        return
    expected = along(np.cumprod, wide(x), dim)
    n = x.shape[dim] if x.ndim else 1
    with np.errstate(all="ignore"):
        expected = wide(torch.tensor(expected).to(x.dtype))
    error = 4 if dtype != "float64" and dtype != "complex128" else 4 + n
    close(y.cumprod(dim), expected, np.abs(expected), dtype, error)


@layouts
@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_extremes(layout, dtype, name):
    x, y, dim = both(layout, dtype, seed=4)
    if dtype in FLOATS:
        x, y = (2 * x).round(), (2 * y).round()
    for found, expected in zip(getattr(y, name)(dim), getattr(x, name)(dim), strict=True):
        same(found, expected)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [7, 100, 3000, 30_000])
def test_extremes_of_nan_and_infinities(name, dtype, n):
    x = numbers((n,), dtype, 1)
    for start in range(2):
        x[start] = float("-inf")
        x[n // 2 + start] = float("inf")
        x[-2 + start] = float("nan")
        for found, expected in zip(
            getattr(x.to("cuda"), name)(0), getattr(x, name)(0), strict=True
        ):
            same(found, expected)


@layouts
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_logarithms(layout, dtype):
    x, y, dim = both(layout, dtype, low=-3, high=3)
    result = y.logcumsumexp(dim)
    if dtype in COMPLEX:
        expected = along(np.cumsum, np.exp(wide(x)), dim)
        np.testing.assert_allclose(
            np.exp(wide(result)), expected, rtol=1e-4 if dtype == "complex64" else 1e-11,
            atol=1e-4 if dtype == "complex64" else 1e-11,
        )  # fmt: skip
        return
    expected = along(np.logaddexp.accumulate, wide(x), dim)
    close(result, expected, 1, dtype, error=10 if dtype == "float64" else 2)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("n", [5, 200, 20_000])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_infinite_and_nan(dtype, n, name):
    if name == "cumprod" and (n > 1000 or dtype in COMPLEX):
        pytest.skip("0 times infinity depends on the order")
    inf = float("inf")
    cases = [
        [(0, -inf)],
        [(0, -inf), (1, -inf)],
        [(2, inf)],
        [(2, inf), (4, -inf)],
        [(2, float("nan"))],
        [(2, 0.0), (n - 1, inf)],
        [(0, inf), (n - 1, inf)],
    ]
    for places in cases:
        x = numbers((n,), dtype, 1, low=-1, high=1)
        for place, value in places:
            x[place] = value
        found, expected = (wide(getattr(t, name)(0)) for t in (x.to("cuda"), x))
        with np.errstate(all="ignore"):
            assert (np.isnan(found) == np.isnan(expected)).all(), (places, found, expected)
            assert (np.isinf(found) == np.isinf(expected)).all(), (places, found, expected)


@layouts
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("name", SCANS)
def test_gradients(layout, dtype, name):
    if name in ("cummax", "cummin") and dtype in COMPLEX:
        pytest.skip("complex numbers have no order")
    if "parts" in layout and name in ("cummax", "cummin"):
        pytest.skip("is a scatter")
    if name == "cumprod" and dtype in HALVES:
        pytest.skip("is the gradient in float32")
    if name == "cumprod" and dtype in COMPLEX and ("parts" in layout or "block" in layout):
        pytest.skip("is very large")
    shape, view, dim = LAYOUTS[layout]
    low, high = (0.97, 1.02) if name == "cumprod" else (-2, 2)
    x, g = numbers(shape, dtype, 1, low=low, high=high), numbers(shape, dtype, 2)
    if name == "cumprod" and dtype in COMPLEX:
        x = x / 1.4
    found = []
    for device, to in (("cuda", x.dtype), ("cpu", None)):
        if to is None:
            to = torch.complex128 if x.is_complex() else torch.float64
            if dtype in HALVES:
                to = x.dtype
        leaf = view(x.to(device)).to(to).detach().requires_grad_()
        result = getattr(torch, name)(leaf, dim)
        (result if name[-3:] not in ("max", "min") else result.values).backward(
            view(g.to(device)).to(to)
        )
        found.append(leaf.grad)
    n = view(x).shape[dim] if x.ndim else 1
    size = 2 * n**0.5 + 2 if dtype not in ("float64", "complex128") else n
    if name == "cumprod":
        size = 40 * n if n < 3000 else 40 * n * np.abs(wide(found[1])).max()
    close(found[0], wide(found[1]), size, dtype, error=8)


def test_tangents_of_logarithms():
    for dtype in (torch.float32, torch.float64, torch.complex64):
        for shape, dim in (((4, 70), 1), ((300, 3), 0), ((20_000,), 0)):
            x, t = (torch.randn(shape, dtype=dtype) for _ in range(2))
            with torch.autograd.forward_ad.dual_level():
                found, expected = (
                    torch.autograd.forward_ad.unpack_dual(
                        torch.autograd.forward_ad.make_dual(x.to(d), t.to(d)).logcumsumexp(dim)
                    ).tangent.cpu()
                    for d in ("cuda", "cpu")
                )
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", SCANS)
def test_the_same_bits_in_any_order_of_threads(name):
    for shape in ((3, 9000), (9000, 3), (50, 60)):
        y = numbers(shape, "float32").to("cuda")

        def run(y=y):
            return [getattr(y, name)(dim) for dim in (0, 1)]

        def all_bits(results):
            return [bits(t) for r in results for t in (r if isinstance(r, tuple) else (r,))]

        first = all_bits(run())
        for seed in range(2):
            with control.ordered("random", seed):
                assert all_bits(run()) == first


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_of_nothing(name, shape):
    x = torch.empty(shape, device="cuda")
    result = getattr(x, name)(1)
    assert (result if isinstance(result, torch.Tensor) else result[0]).shape == shape


def test_dtype_out_and_in_place():
    x = numbers((5, 40), "float32")
    y = x.to("cuda")
    close(y.cumsum(1, dtype=torch.float64), wide(x.cumsum(1, dtype=torch.float64)), 1, "float32")
    same(numbers((9,), "int32").to("cuda").cumsum(0, dtype=torch.int8),
         numbers((9,), "int32").cumsum(0, dtype=torch.int8))  # fmt: skip
    out = torch.zeros(40, 5, device="cuda").t()
    torch.cumsum(y, 1, out=out)
    close(out, wide(x.cumsum(1)), 10, "float32")
    for view in (lambda t: t, lambda t: t[:, 3:], lambda t: t.t()):
        a, b = x.clone(), y.clone()
        view(a).cumsum_(0)
        view(b).cumsum_(0)
        close(b, wide(a), 10, "float32")


def test_negative_zeros():
    x = torch.tensor([-0.0, -0.0, 0.0, -0.0], device="cuda")
    assert torch.signbit(x.cumsum(0)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("name", SCANS)
def test_nothing_is_copied_and_nothing_waits(name):
    y = numbers((30, 50), "float32").to("cuda")
    getattr(y, name)(1)
    before = control.counts()
    getattr(y, name)(1)
    spent = control.spent(before)
    assert spent.get("launches") == 1, spent
    assert not spent.get("copies_out") and not spent.get("synchronizations"), spent
