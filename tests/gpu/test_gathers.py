"""Reads by index, joins, padding and triangles on a GPU, bit by bit as on the CPU."""

import numpy as np
import pytest
from emulator import control
from indexed import LAYOUTS, agree, no_host, pair, places  # noqa: F401 - a fixture
from reducing import ALL, FLOATS, bits, close, numbers, same, wide

import autograd_cy as torch
from autograd_cy.nn import functional as F

pytestmark = pytest.mark.usefixtures("no_host")
layouts = pytest.mark.parametrize("layout", LAYOUTS)
MOVED = ("bool", "int16", "float32", "float64", "complex128")  # one of each size
dtypes = pytest.mark.parametrize("dtype", MOVED)


# --- index tensors -----------------------------------------------------------------------------


@layouts
@dtypes
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_select(layout, dtype, dim):
    x, y = pair(layout, dtype)
    for n, kind in ((1, "int64"), (257, "int32"), (0, "int64")):
        index = places(n, x.shape[dim], n, dtype=kind)
        same(y.index_select(dim, index.to("cuda")), x.index_select(dim, index))
    index = places(20, x.shape[dim])
    same(y.index_select(dim, index.to("cuda")[::2]), x.index_select(dim, index[::2]))


@layouts
@dtypes
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather(layout, dtype, dim):
    x, y = pair(layout, dtype)
    for length, kind in ((1, "int64"), (40, "int32")):
        shape = [length if d == dim else max(n - 1, 1) for d, n in enumerate(x.shape)]
        index = places(shape, x.shape[dim], dtype=kind)
        same(y.gather(dim, index.to("cuda")), x.gather(dim, index))
    for other in range(3):  # bytes that lie side by side, each with an index of its own
        shape = [2 * n if d == dim else n for d, n in enumerate(x.shape)]
        index = places(shape, x.shape[dim], other)
        same(y.gather(dim, index.to("cuda")), x.gather(dim, index))
    one = places((x.shape[0], 1, 1), x.shape[0])
    same(y.gather(0, one.to("cuda").expand(*y.shape)), x.gather(0, one.expand(*x.shape)))


@layouts
@dtypes
def test_several_index_tensors(layout, dtype):
    x, y = pair(layout, dtype)
    i, j, k = (places((5, 1), n, d, low=-n) for d, n in enumerate(x.shape))
    j = j.int().t()
    for index in (
        (i,), (i, j), (i, j, k), (slice(None), j), (i, slice(None), k), (slice(None), j, k),
        (Ellipsis, k), (i, None, j), (slice(None), slice(1, None), k), (i[:0],),
    ):  # fmt: skip
        on_device = tuple(t.to("cuda") if isinstance(t, torch.Tensor) else t for t in index)
        same(y[on_device], x[index])
    same(y[i], x[i])  # index tensors may be on the CPU


@layouts
@dtypes
def test_masks_as_indices(layout, dtype):
    x, y = pair(layout, dtype)
    whole = torch.tensor(np.random.default_rng(1).random(x.shape) < 0.4)
    for cut in ((Ellipsis,), (slice(None), 0, 0), (slice(None), slice(None), 0)):
        mask = whole[cut]
        same(y[mask.to("cuda")], x[mask])
    same(y[:, whole[0].to("cuda")], x[:, whole[0]])
    for truth in (True, False):
        mask = torch.tensor(truth)
        same(y[mask.to("cuda")], x[mask])
        same(y[torch.full(y.shape, truth, device="cuda")], x[torch.full(x.shape, truth)])
    agree(lambda x, m: x.masked_select(m), x.contiguous(), whole)


