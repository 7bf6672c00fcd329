"""The methods whose steps can be recorded, and choices of their options, from their signatures."""

import inspect
import itertools

import autograd_cy as ag

NAMES = sorted(
    name
    for name in ag.optim.__all__
    if name[0].isupper()
    and "differentiable" in inspect.signature(getattr(ag.optim, name)).parameters
)
#: Values of each option that is a number or a pair of them.
VALUES = {
    "lr": [0.1, 1], "betas": [(0.5, 0.7), (0.0, 0.5), (0.9, 0.0)], "eps": [1e-3, 0.5],
    "weight_decay": [0.1, 1], "momentum": [0.5, 0.9], "dampening": [0.3], "alpha": [0.5, 0.0],
    "rho": [0.5], "etas": [(0.3, 1.7)], "step_sizes": [(1e-3, 0.02)], "lambd": [0.1],
    "t0": [2, 3.5], "lr_decay": [0.5], "initial_accumulator_value": [0.5],
    "momentum_decay": [0.3],
}  # fmt: skip
#: Options that choose between implementations, or say that a step is recorded.
ELSEWHERE = ("foreach", "fused", "capturable", "differentiable")


def options_of(name):
    """Return the options of a class with their defaults, without those of ELSEWHERE."""
    found = inspect.signature(getattr(ag.optim, name)).parameters.values()
    return {p.name: p.default for p in found if p.name != "params" and p.name not in ELSEWHERE}


def switches(name):
    """Return all choices of the options that are on or off and go together."""
    flags = [option for option, default in options_of(name).items() if isinstance(default, bool)]
    for chosen in itertools.product([False, True], repeat=len(flags)):
        yield dict(zip(flags, chosen))


def choices(name):
    """Return options of calls: none, each value alone, and the first values in pairs."""
    values = {
        option: [not default] if isinstance(default, bool) else VALUES[option]
        for option, default in options_of(name).items()
    }
    yield {}
    for option, several in values.items():
        for value in several:
            yield {option: value}
    for a, b in itertools.combinations(values, 2):
        yield {a: values[a][0], b: values[b][0]}


def possible(options):
    """Tell whether options go together: Nesterov's momentum is one, and isn't dampened."""
    return not options.get("nesterov") or ("momentum" in options and "dampening" not in options)


CHOICES = [(name, o) for name in NAMES for o in choices(name) if possible(o)]
