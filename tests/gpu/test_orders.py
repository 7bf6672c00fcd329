"""Sorting, the largest elements, unique elements and counts on a GPU, as on the CPU."""

import numpy as np
import pytest
from emulator import control
from reducing import FLOATS, INTS, bits, numbers, same

import autograd_cy as torch

UNSIGNED = ("uint16", "uint32", "uint64")
REAL = ("bool", *INTS, *UNSIGNED, *FLOATS)

# name: (shape of the memory, view of it, dimension)
LAYOUTS = {
    "row": ((9,), lambda x: x, 0),
    "tiny rows": ((700, 3), lambda x: x, 1),
    "rows": ((7, 33), lambda x: x, -1),
    "rows of one block": ((3, 2048), lambda x: x, 1),
    "a long row": ((3000,), lambda x: x, 0),
    "long rows": ((2, 2049), lambda x: x, 1),
    "columns": ((33, 7), lambda x: x, 0),
    "long columns": ((2100, 2), lambda x: x, 0),
    "middle": ((4, 9, 6), lambda x: x, 1),
    "transposed": ((20, 30), lambda x: x.t(), 1),
    "gaps": ((9, 40), lambda x: x[:, ::2], 1),
    "one element": ((), lambda x: x, 0),
    "of size 1": ((6, 1), lambda x: x, 1),
}
layouts = pytest.mark.parametrize("layout", LAYOUTS)
dtypes = pytest.mark.parametrize("dtype", REAL)


def some(shape, dtype, seed=0):
    """Numbers with repetitions; NaN of both signs, zeros of both signs and infinities of floats."""
    if dtype in UNSIGNED:
        random = np.random.default_rng(seed)
        return torch.tensor(random.integers(0, 2**15, shape) * 2 % 997).to(getattr(torch, dtype))
    x = numbers(shape, dtype, seed)
    if dtype in FLOATS and x.numel() > 8:
        x = (4 * x).round() / 4
        flat = x.view(-1)
        for i, value in enumerate(("nan", "-inf", "inf", "-0.0", "0.0", "nan")):
            flat[i::11] = float(value)
        flat[5::11] = -flat[5::11]
    return x


def both(layout, dtype):
    if "long" in layout and dtype not in ("int8", "bfloat16", "float32", "int64"):
        pytest.skip("the sort of pairs is tested by itself")
    shape, view, dim = LAYOUTS[layout]
    x = some(shape, dtype)
    return view(x), view(x.to("cuda")), dim


def all_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        same(one, other)


@layouts
@dtypes
@pytest.mark.parametrize("descending", [False, True])
def test_sort(layout, dtype, descending):
    x, y, dim = both(layout, dtype)
    found = y.sort(dim, descending=descending)
    all_same(found, x.sort(dim, descending=descending))
    same(y.argsort(dim, descending), x.argsort(dim, descending))


@layouts
@pytest.mark.parametrize("dim", [0, -1])
def test_sorted_elements_lie_as_the_operand(layout, dim):
    x, y, _ = both(layout, "float32")
    dense = y.stride() == x.stride()  # elsewhere the copy to the GPU has closed gaps
    for one, other in zip((*y.sort(dim), y.argsort(dim)), (*x.sort(dim), x.argsort(dim))):
        assert not dense or one.stride() == other.stride()
        same(one, other)


