"""Namespaces, changed arguments and joint gradients of compiled records; families loaded later."""

from dataclasses import replace

import programs
import pytest

from autograd_cy.ops._schema import RecordError, call, composite, nondiff, parse_signature
from ext.codegen import generate, interpreted, linkage, modules, stubs, table
from ext.codegen.formula import FormulaError

SHAPE = "rules_products.linear(input, weight, bias)"


@pytest.fixture(scope="module")
def families():
    return table.load()


def record(families, signature="probe(input, weight, bias: Tensor? = None)", **more):
    """A record made of the one of `linear`, as a family `probe` would have it."""
    linear = next(r for r in families["linear"] if r.key == "linear")
    name, overload, args, returns = parse_signature(signature)
    made = linear.replace(name=name, overload=overload, args=args, returns=returns)
    more = {"node": "ProbeBackward0", "file": "probe", "later": True} | more
    return made.replace(kernel=call("products.linear", shape=SHAPE), **more)


def with_family(families, *records):
    return families | {"probe": list(records)}


def module_of(families, *records, name="probe"):
    """The source of one family, as `generate.sources` makes those of all."""
    found = with_family(families, *records) if records else families
    own = generate.compiled(found)
    entries = linkage.all_entries(own)
    return modules.family_module(name, own[name], table.records_by_symbol(found), entries)


def values_of(text):
    names: dict = {}
    exec(text, names)
    return names


def test_a_namespace_holds_the_function_and_nothing_else(families):
    r = record(families, namespace="nn.functional", aliases=("probed",), method=True)
    text = module_of(families, r)
    assert "cdef Tensor c_nn_functional_probe(" in text
    assert 'install(Tensor, "probed", as_method(FORMS, "probe", FORMS["probe"]))' in text
    assert 'install(Tensor, "probe"' not in text
    assert "__all__ = ['probed']" in text
    index = values_of(interpreted.index(with_family(families, r)))
    assert index["NAMESPACES"]["nn.functional"]["probe"] == ("ops_probe", "probe")
    assert index["FUNCTIONS"]["probed"] == ("ops_probe", "probed")
    assert "probe" not in index["FUNCTIONS"]
    assert index["METHODS"]["probed"] == ("ops_probe", "probed")


def test_errors_name_what_programs_call(families):
    assert record(families, namespace="nn.functional").said == "probe"
    assert record(families, namespace="linalg").said == "linalg_probe"
    inside = record(families, namespace="nn.functional", shown_as="batch_norm")
    assert inside.said == "batch_norm"


def test_a_function_may_be_in_another_module_too(families):
    r = record(families, also=("nn.functional",))
    index = values_of(interpreted.index(with_family(families, r)))
    assert index["NAMESPACES"]["nn.functional"]["probe"] == ("ops_probe", "probe")
    assert index["FUNCTIONS"]["probe"] == ("ops_probe", "probe")


def test_functions_of_families_of_the_import_need_no_look_up(families):
    r = record(families, also=("nn.functional",), later=False)
    index = values_of(interpreted.index(with_family(families, r)))
    assert index["NAMESPACES"]["nn.functional"]["probe"] == ("ops_probe", "probe")
    assert "probe" not in index["FUNCTIONS"] and "ops_probe" in index["COMPILED"]


def test_changed_arguments_are_checked_before_and_noted_after(families):
    text = module_of(families, record(families, mutates=("bias",)))
    body = text[text.index("cdef Tensor c_probe(") :]
    steps = [
        "changed = (bias,)",
        "before_change(changed",
        "run_probe(",
        "after_change(changed",
        "set_history(",
    ]
    places = [body.index(step) for step in steps]
    assert places == sorted(places)


