"""`out=`: which dtypes it may have, against torch, and tuples of tensors for several outputs."""

import warnings

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, Case, make, to_array
from grouping import each

import autograd_cy as ag

DTYPES = ("bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64")
INPUTS = ("bool", "int64", "float32", "complex64")
# torch sums, multiplies and normalises in the dtype of `out`, whatever is lost; ours is an error.
LOSSY = {"sum", "mean", "prod", "cumsum", "cumprod", "logsumexp", "nansum"}
# A real result may go into a complex `out` in all other functions.
WIDER = {"var", "std", "nanmean"}


def taken(function, args, kwargs, out):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs, out=out)
        except (RuntimeError, TypeError, NotImplementedError, IndexError):
            return False
    return True


def known(record):
    single = record.call.out and record.tests.samples and len(record.returns) == 1
    named = single and not record.name.startswith("_") and record.call.function
    return named and record.name not in LOSSY | WIDER and hasattr(ag, record.name)


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if known(r)])
def test_dtypes_of_out_are_those_that_torch_takes(record):
    torch = pytest.importorskip("torch")
    from test_op_arguments_against_torch import as_torch

    theirs = getattr(torch, record.name, None)
    if theirs is None:
        pytest.skip("torch has no such function")
    wrong = []
    for dtype in INPUTS:
        if CLASS_OF[dtype] not in record.call.dtypes:
            continue
        call = make(Case(record, 0), dtype)
        args, kwargs = call.arguments(call.tensors())
        their_args = [as_torch(x) for x in args]
        their_kwargs = {k: as_torch(v) for k, v in kwargs.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = theirs(*their_args, **their_kwargs)
                theirs(*their_args, **their_kwargs, out=torch.empty_like(result))
        except (RuntimeError, TypeError, AttributeError, NotImplementedError):
            continue  # no such input, or no `out` there
        shape = result.shape
        for name in DTYPES:
            out, their_out = ag.zeros(tuple(shape)), torch.zeros(shape)
            out, their_out = out.to(getattr(ag, name)), their_out.to(getattr(torch, name))
            found = taken(getattr(ag, record.name), args, kwargs, out)
            wanted = taken(theirs, their_args, their_kwargs, their_out)
            if found != wanted:
                wrong.append(f"{dtype} -> {name}: {found}, torch: {wanted}")
    assert not wrong, "\n".join(wrong)


def several(record):
    return record.outs and not record.name.startswith("_") and record.tests.samples


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if several(r)])
def test_several_outputs_go_into_a_tuple_of_tensors(record):
    for number in range(len(record.tests.samples)):
        call = make(Case(record, number), "float32")
        args, kwargs = call.arguments(call.tensors())
        function = EVALUATOR.form(record)
        expected = function(*args, **kwargs)
        values, indices = ag.empty(0), ag.empty(0, dtype=expected[1].dtype)
        versions = values._version, indices._version
        made = function(*args, **kwargs, out=(values, indices))
        assert type(made) is type(expected)
        assert getattr(made, record.returns[0]) is values is made[0]
        assert getattr(made, record.returns[1]) is indices is made[1]
        for x, y in zip(to_array(made), to_array(expected)):
            np.testing.assert_array_equal(x, y)
        assert (values._version, indices._version) == (versions[0] + 1, versions[1] + 1)


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if several(r)])
def test_tuples_of_other_kinds_are_refused_and_nothing_is_written(record):
    call = make(Case(record, 0), "float32")
    args, kwargs = call.arguments(call.tensors())
    function = EVALUATOR.form(record)
    second = function(*args, **kwargs)[1].dtype
    values, places = ag.full((1,), 7.0), ag.full((1,), 7, dtype=second)
    for out in (values, 3, (values,), (values, places, places), (values, None), (1.0, places)):
        with pytest.raises(TypeError, match=rf"{record.name}\(\): .*'out'"):
            function(*args, **kwargs, out=out)
    wrong = places.double() if second.is_floating_point else ag.ones(1)
    for out in ((values, wrong), (values.double(), places), (values.int(), places)):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
            function(*args, **kwargs, out=out)
    leaf = args[0].clone().requires_grad_()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        function(leaf, *args[1:], **kwargs, out=(values, places))
    assert values.tolist() == [7.0] and places.tolist() == [7]


def takes_dtype(record):
    named = record.call.out and record.tests.samples and not record.name.startswith("_")
    return named and any(a.name == "dtype" for a in record.args) and "f" in record.call.dtypes


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if takes_dtype(r)])
def test_a_dtype_that_is_not_that_of_out_is_refused(record):
    call = make(Case(record, 0), "float32")
    args, kwargs = call.arguments(call.tensors())
    words = "Expected out tensor to have dtype double"
    if not call.arrays:  # it makes tensors of numbers
        words = "dtype Double does not match dtype of out parameter"
    for dtype, other in ((ag.float64, ag.float32), (ag.float64, ag.complex128)):
        expected = EVALUATOR.form(record)(*args, **kwargs, dtype=dtype)
        out = ag.full(expected.shape, 7, dtype=other)
        with pytest.raises(RuntimeError, match=words):
            EVALUATOR.form(record)(*args, **kwargs, dtype=dtype, out=out)
        assert (to_array(out) == 7).all()
        out = ag.empty(0, dtype=dtype)
        EVALUATOR.form(record)(*args, **kwargs, dtype=dtype, out=out)
        np.testing.assert_array_equal(to_array(out), to_array(expected))
