"""Every operator is seen by the profiler, under its name, and computes the same while it is."""

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, cases, few, make, outputs, records, to_array
from grouping import each

import autograd_cy as ag
from autograd_cy.profiler._session import Session


def dtype_of(record):
    order = ("float64", "complex128", "int64", "float32", "bool")
    return next(n for n in order if CLASS_OF[n] in record.call.dtypes)


def seen(record):
    return bool(record.tests.samples) and not record.silent


def recorded(call, *args):
    """(result, names of the events, columns) of a call under the recorder, with everything on."""
    ag.manual_seed(0)
    session = Session(
        record_shapes=True, with_flops=True, profile_memory=True, with_stack=True, with_modules=True
    )
    session.start()
    try:
        result = call(*args)
    finally:
        columns = session.stop()
    return result, [columns.names[i] for i in columns.name], columns


def assert_nested(columns):
    inside = np.flatnonzero(columns.parent >= 0)
    around = columns.parent[inside]
    assert (columns.start[around] <= columns.start[inside]).all()
    assert (columns.end[inside] <= columns.end[around]).all()
    assert not columns.unfinished.any() and not columns.failed.any()


@each("case", few(cases(seen)))
def test_an_operator_is_seen_and_computes_the_same(case):
    call = make(case, dtype_of(case.record))
    ag.manual_seed(0)
    plain = outputs(call(call.tensors()))
    result, names, columns = recorded(call, call.tensors())
    assert case.record.event_name in names
    for one, other in zip(outputs(result), plain, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(to_array(one), to_array(other))
    assert_nested(columns)
    at = names.index(case.record.event_name)
    sizes, values, types = columns.shapes[columns.shape[at]]
    assert len(sizes) == len(values) == len(types) == len(case.record.args)


def inplace_form(record):
    module = EVALUATOR.modules[record.key]
    return getattr(module, f"form_{record.key}_", None) or getattr(module, f"{record.name}_")


@each("case", cases(lambda record: seen(record) and record.call.inplace))
def test_an_inplace_form_is_seen(case):
    call = make(case, dtype_of(case.record))
    tensors = call.tensors()
    kept = call(call.tensors())
    if kept.shape != tensors[0].shape or kept.dtype not in (tensors[0].dtype, ag.bool):
        return
    _, names, columns = recorded(call, tensors, inplace_form(case.record))
    assert case.record.event_name + "_" in names
    assert_nested(columns)


@each("record", records(lambda record: seen(record) and isinstance(record.derivatives.vjp, dict)))
def test_what_is_differentiated_has_the_number_of_its_node(record):
    for case in cases(lambda r: r is record)[:1]:
        case = getattr(case, "values", [case])[0]
        call = make(case, dtype_of(record))
        tensors = [
            t.requires_grad_(True) if isinstance(t, ag.Tensor) and (
                t.is_floating_point() or t.is_complex()) else t
            for t in call.tensors()
        ]  # fmt: skip
        result, names, columns = recorded(call, tensors)
        nodes = {out.grad_fn for out in outputs(result) if out.grad_fn is not None}
        if not nodes:
            continue
        made = {columns.seq[i] for i, n in enumerate(names) if n == record.event_name}
        assert {node._sequence_nr() for node in nodes} & made


def test_names_are_torchs_where_torch_has_the_operator():
    torch = pytest.importorskip("torch")
    known = {n.partition(".")[0] for n in torch._C._dispatch_get_all_op_names()}
    for record in RECORDS:
        if record.silent:
            continue
        prefix, _, name = record.event_name.partition("::")
        if prefix == "aten":
            assert record.event_name in known, record.key
        else:
            assert record.name.startswith("_") or f"aten::{name}" not in known, record.key
        assert "Backward" not in name


def test_another_name_shows_the_operator_that_it_stands_for():
    a, out = ag.ones(2, 2), ag.empty(2, 2)
    for call in (lambda: ag.spmm(a, a), lambda: ag.spmm(a, a, out=out)):
        names = recorded(call)[1]
        assert names.count("aten::mm") == 1 and not [n for n in names if "spmm" in n]
