"""Every operator of the table on meta: what it gives on the CPU without values, or a refusal."""

import pytest
from grouping import each
from helpers import (
    EVALUATOR,
    cases,
    few,
    geometry,
    inplace_form,
    keeps_itself,
    make,
    meta_agrees,
    meta_gradients_agree,
    on_meta,
    one_dtype,
    outputs,
)

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

# Composites of which a part needs values: sizes that a mask says, or a library of arrays.
OF_VALUES = {
    "masked_select", "linalg_solve", "linalg_pinv", "linalg_pinv_rcond", "pinverse"
}  # fmt: skip


def needs_values(record):
    """Return whether the results of a record, or their sizes, come from values alone."""
    kernel = record.kernel
    if isinstance(kernel, schema.host) or record.key in OF_VALUES:
        return True
    if not isinstance(kernel, schema.call):
        return False
    return kernel.sized is not None or (kernel.shape is None and not kernel.anywhere)


EVERY = cases(lambda r: bool(r.tests.samples) and any(a.is_tensor for a in r.args))
SIZED = [c for c in EVERY if not needs_values(c.values[0].record)]
VALUED = [c for c in EVERY if needs_values(c.values[0].record)]


@each("case", SIZED)
def test_results_are_sized_as_on_the_cpu(case):
    meta_agrees(case, one_dtype(case.record))


@each(
    "case",
    [
        c
        for c in SIZED
        if c.values[0].record.derivatives.differentiable and "f" in c.values[0].record.call.dtypes
    ],
)
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


@each("case", VALUED)
def test_what_needs_values_is_refused(case):
    call = make(case, one_dtype(case.record))
    tensors = [on_meta(t) for t in call.tensors()]
    with pytest.raises(NotImplementedError, match="meta"):
        call(tensors)


def agrees(case, run):
    """Compare `run(call, place)` on meta with that on the CPU, errors too."""
    call = make(case, one_dtype(case.record))

    def outcome(place):
        try:
            return [t if t is None else geometry(t) for t in run(call, place)]
        except Exception as error:
            return type(error), str(error)

    assert outcome(on_meta) == outcome(lambda t: t)


# Products of zeros are found by their values.
COUNTS_ZEROS = {"scatter_reduce", "index_reduce"}
# SciPy computes what only the second derivative has.
SECOND_OF_SCIPY = {"special_i1e"}
APART = COUNTS_ZEROS | SECOND_OF_SCIPY


@each("case", few([c for c in SIZED if c.values[0].record.key not in APART]))
def test_second_derivatives_are_sized_as_on_the_cpu(case):
    def run(call, place):
        ins = [place(t) for t in call.tensors()]
        wanted = [ins[i].requires_grad_() for i in call.moving]
        results = [t for t in outputs(call(ins)) if t.requires_grad]
        if not results or not wanted:
            return []
        ones = [ag.ones_like(t).requires_grad_() for t in results]
        grad = ag.autograd.grad
        first = grad(results, wanted, ones, allow_unused=True, create_graph=True)
        first = [t for t in first if t is not None and t.requires_grad]
        if not first:
            return []
        found = grad(first, wanted + ones, [ag.ones_like(t) for t in first], allow_unused=True)
        # Of two gradients that meet, the sum has the strides of one.
        return [None if t is None else ag.empty(t.shape, dtype=t.dtype) for t in found]

    agrees(case, run)


@each("case", few(SIZED))
def test_tangents_are_sized_as_on_the_cpu(case):
    def run(call, place):
        ins = [place(t) for t in call.tensors()]
        if not call.moving:
            return []

        def function(*moved):
            given = list(ins)
            for i, t in zip(call.moving, moved):
                given[i] = t
            return tuple(t for t in outputs(call(given)) if t.dtype.is_floating_point)

        primals = tuple(ins[i] for i in call.moving)
        values, tangents = ag.func.jvp(function, primals, tuple(map(ag.ones_like, primals)))
        return [*values, *tangents]

    agrees(case, run)


@each("case", few(SIZED))
def test_examples_of_vmap_are_sized_as_on_the_cpu(case):
    for which in range(len(make(case, one_dtype(case.record)).leaves)):

        def run(call, place, which=which):
            ins = [place(t) for t in call.tensors()]
            ins[which] = ins[which].expand(3, *ins[which].shape).clone()
            dims = tuple(0 if i == which else None for i in range(len(ins)))
            return ag.func.vmap(lambda *xs: tuple(outputs(call(xs))), dims, randomness="same")(*ins)

        agrees(case, run)


@each("case", SIZED)
def test_other_forms_are_sized_as_on_the_cpu(case):
    record = case.record

    def run(call, place):
        found = []
        if record.call.inplace and keeps_itself(call):
            found.append(call([place(t) for t in call.tensors()], inplace_form(record)))
        if record.call.out and not record.name.startswith("_"):
            ins = [place(t) for t in call.tensors()]
            out = tuple(ag.empty(0, dtype=t.dtype, device=t.device) for t in outputs(call(ins)))
            args, kwargs = call.arguments(ins)
            kwargs["out"] = out if len(out) > 1 else out[0]
            found += outputs(EVALUATOR.form(record)(*args, **kwargs))
        return found

    agrees(case, run)
