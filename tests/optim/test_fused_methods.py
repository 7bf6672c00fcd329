"""Methods of one pass over each parameter: PyTorch's results, dtypes, state.

test_recorded_steps.py compares them with their formulas.
"""

import copy
import math

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C.ops_optimizers import _fused_adagrad_

STEPS = 8
SHAPE = (3, 5)


def draws(dtype="float64", steps=STEPS):
    rng = np.random.default_rng(3)
    x, grads = rng.normal(size=SHAPE), rng.normal(size=(steps, *SHAPE))
    if np.dtype(dtype).kind == "c":
        x, grads = x + 1j * rng.normal(size=SHAPE), grads + 1j * rng.normal(size=grads.shape)
    return x.astype(dtype), grads.astype(dtype)


def run(library, name, dtype="float64", wrap=lambda t: t, **options):
    x, grads = draws(dtype)
    param = wrap(library.tensor(x)).detach().requires_grad_()
    optimizer = getattr(library.optim, name)([param], **options)
    seen = []
    for grad in grads:
        param.grad = library.tensor(grad)
        optimizer.step()
        seen.append(param.detach().numpy().copy())
    return np.array(seen), optimizer.state[param]


OPTIONS = {
    "Adagrad": [
        {}, {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 0.1},
        {"weight_decay": 0.1, "maximize": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.5, "eps": 1e-3}, {"weight_decay": 0.1, "maximize": True}],
    "Adamax": [
        {}, {"lr": 0.1, "betas": (0.5, 0.6), "eps": 0.1}, {"weight_decay": 0.1, "maximize": True}],
    "RMSprop": [
        {}, {"lr": 0.1, "alpha": 0.7, "eps": 0.1}, {"momentum": 0.9},
        {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (0.005, 0.012), "maximize": True}],
    "ASGD": [
        {}, {"lr": 0.1, "t0": 2.0},
        {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "weight_decay": 0.1, "maximize": True}],
    "NAdam": [
        {}, {"lr": 0.1, "betas": (0.5, 0.7), "momentum_decay": 0.1, "eps": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"weight_decay": 0.1, "maximize": True}],
    "RAdam": [
        {}, {"lr": 0.1, "betas": (0.5, 0.7), "eps": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"weight_decay": 0.1, "maximize": True}],
}  # fmt: skip
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_steps_are_those_of_torch(name, options, dtype):
    torch = pytest.importorskip("torch")
    expected, there = run(torch, name, dtype, **options)
    found, here = run(ag, name, dtype, **options)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
    assert here.keys() == there.keys()
    for key, value in there.items():
        np.testing.assert_allclose(np.asarray(here[key]), value.numpy(), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPTIONS)
def test_halves_are_rounded_only_when_stored(name, dtype):
    options = {**OPTIONS[name][1], "maximize": True}
    x, grads = draws()
    half = ag.tensor(x, dtype=dtype).requires_grad_()
    single = half.detach().float().requires_grad_()
    steps = [getattr(ag.optim, name)([param], **options) for param in (half, single)]
    for grad in grads:
        half.grad = ag.tensor(grad, dtype=dtype)
        single.grad = half.grad.float()
        for optimizer in steps:
            optimizer.step()
        assert ag.equal(half, single.detach().to(dtype))
        for key, value in steps[1].state[single].items():
            kept_as = dtype if value.ndim else ag.float32
            assert ag.equal(steps[0].state[half][key], value.to(kept_as)), key
            value.copy_(steps[0].state[half][key])
        single.data.copy_(half.detach())


@pytest.mark.parametrize("name", OPTIONS)
def test_strided_parameters_take_the_same_steps(name):
    plain, _ = run(ag, name, **OPTIONS[name][-1])
    strided, _ = run(
        ag, name, wrap=lambda t: ag.cat([t, t], 1)[:, : t.shape[1]], **OPTIONS[name][-1]
    )
    turned, _ = run(ag, name, wrap=lambda t: t.t().contiguous().t(), **OPTIONS[name][-1])
    assert np.array_equal(plain, strided)
    assert np.array_equal(plain, turned)


