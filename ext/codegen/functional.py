"""Write the functions of ``nn.functional`` that add options to an operator.

A record says ``functional="relu(input, inplace)"``: the function has these parameters and calls the
operator, or its in-place form; with ``reduction`` it gives the operator the number or the name of it.
Without such options it calls the method, as in torch.
The text comes from the row of the layer that calls the function (autograd_cy/ops/layers/), so that an
activation is one record and one row.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ext.codegen import layers
from ext.codegen.table import ROOT, importable
from ext.codegen.vocabulary import in_place_text

HEAD = '''"""Functions that add options to an operator, as their records say by ``functional=``.

Written by ext/codegen/functional.py; do not edit.
"""

# ruff: noqa
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._interpreted import Family
from autograd_cy._tensors.public import autocast_policy, forward_to, public
'''
# Where the statements of rows find what they call.
ARGUMENTS = "autograd_cy.nn.functional._arguments"
# Types of records as annotations, and in docstrings.
KINDS = {"Scalar": "float", "Tensor?": "Tensor | None"}
# Parameters that no operator has.
OPTIONS = ("inplace", "out", "size_average", "reduce", "_stacklevel")
REDUCTIONS = {"int": ("reduction_code", "code"), "str": ("reduction_name", "reduction")}


def module_text(families: dict) -> str:
    """The module with all functions of the records."""
    known = layers.rows_by_name(layers.load())
    chosen = [r for records in families.values() for r in records if r.call.functional]
    with importable():
        functions = [FunctionText(record, known) for record in chosen]
    used = sorted({f.family for f in functions if f.family})
    body = "\n".join(line for function in functions for line in function.lines())
    lines = [
        HEAD + imported(body),
        f"__all__ = {sorted(n for f in functions for n in f.names)!r}",
        "",
    ]
    lines += [f'_{name} = Family("{name}")' for name in used]
    return "\n".join([*lines, body]) + "\n"


def imported(body: str) -> str:
    """The import of the functions of `ARGUMENTS` that the body calls."""
    path = ROOT.joinpath(*ARGUMENTS.split(".")).with_suffix(".py")
    there = {
        f.name
        for f in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(f, ast.FunctionDef)
    }
    called = {f.id for f in ast.walk(ast.parse(body)) if isinstance(f, ast.Name)}
    return f"from {ARGUMENTS} import {', '.join(sorted(there & called))}\n"


class FunctionText:
    """The text of one function, and of its in-place form if that has a name of its own."""

    def __init__(self, record: Any, known: dict):
        head, _, own = record.call.functional.partition(")")
        self.record, self.own_inplace = record, bool(own.strip())
        self.name, _, inside = head.partition("(")
        self.row = next(row for row in known.values() if row.function == self.name)
        self.options = layers.ClassText(self.row, known).options  # of the layer
        types = {a.name: typed(a) for a in record.args if a.name != "reduction"}
        self.parameters = layers.schema().parse_options(inside, types)
        names = {p.name for p in self.parameters}
        self.inplace, self.older = "inplace" in names, "reduce" in names
        self.family = "" if record.public else f"ops_{record.file}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, f"{self.name}_") if self.own_inplace else (self.name,)

    def lines(self) -> Iterator[str]:
        yield from ("", "", self.decorator())
        yield from self.definition(self.name, self.parameters, self.docstring())
        yield from layers.indented(self.row.function_start.splitlines())
        yield from self.call(self.arguments())
        if self.own_inplace:
            parameters = [p for p in self.parameters if p.name != "inplace"]
            text = in_place_text(self.name, "\n".join(self.docstring(parameters)))
            yield from ("", "", "@public")
            yield from self.definition(f"{self.name}_", parameters, text.split("\n"))
            yield f"    return {self.operator('_')}({', '.join(self.arguments())})"

    def definition(self, name: str, parameters: Any, text: list[str]) -> Iterator[str]:
        texts = layers.signature(parameters)
        yield from layers.wrapped(f"def {name}(", texts, ") -> Tensor:")
        yield from layers.indented(layers.quoted(text))

    # --- calling --------------------------------------------------------------------------------

    @property
    def forwards(self) -> bool:
        """True if the operator dispatches in place of the function: it has the same arguments."""
        codes = any(a.name == "reduction" and a.type == "int" for a in self.record.args)
        return self.record.public and not codes and len(self.pairs()) == len(self.operands())

    @property
    def by_method(self) -> bool:
        """True if the function adds nothing: then the method dispatches in place of it."""
        return not any(p.name in (*OPTIONS, "reduction") for p in self.parameters)

    def decorator(self) -> str:
        if self.by_method:
            return "@public(forwards=())"
        policy = self.record.call.autocast
        if policy and not self.record.public:  # else it is that of the operator with the same name
            return f'@public\n@autocast_policy("{policy}")'
        if not self.forwards:
            return "@public"
        names = self.record.name + (f" {self.record.name}_" if self.inplace else "")
        renames = {a.name: p for a, p in self.pairs() if p not in (a.name, "input")}
        return f'@public(forwards="{names}"' + (f", renames={renames!r})" if renames else ")")

    def operator(self, form: str = "") -> str:
        if self.by_method:
            return f"{self.parameters[0].name}.{self.record.name}"
        place = f"_{self.family}" if self.family else "_operators"
        return f"{'forward_to' if self.forwards else place}.{self.record.name}{form}"

    def operands(self) -> list[str]:
        """The parameters of the function that operators may have."""
        return [p.name for p in self.parameters if p.name not in OPTIONS]

    def pairs(self) -> list[tuple[Any, str]]:
        """The arguments of the record that the function has, each with the parameter's name."""
        names = self.operands()
        theirs = {a.name for a in self.record.args}
        others = iter([name for name in names if name not in theirs])
        pairs = [(a, a.name if a.name in names else next(others, "")) for a in self.record.args]
        return [(a, name) for a, name in pairs if name]

    def arguments(self) -> list[str]:
        texts = []
        for a, name in self.pairs():
            value = name
            if name == "reduction":
                function, value = REDUCTIONS[a.type]
                if f"{value} = " not in self.row.function_start:
                    older = "size_average, reduce" if self.older else "None, None"
                    value = f"{function}({older}, reduction)"
            texts.append(f"{a.name}={value}" if a.keyword else value)
        if any(p.name == "out" for p in self.parameters):
            texts.append("out=out")
        return texts[1:] if self.by_method else texts

    def call(self, arguments: list[str]) -> list[str]:
        if not self.inplace:
            return layers.wrapped(f"    return {self.operator()}(", arguments, ")")
        inside = ", ".join(arguments)
        changed = f"return {self.operator('_')}({inside})"
        plain = f"return {self.operator()}({inside})"
        one = f"    {changed} if inplace else {plain.removeprefix('return ')}"
        if len(one) <= 100:
            return [one]
        return ["    if inplace:", f"        {changed}", f"    {plain}"]

    # --- docstring ------------------------------------------------------------------------------

    def docstring(self, parameters: Any = None) -> list[str]:
        row = self.row
        says = row.function_doc.strip() or f"Return {row.doc[0].lower()}{row.doc[1:]}"
        lines = [*says.split("\n"), "", "Parameters", "----------"]
        texts = {**layers.each_name(row.texts), **layers.each_name(row.function_texts)}
        shown = [p for p in parameters or self.parameters if not p.name.startswith("_")]
        lines += layers.parameter_lines(row, tuple(shown), texts)
        lines += ["", "Returns", "-------", "Tensor"]
        raises = row.function_raises or row.raises or dict(self.record.presentation.raises)
        if raises:
            lines += ["", *layers.raises_lines(raises)]
        lines += ["", "Examples", "--------", ">>> import autograd_cy as torch"]
        return lines + [self.example(line) for line in row.example.split("\n")]

    def example(self, line: str) -> str:
        """A line of the layer's session, with a call of the function in place of the layer's."""
        if f"torch.nn.{self.row.name}(" not in line:
            return line
        tree = LayerCalls(self).visit(ast.parse(line.removeprefix(">>> ")))
        return ">>> " + ast.unparse(tree).replace("'", '"')


def typed(a: Any) -> str:
    """The annotation and default of an argument of a record."""
    text = KINDS.get(a.type, a.type)
    return text if a.default is None else f"{text} = {a.default}"


class LayerCalls(ast.NodeTransformer):
    """Put calls of a function in place of those of its layer, ``torch.nn.Layer(options)(input)``."""

    def __init__(self, function: FunctionText):
        self.function = function

    def visit_Call(self, node: ast.Call) -> ast.AST:
        call: Any = node.func
        evaluated = ast.unparse(call).endswith(".eval()")
        if evaluated:
            call = call.func.value
        if not (isinstance(call, ast.Call) and ast.unparse(call.func).startswith("torch.nn.")):
            return self.generic_visit(node)
        named = zip(self.function.options, call.args)
        keywords = [ast.keyword(o.name, value) for o, value in named]
        keywords += call.keywords
        training = [p for p in self.function.parameters if p.name == "training"]
        if evaluated and training and training[0].default == "True":
            keywords.append(ast.keyword("training", ast.Constant(False)))
        name = ast.parse(f"torch.nn.functional.{self.function.name}", mode="eval").body
        return ast.Call(name, node.args, keywords)
