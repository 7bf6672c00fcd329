"""The sources of gathers, joins, padding, triangles, ranges and masks on CUDA devices.

Moves are by the size of elements alone. Bodies are in ext/cuda/device/gathers.cuh and masks.cuh.
"""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, FLOATS
from ext.codegen.cuda_sources import CudaSource

WORDS = {
    "w8": "uint8_t",
    "w16": "uint16_t",
    "w32": "uint32_t",
    "w64": "uint64_t",
    "w128": "ag_long_word",
}

# Name: (body, arguments); each is made for all words.
MOVES = {
    "take_one": ("ag_take<{}, 1>", "ag_take_args"),
    "take": ("ag_take<{}, AG_INDICES>", "ag_take_args"),
    "join": ("ag_join<{}>", "ag_join_args"),
    "pad": ("ag_pad<{}>", "ag_pad_args"),
    "triangle": ("ag_triangle<{}>", "ag_triangle_args"),
}


def kernel(name: str, body: str, arguments: str) -> str:
    return f"AG_KERNEL({name}, {arguments}) {{ {body}(a); }}\n"


def mask(name: str) -> str:
    return f"AG_KERNEL_TOGETHER({name}, ag_mask_args, AG_MASK_THREADS) {{ ag_{name}(a); }}\n"


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    moves = "".join(
        kernel(f"{name}_{w}", body.format(word), arguments)
        for name, (body, arguments) in MOVES.items()
        for w, word in WORDS.items()
    )
    rest = kernel("index_keys", "ag_make_keys", "ag_key_args")
    rest += kernel("range", "ag_range", "ag_range_args")
    for dtype in FLOATS:
        rest += kernel(
            f"pad_backward_{dtype}", f"ag_pad_backward<{ELEMENTS[dtype]}>", "ag_pad_args"
        )
    masks = "".join(map(mask, ("mask_count", "mask_add", "mask_write")))
    return {
        "gather": CudaSource(f'#include "gathers.cuh"\n\n{moves}{rest}'),
        "masks": CudaSource(f'#include "masks.cuh"\n\n{masks}'),
    }
