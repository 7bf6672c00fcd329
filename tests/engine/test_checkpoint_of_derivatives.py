"""Checkpoints and derivatives in each other: the numbers are those without a checkpoint.

A checkpointed function may take derivatives, by any of the ways there are, and derivatives of any
order and mode may be taken of what has checkpoints inside. In both cases the region is run again
while, or after, other backwards and levels run, and has to save the same tensors in the same order.
"""

import itertools

import pytest
from grouping import each

import autograd_cy as torch
import autograd_cy.autograd.forward_ad as fwAD
from autograd_cy.autograd import functional
from autograd_cy.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from autograd_cy.nn import functional as F
from autograd_cy.utils.checkpoint import CheckpointError, checkpoint


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


M = numbers(0.5, -1, 0.25, 0.75, 0.4, -0.6, 0.9, 1.2, 0.3).reshape(3, 3)
Z, W = numbers(0.5, 2.0, -1.0), numbers(3.0, -1.0, 0.5)
MANY = torch.stack([Z, numbers(1.0, 0.5, 0.7)])


def written(z, w):
    y = z * w
    y[1:].mul_(w[1:])
    return y.sin_()


FUNCTIONS = {
    "cube": lambda z, w: z**3 * w,
    "quotient": lambda z, w: z * z / w,
    "tanh": lambda z, w: (z * w).tanh(),
    "layers": lambda z, w: (z @ M).tanh() @ M * w,
    "softmax": lambda z, w: (z * w).softmax(0),
    "exp": lambda z, w: (z * w).exp(),
    "sin_cos": lambda z, w: z.sin() * w.cos(),
    "where": lambda z, w: torch.where(z > 0, z * z * w, w**2 * z.sin()),
    "normalize": lambda z, w: F.normalize(z * w, dim=0),
    "layer_norm": lambda z, w: F.layer_norm(z * z, (3,), w),
    "logsumexp": lambda z, w: (z * w).logsumexp(0),
    "prod": lambda z, w: (z * w).prod(),
    "cumsum": lambda z, w: (z * w).cumsum(0) ** 2,
    "outer": lambda z, w: torch.outer(z, w) @ z,
    "maximum": lambda z, w: torch.maximum(z, w) * z,
    "sigmoid": lambda z, w: torch.sigmoid(z) * w * z,
    "written": written,
    "gelu": lambda z, w: F.gelu(z * w),
}


def gradient(f, z, w, wanted):
    with torch.enable_grad():
        return torch.autograd.grad(f(z, w).sum(), wanted, create_graph=True)


def curvature(f, z, w):
    with torch.enable_grad():
        (first,) = torch.autograd.grad(f(z, w).pow(2).sum(), z, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), w, create_graph=True)[0]


# Derivatives that a checkpointed function takes.
INSIDE = {
    "grad": lambda f: lambda z, w: gradient(f, z, w, z)[0],
    "grad of both": lambda f: lambda z, w: torch.mul(*gradient(f, z, w, (z, w))),
    "grad of grad": lambda f: lambda z, w: curvature(f, z, w),
    "func.jvp": lambda f: lambda z, w: jvp(lambda z: f(z, w), (z,), (z * 2,))[1],
    "func.grad": lambda f: lambda z, w: grad(lambda z: f(z, w).sum())(z),
    "func.vjp": lambda f: lambda z, w: vjp(lambda z: f(z, w), z)[1](f(z, w))[0],
    "jacrev": lambda f: lambda z, w: jacrev(lambda z: f(z, w))(z),
    "jacfwd": lambda f: lambda z, w: jacfwd(lambda z: f(z, w))(z),
    "hessian": lambda f: lambda z, w: hessian(lambda z: f(z, w).pow(2).sum())(z),
    "jvp of grad": lambda f: (
        lambda z, w: jvp(grad(lambda z: f(z, w).pow(2).sum()), (z,), (z * 2,))[1]
    ),
    "functional.jacobian": lambda f: (
        lambda z, w: functional.jacobian(lambda z: f(z, w), z, create_graph=True)
    ),
    "functional.hvp": lambda f: (
        lambda z, w: functional.hvp(lambda z: f(z, w).pow(2).sum(), z, z * 2, create_graph=True)[1]
    ),
}


def square(y):
    return y.pow(2).sum()


def pushed(f, tangent):
    """The tangent of a function of one argument, squared."""
    return lambda z: square(jvp(f, (z,), (tangent(z),))[1])


def of_duals(f):
    z, w = (x.clone().requires_grad_() for x in (Z, W))
    with fwAD.dual_level():
        y = fwAD.unpack_dual(f(fwAD.make_dual(z.sin(), w * z), w))
    return torch.autograd.grad(square(y.tangent) + square(y.primal), (z, w))


def one(f):
    return lambda z: f(z, W)


