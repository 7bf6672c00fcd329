"""How often elements are repeated, and copies by an index into a number."""

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
