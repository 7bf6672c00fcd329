"""Backward is linear in the gradient that comes in, also where that is zero.

`functional.jvp`, `functional.hvp` and `func.linearize` differentiate backward there. A formula that
asks for the value of the gradient, to leave zeros out, say, gives right gradients and loses this
derivative: it is B itself, as B is linear.
"""

import warnings

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, differentiable, make, outputs, to_array
from grouping import each

import autograd_cy as ag
from autograd_cy.ops._schema import composite, nondiff

# Draw anew in each call.
RANDOM = ("dropout", "rrelu", "bernoulli", "multinomial", "feature_")


def differs(record):
    return not isinstance(record.derivatives.vjp, nondiff) and (
        isinstance(record.kernel, composite) or bool(differentiable(record))
    )


def wanted(record):
    return (
        bool(record.tests.samples)
        and differs(record)
        and not any(word in record.name for word in RANDOM)
        and bool(set("fc") & set(record.call.dtypes))
    )


def backward_of(call):
    """(inputs that move, results, function from gradients of results to those of inputs)."""
    tensors = call.tensors(grad=True)
    results = [
        t
        for t in outputs(call(tensors))
        if t.requires_grad and (t.is_floating_point() or t.is_complex())
    ]
    inputs = [t for t in tensors if t.requires_grad]

    def backward(grads, **how):
        found = ag.autograd.grad(results, inputs, grads, allow_unused=True, **how)
        return [ag.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]

    return inputs, results, backward


def random_like(t, rng):
    x = rng.uniform(-2, 2, tuple(t.shape))
    if t.is_complex():
        x = x + 1j * rng.uniform(-2, 2, tuple(t.shape))
    return ag.from_numpy(np.asarray(x)).to(t.dtype)


def close(found, expected):
    for a, b in zip(found, expected):
        a, b = to_array(a), to_array(b)
        size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * size)


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if wanted(r)])
def test_backward_is_linear(record):
    rng = np.random.default_rng(0)
    for number in range(min(len(record.tests.samples), 3)):
        for dtype in ("float64", "complex128"):
            if CLASS_OF[dtype] not in record.call.dtypes:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(make(Case(record, number), dtype), rng)


def check(call, rng):
    inputs, results, backward = backward_of(call)
    if not inputs or not results:
        return
    one, two = ([random_like(t, rng) for t in results] for _ in range(2))
    try:
        of_one, of_two = backward(one, retain_graph=True), backward(two, retain_graph=True)
    except (RuntimeError, NotImplementedError) as error:
        if "not implemented" in str(error):
            return
        raise
    both = backward([a + b for a, b in zip(one, two)], retain_graph=True)
    close(both, [a + b for a, b in zip(of_one, of_two)])
    # The derivative of backward at zero, along `one`: by differentiating twice, transposed.
    zero = [ag.zeros_like(t).requires_grad_() for t in results]
    try:
        at_zero = backward(zero, create_graph=True, retain_graph=True)
        probes = [ag.zeros_like(t).requires_grad_() for t in at_zero]
        moving = [i for i, t in enumerate(at_zero) if t.requires_grad]
        if not moving:  # zero, whatever comes in
            assert not any(to_array(g).any() for g in of_one)
            return
        transposed = ag.autograd.grad(
            [at_zero[i] for i in moving],
            zero,
            [probes[i] for i in moving],
            create_graph=True,
            allow_unused=True,
        )
        used = [i for i, t in enumerate(transposed) if t is not None]
        found = ag.autograd.grad(
            [transposed[i] for i in used],
            [probes[i] for i in moving],
            [one[i] for i in used],
            allow_unused=True,
        )
    except (RuntimeError, NotImplementedError) as error:
        if "not implemented" in str(error):
            return
        raise
    derivative = [ag.zeros_like(t) for t in at_zero]
    for i, g in zip(moving, found):
        derivative[i] = derivative[i] if g is None else g
    close(derivative, of_one)