# Derivatives of what has a checkpoint inside.
OUTSIDE = {
    "jacrev of jacfwd": lambda f: jacrev(jacfwd(one(f)))(Z),
    "jacfwd of jacrev": lambda f: jacfwd(jacrev(one(f)))(Z),
    "jacrev of jacrev": lambda f: jacrev(jacrev(one(f)))(Z),
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(one(f)))(Z),
    "hessian": lambda f: hessian(lambda z: square(f(z, W)))(Z),
    "linearize": lambda f: linearize(one(f), Z)[1](Z * 2),
    "grad of jvp": lambda f: grad(pushed(one(f), lambda z: z * 2))(Z),
    "grad of jvp of both": lambda f: grad(
        lambda z, w: square(jvp(f, (z, w), (z * 2, w.sin()))[1]), argnums=(0, 1)
    )(Z, W),
    "grad of jvp of jvp": lambda f: grad(
        pushed(lambda z: jvp(one(f), (z,), (z * 2,))[1], torch.sin)
    )(Z),
    "jvp of grad of jvp": lambda f: jvp(grad(pushed(one(f), lambda z: z * 2)), (Z,), (Z.cos(),))[1],
    "vmap of grad of jvp": lambda f: vmap(lambda v: grad(pushed(one(f), lambda z: v))(Z))(MANY),
    "grad of jvp of vmap": lambda f: grad(pushed(vmap(one(f), in_dims=1), lambda z: z * 2))(
        MANY.t()
    ),
    "grad of vmap of jvp": lambda f: grad(
        lambda z: square(vmap(pushed(one(f), lambda z: z * 2))(z))
    )(MANY),
    "vmap of grad of grad": lambda f: vmap(
        grad(lambda z: square(grad(lambda z: square(f(z, W)))(z)))
    )(MANY),
    "grad of duals": of_duals,
    "functional.hessian": lambda f: functional.hessian(
        lambda z: square(f(z, W)), Z, vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
}


def checkpointed(f, depth, early):
    for _ in range(depth):

        def f(*args, f=f):
            return checkpoint(f, *args, use_reentrant=False, early_stop=early)

    return f


def to_second_order(f):
    z, w = (x.clone().requires_grad_() for x in (Z, W))
    y = f(z, w)
    firsts = torch.autograd.grad(square(y), (z, w), create_graph=True, allow_unused=True)
    moving = [x for x in firsts if x is not None and x.requires_grad]
    seconds = torch.autograd.grad(sum(map(square, moving)), (z, w), allow_unused=True)
    return [y, *firsts, *seconds]


def assert_same(found, expected):
    assert [x is None for x in found] == [x is None for x in expected]
    for x, y in zip(found, expected):
        assert x is None or torch.allclose(x, y, rtol=1e-11, atol=1e-11)


def variants():
    """(way, function, depth, early stop): each way with each function is quick once only."""
    for where, ways in (("inside", INSIDE), ("outside", OUTSIDE)):
        for i, (way, name) in enumerate(itertools.product(ways, FUNCTIONS)):
            for j, (depth, early) in enumerate(itertools.product((1, 2), (True, False))):
                marks = [] if j == (i + i // len(FUNCTIONS)) % 4 else [pytest.mark.slow]
                case = f"{way}-{name}-{depth}-{early}"
                yield where, pytest.param(way, name, depth, early, id=case, marks=marks)


def params(wanted):
    return [param for where, param in variants() if where == wanted]


@each("way, name, depth, early", params("inside"))
def test_a_checkpointed_function_may_take_derivatives(way, name, depth, early):
    f = INSIDE[way](FUNCTIONS[name])
    assert_same(to_second_order(checkpointed(f, depth, early)), to_second_order(f))


@each("way, name, depth, early", params("outside"))
def test_derivatives_of_what_has_a_checkpoint_inside(way, name, depth, early):
    def run(f):
        found = OUTSIDE[way](f)
        return found if isinstance(found, tuple) else (found,)

    f = FUNCTIONS[name]
    assert_same(run(checkpointed(f, depth, early)), run(f))


def test_a_derivative_in_both_a_checkpoint_and_what_it_calls():
    def inner(z, w):
        return gradient(checkpointed(FUNCTIONS["layers"], 1, True), z, w, z)[0]

    def outer(call):
        return lambda z, w: gradient(lambda z, w: call(inner)(z, w) * w, z, w, z)[0]

    found = to_second_order(checkpointed(outer(lambda f: checkpointed(f, 1, True)), 1, True))
    plain = outer(lambda f: lambda z, w: gradient(FUNCTIONS["layers"], z, w, z)[0])
    assert_same(found, to_second_order(plain))


def test_a_dual_from_outside_of_the_arguments_is_an_error_that_says_what_to_do():
    def value(z):
        return square(
            jvp(lambda z: checkpoint(lambda: z.sin() * z, use_reentrant=False), (z,), (z,))[1]
        )

    with pytest.raises(CheckpointError, match="pass it to checkpoint as an argument"):
        grad(value)(Z)


def test_a_level_that_began_for_a_recomputation_ends_with_it():
    found = grad(pushed(checkpointed(torch.sin, 1, True), torch.exp))(Z)
    assert_same([found], [grad(pushed(torch.sin, torch.exp))(Z)])
    assert not torch._C.tensor._get_global_modes() & torch._C.tensor._G_FORWARD
