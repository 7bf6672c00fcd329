"""Every option of every optimizer, alone and with another one, takes the steps of torch."""

import inspect
import itertools
import re
import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy

torch = pytest.importorskip("torch")

NAMES = sorted(
    name
    for name, value in vars(torch.optim).items()
    if inspect.isclass(value) and name not in ("Optimizer", "LBFGS", "SparseAdam")
    and hasattr(autograd_cy.optim, name)
)  # fmt: skip
VALUES = {
    "lr": [0.1, 0.0, -0.1, 1],
    "betas": [(0.5, 0.7), (0.0, 0.5), (0.9, 0.0), (1.0, 0.5), (0.5, -0.1)],
    "eps": [1e-3, 0.5, -1.0], "weight_decay": [0.1, -0.1, 1], "momentum": [0.5, 0.9, -0.5],
    "dampening": [0.3], "alpha": [0.5, 0.0, -0.1], "rho": [0.5, 1.5],
    "etas": [(0.3, 1.7), (2.0, 1.1)],
    "step_sizes": [(1e-3, 0.02)], "lambd": [0.1], "t0": [2, 3.0], "lr_decay": [0.5, -1],
    "initial_accumulator_value": [0.5, -0.1], "momentum_decay": [0.3, -1.0], "foreach": [],
    "differentiable": [], "capturable": [], "fused": [], "clip_threshold": [0.5], "d": [0.3],
    "beta2_decay": [-0.5, 0.5],
}  # fmt: skip
SHAPES = ((3, 4), (), (1030,), (0, 2), (2, 2), (1, 3))
STEPS = 6


def values_of(parameter):
    if isinstance(parameter.default, bool) and parameter.name not in VALUES:
        return [not parameter.default]
    return VALUES.get(parameter.name, [])


def alone(name):
    """{option: its values} of a class."""
    found = inspect.signature(getattr(torch.optim, name)).parameters.values()
    return {p.name: values_of(p) for p in found if p.name != "params"}


def choices(name):
    """Options of each call: none, each value alone, and the first values in pairs."""
    values = alone(name)
    yield {}
    for option, several in values.items():
        for value in several:
            yield {option: value}
    for a, b in itertools.combinations([o for o, several in values.items() if several], 2):
        yield {a: values[a][0], b: values[b][0]}


def run(library, name, options, dtype):
    """Parameters after each step, in two groups of which one has a rate of its own; the state."""
    rng = np.random.default_rng(3)
    params = [library.from_numpy(np.asarray(rng.normal(size=s))).to(dtype) for s in SHAPES]
    # Gradients lie otherwise than these two: their strides differ in dimensions of two and one.
    params[4], params[5] = params[4].t(), params[5].t().clone().t()
    params = [p.requires_grad_() for p in params]
    groups = [{"params": params[:2]}, {"params": params[2:], "lr": 0.3}]
    optimizer = getattr(library.optim, name)(groups, **options)
    seen = []
    for step in range(STEPS):
        for place, p in enumerate(params):
            grad = library.from_numpy(np.asarray(rng.normal(size=p.shape) * (1 + place))).to(dtype)
            p.grad = None if (step, place) == (2, 0) else grad
        optimizer.step()
        seen += [p.detach().clone().numpy() for p in params]
    state = optimizer.state_dict()
    numbers = {
        (place, key): np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        for place, found in state["state"].items()
        for key, value in found.items()
        if value is not None
    }
    rates = [
        {k: v for k, v in g.items() if k in options or k == "lr"} for g in state["param_groups"]
    ]
    return seen, numbers, rates


def attempt(*args):
    try:
        return run(*args)
    except Exception as error:
        return error


def fault(name, options, dtype):
    kinds = [getattr(library, dtype) for library in (autograd_cy, torch)]
    ours = attempt(autograd_cy, name, options, kinds[0])
    theirs = attempt(torch, name, options, kinds[1])
    if name == "Adafactor" and isinstance(theirs, ZeroDivisionError):
        return None  # torch divides by the number of elements, of which one parameter has none
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        alike = isinstance(theirs, Exception) and isinstance(ours, type(theirs))
        return None if alike else f"{ours!r:.200}, torch {theirs!r:.200}"
    rtol, atol = (1e-9, 1e-12) if dtype == "float64" else (2e-4, 2e-6)
    if name in ("ASGD", "NAdam"):
        rtol, atol = 1e-6, 1e-6  # torch keeps its rates in tensors of float32
    for step, (a, b) in enumerate(zip(ours[0], theirs[0])):
        if not np.allclose(a, b, rtol, atol, equal_nan=True):
            where = f"parameter {step % len(SHAPES)} after step {step // len(SHAPES)}"
            return f"{where}: {a.ravel()[:3]}, torch {b.ravel()[:3]}"
    if ours[1].keys() != theirs[1].keys():
        return f"state {sorted(ours[1])}, torch {sorted(theirs[1])}"
    for key, a in ours[1].items():
        if not np.allclose(a, theirs[1][key], rtol, atol, equal_nan=True):
            return f"state {key}: {a.ravel()[:3]}, torch {theirs[1][key].ravel()[:3]}"
    return None if ours[2] == theirs[2] else f"groups {ours[2]}, torch {theirs[2]}"


# (class, options as text): why it differs.
DIFFERENT = []


@each("name", [pytest.param(name, id=name) for name in NAMES])
def test_steps_with_options(name):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, options in enumerate(choices(name)):
            said = ", ".join(f"{k}={v!r}" for k, v in options.items())
            if any(re.fullmatch(a, name) and re.search(b, said) for a, b, _ in DIFFERENT):
                continue
            text = fault(name, options, "float32" if number % 8 == 7 else "float64")
            if text:
                found.append(f"{name}({said}): {text}")
    assert not found, "\n".join(found)
