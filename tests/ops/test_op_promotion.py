"""Promotion of mixed operands by torch's documented rules (the table is in expected.py)."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, NAMES, dtype_name, records, to_array
from expected import assert_same, number_dtype, promote, promotion, result_dtype, tolerance
from grouping import each

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

NUMBERS = (True, 2, 1.5, 2 + 1j)


def binary(record):
    """Elementwise operators of two operands (for where: beside the condition)."""
    tensors = [a for a in record.args if a.is_tensor and a.type != "Scalar"]
    return (
        (isinstance(record.kernel, schema.elementwise) or record.name == "pow")
        and not getattr(record.kernel, "skip_first", False)
        and not record.name.startswith("_")
        and "_backward" not in record.name
        and len(tensors) == len(record.args) == 2
    )


def takes_numbers(record):
    return binary(record) and record.args[1].type == "operand"


def filled(name, shape):
    return ag.ones(shape, dtype=getattr(ag, name))


def claims(record, name):
    return CLASS_OF[name] in record.call.dtypes


@each("a, b", product(NAMES, NAMES))
def test_promote_types(a, b):
    expected = promote(a, b)
    assert str(ag.promote_types(getattr(ag, a), getattr(ag, b))).rpartition(".")[2] == expected


@each("record", records(binary))
def test_two_tensors(record):
    form = EVALUATOR.form(record)
    for a, b in product(NAMES, NAMES):
        for sa, sb in (((2,), (2,)), ((2,), ()), ((), (2,))):
            promoted = promotion([(a, len(sa)), (b, len(sb))])
            if not claims(record, promoted) or not (claims(record, a) and claims(record, b)):
                continue
            if record.name in ("complex", "polar") and a != b:
                continue  # both parts have one dtype
            result = form(filled(a, sa), filled(b, sb))
            assert dtype_name(result) == result_dtype(record, promoted), f"{a}{sa}, {b}{sb}"


@each("record", records(takes_numbers))
def test_tensor_and_number(record):
    form = EVALUATOR.form(record)
    for name, shape, number in product(NAMES, ((2,), ()), NUMBERS):
        promoted = promotion([(name, len(shape))], [number])
        if not claims(record, promoted) or not claims(record, name):
            continue
        if name == "float16" and isinstance(number, complex):
            continue  # torch has a complex dtype of halves
        if record.name == "sub" and isinstance(number, bool):
            continue  # refused, as it is with truth values as tensors
        result = form(filled(name, shape), number)
        assert dtype_name(result) == result_dtype(record, promoted), f"{name}{shape}, {number!r}"
        as_tensor = form(filled(name, (2,)), ag.tensor([number, number]).to(getattr(ag, promoted)))
        wide = promote(name, promoted)
        if wide == promoted:
            assert_same(
                np.broadcast_to(to_array(result), (2,)),
                to_array(as_tensor),
                tolerance(record, dtype_name(as_tensor)),
            )


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_python_operators_take_numbers_on_both_sides(symbol, number):
    kinds = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }
    for name in NAMES:
        if name == "float16" and isinstance(number, complex):
            continue
        x = filled(name, (2,))
        if symbol == "-" and (name == "bool" or number is True):
            continue  # refused, see test_op_errors.py
        promoted = promotion([(name, 1)], [number])
        if symbol == "/" and CLASS_OF[promoted] in "bi":
            promoted = "float32"
        for result in (kinds[symbol](x, number), kinds[symbol](number, x)):
            assert dtype_name(result) == promoted
            assert result.shape == (2,)


def test_numbers_have_the_dtypes_that_the_rules_name():
    assert [number_dtype(x) for x in NUMBERS] == ["bool", "int64", "float32", "complex64"]


def test_the_default_dtype_decides_what_integers_divide_to():
    before = ag.get_default_dtype()
    try:
        ag.set_default_dtype(ag.float64)
        assert (ag.tensor([1, 2]) / 2).dtype == ag.float64
        assert (ag.tensor([1, 2]) * 1.5).dtype == ag.float64
    finally:
        ag.set_default_dtype(before)


def test_the_tensor_decides_between_kinds_of_one_category():
    x = ag.ones(2, dtype=ag.int8)
    assert (x + 300).dtype == ag.int8
    assert (x + ag.tensor(3)).dtype == ag.int8
    assert (x + ag.tensor([3])).dtype == ag.int64
    assert (ag.ones(2) + ag.tensor(1.0, dtype=ag.float64)).dtype == ag.float32


def test_gradients_keep_the_dtypes_of_their_inputs():
    x = ag.ones(2, dtype=ag.float32, requires_grad=True)
    y = ag.ones(2, dtype=ag.float64, requires_grad=True)
    z = ag.ones(2, dtype=ag.complex128, requires_grad=True)
    out = x * y + z
    assert out.dtype == ag.complex128
    out.abs().sum().backward()
    assert (x.grad.dtype, y.grad.dtype, z.grad.dtype) == (ag.float32, ag.float64, ag.complex128)


HALVES = {ag.float16: np.float16, ag.bfloat16: ml_dtypes.bfloat16}
NUMBER_FORMS = {
    "add": lambda x, n: x + n,
    "radd": lambda x, n: n + x,
    "sub": lambda x, n: x - n,
    "rsub": lambda x, n: n - x,
    "mul": lambda x, n: x * n,
    "div": lambda x, n: x / n,
    "rdiv": lambda x, n: n / x,
}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("number", [0.1, 2.0, -3, 1e6, 1 / 3])
@each("form", NUMBER_FORMS)
def test_a_number_is_not_rounded_to_a_half_type_first(dtype, number, form):
    x = ag.linspace(0.01, 2, 50).to(dtype)
    wide = np.asarray(x).astype(np.float32)
    with np.errstate(over="ignore"):
        expected = NUMBER_FORMS[form](wide, np.float32(number)).astype(HALVES[dtype])
    result = NUMBER_FORMS[form](x, number)
    assert result.dtype == dtype
    np.testing.assert_array_equal(np.asarray(result), expected)
    np.testing.assert_array_equal(
        np.asarray(NUMBER_FORMS[form](x.view(5, 10).t(), number)), expected.reshape(5, 10).T
    )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_numbers_and_half_types_in_place_and_out(dtype):
    x = ag.linspace(0.01, 2, 50).to(dtype)
    expected = np.asarray(x * 0.1)
    out = ag.empty(0, dtype=dtype)
    ag.mul(x, 0.1, out=out)
    np.testing.assert_array_equal(np.asarray(out), expected)
    wide = ag.empty(50, dtype=ag.float64)
    ag.mul(x, 0.1, out=wide)
    np.testing.assert_array_equal(np.asarray(wide), expected.astype(np.float64))
    step = np.asarray(x).astype(np.float32) + np.float32(0.1) * np.asarray(x).astype(np.float32)
    np.testing.assert_array_equal(
        np.asarray(x.clone().add_(x, alpha=0.1)), step.astype(HALVES[dtype])
    )
    x.mul_(0.1)
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert (x * float("nan")).isnan().all()
    with pytest.raises(RuntimeError, match="broadcast shape"):
        x.add_(ag.ones(2, 50, dtype=dtype), alpha=0.1)
