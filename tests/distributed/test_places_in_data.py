"""The place in the data: what a loader gives after its state is loaded."""

import json

import pytest

import autograd_cy as torch
from autograd_cy.utils.data import (
    BatchSampler,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    StatefulDataLoader,
    WeightedRandomSampler,
)
from autograd_cy.utils.data.distributed import MicroBatchSampler

DATA = list(range(24))


class Stream(IterableDataset):
    def __iter__(self):
        return iter(DATA)


def loaders():
    generator = torch.Generator
    return {
        "in order": lambda: StatefulDataLoader(DATA, batch_size=4),
        "no batches": lambda: StatefulDataLoader(DATA, batch_size=None),
        "shuffled": lambda: StatefulDataLoader(DATA, batch_size=4, shuffle=True),
        "generator": lambda: StatefulDataLoader(
            DATA, batch_size=4, shuffle=True, generator=generator().manual_seed(5)
        ),
        "replaced": lambda: StatefulDataLoader(
            DATA, 4, sampler=RandomSampler(DATA, True, 30, generator().manual_seed(1))
        ),
        "weighted": lambda: StatefulDataLoader(
            DATA, 4, sampler=WeightedRandomSampler(range(24), 30)
        ),
        "batch sampler": lambda: StatefulDataLoader(
            DATA, batch_sampler=BatchSampler(RandomSampler(DATA), 5, False)
        ),
        "shared": lambda: StatefulDataLoader(DATA, 4, sampler=DistributedSampler(DATA, 2, 1)),
        "micro": lambda: StatefulDataLoader(
            DATA, batch_sampler=MicroBatchSampler(DATA, 8, 4, 2, 1)
        ),
        "stream": lambda: StatefulDataLoader(Stream(), batch_size=4),
        "workers": lambda: StatefulDataLoader(DATA, 4, shuffle=True, num_workers=1),
        "persistent": lambda: StatefulDataLoader(
            DATA, 4, shuffle=True, num_workers=1, persistent_workers=True
        ),
    }


def values(batches):
    return [batch.tolist() if isinstance(batch, torch.Tensor) else batch for batch in batches]


@pytest.mark.parametrize("kind", sorted(loaders()))
def test_a_loader_goes_on_after_the_batch_that_was_taken_last(kind):
    make = loaders()[kind]
    torch.manual_seed(0)
    loader = make()
    list(loader)  # a pass before
    passing = iter(loader)
    for taken in range(4):
        state = loader.state_dict()
        generator = torch.get_rng_state()
        assert state["batches"] == taken
        again = make()
        torch.manual_seed(9)
        again.load_state_dict(state)
        assert again.state_dict() == state or taken
        torch.set_rng_state(generator)
        rest = values(again)
        after, next_pass = torch.get_rng_state(), values(again)
        torch.set_rng_state(generator)
        if taken == 3:
            assert rest == values(passing)
            assert torch.equal(torch.get_rng_state(), after) and values(loader) == next_pass
            assert loader.state_dict()["batches"] == 0
        else:
            values([next(passing)])


def test_a_pass_whose_batches_are_all_taken_ends():
    loader = StatefulDataLoader(DATA, batch_size=8)
    passing = iter(loader)
    for _ in range(3):
        next(passing)
    state = loader.state_dict()
    assert state["is_whole"]
    again = StatefulDataLoader(DATA, batch_size=8)
    again.load_state_dict(state)
    assert list(again) == [] and len(list(again)) == 3 and len(again) == 3


