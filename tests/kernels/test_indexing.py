"""Selecting, scattering, joining, masks and sorting against NumPy."""

import itertools

import numpy as np
import pytest
from bridge import (
    DTYPES,
    FLOATS,
    INTS,
    NAMES,
    array,
    call,
    layouts,
    sample,
    tensor,
    tolerance,
    wide,
)

import autograd_cy as ag
from autograd_cy._C import ops_indexing, parallel


class indexing:
    """The operators by name, as `call` wants them."""

    @staticmethod
    def _call(name, *args):
        if name == "take_indices":
            return ops_indexing._index(*args)
        if name == "put_indices":
            return ops_indexing._index_put_(*args)
        if name == "sort":
            return ag.sort(*args[:3], stable=args[3])
        return getattr(ag, name)(*args)


def same(got, want):
    assert got.shape == np.shape(want)
    np.testing.assert_array_equal(wide(got), wide(want))


def add_at(a, places, src):
    """np.add.at in the widest dtype of the kind (bool adds by or)."""
    out = wide(a).copy()
    np.add.at(out, places, wide(src))
    return out.astype(bool) if a.dtype == bool else out


def check_sum(got, want, name):
    if name in INTS:
        np.testing.assert_array_equal(got, np.asarray(want).astype(got.dtype))
    else:
        np.testing.assert_allclose(
            wide(got), want, rtol=4 * tolerance(name), atol=4 * tolerance(name)
        )


@pytest.mark.parametrize("name", NAMES)
def test_index_select(name):
    rng = np.random.default_rng(0)
    for shape in [(5,), (4, 6), (3, 4, 5), (2, 0, 3), (300, 200)]:
        for a in layouts(sample(name, shape)):
            for dim in range(-1, a.ndim):
                for n in (0, 1, 7, 400):
                    if a.shape[dim] == 0 and n:
                        continue
                    index = rng.integers(0, a.shape[dim] or 1, n)
                    same(call(indexing, "index_select", a, dim, index), np.take(a, index, dim))
    same(call(indexing, "index_select", sample(name, ()), 0, np.array([0])), sample(name, ()))


def test_index_dtypes_and_strides():
    a = sample("float32", (4, 3))
    same(call(indexing, "index_select", a, 0, np.array([1, 0], np.int32)), a[[1, 0]])
    same(call(indexing, "index_select", a, 0, np.arange(6)[::2] % 4), a[[0, 2, 0]])
    same(call(indexing, "index_select", a, 0, np.array(2)), a[[2]])


@pytest.mark.parametrize("name", NAMES)
def test_gather_and_scatter(name):
    rng = np.random.default_rng(0)
    for shape, index_shape in [
        ((5,), (7,)),
        ((4, 6), (4, 6)),
        ((4, 6), (2, 6)),
        ((4, 6), (4, 3)),
        ((3, 4, 5), (3, 2, 5)),
        ((3, 4, 5), (3, 4, 1)),
        ((300, 70), (200, 70)),
        ((4, 6), (0, 6)),
    ]:
        for a in layouts(sample(name, shape)):
            for dim in range(a.ndim):
                sizes = [n if d == dim else min(n, shape[d]) for d, n in enumerate(index_shape)]
                index = rng.integers(0, shape[dim], sizes)
                places = list(np.ogrid[tuple(slice(n) for n in sizes)])
                places[dim] = index
                places = tuple(places)
                same(call(indexing, "gather", a, dim, index), a[places])
                src = sample(name, sizes, seed=1)
                want = a.copy()
                want[places] = src  # of several at one place the last stays
                same(call(indexing, "scatter", a, dim, index, src), want)
                got = call(indexing, "scatter_add", a, dim, index, src)
                assert got.dtype == a.dtype
                check_sum(got, add_at(a, places, src), name)


def test_gather_of_0d():
    a = np.array(3.0)
    same(call(indexing, "gather", a, 0, np.array([0, 0])), [3.0, 3.0])
    same(call(indexing, "gather", a, 0, np.array(0)), 3.0)
    same(call(indexing, "gather", np.arange(3.0), 0, np.array(2)), 2.0)
    same(call(indexing, "scatter_add", a, 0, np.array(0), np.array(2.0)), 5.0)


