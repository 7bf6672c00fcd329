"""Pointers to operators: who publishes which, and the struct `T` of each module that calls some.

A module, written by hand or generated, calls operators as `T.mul(a, b)`. Its `T` holds those that
its text names; ext/core/linking.pyx fills it when the package is imported. The table of all
operators (`optable.pxd`) is for programs that cimport it, nothing of the package depends on it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ext.codegen.formula import FormulaError
from ext.codegen.vocabulary import arg_type

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Record

# Plain letters first: that is what `re` finds quickly, and what stands before is looked at after.
_CALL = re.compile(r"T\.(?<![\w.]T\.)(\w+)")
_KERNEL = re.compile(r"K_(?<!\wK_)[A-Z0-9_]+\b")
_INCLUDE = re.compile(r'^include "operators_of_(\w+)\.pxi"$', re.M)
_PART = re.compile(r'^include "([^"]+)"$', re.M)


@dataclass(frozen=True)
class Entry:
    """The C signature of one operator."""

    name: str
    returns: str
    parameters: str  # types, separated by commas
    family: str = ""  # that is loaded at first use; "" is loaded with the package

    @property
    def signature(self) -> str:
        return f"{self.returns} {self.name}({self.parameters})"

    @property
    def member(self) -> list[str]:
        """The member of a struct, in lines of at most 100 characters."""
        text = f"    {self.returns} (*{self.name})({self.parameters})"
        if len(text) <= 100:
            return [text]
        head, _, parameters = text.rpartition("(")
        rows = textwrap.wrap(parameters, 100, initial_indent=" " * 8, subsequent_indent=" " * 8)
        return [f"{head}(", *rows]


# Written by hand in ext/engine/inplace.pyx, because the rules of in-place operations rest on them.
BY_HAND = (Entry("copy_", "Tensor", "Tensor, Tensor"), Entry("detach", "Tensor", "Tensor"))


def entries_of(records: Iterable[Record]) -> list[Entry]:
    """List the entries that a family publishes."""
    entries = []
    for r in records:
        parameters = ", ".join(arg_type(a.type).c for a in r.args)
        several = len(r.returns) > 1 or r.returns == ("*",)
        family = r.file if r.later else ""
        result = "tuple" if several else "Tensor" if r.returns else "object"
        entries.append(Entry(r.key, result, parameters, family))
        if r.call.inplace:
            entries.append(Entry(f"{r.key}_", "Tensor", parameters, family))
        if r.fresh:
            entries.append(Entry(f"{r.key}_fresh", "Tensor", f"{parameters}, str, str", family))
        if r.call.out and not several:
            entries.append(Entry(f"{r.key}_out", "Tensor", f"{parameters}, Tensor", family))
    return entries


def all_entries(families: Mapping[str, Iterable[Record]]) -> dict[str, Entry]:
    """Every operator with a C function, by name."""
    entries = [entry for records in families.values() for entry in entries_of(records)]
    return {entry.name: entry for entry in [*entries, *BY_HAND]}


def _signatures(entries: Iterable[Entry]) -> list[str]:
    """A Cython string of all signatures, in parentheses and one a line."""
    lines = [f'    "{entry.signature}\\n"' for entry in entries]
    lines[-1] = lines[-1].replace('\\n"', '"')
    return ["(", *lines, ")"]


def table_of(module: str, text: str, entries: Mapping[str, Entry]) -> list[str]:
    """Lines that declare the `T` of a module with what its text calls, and have it filled."""
    used = [entries[name] for name in sorted(set(_CALL.findall(text))) if name in entries]
    if not used:
        return []
    families = {entry.family for entry in entries.values()} - {""}
    if not belongs(module, families):
        for entry in used:
            if entry.family:
                raise FormulaError(
                    f"{module} is loaded with the package and calls {entry.name!r}, which is loaded "
                    f"at first use, with the family {entry.family!r}"
                )
    return [
        "from autograd_cy._C.linking cimport link as _link",
        "",
        "cdef struct Operators:",
        *(line for entry in used for line in entry.member),
        "",
        "cdef Operators T",
        f'_link("{module}", <void**>&T, ' + "\n".join(_signatures(used)) + ")",
    ]


def belongs(module: str, families: Iterable[str]) -> bool:
    """Return whether a module is loaded with one of these families: its operators, or what its name
    begins with."""
    return any(module == f"ops_{family}" or module.startswith(f"{family}_") for family in families)


def publication(entries: list[Entry]) -> list[str]:
    """Lines of a family module that hand out its operators."""
    if not entries:
        return []
    return [
        f"cdef void* _published[{len(entries)}]",
        *(f"_published[{i}] = <void*>c_{entry.name}" for i, entry in enumerate(entries)),
        "_publish(_published, " + "\n".join(_signatures(entries)) + ")",
    ]


def kernel_numbers(text: str) -> list[str]:
    """Lines that look up the numbers of the elementwise kernels that a text uses."""
    names = sorted(set(_KERNEL.findall(text)))
    return [f'cdef int {name} = kernel_number("{name[2:].lower()}")' for name in names]


def tables_by_hand(folder: Path, entries: Mapping[str, Entry]) -> dict[str, str]:
    """{name of a .pxi: its text} for the sources under `folder` that include such a file."""
    tables = {}
    for path in sorted(folder.rglob("*.pyx")):
        text = path.read_text(encoding="utf-8")
        module = _INCLUDE.search(text)
        if module is None:
            continue
        parts = [path.parent / name for name in _PART.findall(text)]
        text += "".join(part.read_text(encoding="utf-8") for part in parts if part.exists())
        head = ["# Generated by ext/codegen/linkage.py: the operators that the module calls."]
        name = f"operators_of_{module[1]}.pxi"
        tables[name] = "\n".join([*head, *table_of(path.stem, text, entries), ""])
    return tables


def public_table(entries: Mapping[str, Entry]) -> tuple[str, str]:
    """(pxd text, pyx text) of the struct of all operators, for programs that cimport it."""
    head = [
        "# cython: language_level=3",
        "# Generated by ext/codegen from the operator table; do not edit.",
    ]
    pxd = [
        *head,
        '"""C-level entry of every operator: `T.mul(a, b)` records like its Python form."""',
        "from autograd_cy._C.tensor cimport Tensor",
        "",
        "cdef struct OpTable:",
        *(line for entry in entries.values() for line in entry.member),
        "",
        "cdef OpTable T",
        "",
    ]
    pyx = [
        *head,
        '"""Pointers to all operators; loaded by programs that cimport it."""',
        "from autograd_cy._C.linking cimport link",
        "from autograd_cy._C.tensor cimport Tensor  # the build sees what it depends on",
        "",
        'link("optable", <void**>&T, ' + "\n".join(_signatures(entries.values())) + ")",
        "",
    ]
    return "\n".join(pxd), "\n".join(pyx)
