"""
Tensors of uint16, uint32 and uint64: what is done to them, beside NumPy and what torch gave.

Values are beside NumPy, for each operation and each pair of dtypes. Which operators compute, the
dtypes of their results and the errors of the others are beside torch's (unsigned_calls.py).
"""

import io
import json
import pickle

import numpy as np
import pytest

import autograd_cy as ag
from tests.tensor.unsigned_calls import CALLS, DTYPES, FILE, UNSIGNED, result_of

IN_TORCH = json.loads(FILE.read_text())
# What torch refuses and is computed here: no value is read, or only compared.
COMPUTED_HERE = frozenset(
    "lt le gt ge isin nonzero count_nonzero flip triu tril trace masked_fill index_put scatter "
    "gather index_select".split()
)


def values_of(dtype, count=12):
    """Values that differ in each part of the range, as an array."""
    if dtype == "bool":
        return np.arange(count) % 2 == 1
    if dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        return np.array([0, 1, 2.75, 100, 127.5, 3, 5, 64, 7, 9, 11, 13])[:count].astype(
            "float32" if dtype == "bfloat16" else dtype
        )
    info = np.iinfo(dtype)
    own = [info.max, info.max - 1, info.max // 2, info.max // 2 + 1, info.min, 3, 2, 1, 0, 77, 5, 9]
    return np.array(own, dtype)[:count]


def tensor_of(array, dtype):
    t = ag.from_numpy(array.copy())
    return t.to(ag.bfloat16) if dtype == "bfloat16" else t


def array_of(t):
    return (t.float() if t.dtype == ag.bfloat16 else t).numpy()


def strided(t):
    """A tensor with the same values, in every other element of memory."""
    wide = ag.zeros((*t.shape, 2), dtype=t.dtype)
    wide[..., 0] = t
    return wide[..., 0]


def converted(array, dtype):
    """The array in another dtype by NumPy; bfloat16 rounds to float32 first, as here."""
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return array_of(ag.from_numpy(array.astype("float32")).to(ag.bfloat16))
        if array.dtype.kind == "c" and dtype not in ("complex64", "complex128"):
            array = array.real
        if dtype == "bool":
            return array != 0
        if array.dtype.kind == "f" and dtype in ("uint8", "int8", "uint16", "int16"):
            array = array.astype(np.int32)  # what is out of range is cut off, whatever the machine
        if dtype == "float16":
            array = array.astype("float32")
        return array.astype(dtype)


PAIRS = [
    (source, target)
    for source in DTYPES
    for target in DTYPES
    if source in UNSIGNED or target in UNSIGNED
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conversion_is_that_of_numpy(source, target):
    array = values_of(source)
    plain = tensor_of(array, source)
    expected = converted(array_of(plain), target)
    for t in (plain, strided(plain), plain.reshape(3, 4).t()):
        wanted = expected.reshape(3, 4).T if t.dim() == 2 else expected
        for result in (
            t.to(getattr(ag, target)),
            ag.zeros(t.shape, dtype=getattr(ag, target)).copy_(t),
            strided(ag.zeros(t.shape, dtype=getattr(ag, target))).copy_(t),
            ag.empty_like(t, dtype=getattr(ag, target)).copy_(t),
        ):
            assert result.dtype == getattr(ag, target)
            np.testing.assert_array_equal(array_of(result), wanted)


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", UNSIGNED)
def test_floats_beyond_int64_and_below_0_become_what_they_do_in_torch(source, target):
    values = np.array([1.5, -1.0, -2.7, 40000.3, 70000.0, 3e9, 5e9, 1e19], source)
    expected = {
        "uint16": [1, 65535, 65534, 40000, 4464, 0, 0, 0],
        "uint32": [1, 2**32 - 1, 2**32 - 2, 40000, 70000, 3000000000, 705032704, 0],
        "uint64": [1, 2**64 - 1, 2**64 - 2, 40000, 70000, 3000000000, 5000000000],
    }[target]
    result = ag.from_numpy(values).to(getattr(ag, target)).tolist()
    if target == "uint64":
        assert result.pop() == int(values[-1])
    elif target == "uint32":
        assert result[:6] == expected[:6]
        return
    assert result == expected


MASK = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1], bool)
PLACES = np.array([0, 11, 3, 3, 7])


def _np_put(x, at, value):
    x = x.copy()
    x[at] = value
    return x


