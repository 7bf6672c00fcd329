"""Windows whose elements share memory: one value may fill them, unless a stride is 0."""

import itertools
import random

import pytest
from endless import soon

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


def meet(sizes, strides):
    """Return whether two indices reach one element, by going through all of them."""
    indices = itertools.product(*map(range, sizes))
    places = [sum(i * step for i, step in zip(index, strides)) for index in indices]
    return len(set(places)) < len(places)


def is_refused(sizes, strides):
    reach = sum((size - 1) * step for size, step in zip(sizes, strides))
    x = torch.zeros(reach + 1, dtype=torch.uint8)
    try:
        x.as_strided(sizes, strides).add_(1)
    except RuntimeError as error:
        return "more than one element of the written-to tensor" in str(error)
    return False


def test_windows_are_refused_whose_elements_meet_and_no_others():
    rng = random.Random(5)
    found = {True: 0, False: 0}
    for _ in range(1000):
        nd = rng.randint(1, 4)
        sizes = [rng.randint(1, 4) for _ in range(nd)]
        strides = [rng.randint(0, 12) for _ in range(nd)]
        wanted = meet(sizes, strides)
        assert is_refused(sizes, strides) is wanted, f"{sizes}, {strides}"
        found[wanted] += 1
    assert min(found.values()) > 300


def steps_without_meeting(n):
    """Numbers whose sums are all different, though none is beyond the sum of those before it: the
    sequence of J. H. Conway and R. K. Guy (1968)."""
    u = [0, 1]
    while len(u) <= n:
        last = len(u) - 1
        u.append(2 * u[last] - u[last - round((2 * last) ** 0.5)])
    return [u[n] - x for x in u[:n]]


def test_windows_that_take_too_long_to_tell_are_refused_at_once():
    for n in (4, 7, 10):
        steps = steps_without_meeting(n)
        assert not meet([2] * n, steps)
        assert not is_refused([2] * n, steps)
    for n in (12, 16, 20):
        with soon():
            assert is_refused([2] * n, steps_without_meeting(n))
