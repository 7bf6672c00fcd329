"""L-BFGS: minima of known functions, PyTorch's steps, state and refusals."""

import copy
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.optim._line_search import strong_wolfe
from autograd_cy.optim.lbfgs import two_loops


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def quartic(x):
    return ((x - 1) ** 4 + (x - 1) ** 2 * 0.5).sum() + x.sum() * 0.1


def minimise(library, function, start, calls=1, **options):
    x = library.tensor(start, dtype=library.float64, requires_grad=True)
    optimizer = library.optim.LBFGS([x], **options)
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = function(x)
        loss.backward()
        seen.append(float(loss.detach()))
        return loss

    for _ in range(calls):
        optimizer.step(closure)
    return x, optimizer, seen


@pytest.mark.parametrize("size", [2, 5, 20])
def test_the_valley_of_rosenbrock(size):
    start = np.tile([-1.2, 1.0], size)[:size]
    x, _, seen = minimise(
        ag, rosenbrock, start, calls=5, max_iter=60, tolerance_change=1e-15,
        line_search_fn="strong_wolfe",
    )  # fmt: skip
    np.testing.assert_allclose(x.detach().numpy(), 1, atol=1e-6)
    assert len(seen) < 300


def test_few_steps_are_remembered():
    x, optimizer, _ = minimise(
        ag, rosenbrock, [-1.2, 1.0, -1.2], calls=8, max_iter=40, history_size=3,
        tolerance_change=1e-15, line_search_fn="strong_wolfe",
    )  # fmt: skip
    np.testing.assert_allclose(x.detach().numpy(), 1, atol=1e-6)
    assert len(next(iter(optimizer.state.values()))["old_stps"]) <= 3


@pytest.mark.parametrize(
    "options", [{}, {"lr": 0.3}, {"history_size": 2}, {"max_eval": 6}], ids=str
)
@pytest.mark.parametrize("calls", [1, 3])
def test_steps_without_search_are_those_of_torch(options, calls):
    torch = pytest.importorskip("torch")
    options = {"max_iter": 7, **options}
    start = [3.0, -1.0, 0.5]
    x, mine, seen = minimise(ag, quartic, start, calls, **options)
    y, theirs, expected = minimise(torch, quartic, start, calls, **options)
    np.testing.assert_allclose(seen, expected, rtol=1e-9)
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-9)
    here, there = mine.state[x], theirs.state[y]
    assert set(there) == set(here)
    assert [f is None for f in here["al"]] == [f is None for f in there["al"]]
    for ours, others in zip(here["al"], there["al"]):
        if ours is not None:
            np.testing.assert_allclose(ours.item(), others.item(), rtol=1e-6, atol=1e-12)
    assert (here["n_iter"], here["func_evals"]) == (there["n_iter"], there["func_evals"])
    np.testing.assert_allclose(here["d"].numpy(), there["d"].numpy(), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("function", "start"), [(quartic, [3.0, -1.0]), (rosenbrock, [-1.2, 1.0])])
def test_the_search_needs_no_more_calls_than_torch(function, start):
    torch = pytest.importorskip("torch")
    options = {"max_iter": 80, "line_search_fn": "strong_wolfe"}
    x, _, seen = minimise(ag, function, start, **options)
    y, _, expected = minimise(torch, function, start, **options)
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), atol=1e-4)
    assert len(seen) <= 1.25 * len(expected)


def test_the_length_satisfies_the_strong_wolfe_conditions():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, x = ag.tensor(rng.normal(size=4)), ag.tensor(rng.normal(size=4))

        def function(x, a=a):
            return ((x - a) ** 4).sum() + (a * x).sin().sum() + 0.1 * (x * x).sum()

        def along(t, x=x):
            point = (x + t * direction).requires_grad_()
            loss = function(point)
            (grad,) = ag.autograd.grad(loss, point)
            return float(loss.detach()), grad

        direction = ag.zeros(4, dtype=ag.float64)
        loss, grad = along(0.0)
        direction = -grad
        slope = float(grad.dot(direction))
        first = float(10 ** rng.uniform(-3, 1))
        found, at, length, calls = strong_wolfe(along, direction, loss, grad, slope, first, 1e-12)
        again, slopes = along(length)
        assert again == found
        assert ag.equal(slopes, at)
        assert found <= loss + 1e-4 * length * slope
        assert abs(float(at.dot(direction))) <= -0.9 * slope
        assert calls <= 25


