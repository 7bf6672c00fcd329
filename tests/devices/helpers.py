"""The checks of every operator of a family: on `meta`, and as launches that run again."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ops"))

import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, cases, few, make, outputs
from test_op_inplace_and_out import inplace_form, keeps_itself

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.ops import _schema as schema

__all__ = [
    "EVALUATOR",
    "RECORDS",
    "cases",
    "claimed",
    "family",
    "few",
    "geometry",
    "inplace_form",
    "keeps_itself",
    "launched_again",
    "make",
    "meta_agrees",
    "meta_gradients_agree",
    "on_meta",
    "one_dtype",
    "others_memory",
    "out_memory",
    "outputs",
    "plain_bytes",
]


def family(*files, keep=lambda record: True):
    """The samples of the records with a kernel of their own in these files of the table."""
    return cases(
        lambda r: (
            r.file in files and isinstance(r.kernel, schema.call) and r.tests.samples and keep(r)
        )
    )


def claimed(params, *dtypes):
    """The samples, each with those of the dtypes that its record claims."""
    return [
        pytest.param(p.values[0], name, id=f"{p.id}-{name}")
        for p in params
        for name in dtypes
        if CLASS_OF[name] in p.values[0].record.call.dtypes
    ]


def one_dtype(record):
    """A dtype that the record claims, one with derivatives if it can be."""
    return next(
        n for n in ("float64", "complex128", "int64", "bool") if CLASS_OF[n] in record.call.dtypes
    )


def on_meta(t):
    """A tensor of the same dtype, shape and strides without memory."""
    return ag.empty_like(t, device="meta")


def geometry(results):
    return [(tuple(t.shape), t.dtype, t.stride()) for t in outputs(results)]


def outcome(run):
    """Shapes, dtypes and strides of what a call gives, or its error."""
    try:
        results = run()
    except Exception as error:
        return type(error), str(error)
    return geometry(results)


def meta_agrees(case, name):
    """The call on meta gives the shapes, dtypes, strides and errors of the CPU."""
    call = make(case, name)
    here = call.tensors()
    there = [on_meta(t) for t in here]
    assert outcome(lambda: call(there)) == outcome(lambda: call(here))
    results = call(there)
    assert all(str(t.device) == "meta" for t in outputs(results))


def meta_gradients_agree(case, name="float64"):
    """Gradients on meta have the shapes, dtypes and strides of those on the CPU."""
    call = make(case, name)

    def gradients(place):
        ins = [place(t) for t in call.tensors()]
        for i in call.moving:
            ins[i].requires_grad_()
        results = [t for t in outputs(call(ins)) if t.requires_grad]
        wanted = [ins[i] for i in call.moving]
        if not results or not wanted:
            return []
        ones = [ag.ones_like(t) for t in results]
        found = ag.autograd.grad(results, wanted, ones, allow_unused=True)
        return [t if t is None else geometry(t) for t in found]

    assert gradients(on_meta) == gradients(lambda t: t)


def plain_bytes(t):
    return t.detach().resolve_conj().resolve_neg().numpy().tobytes()


def launched_again(case, name):
    """
    The launches of a call, run again on poisoned memory and other values, give fresh bits.

    So they do where each launch sees the bytes alone that its operands declare.
    """
    call, other = make(case, name), make(case, name, seed=1)
    ins, new = call.tensors(), other.tensors()
    kept = []
    program = capture(lambda: kept.extend(outputs(call(ins))))
    expected = outputs(other(other.tensors()))
    assert len(kept) == len(expected)
    for watched in (False, True):
        for old, value in zip(ins, new):
            old.copy_(value)
        program.poison()
        program.replay_elsewhere([t for t in ins if t is not None], watched=watched)
        for got, fresh in zip(kept, expected):
            assert plain_bytes(got) == plain_bytes(fresh), (case.id, watched)


@contextlib.contextmanager
def others_memory():
    """Other tensors get the memory that was given back last, of all sizes: nothing writes there."""
    sizes = [n << k for k in range(14) for n in (4, 6)]
    others = [ag.zeros(size) for size in sizes for _ in range(2)]
    yield
    assert not any(other.any().item() for other in others)


def out_memory(run):
    """The bytes that a call takes at most beyond those that are in use before it."""
    run()
    ag.reset_peak_memory()
    before = ag.memory_summary()["live_bytes"]
    run()
    return ag.memory_summary()["peak_bytes"] - before
