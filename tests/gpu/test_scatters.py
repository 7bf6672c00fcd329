"""Writes by index on a GPU: values against the CPU, by sorting and by looking through the index."""

import numpy as np
import pytest
from emulator import control
from indexed import no_host, places  # noqa: F401 - a fixture
from reducing import COMPLEX, FLOATS, INTS, bits, close, numbers, same, wide

import autograd_cy as torch
from autograd_cy._C import cuda_scatter
from autograd_cy.nn import functional as F

pytestmark = pytest.mark.usefixtures("no_host", "way")
EXACT = ("bool", *INTS)
DTYPES = (*EXACT, *FLOATS, *COMPLEX)
dtypes = pytest.mark.parametrize("dtype", DTYPES)
# Lengths around chunks and what one block sorts.
LENGTHS = (0, 1, 7, 8, 9, 33, 300)
REDUCE = ("sum", "prod", "mean", "amax", "amin")


@pytest.fixture(params=["sorted", "short"])
def way(request):
    """How scatters along a dimension are done."""
    before = cuda_scatter._look_through(*((0, 0) if request.param == "sorted" else (1 << 40,) * 2))
    yield request.param
    cuda_scatter._look_through(*before)


def wider(x):
    """The dtype of the reference: float64, or the dtype itself where it is exact."""
    if x.is_complex():
        return x.to(torch.complex128)
    return x.double() if x.is_floating_point() else x


def check(call, tensors, others, dtype, scale=None):
    """
    Compare with the CPU's call on float64; `others` are arguments that have no dtype.

    `scale` is the call on absolute values, which says how large rounding errors may be.
    """
    found = call(*(t.to("cuda") for t in tensors), *(t.to("cuda") for t in others))
    expected = call(*map(wider, tensors), *others)
    assert found.dtype == tensors[0].dtype
    if dtype in EXACT:
        np.testing.assert_array_equal(wide(found), wide(expected))
        return
    sizes = scale or (lambda *t: t[0])
    size = np.abs(wide(sizes(*(wider(t).abs() for t in tensors), *others)))
    close(found, wide(expected), size + 1e-3, dtype, error=4)


@dtypes
@pytest.mark.parametrize("dim", [0, 1])
def test_index_add(dtype, dim):
    for n in LENGTHS:
        x = numbers((9, 11), dtype)
        source = numbers((n, 11) if dim == 0 else (9, n), dtype, 1)
        index = places(n, x.shape[dim], n)
        call = lambda x, s, i: x.index_add(dim, i, s)  # noqa: E731
        check(call, (x, source), (index,), dtype, call)
        check(call, (x.t().contiguous().t(), source), (index.int(),), dtype, call)


@dtypes
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatter_add(dtype, dim):
    x = numbers((5, 6, 7), dtype)

    def dense(x, s, i):
        return x.scatter_add(dim, i, s)

    def turned(x, s, i):
        return dense(x.permute(2, 0, 1).contiguous().permute(1, 2, 0), s, i)

    def repeated(x, s, i):  # the index repeats itself along the other dimensions
        first = i[tuple(slice(None) if d == dim else slice(0, 1) for d in range(3))]
        return dense(x, s, first.expand(*i.shape))

    for length in (1, 4, 90):
        shape = [length if d == dim else n - 1 for d, n in enumerate(x.shape)]
        source, index = numbers(shape, dtype, 1), places(shape, x.shape[dim])
        for call in (dense, turned, repeated):
            check(call, (x, source), (index,), dtype, call)


@dtypes
@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("include", [True, False])
def test_reductions_at_indices(dtype, reduce, include):
    if dtype in COMPLEX and reduce in ("amax", "amin"):
        return
    for n in (3, 70):
        x, source = numbers((6, 8), dtype), numbers((6, n), dtype, 1)
        if reduce == "prod" and dtype not in EXACT:  # factors of absolute value 1
            x, source = (t / t.abs() for t in (x, source))
        index = places((6, n), 8)

        def along(x, s, i):
            return x.scatter_reduce(1, i, s, reduce, include_self=include)

        def rows(x, s, i):
            return x.index_reduce(1, i[0], s, reduce, include_self=include)

        check(along, (x, source), (index,), dtype, lambda x, s, i: x.scatter_add(1, i, s) + 1)
        if reduce != "sum" and dtype not in ("bool", *COMPLEX):
            sizes = lambda x, s, i: x.index_add(1, i[0], s) + 1  # noqa: E731
            check(rows, (x, source), (index,), dtype, sizes)


@dtypes
def test_the_last_one_of_several_stays(dtype):
    for n in LENGTHS:
        x, source, index = numbers((9, 11), dtype), numbers((9, n), dtype, 1), places((9, n), 11)
        same(x.to("cuda").scatter(1, index.to("cuda"), source.to("cuda")),
             x.scatter(1, index, source))  # fmt: skip
        rows = places(n, 9, n)
        values = numbers((n, 11), dtype, 2)
        same(x.to("cuda").index_put((rows.to("cuda"),), values.to("cuda")),
             x.index_put((rows,), values))  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("given", ["i", "ij", "ijk", " j", "i k", "  k", " jk"])
