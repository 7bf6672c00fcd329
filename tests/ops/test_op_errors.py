"""Wrong arguments: clear errors, unchanged inputs, and an engine that still works."""

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, ROOT, Call, cases, make, records, said_name, tensor
from grouping import each

import autograd_cy as ag
from autograd_cy.ops import _schema as schema


def dtype_of(record):
    return next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)


def first_call(record):
    case = cases(lambda r: r is record)[0].values[0]
    return make(case, dtype_of(record))


def python_name(record, i):
    return "input" if record.args[i].name == "self" else record.args[i].name


def engine_works():
    x = ag.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def with_samples(record):
    return bool(record.tests.samples)


@each("record", records(with_samples))
def test_wrong_types_name_the_argument(record):
    call = first_call(record)
    form = EVALUATOR.form(record)
    for i, a in enumerate(record.args):
        if not a.is_tensor or a.keyword or i >= len(call.sample.args):
            continue
        tensors = call.tensors()
        args, kwargs = call.arguments(tensors)
        for wrong in ("text", object(), [1.0]):
            bad = list(args)
            bad[i] = wrong
            with pytest.raises(TypeError) as caught:
                form(*bad, **kwargs)
            message = str(caught.value)
            assert said_name(record) in message, message
            assert f"'{python_name(record, i)}'" in message or f"'{a.name}'" in message, message
        for t, leaf in zip(tensors, call.leaves):
            np.testing.assert_array_equal(t.numpy(), leaf.array)
    engine_works()


@each("record", records(lambda r: r.tests.errors))
def test_calls_that_the_record_says_are_refused(record):
    form = EVALUATOR.form(record)
    for refused in record.tests.errors:
        made = Call(record, refused.call, ())
        args, kwargs = made.arguments([ag.ones(x.shape) for x in made.shapes()])
        with pytest.raises(refused.error, match=refused.text):
            form(*args, **kwargs)
    engine_works()


@each("record", records(lambda r: isinstance(r.tests.reference, schema.by_test)))
def test_references_by_hand_exist(record):
    path, _, name = record.tests.reference.test.partition("::")
    _, found, rest = (ROOT / path).read_text().partition(f"\ndef {name}(")
    assert found, f"{record.key}: no {record.tests.reference.test}"
    assert "assert" in rest or "equal(" in rest


@each("record", records(with_samples))
def test_missing_and_unknown_arguments(record):
    form = EVALUATOR.form(record)
    with pytest.raises(TypeError):
        form()
    call = first_call(record)
    args, kwargs = call.arguments(call.tensors())
    with pytest.raises(TypeError):
        form(*args, **kwargs, no_such_argument=1)


def broadcasting(record):
    return (
        isinstance(record.kernel, schema.elementwise)
        and record.tests.samples
        and len([a for a in record.args if a.is_tensor and a.type != "Scalar"]) > 1
    )


@each("record", records(broadcasting))
def test_shapes_that_do_not_broadcast(record):
    name = dtype_of(record)
    form = EVALUATOR.form(record)
    count = len([a for a in record.args if a.is_tensor and a.type != "Scalar"])
    numbers = [2 for a in record.args if a.type == "Scalar" and not a.keyword]
    tensors = [tensor(np.ones(3 if i % 2 else (2, 4), name)) for i in range(count)]
    if record.kernel.skip_first:
        tensors[0] = tensors[0].to(ag.bool)
    with pytest.raises(RuntimeError, match=r"size of tensor a|broadcast|match") as caught:
        form(*tensors, *numbers)
    assert "3" in str(caught.value)
    assert "4" in str(caught.value)
    for t in tensors:
        assert np.all(t.numpy() == 1)
    engine_works()


def with_dim(record):
    return record.tests.samples and any(
        a.type in ("dim", "dim?", "dims", "dims?") for a in record.args
    )


