"""Writes the elementwise loops: one Cython module source, and the .pxd with kernel numbers.

The text is the same for every SIMD target; only compiler flags differ. Each loop has the signature
`loop_t(char** p, const Py_ssize_t* s, Py_ssize_t n)`: p[0] is the result, p[1:] the inputs, s their
strides in bytes. A result may be exactly one of its inputs. The formulas are the C functions of
ext/kernels/scalar; the list of kernels is kernel_specs.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ext.codegen.kernel_specs import CLASSES, SPECS, KernelSpec

# Element types in the order of their codes, with their sizes in bytes.
TYPES = ("b1", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")
SIZE = dict(zip(TYPES, (1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16)))
CODE = {t: i for i, t in enumerate(TYPES)}
PART = {"c64": "f32", "c128": "f64"}
# Types named by size alone, for loops that only move elements.
WORD = {1: "w8", 2: "w16", 4: "w32", 8: "w64", 16: "w128"}
SIZE.update({word: size for size, word in WORD.items()})
CODE_OF_WORD = {"w8": 1, "w16": 3, "w32": 4, "w64": 5, "w128": 11}

# From this cost on, strided operands are gathered into small blocks and the contiguous loop runs on
# those: one copy of the formula instead of two, and it stays vectorised.
STAGED_COST = 3


@dataclass(frozen=True)
class Loop:
    """One function of the generated module."""

    spec: KernelSpec
    suffix: str
    operands: tuple[str, ...]  # result first

    @property
    def name(self) -> str:
        return f"{self.spec.name}_{self.suffix}"


def types_of(spec: KernelSpec) -> list[str]:
    """Element types that a kernel claims, in the order of their codes."""
    claimed = {t for letter in spec.types for t in CLASSES[letter]}
    return [t for t in TYPES if t in claimed]


def suffix_of(spec: KernelSpec, dtype: str) -> str:
    """The scalar formula that serves `dtype` (several types may share one)."""
    if spec.share == "bits":
        return WORD[SIZE[dtype]]
    if spec.share == "sign" and dtype == "i8":
        return "u8"
    return dtype


def operand_types(spec: KernelSpec, dtype: str) -> tuple[str, ...]:
    """Types of the result and of the inputs when computing in `dtype`."""
    kinds = {"T": dtype, "same": dtype, "real": PART.get(dtype, dtype), "b1": "b1", "bool": "b1"}
    return tuple(kinds[k] for k in (spec.out, *spec.inputs))


def is_half(dtype: str) -> bool:
    return dtype in CLASSES["h"]


def is_staged_half(spec: KernelSpec, dtype: str) -> bool:
    """Halves compute in float32, except where a kernel only moves elements."""
    return is_half(dtype) and spec.share != "bits"


# ---- text of one loop ----


def _element(k: int) -> str:
    return "abcd"[k - 1]


def _declarations(loop: Loop) -> list[str]:
    lines = ["    cdef Py_ssize_t i"]
    for k, t in enumerate(loop.operands):
        const, name = ("const ", _element(k)) if k else ("", "o")
        lines.append(f"    cdef {const}ag_{t}* {name} = <{const}ag_{t}*> p[{k}]")
    for k in sorted({k for group in loop.spec.scalar_sets for k in group}):
        lines.append(f"    cdef ag_{loop.operands[k]} {_element(k)}0")
    return lines


def _test(loop: Loop, scalars: Sequence[int]) -> str:
    parts = []
    for k, t in enumerate(loop.operands):
        stride = 0 if k in scalars else SIZE[t]
        parts.append(f"s[{k}] == {stride}")
    return " and ".join(parts)


def _call(loop: Loop, arguments: Iterable[str]) -> str:
    return f"ag_{loop.spec.name}_{loop.suffix}({', '.join(arguments)})"


def _dense_branch(loop: Loop, scalars: Sequence[int]) -> list[str]:
    """Contiguous operands, some of them one repeated element."""
    lines = [f"        {_element(k)}0 = {_element(k)}[0]" for k in scalars]
    arguments = [
        f"{_element(k)}0" if k in scalars else f"{_element(k)}[i]"
        for k in range(1, len(loop.operands))
    ]
    return [*lines, "        for i in range(n):", f"            o[i] = {_call(loop, arguments)}"]


def _strided_branch(loop: Loop) -> list[str]:
    arguments = [
        f"(<const ag_{t}*> (<const char*> {_element(k)} + i * s{k}))[0]"
        for k, t in enumerate(loop.operands)
        if k
    ]
    return [
        "        for i in range(n):",
        f"            (<ag_{loop.operands[0]}*> (<char*> o + i * s0))[0] = \\",
        f"                {_call(loop, arguments)}",
    ]


def _codes(operands: Sequence[str]) -> str:
    """Type codes of the operands, four bits each, the result lowest."""
    return hex(sum(CODE.get(t, CODE_OF_WORD.get(t, 0)) << (4 * k) for k, t in enumerate(operands)))


def loop_text(loop: Loop) -> str:
    """Source of one kernel for one type."""
    head = f"cdef void {loop.name}(char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil:"
    lines = [head, *_declarations(loop)]
    staged = loop.spec.cost >= STAGED_COST
    if not staged:
        strides = ", ".join(f"s{k} = s[{k}]" for k in range(len(loop.operands)))
        lines.append(f"    cdef Py_ssize_t {strides}")
    word = "if"
    for scalars in ((), *loop.spec.scalar_sets):
        lines.append(f"    {word} {_test(loop, scalars)}:")
        lines += _dense_branch(loop, scalars)
        word = "elif"
    lines.append("    else:")
    if staged:
        codes = _codes(loop.operands)
        nin = len(loop.operands) - 1
        lines.append(f"        staged({loop.name}, p, s, n, {nin}, {codes}, {codes})")
    else:
        lines += _strided_branch(loop)
    return "\n".join(lines) + "\n"


def half_text(spec: KernelSpec, dtype: str) -> str:
    """A kernel on halves: blocks are widened to float32, computed there and rounded back."""
    outside = _codes(operand_types(spec, dtype))
    inside = _codes(operand_types(spec, "f32"))
    return (
        f"cdef void {spec.name}_{dtype}(char** p, const Py_ssize_t* s, Py_ssize_t n) "
        "noexcept nogil:\n"
        f"    staged({spec.name}_f32, p, s, n, {spec.nin}, {outside}, {inside})\n"
    )


def cast_text(source: str, target: str) -> str:
    return (
        f"cdef void cast_{source}_{target}"
        "(char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil:\n"
        "    cdef Py_ssize_t i\n"
        f"    cdef ag_{target}* o = <ag_{target}*> p[0]\n"
        f"    cdef const ag_{source}* a = <const ag_{source}*> p[1]\n"
        "    cdef Py_ssize_t s0 = s[0], s1 = s[1]\n"
        f"    if s0 == {SIZE[target]} and s1 == {SIZE[source]}:\n"
        "        for i in range(n):\n"
        f"            o[i] = ag_cast_{source}_{target}(a[i])\n"
        "    else:\n"
        "        for i in range(n):\n"
        f"            (<ag_{target}*> (<char*> o + i * s0))[0] = \\\n"
        f"                ag_cast_{source}_{target}("
        f"(<const ag_{source}*> (<const char*> a + i * s1))[0])\n"
    )


# ---- the module ----

_PREAMBLE = '''\
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=False
# Generated by ext/codegen/kernel_loops.py; do not edit.
"""Elementwise loops for one SIMD target; `table_capsule()` hands out the table of pointers."""

from cpython.pycapsule cimport PyCapsule_New
from autograd_cy._C.kernel_ids cimport *

'''

_STAGED = """\
cdef enum:
    BLOCK = 256  # elements; five operands of 16 bytes fill 20 KB of stack
    MAX_OPERANDS = 6

