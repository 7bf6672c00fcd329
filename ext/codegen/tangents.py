"""Forward-mode rules: formulas of tangents derived from records, and sums of their terms.

A tangent is the sum of one term for each argument that has a tangent. Terms are summed in as few
passes over memory as possible: two products in one, a product onto a sum in one, and a negative
term is subtracted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from ext.codegen.formula import Emitter, FormulaError, parse


def jvp_formulas(record: Any, differentiable: Iterable[str]) -> dict[str, dict[str, ast.expr]]:
    """{output: {argument: tree}} of a record's forward-mode rule."""
    rule = record.derivatives.jvp
    if isinstance(rule, dict):
        nested = any(isinstance(v, dict) for v in rule.values())
        table = rule if nested else {record.returns[0]: rule}
        return {o: {a: parse(f) for a, f in d.items()} for o, d in table.items()}
    rows = {}
    if rule == "elementwise":
        # The Jacobian is diagonal: J t = conj(conj(J) conj(t)), and conj(J) is what vjp multiplies by.
        for a in differentiable:
            if (a,) not in record.derivatives.joint:
                raise FormulaError(
                    f"{record.key}: jvp for a gradient of several arguments is a dict"
                )
            tree = substitute(
                parse(record.derivatives.vjp[a]),
                "grad",
                ast.parse(f"conj({a}_t)", mode="eval").body,
            )
            rows[a] = conjugate(tree)
    elif rule == "each":
        for a in differentiable:
            call = ", ".join(f"{b.name}_t" if b.name == a else b.name for b in record.args)
            rows[a] = parse(f"{record.symbol}({call})")
    elif rule != "linear":
        raise FormulaError(f"{record.key}: unknown jvp rule {rule!r}")
    return {record.returns[0]: rows}


def substitute(tree: ast.expr, name: str, replacement: ast.expr) -> ast.expr:
    """The formula with every `name` replaced."""

    class Swap(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return replacement if node.id == name else node

    return Swap().visit(tree)


def conjugate(tree: ast.expr) -> ast.expr:
    """The conjugate of a formula, taken where it cancels another one."""
    inner = _unconjugated(tree)
    if inner is not None:
        return inner
    if isinstance(tree, ast.Constant):
        return tree
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return ast.UnaryOp(tree.op, conjugate(tree.operand))
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult | ast.Div | ast.Add | ast.Sub):
        sides = conjugate(tree.left), conjugate(tree.right)
        if any(_is_conjugate(old) for old in (tree.left, tree.right)):
            return ast.BinOp(sides[0], tree.op, sides[1])
    if isinstance(tree, ast.IfExp):
        return ast.IfExp(tree.test, conjugate(tree.body), conjugate(tree.orelse))
    return ast.Call(ast.Name("conj"), [tree], [])


def _unconjugated(tree: ast.expr) -> ast.expr | None:
    """x of ``conj(x)`` and ``x.conj()``, otherwise None."""
    if not isinstance(tree, ast.Call):
        return None
    if isinstance(tree.func, ast.Name) and tree.func.id == "conj":
        return tree.args[0]
    if isinstance(tree.func, ast.Attribute) and tree.func.attr == "conj":
        return tree.func.value
    return None


def _is_conjugate(tree: ast.expr) -> bool:
    """True where `conjugate` would take a conjugation away instead of adding one."""
    if isinstance(tree, ast.UnaryOp):
        return _is_conjugate(tree.operand)
    if isinstance(tree, ast.BinOp):
        return _is_conjugate(tree.left) or _is_conjugate(tree.right)
    return _unconjugated(tree) is not None


def _signed(tree: ast.expr) -> tuple[bool, ast.expr]:
    """(is negative, the rest); the sign of a first factor is the sign of the product."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        negative, rest = _signed(tree.operand)
        return not negative, rest
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        negative, left = _signed(tree.left)
        return negative, ast.BinOp(left, tree.op, tree.right)
    return False, tree


def _factors(tree: ast.expr, emitter: Emitter) -> list[str] | None:
    """The emitted factors of a product of two tensors, otherwise None."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        pair = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "mul":
        pair = tree.args
    else:
        return None
    if any(emitter.emit(factor)[1] != "T" for factor in pair):
        return None
    return [emitter.tensor(factor) for factor in pair]


def sum_of_terms(rows: Mapping[str, ast.expr], emitter: Emitter) -> list[str]:
    """Lines that set `total` to the sum of the terms whose tangents there are, or to None."""
    conditions = {a: f"{a}_t is not None" for a in rows}
    terms = {a: emitter.tensor(tree) for a, tree in rows.items()}
    lines = ["total = None"]
    names = list(rows)
    if len(names) == 2:
        products = [_factors(rows[a], emitter) for a in names]
        if all(products):
            both = ", ".join(text for pair in products if pair for text in pair)
            first, second = names
            return [
                *lines,
                f"if {conditions[first]} and {conditions[second]}:",
                f"    total = T._add_products({both})",
                f"elif {conditions[first]}:",
                f"    total = {terms[first]}",
                f"elif {conditions[second]}:",
                f"    total = {terms[second]}",
            ]
    for k, a in enumerate(names):
        lines.append(f"if {conditions[a]}:")
        if k == 0:
            lines.append(f"    total = {terms[a]}")
        else:
            lines += ["    if total is None:", f"        total = {terms[a]}"]
            lines += ["    else:", f"        total = {_added(rows[a], emitter)}"]
    return lines


def _added(tree: ast.expr, emitter: Emitter) -> str:
    """The expression of `total` plus a term."""
    negative, rest = _signed(tree)
    factors = _factors(rest, emitter)
    if factors is not None:
        one = emitter.number("-1" if negative else "1", "i")
        return f"T.addcmul(total, {', '.join(factors)}, {one})"
    if negative:
        return f"T.sub(total, {emitter.tensor(rest)})"
    return f"T.add(total, {emitter.tensor(tree)})"
