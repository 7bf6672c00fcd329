"""Sizes, strides and offsets beyond 64 bits are errors; nothing outside of memory is touched."""

import pytest

import autograd_cy as ag

BIG = 2**62
LAST = 2**63 - 1


def wide(n=BIG):
    return ag.zeros(1).expand(n)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ag.zeros(5).as_strided((2,), (2**61 + 2**60,)),
        lambda: ag.zeros(5).as_strided((3,), (1,), LAST),
        lambda: ag.zeros(5).as_strided((3,), (1,), BIG),
        lambda: ag.zeros(5).as_strided((2, 2), (BIG, BIG)),
        lambda: ag.zeros(5).as_strided((LAST,), (LAST,)),
        lambda: ag.zeros(5).as_strided((2,), (2**60,), 2**60),
        lambda: ag.empty_strided((2, 2), (BIG, BIG)),
        lambda: ag.empty_strided((BIG,), (4,)),
        lambda: ag.zeros(BIG, 4),
        lambda: ag.empty(BIG, BIG),
        lambda: ag.full((2**33, 2**33), 1.0),
    ],
)
def test_storage_sizes_beyond_64_bits_are_refused(call):
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: ag.zeros(1).expand(BIG, 4),
        lambda: ag.zeros(1, 1).expand(BIG, 4),
        lambda: ag.broadcast_to(ag.zeros(1), (BIG, 8)),
        lambda: ag.zeros(5).resize_(BIG, 4),
        lambda: ag.zeros(0).view(2**32, 2**32),
        lambda: ag.zeros(1).view(2**32, 2**32),
    ],
)
def test_numbers_of_elements_beyond_64_bits_are_refused(call):
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow|is invalid for"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: ag.cat([wide()] * 4 + [ag.zeros(3)]),
        lambda: ag.cat([wide(LAST), wide(LAST)]),
        lambda: ag.stack([wide()] * 4),
        lambda: ag.zeros(5).narrow(0, 1, LAST),
        lambda: ag.zeros(5).reshape(BIG, -1),
        lambda: ag.zeros(4).reshape(BIG, BIG),
        lambda: ag.zeros(0).reshape(-1, BIG, 4),
        lambda: ag.zeros(5).repeat(LAST),
        lambda: ag.zeros(5).tile((LAST,)),
        lambda: ag.diag_embed(ag.zeros(5), LAST),
        lambda: ag.diag_embed(ag.zeros(5), -LAST - 1),
        lambda: ag.zeros(5).resize_(LAST),
        lambda: ag.zeros(5).split([BIG, BIG, BIG, BIG + 5]),
        lambda: ag.zeros(5).unfold(0, LAST, 1),
        lambda: ag.arange(0, 1e300),
        lambda: ag.arange(0, 1, 1e-300),
        lambda: ag.eye(2**40),
        lambda: ag.zeros(3, 4).unflatten(1, (BIG, -1)),
        lambda: ag.zeros(3).as_strided((1,), (1,), -1),
    ],
)
def test_results_that_cannot_be_counted_are_errors(call):
    with pytest.raises((RuntimeError, MemoryError)):
        call()


def test_steps_of_any_size_stay_inside():
    x = ag.arange(5)
    assert x[::LAST].tolist() == [0]
    assert x[1::LAST].tolist() == [1]
    assert x.unfold(0, 2, LAST).tolist() == [[0, 1]]
    assert [p.tolist() for p in x.chunk(LAST)] == [[0], [1], [2], [3], [4]]
    assert [p.tolist() for p in x.split(LAST)] == [[0, 1, 2, 3, 4]]
    assert ag.zeros(2, 2).diagonal(LAST).tolist() == []
    assert ag.zeros(2, 2).diagonal(-LAST - 1).tolist() == []
    assert x.roll(LAST).tolist() == x.roll(LAST % 5).tolist()


def test_chunks_have_the_sizes_of_torch():
    assert [p.numel() for p in ag.arange(10).chunk(4)] == [3, 3, 3, 1]
    assert [p.numel() for p in ag.arange(10).chunk(20)] == [1] * 10
    assert [p.numel() for p in ag.zeros(0).chunk(3)] == [0, 0, 0]
    assert [p.numel() for p in ag.zeros(0).unsafe_chunk(3)] == [0, 0, 0]


def test_empty_windows_lie_inside_of_their_memory():
    x = ag.zeros(4, 4)
    for window in (
        x.as_strided((0,), (1,), LAST),
        x.as_strided((0, 3), (1, 1), 2**40),
        x.diagonal(4),
        x.diagonal(-4),
        x.diagonal(LAST),
        x[4:],
        x.narrow(0, 4, 0),
    ):
        assert window.numel() == 0
        assert 0 <= window.storage_offset() <= 16 and window.data_ptr() == 0


def test_nothing_is_changed_by_a_refused_window():
    x = ag.zeros(5)
    for size, stride, offset in (((2,), (2**61 + 2**60,), 0), ((3,), (1,), 2**62), ((9,), (1,), 0)):
        with pytest.raises(RuntimeError):
            x.as_strided(size, stride, offset)
        with pytest.raises(RuntimeError):
            x.as_strided_(size, stride, offset)
    with pytest.raises(RuntimeError):
        x.resize_(BIG, 4)
    assert x.shape == (5,) and x.stride() == (1,) and x.tolist() == [0.0] * 5