def test_index_put(dtype, add, given):
    """`given` are the index tensors of each dimension; a blank is none."""

    def at(tensors):
        tensors = list(tensors)
        return tuple(None if name == " " else tensors.pop(0) for name in given)

    def dense(x, v, *tensors):
        return x.index_put(at(tensors), v, add)

    def turned(x, v, *tensors):
        return dense(x.permute(0, 2, 1).contiguous().permute(0, 2, 1), v, *tensors)

    x = numbers((5, 6, 8), dtype)
    for n in (1, 9, 500):
        tensors = [
            places(n, x.shape[d], d, low=-x.shape[d]) for d, name in enumerate(given) if name != " "
        ]
        shape = x[tuple(slice(None) if t is None else t for t in at(tensors))].shape
        for values in (numbers(shape, dtype, 4), numbers(shape[-1:], dtype, 5)):
            for call in (dense, turned):
                check(call, (x, values), tensors, dtype, call)


def test_assignment_through_masks():
    x = numbers((40, 50), "float32")
    mask, values = x > 0.3, numbers(2000, "float32", 1)
    count = int(mask.sum())
    found, expected = x.to("cuda"), x.clone()
    for t, m, v in ((found, mask.to("cuda"), values.to("cuda")), (expected, mask, values)):
        t[m] = v[:count]
        t[m] += t[m] * 2
        t[m[:, 0]] = v[:50]
        t[:, m[0]] = 7
        t[m & (t > 1)] = 1
        t.index_put_((m,), v[:1].expand(int((m).sum())), True)
    same(found, expected)


def test_more_dimensions_than_a_launch_takes():
    x = torch.arange(2**10).reshape([2] * 10)
    j = torch.tensor([0, 1, -1])
    order = (9, 0, 7, 1, 5, 2, 3, 8, 4, 6)
    found, expected = x.to("cuda").permute(order), x.clone().permute(order)
    for t, i in ((found, j.to("cuda")), (expected, j)):
        t[(i,) * 10] = i
        t[:, i, :, i] = 1
        t.index_put_((i,) * 9, i[:1], True)
        t.scatter_add_(3, t % 2, t.flip(0))
        t.scatter_(4, t % 2, t.flip(1))
        t[i, :, i, :, i, :, i, :, i, :] = 5
    same(found, expected)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("scale", [False, True])
def test_gradients_of_embeddings(dtype, padding, scale):
    if dtype == "complex64" and scale:
        return
    for shape in ((), (4,), (3, 50), (700,)):
        index = places(shape, 9)
        table, g = numbers((9, 5), dtype), numbers((*shape, 5), dtype, 1)
        h = numbers((9, 5), dtype, 2)
        found = []
        for device in ("cuda", "cpu"):
            leaf = (table if device == "cuda" else wider(table)).to(device).requires_grad_()
            grad = (g if device == "cuda" else wider(g)).to(device).requires_grad_()
            result = F.embedding(
                index.to(device), leaf, padding_idx=padding, scale_grad_by_freq=scale
            )
            (first,) = torch.autograd.grad(result, leaf, grad, create_graph=True)
            (second,) = torch.autograd.grad(first, grad, h.to(device).to(first.dtype))
            found.append((first, second))
        times = 1 + max(index.numel() / 4, 1)
        for a, b in zip(*found, strict=True):
            close(a, wide(b), times, dtype, error=2)


def test_tensors_without_dimensions():
    zero, five = torch.tensor(0), torch.tensor(5.0)
    for call in (
        lambda x, i, s: x.scatter(0, i, s),
        lambda x, i, s: x.scatter_add(0, i, s),
        lambda x, i, s: x.scatter_add(0, i[None], s[None]),
        lambda x, i, s: x.index_add(0, i, s),
        lambda x, i, s: x.scatter_reduce(0, i, s, "mean"),
        lambda x, i, s: x.gather(0, i),
        lambda x, i, s: x.index_select(0, i),
    ):
        found = call(*(t.to("cuda") for t in (five + 1, zero, five)))
        same(found, call(five + 1, zero, five))


@dtypes
def test_a_number_as_index_of_a_vector(dtype):
    """An index without dimensions stands for one place of a vector."""
    x, index = numbers((6,), dtype), torch.tensor(4)
    one = numbers((), dtype, 1)
    for call in (
        lambda x, i, s: x.scatter(0, i, s),
        lambda x, i, s: x.scatter_add(-1, i, s),
        lambda x, i, s: x.scatter_add(0, i, s[None]),
        lambda x, i, s: x.index_add(0, i, s[None]),
        lambda x, i, s: x.index_copy(0, i, s),
        *(
            lambda x, i, s, how=how, own=own: x.scatter_reduce(0, i, s, how, include_self=own)
            for how in REDUCE
            for own in (True, False)
            if not x.is_complex() and x.dtype != torch.bool
        ),
    ):
        found = call(*(t.to("cuda") for t in (x, index, one)))
        same(found, call(x, index, one))