# By name: what is computed here, and by NumPy.
MOVES = {
    "clone": (lambda t: t.clone(), lambda a: a),
    "slice": (lambda t: t[2:9:3], lambda a: a[2:9:3]),
    "item": (lambda t: t[4], lambda a: a[4]),
    "mask": (lambda t: t[ag.from_numpy(MASK)], lambda a: a[MASK]),
    "masked_select": (lambda t: t.masked_select(ag.from_numpy(MASK)), lambda a: a[MASK]),
    "places": (lambda t: t[ag.from_numpy(PLACES)], lambda a: a[PLACES]),
    "two places": (
        lambda t: t.reshape(3, 4)[ag.tensor([0, 2]), ag.tensor([1, 3])],
        lambda a: a.reshape(3, 4)[[0, 2], [1, 3]],
    ),
    "index_select": (
        lambda t: t.reshape(3, 4).index_select(1, ag.tensor([3, 0])),
        lambda a: a.reshape(3, 4)[:, [3, 0]],
    ),
    "gather": (lambda t: t.gather(0, ag.from_numpy(PLACES)), lambda a: a[PLACES]),
    "take": (lambda t: t.take(ag.from_numpy(PLACES)), lambda a: a[PLACES]),
    "index_put": (
        lambda t: t.clone().index_put_((ag.tensor([1, 5]),), t[:2]),
        lambda a: _np_put(a, [1, 5], a[:2]),
    ),
    "index_copy": (
        lambda t: t.index_copy(0, ag.tensor([1, 5]), t[:2]),
        lambda a: _np_put(a, [1, 5], a[:2]),
    ),
    "index_fill": (
        lambda t: t.index_fill(0, ag.tensor([1, 5]), 8),
        lambda a: _np_put(a, [1, 5], 8),
    ),
    "scatter": (
        lambda t: t.scatter(0, ag.tensor([1, 5]), t[:2]),
        lambda a: _np_put(a, [1, 5], a[:2]),
    ),
    "masked_fill": (lambda t: t.masked_fill(ag.from_numpy(MASK), 9), lambda a: _np_put(a, MASK, 9)),
    "masked_scatter": (
        lambda t: t.masked_scatter(ag.from_numpy(MASK), t),
        lambda a: _np_put(a, MASK, a[: MASK.sum()]),
    ),
    "fill": (lambda t: t.clone().fill_(200), lambda a: np.full_like(a, 200)),
    "flip": (lambda t: t.flip(0), lambda a: a[::-1]),
    "roll": (lambda t: t.roll(3), lambda a: np.roll(a, 3)),
    "tril": (lambda t: t.reshape(3, 4).tril(), lambda a: np.tril(a.reshape(3, 4))),
    "triu": (lambda t: t.reshape(3, 4).triu(1), lambda a: np.triu(a.reshape(3, 4), 1)),
    "transpose": (lambda t: t.reshape(3, 4).t().contiguous(), lambda a: a.reshape(3, 4).T),
    "cat": (lambda t: ag.cat([t, t[:3]]), lambda a: np.concatenate([a, a[:3]])),
    "stack": (lambda t: ag.stack([t, t], 1), lambda a: np.stack([a, a], 1)),
    "split": (lambda t: t.split(5)[1], lambda a: a[5:10]),
    "where": (
        lambda t: ag.where(ag.from_numpy(MASK), t, t.flip(0)),
        lambda a: np.where(MASK, a, a[::-1]),
    ),
    "pad": (lambda t: ag.nn.functional.pad(t, (1, 2)), lambda a: np.pad(a, (1, 2))),
    "repeat": (lambda t: t.repeat(2, 2), lambda a: np.tile(a, (2, 2))),
    "sort": (lambda t: t.sort()[0], np.sort),
    "sort descending": (lambda t: t.sort(descending=True)[0], lambda a: np.sort(a)[::-1]),
    "argsort": (lambda t: t.argsort(stable=True), lambda a: np.argsort(a, kind="stable")),
    "unique": (lambda t: t.unique(), np.unique),
    "unique counts": (
        lambda t: ag.cat([t, t]).unique(return_inverse=True, return_counts=True)[1],
        lambda a: np.unique(np.concatenate([a, a]), return_inverse=True)[1],
    ),
    "nonzero": (lambda t: t.nonzero()[:, 0], lambda a: a.nonzero()[0]),
    "count_nonzero": (lambda t: t.count_nonzero(), np.count_nonzero),
    "any": (lambda t: t.reshape(3, 4).any(0), lambda a: a.reshape(3, 4).any(0)),
    "all": (lambda t: t.reshape(3, 4).all(1), lambda a: a.reshape(3, 4).all(1)),
    "sum": (lambda t: t.sum(), lambda a: a.astype(np.int64).sum()),
    "sum of floats": (
        lambda t: t.sum(dtype=ag.float64),
        lambda a: a.astype(np.float64).sum(),
    ),
    "cumsum": (lambda t: t.cumsum(0), lambda a: a.astype(np.int64).cumsum()),
    "equal": (lambda t: ag.tensor(ag.equal(t, t.clone())), lambda a: True),
    "floor": (lambda t: t.floor(), lambda a: a),
    "bits": (lambda t: t.view(ag.uint8), lambda a: a.view(np.uint8)),
    "as_strided": (lambda t: t.as_strided((3, 2), (4, 1)), lambda a: a.reshape(3, 4)[:, :2]),
    "unfold": (
        lambda t: t.unfold(0, 3, 2),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, 3)[::2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("name", MOVES)
def test_elements_are_moved_and_ordered_as_by_numpy(name, dtype):
    here, there = MOVES[name]
    array = values_of(dtype)
    expected = there(array)
    t = tensor_of(array, dtype)
    result = here(t)
    np.testing.assert_array_equal(result.numpy(), expected)
    if name not in ("bits", "as_strided"):
        np.testing.assert_array_equal(here(strided(t)).numpy(), expected)
    np.testing.assert_array_equal(t.numpy(), array)


BINARY = {
    "mul": np.multiply,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("name", BINARY)
def test_two_tensors_are_combined_as_by_numpy(name, dtype):
    a = np.tile(values_of(dtype), 9)
    b = np.roll(a, 5)
    b[::7] = a[::7]
    with np.errstate(all="ignore"):
        expected = BINARY[name](a, b)
        once = BINARY[name](a, b[:1])
    s, t = ag.from_numpy(a), ag.from_numpy(b)
    f = getattr(ag, name)
    for x in (s, strided(s)):
        for y in (t, strided(t)):
            result = f(x, y)
            np.testing.assert_array_equal(result.numpy(), expected)
        np.testing.assert_array_equal(f(x, t[0]).numpy(), once)
        np.testing.assert_array_equal(f(x, int(b[0])).numpy(), once)
    assert result.dtype == (ag.bool if expected.dtype == bool else getattr(ag, dtype))


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("other", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "eq", "lt", "maximum", "pow"])
def test_beside_floats_they_are_floats(name, dtype, other):
    a, b = values_of(dtype), values_of(other)
    want = np.dtype(other)
    with np.errstate(all="ignore"):
        wide = a.astype("float32").astype(want) if other == "float16" else a.astype(want)
    result = getattr(ag, name)(ag.from_numpy(a), ag.from_numpy(b))
    same = getattr(ag, name)(ag.from_numpy(wide), ag.from_numpy(b))
    assert result.dtype == same.dtype
    np.testing.assert_array_equal(result.numpy(), same.numpy())


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_torch_gives(name, dtype):
    wanted = IN_TORCH[name][dtype]
    found = json.loads(json.dumps(result_of(ag, name, dtype), default=str))
    here = name != "index_put add" and name.split()[0] in COMPUTED_HERE
    if here and wanted[0] == "error" and "not implemented" in wanted[2]:
        assert found[0] == "value"
        return
    if wanted[0] == "value":
        assert found[:2] == wanted[:2], (found, wanted)
        if isinstance(wanted[2], list) and "float" in wanted[1]:
            np.testing.assert_allclose(found[2], wanted[2], rtol=1e-6)
        else:
            assert found[2] == wanted[2]
        return
    assert found[0] == "error", (found, wanted)
    assert found[1] == wanted[1], (found, wanted)
    for words in ("not implemented", "Promotion for", "without overflow", "attempted to promote"):
        assert (words in found[2]) == (words in wanted[2]), (found, wanted)
    if "Promotion" in wanted[2]:
        assert found[2].startswith(wanted[2])
    if "not implemented for" in wanted[2] and "UInt" in wanted[2] and name != "rand_like":
        assert wanted[2].partition("not ")[2] in found[2]


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_python_numbers_come_back_as_they_are(dtype):
    most = np.iinfo(dtype).max
    t = ag.tensor([most, 0], dtype=getattr(ag, dtype))
    assert t.tolist() == [int(most), 0] and t[0].item() == most and int(t[0]) == most
    assert float(t[0]) == float(most) and bool(t[0] == int(most))
    assert bool(t[0]) and not bool(t[1])
    assert range(100)[ag.tensor(3, dtype=getattr(ag, dtype))] == 3


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_memory_is_shared_with_numpy_buffers_and_dlpack(dtype):
    array = values_of(dtype)
    t = ag.from_numpy(array)
    assert t.dtype == getattr(ag, dtype) and ag.asarray(array).data_ptr() == t.data_ptr()
    t[0] = 5
    assert array[0] == 5
    assert t.numpy().dtype == array.dtype and np.asarray(t).ctypes.data == array.ctypes.data
    view = memoryview(t)
    assert np.frombuffer(view, dtype).tolist() == array.tolist() and view.itemsize == t.itemsize
    assert np.dtype(view.format) == array.dtype
    np.testing.assert_array_equal(np.from_dlpack(t), array)
    assert ag.from_dlpack(array).data_ptr() == t.data_ptr()
    raw = bytearray(array.tobytes())
    np.testing.assert_array_equal(ag.frombuffer(raw, dtype=getattr(ag, dtype)).numpy(), array)
    np.testing.assert_array_equal(ag.tensor(array).numpy(), array)
    np.testing.assert_array_equal(ag.tensor(list(array), dtype=getattr(ag, dtype)).numpy(), array)
    assert ag.tensor(array[3]).dtype == t.dtype
    assert ag.tensor(array.astype(array.dtype.newbyteorder(">"))).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("way", ["pickle", "save", "view", "parameter"])
def test_they_are_saved_and_loaded(dtype, way):
    t = ag.from_numpy(values_of(dtype))
    file = io.BytesIO()
    if way == "pickle":
        back = pickle.loads(pickle.dumps(t))
    elif way == "view":
        whole, part = {"t": t, "part": t[3:7]}, {}
        ag.save(whole, file)
        file.seek(0)
        part = ag.load(file)
        back = part["t"]
        assert part["part"].data_ptr() == back.data_ptr() + 3 * t.itemsize
    else:
        ag.save(ag.nn.Buffer(t) if way == "parameter" else t, file)
        file.seek(0)
        back = ag.load(file, weights_only=way != "parameter")
    assert back.dtype == t.dtype and back.tolist() == t.tolist()


def test_files_of_torch_are_read_and_written():
    torch = pytest.importorskip("torch")
    for dtype in UNSIGNED:
        array = values_of(dtype)
        file = io.BytesIO()
        torch.save({"x": torch.from_numpy(array), "y": torch.from_numpy(array)[2:5]}, file)
        file.seek(0)
        found = ag.load(file)
        np.testing.assert_array_equal(found["x"].numpy(), array)
        np.testing.assert_array_equal(found["y"].numpy(), array[2:5])
        file = io.BytesIO()
        ag.save({"x": ag.from_numpy(array), "y": ag.from_numpy(array)[2:5]}, file)
        file.seek(0)
        found = torch.load(file)
        np.testing.assert_array_equal(found["x"].numpy(), array)
        np.testing.assert_array_equal(found["y"].numpy(), array[2:5])


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_on_meta_shapes_and_dtypes_are_the_same(dtype):
    here = ag.zeros((3, 4), dtype=getattr(ag, dtype))
    there = here.to("meta")
    for f in (
        lambda t: t.to(ag.float32),
        lambda t: t * 2,
        lambda t: t == t,
        lambda t: t < 5,
        lambda t: ag.cat([t, t]),
        lambda t: t.sum(),
        lambda t: t[:, 1],
        lambda t: t.sort()[0],
        lambda t: t.clone().fill_(3),
    ):
        assert (f(there).dtype, f(there).shape) == (f(here).dtype, f(here).shape)
    with pytest.raises(NotImplementedError, match="not implemented for 'UInt"):
        there + there


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_random_integers_fill_the_range(dtype):
    ag.manual_seed(0)
    t = ag.randint(0, 60000, (1000,), dtype=getattr(ag, dtype))
    assert t.dtype == getattr(ag, dtype) and 0 <= int(t.long().min()) < 1000
    assert 59000 < int(t.long().max()) < 60000
    ag.manual_seed(0)
    same = ag.randint(0, 60000, (1000,), dtype=ag.int64)
    np.testing.assert_array_equal(t.numpy(), same.numpy())