@pytest.mark.parametrize("name", OPTIONS)
def test_parameters_without_gradient_stay(name):
    params = [ag.ones(2, requires_grad=True) for _ in range(3)]
    optimizer = getattr(ag.optim, name)(params)
    params[1].grad = ag.ones(2)
    optimizer.step()
    assert [bool((p == 1).all()) for p in params] == [True, False, True]
    for param in params:
        param.grad = None
    optimizer.step()
    assert params[1]._version == 1


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_a_loaded_state_goes_on(name, options):
    x, grads = draws()
    one = ag.tensor(x, requires_grad=True)
    first = getattr(ag.optim, name)([one], **options)
    for grad in grads[:4]:
        one.grad = ag.tensor(grad)
        first.step()
    other = one.detach().clone().requires_grad_()
    second = getattr(ag.optim, name)([other])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for grad in grads[4:]:
        for param, optimizer in ((one, first), (other, second)):
            param.grad = ag.tensor(grad)
            optimizer.step()
    assert ag.equal(one, other)


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_states_go_to_torch_and_back(name, options):
    torch = pytest.importorskip("torch")
    x, grads = draws()
    params = {library: library.tensor(x, requires_grad=True) for library in (torch, ag)}
    steps = {lib: getattr(lib.optim, name)([p], **options) for lib, p in params.items()}

    def go(some):
        for grad in some:
            for library, param in params.items():
                param.grad = library.tensor(grad)
                steps[library].step()

    def turned(value, library):
        if isinstance(value, dict):
            return {k: turned(v, library) for k, v in value.items()}
        if isinstance(value, list):
            return [turned(v, library) for v in value]
        return library.tensor(value.numpy().copy()) if hasattr(value, "numpy") else value

    go(grads[:3])
    states = {library: optimizer.state_dict() for library, optimizer in steps.items()}
    steps[torch].load_state_dict(turned(states[ag], torch))
    steps[ag].load_state_dict(turned(states[torch], ag))
    go(grads[3:])
    np.testing.assert_allclose(
        params[ag].detach().numpy(), params[torch].detach().numpy(), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_any_number_of_threads_takes_the_same_steps(name):
    def after(threads):
        before = ag.get_num_threads()
        ag.set_num_threads(threads)
        try:
            x = ag.linspace(-1, 1, 70_001, dtype=ag.float32).requires_grad_()
            optimizer = getattr(ag.optim, name)([x])
            for k in (1.0, -2.0):
                x.grad = k * x.detach() + 0.1
                optimizer.step()
            return x.detach()
        finally:
            ag.set_num_threads(before)

    assert ag.equal(after(1), after(2))


REFUSED = {
    "Adagrad": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay",
                "lr_decay": "lr_decay", "initial_accumulator_value": "initial_accumulator_value"},
    "Adadelta": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay",
                 "rho": "rho"},
    "Adamax": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay"},
    "RMSprop": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay",
                "alpha": "alpha", "momentum": "momentum"},
    "Rprop": {"lr": "learning rate"},
    "ASGD": {"lr": "learning rate", "weight_decay": "weight_decay"},
    "NAdam": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay",
              "momentum_decay": "momentum_decay"},
    "RAdam": {"lr": "learning rate", "eps": "epsilon", "weight_decay": "weight_decay"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [(n, o, text) for n, some in REFUSED.items() for o, text in some.items()],
)
def test_negative_options_are_refused(name, option, text):
    with pytest.raises(ValueError, match=f"Invalid {text}.*: -1"):
        getattr(ag.optim, name)([ag.ones(1)], **{option: -1})


@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RAdam"])
def test_betas_are_below_one(name):
    for index, betas in enumerate([(1.0, 0.5), (0.5, 1.0)]):
        with pytest.raises(ValueError, match=f"index {index}: 1.0"):
            getattr(ag.optim, name)([ag.ones(1)], betas=betas)


def test_factors_of_steps_lie_around_one():
    for etas in ((0.0, 1.2), (1.0, 1.2), (0.5, 1.0)):
        with pytest.raises(ValueError, match="Invalid eta values"):
            ag.optim.Rprop([ag.ones(1)], etas=etas)


def test_not_a_number_stays_one():
    for name in OPTIONS:
        x = ag.ones(2, requires_grad=True)
        optimizer = getattr(ag.optim, name)([x])
        for bad in (1.0, math.nan, 1.0):
            x.grad = ag.tensor([1.0, bad])
            optimizer.step()
        # Rprop asks for a sign alone, and a NaN has none.
        assert x.isnan().tolist() == [False, name != "Rprop"], name


SHARED = {"lr": 0.1, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 0.0, "maximize": False}


