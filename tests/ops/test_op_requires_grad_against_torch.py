"""The results that require grad, where every floating argument does, are those that do in torch."""

import warnings

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, make, method_name, outputs, public_function
from grouping import each

import autograd_cy as ag
from autograd_cy.ops._schema import nondiff

torch = pytest.importorskip("torch")


def moving(module, array):
    t = module.tensor(array.copy()) if module is torch else module.from_numpy(array.copy())
    return t.requires_grad_() if array.dtype.kind in "fc" else t


def functions(record):
    """Return the function or method of both libraries; None where one hasn't got it."""
    if record.call.method and not record.call.function:
        return getattr(ag.Tensor, method_name(record)), getattr(torch.Tensor, record.name, None)
    theirs = torch
    for word in (*filter(None, record.namespace.split(".")), record.name):
        theirs = getattr(theirs, word, None)
    return public_function(record), theirs or getattr(torch.nn.functional, record.name, None)


def answers(record, case, dtype, in_place):
    """Return whether each result requires grad: (here, in torch), or None if torch can't be
    asked."""
    call = make(case, dtype)
    ours, theirs = functions(record)
    if in_place:
        name = method_name(record) + "_"
        ours, theirs = getattr(ag.Tensor, name, None), getattr(torch.Tensor, name, None)
    if ours is None or theirs is None:
        return None
    found = []
    for module, function in ((torch, theirs), (ag, ours)):
        args, kwargs = call.arguments([moving(module, np.asarray(x)) for x in call.arrays])
        if in_place:
            args = (args[0].clone(), *args[1:])
        try:
            results = outputs(function(*args, **kwargs))
        except (RuntimeError, TypeError, ValueError, IndexError):
            if module is ag and not in_place:  # torch's addbmm_ enlarges its tensor
                raise
            return None
        found.append([bool(t.requires_grad) for t in results])
    return found[1], found[0]


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if r.public and r.tests.samples])
def test_results_require_grad_where_those_of_torch_do(record):
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(len(record.tests.samples)):
            for dtype in ("float64", "complex128"):
                if CLASS_OF[dtype] not in record.call.dtypes:
                    continue
                case = Case(record, number)
                for in_place in (False, True) if record.call.inplace else (False,):
                    found = answers(record, case, dtype, in_place)
                    if found is not None and found[0] != found[1]:
                        wrong.append(f"{case.id}{'_' * in_place} {dtype}: {found}")
    assert not wrong, "\n".join(wrong)


COUNTED = ["histc"]  # counts, which torch gives without a history, too


def test_records_without_a_derivative_give_no_floating_results():
    """They would silently cut the graph: such a result has a node whose backward is an error."""
    cut = []
    for record in RECORDS:
        if not (
            isinstance(record.derivatives.vjp, nondiff) and record.public and record.tests.samples
        ):
            continue
        if "f" not in record.call.dtypes or public_function(record) is None:
            continue
        call = make(Case(record, 0), "float64")
        args, kwargs = call.arguments([moving(ag, np.asarray(x)) for x in call.arrays])
        results = outputs(public_function(record)(*args, **kwargs))
        if any(t.is_floating_point() or t.is_complex() for t in results):
            cut.append(record.key)
    assert cut == COUNTED
