"""Formulas of the table in a plain Python evaluator: against the generated nodes, and mutated.

The first test shows that generated Cython computes what the text says. The mutation tests show that
the checks of the derivatives would notice a wrong text: each mutant must disagree with differences.
"""

import ast
import copy

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, RECORDS, Case, cases, make, outputs, tensor, to_array
from derivatives import (
    differentiable_outputs,
    forward,
    gradients,
    inner,
    loss,
    random_like,
    slope,
    weights_of,
)

import autograd_cy as ag
from ext.codegen.formula import parse


def with_formulas(record):
    return isinstance(record.vjp, dict) and any(c in record.dtypes for c in "fc")


def formula_names(call, weights):
    """The names a vjp formula may use, with plain tensors as values."""
    record = call.record
    args, kwargs = call.arguments(call.tensors())
    names = EVALUATOR.names(record, args, kwargs)
    result = call(call.tensors())
    rest = iter(tensor(w) for w in weights)
    smooth = {id(t) for t in differentiable_outputs(call, result)}
    given = [next(rest) if id(t) in smooth else None for t in outputs(result)]
    if record.returns == ("*",):
        names["grads"] = tuple(given)
    elif len(record.returns) == 1:
        names |= {"grad": given[0], "result": result, record.returns[0]: result}
    else:
        for name, t, g in zip(record.returns, outputs(result), given):
            names |= {name: t, f"grad_{name}": g}
    return names


def fitted(gradient, array):
    """What the engine does to the value of a formula: sum out broadcasting, keep real parts."""
    g = to_array(gradient)
    if array.dtype.kind != "c":
        g = np.real(g)
    extra = g.ndim - array.ndim
    g = g.sum(axis=tuple(range(extra))) if extra > 0 else g
    axes = tuple(i for i, n in enumerate(array.shape) if n == 1 and g.shape[i] != 1)
    return np.broadcast_to(g.sum(axis=axes, keepdims=True), array.shape)


def evaluate(call, names, tree):
    """Gradients of the leaves behind one formula, as arrays, by leaf number."""
    key, formula = tree
    value = EVALUATOR.evaluate(formula, names)
    places = [i for i in call.moving if call.leaves[i].name == key]
    if isinstance(value, tuple):
        value = [value[call.leaves[i].place] for i in places]
    else:
        value = [value] * len(places)
    return {i: fitted(v, call.arrays[i]) for i, v in zip(places, value)}


def calls_of(case):
    for name in ("float64", "complex128"):
        if CLASS_OF[name] in case.record.dtypes:
            call = make(case, name)
            if call.moving and differentiable_outputs(call, call(call.tensors())):
                yield call


@pytest.mark.parametrize("case", cases(with_formulas))
def test_generated_node_computes_the_formula(case):
    for call in calls_of(case):
        weights = weights_of(call, np.random.default_rng(0))
        grads, _, _ = gradients(call, call.arrays, weights)
        names = formula_names(call, weights)
        generated = dict(zip(call.moving, grads))
        for key, text in case.record.vjp.items():
            for i, value in evaluate(call, names, (key, parse(text))).items():
                found = to_array(generated[i])
                np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-13, err_msg=key)


def test_evaluator_and_composites_agree():
    """Composites by their text and by their compiled form."""
    x = ag.randn(3, 4, dtype=ag.float64)
    compiled = type(EVALUATOR)(_table(), enter=False)
    for text in (
        "gelu(self)",
        "_silu_curvature(self, sigmoid(self))",
        "self.t()",
        "clamp(self, 0, 1)",
    ):
        a = EVALUATOR.evaluate(text, {"self": x})
        b = compiled.evaluate(text, {"self": x})
        np.testing.assert_allclose(to_array(a), to_array(b), rtol=1e-13)


def _table():
    from calls import TABLE

    return TABLE


# --- mutations ------------------------------------------------------------------------------