def test_halves_add_in_float32():
    for name in ("float16", "bfloat16"):
        a = np.zeros(1, DTYPES[name])
        src = np.full(3000, 1, DTYPES[name])
        zeros = np.zeros(3000, int)
        assert call(indexing, "scatter_add", a, 0, zeros, src) == DTYPES[name].type(3000)
        assert call(indexing, "index_add", a, 0, zeros, src) == DTYPES[name].type(3000)
        assert call(indexing, "put_indices", a, (tensor(zeros),), src, True) == DTYPES[name].type(
            3000
        )


@pytest.mark.parametrize("name", NAMES)
def test_index_add(name):
    rng = np.random.default_rng(0)
    for shape in [(5,), (4, 6), (3, 4, 5), (30, 200)]:
        for a in layouts(sample(name, shape)):
            for dim in range(a.ndim):
                index = rng.integers(0, shape[dim], 9)
                src = sample(name, [9 if d == dim else n for d, n in enumerate(shape)], seed=1)
                places = (slice(None),) * dim + (index,)
                check_sum(
                    call(indexing, "index_add", a, dim, index, src), add_at(a, places, src), name
                )


@pytest.mark.parametrize("name", NAMES)
def test_cat(name):
    for shape in [(3,), (2, 3), (2, 3, 4), (200, 150)]:
        for a, b in itertools.product(layouts(sample(name, shape)), repeat=2):
            for dim in range(-1, a.ndim):
                got = array(indexing._call("cat", (tensor(a), tensor(b), tensor(a)), dim))
                assert got.dtype == a.dtype
                same(got, np.concatenate([a, b, a], dim))


