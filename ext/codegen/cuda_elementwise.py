"""The elementwise kernels of CUDA devices.

They are those of kernel_specs.py, as kernel_loops.py plans them for the CPU: types that share a
loop there share a kernel here. Each comes twice, for dense operands and for strided ones, as a line
in the image of its type, `ew_f32`; what is around the formula is ext/cuda/device/elementwise.cuh.
The casts are in cuda_copies.py, the table by which all are found is written by cuda_entries.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ext.codegen import kernel_loops
from ext.codegen.cuda_sources import CudaSource
from ext.codegen.dtypes import CLASSES
from ext.codegen.kernel_loops import CODE_OF_WORD, SIZE, Loop, Swap, Wrapper
from ext.codegen.kernel_specs import SPECS, KernelSpec

HEAD = '#include "elementwise.cuh"\n\n'

# Formulas that cost more are bound by arithmetic: fewer copies of them side by side.
COSTLY = 5


@dataclass(frozen=True)
class Entry:
    """A pair of kernels, for dense operands and for strided ones."""

    name: str
    image: str
    text: str
    outside: tuple[str, ...]  # types in memory, the result first
    numbers: tuple[str, ...] | None = None  # types of numbers among the inputs; None: as in memory
    lanes: int = 1
    notes_faults: bool = False


def kind(outside: str, inside: str) -> str:
    """The type of elementwise.cuh by which an operand is read."""
    memory = {"f16": "ag_half", "bf16": "ag_brain"}.get(outside, f"ag_{outside}")
    if outside in ("f16", "bf16") and inside == outside:
        raise ValueError("no formula takes a half type as it is")
    return f"ag_truth<{memory}>" if inside == "b1" and outside != "b1" else memory


def lanes_of(types: Sequence[str], cost: int) -> int:
    """Return the number of elements that a thread loads at once: vectors of 16 bytes at most."""
    size = max(SIZE[t] for t in types)
    if cost >= COSTLY:
        return min(2 if size < 8 else 1, 16 // size)
    return min(16 // size, 8 if cost < 3 else 4)


def entry(name: str, image: str, formula: str, outside, inside, cost: int) -> Entry:
    """An entry whose kernels call `formula`."""
    lanes = lanes_of(outside, cost)
    result = kind(outside[0], inside[0]) if outside[0] != "b1" else "ag_b1"
    kinds = [result, *map(kind, outside[1:], inside[1:])]
    text = f"AG_ELEMENTWISE({name}, {lanes}, {formula}, {', '.join(kinds)})"
    numbers = None if outside == inside else tuple(inside[1:])
    return Entry(name, image, text, tuple(outside), numbers, lanes)


def _of_loop(loop: Loop) -> Entry:
    image = "ew_bits" if loop.suffix in CODE_OF_WORD else f"ew_{loop.suffix}"
    if loop.spec.divides and loop.suffix in CLASSES["i"]:
        text = f"AG_DIVISION({loop.name}, {loop.formula}, ag_{loop.suffix})"
        return Entry(loop.name, image, text, loop.operands, notes_faults=True)
    return entry(loop.name, image, loop.formula, loop.operands, loop.operands, loop.spec.cost)


@cache
def plan(specs: tuple[KernelSpec, ...] = tuple(SPECS)) -> tuple[dict, dict]:
    """All entries by name, and (kernel, dtype) -> (name of the entry, inputs swapped)."""
    loops, table = kernel_loops._plan(specs)
    entries: dict[str, Entry] = {}
    for name, loop in loops.items():
        if isinstance(loop, Loop):
            entries[name] = _of_loop(loop)
        elif isinstance(loop, Wrapper) and not name.startswith("cast_"):
            inner = loops[loop.loop]
            image = f"ew_{name.rsplit('_', 1)[1]}"
            entries[name] = entry(
                name, image, inner.formula, loop.outside, loop.inside, inner.spec.cost
            )
    served = {}
    for key, name in table.items():
        loop = loops[name]
        if isinstance(loop, Swap):
            served[key] = table[loop.kernel, loop.dtype], True
        else:
            served[key] = name, False
    return entries, served


def images(entries: Iterable[Entry]) -> dict[str, CudaSource]:
    """The text of each image, with its kernels in their order."""
    lines: dict[str, list[str]] = {}
    for one in entries:
        lines.setdefault(one.image, []).append(one.text)
    return {image: CudaSource(HEAD + "\n".join(texts) + "\n") for image, texts in lines.items()}


def sources() -> dict[str, CudaSource]:
    """The source of each image."""
    entries, _ = plan()
    return images(entries.values())
