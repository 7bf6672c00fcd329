"""In-place and ``out=`` forms: the same numbers, versions, gradients, and what they refuse."""

from functools import partial

import numpy as np
import pytest
from calls import (
    CLASS_OF,
    EVALUATOR,
    Case,
    cases,
    dtype_name,
    make,
    outputs,
    records,
    tensor,
    to_array,
)
from derivatives import assert_close, inner, random_like, slope
from expected import assert_identical, assert_same
from grouping import each

import autograd_cy as ag
from autograd_cy.ops import _schema as schema


def dtype_of(record):
    return next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)


def inplace_form(record):
    module = EVALUATOR.modules[record.key]
    return getattr(module, f"form_{record.key}_", None) or getattr(module, f"{record.name}_")


def keeps_itself(call):
    """Return whether the first argument can hold the result: it has its shape, and the dtype or
    bool."""
    result = call(call.tensors())
    first = call.tensors()[0]
    return tuple(result.shape) == tuple(first.shape) and result.dtype in (first.dtype, ag.bool)


def inplace(record):
    return record.call.inplace and record.tests.samples


@each("case", cases(inplace))
def test_inplace_form_computes_the_same(case):
    call = make(case, dtype_of(case.record))
    tensors = call.tensors()
    if not keeps_itself(call):
        before = to_array(tensors[0])
        with pytest.raises(RuntimeError):
            call(tensors, inplace_form(case.record))
        np.testing.assert_array_equal(to_array(tensors[0]), before)
        return
    expected = call(call.tensors()).to(tensors[0].dtype)
    version, address = tensors[0]._version, tensors[0].data_ptr()
    result = call(tensors, inplace_form(case.record))
    assert result is tensors[0]
    assert tensors[0].data_ptr() == address
    # What `idle` tells of are the samples of its records: nothing is changed.
    assert tensors[0]._version == version + (case.record.call.idle is None)
    assert_identical(result.clone(), expected.clone())
    for t, leaf in zip(tensors[1:], call.leaves[1:]):
        np.testing.assert_array_equal(t.numpy(), leaf.array, "another argument was changed")


def gradients_in_place(call, arrays, weight):
    """Gradients of all differentiable arguments through the in-place form on a copy."""
    ins = [tensor(a, x.differentiable) for a, x in zip(arrays, call.leaves)]
    moved = [ins[0] * 1, *ins[1:]]
    result = call(moved, inplace_form(call.record))
    assert result is moved[0]
    if not result.requires_grad:
        return None, None
    wanted = [ins[i] for i in call.moving]
    return ag.autograd.grad(result, wanted, tensor(weight), allow_unused=True), result


def plain_value(call, weight, arrays):
    return inner(weight, to_array(call([tensor(a) for a in arrays])))


@each("case", cases(lambda r: inplace(r) and not isinstance(r.derivatives.vjp, schema.nondiff)))
def test_gradient_of_the_inplace_form(case):
    for name in ("float64", "complex128"):
        if CLASS_OF[name] not in case.record.call.dtypes:
            continue
        call = make(case, name)
        if not call.moving or not keeps_itself(call):
            continue
        rng = np.random.default_rng(0)
        weight = random_like(to_array(call(call.tensors())), rng)
        grads, _ = gradients_in_place(call, call.arrays, weight)
        for place, g in zip(call.moving, grads):
            u = random_like(call.arrays[place], rng)
            value = partial(plain_value, call, weight)
            expected = slope(value, call.arrays, place, u)
            g = np.zeros_like(u) if g is None else to_array(g)
            assert_close(inner(g, u), expected, np.abs(g).sum(), call.leaves[place].name)


def takes_leaves(record):
    """Return whether the first sample's first argument may be a leaf, and may hold the result."""
    if not inplace(record) or not any(c in record.call.dtypes for c in "fc"):
        return False
    return keeps_itself(make(Case(record, 0), dtype_of(record)))


@each("record", records(takes_leaves))
def test_inplace_on_leaves_and_their_views_is_refused(record):
    call = make(Case(record, 0), dtype_of(record))
    for view in (False, True):
        tensors = call.tensors()
        leaf = tensors[0].requires_grad_(True)
        before = to_array(leaf)
        first = leaf.view(leaf.shape) if view else leaf
        if record.call.idle is not None:
            assert call([first, *tensors[1:]], inplace_form(record)) is first
            continue
        with pytest.raises(RuntimeError, match="leaf"):
            call([first, *tensors[1:]], inplace_form(record))
        np.testing.assert_array_equal(to_array(leaf), before)
        with ag.no_grad():
            call([leaf, *tensors[1:]], inplace_form(record))


