"""Write the elementwise loops: one Cython module source.

The text is the same for every SIMD target; only compiler flags differ. Each loop has the signature
`loop_t(char** p, const Py_ssize_t* s, Py_ssize_t n)`: p[0] is the result, p[1:] the inputs, s their
strides in bytes. A result may be exactly one of its inputs. The formulas are the C functions of
ext/kernels/scalar; the list of kernels is kernel_specs.py. Where operands lie plainly, macros of
ext/kernels/each.h make the loop in C, as Cython can't tell a C compiler that operands don't overlap.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ext.codegen.dtypes import CLASSES, ELEMENT_TYPES, TWINS
from ext.codegen.kernel_specs import SPECS, KernelSpec

# Element types in the order of their codes, with their sizes in bytes.
TYPES = tuple(t.suffix for t in ELEMENT_TYPES)
SIZE = {t.suffix: t.size for t in ELEMENT_TYPES}
CODE = {t: i for i, t in enumerate(TYPES)}
PART = {"c64": "f32", "c128": "f64"}
# Types named by size alone, for loops that only move elements.
WORD = {1: "w8", 2: "w16", 4: "w32", 8: "w64", 16: "w128"}
SIZE.update({word: size for size, word in WORD.items()})
CODE_OF_WORD = {
    word: CODE[t] for word, t in zip(WORD.values(), ("u8", "i16", "i32", "i64", "c128"))
}

SPACE = 512  # KERNEL_SPACE of kernel_table.pxd
_KEEPS = {"number": "KEEPS_NUMBER", "factor": "KEEPS_NUMBER | KEEPS_FACTOR"}

# Inputs that the macros of ext/kernels/each.h take: vectors and scalars.
EACH = "V S VV VS SV VVV VSV VVS VSS SVV VVVV VVVS VVSS SVVS".split()
MOST_INPUTS = 4

# Types with a loop of their own for strided operands; the rest is gathered into blocks.
STRIDED = ("i64", "f32", "f64", "c64", "c128", "w32", "w64")


@dataclass(frozen=True)
class Loop:
    """One function of the generated module."""

    spec: KernelSpec
    suffix: str
    operands: tuple[str, ...]  # result first

    @property
    def name(self) -> str:
        return f"{self.spec.name}_{self.suffix}"

    @property
    def is_staged(self) -> bool:
        # Complex comparisons, selections and sums of terms are rare: one loop is enough.
        odd = self.spec.out == "bool" or self.spec.nin > 2
        return self.spec.is_staged or (odd and self.suffix in ("c64", "c128", "w128"))

    @property
    def scalar_sets(self) -> tuple[tuple[int, ...], ...]:
        return () if self.is_staged else self.spec.scalar_sets

    @property
    def has_near(self) -> bool:
        return any(self.suffix in CLASSES[letter] for letter in self.spec.far)

    @property
    def is_wide(self) -> bool:
        return self.suffix in self.spec.wide.split()

    @property
    def formula(self) -> str:
        return f"ag_{self.spec.name}_{self.suffix}"

    @property
    def near(self) -> str:
        return f"ag_{self.spec.name}_near_{self.suffix}"

    @property
    def far(self) -> str:
        return f"ag_{self.spec.far_by}_far_{self.operands[-1]}"

    @property
    def far_inputs(self) -> list[int]:
        """The inputs, counted from 1, that are asked whether they are far."""
        nin = self.spec.nin
        return [nin] if self.spec.far_by == "trig" else list(range(1, nin + 1))


def types_of(spec: KernelSpec) -> list[str]:
    """Return the element types that a kernel takes, in the order of their codes."""
    taken = {t for letter in spec.types for t in CLASSES[letter]}
    return [t for t in TYPES if t in taken]


def suffix_of(spec: KernelSpec, dtype: str) -> str:
    """The scalar formula that serves `dtype` (several types may share one)."""
    if spec.share == "bits":
        return WORD[SIZE[dtype]]
    if spec.as_signed and dtype in TWINS:
        return TWINS[dtype]
    return "u8" if dtype in spec.as_u8.split() else dtype


def operand_types(spec: KernelSpec, dtype: str) -> tuple[str, ...]:
    """Types of the result and of the inputs when computing in `dtype`."""
    kinds = {"T": dtype, "same": dtype, "real": PART.get(dtype, dtype), "b1": "b1", "bool": "b1"}
    return tuple(kinds[k] for k in (spec.out, *spec.inputs))


def is_half(dtype: str) -> bool:
    return dtype in CLASSES["h"]


def has_strided_loop(loop: Loop) -> bool:
    # copy must not go through blocks: it is what fills them.
    return loop.spec.name == "copy" or (not loop.is_staged and loop.suffix in STRIDED)


# ---- text of one loop ----


def _element(k: int) -> str:
    return "abcd"[k - 1]


def _declarations(loop: Loop) -> list[str]:
    spec, lines = loop.spec, []
    if loop.has_near:
        lines.append("    cdef Py_ssize_t i")
    if spec.commutative:
        # One loop for a repeated element: it is always the second input.
        lines.append("    cdef bint flip = s[1] == 0")
    for k, t in enumerate(loop.operands):
        at = ("1 + flip", "1 + (not flip)")[k - 1] if spec.commutative and k else str(k)
        const, name = ("const ", _element(k)) if k else ("", "o")
        lines.append(f"    cdef {const}ag_{t}* {name} = <{const}ag_{t}*> p[{at}]")
    strides = [f"s{k}" for k in range(len(loop.operands))]
    values = [f"s[{k}]" for k in range(len(loop.operands))]
    if spec.commutative:
        values[1:] = ["s[1 + flip]", "s[1 + (not flip)]"]
    pairs = ", ".join(f"{a} = {b}" for a, b in zip(strides, values))
    lines.append(f"    cdef Py_ssize_t {pairs}")
    for k in sorted({k for group in loop.scalar_sets for k in group}):
        lines.append(f"    cdef ag_{loop.operands[k]} {_element(k)}0")
    return lines


def _test(loop: Loop, scalars: Sequence[int]) -> str:
    parts = []
    for k, t in enumerate(loop.operands):
        stride = 0 if k in scalars else SIZE[t]
        parts.append(f"s{k} == {stride}")
    return " and ".join(parts)


def _each_loop(count: str, formula: str, nin: int, scalars: Sequence[int] = ()) -> str:
    """The loop o[i] = formula(a[i], ...) by a macro of each.h, some inputs one repeated element."""
    inputs = range(1, nin + 1)
    kinds = "".join("S" if k in scalars else "V" for k in inputs)
    names = [f"{_element(k)}0" if k in scalars else _element(k) for k in inputs]
    return f"AG_EACH_{kinds}({count}, o, {formula}, {', '.join(names)})"


def _dense_branch(loop: Loop, scalars: Sequence[int]) -> list[str]:
    """Contiguous operands, some of them one repeated element."""
    lines = [f"        {_element(k)}0 = {_element(k)}[0]" for k in scalars]
    return [*lines, f"        {_each_loop('n', loop.formula, loop.spec.nin, scalars)}"]


def _strided(formula: str, nin: int) -> str:
    """The loop over operands with strides of their own, by a macro of each.h."""
    pairs = [f"{_element(k)}, s{k}" for k in range(1, nin + 1)]
    return f"AG_STRIDED_{nin}(n, o, s0, {formula}, {', '.join(pairs)})"


def _codes(operands: Sequence[str]) -> str:
    """Type codes of the operands, four bits each, the result lowest."""
    return hex(sum(CODE.get(t, CODE_OF_WORD.get(t, 0)) << (4 * k) for k, t in enumerate(operands)))


def _head(name: str) -> str:
    return f"cdef void {name}(char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil:"


def loop_text(loop: Loop) -> str:
    """Source of one kernel for one type."""
    lines = [_head(loop.name), *_declarations(loop)]
    if loop.is_staged:
        # Full vectors here, the rest padded: no scalar remainder, and an element gets the same bits
        # wherever it lies.
        lines += [
            "    cdef Py_ssize_t m = 0",
            *(
                ["    cdef Py_ssize_t start = 0, size", "    cdef bint far"]
                if loop.has_near
                else []
            ),
            f"    if {_test(loop, ())}:",
            "        m = n & -LANES",
            *_full_vectors(loop),
            "        if m < n:",
            f"            tail({loop.name}, p, s, m, n - m, {loop.spec.nin})",
            "    elif n > 0:",
            "        " + _staged(loop.name, loop.operands, loop.operands),
        ]
        return "\n".join(lines) + "\n"
    word = "if"
    for scalars in ((), *loop.scalar_sets):
        lines.append(f"    {word} {_test(loop, scalars)}:")
        lines += _dense_branch(loop, scalars)
        word = "elif"
    if loop.spec.name == "copy":
        size = SIZE[loop.operands[0]]
        lines.append(f"    elif s0 == {size} and s1 == -{size}:")
        lines.append(f"        AG_EACH_BACKWARDS(n, o, {loop.formula}, a)")
    lines.append("    else:")
    if has_strided_loop(loop):
        lines.append(f"        {_strided(loop.formula, loop.spec.nin)}")
    else:
        lines.append("        " + _staged(loop.name, loop.operands, loop.operands))
    return "\n".join(lines) + "\n"


def _full_vectors(loop: Loop) -> list[str]:
    if loop.is_wide:
        names = ", ".join(_element(k) for k in range(1, len(loop.operands)))
        return [f"        ag_run_{loop.name}({names}, o, m)"]
    nin = loop.spec.nin
    if not loop.has_near:
        return [f"        {_each_loop('m', loop.formula, nin)}"]
    test = f"{loop.far}({', '.join(f'{_element(k)}[i]' for k in loop.far_inputs)})"
    steps = [f"            {_element(k) if k else 'o'} += size" for k in range(nin + 1)]
    return [
        "        while start < m:",
        "            size = (m - start if m - start < NEAR else NEAR) & -LANES",
        "            far = False",
        "            for i in range(size):",
        f"                far |= {test}",
        "            if far:",
        f"                {_each_loop('size', loop.formula, nin)}",
        "            else:",
        f"                {_each_loop('size', loop.near, nin)}",
        *steps,
        "            start += size",
    ]


def _staged(name: str, outside: Sequence[str], inside: Sequence[str], start: str = "0") -> str:
    nin = len(inside) - 1
    return f"staged({name}, p, s, {start}, n, {nin}, {_codes(outside)}, {_codes(inside)})"


@dataclass(frozen=True)
class Wrapper:
    """A loop that runs another one on operands of other types, by blocks."""

    name: str
    loop: str
    outside: tuple[str, ...]
    inside: tuple[str, ...]
    formula: str = ""  # of two inputs of a half type that are computed in float32

    @property
    def text(self) -> str:
        if not self.formula:
            return f"{_head(self.name)}\n    {_staged(self.loop, self.outside, self.inside)}\n"
        return (
            f"{_head(self.name)}\n"
            "    cdef Py_ssize_t m = 0\n"
            "    if s[0] == 2 and s[1] == 2 and s[2] == 2:\n"
            "        m = n & AG_WHOLE_HALVES\n"
            f"        AG_HALVES_{self.outside[0].upper()}(m, p, {self.formula})\n"
            "    elif s[0] == 2 and s[1] == 2 and s[2] == 0:\n"
            "        m = n & AG_WHOLE_HALVES\n"
            f"        AG_HALVES_{self.outside[0].upper()}_BY(m, p, {self.formula})\n"
            "    if m < n:\n"
            f"        {_staged(self.loop, self.outside, self.inside, 'm')}\n"
        )


@dataclass(frozen=True)
class Swap:
    """A loop of two inputs that runs another kernel with the inputs swapped."""

    name: str
    kernel: str
    dtype: str

    @property
    def text(self) -> str:
        number = f"K_{self.kernel.upper()}"
        return f"{_head(self.name)}\n    swapped({number}, {CODE[self.dtype]}, p, s, n)\n"


# ---- casts ----


@dataclass(frozen=True)
class Cast:
    """A conversion with its own scalar formula."""

    source: str
    target: str

    @property
    def name(self) -> str:
        return f"cast_{self.source}_{self.target}"

    @property
    def by_runs(self) -> bool:
        """Some processors convert float16 themselves, many at once."""
        return {self.source, self.target} == {"f16", "f32"}

    @property
    def dense(self) -> str:
        """The loop over contiguous operands."""
        if self.by_runs:
            return f"        ag_run_{self.source}_{self.target}(a, o, n)\n"
        return f"        {_each_loop('n', f'ag_{self.name}', 1)}\n"

    @property
    def text(self) -> str:
        source, target = self.source, self.target
        return (
            f"{_head(self.name)}\n"
            f"    cdef ag_{target}* o = <ag_{target}*> p[0]\n"
            f"    cdef const ag_{source}* a = <const ag_{source}*> p[1]\n"
            "    cdef Py_ssize_t s0 = s[0], s1 = s[1]\n"
            f"    if s0 == {SIZE[target]} and s1 == {SIZE[source]}:\n"
            f"{self.dense}"
            "    else:\n"
            f"        {_strided(f'ag_{self.name}', 1)}\n"
        )


def cast(source: str, target: str) -> str | Cast | Wrapper:
    """Return the converter from `source` to `target`: the name of a loop, or a loop to write.

    Few pairs have a formula of their own. bool reads as uint8, int8 results are the bits of uint8
    ones, the real parts of a complex array are its floats at twice the stride, and halves and
    complex results take a second step from float. Integers become unsigned ones of a size as they
    become signed ones, and what an unsigned one becomes that is no wider follows from its bits.
    """
    if target == "u16" or (target in TWINS and _is_whole(source)):
        target = TWINS[target]
    if source in TWINS and SIZE[target] <= SIZE[source] and _is_whole(target):
        source = TWINS[source]
    if source == target or {source, target} <= {"u8", "i8"}:
        return f"copy_{WORD[SIZE[source]]}"
    if source == "b1":
        return cast("u8", target)
    if target == "i8":
        return cast(source, "u8")
    if source in PART and target not in PART and target != "b1":
        return cast(PART[source], target)
    step = None
    if is_half(source) and target != "f32":
        step = "f32"
    elif is_half(target) and source != "f32":
        step = "f32"
    elif target in PART and source not in (*PART, PART[target]):
        step = PART[target]
    if step is None or step == source:
        return Cast(source, target)
    # The last step is a loop of its own; the first fills the blocks.
    if target == step:
        return Cast(source, target)
    return Wrapper(
        f"cast_{source}_{target}", f"cast_{step}_{target}", (target, source), (target, step)
    )


def _is_whole(dtype: str) -> bool:
    """Return whether a type is one of integers, or bool."""
    return dtype in (*CLASSES["b"], *CLASSES["i"], *CLASSES["u"])


# ---- the module ----

_PREAMBLE = '''\
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=False
# Generated by ext/codegen/kernel_loops.py; do not edit.
"""Elementwise loops for one SIMD target; `table_capsule()` hands out the table of pointers."""

from cpython.pycapsule cimport PyCapsule_New
from libc.string cimport memset

from autograd_cy._C.kernel_table cimport KEEPS_FACTOR, KEEPS_NUMBER, kernel_table, loop_t

'''

_STAGED = """\
cdef enum:
    LANES = 16   # loops run by blocks get a multiple of this
    NEAR = 512   # elements tested together for arguments out of the range of a fast formula
    BLOCK = 256  # elements of 16 bytes, with five operands 20 KB of stack; of others up to MOST
    MOST = 1024  # elements: each block costs some calls
    MAX_OPERANDS = 5

