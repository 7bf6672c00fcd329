"""Schedules resumed, nested and given wrong states, beside torch's rates."""

import copy
import warnings

import pytest
from grouping import each

import autograd_cy as ag

torch = pytest.importorskip("torch")

KINDS = {
    "LambdaLR": lambda s, o, **k: s.LambdaLR(o, lambda e: 0.9**e, **k),
    "MultiplicativeLR": lambda s, o, **k: s.MultiplicativeLR(o, lambda e: 0.95, **k),
    "StepLR": lambda s, o, **k: s.StepLR(o, 7, 0.5, **k),
    "MultiStepLR": lambda s, o, **k: s.MultiStepLR(o, [3, 10, 10, 20], **k),
    "ConstantLR": lambda s, o, **k: s.ConstantLR(o, 0.5, 10, **k),
    "LinearLR": lambda s, o, **k: s.LinearLR(o, 0.1, 0.9, 20, **k),
    "ExponentialLR": lambda s, o, **k: s.ExponentialLR(o, 0.9, **k),
    "PolynomialLR": lambda s, o, **k: s.PolynomialLR(o, 30, 2.0, **k),
    "CosineAnnealingLR": lambda s, o, **k: s.CosineAnnealingLR(o, 20, 0.01, **k),
    "restarts": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 5, **k),
    "longer restarts": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 3, 2, **k),
    "CyclicLR": lambda s, o, **k: s.CyclicLR(o, 0.01, 0.1, 4, 7, mode="triangular2", **k),
    "OneCycleLR": lambda s, o, **k: s.OneCycleLR(o, 0.5, 60, three_phase=True, **k),
}
NESTED = {
    "one after the other": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1, 5), s.CosineAnnealingWarmRestarts(o, 4)], [7]
    ),
    "the second at once": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 3), s.StepLR(o, 2)], [0]),
    "sequence in sequence": lambda s, o: s.SequentialLR(
        o,
        [
            s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [3]),
            s.StepLR(o, 3),
        ],
        [10],
    ),
    "chain in sequence": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.StepLR(o, 3), s.ExponentialLR(o, 0.9)]), s.StepLR(o, 3)], [10]
    ),
    "chain": lambda s, o: s.ChainedScheduler([s.StepLR(o, 3), s.CosineAnnealingLR(o, 10)]),
}


def optimizer(lib):
    groups = [{"params": [lib.ones(1)]}, {"params": [lib.ones(1)], "lr": 0.2}]
    return lib.optim.SGD(groups, lr=0.1, momentum=0.9)


def rates(schedule, groups, steps):
    found = []
    for _ in range(steps):
        groups.step()
        schedule.step()
        found.append([(g["lr"], g["momentum"]) for g in groups.param_groups])
    return found


def halves(lib, make):
    """The rates of 50 steps, with all state taken into fresh objects half way."""
    schedules, groups = lib.optim.lr_scheduler, optimizer(lib)
    schedule = make(schedules, groups)
    found = rates(schedule, groups, 25)
    states = copy.deepcopy((groups.state_dict(), schedule.state_dict()))
    groups = optimizer(lib)
    schedule = make(schedules, groups)
    groups.load_state_dict(states[0])
    schedule.load_state_dict(copy.deepcopy(states[1]))
    return found + rates(schedule, groups, 25), states[1]


@each("name", [*KINDS, *NESTED])
@pytest.mark.filterwarnings("ignore")
def test_rates_of_fifty_steps_with_the_state_saved_half_way(name):
    make = KINDS.get(name) or NESTED[name]
    (mine, state), (theirs, expected) = halves(ag, make), halves(torch, make)
    assert mine == [[pytest.approx(g, rel=1e-12, abs=1e-15) for g in step] for step in theirs]
    assert state.keys() == expected.keys()


@each("name", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_rates_of_a_schedule_made_for_a_later_step(name):
    found = []
    for lib in (ag, torch):
        schedules, groups = lib.optim.lr_scheduler, optimizer(lib)
        rates(KINDS[name](schedules, groups), groups, 20)
        found.append(rates(KINDS[name](schedules, groups, last_epoch=20), groups, 20))
    assert found[0] == [[pytest.approx(g, rel=1e-12, abs=1e-15) for g in step] for step in found[1]]


WRONG = {
    "no dictionary": (TypeError, lambda s, o: s.StepLR(o, 3).load_state_dict(None)),
    "a list": (TypeError, lambda s, o: s.LambdaLR(o, float).load_state_dict([1])),
    "without functions": (KeyError, lambda s, o: s.LambdaLR(o, float).load_state_dict({})),
    "without parts": (
        KeyError,
        lambda s, o: s.ChainedScheduler([s.StepLR(o, 3)]).load_state_dict({"last_epoch": 5}),
    ),
    "a mode": (
        ValueError,
        lambda s, o: s.ReduceLROnPlateau(o).load_state_dict({"mode": "up", "patience": 9}),
    ),
    "no function": (TypeError, lambda s, o: s.MultiplicativeLR(o, 3)),
    "a function and none": (TypeError, lambda s, o: s.MultiplicativeLR(o, [len, 3])),
    "a milestone": (TypeError, lambda s, o: s.SequentialLR(o, [s.StepLR(o, 3)] * 2, ["x"])),
    "a step to go to": (TypeError, lambda s, o: s.ChainedScheduler([s.StepLR(o, 3)]).step(3)),
}


@each("name", WRONG)
def test_wrong_arguments_are_refused_as_by_torch(name):
    kind, call = WRONG[name]
    for lib in (ag, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # torch reads an attribute of what is no dictionary, which it calls an AttributeError
            with pytest.raises(kind if lib is ag else (kind, AttributeError)):
                call(lib.optim.lr_scheduler, optimizer(lib))


def test_a_refused_state_changes_nothing():
    schedules, groups = ag.optim.lr_scheduler, optimizer(ag)
    for made, wrong in (
        (schedules.LambdaLR(groups, lambda e: 1.0), {"last_epoch": 7}),
        (schedules.ReduceLROnPlateau(groups), {"mode": "up", "patience": 9}),
        (schedules.ChainedScheduler([schedules.StepLR(groups, 3)]), {"_last_lr": 5}),
    ):
        before = copy.deepcopy(made.state_dict())
        with pytest.raises((KeyError, ValueError)):
            made.load_state_dict(wrong)
        assert made.state_dict() == before


@pytest.mark.filterwarnings("ignore")
def test_a_chain_can_not_begin_at_a_milestone():
    schedules, groups = ag.optim.lr_scheduler, optimizer(ag)
    chain = schedules.ChainedScheduler([schedules.StepLR(groups, 3)])
    schedule = schedules.SequentialLR(groups, [schedules.StepLR(groups, 3), chain], [1])
    with pytest.raises(NotImplementedError, match="only be the first"):
        schedule.step()
    assert schedule.last_epoch == 0
