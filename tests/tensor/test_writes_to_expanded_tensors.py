"""In-place writes to tensors whose elements stand at several places: right, or refused.

Fills by masks and by index write an element where one of its places is meant, and warn, as in
torch; all other in-place forms are refused, and change nothing.
"""

import sys
from pathlib import Path

import pytest
from grouping import each

import autograd_cy as ag

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))

from calls import Case, make, records, to_array
from test_op_inplace_and_out import dtype_of, inplace_form

TAKEN = ("masked_fill", "index_fill", "threshold")
DEPRECATED = "on expanded tensors is deprecated"


def written(record):
    if (
        not record.call.inplace
        or not record.tests.samples
        or record.name in TAKEN
        or record.call.idle is not None
    ):
        return False
    call = make(Case(record, 0), dtype_of(record))
    return bool(call.leaves) and call.arrays[0].ndim > 0 and call.arrays[0].shape[0] > 1


@each("record", records(written))
def test_other_in_place_forms_are_refused_and_change_nothing(record):
    call = make(Case(record, 0), dtype_of(record))
    tensors = call.tensors()
    base = tensors[0][:1].clone()
    before = to_array(base)
    with pytest.raises(RuntimeError, match="single memory|doesn't match the broadcast shape"):
        call([base.expand(tensors[0].shape), *tensors[1:]], inplace_form(record))
    assert (to_array(base) == before).all() and base._version == 0


def random_mask(shape, seed):
    return ag.rand(shape, generator=ag.Generator().manual_seed(seed)) < 0.4


WINDOWS = {
    "rows": lambda x: x[:1].expand(4, 3),
    "columns": lambda x: x[:, :1].expand(4, 3),
    "everything": lambda x: x[:1, :1].expand(4, 3),
    "more dimensions": lambda x: x[:1].expand(2, 4, 3),
    "turned": lambda x: x[:1].expand(4, 3).t(),
}


def places(view):
    """For each place of a view, the number of the element of the base that it shows."""
    numbers = ag.arange(12).view(4, 3)
    return numbers.as_strided(view.shape, view.stride(), view.storage_offset())


@each("name", sorted(WINDOWS))
def test_masked_fill_writes_where_one_place_is_meant(name):
    for seed in range(5):
        base = ag.arange(12.0).view(4, 3)
        view = WINDOWS[name](base)
        mask = random_mask(view.shape, seed)
        expected = base.clone().view(-1)
        for number, meant in zip(places(view).flatten().tolist(), mask.flatten().tolist()):
            if meant:
                expected[number] = -1.0
        for write in (
            lambda v: v.masked_fill_(mask, -1.0),
            lambda v: v.masked_fill_(mask, ag.tensor(-1.0)),
            lambda v: v.__setitem__(mask, -1.0),
        ):
            base = ag.arange(12.0).view(4, 3)
            with pytest.warns(UserWarning, match=DEPRECATED):
                write(WINDOWS[name](base))
            assert base.view(-1).tolist() == expected.tolist()


@each("name", sorted(WINDOWS))
def test_index_fill_and_index_put_write_where_one_place_is_meant(name):
    shape = WINDOWS[name](ag.zeros(4, 3)).shape
    for dim in range(len(shape)):
        index = ag.tensor([1, 0])
        ways = [(lambda v: v.index_fill_(dim, index, -1.0), ag.tensor([-1.0]))]
        where = tuple([slice(None)] * dim + [index])
        ways.append((lambda v: v.__setitem__(where, -1.0), ag.tensor([-1.0])))
        for write, _ in ways:
            base = ag.arange(12.0).view(4, 3)
            view = WINDOWS[name](base)
            expected = base.clone().view(-1)
            expected[places(view).index_select(dim, index).flatten()] = -1.0
            with pytest.warns(UserWarning, match=DEPRECATED):
                write(view)
            assert base.view(-1).tolist() == expected.tolist()


def test_index_put_keeps_the_last_value_or_adds_all():
    for added, expected in ((False, [3.0, 5.0, 2.0]), (True, [4.0, 6.0, 2.0])):
        base = ag.tensor([[0.0, 1.0, 2.0]])
        where = ag.tensor([0, 0, 1]), ag.tensor([0, 1, 0])
        with pytest.warns(UserWarning, match=DEPRECATED):
            base.expand(2, 3).index_put_(where, ag.tensor([1.0, 5.0, 3.0]), accumulate=added)
        assert base.tolist() == [expected]


def test_threshold_of_expanded_tensors():
    base = ag.tensor([[-1.0, 1.0, 3.0]])
    ag.nn.functional.threshold_(base.expand(4, 3), 0.5, 7.0)
    assert base.tolist() == [[7.0, 1.0, 3.0]]


@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.masked_fill_(v.detach() > 0, 2.0),
        lambda v: v.index_fill_(0, ag.tensor([0]), 2.0),
        lambda v: v.index_put_((ag.tensor([0]),), ag.tensor(2.0)),
        lambda v: v.__setitem__(v.detach() > 0, 2.0),
        lambda v: ag.nn.functional.threshold_(v, 0.5, 2.0),
    ],
)
def test_what_is_recorded_is_refused(write):
    x = ag.ones(1, 3, requires_grad=True)
    y = x * 1
    with pytest.raises(RuntimeError, match="single memory"):
        write(y.expand(2, 3))
    assert y.tolist() == [[1.0] * 3]
