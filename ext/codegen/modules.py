"""Puts the generated operators together: one Cython module per family.

Formulas call other operators through `T`, a struct of C function pointers (see linkage.py), so families
may use each other without importing each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ext.codegen.kernel_runs import kernel_slots, registration
from ext.codegen.linkage import Entry, entries_of, kernel_numbers, publication, table_of
from ext.codegen.module_head import head_of
from ext.codegen.operators import Operator
from ext.codegen.python_forms import (
    dunder_forms,
    function_form,
    inplace_form,
    inplace_overload_form,
    overload_form,
)


def needs_loop(r: Any) -> bool:
    """Whether a vmap rule of the record calls its Python form."""
    rules = r.vmap.values() if isinstance(r.vmap, dict) else [r.vmap]
    return any(type(x).__name__ in ("loop", "randomly", "by_hand") for x in rules)


def positional_form(r: Any, form: str) -> list[str]:
    """A Python form that takes all arguments in their order, for loops over examples."""
    given = ", ".join(f"{a.name}={a.name}" if a.keyword else a.name for a in r.args)
    names = ", ".join(a.name for a in r.args)
    return ["", f"def each_{r.key}({names}):", f"    return {form}({given})"]


def inplace_forms(name: str, group: Sequence[Any]) -> list[str]:
    """The in-place function of a name; overloads get private ones behind it."""
    if not any(r.inplace for r in group):
        return []
    if len(group) == 1:
        return inplace_form(group[0], f"{name}_")
    lines = []
    for r in group:
        lines += inplace_form(r, f"form_{r.key}_", bound=True)
    return lines + inplace_overload_form(name, group)


def event_names(events: Sequence[tuple[str, str]]) -> list[str]:
    """Lines that give the names of a module's events their numbers."""
    if not events:
        return []
    lines = [f'    "{name}\\n"' for _, name in events]
    lines[-1] = lines[-1].replace('\\n"', '"')
    return ["cdef int E = events(", *lines, ")"]


def flops_rule(r: Any, number: str) -> str:
    """The line that tells the recorder how to count a record's operations."""
    args = ", ".join(a.name for a in r.args)
    return f"_set_flops({number}, lambda {args}: {r.flops})"


def alias_lines(group: Sequence[Any], register: list[str], exported: list[str]) -> list[str]:
    """Other names of a function, its method and its in-place form."""
    lines, first = [], group[0]
    for alias in first.aliases:
        pairs = [(alias, first.name)]
        pairs += [(f"{alias}_", f"{first.name}_")] if any(r.inplace for r in group) else []
        for name, target in pairs:
            lines += ["", f"{name} = {target}"]
            if first.function:
                exported.append(name)
            if first.method:
                register.append(f'install(Tensor, "{name}", {name})')
    return lines


def family_module(
    family: str, records: Sequence[Any], by_name: Mapping[str, list], entries: Mapping[str, Entry]
) -> str:
    """The Cython source of one family."""
    constants: dict[str, str] = {}
    imports: dict[str, set[str]] = {}
    body: list[str] = []
    register: list[str] = []
    exported: list[str] = []
    results: dict[str, tuple[str, ...]] = {}
    classes: set[str] = set()
    events: list[tuple[str, str]] = []

    def class_of(r: Any, name: str) -> str:
        """Two records may share a node name (gelu): the class of the second gets a suffix."""
        if name in classes:
            suffixed = f"{name}_{r.key}"
            register.append(f'name_class({suffixed}, b"autograd_cy._C.ops_{family}.{name}")')
            return suffixed
        classes.add(name)
        return name

    for r in records:
        nodes = [r.node, *r.variants]
        of_name = {n: class_of(r, n) if isinstance(r.vjp, dict) else n for n in nodes}
        body += Operator(r, by_name, constants, imports, of_name, events).text()
        if r.flops:
            register.append(flops_rule(r, f"E + {events.index((r.key, r.event_name))}"))
        if len(r.returns) > 1 and r.named:
            results[r.name] = r.returns
    groups: dict[str, list] = {}
    for r in records:
        groups.setdefault(r.name, []).append(r)
    forms: list[str] = []
    for name, group in groups.items():
        if len(group) == 1:
            forms += function_form(group[0], name)
        else:
            for r in group:
                forms += function_form(r, f"form_{r.key}", bound=True)
            forms += overload_form(name, group)
        public = not name.startswith("_")
        for r in group:
            if needs_loop(r):
                form = name if len(group) == 1 else f"form_{r.key}"
                if any(a.keyword for a in r.args):
                    forms += positional_form(r, form)
                    form = f"each_{r.key}"
                register.append(f'_register_operator("{r.key}", {form})')
        if group[0].function and public:
            exported.append(name)
        if group[0].method and public:
            register.append(f'install(Tensor, "{name}", {name})')
        forms += inplace_forms(name, group)
        if any(r.inplace for r in group) and public:
            if group[0].method:
                register.append(f'install(Tensor, "{name}_", {name}_)')
            if group[0].function:
                exported.append(f"{name}_")
        forms += alias_lines(group, register, exported)
        for r in group:
            lines, reg = dunder_forms(r)
            forms += lines
            register += reg
    named = [f'{n}_result = _namedtuple("{n}", {tuple(o)!r})' for n, o in results.items()]
    consts = [f"cdef Tensor {k} = {v}" for k, v in sorted(constants.items())]
    written = "\n".join([*body, *forms])
    register += registration(records)
    names = event_names(events)
    after = "\n".join([*kernel_slots(records), *register, *consts, *named, *names, written])
    parts = [
        head_of(family, imports, after),
        *kernel_numbers(written),
        *table_of(f"ops_{family}", written, entries),
        "\n".join(consts),
        "\n".join(named),
        *names,
        *kernel_slots(records),
        written,
        "",
        *publication(entries_of(records)),
        "\n".join(register),
        "",
        f"__all__ = {exported!r}",
        "",
    ]
    return "\n".join(parts)
