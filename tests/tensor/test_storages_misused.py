"""Storages as objects beside torch's: wrong values, buffers that stay, sizes beyond memory."""

import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import UntypedStorage

VALUES = {
    "an int": 7,
    "a large int": 300,
    "a negative int": -1,
    "2**62": 2**62,
    "a bool": True,
    "a float": 1.5,
    "a text": "3",
    "nothing": None,
    "a list": [1],
    "two": [1, 2],
    "a tuple": (1, 2),
    "bytes": b"a",
    "a range": range(2),
    "an array": np.array([1, 2]),
    "a storage": "storage",
    "a tensor": "tensor",
    "tensors": "tensors",
}
# Name -> what is done to a storage with a value; a result that can be compared.
USES = {
    "untyped item": lambda t, s, v: s.__setitem__(0, v),
    "untyped slice": lambda t, s, v: s.__setitem__(slice(1, 3), v),
    "untyped fill": lambda t, s, v: s.fill_(v) and None,
    "untyped get": lambda t, s, v: s[v],
    "typed item": lambda t, s, v: s.__setitem__(0, v),
    "typed slice": lambda t, s, v: s.__setitem__(slice(1, 3), v),
    "typed fill": lambda t, s, v: s.fill_(v) and None,
    "typed get": lambda t, s, v: s[v],
    "untyped resize": lambda t, s, v: s.resize_(v) and None,
}
# What torch does by mistake: it takes 2**62 for one byte only in some calls, and gives
# SystemErrors; arrays and tensors of one element are asked for their __index__ there.
_OTHERWISE = {
    ("untyped item", "2**62"), ("untyped slice", "2**62"), ("untyped fill", "2**62"),
    ("untyped resize", "2**62"), ("untyped resize", "an int"), ("untyped resize", "a large int"),
    ("untyped get", "2**62"), ("typed get", "2**62"), ("untyped get", "an array"),
    ("untyped get", "a bool"), ("untyped get", "a tensor"), ("typed get", "a tensor"),
    ("untyped item", "a tensor"), ("untyped slice", "a tensor"), ("untyped fill", "a tensor"),
    ("untyped resize", "a tensor"), ("untyped get", "tensors"), ("typed get", "tensors"),
}  # fmt: skip


def outcome(lib, use, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {
            "storage": lambda: lib.FloatStorage([4.0]),
            "tensor": lambda: lib.tensor(2.0),
            "tensors": lambda: lib.tensor([1.0, 2.0]),
        }
        value = made[value]() if isinstance(value, str) and value in made else value
        if use.startswith("typed"):
            s = lib.FloatStorage([1.0, 2.0, 3.0])
        else:
            s = lib.UntypedStorage([1, 2, 3])
        before = s.tolist()
        try:
            found = USES[use](lib, s, value)
        except Exception as error:
            assert s.tolist() == before
            return type(error).__name__
        return found, s.tolist()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("value", VALUES)
def test_values_are_taken_and_refused_as_in_torch(use, value):
    torch = pytest.importorskip("torch")
    if (use, value) in _OTHERWISE:
        outcome(ag, use, VALUES[value])
        return
    assert outcome(ag, use, VALUES[value]) == outcome(torch, use, VALUES[value])


def test_a_buffer_keeps_the_bytes_that_it_shows():
    s = UntypedStorage(64).fill_(7)
    view = memoryview(s)
    with pytest.raises(RuntimeError, match="not resizable: tensors or arrays use the memory"):
        s.resize_(1 << 26)
    others = [UntypedStorage(64).fill_(9) for _ in range(100)]
    assert set(view) == {7} and s[0] == 7
    view[0] = 3
    assert s[0] == 3 and all(other[0] == 9 for other in others)
    s.resize_(8)
    assert view[63] == 7  # the block has the size with which it was allocated
    view.release()
    assert s.resize_(1 << 20).nbytes() == 1 << 20
    array = np.frombuffer(s, np.uint8)
    del s
    assert array.size == 1 << 20 and array[0] == 3


def test_numbers_of_programs_may_change_the_storage():
    s = UntypedStorage(64).fill_(7)

    class Growing:
        def __index__(self):
            s.resize_(1 << 20)
            self.others = [UntypedStorage(64).fill_(9) for _ in range(100)]
            return 5

    for write in (s.fill_, lambda value: s.__setitem__(slice(0, 9), value)):
        number = Growing()
        write(number)
        assert s[0] == 5 and all(set(other.tolist()) == {9} for other in number.others)

    class Shrinking:
        def __index__(self):
            s.resize_(4)
            return 6

    s[10:20] = Shrinking()
    assert s.tolist() == [5] * 4

    class Lying(UntypedStorage):
        def resizable(self):
            return True

    part = Lying(64)[8:16]
    with pytest.raises(RuntimeError, match="not resizable"):
        part.resize_(1000)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("size", [2**63, 2**64, 2**100])
def test_sizes_that_no_machine_has_are_a_value_error(size):
    for make in (
        lambda: UntypedStorage(size),
        lambda: UntypedStorage(size, device="meta"),
        lambda: UntypedStorage(3).resize_(size),
        lambda: ag.storage.TypedStorage(size, dtype=ag.float32),
    ):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            make()


def test_bytes_are_swapped_by_dtypes_of_which_there_are_whole_ones():
    s = UntypedStorage([1, 2, 3, 4, 5, 6])

    class Nothing:
        itemsize, is_complex = 0, False

    for wrong in (Nothing(), None, 2, "int16", np.dtype("int16")):
        with pytest.raises(RuntimeError, match="expected autograd_cy.dtype"):
            s.byteswap(wrong)
    for dtype in (ag.float32, ag.complex64, ag.float64, ag.uint64):
        with pytest.raises(RuntimeError, match="is not a multiple of"):
            s.byteswap(dtype)
    assert s.tolist() == [1, 2, 3, 4, 5, 6]
    s.byteswap(ag.uint16)
    assert s.tolist() == [2, 1, 4, 3, 6, 5]
