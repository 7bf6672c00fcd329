"""Wrong formulas: every small mistake that can be made in one, and whether a sample shows it.

A formula is that of a gradient, of a tangent, or of a composite that others are made of. A mutant
is noticed if it cannot be evaluated, or if its value differs from differences for some sample of
its record. That of a private composite has no samples: a formula that uses it must show it.
"""

import ast
import functools
from dataclasses import dataclass, replace

import numpy as np
from calls import (
    CLASS_OF,
    EVALUATOR,
    RECORDS,
    Case,
    formulas_of,
    make,
    outputs,
    tensor,
    to_array,
)
from derivatives import (
    differentiable_outputs,
    forward,
    inner,
    loss,
    random_like,
    slope,
    weights_of,
)
from formulas import calls_of, evaluate, formula_names, with_formulas

from autograd_cy.ops import _schema as schema
from ext.codegen.formula import parse

# A derivative that is zero: a mutant is zero too.
ZERO = ("zeros_like(grad)", "zeros_like(self)", "zeros_like(self_t)")


@dataclass(frozen=True)
class Site:
    """A formula of the table: where it is, and its text."""

    kind: str  # "vjp", "jvp" or "composite"
    record: object
    output: str  # the output of a jvp formula; "" if there is one only
    key: str  # the argument; "" for a composite
    text: str

    @property
    def id(self):
        key = ",".join(self.key) if isinstance(self.key, tuple) else self.key
        return "-".join(filter(None, (self.record.key, self.kind, self.output, key)))


def sites():
    """Every formula of the table whose mistakes a test could notice."""
    found = []
    for record in RECORDS:
        if with_formulas(record) and record.tests.samples:
            for key, text in formulas_of(record.derivatives.vjp).items():
                found.append(Site("vjp", record, "", key, text))
            if isinstance(record.derivatives.jvp, dict):
                found += tangent_sites(record)
        if (
            isinstance(record.kernel, schema.composite)
            and "(" in record.kernel.formula
            and "_dropout_mask" not in record.kernel.formula  # random: has no value to compare
        ):
            found.append(Site("composite", record, "", "", record.kernel.formula))
    return found


def tangent_sites(record):
    for name, value in formulas_of(record.derivatives.jvp).items():
        if isinstance(value, dict):
            for key, text in formulas_of(value).items():
                yield Site("jvp", record, name, key, text)
        else:
            yield Site("jvp", record, "", name, value)


def mutants(site):
    """[(what was done, text)] without those that say the same or can't show in a result."""
    tree = parse(site.text)
    plain = ast.unparse(tree)
    if plain in ZERO:
        return []
    found = {}
    for kind, text in mutations(site.text):
        if kind == "drop conj" and "c" not in site.record.call.dtypes:
            continue
        if kind == "double" and site.kind == "composite" and len(site.record.returns) > 1:
            continue  # twice a tuple is the tuple repeated
        if isinstance(site.key, tuple) and kind in ("sign", "double"):
            continue  # of a tuple
        if kind == "double" and site.kind == "vjp" and site.record.arg(site.key).type == "Tensor[]":
            continue  # twice a tuple is the tuple repeated
        if text != plain:
            found.setdefault(text, kind)
    return [(kind, text) for text, kind in found.items()]


def mutations(text):
    """(what was done, text) of every single mutation of a formula."""
    tree = parse(text)
    places = {}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for number, child in enumerate(value if isinstance(value, list) else [value]):
                places[child] = parent, field, number

    def mutant(node, new):
        """Put in, written down and taken out: a tree of its own for each takes far longer."""
        if node is tree:
            return ast.unparse(new)
        parent, field, number = places[node]
        old = getattr(parent, field)
        listed = [*old[:number], new, *old[number + 1 :]] if isinstance(old, list) else new
        setattr(parent, field, listed)
        try:
            return ast.unparse(tree)
        finally:
            setattr(parent, field, old)

    def twice(node):
        return ast.BinOp(node, ast.Mult(), ast.Constant(2))

    yield "sign", ast.unparse(ast.UnaryOp(ast.USub(), tree))
    yield "double", ast.unparse(twice(tree))
    for place, node in enumerate(ast.walk(tree)):
        for kind, change in changes(node, place, twice):
            yield kind, mutant(node, change(node))