@each("case", cases(with_dim))
def test_dimension_out_of_range(case):
    record = case.record
    call = make(case, dtype_of(record))
    for i, a in enumerate(record.args):
        if a.type not in ("dim", "dim?", "dims", "dims?") or i >= len(call.sample.args):
            continue
        for wrong in (9, -9):
            tensors = call.tensors()
            args, kwargs = call.arguments(tensors)
            bad = list(args)
            bad[i] = (wrong, *bad[i][1:]) if isinstance(bad[i], tuple) else wrong
            with pytest.raises(IndexError, match=r"[Dd]imension out of range|dim"):
                EVALUATOR.form(record)(*bad, **kwargs)
            for t, leaf in zip(tensors, call.leaves):
                np.testing.assert_array_equal(t.numpy(), leaf.array)
        bad[i] = "text"
        with pytest.raises(TypeError):
            EVALUATOR.form(record)(*bad, **kwargs)
    engine_works()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ag.tensor([True]) - ag.tensor([True]), RuntimeError, "two bool tensors"),
        (lambda: ag.tensor([True]) - 1, RuntimeError, "with a bool tensor"),
        (lambda: 1 - ag.tensor([True]), RuntimeError, "with a bool tensor"),
        (lambda: -ag.tensor([True]), RuntimeError, "neg|Negation"),
        (lambda: ag.tensor([2]) ** -1, RuntimeError, "negative integer powers"),
        (lambda: ag.tensor([2]) // ag.tensor([0]), RuntimeError, "by zero"),
        (lambda: ag.tensor([2]) % 0, RuntimeError, "by zero"),
        (lambda: ag.add(ag.tensor([1]), 1, alpha=1.5), RuntimeError, "alpha"),
        (lambda: ag.where(ag.ones(2), 1.0, 2.0), RuntimeError, "boolean"),
        (lambda: ag.clamp(ag.ones(2)), RuntimeError, "At least one"),
        (lambda: ag.ones(2, 3) @ ag.ones(2, 3), RuntimeError, "2, 3|shapes"),
        (lambda: ag.dot(ag.ones(2), ag.ones(3)), RuntimeError, "2.*3"),
        (lambda: ag.ones(2, 3).view(4, 2), RuntimeError, "invalid for input of size 6"),
        (lambda: ag.ones(2, 3).expand(3, 3), RuntimeError, "expand|size"),
        (lambda: ag.ones(2, 3).permute(0, 0), RuntimeError, "permute|dim"),
        (lambda: ag.ones(2, 3).select(0, 5), IndexError, "select"),
        (lambda: ag.ones(3).narrow(0, 2, 5), RuntimeError, "narrow|start"),
        (lambda: ag.stack([ag.ones(2), ag.ones(3)]), RuntimeError, "stack"),
        (lambda: ag.cat([ag.ones(2, 2), ag.ones(3, 3)]), RuntimeError, "cat|Sizes"),
        (lambda: ag.ones(2).gather(0, ag.tensor([5])), (RuntimeError, IndexError), "index"),
        (lambda: ag.ones(2).index_select(0, ag.tensor([5])), (RuntimeError, IndexError), "index"),
        (lambda: ag.ones(3, 0).max(1), (RuntimeError, IndexError), "max"),
        (lambda: ag.ones(0).argmax(), (RuntimeError, IndexError), "argmax"),
        (lambda: ag.ones(0).amax(), (RuntimeError, IndexError), "amax"),
        (lambda: ag.gelu(ag.ones(2), approximate="no"), RuntimeError, "approximate"),
        (lambda: ag.mse_loss(ag.ones(2), ag.ones(2), reduction="no"), ValueError, "reduction"),
        (
            lambda: ag.nll_loss(ag.zeros(2, 3), ag.tensor([0, 7])),
            (RuntimeError, IndexError),
            "7|arget",
        ),
    ],
)
def test_message(call, error, text):
    with pytest.raises(error, match=text):
        call()
    engine_works()