def test_the_gradient_of_one_gathered_element():
    x = numbers((6,), "float64").to("cuda").requires_grad_()
    x.gather(0, torch.tensor(4, device="cuda")).mul(3).backward()
    assert x.grad.tolist() == [0, 0, 0, 0, 3, 0]


def test_runs_of_one_key_are_joined_over_many_chunks():
    n = 20_000
    source = numbers(n, "float32")
    index = torch.zeros(n, dtype=torch.int64)
    index[5000:5003] = 1
    for columns in (1, 3, 70):
        rows = source[:, None].expand(n, columns)
        found = torch.zeros(3, columns, device="cuda").index_put(
            (index.to("cuda"),), rows.to("cuda"), True
        )
        expected = np.zeros((3, columns))
        np.add.at(expected, index.numpy(), wide(rows))
        close(found, expected, float(source.abs().sum()), "float32", error=0.1)


def test_the_same_bits_in_any_order_of_threads():
    x, source = numbers((20, 30), "float32").to("cuda"), numbers((20, 900), "float32", 1).to("cuda")
    index = places((20, 900), 30).to("cuda")
    flat = places(9000, 20).to("cuda")
    rows = numbers((9000, 3), "float32", 2).to("cuda")

    def results():
        return [
            bits(t)
            for t in (
                x.scatter_add(1, index, source),
                x.scatter_reduce(1, index, source, "mean"),
                x.scatter(1, index, source),
                x[:, :3].clone().index_put((flat,), rows, True),
            )
        ]

    first = results()
    for seed in range(2):
        with control.ordered("random", seed):
            assert results() == first


@pytest.mark.parametrize("bad", [9, -1, 2**40])
def test_indices_outside_are_left_out_and_raised(bad, way):
    x = numbers((5, 4), "float32").to("cuda")
    index = torch.tensor([[bad, 1, 0, 4]], device="cuda")
    text = f"index {bad} is out of bounds for dimension 0 with size 5"
    for call, kind in (
        (lambda: x.scatter(0, index, x[:1] * 0), RuntimeError),
        (lambda: x.scatter_add(0, index, x[:1]), RuntimeError),
        (lambda: x.index_add(0, index[0], x[:4]), RuntimeError),
        (lambda: x.index_copy(0, index[0], x[:4]), IndexError),
        (lambda: x.index_put((index[0] - 10 * (bad < 0),), x[:4]), IndexError),
    ):
        result = call()
        with pytest.raises(kind, match=f"{text}|index -11 "):
            torch.cuda.synchronize()
        assert result.shape == x.shape and result.isfinite().all().item()
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_reduce(0, index[0], x[:4], "prod").cpu()


@pytest.mark.parametrize("bad", [9, -1])
@pytest.mark.parametrize("dim", [0, 1])
def test_indices_outside_are_raised_where_nothing_is_written(bad, dim):
    shape = (5, 0) if dim == 0 else (0, 5)
    index = torch.tensor([1, bad])
    for call in (
        lambda x, i: x.index_add(dim, i, x.narrow(dim, 0, 2)),
        lambda x, i: x.index_copy(dim, i, x.narrow(dim, 0, 2)),
        lambda x, i: x.index_reduce(dim, i, x.narrow(dim, 0, 2), "amax"),
        lambda x, i: x.index_select(dim, i),
    ):
        errors = []
        for device in ("cpu", "cuda"):
            with pytest.raises((IndexError, RuntimeError)) as caught:
                call(torch.ones(shape, device=device), index.to(device)).cpu()
            errors.append((caught.type, str(caught.value).partition("\n")[0]))
        assert errors[0] == errors[1]


@pytest.mark.cached
def test_nothing_waits_or_is_allocated():
    x, source = numbers((50, 60), "float32").to("cuda"), numbers((50, 90), "float32", 1).to("cuda")
    index = places((50, 90), 60).to("cuda")
    rows = places(90, 50).to("cuda")
    table = x.clone().requires_grad_()
    calls = [
        lambda: x.scatter_add(1, index, source),
        lambda: x.index_put((rows,), x[rows], True),
        lambda: x.index_put((rows,), x[rows]),
        lambda: F.embedding(rows, table).backward(x[rows]),
        lambda: x.gather(1, index % 60),
    ]
    for call in calls:
        call()
        call()
        before = control.counts()
        call()
        spent = control.spent(before)
        assert not set(spent) & {"copies_in", "copies_out", "synchronizations", "allocations"}, (
            spent
        )


def test_other_memory_formats_and_out():
    x, source = numbers((6, 7), "float64"), numbers((6, 9), "float64", 1)
    index = places((6, 9), 7)
    out = torch.empty(7, 6, dtype=torch.float64, device="cuda").t()
    torch.scatter_add(x.to("cuda"), 1, index.to("cuda"), source.to("cuda"), out=out)
    close(out, wide(x.scatter_add(1, index, source)), 10, "float64")
    y = x.to("cuda").t()
    y.index_add_(0, index[0, :6].to("cuda"), source.t()[:6].to("cuda"))
    close(y, wide(x.t().index_add(0, index[0, :6], source.t()[:6])), 10, "float64")