@pytest.mark.parametrize("n", [1, 7, 8, 2047, 2048, 2049, 70_001])
def test_nonzero_around_tiles(n):
    x = numbers(n, "bool", n)
    agree(torch.nonzero, x)
    agree(lambda t: torch.argwhere(t.int()), x)
    if n % 7 == 0:
        agree(torch.nonzero, x.reshape(7, n // 7))


def test_more_indices_and_dimensions_than_a_launch_takes():
    x = torch.arange(2**10).reshape([2] * 10)
    j = torch.tensor([0, 1, -1])
    for n in (8, 9, 10):
        agree(lambda x, j, n=n: x[(j,) * n], x, j)
    order = (9, 0, 7, 1, 5, 2, 3, 8, 4, 6)
    agree(lambda x: x.permute(order).gather(3, x.permute(order) % 2), x)
    agree(lambda x: x.permute(order).flip(0, 3, 9), x)
    bad = (j.to("cuda"),) * 9 + (j.to("cuda") + 5,)
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 9 with size 2"):
        x.to("cuda")[bad].cpu()


@dtypes
def test_embedding(dtype):
    table = numbers((11, 6), dtype)
    for shape in ((), (4,), (2, 0, 3), (5, 7)):
        agree(F.embedding, places(shape, 11), table)
        agree(F.embedding, places(shape, 11).int(), table[:, ::2])
        agree(F.embedding, places(shape, 6), table.t())


# --- joins ---------------------------------------------------------------------------------------


@dtypes
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_cat_and_stack(dtype, dim):
    for shape in ((3, 4, 5), (2, 8, 16)):
        pieces = []
        for seed, length in enumerate((1, 3, 0, 2)):
            sizes = list(shape)
            sizes[dim] = length
            pieces.append(numbers(sizes, dtype, seed))
        turned = numbers(shape[::-1], dtype, 9).permute(2, 1, 0)
        agree(lambda t: torch.cat(t, dim), [*pieces, turned, pieces[1]])
        agree(lambda t: torch.cat(t, dim), [numbers((0,), dtype), *pieces])
        agree(lambda t: torch.stack(t, dim), [numbers(shape, dtype, 5), turned] * 3)


def test_many_pieces_of_several_dtypes_and_formats():
    pieces = [numbers((k % 3 + 1, 4), "float32", k) for k in range(150)]
    agree(torch.cat, pieces)
    agree(lambda t: torch.cat([x.t() for x in t], 1), pieces)
    agree(torch.stack, [p[0, 0] for p in pieces])
    agree(torch.cat, [pieces[0], pieces[1].double(), pieces[2].int()])
    images = [numbers((2, 3, 4, 5), "float32", k) for k in range(2)]
    agree(
        lambda t: torch.cat([x.contiguous(memory_format=torch.channels_last) for x in t], 1),
        images,
    )
    out = torch.empty(5, 4, device="cuda")
    torch.cat([pieces[1].to("cuda"), pieces[2].to("cuda")], out=out)
    same(out, torch.cat([pieces[1], pieces[2]]))


@layouts
@dtypes
def test_flip_roll_repeat_and_triangles(layout, dtype):
    x, y = pair(layout, dtype)
    for dims in ((0,), (2,), (0, 1), (-1, 0), (0, 1, 2), ()):
        same(y.flip(dims), x.flip(dims))
    same(y.roll((1, -2), (0, 2)), x.roll((1, -2), (0, 2)))
    same(y.repeat(2, 1, 3), x.repeat(2, 1, 3))
    for k in (-40, -2, 0, 1, 40, 2**62):
        same(y.tril(k), x.tril(k))
        same(y.triu(-k), x.triu(-k))
    z = y.clone()
    z.tril_(1)
    same(z, x.tril(1))
    same(torch.diag(y[0]), torch.diag(x[0]))
    same(torch.diag(y[0, 0]), torch.diag(x[0, 0]))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", *FLOATS])
def test_ranges(dtype):
    kind = getattr(torch, dtype)
    for args in ((10,), (1, 8, 3), (7, -5, -2), (0,), (300,), (0.0, 1.0, 0.1), (2, 9.5)):
        if (dtype == "uint8" and args[-1] < 0) or (dtype == "int64" and 0 < args[-1] < 1):
            continue
        same(torch.arange(*args, dtype=kind, device="cuda"), torch.arange(*args, dtype=kind))
    same(torch.arange(2**40, 2**40 + 3, device="cuda"), torch.arange(2**40, 2**40 + 3))


def test_a_range_out_of_the_gpu():
    before = control.counts()
    torch.arange(1000, device="cuda")
    spent = control.spent(before)
    assert spent["launches"] == 1 and not spent.get("copies_in")


# --- padding ---------------------------------------------------------------------------------

PADS = [(1, 2), (0, 3), (2, 1, 3, 0), (-1, 2, 0, -2), (1, 1, 2, 2, 3, 1), (-1, -1, 1, 0)]
MODES = ["constant", "reflect", "replicate", "circular"]


def of_rank(pad, mode):
    n = len(pad) // 2
    return (5, 6, 4, 5, 7)[: n + 2] if mode != "constant" else (5, 6, 7)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pad", PADS)
@dtypes
def test_padding(mode, pad, dtype):
    if mode != "constant" and (dtype not in ("float64", "float32", "complex128") or min(pad) < 0):
        return
    x = numbers(of_rank(pad, mode), dtype)
    for view in (lambda t: t, lambda t: t.transpose(0, 1), lambda t: t[:, 1:]):
        agree(lambda t, view=view: F.pad(view(t), pad, mode=mode), x)
    if mode == "constant" and dtype != "bool":
        agree(lambda t: F.pad(t, pad, value=3), x)
        agree(lambda t: F.pad(t.permute(2, 0, 1), pad, value=1), x)


def test_constants_around_many_dimensions():
    x = torch.arange(2**9).reshape([2] * 9).permute(8, 0, 6, 1, 7, 2, 3, 5, 4)
    agree(lambda t: F.pad(t, [1, 0] * 9, value=5), x)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pad", PADS)
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
def test_gradients_of_padding(mode, pad, dtype):
    if mode != "constant" and min(pad) < 0 and mode == "circular":
        return
    x = numbers(of_rank(pad, mode), dtype)
    g = numbers(F.pad(x, pad, mode=mode).shape, dtype, 2)
    found = []
    exact = torch.complex128 if x.is_complex() else torch.float64
    for device, kind in (("cuda", x.dtype), ("cpu", exact)):
        leaf = x.to(device).to(kind).requires_grad_()
        F.pad(leaf, pad, mode=mode).backward(g.to(device).to(kind))
        found.append(leaf.grad)
    close(found[0], wide(found[1]), 4, dtype, error=2)  # up to some tens of numbers are added


def test_a_gradient_of_padding_along_more_dimensions():
    x = numbers((2, 3, 4, 5, 3), "float64")
    pad = (1, 1, 1, 2, 1, 0)
    g = numbers(F.pad(x, pad, mode="replicate").shape, "float64", 1)
    found = []
    for device in ("cuda", "cpu"):
        leaf = x.to(device).requires_grad_()
        F.pad(leaf, pad, mode="replicate").backward(g.to(device))
        found.append(leaf.grad)
    close(found[0], wide(found[1]), 4, "float64")


# --- errors and counts -----------------------------------------------------------------------


@pytest.mark.parametrize("bad", [5, -6, 2**40])
def test_indices_outside_are_raised_at_the_next_synchronisation(bad):
    x = numbers((5, 4), "float32").to("cuda")
    index = torch.tensor([0, bad], device="cuda")
    text = f"index {bad} is out of bounds for dimension 0 with size 5"
    calls = {
        IndexError: [
            lambda: x[index],
            lambda: x[index, index * 0],
            lambda: x[:, :0][index],
            lambda: x.index_select(0, index),
            lambda: x[:, :0].index_select(0, index),
        ],
        RuntimeError: [lambda: x[:, 0].gather(0, index)],
    }
    for kind, made in calls.items():
        for call in made:
            call()
            with pytest.raises(kind, match=text):
                torch.cuda.synchronize()
    F.embedding(index, x)
    with pytest.raises(IndexError, match=r"index out of range in self \(embedding: index"):
        x.cpu()
    same(x[index[:1]], x[index[:1]].cpu())  # nothing is left behind


@pytest.mark.cached
def test_one_launch_each_without_a_copy():
    x = numbers((30, 40), "float32").to("cuda")
    index = places(50, 30).to("cuda")
    square = places((30, 40), 30).to("cuda")
    calls = [
        lambda: x.index_select(0, index), lambda: x[index], lambda: x[index, index],
        lambda: x.gather(0, square), lambda: F.embedding(index, x), lambda: torch.cat([x, x, x], 1),
        lambda: torch.stack([x, x]), lambda: x.flip(0), lambda: x.tril(), lambda: F.pad(x, (1, 2)),
        lambda: F.pad(x[None], (1, 2), mode="reflect"),
    ]  # fmt: skip
    for call in calls:
        call()
        before = control.counts()
        call()
        spent = control.spent(before)
        assert spent.pop("launches") == 1
        assert not set(spent) & {"copies_in", "copies_out", "synchronizations", "allocations"}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_bits_in_any_order_of_threads(seed):
    x = numbers((40, 50), "float32").to("cuda")
    index = places(70, 40).to("cuda")
    mask = x > 0

    def results():
        return [
            bits(t)
            for t in (x[index], x[mask], mask.nonzero(), torch.cat([x, x], 1), F.pad(x, (1, 1)))
        ]

    first = results()
    with control.ordered("random", seed):
        assert results() == first


@pytest.mark.parametrize("dtype", ALL)
def test_all_dtypes(dtype):
    x = numbers((6, 7), dtype)
    agree(lambda x, i: x[i, :3], x, places(9, 6))
    agree(lambda x, i: x.index_select(1, i), x, places(9, 7))
    agree(lambda x: torch.cat([x, x.flip(1)]).tril(), x)
