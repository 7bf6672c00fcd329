"""Write the operators of the interpreted tier: Python modules instead of Cython ones.

A record says ``tier="interpreted"``; what it means is the same. For each family with such records a
module autograd_cy/_interpreted/<family>.py is written: the formulas as Python functions, an
`Operation` (ext/engine/interpreted.pyx) that knows what is saved for which, and the public
functions. The modules are loaded when one of their names is first used; `index` says which those
are.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ext.codegen.kernel_runs import slots_of
from ext.codegen.linkage import entries_of
from ext.codegen.operations import Family, Operation, is_interpreted
from ext.codegen.python_forms import docstring, python_name, separate_sizes, with_public_names
from ext.codegen.table import records_by_name
from ext.codegen.vocabulary import arg_type, in_place_text

HEAD = '''"""Operators of the family "{family}"; written from autograd_cy/ops/{family}.py by
ext/codegen, do not edit."""

# ruff: noqa
from builtins import bool as _bool

import numpy as np

from autograd_cy._C import arguments as _arguments, recorder as _recorder, interpreted as _runtime, interpreted_arguments as _given, interpreted_kernels as _kernels, {modules}
from autograd_cy._C.batching import _register_operator
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.linking import named_results as _named_results
from autograd_cy._C.metadata import _wrapped
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import _functions, _host
from autograd_cy._tensors.public import autocast_policy as _autocast_policy, public as _public
'''
# Name -> module and name there.
Places: TypeAlias = "dict[str, tuple[str, str]]"
# What converts arguments whose C value says nothing to Python.
IN_PYTHON = {"dtype_arg": "_given.dtype_value", "format_arg": "_given.format_value"}


# --- Python forms ---------------------------------------------------------------------------------


class Forms:
    """The public functions of one record."""

    def __init__(self, record: Any, family: Family):
        self.r = record
        self.operation = Operation(record, family)
        self.composite = self.operation.kind == "composite"

    def converted(self, i: int, form: str = "") -> str:
        """The text that converts argument `i`."""
        r, a = self.r, self.r.args[i]
        name = python_name(a, i)
        if form and i == 0:
            return f"_arguments.tensor_arg({name}, {self.said + form!r}, {name!r}, {int(r.call.function)})"
        return self.conversion(
            a, name, 0 if a.keyword else i + int(r.call.function and form != "_"), form
        )

    def conversion(self, a: Any, name: str, position: int, form: str = "") -> str:
        kind = arg_type(a.type)
        if kind.converter is None:
            return name
        convert = IN_PYTHON.get(kind.converter, f"_arguments.{kind.converter}")
        words = f", {kind.words!r}" if kind.words else ""
        text = f"{convert}({name}, {self.said + form!r}, {name!r}, {position}{words})"
        if kind.optional:
            text = f"{'False' if a.type == 'bool?' else 'None'} if {name} is None else {text}"
        return text

    @property
    def said(self) -> str:
        """The operator in errors about its arguments."""
        return str(self.r.said)

    def arguments(self, form: str = "") -> list[str]:
        """Lines that convert the arguments and check them."""
        r = self.r
        star = separate_sizes(r)
        texts = [self.converted(i, form) for i in range(len(r.args))]
        if star and not form:
            texts[1] = f"_given.sizes_given({star}_, {star}, {self.said!r}, {star!r})"
        lines = [f"    args = ({''.join(f'{text}, ' for text in texts)})"]
        if [a.type for a in r.args[:2]] == ["operand"] * 2 and not form:
            first, second = (python_name(a, i) for i, a in enumerate(r.args[:2]))
            lines.append(
                f"    args = _given.alone(args, {first}, {second}, {self.said!r}, {second!r}, {r.call.two_numbers})"
            )
        if self.composite and self.operation.dims():
            lines.append(f"    args = _given.known_arguments({self.operation.dims()!r}, args)")
        if r.call.checks:
            lines.append(f"    _check_{r.key}(*args)")
        return lines

    def options(self, form: str = "") -> list[str]:
        """Write the calls of options: another record is called with the value as last argument."""
        lines = []
        for a, key in self.r.call.options:
            record = next(
                r for rs in self.operation.family.by_symbol.values() for r in rs if r.key == key
            )
            out = ", out=out" if self.r.call.out and not form else ""
            call = f"{self.operation.family.module_of(record)}.{record.name}{form}"
            lines += [
                f"    if {a.name} {'is not' if a.default == 'None' else '!='} {a.default}:",
                f"        return {call}(*args, {self.conversion(a, a.name, 0, form)}{out})",
            ]
        return lines

    def function(self, name: str) -> list[str]:
        """The public function."""
        r = self.r
        has_out = r.call.out or r.outs
        extra = [("out", out_text(r))] if has_out else []
        shown = [
            (a.name, f"{arg_type(a.type).text}, default {a.default}") for a, _ in r.call.options
        ]
        lines = self.head(name, ["out=None"] if has_out else [], docstring(r, [*shown, *extra]))
        lines += [*self.arguments(), *self.options()]
        kind = repr(r.call.out if isinstance(r.call.out, str) else "cast")
        if has_out:
            call = f"_runtime.run_out(_operation_{r.key}, args, out)"
            if self.composite:
                call = f"_runtime.composite_out(_event_{r.key}, _composite_{r.key}, args, out, {kind}, {r.call.wide_out}, {self.operation.composite_takes_out}, {r.shown!r})"
            lines += ["    if out is not None:", f"        return {self.named(call)}"]
        call = (
            f"_runtime.run_composite(_event_{r.key}, _composite_{r.key}, args)"
            if self.composite
            else f"_runtime.run_operation(_operation_{r.key}, args)"
        )
        return [*lines, f"    return {self.named(call)}"]

    def named(self, call: str) -> str:
        several = len(self.r.returns) > 1 and self.r.call.named
        return f"{self.r.symbol}_result(*{call})" if several else call

    def head(self, name: str, extra: list[str], text: list[str]) -> list[str]:
        r, parts = self.r, []
        star = separate_sizes(r) if not name.endswith("_") else None
        for i, a in enumerate(r.args):
            shown = python_name(a, i)
            if a.keyword and "*" not in parts:
                parts.append("*")
            parts += (
                [f"*{shown}_", f"{shown}=None"]
                if shown == star
                else [shown + ("" if a.default is None else f"={a.default}")]
            )
        extra = [f"{a.name}={a.default}" for a, _ in r.call.options] + extra
        if extra and "*" not in parts and not star:
            parts.append("*")
        return [
            "",
            "",
            f"def {name}({', '.join(parts + extra)}):",
            '    """',
            *("    " + line if line else "" for line in text),
            '    """',
        ]

    def inplace(self, name: str) -> list[str]:
        """The in-place function."""
        r = self.r
        lines = self.head(name, [], in_place_text(r.name, "\n".join(docstring(r))).split("\n"))
        lines += [*self.arguments("_"), *self.options("_")]
        if self.composite:
            return [
                *lines,
                f"    return _runtime.composite_inplace(_event_{r.key} + 1, _composite_{r.key}, args, {r.shown + '_'!r})",
            ]
        return [*lines, f"    return _runtime.run_inplace(_operation_{r.key}, args)"]


