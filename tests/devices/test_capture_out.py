"""In-place and ``out=`` forms write their results where these belong, without a copy."""

import pytest
from grouping import each
from helpers import EVALUATOR, cases, inplace_form, keeps_itself, make, one_dtype

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.ops import _schema as schema

# Operators that copy what they have computed, and why.
COPIES = {
    ("out", "argsort"): "values and indices are sorted together",
    ("out", "msort"): "values and indices are sorted together",
    ("out", "narrow_copy"): "what is copied is what it is made of",
    ("out", "slice_scatter"): "the result is a copy that a part is written to",
    ("out", "nn_functional_avg_pool2d"): "the kernel makes its result itself",
    ("out", "nn_functional_avg_pool3d"): "the kernel makes its result itself",
    ("out", "spmm"): "the product is that of mm, made before",
    ("out", "quantile"): "the result is a view of what the last operator computes",
    ("out", "nanquantile"): "the result is a view of what the last operator computes",
}


def copied(program):
    """Return whether the last launch copies what another launch has computed."""
    if not len(program) or program.names()[-1] != "copy":
        return False
    sources = {use.storage for use in program.operands(len(program) - 1) if use.access & 1}
    return any(
        address in sources and access & 2
        for i in range(len(program) - 1)
        for address, access, *_ in program.operands(i)
    )


def programs(record):
    """(form, launches) of both forms for each sample; operators that SciPy computes have none."""
    for param in cases(lambda r: r is record):
        case = param.values[0]
        call = make(case, one_dtype(record))
        if record.call.inplace and keeps_itself(call):
            tensors = call.tensors()
            yield "inplace", lambda c=call, t=tensors: c(t, inplace_form(record))
        if record.call.out and not record.name.startswith("_"):
            expected = call(call.tensors())
            several = isinstance(expected, tuple)
            out = [ag.empty(t.shape, dtype=t.dtype) for t in (expected if several else [expected])]
            args, kwargs = call.arguments(call.tensors())
            kwargs["out"] = tuple(out) if several else out[0]
            yield "out", lambda a=args, k=kwargs: EVALUATOR.form(record)(*a, **k)


def writes(record):
    host = isinstance(record.kernel, schema.host)
    return record.tests.samples and (record.call.out or record.call.inplace) and not host


RECORDS = sorted({p.values[0].record.key: p.values[0].record for p in cases(writes)}.items())


@each("record", [pytest.param(r, id=key) for key, r in RECORDS])
def test_results_are_written_where_they_belong(record):
    found = {}
    for form, run in programs(record):
        try:
            program = capture(run)
        except RuntimeError as error:
            if "can't be captured" not in str(error):
                raise
            continue
        found[form] = found.get(form, False) or copied(program)
    for form, copies in found.items():
        assert copies == ((form, record.key) in COPIES), form


def test_what_copies_has_the_form():
    records = dict(RECORDS)
    for form, key in COPIES:
        assert getattr(records[key].call, form), (form, key)
