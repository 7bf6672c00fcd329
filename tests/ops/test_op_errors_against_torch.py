"""Errors of dtypes that an operator does not take are of torch's class, for every sample."""

import warnings

import pytest
from calls import RECORDS, Case, make
from grouping import each
from test_op_nodes_against_torch import as_torch, functions

torch = pytest.importorskip("torch")

# (operator, dtype): why ours is no NotImplementedError.
OTHERS = {
    ("cumsum", "bool"): "the int64 result does not fit in place, which is said",
    ("cumprod", "bool"): "the int64 result does not fit in place, which is said",
}
DTYPES = ("int64", "uint8", "bool", "complex128", "float16")


def error_of(function, args, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:
            return error
    return None


def wrong(record):
    """Calls that both refuse, and here by an error that is none of torch's class."""
    for number in range(len(record.tests.samples)):
        for dtype in DTYPES:
            if (record.name, dtype) in OTHERS:
                continue
            for in_place in (False, True) if record.call.inplace else (False,):
                ours, theirs = functions(record, in_place)
                if ours is None or theirs is None:
                    continue
                call = make(Case(record, number), dtype)
                args, kwargs = call.arguments(call.tensors())
                found = error_of(ours, args, kwargs)
                if found is None:
                    continue
                try:
                    given = as_torch(args), {k: as_torch(v) for k, v in kwargs.items()}
                except TypeError:
                    continue  # torch has no such tensors
                wanted = error_of(theirs, *given)
                if wanted is not None and not isinstance(found, type(wanted)):
                    yield (
                        f"{record.key}{'_' * in_place}, {dtype}: {type(found).__name__} ({found}), "
                        f"torch: {type(wanted).__name__}"
                    )


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if r.public and r.tests.samples])
def test_refused_dtypes_raise_the_errors_of_torch(record):
    assert not (found := list(wrong(record))), "\n".join(found)
