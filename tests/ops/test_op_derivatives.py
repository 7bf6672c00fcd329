"""Derivatives of every record along a random direction: reverse mode to second order, forward mode.

This shares no code with gradcheck, which test_op_gradcheck.py goes through.
"""

import numpy as np
import pytest
from calls import CLASS_OF, cases, make, outputs, tensor, to_array
from derivatives import (
    assert_close,
    check_first,
    check_second,
    differentiable_outputs,
    forward,
    gradients,
    inner,
    random_like,
    slope,
    smooth,
    weights_of,
)
from grouping import each

from autograd_cy.autograd import forward_ad
from autograd_cy.ops import _schema as schema


def dtypes_of(record):
    return [n for n in ("float64", "complex128") if CLASS_OF[n] in record.call.dtypes]


def each_dtype(case, check, **options):
    checked = 0
    for name in dtypes_of(case.record):
        call = make(case, name)
        if not call.moving or not differentiable_outputs(call, call(call.tensors())):
            continue
        checked += 1
        try:
            check(call, np.random.default_rng(case.number), **options)
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"in {name}")
            raise
    if not checked:
        pytest.skip("nothing to differentiate in this sample")


@each("case", cases(smooth))
def test_gradient(case):
    each_dtype(case, check_first)


@each("case", cases(smooth))
def test_second_derivative(case):
    each_dtype(case, check_second)


@forward_ad.dual_level()
def check_forward_mode(call, rng):
    """Tangents against differences, and against the gradients by the inner product."""
    weights = weights_of(call, rng)
    grads, _, _ = gradients(call, call.arrays, weights)
    total = 0.0
    moved = {}
    for place, g in zip(call.moving, grads):
        u = random_like(call.arrays[place], rng)
        moved[place] = u
        tensors = call.tensors()
        tensors[place] = forward_ad.make_dual(tensors[place], tensor(u))
        outs = differentiable_outputs(call, call(tensors))
        expected = slope(lambda a: forward(call, a), call.arrays, place, u)
        pushed = 0.0
        for out, w, e in zip(outs, weights, expected):
            t = forward_ad.unpack_dual(out).tangent
            t = np.zeros_like(e) if t is None else to_array(t)
            assert t.shape == e.shape
            size = np.abs(e).max(initial=1.0)
            np.testing.assert_allclose(t, e, rtol=2e-6, atol=2e-6 * size, err_msg="tangent")
            pushed += inner(w, t)
        total += pushed
        assert_close(
            pushed, inner(to_array(g), u), np.abs(to_array(g)).sum(), "<v, Ju> and <J'v, u>"
        )
    # All arguments at once: tangents add up.
    tensors = call.tensors()
    for place, u in moved.items():
        tensors[place] = forward_ad.make_dual(tensors[place], tensor(u))
    together = 0.0
    for out, w in zip(differentiable_outputs(call, call(tensors)), weights):
        t = forward_ad.unpack_dual(out).tangent
        together += 0.0 if t is None else inner(w, to_array(t))
    assert_close(together, total, abs(total) + abs(together), "sum of tangents")


@each("case", cases(smooth))
def test_forward_mode(case):
    each_dtype(case, check_forward_mode)


@each("case", cases(smooth))
def test_gradient_through_strided_inputs(case):
    """Transposed and sliced arguments get the gradients of contiguous ones."""
    name = dtypes_of(case.record)[0]
    call = make(case, name)
    if not call.moving or case.record.name in (
        "as_strided",
        "as_strided_scatter",
        "view",
        "view_as",
        "view_as_complex",
    ):
        pytest.skip("nothing to differentiate, or the memory layout is what it means")
    rng = np.random.default_rng(0)
    weights = weights_of(call, rng)
    plain, _, _ = gradients(call, call.arrays, weights)
    moved = []
    for x in call.leaves:
        a = x.array
        if a.ndim >= 2:
            a = np.asfortranarray(a)
        elif a.ndim == 1:
            wide = np.zeros(2 * a.size + 1, a.dtype)
            wide[1::2] = a
            a = wide[1::2]
        moved.append(a)
    other, _, _ = gradients(call, moved, weights)
    for g, h in zip(plain, other):
        np.testing.assert_allclose(to_array(h), to_array(g), rtol=1e-12, atol=1e-12)


@each("case", cases(lambda r: isinstance(r.derivatives.vjp, schema.nondiff)))
def test_without_a_derivative_nothing_is_recorded(case):
    name = next(
        n
        for n in ("float64", "complex128", "int64", "bool")
        if CLASS_OF[n] in case.record.call.dtypes
    )
    call = make(case, name)
    tensors = [
        tensor(x.array, x.array.dtype.kind in "fc" and x.array.dtype.itemsize > 2)
        for x in call.leaves
    ]
    for out in outputs(call(tensors)):
        assert not out.requires_grad
        assert out.grad_fn is None