cdef Py_ssize_t* SIZES = [{sizes}]
cdef kernel_table table


cdef void staged(loop_t loop, char** p, const Py_ssize_t* s, Py_ssize_t n, int nin,
                 unsigned int outside, unsigned int inside) noexcept nogil:
    \"\"\"Run a contiguous loop over operands of other types or strides, block by block.

    `outside` and `inside` hold the type codes of the operands as they lie in memory and as the loop
    wants them, four bits each, the result lowest.
    \"\"\"
    cdef double space[MAX_OPERANDS * BLOCK * 2]
    cdef char* q[MAX_OPERANDS]
    cdef Py_ssize_t t[MAX_OPERANDS]
    cdef loop_t convert[MAX_OPERANDS]
    cdef bint direct[MAX_OPERANDS]
    cdef char* ends[2]
    cdef Py_ssize_t steps[2]
    cdef Py_ssize_t start = 0, m = n if n < BLOCK else BLOCK
    cdef unsigned int there, here
    cdef int k
    for k in range(nin + 1):
        there = (outside >> (4 * k)) & 15
        here = (inside >> (4 * k)) & 15
        t[k] = SIZES[here]
        direct[k] = there == here and s[k] == t[k]
        q[k] = p[k] if direct[k] else <char*> (space + k * BLOCK * 2)
        convert[k] = table.casts[here][there] if k == 0 else table.casts[there][here]
        if k > 0 and s[k] == 0:  # one element for the whole run: widen it once
            ends[0] = q[k]
            ends[1] = p[k]
            steps[0] = t[k]
            steps[1] = 0
            convert[k](ends, steps, m)
    while start < n:
        m = n - start if n - start < BLOCK else BLOCK
        for k in range(1, nin + 1):
            if direct[k]:
                q[k] = p[k] + start * t[k]
            elif s[k] != 0:
                ends[0] = q[k]
                ends[1] = p[k] + start * s[k]
                steps[0] = t[k]
                steps[1] = s[k]
                convert[k](ends, steps, m)
        if direct[0]:
            q[0] = p[0] + start * t[0]
        loop(q, t, m)
        if not direct[0]:
            ends[0] = p[0] + start * s[0]
            ends[1] = q[0]
            steps[0] = s[0]
            steps[1] = t[0]
            convert[0](ends, steps, m)
        start += m