def test_calls_of_the_operator_are_checked():
    p, g, total, step = ag.ones(2), ag.ones(2), ag.zeros(2), ag.tensor(0.0)
    for args, numbers, error, text in [
        (([p], [], [total], [step]), {}, ValueError, "1 parameters but 0"),
        (([p], [g], [total, total], [step]), {}, ValueError, "1 parameters but 2"),
        (([p], [g], [total], []), {}, ValueError, "1 parameters but 0"),
        (([p], [g[:1]], [total], [step]), {}, RuntimeError, r"\[2\].*\[1\]"),
        (([p], [g.double()], [total], [step]), {}, RuntimeError, "float64"),
        (([p.long()], [g.long()], [total.long()], [step]), {}, RuntimeError, "floating"),
        (([ag.ones(1).expand(2)], [g], [total], [step]), {}, RuntimeError, "memory"),
        (([p], [g], [total], [ag.zeros(2)]), {}, RuntimeError, "one float32 or float64"),
        (([p], [g], [total], [step.long()]), {}, RuntimeError, "one float32 or float64"),
        (([p], [g], [total], [step]), {"lr": ag.ones(2)}, RuntimeError, "lr must be a 1-element"),
        (([p], [g], [total], [step]), {"lr": ag.tensor(1)}, RuntimeError, "lr must be a float"),
        (([p], [g], [total], [step]), {"lr": "x"}, TypeError, "lr"),
        (([p], [g], [total], [step]), {"eps": None}, TypeError, "eps"),
        (([p], [g], [total], [step]), {"found_inf": ag.ones(2)}, RuntimeError, "found_inf must"),
        (([p], [g], [total], [step]), {"grad_scale": ag.ones(2)}, RuntimeError, "grad_scale must"),
        (([p], [g], [total], [ag.tensor(-1.0)]), {}, ValueError, "counted from 1"),
        (([p], g, [total], [step]), {}, TypeError, "grads"),
        (([p], [None], [total], [step]), {}, TypeError, "element 0"),
        (([p.clone().requires_grad_()], [g], [total], [step]), {}, RuntimeError, "leaf"),
    ]:
        with pytest.raises(error, match=text):
            _fused_adagrad_(*args, **{**SHARED, **numbers})
    with pytest.raises(TypeError, match="lr_decay"):
        _fused_adagrad_([p], [g], [total], [step], lr=0.1)
    assert p.tolist() == [1, 1]
    assert total.tolist() == [0, 0]
    assert step == 0
    assert (p._version, total._version, step._version) == (0, 0, 0)


def test_steps_on_meta_are_checked_and_change_nothing():
    for name in OPTIONS:
        x = ag.ones(3, device="meta", requires_grad=True)
        x.grad = ag.ones(3, device="meta")
        optimizer = getattr(ag.optim, name)([x])
        optimizer.step()
        assert {t.device.type for t in optimizer.state[x].values()} == {"meta"}
        assert x.device.type == "meta"


FUSED = [*OPTIONS, "Adam", "AdamW"]


@pytest.mark.parametrize("name", FUSED)
def test_a_state_of_another_method_is_refused(name):
    for other in FUSED:
        x = ag.ones(3, requires_grad=True)
        x.grad = ag.ones(3)
        made = getattr(ag.optim, other)([x])
        made.step()
        optimizer = getattr(ag.optim, name)([x])
        arrays = optimizer.arrays if name in OPTIONS else ("exp_avg", "exp_avg_sq")
        needed = arrays[:1] if name == "RMSprop" else arrays
        optimizer.load_state_dict({**optimizer.state_dict(), "state": made.state_dict()["state"]})
        before = x.tolist()
        if set(needed) <= made.state[x].keys():
            continue
        with pytest.raises(RuntimeError, match="state of a parameter is missing"):
            optimizer.step()
        assert x.tolist() == before


@pytest.mark.parametrize("name", FUSED)
def test_a_refused_step_does_not_count(name):
    x = ag.ones(3, requires_grad=True)
    x.grad = ag.ones(3)
    optimizer = getattr(ag.optim, name)([x])
    optimizer.step()
    before = copy.deepcopy(optimizer.state_dict())
    x.data = ag.ones(5)
    x.grad = ag.ones(5)
    with pytest.raises(RuntimeError, match="must agree"):
        optimizer.step()
    after = optimizer.state_dict()
    assert repr(after) == repr(before)
