"""Schedules load what their state_dict() gave, and nothing else."""

import pytest

import autograd_cy as ag


def schedules():
    s = ag.optim.lr_scheduler
    made = {
        "ConstantLR": {},
        "CosineAnnealingLR": {"T_max": 3},
        "CosineAnnealingWarmRestarts": {"T_0": 3},
        "CyclicLR": {"base_lr": 0.1, "max_lr": 0.2},
        "ExponentialLR": {"gamma": 0.5},
        "LambdaLR": {"lr_lambda": lambda n: 1.0},
        "LinearLR": {},
        "MultiStepLR": {"milestones": [2]},
        "MultiplicativeLR": {"lr_lambda": lambda n: 1.0},
        "OneCycleLR": {"max_lr": 0.2, "total_steps": 5},
        "PolynomialLR": {},
        "ReduceLROnPlateau": {},
        "StepLR": {"step_size": 2},
    }
    for name, options in made.items():
        yield name, getattr(s, name)(optimizer(), **options)
    for name in ("ChainedScheduler", "SequentialLR"):
        opt = optimizer()
        parts = [s.StepLR(opt, 2), s.ExponentialLR(opt, 0.5)]
        yield name, s.ChainedScheduler(parts) if "C" in name else s.SequentialLR(opt, parts, [2])


def optimizer():
    return ag.optim.SGD([ag.nn.Parameter(ag.ones(2))], lr=0.1, momentum=0.9)


def test_schedules_take_nothing_but_their_states():
    for name, schedule in schedules():
        before = schedule.state_dict()
        for wrong in (None, 5, [("last_epoch", 7)]):
            with pytest.raises(TypeError, match=rf"^{name}\.load_state_dict\(\): expected what"):
                schedule.load_state_dict(wrong)
        assert {**schedule.state_dict()} == {**before}, name