def test_the_last_pass_that_began_counts():
    loader = StatefulDataLoader(DATA, batch_size=4)
    first = iter(loader)
    next(first)
    second = iter(loader)
    assert loader.state_dict()["batches"] == 0
    next(second), next(second), next(first)
    assert loader.state_dict()["batches"] == 2 and len(second) == 6
    list(first)
    assert loader.state_dict()["batches"] == 2


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (2, 4), (4, 2)])
@pytest.mark.parametrize("micro", [False, True])
def test_another_number_of_processes_goes_on_at_the_same_place(before, after, micro):
    def make(size, rank):
        if micro:
            sampler = MicroBatchSampler(DATA, 8, 4, size, rank)
            sampler.set_epoch(2)
            return StatefulDataLoader(DATA, batch_sampler=sampler)
        sampler = DistributedSampler(DATA, size, rank)
        sampler.set_epoch(2)
        return StatefulDataLoader(DATA, 8 // size, sampler=sampler)

    seen = []
    for rank in range(before):
        loader = make(before, rank)
        passing = iter(loader)
        steps = 4 // before if micro else 1  # to the end of the first batch of all processes
        seen += [next(passing) for _ in range(steps)]
    state = loader.state_dict()
    assert state["samples"] == 8
    for rank in range(after):
        again = make(after, rank)
        again.load_state_dict(state)
        seen += list(again)
    assert sorted(torch.cat(seen).tolist()) == DATA


@pytest.mark.parametrize(
    ("before", "batches", "after"), [(2, 2, 4), (4, 2, 2), (6, 3, 9), (5, 0, 3)]
)
def test_another_size_of_batches_goes_on_at_the_same_sample(before, batches, after):
    loader = StatefulDataLoader(range(24), before)
    passing = iter(loader)
    for _ in range(batches):
        next(passing)
    state = loader.state_dict()
    loader = StatefulDataLoader(range(24), after)
    loader.load_state_dict(state)
    rest = [sample for batch in loader for sample in batch.tolist()]
    assert rest == list(range(before * batches, 24))
    del state["batch_size"]  # as of an older version
    loader.load_state_dict(state)


def test_the_beginning_is_the_same_for_samples_without_batches():
    loader = StatefulDataLoader(range(3), None)
    loader.load_state_dict(StatefulDataLoader(range(3), 2).state_dict())
    assert list(loader) == [0, 1, 2]


def test_places_that_do_not_fit_are_refused():
    def place(batches, loader):
        passing = iter(loader)
        for _ in range(batches):
            next(passing)
        return loader.state_dict()

    shared = place(1, StatefulDataLoader(DATA, 3, sampler=DistributedSampler(DATA, 2, 0)))
    plain = place(1, StatefulDataLoader(DATA, 3, shuffle=True))
    micro = place(1, StatefulDataLoader(DATA, batch_sampler=MicroBatchSampler(DATA, 8, 4, 2, 0)))
    other = {**plain, "generators": {"rank5": plain["generators"]["rank0"]}}
    for state, loader, message in (
        (plain, StatefulDataLoader(DATA[:-1], 3, shuffle=True), "a data set of 24 samples, and"),
        (plain, StatefulDataLoader(DATA, sampler=DistributedSampler(DATA, 2, 0)), "another kind"),
        (shared, StatefulDataLoader(DATA, 3), "another kind of sampler"),
        (
            shared,
            StatefulDataLoader(DATA, 4, sampler=DistributedSampler(DATA, 1, 0)),
            "6 samples were taken over all processes, which isn't a multiple",
        ),
        (
            micro,
            StatefulDataLoader(DATA, batch_sampler=MicroBatchSampler(DATA, 8, 4, 1, 0)),
            "4 samples were taken",
        ),
        (other, StatefulDataLoader(DATA, 3, shuffle=True), "aren't known for process 0"),
        (plain, StatefulDataLoader(DATA, 4, shuffle=True), "batch_size=3, and .* batch_size=4"),
        (plain, StatefulDataLoader(DATA, None), "batch_size=3, and .* batch_size=None"),
    ):
        with pytest.raises(ValueError, match=message):
            loader.load_state_dict(state)
    StatefulDataLoader(DATA, 3).load_state_dict(other)
    json.dumps({**shared, "generators": None})