def changes(node, place, twice):
    """(what is done, function from the node to its replacement)."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and place:
        yield "drop minus", lambda n: n.operand
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "conj":
            yield "drop conj", lambda n: n.func.value
        return
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.op, (ast.Sub, ast.Div)):
        yield "swap operands", lambda n: ast.BinOp(n.right, n.op, n.left)
    if isinstance(node.op, (ast.Mult, ast.Div)):
        yield "drop right factor", lambda n: n.left
    if isinstance(node.op, ast.Mult):
        yield "drop left factor", lambda n: n.right
    if isinstance(node.op, (ast.Add, ast.Sub)):
        other = ast.Sub if isinstance(node.op, ast.Add) else ast.Add
        yield "sign of a term", lambda n: ast.BinOp(n.left, other(), n.right)
        yield "drop right term", lambda n: n.left
        yield "drop left term", lambda n: n.right
        yield "double left term", lambda n: ast.BinOp(twice(n.left), n.op, n.right)
        yield "double right term", lambda n: ast.BinOp(n.left, n.op, twice(n.right))


# --- what samples show --------------------------------------------------------------------------

_rows = {}


def rows(record):
    """
    For each sample and dtype of a record: its call, and what formulas are compared with.

    (call, names of vjp formulas, {leaf: [(direction, slope of the weighted sum)]},
    {leaf: (direction, slopes of the outputs)})
    """
    if record.key not in _rows:
        found = []
        for number in range(len(record.tests.samples)):
            for call in calls_of(Case(record, number)):
                rng = np.random.default_rng(1)
                weights = weights_of(call, np.random.default_rng(0))
                sums = {i: differences(call, weights, i, rng) for i in call.moving}
                pushed = {}
                for i in call.moving:
                    u = random_like(call.arrays[i], rng)
                    pushed[i] = u, slope(lambda a: forward(call, a), call.arrays, i, u)
                found.append((call, formula_names(call, weights), sums, pushed))
        _rows[record.key] = found
    return _rows[record.key]


def differences(call, weights, place, rng, count=4):
    """[(direction, slope)] of the weighted sum for one leaf."""
    found = []
    for _ in range(count):
        u = random_like(call.arrays[place], rng)
        found.append((u, slope(lambda a: loss(weights, forward(call, a)), call.arrays, place, u)))
    return found


def noticed(site, text, evaluator=EVALUATOR):
    """Return whether some sample shows that `text` isn't the formula of a site."""
    check = {"vjp": wrong_gradient, "jvp": wrong_tangent, "composite": wrong_composite}[site.kind]
    return check(site, parse(text), evaluator)


def wrong_gradient(site, tree, evaluator):
    for call, names, sums, _ in rows(site.record):
        try:
            values = evaluate(call, names, (site.key, tree), evaluator)
        except Exception:
            return True
        for i, value in values.items():
            for u, expected in sums[i]:
                size = max(abs(expected), np.abs(value).sum(), 1e-3)
                if not abs(inner(value, u) - expected) <= 1e-5 * size:
                    return True
    return False


def wrong_tangent(site, tree, evaluator):
    for call, names, _, pushed in rows(site.record):
        outs = differentiable_outputs(call, call(call.tensors()))
        number = [
            r for r in call.record.returns if r not in call.record.derivatives.nondiff_outputs
        ].index(site.output or call.record.returns[0])
        for i, (u, slopes) in pushed.items():
            if call.leaves[i].name != site.key:
                continue
            try:
                t = to_array(evaluator.evaluate(tree, names | {f"{site.key}_t": tensor(u)}))
                out = to_array(outs[number])
                t = np.broadcast_to(t if out.dtype.kind == "c" else np.real(t), out.shape)
            except Exception:
                return True
            expected = slopes[number]
            size = max(np.abs(expected).max(initial=0), np.abs(t).max(initial=0), 1e-3)
            if not (np.abs(t - expected) <= 1e-5 * size).all():
                return True
    return False


def wrong_composite(site, tree, evaluator):
    record = site.record
    broken = type(EVALUATOR).__new__(type(EVALUATOR))
    broken.__dict__.update(evaluator.__dict__)
    # The evaluator goes into a composite whose formula has a bracket.
    changed = replace(record, kernel=schema.composite(f"({ast.unparse(tree)})"))
    broken.records = {
        name: [changed if r.key == record.key else r for r in found]
        for name, found in evaluator.records.items()
    }
    if wrong_result(record, tree, broken):
        return True
    return any(noticed(user, user.text, broken) for user in users(record.name))


def wrong_result(record, tree, evaluator):
    """Compare with the compiled form, which test_op_forward.py compares with NumPy."""
    for number in range(len(record.tests.samples)):
        case = Case(record, number)
        for name in ("float64", "complex128"):
            if CLASS_OF[name] not in record.call.dtypes:
                continue
            call = make(case, name)
            args, kwargs = call.arguments(call.tensors())
            try:
                found = evaluator.evaluate(tree, evaluator.names(record, args, kwargs))
                there, made = outputs(found), outputs(call(call.tensors()))
                if len(there) != len(made):
                    return True
                pairs = list(zip(there, made))
                if any(tuple(a.shape) != tuple(b.shape) for a, b in pairs):
                    return True
                if not all(np.allclose(to_array(a), to_array(b), 1e-9, 1e-9) for a, b in pairs):
                    return True
            except Exception:
                return True
    return False


@functools.cache
def words(text):
    """Names and attributes of a formula."""
    nodes = list(ast.walk(parse(text)))
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    return names | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


def users(name, seen=()):
    """The formulas of derivatives that use an operator, also through composites."""
    found = []
    for site in sites():
        if name not in words(site.text):
            continue
        if site.kind != "composite":
            found.append(site)
        elif site.record.name not in seen:
            found += users(site.record.name, (*seen, name))
    return found
