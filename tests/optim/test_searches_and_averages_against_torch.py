"""LBFGS on functions that its searches find hard, and averaged models, step by step as in torch."""

import itertools
import math

import numpy as np
import pytest
from grouping import each

import autograd_cy

torch = pytest.importorskip("torch")


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def waves(x):
    return (x * x).sum() / 10 + (3 * x).sin().sum()


def flat(x):
    return (x**4).sum() / 1e3 - x.sum() * 1e-3


def walls(x):
    return (1 / (1 - x * x)).sum()


def bowl(x):
    return (x * x * (1 + x.cumsum(0) ** 2)).sum()


FUNCTIONS = (rosenbrock, waves, flat, walls, bowl)
# Steps of a given length leave these in all directions, and the smallest difference grows.
SEARCHED = (rosenbrock, waves)
STARTS = ((-1.2, 1.0), (0.3, -0.4, 0.7), (0.0, 0.5), (2.0, 3.0, -1.0, 0.5), (0.9, -0.95))
OPTIONS = (
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 0.01, "max_iter": 30},
    {"line_search_fn": "strong_wolfe", "lr": 30.0, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "max_iter": 4, "max_eval": 9},
    {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-2},
    {"lr": 0.1},
    {"lr": 0.5, "max_iter": 7, "history_size": 3},
    {"lr": 0.2, "max_eval": 3},
    {"tolerance_grad": 0.5, "lr": 0.05},
    {"tolerance_change": 1e-3, "lr": 0.05},
)


def search(library, function, start, options):
    """(parameters, value and counts after each step); the error that ended it."""
    parts = [library.tensor(part, dtype=library.float64) for part in (start[:1], start[1:])]
    parts = [part.requires_grad_() for part in parts]
    optimizer = library.optim.LBFGS(parts, **options)
    seen = []

    def closure():
        optimizer.zero_grad()
        value = function(library.cat(parts))
        value.backward()
        return value

    for _ in range(1 if function in SEARCHED else 2):
        value = optimizer.step(closure).item()
        state = optimizer.state_dict()["state"][0]
        seen.append([*(x for p in parts for x in p.tolist()), value,
                     state["n_iter"], state["func_evals"]])  # fmt: skip
        if not all(map(math.isfinite, seen[-1])):
            break
    return seen


def attempt(*args):
    try:
        return search(*args)
    except Exception as error:
        return error


@each("function", [pytest.param(f, id=f.__name__) for f in FUNCTIONS])
def test_searches_are_those_of_torch(function):
    wrong = []
    for start, options in itertools.product(STARTS, OPTIONS):
        if function in SEARCHED and "line_search_fn" not in options:
            continue
        ours = attempt(autograd_cy, function, start, options)
        theirs = attempt(torch, function, start, options)
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            same = isinstance(theirs, Exception) and isinstance(ours, type(theirs))
        else:
            same = len(ours) == len(theirs) and np.allclose(
                ours, theirs, 1e-5, 1e-8, equal_nan=True
            )
        if not same:
            wrong.append(f"{start}, {options}: {ours}, torch {theirs}")
    assert not wrong, "\n".join(wrong)


# --- averages -----------------------------------------------------------------------------------


def network(library):
    """A small network with buffers, of the same numbers in both."""
    found = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.BatchNorm1d(3)).double()
    rng = np.random.default_rng(0)
    with library.no_grad():
        for p in found.parameters():
            p.copy_(library.from_numpy(rng.normal(size=tuple(p.shape))))
    return found


def later(averaged, new, count):
    return averaged * 0.25 + new * 0.75 + count


def together(averaged, new, count):
    for a, b in zip(averaged, new):
        a.add_(b * (1 + float(count)))


AVERAGES = {
    "mean": lambda utils: {},
    "with buffers": lambda utils: {"use_buffers": True},
    "on a device": lambda utils: {"device": "cpu"},
    "each by a function": lambda utils: {"avg_fn": later},
    "each by a function, with buffers": lambda utils: {"avg_fn": later, "use_buffers": True},
    "all by a function": lambda utils: {"multi_avg_fn": together},
    "fading": lambda utils: {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.7)},
    "fading, with buffers": lambda utils: {
        "multi_avg_fn": utils.get_ema_multi_avg_fn(0.7), "use_buffers": True},
    "fading each": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.6)},
    "mean of all": lambda utils: {"multi_avg_fn": utils.get_swa_multi_avg_fn()},
    "mean of each": lambda utils: {"avg_fn": utils.get_swa_avg_fn()},
}  # fmt: skip


def averages(library, options):
    model = network(library)
    utils = library.optim.swa_utils
    averaged = utils.AveragedModel(model, **options(utils))
    optimizer = library.optim.SGD(model.parameters(), lr=0.1)
    rng = np.random.default_rng(1)
    seen = []
    for _ in range(4):
        x = library.from_numpy(rng.normal(size=(5, 2)))
        optimizer.zero_grad()
        (model(x) ** 2).sum().backward()
        optimizer.step()
        averaged.update_parameters(model)
        seen += [v.detach().clone().double().numpy() for v in averaged.state_dict().values()]
    batches = [library.from_numpy(rng.normal(size=(5, 2))) for _ in range(3)]
    utils.update_bn([(batch, None) for batch in batches], averaged)
    averaged.eval()
    return [*seen, averaged(batches[0]).detach().numpy()], list(averaged.state_dict())


@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_those_of_torch(name):
    ours, theirs = (averages(library, AVERAGES[name]) for library in (autograd_cy, torch))
    assert ours[1] == theirs[1]
    for a, b in zip(ours[0], theirs[0], strict=True):
        np.testing.assert_allclose(a, b, 1e-7, 1e-9)  # some weights of torch are float32


def test_batches_of_networks_without_statistics_change_nothing():
    model = autograd_cy.nn.Linear(2, 2)
    before = model.weight.clone()
    assert autograd_cy.optim.swa_utils.update_bn([autograd_cy.ones(1, 2)], model) is None
    assert autograd_cy.equal(model.weight, before)


ANNEALS = [
    {"swa_lr": 0.5}, {"swa_lr": 0.5, "anneal_epochs": 0}, {"swa_lr": 0.01, "anneal_epochs": 3},
    {"swa_lr": 0.5, "anneal_epochs": 4, "anneal_strategy": "linear"},
    {"swa_lr": [0.5, 0.25], "anneal_epochs": 2}, {"swa_lr": 0.5, "last_epoch": 2},
    {"swa_lr": 0.5, "anneal_strategy": "nonsense"}, {"swa_lr": [0.5]},
    {"swa_lr": 0.5, "anneal_epochs": -1}, {"swa_lr": 0.5, "anneal_epochs": 2.5},
]  # fmt: skip


def rates(library, options):
    params = [library.zeros(2, requires_grad=True) for _ in range(2)]
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.2}]
    optimizer = library.optim.SGD(groups, lr=0.1)
    if options.get("last_epoch", -1) >= 0:
        for group in optimizer.param_groups:
            group["initial_lr"] = group["swa_lr"] = group["lr"]
    try:
        schedule = library.optim.swa_utils.SWALR(optimizer, **options)
    except Exception as error:
        return type(error).__name__
    seen = []
    for _ in range(8):
        optimizer.step()
        schedule.step()
        seen.append([group["lr"] for group in optimizer.param_groups])
    return seen


@pytest.mark.parametrize("options", ANNEALS, ids=str)
def test_rates_of_averages_are_those_of_torch(options):
    ours, theirs = (rates(library, options) for library in (autograd_cy, torch))
    if isinstance(theirs, str):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours, theirs, 1e-12)