def out_text(r: Any) -> str:
    return "Tensor, optional" if len(r.returns) == 1 else "tuple of Tensors, optional"


# --- modules --------------------------------------------------------------------------------------


def groups_of(records: list) -> dict[str, list]:
    """The interpreted records of a family by name."""
    return records_by_name(r for r in records if is_interpreted(r))


def family_module(name: str, records: list, by_symbol: dict) -> str:
    """The Python source of the interpreted records of one family."""
    family = Family(name, by_symbol)
    lines, forms, exported = [], [], []
    for public, group in groups_of(records).items():
        parts = [Forms(r, family) for r in group]
        for one in parts:
            lines += one.operation.text()
        names = [public]
        if len(group) == 1:
            forms += parts[0].function(public)
        else:
            for one in parts:
                forms += [
                    *one.function(f"form_{one.r.key}"),
                    f"form_{one.r.key}.__qualname__ = {public!r}",
                ]
            forms += overloaded(public, group)
        if any(r.call.inplace for r in group):
            names.append(f"{public}_")
            if len(group) == 1:
                forms += parts[0].inplace(f"{public}_")
            else:
                for one in parts:
                    form = f"form_{one.r.key}_"
                    forms += [*one.inplace(form), f"{form}.__qualname__ = {public + '_'!r}"]
                forms += overloaded(public, group, "_")
        if not public.startswith("_"):
            autocast = group[0].call.autocast
            forms += [f"_autocast_policy({autocast!r})({public})"] if autocast else []
            forms += ["", *(f"{n} = _public({n})" for n in names)]
        pairs = [
            (alias + n.removeprefix(public), n) for alias in group[0].call.aliases for n in names
        ]
        forms += [f"{alias} = {n}" for alias, n in pairs if alias != n]
        names += [alias for alias, n in pairs if alias != n]
        if group[0].call.function and not public.startswith("_"):
            exported += names
    used = sorted(m for m in family.modules if m.startswith("ops_"))
    others = sorted(m for m in family.modules if m.startswith("interpreted_"))
    modules = ", ".join(f"{m} as _{m}" for m in used) or "tensor as _tensor"
    text = [HEAD.format(family=name, modules=modules)]
    # By way of the package, because these may refer to each other.
    text += [f"_{m} = _host.module({m.removeprefix('interpreted_')!r})" for m in others]
    return "\n".join([*text, *lines, *forms, "", f"__all__ = {exported!r}", ""])