def test_cat_promotes_and_skips_empty_vectors():
    def cat(*arrays, dim=0):
        return array(indexing._call("cat", tuple(tensor(a) for a in arrays), dim))

    a = sample("float32", (2, 3))
    got = cat(a, sample("float64", (2, 3)))
    assert got.dtype == np.float64 and got.shape == (4, 3)
    assert cat(sample("int32", 3), a[0]).dtype == np.float32
    same(cat(np.zeros(0, np.float32), a), a)
    same(cat(a, np.zeros(0, np.float32), dim=1), a)
    assert cat(a, np.zeros(0)).dtype == np.float64
    assert cat(np.zeros(0), np.zeros(0)).shape == (0,)
    assert cat(a, np.zeros((0, 3), np.float32)).shape == (2, 3)
    assert cat(*[a] * 100).shape == (200, 3)
    assert cat(*[a] * 99, a.astype(float)).dtype == np.float64
    for bad, text in [
        (
            (a, a[:, :2]),
            r"except in dimension 0. Expected size 3 but got size 2 for tensor number 1",
        ),
        ((a, a[0]), "same number of dimensions: got 2 and 1"),
        ((a, np.array(1.0)), r"zero-dimensional tensor \(at position 1\)"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            cat(*bad)
    with pytest.raises(IndexError, match="Dimension out of range"):
        cat(a, a, dim=2)
    with pytest.raises(ValueError, match="non-empty list"):
        cat()
    with pytest.raises(TypeError, match="expected Tensor as element 1"):
        indexing._call("cat", (tensor(a), 3), 0)


def index_cases(shape):
    """Index tuples: None stands for a whole dimension."""
    rng = np.random.default_rng(1)

    def pick(d, *sizes):
        return rng.integers(-shape[d], shape[d], sizes)

    yield (pick(0, 4),)
    yield (pick(0, 2, 3),)
    yield (pick(0),)
    yield (pick(0, 0),)
    yield (rng.random(shape[0]) < 0.5,)
    yield (np.array(True),)
    yield (np.array(False),)
    if len(shape) > 1:
        yield (None, pick(1, 4))
        yield (pick(0, 4), pick(1, 4))
        yield (pick(0, 4, 1), pick(1, 3))
        yield (rng.random(shape[:2]) < 0.5,)
        yield (pick(0, 1), rng.random(shape[1]) < 0.5)
        yield (pick(0, 4).astype(np.int32),)
    if len(shape) > 2:
        yield (None, None, pick(2, 4))
        yield (pick(0, 4), None, pick(2, 4))
        yield (None, pick(1, 4), pick(2, 4))
        yield (pick(0, 3), pick(1, 3), pick(2, 3))
        yield (pick(0, 2, 2), None, pick(2, 2, 1))
        yield (None, rng.random(shape[1:3]) < 0.5)
    if len(shape) > 3:
        yield (None, pick(1, 3), None, pick(3, 3))
        yield (None, pick(1, 3), pick(2, 3))
        yield (pick(0, 3), None, None, pick(3, 2, 3))


def for_numpy(index):
    return tuple(slice(None) if i is None else i for i in index)


def for_us(index):
    return tuple(None if i is None else tensor(i) for i in index)


INDEXED = [(5,), (4, 6), (3, 4, 5), (2, 3, 4, 5), (40, 300), (3, 50, 70)]


@pytest.mark.parametrize("name", NAMES)
def test_take_and_put(name):
    for shape in INDEXED:
        for a in layouts(sample(name, shape)):
            for index in index_cases(shape):
                want = a[for_numpy(index)]
                got = array(indexing._call("take_indices", tensor(a), for_us(index)))
                same(got, want)
                values = sample(name, want.shape, seed=2)
                mine, theirs = a.copy(order="K"), wide(a).copy()
                call(indexing, "put_indices", tensor(mine), for_us(index), values, True)
                np.add.at(theirs, for_numpy(index), wide(values))
                check_sum(mine, theirs.astype(bool) if name == "bool" else theirs, name)
                mine, theirs = a.copy(order="K"), a.copy()
                one = sample(name, (), seed=3)
                call(indexing, "put_indices", tensor(mine), for_us(index), one, False)
                theirs[for_numpy(index)] = one
                same(mine, theirs)


def test_put_the_last_value_stays():
    a = np.zeros((3, 100), np.float32)
    values = np.arange(500, dtype=np.float32).reshape(5, 100)
    index = np.array([1, 1, 2, 1, 2])
    call(indexing, "put_indices", tensor(a), (tensor(index),), values, False)
    same(a[1], values[3])
    same(a[2], values[4])


def test_index_errors():
    a = np.zeros((4, 3))
    bad = [
        ((np.array([5]),), "index 5 is out of bounds for dimension 0 with size 4"),
        ((np.array([-5]),), "index -5 is out of bounds for dimension 0 with size 4"),
        ((None, np.array([3])), "index 3 is out of bounds for dimension 1 with size 3"),
        ((np.array([1.0]),), "must be long, int, byte or bool"),
        (
            (np.array([True, False]),),
            r"mask \[2\] at index 0 does not match .* \[4, 3\] at index 0",
        ),
        ((np.ones((4, 2), bool),), r"mask \[4, 2\] at index 1 does not match"),
        ((np.array([1, 2]), np.array([1, 2, 0])), r"broadcast together with shapes \[2\], \[3\]"),
        ((np.array([1]),) * 3, "too many indices for tensor of dimension 2"),
    ]
    for index, text in bad:
        with pytest.raises(IndexError, match=text):
            indexing._call("take_indices", tensor(a), for_us(index))
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        call(indexing, "put_indices", a, (tensor(np.array([1, 2])),), np.zeros((3, 3)), False)
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 1 with size 3"):
        call(indexing, "index_select", a, 1, np.array([0, 9]))
    with pytest.raises(IndexError, match="supposed to be a vector"):
        call(indexing, "index_select", a, 1, np.array([[0]]))
    with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
        call(indexing, "index_select", a, 1, np.array([0.0]))
    with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
        call(indexing, "gather", a, 1, np.array([[0.0]]))
    with pytest.raises(RuntimeError, match="index -1 is out of bounds for dimension 0 with size 4"):
        call(indexing, "gather", a, 0, np.array([[-1]]))
    with pytest.raises(RuntimeError, match="same number of dimensions as input tensor"):
        call(indexing, "gather", a, 0, np.array([1]))
    with pytest.raises(RuntimeError, match="Size does not match at dimension 0"):
        call(indexing, "gather", a, 1, np.zeros((5, 1), int))
    with pytest.raises(RuntimeError, match="no larger size than src"):
        call(indexing, "scatter", a, 0, np.zeros((1, 3), int), np.zeros((1, 2)))
    with pytest.raises(RuntimeError, match="Expected self.dtype to be equal to src.dtype"):
        call(indexing, "scatter_add", a, 0, np.zeros((1, 3), int), np.zeros((1, 3), np.float32))
    with pytest.raises(
        RuntimeError, match=r"Number of indices \(1\) should be equal to source.size"
    ):
        call(indexing, "index_add", a, 0, np.zeros(1, int), a)
    with pytest.raises(RuntimeError, match="excluding the specified dimension"):
        call(indexing, "index_add", a, 0, np.zeros(4, int), a[:, :2])


@pytest.mark.parametrize("name", NAMES)
def test_nonzero_and_masks(name):
    for shape in [(), (0,), (7,), (4, 6), (3, 0), (3, 4, 5), (2, 3, 4, 5)]:
        for a in layouts(sample(name, shape)):
            a = np.where(sample("bool", shape), a, np.zeros((), a.dtype)).astype(a.dtype)
            got = call(indexing, "nonzero", a)
            same(got, np.argwhere(wide(a)))
            mask = sample("bool", shape, seed=4)
            same(call(indexing, "masked_select", a, mask), a[mask])
    a = sample(name, (4, 3))
    row = np.array([True, False, True])
    same(call(indexing, "masked_select", a, row), a[:, row].ravel())
    column = np.array([[True], [False], [True], [True]])
    same(call(indexing, "masked_select", a[0], column), np.tile(a[0], 3))
    with pytest.raises(RuntimeError, match="expected BoolTensor for mask"):
        call(indexing, "masked_select", a, np.ones(3))


@pytest.mark.parametrize("name", NAMES)
def test_triangles(name):
    for shape in [(4, 6), (6, 4), (2, 3, 5), (0, 3), (300, 200)]:
        for a in layouts(sample(name, shape)):
            for k in (-100, -2, -1, 0, 1, 3, 100, 2**62):
                near = max(-1000, min(1000, k))
                same(call(indexing, "tril", a, k), np.tril(a, near))
                same(call(indexing, "triu", a, k), np.triu(a, near))
    with pytest.raises(RuntimeError, match="tril: input tensor must have at least 2 dimensions"):
        call(indexing, "tril", np.zeros(3), 0)


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("complex")])
def test_sort(name):
    for shape in [(), (0,), (9,), (5, 30), (3, 4, 5)]:
        for a in layouts(sample(name, shape)):
            for dim in range(-1, a.ndim):
                for descending in (False, True):
                    values, index = call(indexing, "sort", a, dim, descending, True)
                    assert values.dtype == a.dtype
                    if a.ndim == 0:
                        assert index == 0
                        continue
                    key = -wide(a) if descending else wide(a)
                    same(index, np.argsort(key, dim, kind="stable"))
                    same(values, np.take_along_axis(wide(a), index, dim))
    values, index = call(indexing, "topk", np.array([3, 9, 1, 9]), 2, 0, True, True)
    same(values, [9, 9])
    same(index, [1, 3])


