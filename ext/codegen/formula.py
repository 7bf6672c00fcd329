"""Formula text of the operator table: one parser, and the back end that writes Cython.

There are two more back ends: operations.py writes the Python of interpreted operators, and
evaluate.py evaluates formulas for the tests. All three work on the tree that `parse` returns and
know the same names (`BUILTINS`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

# Types of expressions: T tensor, L tuple of tensors, i int, f float, b bool, I tuple of ints,
# s text, d dtype code, N None, O any object.

# Plain functions of formulas: result type and the name in autograd_cy._C.metadata (normal_dim: tensor).
BUILTINS = {
    "inverse_permutation": "I",
    "normal_dim": "i",
    "normal_dims": "I",
    "shifted": "I",
    "axis_sizes": "I",
    "count_reduced": "i",
    "strides_of": "I",
    "offset_of": "i",
    "device_code_of": "i",
    "without": "I",
    "shapes_of": "O",
    "number_of": "O",
    "is_number": "b",
}
METADATA = {"shape": "I", "ndim": "i", "dtype": "d"}
METADATA_CALLS = {"numel": "i", "is_complex": "b"}
_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
_PLAIN = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}


class FormulaError(ValueError):
    """A formula that can't be understood; names the record."""


def parse(text: str) -> ast.expr:
    """The tree of a formula."""
    try:
        return ast.parse(" ".join(text.split()), mode="eval").body
    except SyntaxError as error:
        raise FormulaError(f"cannot parse {text!r}: {error.msg}") from None


@dataclass
class Uses:
    """The names that a formula needs: tensors by value, tensors by metadata only, plain values."""

    values: set[str] = field(default_factory=set)
    metadata: set[tuple[str, str]] = field(default_factory=set)


def uses(tree: ast.AST) -> Uses:
    """Names that a formula uses, apart from function names."""
    uses = Uses()

    def walk(node: ast.AST) -> None:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in METADATA
        ):
            uses.metadata.add((node.value.id, node.attr))
            return
        if isinstance(node, ast.Call):
            f = node.func
            if (
                isinstance(f, ast.Attribute)
                and isinstance(f.value, ast.Name)
                and f.attr in METADATA_CALLS
            ):
                uses.metadata.add((f.value.id, f.attr))
                return
            if isinstance(f, ast.Attribute):
                walk(f.value)
            for argument in [*node.args, *[k.value for k in node.keywords]]:
                walk(argument)
            return
        if isinstance(node, ast.Name):
            uses.values.add(node.id)
            return
        for child in ast.iter_child_nodes(node):
            walk(child)

    walk(tree)
    return uses


def fitting(overloads: list, count: int) -> list:
    """
    Overloads in the order to try for `count` arguments without keywords.

    A dtype that has to be named is filled last: ``sum(x, dim)`` is a sum along a dimension.
    """
    return sorted(
        overloads,
        key=lambda record: any(a.keyword and a.type == "dtype?" for a in record.args[:count]),
    )


