"""Steps that are recorded do what fused ones do, with every option, dtype and layout.

They compute the formulas of `optim/_formulas.py`, with which the compiled steps are compared here.
"""

import inspect
import math
import re

import numpy as np
import pytest
from grouping import each
from recorded_steps import CHOICES, NAMES, VALUES, options_of

import autograd_cy as ag
from autograd_cy._C import ops_optimizers
from autograd_cy.optim import _formulas, _recorded

SHAPES = ((3, 4), (), (70,), (0, 2), (2, 2), (1, 3))
STEPS = 6
# What steps in one pass round only when they store it is rounded here, too.
ROUGH = {"float64": 1e-12, "complex128": 1e-12, "float32": 2e-5, "complex64": 2e-5}
# Numbers of states are float32.
NUMBERS = {"ASGD": 1e-6, "NAdam": 1e-6}


def draws(rng, shape, dtype):
    values = rng.normal(size=shape)
    if dtype.is_complex:
        values = values + 1j * rng.normal(size=shape)
    return ag.tensor(values, dtype=dtype)


def run(name, dtype, differentiable, options):
    """Return parameters after each step, in two groups of which one has a rate of its own."""
    rng = np.random.default_rng(3)
    params = [draws(rng, shape, dtype) for shape in SHAPES]
    # Gradients lie otherwise than these two: their strides differ in dimensions of two and one.
    params[4], params[5] = params[4].t(), params[5].t().clone().t()
    if not differentiable:
        params = [p.requires_grad_() for p in params]
    groups = [{"params": params[:2]}, {"params": params[2:], "lr": 0.3}]
    optimizer = getattr(ag.optim, name)(groups, differentiable=differentiable, **options)
    seen = []
    for step in range(STEPS):
        for place, p in enumerate(params):
            grad = draws(rng, p.shape, dtype) * (1 + place)
            p.grad = None if (step, place) == (2, 0) else grad
        optimizer.step()
        seen.append([p.detach().clone() for p in params])
    return seen, optimizer.state_dict()["state"]


def close(a, b, rough):
    return ag.allclose(a, b, rtol=rough, atol=rough, equal_nan=True)


@each(
    "name,options,dtype",
    [
        pytest.param(name, options, dtype, id=f"{name}-{number}-{dtype}")
        for dtype in ROUGH
        for number, (name, options) in enumerate(CHOICES)
    ],
)
def test_recorded_steps_are_the_fused_ones(name, options, dtype):
    fused = run(name, getattr(ag, dtype), False, options)
    recorded = run(name, getattr(ag, dtype), True, options)
    rough = max(ROUGH[dtype], NUMBERS.get(name, 0.0))
    for step, (some, others) in enumerate(zip(recorded[0], fused[0], strict=True)):
        for a, b in zip(some, others, strict=True):
            assert close(a, b, rough), (name, options, step)
    assert recorded[1].keys() == fused[1].keys()
    for place, state in fused[1].items():
        assert list(recorded[1][place]) == list(state), (name, options)
        for key, value in state.items():
            other = recorded[1][place][key]
            assert (other.dtype, other.shape) == (value.dtype, value.shape), (name, options, key)
            assert close(other, value, rough), (name, options, key)


def as_tensors(value):
    """Return options with tensors in the place of numbers."""
    if isinstance(value, tuple):
        return tuple(as_tensors(v) for v in value)
    return value if isinstance(value, bool) else ag.tensor(value, dtype=ag.float64)