cdef Py_ssize_t* SIZES = [{sizes}]
cdef kernel_table table


cdef void staged(loop_t loop, char** p, const Py_ssize_t* s, Py_ssize_t start, Py_ssize_t n, int nin,
                 unsigned int outside, unsigned int inside) noexcept nogil:
    \"\"\"Run a contiguous loop over elements start..n of operands of other types or strides.

    `outside` and `inside` hold the type codes of the operands as in memory and as the loop
    wants them, four bits each, the result lowest. The loop sees blocks of full vectors only: the
    last one is padded with zeros.
    \"\"\"
    cdef double space[MAX_OPERANDS * BLOCK * 2]
    cdef char* buffer[MAX_OPERANDS]
    cdef char* q[MAX_OPERANDS]
    cdef Py_ssize_t t[MAX_OPERANDS]
    cdef loop_t convert[MAX_OPERANDS]
    cdef bint direct[MAX_OPERANDS]
    cdef Py_ssize_t block = MOST, m, full
    cdef unsigned int there, here
    cdef bint whole
    cdef int k
    for k in range(nin + 1):
        there = (outside >> (4 * k)) & 15
        here = (inside >> (4 * k)) & 15
        t[k] = SIZES[here]
        if t[k] * block > 16 * BLOCK:
            block = 16 * BLOCK // t[k]
        direct[k] = there == here and s[k] == t[k]
        buffer[k] = <char*> (space + k * BLOCK * 2)
        convert[k] = table.casts[here][there] if k == 0 else table.casts[there][here]
    m = n - start if n - start < block else block
    full = (m + LANES - 1) & -LANES
    for k in range(1, nin + 1):
        if s[k] == 0:  # one element for the whole run: spread it once
            move(convert[k], buffer[k], t[k], p[k], 0, full)
    while start < n:
        m = n - start if n - start < block else block
        full = (m + LANES - 1) & -LANES
        whole = m == full
        for k in range(1, nin + 1):
            q[k] = buffer[k]
            if direct[k] and whole:
                q[k] = p[k] + start * t[k]
            elif s[k] != 0:
                move(convert[k], buffer[k], t[k], p[k] + start * s[k], s[k], m)
                memset(buffer[k] + m * t[k], 0, (full - m) * t[k])
        q[0] = p[0] + start * t[0] if direct[0] and whole else buffer[0]
        loop(q, t, full)
        if q[0] == buffer[0]:
            move(convert[0], p[0] + start * s[0], s[0], buffer[0], t[0], m)
        start += m