@each("case", cases(lambda r: r.call.out and not r.name.startswith("_")))
def test_out_form(case):
    record = case.record
    call = make(case, dtype_of(record))
    form = EVALUATOR.form(record)
    expected = call(call.tensors())
    args, kwargs = call.arguments(call.tensors())

    out = ag.empty(expected.shape, dtype=expected.dtype)
    version, address = out._version, out.data_ptr()
    result = form(*args, **kwargs, out=out)
    assert result is out
    assert out.data_ptr() == address
    assert out._version == version + 1
    assert_identical(out, expected.clone())
    with ag.inference_mode():
        form(*args, **kwargs, out=out)
    assert not out.is_inference()

    empty = ag.empty(0, dtype=expected.dtype)
    form(*args, **kwargs, out=empty)
    assert_identical(empty, expected.clone())

    if expected.numel() > 1:
        strided = ag.zeros((*expected.shape, 2), dtype=expected.dtype).select(-1, 0)
        form(*args, **kwargs, out=strided)
        assert_same(to_array(strided), to_array(expected), 1e-12)
        wrong = ag.ones(expected.numel() + 1, dtype=expected.dtype)
        with pytest.warns(UserWarning, match="resized"):
            form(*args, **kwargs, out=wrong)
        assert_identical(wrong, expected.clone())


def differentiable_out(record):
    """Return whether the first sample has an `out=` form and an argument that has a gradient."""
    if not (
        record.call.out
        and record.tests.samples
        and isinstance(record.derivatives.vjp, dict)
        and "f" in record.call.dtypes
    ):
        return False
    return bool(make(Case(record, 0), "float64").moving)


@each("record", records(differentiable_out))
def test_out_form_refuses_what_it_cannot_do(record):
    call = make(Case(record, 0), "float64")
    form = EVALUATOR.form(record)
    expected = call(call.tensors())
    args, kwargs = call.arguments(call.tensors(grad=True))
    out = ag.zeros(expected.shape, dtype=expected.dtype)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        form(*args, **kwargs, out=out)
    with ag.no_grad():
        form(*args, **kwargs, out=out)
    assert not out.requires_grad
    with ag.inference_mode():
        made_there = ag.zeros(expected.shape, dtype=expected.dtype)
        form(*args, **kwargs, out=made_there)
        made_there.zero_()
    args, kwargs = call.arguments(call.tensors())
    with pytest.raises(RuntimeError, match="inference tensor outside InferenceMode"):
        form(*args, **kwargs, out=made_there)
    with ag.inference_mode():
        assert not to_array(made_there).any()
    if dtype_name(expected) in ("float64", "complex128"):
        args, kwargs = call.arguments(call.tensors())
        integers = ag.zeros(expected.shape, dtype=ag.int64)
        if "i" in record.call.dtypes and any(a.type == "dtype?" for a in record.args):
            form(*args, **kwargs, out=integers)  # it computes in the dtype of out
            wanted = form(*args, **kwargs, dtype=ag.int64)
            assert to_array(integers).tolist() == to_array(wanted).tolist()
            return
        # Torch has a TypeError where tensors are joined.
        kind = TypeError if record.name in ("cat", "stack") else RuntimeError
        with pytest.raises(
            kind, match="can't be cast|Expected out tensor to have dtype|Found dtype"
        ):
            form(*args, **kwargs, out=integers)
        assert not to_array(integers).any()
        with pytest.raises(TypeError, match="out"):
            form(*args, **kwargs, out=np.zeros(3))


def holds_one_dtype(record):
    return record.call.out == "exact" and record.tests.samples


@each("record", records(holds_one_dtype))
def test_out_of_any_other_dtype_is_refused_where_torch_refuses_it(record):
    call = make(Case(record, 0), dtype_of(record))
    expected = call(call.tensors())
    # The moduli of complex numbers may go into complex numbers.
    real = getattr(record.kernel, "dtypes", None) == "real"
    form = EVALUATOR.form(record)
    for name in ("bool", "int32", "int64", "float32", "float64", "complex64", "complex128"):
        out = ag.zeros(expected.shape, dtype=getattr(ag, name))
        args, kwargs = call.arguments(call.tensors())
        if name == dtype_name(expected):
            assert form(*args, **kwargs, out=out) is out
        elif not (real and call.tensors()[0].is_complex()):
            with pytest.raises(RuntimeError, match=r"Found dtype|have dtype|[Ee]xpected|cast"):
                form(*args, **kwargs, out=out)
            assert not to_array(out).any()


def test_a_wider_out_takes_the_converted_result():
    out = ag.empty(2, dtype=ag.float64)
    ag.exp(ag.zeros(2), out=out)
    assert to_array(out).tolist() == [1.0, 1.0]


def test_outputs_of_several_are_plain_tuples_of_tensors():
    found = ag.ones(2, 2).max(0)
    assert len(outputs(found)) == 2
    assert found.values is found[0]
