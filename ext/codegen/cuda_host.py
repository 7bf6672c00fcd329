"""Write cuda_host.pyx: a kernel for each slot of the table that lets the host compute.

Each copies its operands to the host, calls the CPU's kernel of the slot, and copies back what that
writes: the results, the state of a generator, and what the record says by ``mutates``. How that is
done is the same for all (ext/cuda/cuda_mirrors.pyx); here is what differs, the types in C. There is
one function for each signature, and a small one for each slot, which knows its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ext.codegen.kernel_runs import has_shape, is_sized, kernel_args, signature, sizes_signature
from ext.codegen.step_kernels import with_loops

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Record

# What an operand may be: other types are numbers, texts and what one slot leaves for another.
OBJECTS = ("Tensor", "tuple", "object")
# How an operator that is also made of others asks whether the device has a kernel.
_CHECKED_KERNEL = re.compile(r'(?:has_kernel|by_operators)\([^"]*?"(\w+)"')

_TABLE = re.compile(r"^KERNELS = \{\n(.*?)^\}", re.M | re.S)
_KEY = re.compile(r'^    "([\w.]+)":', re.M)

HEAD = '''# cython: language_level=3
"""Kernels that let the host compute for a device; written by ext/codegen/cuda_host.py, do not
edit."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint64_t
from autograd_cy._C.cuda_mirrors cimport Crossing, crossing
from autograd_cy._C.tensor cimport Tensor
from autograd_cy._C.cuda_mirrors import note
'''


class Slot(NamedTuple):
    """One slot: how it is called, and what its kernel writes."""

    key: str
    shown: str  # the operator in messages
    form: str
    results: int
    written: tuple[tuple[int, str], ...]  # (place among the arguments, condition or "")


def composed(folder: Path) -> list[str]:
    """Keys that composites ask for: without a kernel of the device they call other operators."""
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*_composites.pyx")]
    return sorted({key for text in texts for key in _CHECKED_KERNEL.findall(text)})


def device_keys(folder: Path) -> set[str]:
    """Keys of the slots that CUDA devices have kernels for: those in KERNELS of the sources
    there."""
    tables = [
        _TABLE.search(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.pyx"))
    ]
    return {key for table in tables if table for key in _KEY.findall(table[1])}


def own_keys(folder: Path, families: Mapping[str, Iterable[Record]]) -> set[str]:
    """All slots that CUDA devices have kernels for: also those that are made from records."""
    return device_keys(folder) | {r.key for r in with_loops(families)}


def way(r: Record, own: set[str]) -> str:
    """Return the way in which CUDA devices compute an operator: by a "kernel", by its "parts", or
    by the "host"."""
    kind = type(r.kernel).__name__
    if kind == "composite":
        return "parts"
    by_host = kind == "host" or (has_shape(r) and r.key not in own)
    return "host" if by_host else "kernel"


def parameters(form: str) -> list[str]:
    """The types that a signature names."""
    return form.partition("(")[2].removesuffix(")").split(", ")


def slots(families: Mapping[str, Iterable[Record]]) -> list[Slot]:
    """All slots: of records, their sizes, and of what makes ranges."""
    all_slots = [Slot("arange", "arange", "int (Tensor, object, object)", 1, ())]
    for records in families.values():
        for r in records:
            if has_shape(r):
                all_slots.append(Slot(r.key, r.shown, signature(r), len(r.returns), changed(r)))
            if is_sized(r):
                all_slots.append(Slot(f"{r.key}.sizes", r.shown, sizes_signature(r), 0, ()))
    return all_slots


def changed(r: Record) -> tuple[tuple[int, str], ...]:
    """Places of the arguments that a kernel changes, and when it does."""
    names = [""] * len(r.returns) + kernel_args(r)
    places = {name: i for i, name in enumerate(names) if name}
    changes = []
    for name, condition in r.call.changes:
        words = re.sub(
            r"[A-Za-z_]\w*", lambda m: f"a{places[m[0]]}" if m[0] in places else m[0], condition
        )
        changes.append((places[name], words))
    if r.kernel.draws:
        changes.append((len(names), ""))
    return tuple(changes)


def shared(number: int, form: str) -> list[str]:
    """Write the function that all slots of one signature call."""
    kinds = parameters(form)
    place = {a: i for i, a in enumerate(a for a, kind in enumerate(kinds) if kind in OBJECTS)}
    passed = (
        (f"<{kind}>" if kind != "object" else "") + f"h[{place[a]}]" if a in place else f"a{a}"
        for a, kind in enumerate(kinds)
    )
    return [
        "",
        "",
        f"ctypedef int (*form_{number})({', '.join(kinds)}) except -1",
        "",
        f"cdef int cross_{number}(str key, str op, int results, uint64_t written, {declared(kinds)})"
        " except -1:",
        f"    cdef Crossing c = crossing(key, op, results, written, ({listed(place)}))",
        "    cdef tuple h = c.here",
        f"    (<form_{number}>c.kernel)({', '.join(passed)})",
        "    return c.end()",
    ]


def declared(kinds: list[str]) -> str:
    return ", ".join(f"{kind} a{a}" for a, kind in enumerate(kinds))


def listed(places: Iterable[int]) -> str:
    return "".join(f"a{a}, " for a in places)


def kernel(name: str, slot: Slot, number: int) -> list[str]:
    """The kernel of one slot."""
    kinds = parameters(slot.form)
    objects = [a for a, kind in enumerate(kinds) if kind in OBJECTS]
    bits = []
    for place, condition in slot.written:
        bit = f"<uint64_t>{1 << objects.index(place)}"
        bits.append(f"({bit} if {condition} else 0)" if condition else bit)
    passed = ", ".join(f"a{a}" for a in range(len(kinds)))
    return [
        "",
        "",
        f"cdef int {name}({declared(kinds)}) except -1:",
        f'    return cross_{number}("{slot.key}", "{slot.shown}", {slot.results}, '
        f"{' | '.join(bits) or 0}, {passed})",
    ]


def source(families: Mapping[str, Iterable[Record]], folder: Path) -> str:
    """The module; `folder` has the sources of composites."""
    all_slots = slots(families)
    numbers = {form: n for n, form in enumerate(dict.fromkeys(slot.form for slot in all_slots))}
    lines = [HEAD.rstrip()]
    for form, number in numbers.items():
        lines += shared(number, form)
    table = []
    for i, slot in enumerate(all_slots):
        lines += kernel(f"slot_{i}", slot, numbers[slot.form])
        table.append(f'    "{slot.key}": PyCapsule_New(<void*>slot_{i}, "{slot.form}", NULL),')
    numpy = {
        r.shown: r.key
        for records in families.values()
        for r in records
        if type(r.kernel).__name__ == "host"
    }
    return "\n".join(
        [
            *lines,
            "",
            "",
            "# Of every slot: {key: capsule}.",
            "KERNELS = {",
            *table,
            "}",
            "# Keys of which the host's kernel isn't called where operators can be made of others.",
            f"COMPOSED = frozenset({composed(folder)!r})",
            "# What NumPy and SciPy compute: {operator: key}.",
            f"NUMPY = {numpy!r}",
            "",
            "",
            "def through_host(str op not None, int device):",
            '    """Note that NumPy or SciPy computes an operator for a device."""',
            "    note(NUMPY[op], op, device)",
            "",
        ]
    )
