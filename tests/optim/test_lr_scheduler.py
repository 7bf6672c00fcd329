"""Schedules of learning rates: their formulas, state, order, and what PyTorch's give."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import optim
from autograd_cy.optim import lr_scheduler as lr

RATES = (0.5, 2.0)


def third(epoch):
    return 1 / (epoch + 3)


def sgd(library=ag, momentum=0.9):
    params = [library.zeros(1, requires_grad=True) for _ in RATES]
    groups = [{"params": [p], "lr": rate} for p, rate in zip(params, RATES)]
    return library.optim.SGD(groups, lr=1.0, momentum=momentum)


def adam(library=ag):
    return library.optim.Adam([library.zeros(1, requires_grad=True)], lr=0.25)


def trace(make, library=ag, optimizer=sgd, steps=23):
    """The rates, and momenta, of each step."""
    chosen = optimizer(library)
    schedule = make(library.optim.lr_scheduler, chosen)
    seen = []
    for _ in range(steps):
        seen.append([float(rate) for rate in schedule.get_last_lr()])
        assert seen[-1] == [float(group["lr"]) for group in chosen.param_groups]
        seen[-1] += [
            group["betas"][0] if "betas" in group else group["momentum"]
            for group in chosen.param_groups
        ]
        chosen.step()
        schedule.step()
    return seen


# name: (schedule of the module and the optimizer, rate of the first one by its closed form)
CLOSED = {
    "lambda": (lambda s, o: s.LambdaLR(o, third), lambda t, r: r / (t + 3)),
    "two lambdas": (
        lambda s, o: s.LambdaLR(o, [lambda t: 0.9**t, lambda t: 1.0]), lambda t, r: r * 0.9**t),
    "multiplied": (lambda s, o: s.MultiplicativeLR(o, lambda t: 0.9), lambda t, r: r * 0.9**t),
    "steps": (lambda s, o: s.StepLR(o, 4, 0.5), lambda t, r: r * 0.5 ** (t // 4)),
    "milestones": (
        lambda s, o: s.MultiStepLR(o, [3, 5, 5, 11], 0.5),
        lambda t, r: r * 0.5 ** sum(t >= m for m in (3, 5, 5, 11))),
    "constant": (
        lambda s, o: s.ConstantLR(o, 0.25, 6), lambda t, r: r * (0.25 if t < 6 else 1)),
    "linear": (
        lambda s, o: s.LinearLR(o, 0.2, 0.8, 9),
        lambda t, r: r * (0.2 + 0.6 * min(t, 9) / 9)),
    "exponential": (lambda s, o: s.ExponentialLR(o, 0.8), lambda t, r: r * 0.8**t),
    "polynomial": (
        lambda s, o: s.PolynomialLR(o, 8, 2.0), lambda t, r: r * (1 - min(t, 8) / 8) ** 2),
    "cosine": (
        lambda s, o: s.CosineAnnealingLR(o, 7, 0.1),
        lambda t, r: 0.1 + (r - 0.1) * (1 + math.cos(math.pi * t / 7)) / 2),
    "restarts": (
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 5, 1, 0.1),
        lambda t, r: 0.1 + (r - 0.1) * (1 + math.cos(math.pi * (t % 5) / 5)) / 2),
}  # fmt: skip
OTHERS = {
    "longer restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.1, [1.0, 2.0], 4),
    "cyclic, halved": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, 5, mode="triangular2"),
    "cyclic, decaying": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9),
    "cyclic, own": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, scale_fn=third, scale_mode="iterations"),
    "cyclic, own by cycle": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, scale_fn=third),
    "cyclic, momentum": lambda s, o: s.CyclicLR(
        o, 0.1, 1.0, 3, base_momentum=0.5, max_momentum=[0.7, 0.9][: len(o.param_groups)]),
    "cyclic, no momentum": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, cycle_momentum=False),
    "one cycle": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=30),
    "one cycle, lines": lambda s, o: s.OneCycleLR(
        o, 1.0, epochs=5, steps_per_epoch=6, anneal_strategy="linear", pct_start=0.4),
    "one cycle, phases": lambda s, o: s.OneCycleLR(
        o, 1.0, total_steps=30, three_phase=True, div_factor=10, final_div_factor=100),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.LinearLR(o, 0.5, total_iters=4), s.StepLR(o, 3, 0.9), s.ExponentialLR(o, 0.95)]),
    "in sequence": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=5), s.CosineAnnealingLR(o, 6), s.ExponentialLR(o, 0.9)],
        [5, 14]),
}  # fmt: skip
ALL = {**{name: make for name, (make, _) in CLOSED.items()}, **OTHERS}


@pytest.mark.parametrize("name", CLOSED)
def test_rates_are_those_of_the_formula(name):
    make, rate = CLOSED[name]
    for t, seen in enumerate(trace(make)):
        assert seen[0] == pytest.approx(rate(t, RATES[0]), rel=1e-9, abs=1e-12), t


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("optimizer", [sgd, adam], ids=["sgd", "adam"])
def test_rates_are_those_of_torch(name, optimizer):
    torch = pytest.importorskip("torch")
    if optimizer is adam and name in ("two lambdas", "cyclic"):
        for library in (torch, ag):  # adam() has one group, and these say two values
            with pytest.raises(ValueError):
                trace(ALL[name], library, optimizer)
        return
    expected = trace(ALL[name], torch, optimizer)
    assert trace(ALL[name], ag, optimizer) == [pytest.approx(row, rel=1e-12) for row in expected]


@pytest.mark.parametrize("name", ALL)
def test_a_loaded_schedule_goes_on(name):
    optimizer = sgd()
    schedule = ALL[name](lr, optimizer)
    for _ in range(7):
        optimizer.step()
        schedule.step()
    kept = pickle.loads(pickle.dumps(optimizer.state_dict())), copy.deepcopy(schedule.state_dict())
    again = sgd()
    loaded = ALL[name](lr, again)
    again.load_state_dict(kept[0])
    loaded.load_state_dict(kept[1])
    for _ in range(12):
        assert loaded.get_last_lr() == schedule.get_last_lr()
        for one, made in ((optimizer, schedule), (again, loaded)):
            one.step()
            made.step()


@pytest.mark.parametrize("name", ALL)
def test_states_go_to_torch_and_back(name):
    torch = pytest.importorskip("torch")
    there, here = sgd(torch), sgd()
    theirs, ours = ALL[name](torch.optim.lr_scheduler, there), ALL[name](lr, here)
    for _ in range(6):
        there.step()
        theirs.step()
    ours.load_state_dict(copy.deepcopy(theirs.state_dict()))
    for mine, group in zip(here.param_groups, there.param_groups):
        mine.update({k: v for k, v in group.items() if k in mine and k != "params"})
    for _ in range(9):
        for one, made in ((there, theirs), (here, ours)):
            one.step()
            made.step()
        assert ours.get_last_lr() == pytest.approx(theirs.get_last_lr(), rel=1e-12)


METRICS = [
    3,
    2,
    2,
    2,
    1.99999,
    2,
    2,
    1,
    math.inf,
    1,
    1,
    1,
    -1,
    -1,
    -1,
    -1,
    -1.5,
    math.nan,
    0,
    0,
    0,
    0,
]
PLATEAUS = [
    {"patience": 1},
    {"patience": 2, "cooldown": 2, "factor": 0.5},
    {"patience": 0, "mode": "max", "threshold": 0.1},
    {"patience": 1, "threshold_mode": "abs", "threshold": 0.5, "min_lr": [0.01, 0.3]},
    {"patience": 1, "mode": "max", "threshold_mode": "abs", "eps": 0.2},
]


@pytest.mark.parametrize("options", PLATEAUS, ids=str)
def test_plateaus_are_those_of_torch(options):
    torch = pytest.importorskip("torch")
    seen = []
    for library in (torch, ag):
        optimizer = sgd(library)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for metric in METRICS:
            optimizer.step()
            schedule.step(library.tensor(float(metric)))
            rates.append((schedule.get_last_lr(), schedule.num_bad_epochs, schedule.best))
        seen.append(repr(rates))
    assert seen[0] == seen[1]


def test_a_plateau_reduces_after_the_patience():
    optimizer = sgd()
    schedule = lr.ReduceLROnPlateau(optimizer, patience=2, factor=0.5, cooldown=1)
    rates = []
    for metric in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0):
        optimizer.step()
        schedule.step(metric)
        rates.append(schedule.get_last_lr()[0])
    assert rates == [0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125]


def test_several_schedules_of_one_optimizer_multiply():
    optimizer = sgd()
    parts = [lr.ExponentialLR(optimizer, 0.9), lr.StepLR(optimizer, 2, 0.5)]
    for t in range(1, 8):
        optimizer.step()
        for part in parts:
            part.step()
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * 0.9**t * 0.5 ** (t // 2))


def test_a_rate_that_the_program_changed_stays_changed():
    optimizer = sgd()
    schedule = lr.ExponentialLR(optimizer, 0.5)
    optimizer.param_groups[0]["lr"] = 8.0
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [4.0, 1.0]


def test_a_rate_in_a_tensor_stays_the_same_tensor():
    rate = ag.tensor(1.0)
    optimizer = optim.SGD([ag.zeros(1, requires_grad=True)], lr=rate)
    schedule = lr.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.5
    assert schedule.get_last_lr() == [0.5]


def test_the_order_of_steps_is_warned_of_once():
    optimizer = sgd()
    schedule = lr.ExponentialLR(optimizer, 0.5)
    with pytest.warns(UserWarning, match="before `optimizer.step\\(\\)`"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
        good = sgd()
        schedule = lr.ExponentialLR(good, 0.5)
        good.step()
        schedule.step()


def test_a_step_that_was_replaced_is_warned_of():
    optimizer = sgd()
    schedule = lr.ExponentialLR(optimizer, 0.5)
    optimizer.step = lambda: None
    optimizer.step()
    with pytest.warns(UserWarning, match="overridden"):
        schedule.step()


def test_going_to_a_step_takes_the_closed_form():
    optimizer = sgd()
    schedule = lr.StepLR(optimizer, 2, 0.5)
    optimizer.step()
    with pytest.warns(UserWarning, match="deprecated"):
        schedule.step(7)
    assert schedule.get_last_lr() == [0.5 * 0.5**3, 2 * 0.5**3]


def test_restarts_go_to_parts_of_steps():
    optimizer = sgd()
    schedule = lr.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    for epoch, done, length in ((0.5, 0.5, 2), (2.5, 0.5, 4), (7.0, 1.0, 8), (1.0, 1.0, 2)):
        schedule.step(epoch)
        expected = 0.5 * (1 + math.cos(math.pi * done / length)) / 2
        assert schedule.get_last_lr()[0] == pytest.approx(expected)
        assert (schedule.T_cur, schedule.T_i, schedule.last_epoch) == (done, length, int(epoch))


def test_optimizers_with_schedules_are_copied_and_saved():
    optimizer = sgd()
    schedule = lr.LambdaLR(optimizer, third)
    optimizer.step()
    schedule.step()
    for made in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert made.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
        made.step()
        assert made.param_groups[0]["params"][0] is not optimizer.param_groups[0]["params"][0]


def test_resuming_needs_the_first_rates():
    with pytest.raises(KeyError, match="initial_lr"):
        lr.StepLR(sgd(), 2, last_epoch=3)
    optimizer = sgd()
    for group in optimizer.param_groups:
        group["initial_lr"] = group["lr"]
        group["lr"] *= 0.5
    schedule = lr.StepLR(optimizer, 2, 0.5, last_epoch=2)
    assert schedule.last_epoch == 3
    assert schedule.get_last_lr() == [0.25, 1.0]


class Callable:
    def __init__(self, power):
        self.power = power

    def __call__(self, epoch):
        return 0.5 ** (self.power * epoch)


def test_fields_of_callables_are_saved():
    one, other = (lr.LambdaLR(sgd(), Callable(power)) for power in (1, 3))
    state = one.state_dict()
    assert state["lr_lambdas"] == [{"power": 1}, {"power": 1}]
    other.load_state_dict(state)
    assert [function.power for function in other.lr_lambdas] == [1, 1]


REFUSED = {
    "no optimizer": (lambda o: lr.StepLR(3, 2), TypeError, "int is not an Optimizer"),
    "no optimizer of a cycle": (
        lambda o: lr.CyclicLR(3, 0, 1), TypeError, "not an Optimizer"),
    "no optimizer of a plateau": (
        lambda o: lr.ReduceLROnPlateau(3), TypeError, "not an Optimizer"),
    "factor": (lambda o: lr.ConstantLR(o, 2.0), ValueError, "between 0 and 1, got 2.0"),
    "first factor": (lambda o: lr.LinearLR(o, 0), ValueError, "greater than 0"),
    "last factor": (lambda o: lr.LinearLR(o, 0.5, 2), ValueError, "between 0 and 1"),
    "plateau's factor": (lambda o: lr.ReduceLROnPlateau(o, factor=1.0), ValueError, "< 1.0"),
    "plateau's mode": (lambda o: lr.ReduceLROnPlateau(o, "mid"), ValueError, "mid is unknown"),
    "threshold": (
        lambda o: lr.ReduceLROnPlateau(o, threshold_mode="x"), ValueError, "x is unknown"),
    "lowest rates": (
        lambda o: lr.ReduceLROnPlateau(o, min_lr=[0.1]), ValueError, "same length"),
    "functions": (lambda o: lr.LambdaLR(o, [third]), ValueError, "same length"),
    "restart": (lambda o: lr.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer"),
    "factor of restarts": (
        lambda o: lr.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, ">= 1"),
    "step": (
        lambda o: lr.CosineAnnealingWarmRestarts(o, 1).step(-1), ValueError, "non-negative"),
    "mode of a cycle": (lambda o: lr.CyclicLR(o, 0, 1, mode="x"), ValueError, "mode"),
    "bounds": (lambda o: lr.CyclicLR(o, [0, 0, 0], 1), ValueError, "same length"),
    "steps": (lambda o: lr.OneCycleLR(o, 1.0), ValueError, "total_steps OR"),
    "no steps": (lambda o: lr.OneCycleLR(o, 1.0, 0), ValueError, "positive integer"),
    "part": (lambda o: lr.OneCycleLR(o, 1.0, 9, pct_start=2.0), ValueError, "pct_start"),
    "strategy": (
        lambda o: lr.OneCycleLR(o, 1.0, 9, anneal_strategy="x"), ValueError, "'linear'"),
    "momentum": (
        lambda o: lr.OneCycleLR(
            optim.Optimizer([ag.zeros(1)], {"lr": 1.0}), 1.0, 9), ValueError, "support momentum"),
    "nothing chained": (lambda o: lr.ChainedScheduler([]), ValueError, "at least one"),
    "other optimizers": (
        lambda o: lr.ChainedScheduler(
            [lr.StepLR(o, 2), lr.StepLR(sgd(), 2)]), ValueError, "same optimizer"),
    "plateau in a chain": (
        lambda o: lr.ChainedScheduler([lr.ReduceLROnPlateau(o)]),
        ValueError, "does not support"),
    "milestones": (
        lambda o: lr.SequentialLR(o, [lr.StepLR(o, 2)], [3]),
        ValueError, "one more than"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_options_are_refused(case):
    call, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        call(sgd())


def test_a_cycle_ends():
    optimizer = sgd()
    schedule = lr.OneCycleLR(optimizer, 1.0, 3)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    with pytest.raises(ValueError, match="4 times"):
        schedule.step()


def test_a_schedule_without_rates_says_so():
    with pytest.raises(NotImplementedError, match="LRScheduler defines no get_lr"):
        lr.LRScheduler(sgd())


def test_rates_between_steps_are_asked_for_otherwise():
    schedule = lr.ExponentialLR(sgd(), 0.5)
    with pytest.warns(UserWarning, match="get_last_lr"):
        schedule.get_lr()


@pytest.mark.parametrize("name", [n for n in ALL if n not in ("chained", "in sequence")])
def test_steps_to_any_epoch_are_those_of_torch(name):
    torch = pytest.importorskip("torch")

    def rates(library):
        optimizer = sgd(library)
        schedule = ALL[name](library.optim.lr_scheduler, optimizer)
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for epoch in (4, 0, 9, 8, None, 3, None, 12, 1):
                optimizer.step()
                schedule.step() if epoch is None else schedule.step(epoch)
                found.append([group["lr"] for group in optimizer.param_groups])
        return found, schedule.last_epoch, schedule.get_last_lr()

    ours, theirs = rates(ag), rates(torch)
    np.testing.assert_allclose(ours[0], theirs[0], 1e-12)
    assert ours[1] == theirs[1]
    np.testing.assert_allclose(ours[2], theirs[2], 1e-12)


@pytest.mark.parametrize("library", ["autograd_cy", "torch"])
def test_subclasses_do_more_when_a_plateau_lowers_the_rate(library):
    t = pytest.importorskip(library)

    class Restoring(t.optim.lr_scheduler.ReduceLROnPlateau):
        lowered = ()

        def _reduce_lr(self, epoch):
            super()._reduce_lr(epoch)
            self.lowered = (*self.lowered, epoch)

    optimizer = t.optim.SGD([t.zeros(1, requires_grad=True)], lr=1.0)
    schedule = Restoring(optimizer, factor=0.5, patience=1)
    for loss in (3.0, 3.0, 3.0, 3.0, 3.0):
        schedule.step(loss)
    assert schedule.lowered == (3, 5) and schedule.get_last_lr() == [0.25]


@pytest.mark.parametrize("library", ["autograd_cy", "torch"])
def test_steps_of_programs_ask_for_rates_without_a_warning(library):
    t = pytest.importorskip(library)
    from_program = t.optim.lr_scheduler._enable_get_lr_call
    optimizer = t.optim.SGD([t.zeros(1, requires_grad=True)], lr=1.0)
    schedule = t.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with from_program(schedule) as context:
            assert schedule.get_lr() == [0.5] and context.o is schedule
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()


@pytest.mark.parametrize(
    "make",
    [
        lambda o, r: ag.optim.swa_utils.SWALR(o, r[0]),
        lambda o, r: ag.optim.swa_utils.SWALR(o, [r[0]]),
        lambda o, r: lr.CyclicLR(o, r[0], r[1], base_momentum=r[2], max_momentum=r[3]),
        lambda o, r: lr.CyclicLR(o, [r[0]], [r[1]], cycle_momentum=False),
        lambda o, r: lr.OneCycleLR(o, r[0], 10, base_momentum=r[2], max_momentum=r[3]),
        lambda o, r: lr.OneCycleLR(o, [r[0]], 10),
    ],
)
def test_schedules_copy_the_tensors_that_they_are_given(make):
    optimizer = optim.SGD([ag.nn.Parameter(ag.ones(1))], lr=ag.tensor(0.5), momentum=0.9)
    rates = [ag.tensor(number) for number in (0.1, 0.2, 0.8, 0.9)]
    schedule = make(optimizer, rates)

    def held():
        group = optimizer.param_groups[0]
        return {k: float(v) for k, v in group.items() if isinstance(v, (float, ag.Tensor))}

    before = held()
    for rate in rates:
        rate.mul_(2)
    assert held() == before
    assert max(map(float, schedule.get_last_lr())) <= 0.5