def test_one_formula_gives_several_gradients(families):
    vjp = {
        ("input", "weight"): "(grad @ weight if needed[0] else None, "
        "_linear_weight(grad, input) if needed[1] else None)",
        "bias": "_sum_rows(grad)",
    }
    text = module_of(families, record(families, vjp=vjp))
    body = text[text.index("cdef int apply_probe(") : text.index("cdef Node node_probe(")]
    assert body.count("s_input = unpack(") == body.count("s_weight = unpack(") == 1
    assert "if needs(self, 0) or needs(self, 1):" in body
    assert "gout[1] = give(<Tensor>together[1])" in body
    assert "gout[2] = give(T._sum_rows(grad))" in body


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"vjp": {("input", "weight"): "grad"}}, "the gradients of input, weight are a tuple"),
        (
            {"vjp": {("input", "weight"): "(grad, grad)"}, "jvp": "elementwise"},
            "jvp for a gradient of several arguments is a dict",
        ),
    ],
)
def test_what_joint_gradients_must_be(families, change, said):
    with pytest.raises(FormulaError, match=said):
        module_of(families, record(families, **change))


def test_families_loaded_later_are_left_out_of_the_import(families):
    index = values_of(interpreted.index(with_family(families, record(families))))
    assert "ops_probe" not in index["COMPILED"]
    assert index["LATER"]["ops_probe"].split() == ["probe", "probe_out"]
    assert index["KERNELS"]["probe"] == "int (Tensor, Tensor, Tensor, Tensor)"
    assert index["METHODS"] == values_of(interpreted.index(families))["METHODS"]


def test_families_of_the_import_cannot_call_later_ones(families):
    last = families["linear"][0]
    caller = replace(
        last, name="caller", kernel=composite("probe(input, weight, bias)"), file="early"
    )
    both = with_family(families, record(families)) | {"early": [replace(caller, later=False)]}
    with pytest.raises(
        FormulaError, match="ops_early .* calls 'probe', which is loaded at first use"
    ):
        module_of(both, name="early")
    later = with_family(families, record(families)) | {"early": [replace(caller, later=True)]}
    assert "T.probe(" in module_of(later, name="early")


def test_the_word_of_a_family_is_known():
    class Family:
        __name__ = "probe"
        LOADED = "sometimes"

    with pytest.raises(RecordError, match="LOADED is 'at first use'"):
        table.loaded_later(Family, RecordError)
    Family.LOADED = table.AT_FIRST_USE
    assert table.loaded_later(Family, RecordError)


def test_python_operators_are_of_the_top_level():
    from autograd_cy.ops._schema import op

    with pytest.raises(RecordError, match="of the top level"):
        op(
            "probe(self, other)",
            kernel=call("products.mm"),
            vjp=nondiff("a test"),
            vmap="elementwise",
            doc="A test.",
            dunder="matmul",
            namespace="linalg",
            samples=[],
        )


def test_changed_arguments_are_tensors():
    from autograd_cy.ops._schema import op

    with pytest.raises(RecordError, match="mutates names 'n'"):
        op(
            "probe(self, n: int)",
            kernel=call("products.mm"),
            vjp=nondiff("a test"),
            vmap="dims",
            doc="A test.",
            mutates=("n",),
            samples=[],
        )


def test_stubs_export_what_the_modules_do(families):
    text, names = stubs.family_stub("ops_probe", [record(families, namespace="nn.functional")])
    assert names == [] and "def probe(input: _Tensor" in text


LOOK = """
import sys
import autograd_cy.nn.functional as F
from autograd_cy._interpreted import _index
def loaded():
    return {name.rpartition(".")[2] for name in sys.modules} & {*_index.LATER}
assert not loaded(), loaded()
for name in F.__all__:
    assert name in dir(F) and getattr(F, name).__name__ == name, name
try:
    F.no_such_function
except AttributeError as error:
    assert "autograd_cy.nn.functional" in str(error) and "no_such_function" in str(error)
else:
    raise AssertionError("found")
"""


def test_functional_loads_its_functions_when_they_are_used():
    found = programs.run("-c", LOOK)
    assert found.returncode == 0, found.stderr
