"""Steps at infinite and shared parameters, and with options that change between steps."""

import math

import numpy as np
import pytest

import autograd_cy as ag

NAMES = "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD".split()
INF, NAN = math.inf, math.nan
OPTIONS = {
    "SGD": ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}),
    "Adam": ({}, {"amsgrad": True}, {"betas": (0.0, 0.99)}, {"weight_decay": 0.1}),
    "RMSprop": ({}, {"momentum": 0.9}, {"centered": True}),
}


def stepped(library, name, params, grads, steps=3, **options):
    """Values of a parameter and of its state, after steps with the same gradient."""
    x = library.tensor(params, requires_grad=True)
    optimizer = getattr(library.optim, name)([x], **options)
    for _ in range(steps):
        x.grad = library.tensor(grads)
        optimizer.step()
    state = optimizer.state[x]
    arrays = {k: v.tolist() for k, v in state.items() if getattr(v, "ndim", 0)}
    return {"parameter": x.detach().tolist(), **arrays}


@pytest.mark.parametrize("name", NAMES)
def test_infinite_and_undefined_numbers_spread_no_further_than_in_torch(name):
    torch = pytest.importorskip("torch")
    params = [1.0, INF, -INF, NAN, 1.0, 1.0, INF]
    grads = [1.0, 1.0, 1.0, 1.0, INF, -INF, INF]
    for options in OPTIONS.get(name, ({},)):
        ours = stepped(ag, name, params, grads, **options)
        theirs = stepped(torch, name, params, grads, **options)
        assert ours.keys() == theirs.keys()
        for array, values in ours.items():
            assert values == pytest.approx(theirs[array], rel=1e-5, nan_ok=True), (options, array)


def test_state_of_a_parameter_that_was_no_number_is_its_gradients_alone():
    # Whoever puts such a parameter right goes on with a good state.
    for name in NAMES:
        found = stepped(ag, name, [1.0, NAN], [0.5, 0.5])
        for array in found.keys() - {"parameter", "ax"}:
            assert found[array][0] == found[array][1], (name, array)


def test_a_mean_that_keeps_nothing_is_the_gradient_however_large_it_was():
    for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam"):
        x = ag.ones(1, requires_grad=True)
        optimizer = getattr(ag.optim, name)([x], betas=(0.0, 0.99))
        for grad in (1e9, 1.0):
            x.grad = ag.tensor([grad])
            optimizer.step()
        assert optimizer.state[x]["exp_avg"].tolist() == [1.0], name


def test_an_infinite_rate_is_infinite_and_no_complex_number():
    for name in ("Adam", "AdamW"):
        assert stepped(ag, name, [1.0], [1.0], steps=1, lr=INF)["parameter"] == [-INF]


# --- memory of several parameters ------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_the_same_memory_are_stepped_one_after_the_other(name):
    n = 200_000
    one, two = ag.ones(n), ag.ones(n)
    several = [one.detach()[:].requires_grad_(), one.detach()[: n // 2].requires_grad_()]
    apart = [two.detach()[:].requires_grad_(), two.detach()[: n // 2].requires_grad_()]
    together = getattr(ag.optim, name)(several)
    singles = [getattr(ag.optim, name)([x]) for x in apart]
    ag.set_num_threads(4)
    try:
        for i in range(3):
            for x in (*several, *apart):
                x.grad = ag.linspace(-1.0, 1.0 + i, x.numel())
            together.step()
            for optimizer in singles:
                optimizer.step()
    finally:
        ag.set_num_threads(2)
    assert one.tolist() == two.tolist()


def test_a_gradient_in_the_memory_of_another_parameter_is_read_after_its_step():
    memory = ag.ones(100_000)
    first, second = memory.detach().requires_grad_(), ag.zeros(100_000, requires_grad=True)
    first.grad, second.grad = ag.ones(100_000), memory.detach()
    ag.optim.SGD([first, second], lr=0.5).step()
    assert set(first.tolist()) == {0.5} and set(second.tolist()) == {-0.25}


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_parameters_with_gaps_in_one_memory_are_stepped_in_turn_as_in_torch(name):
    torch = pytest.importorskip("torch")
    seen = []
    for library in (ag, torch):
        memory = library.ones(6, 6).double()
        cuts = [memory[:, ::2], memory[:, 1::2], memory[1:3], memory[:, :2].t()]
        params = [cut.detach().requires_grad_() for cut in cuts]
        optimizer = getattr(library.optim, name)(params, lr=0.03)
        for _ in range(2):
            for i, p in enumerate(params):
                p.grad = library.full_like(p, i + 1.0)
            params[1].grad = memory.detach()[:, ::2]
            optimizer.step()
        seen.append(memory)
    np.testing.assert_allclose(*seen, rtol=1e-13)


def test_neighbours_in_one_memory_are_stepped_at_once():
    memory = ag.ones(6, 2)
    rows = [memory.detach()[i].requires_grad_() for i in range(6)]
    for row in rows:
        row.grad = ag.ones(2)
    ag.optim.SGD(rows, lr=0.5).step()
    assert set(memory.flatten().tolist()) == {0.5}


# --- options and state that no longer fit ----------------------------------------------------

CHANGES = {
    "Adam": {"amsgrad": (False, True)},
    "AdamW": {"amsgrad": (False, True)},
    "RMSprop": {"momentum": (0.0, 0.9), "centered": (False, True)},
    "SGD": {"momentum": (0.0, 0.9), "nesterov": (False, True)},
}


@pytest.mark.parametrize("name", CHANGES)
def test_options_that_change_after_a_step_count_or_are_refused_as_in_torch(name):
    torch = pytest.importorskip("torch")

    def run(library, option, before, after):
        x = library.ones(2, requires_grad=True)
        given = {"momentum": 0.9} if option == "nesterov" else {}
        optimizer = getattr(library.optim, name)([x], **given, **{option: before})
        x.grad = library.tensor([1.0, -0.5])
        optimizer.step()
        optimizer.param_groups[0][option] = after
        try:
            for grad in ([0.5, 0.1], [-0.2, 2.0]):
                x.grad = library.tensor(grad)
                optimizer.step()
        except (KeyError, RuntimeError):
            return "refused"
        return x.detach().tolist()

    for option, (off, on) in CHANGES[name].items():
        for before, after in ((off, on), (on, off)):
            ours, theirs = (run(library, option, before, after) for library in (ag, torch))
            if theirs == "refused":
                assert ours == "refused", (option, before)
            else:
                assert ours == pytest.approx(theirs), (option, before)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "SGD"])
def test_every_array_of_a_state_is_missed(name):
    for options in OPTIONS.get(name, ({},)):
        x = ag.ones(2, requires_grad=True)
        x.grad = ag.ones(2)
        optimizer = getattr(ag.optim, name)([x], **options)
        optimizer.step()
        for key in list(optimizer.state[x]):
            kept = optimizer.state[x].pop(key)
            with pytest.raises((RuntimeError, KeyError), match=f"{key}|missing"):
                optimizer.step()
            optimizer.state[x][key] = kept


@pytest.mark.parametrize("name", [n for n in NAMES if n != "SGD"])
def test_steps_that_can_not_be_are_refused(name):
    for step in (-1, -7, NAN):
        x = ag.ones(2, requires_grad=True)
        x.grad = ag.ones(2)
        optimizer = getattr(ag.optim, name)([x])
        optimizer.step()
        optimizer.state[x]["step"] = ag.tensor(float(step))
        before = x.tolist()
        with pytest.raises(ValueError, match="steps are counted from 1|NaN"):
            optimizer.step()
        assert x.tolist() == before