@layouts
@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
@pytest.mark.parametrize("largest", [False, True])
def test_topk(layout, dtype, largest):
    x, y, dim = both(layout, dtype)
    size = x.shape[dim] if x.ndim else 1
    for k in sorted({0, 1, min(3, size), size // 2, size}):
        all_same(y.topk(k, dim, largest), x.topk(k, dim, largest))


@layouts
@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
def test_kthvalue(layout, dtype):
    x, y, dim = both(layout, dtype)
    size = x.shape[dim] if x.ndim else 1
    for k in sorted({1, (size + 1) // 2, size}):
        for keepdim in (False, True):
            all_same(y.kthvalue(k, dim, keepdim), x.kthvalue(k, dim, keepdim))


def test_zeros_keep_their_signs():
    x = torch.tensor([0.0, -0.0, 1.0, -0.0, 0.0])
    for n in (1, 1000):
        a = x.repeat(n)
        assert bits(a.to("cuda").sort().values) == bits(a.sort().values)


def test_gradients_and_out():
    x = some((6, 50), "float64").nan_to_num(0.0, 9.0, -9.0)
    found = []
    for device in ("cuda", "cpu"):
        leaf = x.to(device).clone().requires_grad_()
        (leaf.sort(0).values * leaf.topk(50, 1).values).sum().backward()
        found.append(leaf.grad)
    same(found[0], found[1])
    values = torch.empty(50, 6, dtype=torch.float64, device="cuda").t()
    index = torch.empty(50, 6, dtype=torch.int64, device="cuda").t()
    torch.sort(x.to("cuda"), 1, out=(values, index))
    all_same((values, index), x.sort(1))
    y = x.to("cuda")
    torch.sort(y, 1, out=(y, index))
    same(y, x.sort(1).values)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_of_nothing(shape):
    x = torch.empty(shape, device="cuda")
    assert x.sort(1).values.shape == shape
    assert x.topk(0, 1).values.shape == (shape[0], 0)
    assert torch.unique(x).shape == (0,)


def test_the_same_in_any_order_of_threads():
    y = some((3, 3000), "float32").to("cuda")

    def run():
        return [bits(t) for dim in (0, 1) for t in y.sort(dim)] + [
            bits(t) for t in torch.unique(y, return_inverse=True, return_counts=True)
        ]

    first = run()
    for seed in range(2):
        with control.ordered("random", seed):
            assert run() == first


def test_rows_take_one_launch_and_nothing_waits():
    y = some((30, 50), "float32").to("cuda")
    z = some((2, 5000), "float32").to("cuda")
    y.sort(1), z.sort(1)
    before = control.counts()
    y.sort(1)
    assert control.spent(before)["launches"] == 1
    z.sort(1), z.topk(5), z.kthvalue(5)
    spent = control.spent(before)
    assert not spent.get("copies_out") and not spent.get("synchronizations"), spent


# --- unique elements ---------------------------------------------------------------------------

OPTIONS = [{"return_inverse": a, "return_counts": b} for a in (False, True) for b in (False, True)]


def tuple_of(result):
    return result if isinstance(result, tuple) else (result,)


@dtypes
@pytest.mark.parametrize("shape", [(), (1,), (50,), (7, 9), (3001,)])
def test_unique(dtype, shape):
    if dtype in UNSIGNED:
        pytest.skip("the CPU has its own")
    x = some(shape, dtype)
    for options in OPTIONS:
        all_same(
            tuple_of(torch.unique(x.to("cuda"), **options)), tuple_of(torch.unique(x, **options))
        )
        all_same(
            tuple_of(torch.unique_consecutive(x.to("cuda"), **options)),
            tuple_of(torch.unique_consecutive(x, **options)),
        )


@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((5,), 0), ((60, 3), 0), ((60, 19), 0), ((4, 50), 1), ((3, 40, 2), 1), ((0, 3), 0)],
)
def test_unique_slices(dtype, shape, dim):
    x = some(shape, dtype) > 0 if dtype == "bool" else some(shape, dtype)
    if x.ndim and x.shape[dim] > 8 and dtype not in ("bool",):
        half = x.shape[dim] // 2
        x.narrow(dim, half, half).copy_(x.narrow(dim, 0, half).clone())
    for options in OPTIONS:
        options = {**options, "dim": dim}
        all_same(
            tuple_of(torch.unique(x.to("cuda"), **options)), tuple_of(torch.unique(x, **options))
        )
        all_same(
            tuple_of(torch.unique_consecutive(x.to("cuda"), **options)),
            tuple_of(torch.unique_consecutive(x, **options)),
        )


def test_unique_waits_once():
    y = some((1000,), "float32").to("cuda")
    torch.unique(y, return_inverse=True)
    before = control.counts()
    torch.unique(y, return_inverse=True)
    assert control.spent(before)["copies_out"] == 1


# --- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("n", [0, 1, 300, 5000])
def test_bincount(dtype, n):
    x = numbers((n,), dtype).abs()
    for minlength in (0, 4, 40):
        same(torch.bincount(x.to("cuda"), minlength=minlength), x.bincount(minlength=minlength))
    w = torch.linspace(0, 1, n, dtype=torch.float64)
    found = torch.bincount(x.to("cuda"), w.to("cuda"))
    torch.testing.assert_close(found.cpu(), torch.bincount(x, w))


def test_many_bins():
    x = torch.tensor(np.random.default_rng(1).integers(0, 5000, 9000))
    same(torch.bincount(x.to("cuda")), x.bincount())


@pytest.mark.parametrize("n", [0, 1, 30, 3000])
def test_repeat_interleave(n):
    k = torch.tensor(np.random.default_rng(2).integers(0, 5, n))
    same(torch.repeat_interleave(k.to("cuda")), torch.repeat_interleave(k))
    x = numbers((n, 3), "float32")
    same(x.to("cuda").repeat_interleave(k.to("cuda"), 0), x.repeat_interleave(k, 0))
    total = int(k.sum())
    same(
        torch.repeat_interleave(k.to("cuda"), output_size=total),
        torch.repeat_interleave(k, output_size=total),
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.bincount(torch.tensor([1, -2, 3], device=d)),
        lambda d: torch.bincount(torch.tensor([1, 2**63 - 1], device=d)),
        lambda d: torch.repeat_interleave(torch.tensor([1, -2], device=d)),
        lambda d: torch.repeat_interleave(torch.tensor([2**62, 2**62], device=d)),
        lambda d: torch.repeat_interleave(torch.tensor([1, 2], device=d), output_size=5),
    ],
)
def test_errors_are_those_of_the_cpu(call):
    said = []
    for device in ("cuda", "cpu"):
        with pytest.raises(RuntimeError) as error:
            call(device)
        said.append(str(error.value))
    assert said[0] == said[1]
