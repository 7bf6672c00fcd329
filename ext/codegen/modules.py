"""Put the generated operators together: one Cython module per family.

Formulas call other operators through `T`, a struct of C function pointers (see linkage.py), so
families may use each other without importing each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ext.codegen.formula import FormulaError
from ext.codegen.kernel_runs import kernel_slots, registration
from ext.codegen.linkage import Entry, entries_of, kernel_numbers, publication, table_of
from ext.codegen.module_head import head_of
from ext.codegen.operator_base import Operator
from ext.codegen.operators import text_of_operator
from ext.codegen.python_forms import Forms, dunder_forms, literal
from ext.codegen.table import records_by_name

# What _tensors/namespace.py does with the functions of families that are there when it is imported.
INTERCEPTING = (
    "from autograd_cy._C.overrides import _intercept",
    "for _name, _form in FORMS.items():",
    '    if not _name.startswith("_"):',
    "        _intercept(_form)",
)


def needs_loop(r: Any) -> bool:
    """Return whether a vmap rule of the record calls its Python form."""
    rules = r.batching.vmap.values() if isinstance(r.batching.vmap, dict) else [r.batching.vmap]
    return any(type(x).__name__ in ("loop", "randomly", "by_hand") for x in rules)


def event_names(events: Sequence[tuple[str, str]]) -> list[str]:
    """Lines that give the names of a module's events their numbers."""
    if not events:
        return []
    lines = [f'    "{name}\\n"' for _, name in events]
    lines[-1] = lines[-1].replace('\\n"', '"')
    return ["cdef int E = events(", *lines, ")"]


WINDOWS = "from autograd_cy._C.recorder import _windows as windows"


def flops_rule(r: Any, number: str) -> str:
    """The line that tells the recorder how to count a record's operations."""
    args = ", ".join(a.name for a in r.args)
    return f"_set_flops({number}, lambda {args}: {r.presentation.flops})"


def alias_lines(group: Sequence[Any], register: list[str], exported: list[str]) -> list[str]:
    """Other names of a function, its method and its in-place form."""
    lines, first = [], group[0]
    for alias in first.call.aliases:
        pairs = [(alias, first.name)]
        pairs += [(f"{alias}_", f"{first.name}_")] if any(r.call.inplace for r in group) else []
        for name, target in pairs:
            lines.append(f'{name} = FORMS["{target}"]')
            if first.call.function:
                exported.append(name)
            if first.call.method:
                method = method_of(target, group, "_" * target.endswith("_"))
                register.append(f'install(Tensor, "{name}", {method})')
    return lines


def method_of(name: str, group: Sequence[Any], form: str = "") -> str:
    """
    The text of the form that is the method: that of the only signature that is one, or of all.

    A form in place has positions of a method (`row` of python_forms.py), whatever else it is.
    """
    methods = [r for r in group if r.call.method]
    text = f'FORMS["{name}"]'
    if not form and len(methods) < len(group):
        if len(methods) > 1 or methods[0].later:
            raise FormulaError(
                f"{name}: one of its signatures may be a method, or all, loaded at once"
            )
        text = f'globals()["form_{methods[0].key}"]'
    if form or not group[0].call.function:
        return f"only_method({text})"
    return f'as_method(FORMS, "{name}", {text})'


def kind_lines(family: str, kinds: Sequence[tuple[str, str]]) -> list[str]:
    """Lines that fill the kinds of nodes of a module."""
    if not kinds:
        return []
    return [
        *(f"_kinds[{i}].apply = {apply}" for i, (_, apply) in enumerate(kinds)),
        f'make_kinds(_kinds, b"autograd_cy._C.ops_{family}", (',
        *(f"    b{literal(text)}" for text, _ in kinds),
        "))",
    ]


class PythonSide:
    """The Python functions of a family, and the lines that make them known."""

    def __init__(self, by_name: Mapping[str, list]):
        self.forms = Forms({r.key: r for rs in by_name.values() for r in rs})
        self.register: list[str] = []
        self.exported: list[str] = []
        self.operators: list[str] = []
        self.other_names: list[str] = []

    def add(self, name: str, group: Sequence[Any]) -> None:
        """Add the functions of one name, which may have several signatures."""
        first, public = group[0], not name.startswith("_")
        if any(r.namespace != first.namespace for r in group):
            raise FormulaError(f"{name}: operators of one name and file, but several namespaces")
        # A function of a namespace is found there, a method by an alias only.
        top = public and not first.namespace
        self.forms.add(name, group)
        for k, r in enumerate(group):
            if needs_loop(r):
                form = f'positional(FORMS["{name}"], {k})'
                self.register.append(f'_register_operator("{r.key}", {form})')
        if first.call.function and top:
            self.exported.append(name)
        if first.call.method and top:
            self.register.append(f'install(Tensor, "{name}", {method_of(name, group)})')
        if any(r.call.inplace for r in group):
            self.forms.add(name, group, "_")
            if first.call.method and top:
                self.register.append(
                    f'install(Tensor, "{name}_", {method_of(f"{name}_", group, "_")})'
                )
            if first.call.function and top:
                self.exported.append(f"{name}_")
        self.other_names += alias_lines(group, self.register, self.exported)
        for r in group:
            lines, register = dunder_forms(r)
            self.operators += lines
            self.register += register


def flops_lines(records: Sequence[Any], events: list[tuple[str, str]]) -> list[str]:
    """Lines that tell the recorder how to count operations."""
    counted = [r for r in records if r.presentation.flops]
    lines, windows = [], False
    for r in counted:
        if "windows(" in r.presentation.flops and not windows:
            windows = True
            lines.append(WINDOWS)
        lines.append(flops_rule(r, f"E + {events.index((r.key, r.event_name))}"))
    return lines


def family_module(
    family: str, records: Sequence[Any], by_name: Mapping[str, list], entries: Mapping[str, Entry]
) -> str:
    """The Cython source of one family."""
    constants: dict[str, str] = {}
    imports: dict[str, set[str]] = {}
    kinds: list[tuple[str, str]] = []
    events: list[tuple[str, str]] = []
    body: list[str] = []
    for r in records:
        body += text_of_operator(Operator(r, by_name, constants, imports, kinds, events))
    python = PythonSide(by_name)
    python.register += flops_lines(records, events)
    for name, group in records_by_name(records).items():
        python.add(name, group)
    results = {r.symbol: r.returns for r in records if len(r.returns) > 1 and r.call.named}
    named = [f'{n}_result = _named_results("{n}", {tuple(o)!r})' for n, o in results.items()]
    consts = [f"cdef Tensor {k} = {v}" for k, v in sorted(constants.items())]
    written = "\n".join([*body, *python.forms.lines, *python.operators])
    register = [*python.register, *registration(records)]
    slots, names = kernel_slots(records), event_names(events)
    also = "make_forms make_kinds NodeKind"
    after = "\n".join([*slots, *register, *consts, *named, *names, written, also])
    parts = [
        head_of(family, {r.call.checks for r in records if r.call.checks}, imports, after),
        *kernel_numbers(written),
        *table_of(f"ops_{family}", written, entries),
        "\n".join(consts),
        "\n".join(named),
        *names,
        *slots,
        *([f"cdef NodeKind _kinds[{len(kinds)}]"] if kinds else []),
        written,
        "",
        *publication(entries_of(records)),
        *kind_lines(family, kinds),
        *python.forms.creation(),
        *python.other_names,
        "\n".join(register),
        *(INTERCEPTING if records and records[0].later else ()),
        "",
        f"__all__ = {python.exported!r}",
        "",
    ]
    return "\n".join(parts)
