"""Casts and copies of CUDA devices.

A cast converts as the CPU does (kernel_loops.py says in which steps), and comes as an elementwise kernel
of one input, for dense operands and for strided ones: image `casts`. Copies of elements by size are
elementwise kernels, too; image `copies` has those that change the order of dimensions by tiles
(ext/cuda/device/copies.cuh).
"""

from __future__ import annotations

from functools import cache

from ext.codegen import kernel_loops
from ext.codegen.cuda_elementwise import Entry, images, lanes_of
from ext.codegen.cuda_sources import CudaSource
from ext.codegen.dtypes import TWINS
from ext.codegen.kernel_loops import TYPES, WORD, Cast

# Elements on the side of a tile, by size: a row of it is 64 bytes or more where that fits.
TILE = {1: 64, 2: 64, 4: 32, 8: 32, 16: 32}


def conversion(source: str, target: str, x: str) -> str:
    """The expression in C that converts `x` as the CPU's loops do, in as many steps."""
    loop = kernel_loops.cast(source, target)
    if isinstance(loop, str):
        return x if source == target else f"(ag_{target}){x}"
    if isinstance(loop, Cast):
        reads = loop.source == source or (source, loop.source) == ("b1", "u8")
        reads = reads or TWINS.get(source) == loop.source
        gives = (loop.target, target) in ((target, target), ("u8", "i8"))
        if not reads or not (gives or TWINS.get(target) == loop.target):
            raise ValueError(f"no single step from {source} to {target}")
        text = f"ag_{loop.name}({x})"
        return text if loop.target == target else f"(ag_{target}){text}"
    last, step = loop.inside
    text = conversion(step, last, conversion(loop.outside[1], step, x))
    return text if last == target else f"(ag_{target}){text}"


def of_cast(source: str, target: str) -> Entry | str:
    """The kernels of a cast, or the name of an entry that copies the bits."""
    loop = kernel_loops.cast(source, target)
    if isinstance(loop, str):
        return loop
    if isinstance(loop, Cast):
        source, target = loop.source, loop.target
    else:
        target, source = loop.outside
    name, types = loop.name, (target, source)
    inner = f"ag_convert_{source}_{target}"
    text = (
        f"AG_FN ag_{target} {inner}(ag_{source} x) {{ return {conversion(source, target, 'x')}; }}\n"
        f"AG_ELEMENTWISE({name}, {lanes_of(types, 1)}, {inner}, ag_{target}, ag_{source})"
    )
    return Entry(name, "casts", text, types, None, lanes_of(types, 1))


@cache
def casts() -> dict[str, Entry]:
    """All that need kernels of their own, by name."""
    entries = [of_cast(source, target) for source in TYPES for target in TYPES]
    return {one.name: one for one in entries if isinstance(one, Entry)}


def turning(size: int) -> str:
    """The name of the kernel that copies elements of a size by tiles."""
    return f"turn_{WORD[size]}"


def sources() -> dict[str, CudaSource]:
    """The source of each image."""
    lines = [f"AG_TURN({turning(size)}, ag_{WORD[size]}, {tile})" for size, tile in TILE.items()]
    text = '#include "copies.cuh"\n\n' + "\n".join(lines) + "\n"
    return images(casts().values()) | {"copies": CudaSource(text)}
