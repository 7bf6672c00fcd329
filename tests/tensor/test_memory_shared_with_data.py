"""`x.data` counts its changes apart from `x`, and has the same memory: overlaps with it show."""

import pytest

import autograd_cy as ag

REFUSED = {
    "copy_": lambda x: x[1:].copy_(x.data[:-1]),
    "add_": lambda x: x[1:].add_(x.data[:-1]),
    "out=": lambda x: ag.add(x.data[:-1], 1, out=x[1:]),
    "where": lambda x: ag.where(x.data[:-1] > 1, x.data[:-1], 0.0, out=x[1:]),
    "scatter_": lambda x: x.scatter_(0, ag.tensor([1, 2]), x.data[:2]),
    "index_copy_": lambda x: x.index_copy_(0, ag.tensor([1, 2]), x.data[:2]),
    "x[1:] =": lambda x: x.__setitem__(slice(1, None), x.data[:-1]),
    "mul_ by an element": lambda x: x.mul_(x.data[2]),
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("turned", [False, True])
def test_writing_over_what_is_still_to_be_read_is_refused(change, turned):
    x = ag.arange(6.0)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        change(x.data if turned else x)
    if not turned:
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            change(x.detach())
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_one_element_is_read_before_it_is_written():
    def row(change):
        x = ag.arange(4.0)
        change(x)
        return x.tolist()

    mask = ag.tensor([True, False, True, True])
    assert row(lambda x: x.__setitem__(mask, x.data[3])) == [3.0, 1.0, 3.0, 3.0]
    assert row(lambda x: x.masked_fill_(mask, x.data[3])) == [3.0, 1.0, 3.0, 3.0]
    assert row(lambda x: x.fill_(x.data[1])) == [1.0] * 4
    assert row(lambda x: x.__setitem__(slice(None), x.data[2:3])) == [2.0] * 4
    assert row(lambda x: x.index_put_((mask,), x.data[0])) == [0.0, 1.0, 0.0, 0.0]


def test_the_same_places_may_be_read_and_written():
    x = ag.arange(4.0)
    x.add_(x.data)
    x.data.mul_(x)
    x.copy_(x.data)
    ag.neg(x.data, out=x)
    assert x.tolist() == [-0.0, -4.0, -16.0, -36.0]


def test_columns_of_one_matrix_are_copied():
    x = ag.arange(6.0).reshape(3, 2)
    x[:, 1].copy_(x.data[:, 0])
    ag.add(x.data[:, 0], 1, out=x[:, 1])
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    ag.kron(x.data[:, :1], ag.ones(1, 1), out=x[:, 1:])
    assert x.tolist() == [[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]
