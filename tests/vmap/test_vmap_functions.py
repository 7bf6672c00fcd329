"""Custom Functions under vmap: their own rules, generated rules, and derivatives around them."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import vmap
from autograd_cy.func import grad, jacrev, jvp

X = ag.tensor(np.random.default_rng(0).standard_normal((3, 2)))
W = ag.tensor([0.5, -2.0], dtype=ag.float64)


class Generated(ag.autograd.Function):
    """``(x**3 * w, x + w)``, with a factor 10 in its derivatives that shows who computed them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, w, power):
        y = x.detach() ** power
        return y * w, x + w

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, ctx.power = inputs
        ctx.save_for_backward(x, w, output[0])
        ctx.save_for_forward(x, w)

    @staticmethod
    def backward(ctx, g, h):
        x, w, y = ctx.saved_tensors
        assert ctx.needs_input_grad[2] is False
        gx = 10 * (ctx.power * x ** (ctx.power - 1) * w * g + h)
        return gx, 10 * (y / w * g + h), None

    @staticmethod
    def jvp(ctx, tx, tw, _):
        x, w = ctx.saved_tensors
        p = ctx.power
        return 10 * (p * x ** (p - 1) * w * tx + x**p * tw), 10 * (tx + tw)


class ByHand(Generated):
    """A Function with a rule of its own."""

    generate_vmap_rule = False
    calls: list = []  # noqa: RUF012

    @staticmethod
    def vmap(info, in_dims, x, w, power):
        ByHand.calls.append((info.batch_size, info.randomness, in_dims))
        x = x.unsqueeze(0) if in_dims[0] is None else x.movedim(in_dims[0], 0)
        w = w.unsqueeze(0) if in_dims[1] is None else w.movedim(in_dims[1], 0)
        return ByHand.apply(*ag.cat([x + 0 * w, w + 0 * x]).chunk(2), power), (0, 0)


def total(F, x, w):
    a, b = F.apply(x, w, 3)
    return (a.sin() + b * b).sum()


def loop(f, *xs):
    return ag.stack([f(*[x[i] for x in xs]) for i in range(3)])


def close(x, y):
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), 1e-10, 1e-10)


BOTH = pytest.mark.parametrize("F", [Generated, ByHand])


@BOTH
def test_values(F):
    found = vmap(lambda x: F.apply(x, W, 3))(X)
    close(found[0], X**3 * W)
    close(found[1], X + W)
    found = vmap(lambda w: F.apply(X[0], w, 3), in_dims=1)(X.t())
    close(found[0], X[0] ** 3 * X)


def test_the_rule_gets_sizes_and_dims():
    ByHand.calls.clear()
    vmap(lambda x: ByHand.apply(x, W, 3), in_dims=1, randomness="same")(X.t())
    assert ByHand.calls == [(3, "same", (1, None, None))]


@BOTH
def test_gradients_inside(F):
    for i in (0, 1):
        g = grad(lambda x, w: total(F, x, w), argnums=i)
        close(vmap(g, in_dims=(0, None))(X, W), loop(lambda x: g(x, W), X))
        close(vmap(g)(X, X + 1), loop(g, X, X + 1))


@BOTH
def test_gradients_outside(F):
    x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
    vmap(lambda x: total(F, x, w))(x).sum().backward()
    if F is Generated:
        expected = [X.clone().requires_grad_(), W.clone().requires_grad_()]
        loop(lambda x: total(F, x, expected[1]), expected[0]).sum().backward()
        close(x.grad, expected[0].grad)
        close(w.grad, expected[1].grad)
    else:
        assert (x.grad != 0).all() and (w.grad != 0).all()


@BOTH
def test_tangents_inside_and_outside(F):
    t = X.cos()

    def gradient(x, t):
        return jvp(lambda x: total(F, x, W), (x,), (t,))[1]

    expected = loop(gradient, X, t)
    close(vmap(gradient)(X, t), expected)
    close(jvp(vmap(lambda x: total(F, x, W)), (X,), (t,))[1], expected)


def test_second_derivatives():
    def second(x):
        return grad(lambda x: grad(lambda x: total(Generated, x, W))(x).sum())(x)

    expected = loop(second, X)
    close(vmap(second)(X), expected)
    close(grad(lambda x: vmap(grad(lambda x: total(Generated, x, W)))(x).sum())(X), expected)
    close(vmap(jacrev(grad(lambda x: total(Generated, x, W))))(X).sum(1), expected)


@BOTH
def test_nested_batches(F):
    xs = ag.stack([X, X + 1])
    f = lambda x: total(F, x, W)  # noqa: E731
    close(vmap(vmap(f))(xs), ag.stack([loop(f, X), loop(f, X + 1)]))
    g = grad(f)
    close(vmap(vmap(g))(xs), ag.stack([loop(g, X), loop(g, X + 1)]))
    # Batched in the outer call only, called inside of the inner one.
    found = vmap(lambda x: vmap(lambda s: total(F, x, W) * s)(ag.ones(2, dtype=ag.float64)))(X)
    close(found, loop(f, X).unsqueeze(1).expand(3, 2))


def test_a_module_of_the_old_style_is_refused():
    class Old(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        vmap(Old.apply)(X)


def test_missing_and_double_rules_are_refused():
    class Neither(Generated):
        generate_vmap_rule = False

    class Double(ByHand):
        generate_vmap_rule = True

    class Wrong(ByHand):
        @staticmethod
        def vmap(info, in_dims, *args):
            return args[0]

    with pytest.raises(RuntimeError, match="does not have vmap support"):
        vmap(lambda x: Neither.apply(x, W, 3))(X)
    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overriden vmap"):
        vmap(lambda x: Double.apply(x, W, 3))(X)
    with pytest.raises(RuntimeError, match="to have two returns"):
        vmap(lambda x: Wrong.apply(x, W, 3))(X)
    close(vmap(lambda x: x * 2)(X), X * 2)


def test_outputs_without_derivative():
    class Order(ag.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            values, indices = x.sort()
            return values, indices

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(output[1])
            ctx.n = inputs[0].shape[0]

        @staticmethod
        def backward(ctx, g, _):
            (indices,) = ctx.saved_tensors
            return g.new_zeros(ctx.n).scatter_add(0, indices, g)

    def weighted(x):
        values, indices = Order.apply(x)
        assert not indices.requires_grad
        return (values * ag.tensor([1.0, 2.0], dtype=ag.float64)).sum()

    close(vmap(grad(weighted))(X), loop(grad(weighted), X))
