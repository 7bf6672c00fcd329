"""The gradients that keep a graph with create_graph=True: those that do in torch, and maybe
more."""

import warnings

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, make, outputs
from grouping import each
from test_op_requires_grad_against_torch import functions

import autograd_cy as ag
from autograd_cy.ops._schema import nondiff

torch = pytest.importorskip("torch")


def moving(module, array, wanted):
    t = module.tensor(array.copy()) if module is torch else module.from_numpy(array.copy())
    return t.requires_grad_() if wanted else t


def kept(module, function, call, moved):
    """For each operand that moves, whether its gradient requires grad; None if there is none."""
    arrays = [np.asarray(x) for x in call.arrays]
    tensors = [moving(module, x, i in moved) for i, x in enumerate(arrays)]
    args, kwargs = call.arguments(tensors)
    results = [t for t in outputs(function(*args, **kwargs)) if t.requires_grad]
    if not results:
        return [None] * len(moved)
    grads = module.autograd.grad(
        results,
        [tensors[i] for i in moved],
        [module.ones_like(t) for t in results],
        create_graph=True,
        allow_unused=True,
    )
    return [None if g is None else g.requires_grad for g in grads]


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if r.public and r.tests.samples])
def test_gradients_keep_a_graph_where_those_of_torch_do(record):
    ours, theirs = functions(record)
    if ours is None or theirs is None or isinstance(record.derivatives.vjp, nondiff):
        return
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(len(record.tests.samples)):
            for dtype in ("float64", "complex128"):
                if CLASS_OF[dtype] not in record.call.dtypes:
                    continue
                case = Case(record, number)
                call = make(case, dtype)
                if any(np.asarray(x).size == 0 for x in call.arrays):
                    continue  # torch 2.13 crashes in some of them
                floats = [i for i, x in enumerate(call.arrays) if np.asarray(x).dtype.kind in "fc"]
                for moved in [floats, *([[i] for i in floats] if len(floats) > 1 else [])]:
                    try:
                        there = kept(torch, theirs, call, moved)
                    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                        continue
                    here = kept(ag, ours, call, moved)
                    if any(t and h is False for t, h in zip(there, here)):
                        wrong.append(f"{case.id} {dtype} {moved}: {here}, in torch {there}")
    assert not wrong, "\n".join(wrong)
