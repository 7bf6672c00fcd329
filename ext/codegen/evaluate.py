"""The second back end of the formula language: evaluates formula text in plain Python.

It works on tensors of the built package through the Python forms of the operators, and goes into
composites by their text, so that generated Cython can be compared with something that was not
generated. Only tests use it; the first back end is in formula.py.
"""

from __future__ import annotations

import ast
import functools
import importlib
import operator

from ext.codegen.formula import (
    _OPERATORS,
    BUILTINS,
    METADATA,
    METADATA_CALLS,
    FormulaError,
    fitting,
    parse,
)
from ext.codegen.table import records_by_symbol

_PLAIN = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_NUMBERS = (bool, int, float, complex)

_parsed = functools.cache(parse)  # an evaluation changes no tree


# --- the evaluator --------------------------------------------------------------------------


class Evaluator:
    """
    Evaluate formulas with given names.

    Parameters
    ----------
    table : dict
        The operator table: family -> list of records.
    enter : bool, default True
        Evaluate composites with a formula by that formula and not by their compiled form.
    """

    def __init__(self, table, enter=True):
        self.enter = enter
        self.records = records_by_symbol(table)
        self.modules = {}
        self.forms = {}
        for family, records in table.items():
            for record in records:
                compiled = record.tier == "compiled"
                name = f"_C.ops_{family}" if compiled else f"_interpreted.{family}"
                self.modules[record.key] = importlib.import_module(f"autograd_cy.{name}")
        self.metadata = importlib.import_module("autograd_cy._C.metadata")
        self.functions = importlib.import_module("autograd_cy._interpreted._functions")
        self.tensor_type = importlib.import_module("autograd_cy._C.tensor").Tensor
        placement = importlib.import_module("autograd_cy._C.placement")
        self.formats = {-1: None, 0: placement.contiguous_format}

    def evaluate(self, formula, names):
        """The value of a formula (text or tree); `names` maps its names to values."""
        tree = _parsed(formula) if isinstance(formula, str) else formula
        return _Run(self, names).value(tree)

    def tensor(self, x):
        """Numbers as 0-d tensors that promote like numbers; anything else as it is."""
        return self.metadata._wrapped(x) if isinstance(x, _NUMBERS) else x

    def names(self, record, args, kwargs):
        """The arguments of one call by name, defaults and `attrs` included."""
        names = {}
        for i, a in enumerate(record.args):
            if i < len(args):
                x = args[i]
            elif a.name in kwargs:
                x = kwargs[a.name]
            else:
                x = ast.literal_eval(a.default)
            if a.type in ("dims", "dims?", "sizes", "ints") and isinstance(x, list):
                x = tuple(x)
            names[a.name] = self.tensor(x) if a.is_tensor else x
        for name, text in record.derivatives.attrs.items():
            names[name] = self.evaluate(text, names)
        return names

    def call(self, record, values):
        """One operator by its Python form; `values` maps argument names to values."""
        formula = getattr(record.kernel, "formula", None)
        if self.enter and formula is not None and "(" in formula:
            return self.evaluate(formula, self.names(record, (), values))
        args, kwargs = [], {}
        for a in record.args:
            x = values[a.name] if a.name in values else ast.literal_eval(a.default)
            if a.type in ("dtype?", "format?") and isinstance(x, int):
                x = self.formats[x] if a.type == "format?" else None
            if a.keyword:
                kwargs[a.name] = x
            else:
                args.append(x)
        return self.form(record)(*args, **kwargs)

    def form(self, record):
        """The Python function of a record (an overload's own one)."""
        key = record.key
        if key not in self.forms:
            module = self.modules[key]
            own = getattr(module, f"form_{key}", None)
            self.forms[key] = own or getattr(module, record.name)
        return self.forms[key]

    def bind(self, record, args, kwargs):
        """Arguments of a call in a formula by name, or None if the overload doesn't fit."""
        if len(args) > len(record.args) or any(
            k not in [a.name for a in record.args] for k in kwargs
        ):
            return None
        values = dict(zip([a.name for a in record.args], args))
        values.update(kwargs)
        for a in record.args:
            if a.name not in values:
                if a.default is None:
                    return None
                continue
            x = values[a.name]
            is_list = isinstance(x, tuple) and any(isinstance(y, self.tensor_type) for y in x)
            if a.type == "Tensor[]":
                if not is_list:
                    return None
            elif a.is_tensor:
                if is_list or not (x is None or isinstance(x, (self.tensor_type, *_NUMBERS))):
                    return None
                values[a.name] = self.tensor(x)
            elif isinstance(x, self.tensor_type) or (a.type == "dim" and isinstance(x, tuple)):
                return None
        return values


class _Run:
    """One evaluation: a tree walk with the names at hand."""

    def __init__(self, evaluator, names):
        self.evaluator, self.names = evaluator, names

    def value(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise FormulaError(
                f"{ast.unparse(node)!r}: {type(node).__name__} is not part of the language"
            )
        return method(node)

    def is_tensor(self, x):
        return isinstance(x, self.evaluator.tensor_type)

    def on_Name(self, node):
        if node.id not in self.names:
            raise FormulaError(f"unknown name {node.id!r}")
        return self.names[node.id]

    def on_Constant(self, node):
        return node.value

    def on_Tuple(self, node):
        return tuple(self.value(e) for e in node.elts)

    def on_UnaryOp(self, node):
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not x
        return self.operate("neg", x) if self.is_tensor(x) else -x

    def on_BinOp(self, node):
        a, b = self.value(node.left), self.value(node.right)
        if self.is_tensor(a) or self.is_tensor(b):
            return self.operate(_OPERATORS[type(node.op)], a, b)
        return _PLAIN[type(node.op)](a, b)

    def on_BoolOp(self, node):
        stop = isinstance(node.op, ast.Or)
        for part in node.values:
            x = self.value(part)
            if bool(x) == stop:
                return x
        return x

    def on_Compare(self, node):
        left, right = self.value(node.left), self.value(node.comparators[0])
        return _COMPARE[type(node.ops[0])](left, right)

    def on_IfExp(self, node):
        return self.value(node.body if self.value(node.test) else node.orelse)

    def on_Subscript(self, node):
        x = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            low = self.value(node.slice.lower) if node.slice.lower else None
            high = self.value(node.slice.upper) if node.slice.upper else None
            return x[low:high]
        return x[self.value(node.slice)]

    def on_Attribute(self, node):
        x = self.value(node.value)
        if node.attr not in METADATA:
            raise FormulaError(f"attribute {node.attr!r}")
        return tuple(x.shape) if node.attr == "shape" else getattr(x, node.attr)

    def on_Call(self, node):
        f = node.func
        kwargs = {k.arg: self.value(k.value) for k in node.keywords}
        if isinstance(f, ast.Attribute):
            if f.attr in METADATA_CALLS:
                return getattr(self.value(f.value), f.attr)()
            return self.operate(f.attr, self.value(f.value), *map(self.value, node.args), **kwargs)
        args = [self.value(a) for a in node.args]
        if f.id == "len":
            return len(args[0])
        if f.id in BUILTINS:
            return getattr(self.evaluator.functions, f.id)(*args)
        return self.operate(f.id, *args, **kwargs)

    def operate(self, name, *args, **kwargs):
        """The operator `name`: its first overload that takes these arguments."""
        for record in fitting(self.evaluator.records.get(name, ()), len(args)):
            values = self.evaluator.bind(record, args, kwargs)
            if values is not None:
                return self.evaluator.call(record, values)
        raise FormulaError(f"no operator {name!r} takes these arguments: {args}")
