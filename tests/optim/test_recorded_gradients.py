"""Derivatives of several recorded steps by all that goes into them, against finite differences."""

import numpy as np
import pytest
from grouping import each
from recorded_steps import CHOICES, NAMES, VALUES, options_of, switches

import autograd_cy as ag
from autograd_cy.autograd import gradcheck, gradgradcheck

STEPS = 3
F64 = ag.float64
START = ((1.3, -0.7, 0.4), (-1.1,))
# Rprop changes its sizes where a sign turns, and these turn some.
GRADS = (
    ((0.9, -1.4, 0.8), (1.7,)),
    ((-0.6, -0.3, 1.1), (0.5,)),
    ((0.7, 1.2, 0.2), (-0.8,)),
)
# Values at which no derivative is lost by rounding, and no two branches meet.
SMOOTH = {
    **{name: values[0] for name, values in VALUES.items()},
    "lr": 0.07, "eps": 0.02, "betas": (0.6, 0.75), "step_sizes": (1e-3, 0.1), "t0": 0.6,
    "initial_accumulator_value": 0.3, "weight_decay": 0.15, "lambd": 0.2,
}  # fmt: skip


def scalars(name):
    """Return {option: value} of a method's numbers and pairs."""
    known = options_of(name).items()
    return {option: SMOOTH[option] for option, value in known if not isinstance(value, bool)}


def tensors(values):
    return [ag.tensor(v, dtype=F64, requires_grad=True) for v in values]


def flat(options):
    return [x for v in options.values() for x in (v if isinstance(v, tuple) else (v,))]


def packed(options, numbers):
    """Return options with the numbers, in their order, in the place of their own."""
    numbers = iter(numbers)
    return {
        o: tuple(next(numbers) for _ in v) if isinstance(v, tuple) else next(numbers)
        for o, v in options.items()
    }


def unrolled(name, fixed, options, dtype=F64):
    """Return a function from parameters, weights of gradients and options to the last values."""

    def function(first, second, weights, *numbers):
        # They require grad in clones; gradients depend on where parameters are.
        params = [first.clone(), second.clone()]
        optimizer = getattr(ag.optim, name)(
            params, differentiable=True, **fixed, **packed(options, numbers)
        )
        for row, grads in zip(weights, GRADS, strict=True):
            for p, grad in zip(params, grads, strict=True):
                p.grad = ag.tensor(grad, dtype=dtype) * row + 0.1 * p
            optimizer.step()
        states = (v for s in optimizer.state.values() for v in s.values() if v.ndim)
        return (*params, *(v + 0 * first.sum() for v in states))

    return function


def inputs(options):
    return tensors([*START, (1.0, 0.9, 1.2), *flat(options)])


@each(
    "name,fixed",
    [
        pytest.param(name, fixed, id=f"{name}-" + ",".join(o for o, on in fixed.items() if on))
        for name in NAMES
        for fixed in switches(name)
    ],
)
def test_gradients_by_parameters_gradients_and_all_options(name, fixed):
    options = scalars(name)
    if fixed.get("nesterov"):
        del options["dampening"]  # which must be zero
    assert gradcheck(unrolled(name, fixed, options), inputs(options))


@each(
    "name,options",
    [pytest.param(name, o, id=f"{name}-{k}") for k, (name, o) in enumerate(CHOICES)],
)
def test_gradients_with_options_as_numbers(name, options):
    """The options of the choices are numbers here, as in most programs, but for the rate."""
    options = {"lr": 0.07, "eps": 0.02, **options}
    options = {o: v for o, v in options.items() if o in options_of(name)}
    # Where the rate isn't the only one, a derivative by the other options is tested above.
    function = unrolled(name, {o: v for o, v in options.items() if o != "lr"}, {"lr": 0.0})
    assert gradcheck(function, inputs({"lr": float(options["lr"])}))


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name):
    options = {o: v for o, v in scalars(name).items() if o in ("lr", "betas", "weight_decay")}
    assert gradgradcheck(unrolled(name, {}, options), inputs(options))


@pytest.mark.parametrize("name", NAMES)
def test_gradients_by_complex_parameters(name):
    def function(x, weights):
        w = x.clone()
        optimizer = getattr(ag.optim, name)([w], lr=0.1, differentiable=True)
        for weight in weights:
            w.grad = weight * w.clone() + (0.3 - 0.2j)
            optimizer.step()
        return w

    x = ag.tensor([1.3 - 0.4j, -0.7 + 0.9j], dtype=ag.complex128, requires_grad=True)
    weights = ag.tensor([0.5 + 0.2j, -0.3 + 0.1j], dtype=ag.complex128, requires_grad=True)
    assert gradcheck(function, (x, weights))