@each(
    "name,options",
    [pytest.param(name, o, id=f"{name}-{k}") for k, (name, o) in enumerate(CHOICES) if o],
)
def test_options_may_be_tensors(name, options):
    """Formulas compute with them otherwise in places, and fused steps read their numbers."""
    given = {o: as_tensors(v) for o, v in options.items()}
    rough = max(1e-12, NUMBERS.get(name, 0.0))
    seen, states = run(name, ag.float64, False, options)
    for differentiable in (False, True):
        found, after = run(name, ag.float64, differentiable, given)
        for some, others in zip(found, seen, strict=True):
            for a, b in zip(some, others, strict=True):
                assert close(a, b, rough), (options, differentiable)
        for place, state in states.items():
            for key, value in state.items():
                there = after[place][key].to(value.dtype)
                assert close(there, value, max(rough, 1e-6 if value.ndim == 0 else 0.0)), key


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_halves_are_rounded_only_when_stored(name, dtype):
    rng = np.random.default_rng(5)
    x = draws(rng, (40,), dtype)
    fused, recorded = x.clone().requires_grad_(), x.clone()
    steps = [
        getattr(ag.optim, name)([fused], lr=0.1),
        getattr(ag.optim, name)([recorded], lr=0.1, differentiable=True),
    ]
    for _ in range(3):
        fused.grad = recorded.grad = draws(rng, (40,), dtype)
        for optimizer in steps:
            optimizer.step()
        # Both compute in float32; a value between two halves goes to either.
        apart = (fused.detach() - recorded).float().abs() > 0
        assert apart.sum() <= 2
        recorded.copy_(fused.detach())
    for key, value in steps[0].state[fused].items():
        assert steps[1].state[recorded][key].dtype == value.dtype, key


@pytest.mark.parametrize("name", NAMES)
def test_special_gradients_take_the_same_steps(name):
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e30, 1e-30, 1.0]
    grads = [special, special[::-1], [1.0] * 8]
    after = []
    for differentiable in (False, True):
        x = ag.ones(8, dtype=ag.float64)
        optimizer = getattr(ag.optim, name)([x], lr=0.1, differentiable=differentiable)
        for grad in grads:
            x.grad = ag.tensor(grad, dtype=ag.float64)
            optimizer.step()
        after.append(x)
    assert close(*after, 1e-6), after


@pytest.mark.parametrize("name", NAMES)
def test_parameters_listed_twice_are_stepped_twice(name):
    after = []
    for differentiable in (False, True):
        x = ag.ones(3, dtype=ag.float64)
        with pytest.warns(UserWarning, match="duplicate parameters"):
            optimizer = getattr(ag.optim, name)([x, x], lr=0.1, differentiable=differentiable)
        for scale in (1.0, -0.5):
            x.grad = scale * ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64)
            optimizer.step()
        after.append(x)
    assert close(*after, 1e-6), after


def test_each_step_has_a_formula():
    operators = {
        re.sub(r"^_fused_(.*)_$", r"\1", name)
        for name in vars(ops_optimizers)
        if re.fullmatch(r"_fused_\w+_", name)
    }
    recorded = {getattr(ag.optim, name).operator for name in NAMES}
    # Adam's formula has weights that decay apart, too.
    assert operators - {"adamw"} == {_recorded.formula_of(name).__name__ for name in recorded}
    assert set(_formulas.__all__) == {_recorded.formula_of(name).__name__ for name in recorded}


@pytest.mark.parametrize("name", NAMES)
def test_formulas_have_all_options(name):
    cls = getattr(ag.optim, name)
    options = set(options_of(name)) - {"maximize", "initial_accumulator_value"}
    known = options - set(cls.pairs)
    known |= {part for pair in options & set(cls.pairs) for part in cls.pairs[pair]}
    if name == "AdamW":
        known |= {"decoupled_weight_decay"}
    if name == "Rprop":
        known -= {"lr"}  # which the first sizes are
    assert set(_recorded._option_names(_recorded.formula_of(cls.operator))) == known


def test_all_options_have_values():
    for name in NAMES:
        for option, default in options_of(name).items():
            assert isinstance(default, bool) or option in VALUES, (name, option)


def test_the_methods_are_those_that_torch_records():
    torch = pytest.importorskip("torch")
    theirs = {
        name
        for name, cls in vars(torch.optim).items()
        if inspect.isclass(cls) and "differentiable" in inspect.signature(cls).parameters
    }
    assert theirs == set(NAMES)
