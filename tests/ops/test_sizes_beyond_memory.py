"""Results that no memory could hold: errors of torch's type, which name the size."""

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


def test_bins_by_the_largest_number():
    for weights in (None, ag.ones(1)):
        with pytest.raises(RuntimeError, match="maximum value of input overflowed.*9223372036854"):
            ag.bincount(ag.tensor([2**63 - 1]), weights)
    with pytest.raises(RuntimeError, match="overflowed with sizes"):
        ag.bincount(ag.tensor([2**63 - 2]))
    with pytest.raises(ag.OutOfMemoryError, match="8796093022216 bytes"):
        ag.bincount(ag.tensor([2**40]))


def test_bins_by_their_number():
    x = ag.tensor([1.0, 2.0])
    for bins in (2**60, 2**62, 2**63 - 1):
        with pytest.raises(RuntimeError, match=rf"histc\(\): .* overflowed with bins={bins}"):
            ag.histc(x, bins)
    with pytest.raises(ag.OutOfMemoryError, match="histc: .*1099511627776"):
        ag.histc(x, 2**40)


def test_planes_of_elements_that_were_chosen():
    for rank in (1, 2, 3):
        shape = [1, 1] + [2] * rank
        x, places = ag.ones(shape), ag.zeros(shape, dtype=ag.int64)
        with pytest.raises(RuntimeError, match=rf"max_unpool{rank}d: .*allocate|overflow"):
            getattr(F, f"max_unpool{rank}d")(x, places, 2**40)
    with pytest.raises(RuntimeError, match=r"max_unpool2d: .*planes of \[2199023255552, 2199023"):
        F.max_unpool2d(ag.ones(1, 1, 2, 2), ag.zeros(1, 1, 2, 2, dtype=ag.int64), 2**40)


def test_parts_of_dimensions():
    for sizes in ((2**62, 2), (2**63 - 1, 2), (-1, 2**62, 4)):
        with pytest.raises(RuntimeError, match="don't multiply up to the size of dim 0"):
            ag.ones(2).unflatten(0, sizes)
    assert ag.ones(0, 3).unflatten(0, (2, -1)).shape == (2, 0, 3)


def test_transforms_of_many_elements():
    for n in (2**62, 2**63 - 1):
        with pytest.raises(RuntimeError, match="fft: Storage size calculation overflowed"):
            ag.fft.fft(ag.ones(2), n)


def test_ways_to_take_more_than_there_is():
    x = ag.ones(3, requires_grad=True)
    for count in (4, 2**40, 2**63 - 1):
        rows = ag.combinations(x, count)
        assert rows.shape == (0, count)
    rows.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
