"""Repeated elements, and copies by an index into a number."""

import pytest

import autograd_cy as ag
from autograd_cy import func


def test_what_is_repeated_and_how_often():
    x = ag.tensor([1, 2])
    assert x.repeat_interleave(2).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor(2)).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor([2])).tolist() == [1, 1, 2, 2]
    assert x.repeat_interleave(ag.tensor([0, 3], dtype=ag.int32)).tolist() == [2, 2, 2]
    for wrong in (ag.ones(2, 2, dtype=ag.int64), ag.ones(1, 2, dtype=ag.int64), ag.ones(2)):
        with pytest.raises(RuntimeError, match="repeats"):
            x.repeat_interleave(wrong)
    with pytest.raises(RuntimeError, match="repeats"):
        x.repeat_interleave(ag.tensor([1, 2, 3]))


def test_copies_by_index_into_a_number():
    for index, source in (([0], [5.0]), ([0], 5.0), (0, 5.0), ([-1], [5.0])):
        found = ag.tensor(1.0).index_copy(0, ag.tensor(index) % 1, ag.tensor(source))
        assert found.shape == () and found.item() == 5.0
    each_one = func.vmap(lambda t, s: t.index_copy(0, ag.tensor([0]), s))
    assert each_one(ag.zeros(2), ag.ones(2, 1)).tolist() == [1.0, 1.0]


def test_repeats_beyond_all_memory():
    x, often = ag.ones(2), ag.tensor([2**40, 2**40])
    with pytest.raises(ag.OutOfMemoryError, match="repeat_interleave: cannot allocate 1759218604"):
        x.repeat_interleave(often)
    with pytest.raises(ag.OutOfMemoryError, match="repeat_interleave: cannot allocate 1759218604"):
        ag.repeat_interleave(often)
    with pytest.raises(RuntimeError, match=r"overflowed with sizes=\[9223372036854775808\]"):
        x.repeat_interleave(often * 2**22)
    with pytest.raises(RuntimeError, match="allocated size does not match .* 3 and 2199023255552"):
        x.repeat_interleave(often, output_size=3)
    with pytest.raises(RuntimeError, match="can not be negative"):
        x.repeat_interleave(ag.tensor([2**40, -1]))
    assert x.repeat_interleave(ag.tensor([0, 0])).shape == (0,)
    assert ag.ones(0).repeat_interleave(ag.ones(0, dtype=ag.int64)).shape == (0,)