class Emitter:
    """Write a formula as a Cython expression.

    Parameters
    ----------
    records : dict
        Operator name -> list of records (overloads).
    names : dict
        Name -> (Cython text, type).
    metadata : callable
        (name, what) -> Cython text of ``name.shape`` and the like.
    constants : dict
        Filled with the wrapped numbers used: text of the constant -> its Cython name.
    """

    def __init__(
        self,
        records: Mapping[str, list],
        names: Mapping[str, tuple[str, str]],
        metadata: Callable[[str, str], str],
        constants: dict[str, str],
        label: str,
    ):
        self.records, self.names, self.metadata = records, names, metadata
        self.constants, self.label = constants, label

    def fail(self, why: str) -> NoReturn:
        raise FormulaError(f"{self.label}: {why}")

    def emit(self, node: ast.expr) -> tuple[str, str]:
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            self.fail(f"{ast.unparse(node)!r}: {type(node).__name__} is not part of the language")
        return method(node)

    def tensor(self, node: ast.expr) -> str:
        text, kind = self.emit(node)
        if kind in "ifb":
            return self.number(text, kind)
        if kind == "N":
            return "None"
        if kind not in "TO":
            self.fail(f"{ast.unparse(node)!r} is no tensor")
        return text

    def number(self, text: str, kind: str) -> str:
        try:
            literal = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return f"{'wrap_double' if kind == 'f' else 'wrap_int'}({text})"
        name = "NUMBER_" + repr(literal).replace("-", "minus_").replace(".", "_").replace("+", "")
        self.constants[name] = f"{'wrap_double' if kind == 'f' else 'wrap_int'}({text})"
        return name

    def on_Name(self, node: ast.Name) -> tuple[str, str]:
        if node.id not in self.names:
            self.fail(f"unknown name {node.id!r}")
        return self.names[node.id]

    def on_Constant(self, node: ast.Constant) -> tuple[str, str]:
        v = node.value
        if v is None:
            return "None", "N"
        if isinstance(v, bool):
            return repr(v), "b"
        if isinstance(v, int):
            return repr(v), "i"
        if isinstance(v, float):
            return repr(v), "f"
        if isinstance(v, str):
            return repr(v), "s"
        return self.fail(f"constant {v!r}")

    def on_Tuple(self, node: ast.Tuple) -> tuple[str, str]:
        parts = [self.emit(e) for e in node.elts]
        kind = "L" if any(k == "T" for _, k in parts) else "I"
        return "(" + "".join(t + ", " for t, _ in parts) + ")", kind

    def on_UnaryOp(self, node: ast.UnaryOp) -> tuple[str, str]:
        text, kind = self.emit(node.operand)
        if isinstance(node.op, ast.Not):
            return f"(not {text})", "b"
        if not isinstance(node.op, ast.USub):
            self.fail(f"operator in {ast.unparse(node)!r}")
        if kind == "T":
            return f"T.neg({text})", "T"
        return f"-{text}", kind

    def on_BinOp(self, node: ast.BinOp) -> tuple[str, str]:
        (_, a), (_, b) = self.emit(node.left), self.emit(node.right)
        if "T" in (a, b):
            name = _OPERATORS.get(type(node.op))
            if name is None:
                self.fail(f"operator in {ast.unparse(node)!r}")
            return f"T.{name}({self.tensor(node.left)}, {self.tensor(node.right)})", "T"
        op = _PLAIN.get(type(node.op))
        if op is None:
            self.fail(f"operator in {ast.unparse(node)!r}")
        kind = "I" if "I" in (a, b) else ("f" if "f" in (a, b) or op == "/" else "i")
        left, right = self.emit(node.left)[0], self.emit(node.right)[0]
        if op == "/":
            left = f"<double>({left})"
        return f"({left} {op} {right})", kind

    def on_BoolOp(self, node: ast.BoolOp) -> tuple[str, str]:
        word = " and " if isinstance(node.op, ast.And) else " or "
        return "(" + word.join(self.emit(v)[0] for v in node.values) + ")", "b"

    def on_Compare(self, node: ast.Compare) -> tuple[str, str]:
        if len(node.ops) != 1:
            self.fail(f"{ast.unparse(node)!r}: one comparison at a time")
        (left, a), (right, b) = self.emit(node.left), self.emit(node.comparators[0])
        if "T" in (a, b) and not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            self.fail(f"{ast.unparse(node)!r}: compare tensors with eq(), lt() and so on")
        return f"({left} {_COMPARE[type(node.ops[0])]} {right})", "b"

    def on_IfExp(self, node: ast.IfExp) -> tuple[str, str]:
        test = self.emit(node.test)[0]
        (a, ka), (b, kb) = self.emit(node.body), self.emit(node.orelse)
        if "T" in (ka, kb):
            a, b, ka = self.tensor(node.body), self.tensor(node.orelse), "T"
        return f"({a} if {test} else {b})", ka

    def on_Subscript(self, node: ast.Subscript) -> tuple[str, str]:
        text, kind = self.emit(node.value)
        if isinstance(node.slice, ast.Slice):
            low = self.emit(node.slice.lower)[0] if node.slice.lower else ""
            high = self.emit(node.slice.upper)[0] if node.slice.upper else ""
            return f"{text}[{low}:{high}]", kind
        index = self.emit(node.slice)[0]
        if kind == "L":
            return f"(<Tensor>{text}[{index}])", "T"
        return f"size_at({text}, {index})", "i"

    def on_Attribute(self, node: ast.Attribute) -> tuple[str, str]:
        if isinstance(node.value, ast.Name) and node.attr in METADATA:
            return self.metadata(node.value.id, node.attr), METADATA[node.attr]
        if node.attr in METADATA:
            text = self.tensor(node.value)
            return {"shape": f"dims_of({text})", "ndim": f"({text}).nd", "dtype": f"({text}).dt"}[
                node.attr
            ], METADATA[node.attr]
        return self.fail(f"attribute {node.attr!r}")

    def on_Call(self, node: ast.Call) -> tuple[str, str]:
        f = node.func
        if isinstance(f, ast.Attribute):
            if f.attr in METADATA_CALLS and isinstance(f.value, ast.Name):
                return self.metadata(f.value.id, f.attr), METADATA_CALLS[f.attr]
            return self.call(f.attr, [f.value, *node.args], node.keywords)
        if not isinstance(f, ast.Name):
            self.fail(f"call of {ast.unparse(f)!r}")
        if f.id == "len":
            return f"(<Py_ssize_t>len({self.emit(node.args[0])[0]}))", "i"
        if f.id in BUILTINS:
            inside = ", ".join(self.emit(a)[0] for a in node.args)
            return f"{f.id}({inside})", BUILTINS[f.id]
        return self.call(f.id, node.args, node.keywords)

    def call(
        self, name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> tuple[str, str]:
        # A formula computes at once, and its results are plain tensors.
        if name == "conj" and len(args) == 1 and not keywords:
            return f"conjugate({self.tensor(args[0])})", "T"
        overloads = self.records.get("_conjugate" if name == "conj" else name)
        if not overloads:
            self.fail(f"unknown operator {name!r}")
        named = {k.arg: k.value for k in keywords}
        for record in fitting(overloads, len(args)):
            bound = self.bind(record, args, named)
            if bound is not None:
                return bound
        return self.fail(f"no overload of {name!r} takes {[ast.unparse(a) for a in args]}")

    def bind(
        self, record: Any, args: Sequence[ast.expr], named: Mapping[Any, ast.expr]
    ) -> tuple[str, str] | None:
        """The call of one overload, or None if the arguments don't fit it."""
        if len(args) > len(record.args) or any(
            k not in [a.name for a in record.args] for k in named
        ):
            return None
        texts = []
        for i, a in enumerate(record.args):
            node = args[i] if i < len(args) else named.get(a.name)
            if node is None:
                if a.default is None:
                    return None
                texts.append(c_default(a))
                continue
            if a.type == "Tensor[]":
                text, kind = self.emit(node)
                if kind != "L":
                    return None
                texts.append(text)
            elif a.is_tensor:
                _, kind = self.emit(node)
                if kind not in "TOifbN":
                    return None
                texts.append(self.tensor(node))
            else:
                text, kind = self.emit(node)
                if kind in "TL" or (a.type == "dim" and kind == "I"):
                    return None
                texts.append(text)
        kind = "L" if record.returns == ("*",) or len(record.returns) > 1 else "T"
        if record.tier != "compiled":
            return self.interpreted(record, texts, kind), kind
        return f"T.{record.key}({', '.join(texts)})", kind

    def interpreted(self, record: Any, texts: Sequence[str], kind: str) -> str:
        """The call of a function of the interpreted tier, which is found when it is first used."""
        for a in record.args:
            if a.type in ("dtype?", "format?"):
                self.fail(f"{record.key!r} is interpreted, and its {a.name!r} has no name in C")
        name = f"form_{record.key}" if record.overload else record.name
        values = [f"{a.name}={x}" if a.keyword else x for a, x in zip(record.args, texts)]
        text = f'interpreted("{record.file}", "{name}")({", ".join(values)})'
        return f"(<{'tuple' if kind == 'L' else 'Tensor'}>{text})"


def c_default(a: Any) -> str:
    """The C value of an argument's default."""
    if a.type in ("dtype?", "format?"):
        return "-1"
    if a.type in ("operand", "operand?", "Scalar") and a.default not in ("None",):
        return f"wrap_number({a.default})"
    return a.default
