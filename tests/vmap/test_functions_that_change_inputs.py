"""mark_dirty under transformations: as the same function that changes nothing."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd import functional
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, vmap


class Triple(ag.autograd.Function):
    @staticmethod
    def forward(x):
        return x.mul_(3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return g * 3

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(3)

    @staticmethod
    def vmap(info, in_dims, x):
        return Triple.apply(x), in_dims[0]


class Generated(Triple):
    generate_vmap_rule = True
    vmap = ag.autograd.Function.vmap


def changing(function):
    def f(x):
        y = x * 2
        z = function.apply(y)
        assert z is y
        return (y * z * x).sum()

    return f


def f_unchanged(x):
    return (36 * x * x * x).sum()


X = ag.tensor([[0.5, 1.0], [2.0, 3.0]], dtype=ag.float64)

TRANSFORMED = {
    "vmap": lambda f: vmap(f)(X),
    "vmap(grad)": lambda f: vmap(grad(f))(X),
    "vmap(grad) of columns": lambda f: vmap(grad(f), in_dims=1, out_dims=1)(X),
    "grad(vmap)": lambda f: grad(lambda x: vmap(f)(x).sum())(X),
    "jvp(vmap)": lambda f: jvp(vmap(f), (X,), (X.cos(),))[1],
    "vmap(jvp)": lambda f: vmap(lambda x, t: jvp(f, (x,), (t,))[1])(X, X.cos()),
    "vmap(jacfwd)": lambda f: vmap(jacfwd(f))(X),
    "vmap(hessian)": lambda f: vmap(hessian(f))(X),
    "vmap(vmap)": lambda f: vmap(vmap(f))(X),
    "vmap(vmap(grad))": lambda f: vmap(vmap(grad(f)))(X),
}
TANGENTS = {
    "jacfwd": lambda f: jacfwd(f)(X[0]),
    "jacrev": lambda f: jacrev(f)(X[0]),
    "hessian": lambda f: hessian(f)(X[0]),
    "jacobian": lambda f: functional.jacobian(f, X[0], strategy="forward-mode", vectorize=True),
}


@pytest.mark.parametrize("name", [*TRANSFORMED, *TANGENTS])
def test_values_and_derivatives_are_those_of_the_function_without_changes(name):
    transform = {**TRANSFORMED, **TANGENTS}[name]
    ag.testing.assert_close(transform(changing(Triple)), transform(f_unchanged))


@pytest.mark.parametrize("name", TANGENTS)
def test_a_generated_rule_is_not_asked_where_only_tangents_are_batched(name):
    ag.testing.assert_close(TANGENTS[name](changing(Generated)), TANGENTS[name](f_unchanged))


def test_a_generated_rule_refuses_to_change_examples():
    with pytest.raises(RuntimeError, match="generate_vmap_rule=True doesn't support mark_dirty"):
        vmap(changing(Generated))(X)


def test_an_example_that_the_user_gave_is_changed():
    x = X.clone()
    y = vmap(Triple.apply)(x)
    assert x.tolist() == (3 * X).tolist() == y.tolist()


def test_a_rule_may_move_the_dimension_of_examples():
    class Scaled(ag.autograd.Function):
        @staticmethod
        def forward(x, w):
            return x.mul_(w), w * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])
            ctx.save_for_backward(inputs[1])

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.saved_tensors[0], h * 2

        @staticmethod
        def vmap(info, in_dims, x, w):
            return Scaled.apply(x.movedim(in_dims[0], 0), w), (0, None)

    def f(x, w):
        y = x * 1
        a, b = Scaled.apply(y, w)
        assert a is y
        return (y * b).sum()

    w = ag.tensor([2.0, 4.0], dtype=ag.float64)
    for dim in (0, 1):
        x = X.movedim(0, dim)
        found = vmap(f, in_dims=(dim, None))(x, w)
        ag.testing.assert_close(found, (X * w * (2 * w)).sum(1))
