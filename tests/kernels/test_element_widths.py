"""Kernels that have a loop of its own for each width of an element: every dtype takes its way.

The references are NumPy's, on Python's loops where it has no such function.
"""

import ml_dtypes
import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


def array_of(name, shape, seed=0, low=1, high=5):
    """Small whole numbers, which every dtype holds."""
    numbers = np.random.default_rng(seed).integers(low, high, shape)
    if name in COMPLEX:
        numbers = numbers + 1j * np.random.default_rng(seed + 1).integers(low, high, shape)
    kind = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    return (numbers % 2 == 1 if name == "bool" else numbers).astype(kind)


def tensor(array):
    return ag.from_numpy(array)


def same(got, want):
    array = got.numpy()
    assert array.dtype == want.dtype and array.shape == want.shape
    np.testing.assert_array_equal(array, want)


REDUCED = {
    "sum": lambda old, new: old + new,
    "prod": lambda old, new: old * new,
    "amax": max,
    "amin": min,
}


def reduced(a, places, source, how, include_self):
    """scatter_reduce along dimension 0, element by element."""
    out = a.copy()
    seen = np.zeros(a.shape, int)
    for i, column in np.ndindex(*source.shape):
        at = places[i, column], column
        first = not include_self and seen[at] == 0
        new = source[i, column]
        out[at] = new if first else REDUCED["sum" if how == "mean" else how](out[at], new)
        seen[at] += 1
    if how == "mean":
        counts = np.maximum(seen + bool(include_self), 1)
        divided = out / counts if out.dtype.kind == "f" else np.floor_divide(out, counts)
        out = np.where(seen > 0, divided, out).astype(a.dtype)
    return out


@each(
    "name,how,include_self",
    [
        (name, how, include_self)
        for name in (*INTEGERS, "float32", "float64")
        for how in (*REDUCED, "mean")
        for include_self in (True, False)
    ],
)
@pytest.mark.filterwarnings("ignore:.*beta.*:UserWarning")
def test_scatter_reduce(name, how, include_self):
    a, source = array_of(name, (4, 3)), array_of(name, (5, 3), seed=1, high=4)
    places = np.random.default_rng(2).integers(0, 4, (5, 3))
    want = reduced(a, places, source, how, include_self)
    args = 0, tensor(places), tensor(source), how
    got = tensor(a).scatter_reduce(*args, include_self=include_self)
    same(got, want) if how != "mean" or name in INTEGERS else np.testing.assert_allclose(
        got.numpy(), want, rtol=1e-6
    )
    # Along the other dimension, and into a window whose elements are apart.
    wide = tensor(np.repeat(a.T, 2, axis=1))[:, ::2]
    into = wide.scatter_reduce_(1, tensor(places.T), tensor(source.T), how,
                                include_self=include_self)  # fmt: skip
    assert into is wide
    np.testing.assert_array_equal(into.numpy(), got.numpy().T)


@each("name", DTYPES)
def test_what_a_mask_selects(name):
    a = array_of(name, (3, 4, 5))
    mask = np.random.default_rng(3).random((3, 4, 5)) < 0.5
    same(tensor(a).masked_select(tensor(mask)), a[mask])
    same(tensor(a)[tensor(mask)], a[mask])
    turned = tensor(a.transpose(2, 0, 1)), tensor(mask.transpose(2, 0, 1))
    same(turned[0].masked_select(turned[1]), a.transpose(2, 0, 1)[mask.transpose(2, 0, 1)])
    row = mask[0, 0]
    same(tensor(a).masked_select(tensor(row)), a[np.broadcast_to(row, a.shape)])
    one = a[:1, :, :1]
    same(tensor(one).masked_select(tensor(mask)), np.broadcast_to(one, a.shape)[mask])
    same(ag.masked_select(tensor(a), tensor(mask), out=tensor(a[0, 0, :0].copy())), a[mask])
    put = tensor(a.copy())
    put.masked_scatter_(tensor(mask), tensor(a.ravel()[::-1].copy()))
    want = a.copy()
    want[mask] = a.ravel()[::-1][: mask.sum()]
    same(put, want)


@each("name", DTYPES)
def test_rows_that_are_taken_and_put(name):
    a, rows = array_of(name, (6, 4)), array_of(name, (3, 4), seed=1)
    k = np.array([4, 0, 4])
    same(tensor(a).index_select(0, tensor(k)), a[k])
    same(tensor(a).t().index_select(1, tensor(k)), a.T[:, k])
    same(tensor(a)[tensor(k)], a[k])
    same(tensor(a)[:, tensor(k % 4)], a[:, k % 4])
    same(tensor(a)[tensor(k), tensor(k % 4)], a[k, k % 4])
    same(tensor(a).take(tensor(k + 10)), a.ravel()[k + 10])
    same(tensor(a).gather(1, tensor(np.stack([k % 4] * 6))), a[:, k % 4])
    same(tensor(a.copy()).index_copy_(0, tensor(k[:2]), tensor(rows[:2])),
         np.concatenate([rows[1:2], a[1:4], rows[:1], a[5:]]))  # fmt: skip
    same(tensor(a.copy()).index_fill_(0, tensor(k), 1),
         np.where(np.isin(np.arange(6), k)[:, None], np.array(1, a.dtype), a))  # fmt: skip
    put = tensor(a.copy())
    put[tensor(k[:2])] = tensor(rows[:2])
    same(put, np.concatenate([rows[1:2], a[1:4], rows[:1], a[5:]]))
    if name == "bool":
        return
    want = a.copy()
    for i, row in zip(k, rows):
        want[i] += row
    same(tensor(a.copy()).index_add_(0, tensor(k), tensor(rows)), want)
    same(tensor(a.copy()).index_put_((tensor(k),), tensor(rows), accumulate=True), want)
    columns = tensor(np.stack([k] * 4, 1))
    same(tensor(a.copy()).scatter_add_(0, columns, tensor(rows)), want)
    # What is added to the memory that it is read from is read before.
    both = tensor(a.copy())
    want = a.copy()
    for i, row in zip(k, a[:3]):
        want[i] += row
    with pytest.raises(RuntimeError, match="clone|overlap|memory"):
        both.index_add_(0, tensor(k), both[:3])
    same(tensor(a.copy()).index_add_(0, tensor(k), tensor(a[:3])), want)


@each("name", [n for n in DTYPES if n not in COMPLEX])
def test_orders_and_sets(name):
    a = array_of(name, (50,), high=9)
    values, places = tensor(a).sort()
    same(values, np.sort(a))
    same(tensor(a)[places], np.sort(a))
    found, inverse, counts = ag.unique(tensor(a), return_inverse=True, return_counts=True)
    numbers = a.astype(np.float64)
    want = np.unique(numbers, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(found.numpy().astype(np.float64), want[0])
    np.testing.assert_array_equal(inverse.numpy(), want[1])
    np.testing.assert_array_equal(counts.numpy(), want[2])
    rows = a[:48].reshape(24, 2)
    got = ag.unique(tensor(rows), dim=0)
    np.testing.assert_array_equal(
        got.numpy().astype(np.float64), np.unique(rows.astype(np.float64), axis=0)
    )
    if name != "bool":
        top = tensor(a).topk(7).values
        same(top, np.sort(a)[::-1][:7])
        edges = np.unique(a)
        at = ag.searchsorted(tensor(edges), tensor(a), right=True)
        np.testing.assert_array_equal(
            at.numpy(), np.searchsorted(edges.astype(np.float64), numbers, side="right")
        )