def overloaded(name: str, group: list, form: str = "") -> list[str]:
    """One function over several records; the first whose `when` holds is called."""
    text = docstring(group[0], others=group[1:])
    if form:
        text = in_place_text(name, "\n".join(text)).split("\n")
    lines = [
        "",
        "",
        f"def {name}{form}(*args, **kwargs):",
        '    """',
        *("    " + line if line else "" for line in text),
    ]
    for r in group[1:] if not form else ():
        shown = ", ".join(
            python_name(a, i) + ("" if a.default is None else f"={a.default}")
            for i, a in enumerate(r.args)
        )
        lines += [
            "",
            f"    **{name}({shown})**: {with_public_names(r.presentation.doc.splitlines()[0])}",
        ]
    lines.append('    """')
    default = next(r for r in group if r.call.when is None)
    known = sorted(
        {python_name(a, i) for r in group for i, a in enumerate(r.args)}
        | ({"out"} if not form else set())
    )
    for r in group:
        if r.call.when is not None:
            lines += [
                f"    if {r.call.when}:",
                f"        return form_{r.key}{form}(*args, **kwargs)",
            ]
    return [
        *lines,
        f"    return form_{default.key}{form}(*args, **kwargs)",
        "",
        f"{name}{form}._names = {known!r}",
    ]


def enter_names(
    module: str, group: list, functions: Places, methods: Places, spaces: dict[str, Places]
) -> None:
    """Enter the names of one operator that are looked up when they are first used."""
    first = group[0]
    names = [first.name, *([f"{first.name}_"] if any(r.call.inplace for r in group) else [])]
    inside = {n: (module, n) for n in names}
    aliases = [
        *first.call.aliases,
        *(f"{a}_" for a in first.call.aliases if any(r.call.inplace for r in group)),
    ]
    outside = {alias: (module, alias) for alias in aliases}
    if first.call.function:
        for namespace in [first.namespace, *first.call.also]:
            if namespace:
                spaces.setdefault(namespace, {}).update(inside)
    if not first.later:
        return  # the rest is there when the package is imported
    if first.call.function:
        functions.update(outside if first.namespace else inside | outside)
    if first.call.method:
        methods.update(outside if first.namespace else inside | outside)


def index(families: dict) -> str:
    """The module that says where the names of operators are that are found at the first use."""
    functions: Places = {}
    methods: Places = {}
    spaces: dict[str, Places] = {}
    everything = [r for records in families.values() for r in records]
    compiled = [r for r in everything if r.tier == "compiled"]
    at_import = dict.fromkeys(f"ops_{r.file}" for r in compiled if not r.later)
    for tier in ("compiled", "interpreted"):
        for family, records in families.items():
            module = f"ops_{family}" if tier == "compiled" else family
            own = [r for r in records if r.tier == tier]
            for group in records_by_name(own).values():
                if group[0].public:
                    enter_names(module, group, functions, methods, spaces)
    results = {
        r.symbol: f"ops_{r.file}" if r.tier == "compiled" else family
        for family, records in families.items()
        for r in records
        if len(r.returns) > 1 and r.call.named and not r.symbol.startswith("_")
    }
    kernels = {key: form for key, _, form, _ in slots_of(r for r in everything if r.later)}
    later: dict[str, list[str]] = {}
    for r in compiled:
        if r.later:
            later.setdefault(f"ops_{r.file}", []).extend(e.name for e in entries_of([r]))
    return "\n".join(
        [
            '"""Modules of the compiled tier: those of the import, and the operators of those that come later; names that are found',
            'at the first use -> (module, name there). Written by ext/codegen, do not edit."""',
            "",
            "# ruff: noqa",
            f"COMPILED = {[*at_import]!r}",
            f"LATER: dict[str, str] = { {name: ' '.join(keys) for name, keys in later.items()}!r}",
            f"FUNCTIONS = {functions!r}",
            f"METHODS = {methods!r}",
            f"NAMESPACES = {spaces!r}",
            f"RESULTS = {dict(sorted(results.items()))!r}",
            f"KERNELS: dict[str, str] = {kernels!r}",
            "",
        ]
    )
