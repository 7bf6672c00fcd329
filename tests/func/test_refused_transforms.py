"""Errors of transformations: results that are no tensors, memory that is set, 65 dimensions."""

from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy import autograd, func
from autograd_cy.autograd import forward_ad

x2, x3 = torch.zeros(2), torch.zeros(3)
deep = torch.zeros((1,) * 64)


def in_vmap(function, *args):
    return func.vmap(function)(*(args or (torch.ones(3, 2),)))


def dual_of(function):
    with forward_ad.dual_level():
        return function(forward_ad.make_dual(x2.clone(), x2.clone()))


def nested(depth):
    function = torch.sin
    for _ in range(depth):
        function = func.vmap(function)
    return function(torch.ones((1,) * depth))


def a_tangent_too_deep():
    with autograd.forward_ad.dual_level():
        return autograd.forward_ad.make_dual(deep, deep)[None]


def in64(function):
    """A call on examples of 63 dimensions, which are 64 with that of the examples."""
    return func.vmap(function)(torch.zeros((2,) + (1,) * 63))


# call: (type of error, words of its message)
REFUSED = {
    "in_vmap(lambda t: setattr(t, 'data', t))": (RuntimeError, "vmap"),
    "in_vmap(lambda t: t.clone().set_(x2))": (RuntimeError, "vmap: set_ is not possible"),
    "dual_of(lambda t: t.set_(x3))": (RuntimeError, "a tensor with a tangent"),
    "nested(70)": (ValueError, "ones: a tensor has at most 64 dimensions, not 70"),
    "func.vjp(lambda x: None, x2)": (
        RuntimeError,
        "vjp(f, *primals): Expected f to be a function that has non-empty output",
    ),
    "func.vjp(lambda x: (), x2)": (
        RuntimeError,
        "vjp(f, *primals): Expected f to be a function that has non-empty output",
    ),
    "func.jvp(lambda x: 5, (x2,), (x2,))": (
        RuntimeError,
        "jvp(f, primals, tangents): expected f(*primals) to return only",
    ),
    "func.grad(lambda x: x.sum())(5)": (
        ValueError,
        "Thing passed to transform API must be Tensor, got <class 'int'",
    ),
    "a_tangent_too_deep()": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t[None])": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t.unsqueeze(0))": (RuntimeError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: t.new_zeros((1,)*64))": (ValueError, "a tensor has at most 64 dimensions"),
    "in64(lambda t: torch.stack([t]))": (
        RuntimeError,
        "stack: the result would have more than 64 dimensions",
    ),
    'func.vmap(lambda t: t.bernoulli(), randomness="same")(torch.ones(0, 2))': (
        RuntimeError,
        "Vmap does not currently support same randomness with a batched tensor",
    ),
    "func.jvp(lambda x: x, (5,), (x2,))": (
        RuntimeError,
        "jvp(f, primals, tangents): Expected primals to only contain Tensors,",
    ),
    "func.linearize(lambda x: x, 5)": (
        ValueError,
        "Thing passed to transform API must be Tensor, got <class 'int'>",
    ),
}


def test_what_transformations_cannot_do_is_refused():
    assert_refused(REFUSED, globals())
