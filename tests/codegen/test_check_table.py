"""Records that contradict their kernels are refused before anything is built."""

import re
from dataclasses import replace

import pytest

from autograd_cy.ops import _schema as schema
from autograd_cy.ops._schema import RecordError, elementwise, op, shapes
from ext.codegen import generate, kernel_specs, table
from ext.codegen.check_table import check, problems
from ext.codegen.formula import FormulaError

SPECS = {spec.name: spec for spec in kernel_specs.SPECS}


@pytest.fixture(scope="module")
def families():
    return table.load()


def record(families, key):
    return next(r for records in families.values() for r in records if r.key == key)


@pytest.mark.parametrize(
    ("key", "change", "text"),
    [
        ("neg", {"dtypes": "bihfc"}, "no loops for dtypes='b'"),
        ("erf", {"dtypes": "bihfc"}, "no loops for dtypes='c'"),
        (
            "atan2",
            {"kernel": elementwise("exp", dtypes="float")},
            "takes 1 operands, not self, other",
        ),
        ("exp", {"kernel": elementwise("add", dtypes="float")}, "takes 2 operands, not self"),
        ("abs", {"kernel": elementwise("abs")}, "gives 'real' results"),
        ("isnan", {"kernel": elementwise("isnan")}, "gives 'bool' results"),
        ("exp", {"kernel": elementwise("exp", dtypes=("float", "real"))}, "gives 'same' results"),
        ("exp", {"kernel": elementwise("exp")}, "no loops for dtypes='bi'"),
    ],
)
def test_records_that_their_kernel_contradicts(families, key, change, text):
    changed = record(families, key).replace(**change)
    assert text in problems(changed, SPECS[changed.kernel.name])[0]
    with pytest.raises(RecordError, match=key):
        check({"family": [changed]}, RecordError)


def test_every_record_fits_its_kernel(families):
    check(families, RecordError)


@pytest.mark.parametrize(
    ("autocast", "text"),
    [
        ("lowest", "autocast= is one of lower, float32, widest, input, padding, not 'lowest'"),
        ("lower", "autocast='lower', but another record of this name differs"),
    ],
)
def test_policies_of_mixed_precision_are_known_ones_and_agree(families, autocast, text):
    with pytest.raises(RecordError, match=re.escape(text)):
        op(
            "prod.another(self)",
            kernel=elementwise("neg"),
            vjp={"self": "-grad"},
            jvp="elementwise",
            vmap="elementwise",
            autocast=autocast,
            doc="Another one.",
            samples=shapes((2,)),
            reference="np.prod(self)",
        )


def test_more_parameters_than_a_form_has_are_refused(families):
    record = next(r for r in families["recurrent"] if r.key == "_recurrent_gradients")
    check({**families, "recurrent": [record]}, RecordError)
    wider = replace(record, args=(*record.args, record.args[0]))
    with pytest.raises(RecordError, match="17 parameters, but a form has 16"):
        check({"recurrent": [wider]}, RecordError)


def test_kernels_that_nothing_uses_are_refused(families):
    without = {f: [r for r in records if r.key != "hypot"] for f, records in families.items()}
    with pytest.raises(RecordError, match="kernel 'hypot': no record and no module uses it"):
        check(without, RecordError)


def test_reasons_of_kernels_that_are_used_are_refused(families, monkeypatch):
    monkeypatch.setitem(kernel_specs.NOT_YET, "hypot", "a reason")
    with pytest.raises(RecordError, match="kernel 'hypot' is used"):
        check(families, RecordError)


@pytest.mark.parametrize(
    ("reference", "text"),
    [(None, "no reference"), ("tested by hand", "is an expression or by_test")],
)
def test_values_are_compared_with_something(reference, text):
    with pytest.raises(RecordError, match=text):
        op(
            "cube(self)",
            kernel=elementwise("exp"),
            vjp={"self": "grad"},
            jvp="elementwise",
            vmap="elementwise",
            doc="Cube.",
            samples=shapes(((3,),)),
            reference=reference,
        )
    assert not any(r.name == "cube" for r in schema.TABLE)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"jpv": "linear"}, "cube: a record has no field 'jpv'"),
        ({"vmap": {"self,other": "cube(self)"}}, "vmap names 'self,other', which is no argument"),
        ({"vmap": {("self", "other"): "cube(self)"}}, "vmap names 'other', which is no argument"),
        ({"mutates": (schema.only_if("other", "True"),)}, "mutates names 'other', which is no"),
    ],
)
def test_fields_that_a_record_cannot_have_are_refused(more, text):
    fields = {"vjp": {"self": "grad"}, "jvp": "linear", "vmap": "dims", "samples": []}
    with pytest.raises(RecordError, match=text):
        op("cube(self)", kernel=elementwise("exp"), doc="Cube.", **{**fields, **more})


def test_a_field_is_replaced_in_its_part(families):
    exp = record(families, "exp")
    other = exp.replace(name="cube", inplace=False, samples=())
    assert (other.name, other.call.inplace, other.tests.samples) == ("cube", False, ())
    assert exp.call.inplace and other.derivatives == exp.derivatives


def composites(families):
    return [r for rs in families.values() for r in rs if isinstance(r.kernel, schema.composite)]


def test_a_composite_is_a_short_formula_or_a_function_of_its_family(families):
    for r in composites(families):
        text = r.kernel.formula
        if "." in text and "(" not in text:
            assert text.partition(".")[0] == r.file, f"{r.key}: {text}"
        else:
            assert len(text) <= 3 * 120, f"{r.key}: what is longer belongs into Cython"


def test_a_composite_of_another_family_is_refused(families):
    strayed = replace(record(families, "repeat"), kernel=schema.composite("indexing.take"))
    changed = {**families, "shape": [*families["shape"], replace(strayed, name="_strayed")]}
    with pytest.raises(FormulaError, match="family shape is in shape_composites"):
        generate.sources(changed)
