"""Results whose size the values decide: they are counted by a slot of their own, then filled."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy._C.launch import capture
from ext.codegen import table
from ext.codegen.kernel_runs import is_sized, signature, sizes_signature

RECORDS = [r for records in table.load().values() for r in records if is_sized(r)]
SHARES = {"none": 0.0, "few": 0.02, "half": 0.5, "all": 1.0}
SHAPES = [(), (1,), (0,), (7,), (5000,), (33, 70), (70, 33), (3, 5, 90), (3, 0, 2), (2, 1, 4100)]
DTYPES = ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "complex128"]


def values(t):
    return t.float().numpy() if t.dtype == ag.bfloat16 else t.numpy()


def numbers(shape, dtype, seed=0):
    return ag.tensor(np.random.default_rng(seed).integers(0, 100, shape)).to(getattr(ag, dtype))


def mask_of(shape, share, seed=1):
    return ag.tensor(np.random.default_rng(seed).random(shape) < share)


def raw(mask):
    """A mask whose bytes for True are any but 0."""
    some = np.random.default_rng(2).integers(1, 256, mask.shape, np.uint8)
    return ag.from_numpy(np.asarray(mask.numpy() * some, np.uint8).view(np.bool_))


LAID = {
    "dense": lambda t: t.clone(),
    "turned": lambda t: (
        t.mT.clone(memory_format=ag.contiguous_format).mT if t.ndim > 1 else t.clone()
    ),
    "spread": lambda t: ag.stack([t, t], -1)[..., 0],
}


# --- what is said of it -----------------------------------------------------------------------


def test_there_are_two_slots():
    known = devices.signatures()
    assert {"nonzero", "_index", "_index_put", "_unique2"} <= {r.key for r in RECORDS}
    for r in RECORDS:
        assert known[r.key] == signature(r)
        assert known[f"{r.key}.sizes"] == sizes_signature(r)
    assert known["nonzero.sizes"] == "int (Tensor, Py_ssize_t*, list)"


def test_shape_rules_read_no_values():
    reading = re.compile(r"\.ptr\b|\.mem\.data|\barray_of\b|\bscalar_value\b|\btolist\b|\bnumpy\(")
    for path in (Path(__file__).parents[2] / "ext" / "shape_rules").rglob("*.p[yx][xi]"):
        if path.name == "checks.pxi":  # of numbers, whose values are the host's
            continue
        text = re.sub(r"^from .* cimport (\([^)]*\)|.*)", "", path.read_text(), flags=re.M)
        found = [line for line in text.splitlines() if reading.search(line)]
        assert not found, f"{path.name} reads values: {found}"


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positions_are_those_of_numpy(shape, laid, share):
    for mask in (mask_of(shape, SHARES[share]), raw(mask_of(shape, SHARES[share]))):
        mask = LAID[laid](mask) if laid != "dense" else mask
        expected = np.argwhere(mask.numpy())
        found = mask.nonzero()
        assert found.dtype == ag.int64 and found.is_contiguous()
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(ag.nonzero(mask, out=ag.empty(0).long()).numpy(), expected)
        if shape:
            for one, other in zip(mask.nonzero(as_tuple=True), mask.numpy().nonzero()):
                np.testing.assert_array_equal(one.numpy(), other)
    x = ag.where(mask_of(shape, SHARES[share]), 1.5, 0.0)
    np.testing.assert_array_equal(x.nonzero().numpy(), np.argwhere(x.numpy()))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_select_and_write_as_in_numpy(dtype, laid, share):
    for shape in SHAPES:
        x = LAID[laid](numbers(shape, dtype))
        for mask in (mask_of(shape, SHARES[share]), raw(mask_of(shape, SHARES[share]))):
            at = mask.numpy()
            found = x[mask]
            np.testing.assert_array_equal(values(found), values(x)[at])
            np.testing.assert_array_equal(values(ag.masked_select(x, mask)), values(x)[at])
            room = ag.empty(0, dtype=x.dtype)
            np.testing.assert_array_equal(
                values(ag.masked_select(x, mask, out=room)), values(found)
            )
            for put in (1, ag.tensor(1) if shape else ag.tensor(1).to(x.dtype), found.flip(0)):
                y, expected = LAID[laid](x), values(x).copy()
                y[mask] = put
                expected[at] = 1 if not isinstance(put, ag.Tensor) or put.ndim == 0 else values(put)
                np.testing.assert_array_equal(values(y), expected)
            for into in (LAID[laid](x), None) if shape else ():
                given = (mask,), found, True
                y = x.index_put(*given) if into is None else into.index_put_(*given)
                expected = values(x).copy()
                expected[at] = values(found + found)
                np.testing.assert_array_equal(values(y), expected)
            y = LAID[laid](x)
            y[mask] += y[mask]
            expected = values(x + x) if dtype != "bool" else values(x)
            np.testing.assert_array_equal(values(y), np.where(at, expected, values(x)))


PLACES = {
    "rows": lambda m: (m(6),),
    "two of three": lambda m: (m(6, 40),),
    "columns": lambda m: (slice(None), m(40)),
    "columns and more": lambda m: (slice(None), m(40, 9)),
    "the last": lambda m: (slice(None), slice(None), m(9)),
    "after dots": lambda m: (..., m(9)),
    "with None": lambda m: (None, m(6)),
    "a number and a mask": lambda m: (2, m(40)),
    "a slice and a mask": lambda m: (slice(1, 6, 2), m(40)),
    "two masks": lambda m: (m(6), m(40)[:1].expand(40)),
    "a mask and places": lambda m: (m(6), ag.tensor([3])),
    "places and a mask": lambda m: (ag.tensor([3]), m(40)),
    "places apart from a mask": lambda m: (ag.tensor([1]), slice(None), m(9)),
}


@pytest.mark.parametrize("share", ["few", "half", "all"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", PLACES)
def test_masks_among_dimensions(name, dtype, share):
    for laid in LAID.values():
        x = laid(numbers((6, 40, 9), dtype))
        index = PLACES[name](lambda *shape: mask_of(shape, SHARES[share]))
        at = tuple(i.numpy() if isinstance(i, ag.Tensor) else i for i in index)
        counts = {int(i.sum()) for i in index if isinstance(i, ag.Tensor) and i.dtype == ag.bool}
        if len(counts) > 1 and 1 not in counts:
            with pytest.raises(IndexError, match="shape mismatch"):
                x[index]
            continue
        expected = values(x)[at]
        np.testing.assert_array_equal(values(x[index]), expected)
        for put in (1, ag.ones(1, 1).to(x.dtype), x[index].flip(0)):
            y, wanted = laid(x), values(x).copy()
            y[index] = put
            wanted[at] = values(put) if isinstance(put, ag.Tensor) else put
            np.testing.assert_array_equal(values(y), wanted)
            if all(isinstance(i, ag.Tensor) for i in index):
                given = put if isinstance(put, ag.Tensor) else ag.tensor(put).to(x.dtype)
                assert (x.index_put(index, given) == y).all()


def test_masks_without_dimensions():
    for truth in (True, False):
        x, mask = ag.arange(3.0), ag.tensor(truth)
        assert x[mask].shape == (int(truth), 3)
        assert x.index_put((mask,), ag.tensor(7.0)).tolist() == ([7] * 3 if truth else [0, 1, 2])
        y = x.expand(2, 3).clone()
        y.index_put_((None, mask), ag.tensor([[5.0]]))
        assert y.tolist() == [[5] * 3 if truth else [0, 1, 2]] * 2
        x.index_put_((mask,), ag.arange(3.0).expand(int(truth), 3))
        assert x.tolist() == [0, 1, 2]
        number = ag.tensor(1.0)
        number[mask] = 2
        assert number == 1 + truth


def test_what_a_mask_of_rows_leaves_out_is_not_written():
    base = ag.zeros(40, 12)
    x = base[:, 2:10:2]
    x[mask_of((40,), 0.5)] = 1
    assert (base[:, 3::2] == 0).all() and (base[:, :2] == 0).all() and (base[:, 10:] == 0).all()
    assert x.sum() == 4 * mask_of((40,), 0.5).sum()


def test_a_value_may_be_read_from_what_is_written():
    x = ag.tensor([1.0, 2.0, 3.0])
    x[x > 1.5] = x[1]
    assert x.tolist() == [1.0, 2.0, 2.0]
    y = ag.arange(6.0).reshape(3, 2)
    y[ag.tensor([True, False, True])] = y[0, 1]
    assert y.tolist() == [[1.0, 1.0], [2.0, 3.0], [1.0, 1.0]]
    b = ag.tensor([True, False, True])
    with pytest.raises(RuntimeError, match="single memory location"):
        b[b] = False
    assert b.tolist() == [True, False, True]


# --- numbers that x[mask] = number takes ---------------------------------------------------------


def test_numbers_convert_as_elsewhere():
    mask = ag.tensor([True, False])
    for dtype, number, kept in (
        (ag.int32, 2.7, 2),
        (ag.float32, True, 1.0),
        (ag.bool, 3, True),
        (ag.uint8, -1, 255),
        (ag.complex64, 2, 2 + 0j),
        (ag.int64, ag.tensor(2.5), 2),
        (ag.float32, np.float64(0.5), 0.5),
    ):
        x = ag.zeros(2, dtype=dtype)
        x[mask] = number
        assert x.tolist() == [kept, x[1].item()]


def test_numbers_that_do_not_fit_are_refused():
    for x, number, error in (
        (ag.zeros(2, dtype=ag.uint8), 300, RuntimeError),
        (ag.zeros(2), 1j, RuntimeError),
        (ag.zeros(2, dtype=ag.int64), 2**70, ValueError),
        (ag.zeros(2), "1", TypeError),
        (ag.zeros(2), ag.tensor([1, 2]), RuntimeError),
    ):
        with pytest.raises(error):
            x[ag.tensor([True, True])] = number
        assert (x == 0).all() and x._version == 0


# --- errors --------------------------------------------------------------------------------------


def test_errors_change_nothing():
    x, mask = ag.zeros(3, 4), ag.tensor([True, False, True])

    def times(counts, **options):
        return ag.repeat_interleave(x, counts, 0, **options)

    for call, error, words in (
        (lambda: x[mask, ag.tensor([0, 1, 2])], IndexError, r"shapes \[2\], \[3\]"),
        (lambda: x[ag.tensor([True])], IndexError, r"mask \[1\] at index 0 does not match"),
        (lambda: x[mask, mask], IndexError, r"mask \[3\] at index 0 does not match"),
        (lambda: x[mask, mask, mask], IndexError, "too many indices"),
        (lambda: x.__setitem__(mask, ag.ones(3, 4)), RuntimeError, r"shape \[3, 4\] cannot"),
        (lambda: x.__setitem__(x == 0, ag.ones(11)), RuntimeError, r"result of shape \[12\]"),
        (lambda: x.__setitem__(mask, ag.ones(2, 4).double()), RuntimeError, "dtypes match"),
        (lambda: ag.nonzero(x, out=ag.empty(0)), RuntimeError, "."),
        (lambda: ag.masked_select(x, x == 0, out=ag.empty(0).long()), RuntimeError, "."),
        (lambda: times(ag.tensor([1, -1, 0])), RuntimeError, "negative"),
        (lambda: times(ag.tensor([1, 1, 0]), output_size=3), RuntimeError, "size: 3 and 2"),
        (lambda: times(ag.tensor([2**62, 2**62, 1])), RuntimeError, "sizes=.9223372036854775809"),
        (lambda: ag.bincount(ag.tensor([3, -2])), RuntimeError, "integral inputs, got -2"),
        (lambda: ag.bincount(ag.tensor([2**63 - 1])), RuntimeError, "overflowed"),
        (lambda: ag.unique(ag.zeros(3, 0), dim=0), RuntimeError, "0 sized dimensions"),
        (lambda: ag.unique(x, dim=2), IndexError, "out of range"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
    assert (x == 0).all() and x._version == 0


def test_a_read_only_tensor_stays_as_it_is():
    array = np.zeros(4, np.float32)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once a process
        x = ag.from_numpy(array)
    with pytest.raises(RuntimeError):
        x[ag.tensor([True, False, True, False])] = 1
    assert (array == 0).all()


def test_a_mask_that_changes_in_between_is_counted_anew():
    x, mask = ag.zeros(6), ag.tensor([True, False, True, False, False, True])
    found = x[mask]
    mask.numpy()[0] = False  # no version tells of this
    with pytest.raises(RuntimeError, match=r"shape \[3\] cannot be broadcast.* \[2\]"):
        x[mask] = found + 1
    assert (x == 0).all()
    mask.numpy()[1] = True  # as many as before, elsewhere
    x[mask] = found + 1
    assert x.tolist() == [0, 1, 1, 0, 0, 1]


# --- others of the family -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "bfloat16"])
def test_unique_elements(dtype):
    for shape in ((), (0,), (1,), (500,), (7, 30)):
        x = numbers(shape, dtype)
        for laid in LAID.values():
            y = laid(x)
            found = ag.unique(y, return_inverse=True, return_counts=True)
            expected = np.unique(values(x), return_inverse=True, return_counts=True)
            np.testing.assert_array_equal(values(found[0]), expected[0])
            np.testing.assert_array_equal(found[1].numpy(), expected[1].reshape(shape))
            np.testing.assert_array_equal(found[2].numpy(), expected[2])
            np.testing.assert_array_equal(values(ag.unique(y)), expected[0])
        if len(shape) == 2:
            for dim in (0, 1, -1):
                rows = ag.unique(x % 2, dim=dim, return_inverse=True, return_counts=True)
                wanted = np.unique(values(x % 2), axis=dim, return_counts=True)
                np.testing.assert_array_equal(values(rows[0]), wanted[0])
                np.testing.assert_array_equal(rows[2].numpy(), wanted[1])
                again = ag.index_select(rows[0], dim, rows[1])
                assert (again == x % 2).all()


def test_consecutive_elements():
    x = ag.tensor([3, 3, 1, 1, 1, 3])
    found = ag.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert [t.tolist() for t in found] == [[3, 1, 3], [0, 0, 1, 1, 1, 2], [2, 3, 1]]
    rows = ag.unique_consecutive(ag.stack([x, x]), dim=0, return_counts=True)
    assert [t.tolist() for t in rows] == [[x.tolist()], [2]]
    assert ag.unique_consecutive(ag.empty(0)).shape == (0,)


def test_places_as_often_as_counts_say():
    x = ag.arange(12.0).reshape(4, 3)
    for counts in ([1, 0, 3, 2], [0, 0, 0, 0]):
        for dtype in (ag.int64, ag.int32, ag.uint8):
            k = ag.tensor(counts, dtype=dtype)
            for given in (k, ag.stack([k, k], 1)[:, 0]):
                expected = np.repeat(x.numpy(), counts, 0)
                found = ag.repeat_interleave(x, given, 0, output_size=sum(counts))
                np.testing.assert_array_equal(found.numpy(), expected)
                places = ag.repeat_interleave(given)
                np.testing.assert_array_equal(places.numpy(), np.repeat(np.arange(4), counts))
                assert places.dtype == dtype
    assert ag.repeat_interleave(ag.empty(0), ag.empty(0, dtype=ag.int64)).shape == (0,)


def test_how_often_numbers_occur():
    for dtype in (np.uint8, np.int8, np.int16, np.int32, np.int64):
        x = np.random.default_rng(0).integers(0, 90, 1000).astype(dtype)
        for least in (0, 10, 200):
            found = ag.bincount(ag.tensor(x), minlength=least)
            np.testing.assert_array_equal(found.numpy(), np.bincount(x, minlength=least))
        strided = ag.bincount(ag.tensor(np.stack([x, x], 1))[:, 1])
        np.testing.assert_array_equal(strided.numpy(), np.bincount(x))
    w = ag.rand(1000, requires_grad=True)
    found = ag.bincount(ag.tensor(x), w)
    np.testing.assert_allclose(found.detach().numpy(), np.bincount(x, w.detach().numpy()), 1e-4)
    found.backward(ag.arange(90.0)[: found.numel()])
    np.testing.assert_array_equal(w.grad.numpy(), x)
    assert ag.bincount(ag.empty(0, dtype=ag.int64), minlength=2).tolist() == [0, 0]


# --- launches, memory, gradients ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["all", "rows", "columns", "a number of a tensor"])
def test_a_number_at_a_mask_is_one_launch_that_runs_again(name):
    shape = {"rows": (30,), "columns": (50,)}.get(name, (30, 50))
    mask, x, value = mask_of(shape, 0.5), ag.zeros(30, 50), ag.tensor(2.0)
    index = (slice(None), mask) if name == "columns" else mask
    put = value if name == "a number of a tensor" else 2.0
    program = capture(lambda: x.__setitem__(index, put))
    written = [i for i in range(len(program)) if len(program.operands(i)) > 2]
    assert len(written) == 1  # beside it the number becomes one of the tensor's dtype
    mask.copy_(mask_of(shape, 0.3, 5))
    x.zero_()
    program.replay_elsewhere([x, mask])
    expected = ag.zeros(30, 50)
    expected[index] = 2.0
    assert (x == expected).all()


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "indexing by a mask": lambda x, m: x[m],
        "indexing by a mask ": lambda x, m: x.__setitem__(m, x[m.nonzero()[:, 0]]),
        "indexing by a mask  ": lambda x, m: x.index_put_((m,), ag.tensor(1.0), True),
        "nonzero": lambda x, m: m.nonzero(),
        "unique": lambda x, m: x.unique(),
        "repeat_interleave": lambda x, m: ag.repeat_interleave(x, m.long()),
        "bincount": lambda x, m: ag.bincount(m.long()),
    }.items(),
)
def test_what_needs_a_size_is_refused_while_launches_are_kept(name, call):
    x, m = ag.arange(4.0), ag.tensor([True, False, True, True])
    with pytest.raises(RuntimeError, match="can't be captured") as error:
        capture(lambda: call(x, m))
    assert str(error.value).split(":")[0] in {name.strip(), "nonzero"}
    assert x.tolist() == [0, 1, 2, 3] and x._version == 0


def test_a_number_at_a_mask_takes_no_memory():
    x, mask, rows = ag.rand(200, 300), mask_of((200, 300), 0.5), mask_of((200,), 0.5)
    for index in (mask, rows):
        x[index] = 0
        ag.reset_peak_memory()
        before = ag.memory_summary()["live_bytes"]
        x[index] = 0
        assert ag.memory_summary()["peak_bytes"] - before < 1000


def test_graphs_are_as_they_were():
    x = ag.rand(4, 5, dtype=ag.float64, requires_grad=True)
    v = ag.tensor(2.0, dtype=ag.float64, requires_grad=True)
    for mask in (mask_of((4, 5), 0.5), mask_of((4,), 0.5)):
        y = x * 1
        y[mask] = v
        assert type(y.grad_fn).__name__ == "IndexPutBackward0"
        gx, gv = ag.autograd.grad((y * y).sum(), (x, v))
        keep = ~mask if mask.ndim == 2 else (~mask)[:, None].expand(4, 5)
        assert (gx == ag.where(keep, 2 * x, 0)).all() and gv == 4 * (~keep).sum()

        def change(a, b, mask=mask):
            a = a * 1
            a[mask] = b
            return a * a

        assert ag.autograd.gradcheck(change, (x, v), check_forward_ad=True)
        assert ag.autograd.gradgradcheck(change, (x, v))
        assert ag.autograd.gradcheck(lambda a, mask=mask: a[mask] ** 2, (x,), check_forward_ad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x[mask] = 0


def test_examples_of_vmap_are_filled_each():
    x, mask = ag.rand(3, 4, 5), mask_of((4, 5), 0.5)

    def fill(a):
        a = a.clone()
        a[mask] = 7
        return a

    expected = x.clone()
    expected[:, mask] = 7
    assert (ag.vmap(fill)(x) == expected).all()
