"""testing.check_grads: right derivatives pass at any order, wrong ones are found and named."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd.gradcheck import GradcheckError
from autograd_cy.testing import check_grads


@pytest.fixture
def x():
    return ag.tensor([0.5, 2.0], dtype=ag.float64)


@pytest.fixture
def z():
    return ag.tensor([0.5 + 1j, 2 - 0.3j], dtype=ag.complex128)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("modes", ["rev", "fwd", ("fwd", "rev")])
def test_right_derivatives(x, z, order, modes):
    check_grads(lambda a: a.sin() * a.sum(), x, order, modes)
    check_grads(lambda a, b: ((a * b).sin(), (a * a).sum()), (x, z), order, modes)
    check_grads(lambda a: (a * a.conj()).real.log(), z, order, modes)


def test_linear_and_constant_functions(x):
    check_grads(lambda a: a * 2, x, order=3)
    check_grads(lambda a: (a * 2, ag.ones(2)), x, order=3)


def test_what_is_no_tensor_is_passed_on(x):
    index = ag.tensor([1, 0])
    check_grads(lambda a, i, power: a[i] ** power, (x, index, 3))


def wrong_gradient(a, order):
    """a**3 whose derivative of the given order is wrong in reverse mode."""
    if order == 1:
        y = a**3
        y.register_hook(lambda g: g * 1.5)
        return y
    y = a**3
    y.register_hook(lambda g: g + wrong_gradient(a, 1) - a**3 if ag.is_grad_enabled() else g)
    return y


def test_wrong_gradient_is_found(x):
    with pytest.raises(GradcheckError, match=r"derivative of order 1 \(reverse mode\) is wrong"):
        check_grads(lambda a: wrong_gradient(a, 1), x)
    check_grads(lambda a: wrong_gradient(a, 1), x, order=1, modes="fwd")


def test_wrong_second_derivative_is_found(x):
    check_grads(lambda a: wrong_gradient(a, 2), x, order=1)
    with pytest.raises(GradcheckError, match="derivative of order 2 .* over reverse mode"):
        check_grads(lambda a: wrong_gradient(a, 2), x, order=2, modes="rev")


def wrong_tangent(y):
    """`y`, whose tangent is three times too long and whose gradient is right."""
    z = y * 3 - y.detach() * 2
    if z.requires_grad:
        z.register_hook(lambda g: g / 3)
    return z


def test_wrong_tangent_is_found(x):
    with pytest.raises(GradcheckError, match=r"order 1 \(forward mode\) of output 0 is wrong"):
        check_grads(lambda a: wrong_tangent(a * 2), x)
    check_grads(lambda a: wrong_tangent(a * 2), x, order=1, modes="rev")


def test_arguments_are_copied(x):
    x.requires_grad_(True)
    seen = []
    check_grads(lambda a: (seen.append(a is x), a * a)[1], x)
    assert not any(seen) and x.grad is None and x.tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"modes": "back"}, "modes must be"),
        ({"modes": ()}, "modes must be"),
        ({"order": 0}, "order must be at least 1"),
    ],
)
def test_refused_arguments(x, options, text):
    with pytest.raises(ValueError, match=text):
        check_grads(lambda a: a, x, **options)


def test_something_must_be_differentiable():
    with pytest.raises(ValueError, match="no argument is a Tensor of floating"):
        check_grads(lambda a: a, ag.ones(2, dtype=ag.int64))