def mutations(tree):
    """(what was done, tree) of every single mutation of a formula."""

    def replaced(old, new):
        class Swap(ast.NodeTransformer):
            def visit(self, node):
                return new if node is old else self.generic_visit(node)

        return Swap()

    def mutant(path, make_new):
        whole = copy.deepcopy(tree)
        node = list(ast.walk(whole))[path]
        return replaced(node, make_new(node)).visit(whole)

    yield "sign", ast.UnaryOp(ast.USub(), copy.deepcopy(tree))
    yield "double", ast.BinOp(copy.deepcopy(tree), ast.Mult(), ast.Constant(2))
    for path, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and path:
            yield "drop minus", mutant(path, lambda n: n.operand)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "conj"
        ):
            yield "drop conj", mutant(path, lambda n: n.func.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div)):
            yield "swap operands", mutant(path, lambda n: ast.BinOp(n.right, n.op, n.left))
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            yield (
                "double term",
                mutant(
                    path,
                    lambda n: ast.BinOp(
                        ast.BinOp(n.left, ast.Mult(), ast.Constant(2)), n.op, n.right
                    ),
                ),
            )


# A derivative that is zero: a mutant is zero too.
ZERO = "zeros_like(grad)"
# (record, argument, text of the mutant) -> why no sample can show that it is wrong.
FACTORS = "factors of samples are real; test_op_derivatives.py has complex ones"
SURVIVORS = {
    ("addmm", "self", "grad * beta"): FACTORS,
    ("_add_scaled", "other", "grad * alpha"): FACTORS,
    ("addmm", "mat1", "mm(grad, mat2.t().conj()) * alpha"): FACTORS,
    ("addmm", "mat2", "mm(mat1.t().conj(), grad) * alpha"): FACTORS,
}


def formulas_of(record):
    return [(key, parse(text)) for key, text in record.vjp.items()]


def mutation_cases():
    found = []
    for record in RECORDS:
        if not with_formulas(record) or not record.samples:
            continue
        for key, tree in formulas_of(record):
            if ast.unparse(tree) == ZERO:
                continue
            for kind, mutant in mutations(tree):
                if kind == "drop conj" and "c" not in record.dtypes:
                    continue
                if kind == "double" and record.arg(key).type == "Tensor[]":
                    continue  # twice a tuple is the tuple repeated
                text = ast.unparse(ast.fix_missing_locations(mutant))
                found.append(
                    pytest.param(record, key, text, id=f"{record.key}-{key}-{kind}-{text}")
                )
    return found


def differences(call, weights, place, count=4):
    """[(direction, slope)] of the weighted sum for one leaf."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        u = random_like(call.arrays[place], rng)
        found.append((u, slope(lambda a: loss(weights, forward(call, a)), call.arrays, place, u)))
    return found


_measured = {}


def measured(record):
    """For each sample and dtype of a record: (call, names of formulas, differences by leaf)."""
    if record.key not in _measured:
        rows = []
        for number in range(len(record.samples)):
            for call in calls_of(Case(record, number)):
                weights = weights_of(call, np.random.default_rng(0))
                slopes = {i: differences(call, weights, i) for i in call.moving}
                rows.append((call, formula_names(call, weights), slopes))
        _measured[record.key] = rows
    return _measured[record.key]


def noticed(record, key, tree):
    """Whether some sample shows that a formula is wrong (or it doesn't even evaluate)."""
    for call, names, slopes in measured(record):
        try:
            values = evaluate(call, names, (key, tree))
        except Exception:
            return True
        for i, value in values.items():
            for u, expected in slopes[i]:
                size = max(abs(expected), np.abs(value).sum(), 1e-3)
                if not abs(inner(value, u) - expected) <= 1e-5 * size:
                    return True
    return False


@pytest.mark.parametrize(("record", "key", "text"), mutation_cases())
def test_wrong_formula_is_noticed(record, key, text):
    assert not noticed(record, key, parse(record.vjp[key])), "the formula itself looks wrong"
    survives = SURVIVORS.get((record.key, key, text))
    if survives:
        assert not noticed(record, key, parse(text)), "remove it from SURVIVORS"
        return
    assert noticed(record, key, parse(text)), (
        f"no sample of {record.key} shows that {text!r} is not the gradient of {key}"
    )