def test_two_loops_are_the_product_with_the_inverse():
    rng = np.random.default_rng(1)
    g, H = rng.normal(size=6), 0.7 * np.eye(6)
    steps, changes = rng.normal(size=(2, 4, 6))
    changes = np.where((steps * changes).sum(1, keepdims=True) > 0, changes, -changes)
    inverses = [1 / (s @ y) for s, y in zip(steps, changes)]
    for s, y, r in zip(steps, changes, inverses):
        V = np.eye(6) - r * np.outer(y, s)
        H = V.T @ H @ V + r * np.outer(s, s)
    found, _ = two_loops(
        ag.tensor(g), [*map(ag.tensor, steps)], [*map(ag.tensor, changes)], inverses, 0.7
    )
    np.testing.assert_allclose(found.numpy(), -H @ g, rtol=1e-10)


def test_parameters_of_several_shapes_and_complex_ones():
    a = ag.zeros(2, 3, dtype=ag.float64, requires_grad=True)
    z = ag.zeros(2, dtype=ag.complex128, requires_grad=True)
    unused = ag.ones(3, dtype=ag.float64, requires_grad=True)
    goal = ag.tensor([1 + 2j, -1j], dtype=ag.complex128)
    optimizer = ag.optim.LBFGS([a, z, unused], line_search_fn="strong_wolfe", max_iter=50)

    def closure():
        optimizer.zero_grad()
        loss = ((a - 3) ** 2).sum() + ((z - goal).abs() ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert ag.allclose(a, ag.full_like(a, 3.0))
    assert ag.allclose(z, goal)
    assert unused.tolist() == [1, 1, 1]


def test_a_loaded_state_goes_on():
    x, optimizer, _ = minimise(ag, quartic, [3.0, -1.0], max_iter=4)
    y = x.detach().clone().requires_grad_()
    other = ag.optim.LBFGS([y])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for param, one in ((x, optimizer), (y, other)):

        def closure(param=param, one=one):
            one.zero_grad()
            loss = quartic(param)
            loss.backward()
            return loss

        one.step(closure)
    assert ag.equal(x, y)


def test_numbers_of_a_state_may_be_tensors():
    def made(start):
        x = ag.tensor(start, dtype=ag.float64, requires_grad=True)
        return x, ag.optim.LBFGS([x], lr=0.5, max_iter=3)

    def step(x, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = ((x - 2) ** 4).sum() + (x * x).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    x, optimizer = made([1.0, -2.0])
    step(x, optimizer)
    y, other = made(x.tolist())
    saved = optimizer.state_dict()
    state = dict(saved["state"][0])
    state["ro"] = [ag.tensor(number, dtype=ag.float64) for number in state["ro"]]
    state["H_diag"] = ag.tensor(state["H_diag"], dtype=ag.float64)
    other.load_state_dict({**saved, "state": {0: state}})
    step(x, optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(y, other)
    assert y.tolist() == x.tolist()


def test_the_loss_before_the_first_step_is_returned():
    x = ag.tensor([2.0], requires_grad=True)
    optimizer = ag.optim.LBFGS([x])

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 4.0
    assert optimizer.step(closure).item() < 1e-8


def test_a_minimum_is_left_alone():
    x, _, seen = minimise(ag, lambda x: (x * x).sum(), [0.0, 0.0])
    assert len(seen) == 1
    assert x.tolist() == [0, 0]


def test_bad_calls_are_refused():
    x = ag.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="parameter groups"):
        ag.optim.LBFGS([{"params": [x]}, {"params": [ag.zeros(1)]}])
    with pytest.raises(ValueError, match="learning rate"):
        ag.optim.LBFGS([x], lr=-1)
    with pytest.raises(TypeError, match="closure"):
        ag.optim.LBFGS([x]).step()
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        ag.optim.LBFGS([x], line_search_fn="armijo").step(lambda: x.sum())


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_after_a_closure_that_failed_the_search_starts_anew(search, call):
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    optimizer = ag.optim.LBFGS([x], line_search_fn=search)
    calls = []

    def closure():
        calls.append(x.tolist())
        optimizer.zero_grad()
        loss = ((x - 3) ** 4).sum()
        loss.backward()
        return loss if len(calls) != call else 1 / 0

    with pytest.raises(ZeroDivisionError):
        optimizer.step(closure)
    if search and call == 2:
        assert x.tolist() == [1.0, 2.0]
    for _ in range(5):
        optimizer.step(closure)
    assert ag.allclose(x, ag.full((2,), 3.0), atol=0.1)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_small_gradient_ends_a_step_at_once(search):
    torch = pytest.importorskip("torch")
    options = {"tolerance_grad": 0.5, "tolerance_change": 0.0, "line_search_fn": search}
    ends = []
    for library in (ag, torch):
        x, optimizer, seen = minimise(library, quartic, [3.0, -2.0], **options)
        state = optimizer.state[x]
        ends.append((len(seen), state["n_iter"], state["func_evals"]))
    assert ends[0] == ends[1]
    assert 1 < ends[0][1] < 20
