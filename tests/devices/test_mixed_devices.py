"""Operands, results and indices on two devices: an error of every operator that says so."""

import pytest
from grouping import each
from helpers import EVALUATOR, cases, inplace_form, keeps_itself, make, on_meta, one_dtype, outputs
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag

# Indices and what goes to their places may be on the CPU while the tensor is on meta, as in torch.
FROM_CPU = {
    "index_select": {1},
    "gather": {1},
    "scatter_add": {1, 2},
    "scatter_src": {1, 2},
    "scatter": {1},
    "scatter_reduce": {1, 2},
    "index_reduce": {1, 2},
    "take": {1},
    "masked_select": {1},
}
# What is given for one row is a number inside, and goes with all devices.
OF_NUMBERS = {"cosine_embedding_loss": 1, "prelu": 0}
# A value of one element goes to the tensor that it fills.
FILLS = {"fill"}
SHAPE_ONLY = {"view_as", "reshape_as", "expand_as", "as_strided_scatter"}


def public(record):
    return record.tests.samples and not record.name.startswith("_") and record.key not in SHAPE_ONLY


SEVERAL = [
    c for c in cases(public) if len(make(c.values[0], one_dtype(c.values[0].record)).leaves) > 1
]


def mixed(case):
    """(which are on meta, tensors) of all ways to have one operand on another device."""
    call = make(case, one_dtype(case.record))
    many = len(call.leaves)
    for one in range(many):
        for where in (False, True):
            places = [(i == one) == where for i in range(many)]
            tensors = [on_meta(t) if far else t for far, t in zip(places, call.tensors())]
            here = {i for i in range(many) if not places[i]}
            # 0-d tensors of the CPU go with all devices.
            if all(tensors[i].ndim == 0 for i in here):
                continue
            if tensors[0].ndim == OF_NUMBERS.get(case.record.key):
                continue
            if here <= FROM_CPU.get(case.record.key, set()):
                continue
            yield call, tensors


@each("case", SEVERAL)
def test_operands_of_two_devices_are_refused(case):
    for call, tensors in mixed(case):
        with pytest.raises(RuntimeError, match=r"device|out of meta"):
            call(tensors)


@each("case", [c for c in SEVERAL if c.values[0].record.call.inplace])
def test_operands_of_two_devices_are_refused_in_place(case):
    for call, tensors in mixed(case):
        if not keeps_itself(call):
            continue
        version = tensors[0]._version
        with pytest.raises(RuntimeError, match=r"device|out of meta"):
            call(tensors, inplace_form(case.record))
        assert tensors[0]._version == version


@each("case", cases(lambda r: public(r) and r.call.out and any(a.is_tensor for a in r.args)))
def test_a_result_on_another_device_is_refused(case):
    record = case.record
    call = make(case, one_dtype(record))
    expected = outputs(call(call.tensors()))
    for place in ("cpu", "meta"):
        tensors = [on_meta(t) if place == "cpu" else t for t in call.tensors()]
        out = tuple(ag.zeros(t.shape, dtype=t.dtype, device=place) for t in expected)
        args, kwargs = call.arguments(tensors)
        kwargs["out"] = out if len(out) > 1 else out[0]
        with pytest.raises(RuntimeError, match=r"device|\bmeta\b"):
            EVALUATOR.form(record)(*args, **kwargs)
        assert all(t._version == 0 for t in out)


X, META = ag.ones(3, 4), ag.ones(3, 4, device="meta")
PLACES = ag.tensor([0, 1], device="meta")


@pytest.mark.parametrize("call", [
    lambda: X[PLACES],
    lambda: X.clone().__setitem__(PLACES, 1.0),
    lambda: X.clone().__setitem__(0, META[0]),
    lambda: ag.cat((X, META)),
    lambda: ag.stack([META, X]),
    lambda: ag.einsum("ij,ij->", X, META),
    lambda: X.clone().copy_(META),
    lambda: ag.zeros_like(META, device="cpu").add_(META),
    lambda: ag.nn.functional.linear(X, META),
    lambda: ag.nn.functional.conv1d(X, ag.ones(3, 3, 1, device="meta")),
    lambda: ag.nn.functional.cross_entropy(X, ag.zeros(3, dtype=ag.int64, device="meta")),
    lambda: ag.nn.functional.layer_norm(X, (4,), META[0]),
    lambda: ag.nn.LSTM(4, 2)(META),
])  # fmt: skip
def test_indices_lists_and_layers_are_checked_too(call):
    with pytest.raises(RuntimeError, match=r"device|out of meta"):
        call()


def test_operands_of_two_indices_are_refused(tracer):
    """Every record, with each operand in turn on another device of the same type."""
    wrong = {}
    for case in SEVERAL:
        if case.values[0].record.key in FILLS:
            continue
        call = make(case.values[0], one_dtype(case.values[0].record))
        for one in range(len(call.leaves)):
            tensors = [
                t.to("tracer:1" if i == one else "tracer:0") for i, t in enumerate(call.tensors())
            ]
            try:
                call(tensors)
            except NotImplementedError as error:
                if "there is no kernel of this operator" in str(error):
                    continue  # of a part, before the two meet
                text = str(error)
            except RuntimeError as error:
                text = str(error)
            else:
                text = "no error"
            if "tracer:0" not in text or "tracer:1" not in text:
                wrong[case.id, one] = text
    assert not wrong, wrong
