"""Bools whose bytes are other than 0 and 1, as NumPy, buffers, files and views of bytes have them.

Every operator that takes bools reads such bytes as true, in values, shapes and places.
"""

import io
import zipfile

import numpy as np
import pytest
from calls import cases, make, outputs, tensor, to_array
from grouping import each
from test_op_lazy_bits import EXCLUDED, is_random

import autograd_cy as ag

BYTES = np.array([2, 255, 1, 16, 128], "uint8")


def raw(array, how="array"):
    """A tensor of bools with the values of an array, and other bytes in its memory."""
    array = np.asarray(array)
    shown = np.asarray(np.resize(BYTES, array.shape) * array, "uint8")
    if how == "gaps":  # every second element of wider rows
        wide = np.full((*array.shape[:-1], 2 * array.shape[-1]), 77, "uint8")
        wide[..., ::2] = shown
        return ag.from_numpy(wide.view(bool))[..., ::2]
    if how == "bytes":
        return ag.tensor(shown).view(ag.bool)
    return ag.from_numpy(shown.view(bool))


def plain(t):
    """Its values; NumPy sees the bytes of a view."""
    return to_array(t.clone()) if isinstance(t, ag.Tensor) else t


def usable(record):
    return not is_random(record) and record.name not in (*EXCLUDED, "view", "_view_dtype")


def calls(case):
    """The call with the sample's own bools, and the one where all elements are bools."""
    for name in ("float64", "int64", "bool"):
        letter = {"float64": "f", "int64": "i", "bool": "b"}[name]
        if letter in case.record.call.dtypes:
            call = make(case, name)
            if any(x.array.dtype == bool for x in call.leaves):
                yield call


@each("case", cases(usable))
def test_values_are_those_of_zeros_and_ones(case):
    for call in calls(case):
        clean = [tensor(x.array) for x in call.leaves]
        try:
            expected = outputs(call(clean))
        except (RuntimeError, NotImplementedError, IndexError, ValueError):
            continue  # no such call with bools
        for how in ("array", "bytes", "gaps"):
            given = [
                tensor(x.array)
                if x.array.dtype != bool or (how == "gaps" and not x.array.ndim)
                else raw(x.array, how)
                for x in call.leaves
            ]
            found = outputs(call(given))
            assert len(found) == len(expected)
            for x, y in zip(found, expected):
                np.testing.assert_array_equal(plain(x), plain(y), f"{case.id}, {how}")


def test_there_are_such_calls():
    assert sum(bool(list(calls(p.values[0]))) for p in cases(usable)) > 150


@pytest.mark.parametrize("how", ["array", "bytes", "gaps"])
def test_writing_in_place_leaves_zeros_and_ones(how):
    values = np.array([True, False, True, True])
    for change in (
        lambda t: t.logical_not_(),
        lambda t: t.logical_and_(ag.tensor([True, True, False, True])),
        lambda t: t.logical_xor_(t.clone()),
        lambda t: t.copy_(raw(values[::-1])),
        lambda t: t.masked_fill_(ag.tensor([True, False, False, False]), False),
        lambda t: t.__setitem__(slice(1, 3), True),
    ):
        found, expected = raw(values, how), ag.tensor(values)
        change(found)
        change(expected)
        assert found.tolist() == expected.tolist()
        assert int(found.sum()) == sum(expected.tolist())


def test_results_go_into_them():
    t = raw([True, False, True])
    alias = t
    t &= ag.tensor([True, True, False])
    assert t is alias
    assert t.tolist() == [True, False, False]
    out = raw([True, True, True])
    assert ag.logical_not(ag.tensor([True, False, False]), out=out) is out
    assert out.tolist() == [False, True, True]
    with pytest.warns(UserWarning, match="was resized"):
        assert ag.logical_not(ag.tensor([True, False]), out=out) is out
    assert out.tolist() == [False, True]
    memory = np.zeros(3, "uint8")
    t = ag.from_numpy(memory.view(bool))
    t |= ag.tensor([True, False, False])
    memory[:] = 8  # still bytes that others write
    assert t.sum() == 3
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        t.logical_or_(ag.ones(2, 3, dtype=ag.bool))


def test_repeated_rows_and_elements_of_them():
    t = raw([True, False, True])
    assert t.expand(4, 3).sum() == 8
    assert t[:, None].expand(3, 5).sum(1).tolist() == [5, 0, 5]
    assert t[:1].expand(7).sum() == 7
    assert t[:, None].expand(3, 0).sum() == 0


def test_bytes_written_through_another_view_count():
    mask = ag.zeros(4, dtype=ag.bool)
    mask.view(ag.uint8)[1] = 7
    assert mask.sum() == 1
    assert mask.nonzero().tolist() == [[1]]
    assert ag.arange(4)[mask].tolist() == [1]


def test_positions_are_as_many_as_are_true_whatever_the_bytes():
    # Written behind the tensor's back: what it counts must still be what it fills in.
    mask = ag.zeros(1000, dtype=ag.bool)
    mask.numpy().view("uint8")[::3] = 255
    assert mask.nonzero().flatten().tolist() == list(range(0, 1000, 3))
    x = ag.zeros(1000)
    x[mask] = 1.0
    assert x.sum() == 334


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("n", [1, 16, 63, 64, 65, 130])
def test_a_single_such_byte_is_found_wherever_it_is(rows, n):
    memory = np.zeros((rows, n + 3), "uint8")
    t = ag.from_numpy(memory.view(bool))
    for area in (t[:, :n], t[:, :n].t()) if rows > 1 else (t[0, :n],):
        for place in range(n):
            memory[rows - 1, place] = 4
            assert ag.sum(area).item() == 1
            memory[rows - 1, place] = 0
            memory[:, n] = 4  # beside it
            assert not ag.any(area)
            memory[:, n] = 0


def test_files_hold_such_bytes():
    file = io.BytesIO()
    ag.save({"mask": ag.ones(64, dtype=ag.bool)}, file)
    damaged = io.BytesIO()
    with zipfile.ZipFile(file) as given, zipfile.ZipFile(damaged, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            made.writestr(name, bytes([16]) * len(content) if "/data/" in name else content)
    damaged.seek(0)
    mask = ag.load(damaged)["mask"]
    assert mask.nonzero().flatten().tolist() == list(range(64))
    assert mask.sum() == 64


def test_what_leaves_is_the_same_memory():
    array = np.array([2, 0, 1], "uint8").view(bool)
    t = ag.from_numpy(array)
    assert np.shares_memory(t.numpy(), array)
    assert np.shares_memory(np.from_dlpack(t.view(ag.uint8)), array)
    assert ag.tensor(array).view(ag.uint8).tolist() == [1, 0, 1]