"""


def _sources(specs: Sequence[KernelSpec]) -> tuple[list[Loop], list[tuple[KernelSpec, str]], dict]:
    """Loops to write, half wrappers to write, and the table (name, dtype) -> function."""
    loops: dict[str, Loop] = {}
    halves: list[tuple[KernelSpec, str]] = []
    table: dict[tuple[str, str], str] = {}
    for spec in specs:
        if spec.alias:
            for dtype in types_of(spec):
                table[spec.name, dtype] = table[spec.alias, dtype]
            continue
        for dtype in types_of(spec):
            if spec.ints == "copy" and dtype in (*CLASSES["b"], *CLASSES["i"]):
                table[spec.name, dtype] = f"copy_{WORD[SIZE[dtype]]}"
                continue
            if is_staged_half(spec, dtype):
                halves.append((spec, dtype))
                table[spec.name, dtype] = f"{spec.name}_{dtype}"
                continue
            suffix = suffix_of(spec, dtype)
            loop = Loop(spec, suffix, operand_types(spec, suffix))
            loops.setdefault(loop.name, loop)
            table[spec.name, dtype] = loop.name
    return list(loops.values()), halves, table


def _declare_formulas(loops: Sequence[Loop]) -> str:
    used = sorted({f"ag_{t}" for t in TYPES} | {f"ag_{WORD[size]}" for size in WORD})
    lines = ['cdef extern from "scalar/scalar.h" nogil:']
    for t in used:
        # Only names and rough kinds matter here: the C compiler knows the real types.
        short = t[3:]
        if short in PART or short == "w128":
            lines.append(f"    ctypedef struct {t}:\n        pass")
        elif short in ("f32", "f64"):
            lines.append(f"    ctypedef {'float' if short == 'f32' else 'double'} {t}")
        else:
            lines.append(f"    ctypedef int {t}")
    for loop in loops:
        out, *ins = loop.operands
        lines.append(
            f"    ag_{out} ag_{loop.spec.name}_{loop.suffix}({', '.join('ag_' + t for t in ins)})"
        )
    for source in TYPES:
        for target in TYPES:
            if source != target:
                lines.append(f"    ag_{target} ag_cast_{source}_{target}(ag_{source})")
    return "\n".join(lines) + "\n\n"


def _fill_table(specs: Sequence[KernelSpec], table: dict) -> str:
    lines = ["cdef void fill_table() noexcept nogil:"]
    for spec in specs:
        key = f"K_{spec.name.upper()}"
        lines.append(f"    table.cost[{key}] = {spec.cost}")
        for dtype in types_of(spec):
            lines.append(f"    table.loops[{key}][{CODE[dtype]}] = {table[spec.name, dtype]}")
    for source in TYPES:
        for target in TYPES:
            name = _cast_name(source, target)
            lines.append(f"    table.casts[{CODE[source]}][{CODE[target]}] = {name}")
    return "\n".join(lines) + "\n\n\n"


def _cast_name(source: str, target: str) -> str:
    if source == target:
        return f"copy_{WORD[SIZE[source]]}"
    return f"cast_{source}_{target}"


def module_text(specs: Sequence[KernelSpec] = SPECS) -> str:
    """The whole .pyx."""
    loops, halves, table = _sources(specs)
    parts = [_PREAMBLE, _declare_formulas(loops)]
    sizes = ", ".join(str(SIZE[t]) for t in TYPES)
    parts.append(_STAGED.format(sizes=sizes))
    parts += ["\n" + loop_text(loop) + "\n" for loop in loops]
    parts += [
        "\n" + cast_text(source, target) + "\n"
        for source in TYPES
        for target in TYPES
        if source != target
    ]
    parts += ["\n" + half_text(spec, dtype) + "\n" for spec, dtype in halves]
    parts.append("\n" + _fill_table(specs, table))
    names = ", ".join(f'"{spec.name}"' for spec in specs)
    parts.append(
        "fill_table()\n\n"
        f"KERNELS = ({names})\n\n\n"
        "def table_capsule():\n"
        '    """Capsule with the address of the kernel table (see kernel_ids.pxd)."""\n'
        '    return PyCapsule_New(&table, "autograd_cy.kernel_table", NULL)\n'
    )
    return "".join(parts)


def ids_text(specs: Sequence[KernelSpec] = SPECS) -> str:
    """The .pxd shared by the kernel modules and their drivers."""
    lines = [
        "# Generated by ext/codegen/kernel_loops.py; do not edit.",
        "# Numbers of the elementwise kernels, and the table that a kernel module hands out in a",
        '# capsule named "autograd_cy.kernel_table". Second index of loops: type code.',
        "",
        "ctypedef void (*loop_t)(char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil",
        "",
        "cdef enum:",
        *(f"    K_{spec.name.upper()} = {i}" for i, spec in enumerate(specs)),
        f"    K_COUNT = {len(specs)}",
        "",
        "ctypedef struct kernel_table:",
        f"    loop_t loops[{len(specs)}][{len(TYPES)}]  # NULL where a type is not claimed",
        f"    loop_t casts[{len(TYPES)}][{len(TYPES)}]  # from, to",
        f"    float cost[{len(specs)}]",
        "",
    ]
    return "\n".join(lines)


def write_if_changed(path: str, text: str) -> bool:
    """Write `text` unless the file already holds it, so that builds do not repeat themselves."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return False
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return True


def generate(specs: Sequence[KernelSpec], out_pyx: str, out_ids_pxd: str) -> None:
    """Write the module source and the .pxd of kernel numbers."""
    write_if_changed(out_ids_pxd, ids_text(specs))
    write_if_changed(out_pyx, module_text(specs))


if __name__ == "__main__":
    import sys

    generate(SPECS, sys.argv[1], sys.argv[2])