def test_sort_puts_nan_last_or_first():
    a = np.array([1, np.nan, -np.inf, 3], np.float32)
    for name in FLOATS:
        b = a.astype(DTYPES[name])
        same(call(indexing, "sort", b, 0, False, True)[1], [2, 0, 3, 1])
        same(call(indexing, "sort", b, 0, True, True)[1], [1, 3, 0, 2])
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        call(indexing, "topk", a, 5, 0, True, True)


def test_bit_equal_for_any_number_of_threads():
    before = parallel.get_num_threads()
    rng = np.random.default_rng(0)
    a, src = sample("float32", (50, 300)), sample("float32", (4000, 300), seed=1)
    rows = rng.integers(0, 50, 4000)
    index = np.broadcast_to(rows[:, None], src.shape).copy()
    runs = []
    try:
        for n in (1, 2, 5):
            parallel.set_num_threads(n)
            runs.append(
                [
                    call(indexing, "scatter_add", a, 0, index, src).tobytes(),
                    call(indexing, "index_add", a, 0, rows, src).tobytes(),
                    call(indexing, "put_indices", a.copy(), (tensor(rows),), src, True).tobytes(),
                    call(indexing, "scatter", a, 0, index, src).tobytes(),
                    call(indexing, "index_select", src, 0, rows).tobytes(),
                ]
            )
    finally:
        parallel.set_num_threads(before)
    assert runs[0] == runs[1] == runs[2]