cdef void tail(loop_t loop, char** p, const Py_ssize_t* s, Py_ssize_t start, Py_ssize_t n,
               int nin) noexcept nogil:
    \"\"\"Run a contiguous loop over the n < LANES elements from `start`, padded with zeros.\"\"\"
    cdef double space[MAX_OPERANDS * LANES * 2 + 8]
    cdef char* q[MAX_OPERANDS]
    cdef int k
    for k in range(1, nin + 1):
        q[k] = <char*> (space + k * LANES * 2)
        ag_load_tail(q[k], p[k] + start * s[k], n * s[k], LANES * s[k])
    q[0] = <char*> space
    loop(q, s, LANES)
    ag_store_tail(p[0] + start * s[0], q[0], n * s[0])


cdef inline void move(loop_t loop, char* to, Py_ssize_t to_stride, char* source,
                      Py_ssize_t from_stride, Py_ssize_t n) noexcept nogil:
    \"\"\"Copy or convert n elements.\"\"\"
    cdef char* ends[2]
    cdef Py_ssize_t steps[2]
    ends[0] = to
    ends[1] = source
    steps[0] = to_stride
    steps[1] = from_stride
    loop(ends, steps, n)


cdef void swapped(int kernel, int dtype, char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil:
    \"\"\"Run a kernel of two inputs with the inputs swapped.

    The loop is looked up so that the compiler does not make a second copy of it here.
    \"\"\"
    cdef char* q[3]
    cdef Py_ssize_t t[3]
    q[0], q[1], q[2] = p[0], p[2], p[1]
    t[0], t[1], t[2] = s[0], s[2], s[1]
    table.loops[kernel][dtype](q, t, n)

"""


def _plan(specs: Sequence[KernelSpec]) -> tuple[dict, dict]:
    """All loops to write by name, and the table (kernel, dtype) -> name of its loop."""
    loops: dict[str, Loop | Wrapper | Swap | Cast] = {}
    table: dict[tuple[str, str], str] = {}
    for spec in specs:
        for dtype in types_of(spec):
            loop = _serves(spec, dtype, table)
            if not isinstance(loop, str):
                loops.setdefault(loop.name, loop)
                loop = loop.name
            table[spec.name, dtype] = loop
    for source in TYPES:
        for target in TYPES:
            cast_loop = cast(source, target)
            if not isinstance(cast_loop, str):
                loops.setdefault(cast_loop.name, cast_loop)
    return loops, table


def _serves(spec: KernelSpec, dtype: str, table: dict) -> str | Loop | Wrapper | Swap:
    """Return the loop for `dtype`: the name of one that is there already, or one to write."""
    if spec.alias:
        return table[spec.alias, dtype]
    if spec.swaps:
        return Swap(f"{spec.name}_{dtype}", spec.swaps, dtype)
    if spec.ints == "copy" and dtype in (*CLASSES["b"], *CLASSES["i"], *CLASSES["u"]):
        return f"copy_{WORD[SIZE[dtype]]}"
    inside = None
    if spec.through_bool and dtype != "b1":
        inside = "b1"
    elif is_half(dtype) and spec.share != "bits":
        inside = "f32"  # halves compute in float32
    if inside:
        return Wrapper(
            f"{spec.name}_{dtype}",
            f"{spec.name}_{inside}",
            operand_types(spec, dtype),
            operand_types(spec, inside),
            f"ag_{spec.name}_f32" if spec.halves and is_half(dtype) else "",
        )
    suffix = suffix_of(spec, dtype)
    return Loop(spec, suffix, operand_types(spec, suffix))


def _declare_formulas(loops: Iterable[Loop | Cast]) -> str:
    lines, tests = (
        [
            'cdef extern from "tail.h" nogil:',
            "    void ag_load_tail(char*, const char*, Py_ssize_t, Py_ssize_t)",
            "    void ag_store_tail(char*, const char*, Py_ssize_t)",
            "",
            'cdef extern from "each.h" nogil:',
            *(f"    void AG_EACH_{kinds}(Py_ssize_t n, ...)" for kinds in EACH),
            "    void AG_EACH_BACKWARDS(Py_ssize_t n, ...)",
            *(f"    void AG_STRIDED_{nin}(Py_ssize_t n, ...)" for nin in range(1, MOST_INPUTS + 1)),
            "",
            'cdef extern from "halves.h" nogil:',
            "    Py_ssize_t AG_WHOLE_HALVES",
            "    void AG_HALVES_F16(Py_ssize_t n, ...)",
            "    void AG_HALVES_BF16(Py_ssize_t n, ...)",
            "    void AG_HALVES_F16_BY(Py_ssize_t n, ...)",
            "    void AG_HALVES_BF16_BY(Py_ssize_t n, ...)",
            "",
            'cdef extern from "scalar/whole_ratio.h" nogil:',
            "    pass",
            "",
            'cdef extern from "scalar/scalar.h" nogil:',
        ],
        set(),
    )
    for t in (*TYPES, *WORD.values()):
        # Only names and rough kinds matter here: the C compiler knows the real types.
        if t in PART or t == "w128":
            lines.append(f"    ctypedef struct ag_{t}:\n        pass")
        else:
            kind = {"f32": "float", "f64": "double"}.get(t, "int")
            lines.append(f"    ctypedef {kind} ag_{t}")
    for loop in loops:
        if isinstance(loop, Cast):
            lines.append(f"    ag_{loop.target} ag_{loop.name}(ag_{loop.source})")
            if loop.by_runs:
                lines.append(
                    f"    void ag_run_{loop.source}_{loop.target}(const ag_{loop.source}*, "
                    f"ag_{loop.target}*, Py_ssize_t)"
                )
        else:
            out, *ins = (f"ag_{t}" for t in loop.operands)
            if loop.is_wide:
                pointers = "".join(f"const {t}*, " for t in ins)
                lines.append(f"    void ag_run_{loop.name}({pointers}{out}*, Py_ssize_t)")
            lines.append(f"    {out} ag_{loop.name}({', '.join(ins)})")
            if loop.has_near:
                lines.append(f"    {out} {loop.near}({', '.join(ins)})")
                far_operands = ", ".join(ins[k - 1] for k in loop.far_inputs)
                tests.add(f"    bint {loop.far}({far_operands})")
    return "\n".join([*lines, *sorted(tests)]) + "\n\n"


def _fill_table(specs: Sequence[KernelSpec], table: dict) -> str:
    lines = ["cdef void fill_table() noexcept nogil:"]
    for spec in specs:
        key = f"K_{spec.name.upper()}"
        lines.append(f"    table.cost[{key}] = {spec.cost}")
        if spec.keeps:
            lines.append(f"    table.keeps[{key}] = {_KEEPS[spec.keeps]}")
        for dtype in types_of(spec):
            lines.append(f"    table.loops[{key}][{CODE[dtype]}] = {table[spec.name, dtype]}")
    for source in TYPES:
        for target in TYPES:
            loop = cast(source, target)
            name = loop if isinstance(loop, str) else loop.name
            lines.append(f"    table.casts[{CODE[source]}][{CODE[target]}] = {name}")
    return "\n".join(lines) + "\n\n\n"


def module_text(specs: Sequence[KernelSpec] = SPECS) -> str:
    """The whole .pyx."""
    loops, table = _plan(specs)
    own = [loop for loop in loops.values() if isinstance(loop, (Loop, Cast))]
    sizes = ", ".join(str(SIZE[t]) for t in TYPES)
    if len(specs) > SPACE:
        raise ValueError(f"{len(specs)} kernels; KERNEL_SPACE of kernel_table.pxd is {SPACE}")
    parts = [_PREAMBLE, numbers_text(specs), _declare_formulas(own), _STAGED.format(sizes=sizes)]
    # A function comes before those that call it.
    kinds = (Loop, Cast, Wrapper, Swap)
    for loop in sorted(loops.values(), key=lambda loop: kinds.index(type(loop))):
        parts.append("\n" + (loop_text(loop) if isinstance(loop, Loop) else loop.text) + "\n")
    parts.append("\n" + _fill_table(specs, table))
    names = ", ".join(f'"{spec.name}"' for spec in specs)
    parts.append(
        "fill_table()\n\n"
        f"KERNELS = ({names})\n\n\n"
        "def table_capsule():\n"
        '    """Capsule with the address of the kernel table (see kernel_table.pxd)."""\n'
        '    return PyCapsule_New(&table, "autograd_cy.kernel_table", NULL)\n'
    )
    return "".join(parts)


def numbers_text(specs: Sequence[KernelSpec] = SPECS) -> str:
    """The numbers of the kernels; other modules know kernels by name (kernel_table.pxd)."""
    lines = [f"    K_{spec.name.upper()} = {i}" for i, spec in enumerate(specs)]
    return "\n".join(["cdef enum:", *lines]) + "\n\n"


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
