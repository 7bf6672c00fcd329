"""Words of records: a fixed number of ints, unions of types, calls from one tier into the other."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.ops._schema import RecordError, call, nondiff, op
from ext.codegen import table
from ext.codegen.formula import Emitter, FormulaError, parse
from ext.codegen.vocabulary import arg_type

F = ag.nn.functional


def test_ints_of_a_fixed_number_are_that_many():
    t = arg_type("ints(2)")
    assert (t.c, t.converter, t.words) == ("tuple", "fixed_arg", ("2",))
    x = ag.arange(16.0).reshape(1, 1, 4, 4)
    for one, two in ((2, (2, 2)), (np.int64(3), [3, 3])):
        assert ag.equal(F.unfold(x, one), F.unfold(x, two))
    for wrong in ((2,), (2, 2, 2), ()):
        with pytest.raises(
            RuntimeError, match=f"kernel_size equals to 2, but got size {len(wrong)}"
        ):
            F.unfold(x, wrong)
    with pytest.raises(TypeError, match="kernel_size"):
        F.unfold(x, (2.0, 2))


def test_a_union_takes_what_one_of_its_types_takes():
    t = arg_type("int | ints | Tensor")
    assert (t.c, t.converter, t.words) == ("object", "union_arg", ("int", "ints", "Tensor"))
    assert t.text == "int or sequence of int or Tensor"
    x = ag.arange(4)
    halves = [[0, 1], [2, 3]]
    for places in (2, [2], ag.tensor([2])):
        assert [part.tolist() for part in x.tensor_split(places)] == halves
    for counts in (2, ag.tensor(2), ag.tensor([2, 2, 2, 2])):
        assert x.repeat_interleave(counts).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    for wrong in ("2", 1.5, True, None, {2}):
        with pytest.raises(TypeError, match="must be int or tuple of ints or Tensor, not"):
            x.tensor_split(wrong)
    with pytest.raises(ValueError, match="64 bits"):
        x.repeat_interleave(2**64)


@pytest.mark.parametrize("kind", ["int | dtype", "ints(x)", "ints()", "int |", "choice()"])
def test_what_is_no_type_is_refused(kind):
    with pytest.raises(RecordError, match="unknown argument type"):
        op(
            f"probe(self, n: {kind})",
            kernel=call("products.mm"),
            vjp=nondiff("a test"),
            vmap="dims",
            doc="A test.",
        )


def test_compiled_formulas_call_interpreted_operators():
    # digamma is compiled, and its derivative is not.
    records = {r.key: r for family in table.load().values() for r in family}
    assert records["digamma"].tier == "compiled" and records["_polygamma"].tier == "interpreted"
    x = ag.tensor([0.7, 2.5], dtype=ag.float64, requires_grad=True)
    (first,) = ag.autograd.grad(ag.digamma(x).sum(), x, create_graph=True)
    assert first.grad_fn.name() == "MulBackward0"
    (second,) = ag.autograd.grad(first.sum(), x)
    assert ag.equal(first, ag.polygamma(1, x)) and ag.equal(second, ag.polygamma(2, x))
    _, tangent = ag.func.jvp(ag.digamma, (x.detach(),), (ag.ones(2, dtype=ag.float64),))
    assert ag.equal(tangent, first)
    each = ag.func.vmap(ag.func.grad(ag.digamma))(x.detach())
    assert ag.equal(each, first)


def test_what_has_no_name_in_c_is_not_handed_to_the_interpreted_tier():
    records = {}
    for family in table.load().values():
        for r in family:
            records.setdefault(r.symbol, []).append(r)
    found = [r for rs in records.values() for r in rs if r.tier == "interpreted"]
    typed = [r for r in found if any(a.type in ("dtype?", "format?") for a in r.args)]
    assert typed, "none takes a dtype: the refusal has nothing to refuse"
    record = typed[0]
    writer = Emitter(records, {"x": ("x", "T"), "n": ("n", "i")}, lambda *_: "", {}, "probe")
    given = ["x" if a.is_tensor else "n" for a in record.args if a.default is None]
    with pytest.raises(FormulaError, match="has no name in C"):
        writer.emit(parse(f"{record.symbol}({', '.join(given)})"))
