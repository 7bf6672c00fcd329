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


def test_functions_and_parts_come_last_in_states_as_in_torch():
    last = {"LambdaLR": "lr_lambdas", "MultiplicativeLR": "lr_lambdas"}
    last |= {"ChainedScheduler": "_schedulers", "SequentialLR": "_schedulers"}
    for name, schedule in schedules():
        if name in last:
            assert list(schedule.state_dict())[-1] == last[name]


def test_rates_in_tensors_are_kept_as_copies():
    for name, made in schedules():
        if name in ("CyclicLR", "OneCycleLR", "ReduceLROnPlateau", "ChainedScheduler"):
            continue
        opt = made.optimizer if name != "SequentialLR" else made._schedulers[0].optimizer
        rate = opt.param_groups[0]["lr"] = ag.tensor(0.1)
        opt.param_groups[0].pop("initial_lr")
        schedule = ag.optim.lr_scheduler.ExponentialLR(opt, 0.5)
        opt.step()
        schedule.step()
        (kept,) = schedule.get_last_lr()
        assert isinstance(kept, ag.Tensor) and kept is not rate, name
        assert rate is opt.param_groups[0]["lr"] and rate.item() == kept.item()
        schedule.step()
        assert kept.item() == 2 * rate.item()
        assert schedule.base_lrs[0].item() == pytest.approx(0.1)
        assert opt.param_groups[0]["initial_lr"].item() == pytest.approx(0.1)


def rates_with_a_group_that_comes_later(library, name, options):
    x, y = (library.nn.Parameter(library.ones(1)) for _ in range(2))
    opt = library.optim.SGD([x], lr=0.1, momentum=0.9)
    schedule = getattr(library.optim.lr_scheduler, name)(opt, **options)
    opt.step()
    opt.add_param_group({"params": [y], "lr": 0.4})
    rates = []
    for _ in range(5):
        schedule.step()
        rates.append([group["lr"] for group in opt.param_groups])
    return rates


THAW = {
    "ConstantLR": ({"factor": 0.5, "total_iters": 2}, [0.8, 0.8]),
    "CosineAnnealingLR": ({"T_max": 8}, [0.34142, 0.12346]),
    "ExponentialLR": ({"gamma": 0.5}, [0.1, 0.0125]),
    "LinearLR": ({"start_factor": 0.25, "total_iters": 4}, [1.0, 1.6]),
    "MultiStepLR": ({"milestones": [1, 3], "gamma": 0.5}, [0.2, 0.1]),
    "PolynomialLR": ({"total_iters": 8}, [0.3, 0.15]),
    "StepLR": ({"step_size": 2, "gamma": 0.5}, [0.2, 0.1]),
}


@pytest.mark.parametrize("name", THAW)
def test_groups_that_come_later_go_on_from_their_own_rates(name):
    options, (second, fifth) = THAW[name]
    rates = rates_with_a_group_that_comes_later(ag, name, options)
    assert rates[1][1] == pytest.approx(second, rel=1e-4)
    assert rates[4][1] == pytest.approx(fifth, rel=1e-4)


@pytest.mark.parametrize("name", THAW)
def test_groups_that_come_later_go_on_as_in_torch(name):
    theirs = pytest.importorskip("torch")
    mine, wanted = (
        rates_with_a_group_that_comes_later(library, name, THAW[name][0])
        for library in (ag, theirs)
    )
    for found, rates in zip(mine, wanted, strict=True):
        assert found == pytest.approx(rates, rel=1e-12)


def test_schedules_that_need_a_first_rate_refuse_groups_that_come_later():
    refusing = {
        "CosineAnnealingWarmRestarts": {"T_0": 3},
        "CyclicLR": {"base_lr": 0.1, "max_lr": 0.2},
        "LambdaLR": {"lr_lambda": lambda n: 1.0},
        "MultiplicativeLR": {"lr_lambda": lambda n: 1.0},
    }
    for name, options in refusing.items():
        with pytest.raises(
            ValueError, match=f"^{name} has 1 learning rates for 2 groups of parameters"
        ):
            rates_with_a_group_that_comes_later(ag, name, options)
    with pytest.raises(ValueError, match="^CosineAnnealingLR has 1 learning rates for 2"):
        rates_with_a_group_that_comes_later(ag, "CosineAnnealingLR", {"T_max": 2})
