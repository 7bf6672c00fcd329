"""Windows whose elements share memory: one value may fill them, unless a stride is 0."""

import pytest

import autograd_cy as torch


@pytest.mark.parametrize("value", [5.0, torch.tensor(5.0)])
def test_one_value_may_fill_windows_that_overlap(value):
    x = torch.zeros(4)
    x.unfold(0, 2, 1)[...] = value
    assert x.tolist() == [5.0] * 4
    x.unfold(0, 2, 1).fill_(6.0)
    assert x.tolist() == [6.0] * 4


@pytest.mark.parametrize("value", [5.0, torch.tensor(5.0), torch.ones(3)])
def test_expanded_windows_are_refused_and_unchanged(value):
    x = torch.zeros(1)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.expand(3)[...] = value
    if isinstance(value, torch.Tensor):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            x.expand(3).copy_(value)
    assert x.tolist() == [0.0]
    assert x._version == 0


WINDOWS = [(start, stop) for start in range(6) for stop in range(start, 7)]


@pytest.mark.parametrize(
    "write",
    [
        lambda to, source: to.copy_(source),
        lambda to, source: to.mul_(source),
        lambda to, source: torch.add(source, torch.zeros(to.shape), out=to),
    ],
    ids=["copy_", "mul_", "add"],
)
def test_what_is_read_and_written_is_refused_unless_it_is_the_same(write):
    """All windows of a vector, empty ones and single elements too, that are not the same."""
    for to in WINDOWS:
        for source in WINDOWS:
            length = source[1] - source[0]
            if to == source or length not in (1, to[1] - to[0]):
                continue
            x = torch.arange(6.0)
            if max(to[0], source[0]) >= min(to[1], source[1]):
                write(x[slice(*to)], x[slice(*source)])
                continue
            with pytest.raises(RuntimeError, match="single memory location"):
                write(x[slice(*to)], x[slice(*source)])
            assert x.tolist() == list(range(6)), (
                f"{to} of {source}: changed in spite of the refusal"
            )