@pytest.mark.parametrize("name", NAMES)
def test_forward_mode_agrees(name):
    options = scalars(name)
    function, args = unrolled(name, {}, options), inputs(options)
    assert gradcheck(
        function, args, check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False
    )


@pytest.mark.parametrize(
    ("name", "amsgrad"), [*((n, False) for n in NAMES), ("Adam", True), ("AdamW", True)]
)
def test_a_gradient_of_zero_has_the_derivative_of_the_limit(name, amsgrad):
    """Weights that nothing reaches have gradients of zero, where the root has no derivative."""

    def stepped(g):
        x = ag.zeros((), dtype=F64)
        options = {"amsgrad": True} if amsgrad else {}
        optimizer = getattr(ag.optim, name)([x], lr=0.1, differentiable=True, **options)
        if name != "Rprop":
            optimizer.param_groups[0]["eps"] = 0.5
        for _ in range(2):
            x.grad = g.clone()
            optimizer.step()
        return x

    zero = ag.zeros((), dtype=F64, requires_grad=True)
    (found,) = ag.autograd.grad(stepped(zero), zero)
    h = 1e-6
    around = (stepped(ag.tensor(h, dtype=F64)) - stepped(ag.tensor(-h, dtype=F64))) / (2 * h)
    if name == "Rprop":  # which jumps there
        assert found == 0
    else:
        assert ag.allclose(found, around, rtol=1e-4), (found, around)


@pytest.mark.parametrize("name", NAMES)
def test_vmap_and_func_take_recorded_steps(name):
    def loss(x, rate):
        w = x.clone()
        optimizer = getattr(ag.optim, name)([w], lr=rate, differentiable=True)
        for _ in range(3):
            w.grad = 3 * w.clone() ** 2
            optimizer.step()
        return (w * w).sum()

    rate = ag.tensor(0.01, dtype=F64)
    rows = ag.tensor([[1.0, -2.0, 0.7], [0.5, 0.2, -1.0]], dtype=F64)
    several = ag.func.vmap(ag.func.grad(loss, argnums=(0, 1)), in_dims=(0, None))(rows, rate)
    for row, by_row, by_rate in zip(rows, *several, strict=True):
        x, r = row.clone().requires_grad_(), rate.clone().requires_grad_()
        expected = ag.autograd.grad(loss(x, r), (x, r))
        assert ag.allclose(by_row, expected[0])
        assert ag.allclose(by_rate, expected[1])


def test_a_factor_of_zero_has_a_derivative():
    """A rate, momentum or decay that is learned may begin at zero."""
    # Steps jump where a momentum begins that is dampened: without one nothing is.
    for option, dampening in (("lr", 0.3), ("weight_decay", 0.3), ("momentum", 0.0)):
        options = {"lr": 0.07, "momentum": 0.4, "weight_decay": 0.1, "dampening": dampening}

        def run(value, option=option, options=options):
            w = ag.tensor([1.0, -2.0], dtype=F64)
            optimizer = ag.optim.SGD([w], differentiable=True, **{**options, option: value})
            for _ in range(3):
                w.grad = 2 * w.clone()
                optimizer.step()
            return (w * w).sum()

        zero = ag.zeros((), dtype=F64, requires_grad=True)
        (found,) = ag.autograd.grad(run(zero), zero)
        h = 1e-6
        expected = (run(h) - run(0.0)) / h
        assert abs(found - expected) < 1e-3 * abs(expected)


def by_start(library, name, options):
    """Return parameters after three steps, and their derivatives by where they began."""
    start = [library.tensor(v, dtype=library.float64, requires_grad=True) for v in START]
    params = [p.clone() for p in start]
    optimizer = getattr(library.optim, name)(params, differentiable=True, **options)
    for grads in GRADS:
        for p, grad in zip(params, grads, strict=True):
            p.grad = library.tensor(grad, dtype=library.float64) + 0.1 * p.clone() ** 2
        optimizer.step()
    found = library.autograd.grad(sum((p**2).sum() for p in params), start)
    return [t.detach().numpy() for t in (*params, *found)]


@each(
    "name,options",
    [
        pytest.param(name, options, id=f"{name}-{number}")
        for number, (name, options) in enumerate(CHOICES)
        if name != "SGD" or "momentum" not in options  # torch cuts the graph at the first one
    ],
)
def test_gradients_are_those_of_torch(name, options):
    torch = pytest.importorskip("torch")
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # in which it counts steps, and so corrects means
    try:
        expected = by_start(torch, name, options)
    except RuntimeError as error:  # of amsgrad, centered, Adamax and Rprop after several steps
        if "modified by an inplace operation" not in str(error):
            raise
        pytest.skip("torch changes in place what it has saved")
    finally:
        torch.set_default_dtype(default)
    ag.set_default_dtype(ag.float64)
    try:
        found = by_start(ag, name, options)
    finally:
        ag.set_default_dtype(ag.float32)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
