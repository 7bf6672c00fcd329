"""The sources of reductions and losses on CUDA devices: which kernels there are, and in which image.

Bodies are in ext/cuda/device/reductions.cuh, reduction_operations.cuh and losses.cuh. A kernel
reads one dtype and writes any that its accumulator can become; what only differs by turning the
order (the smallest, all) or in the last step (means, roots) is one kernel.
"""

from __future__ import annotations

import re
from pathlib import Path

from ext.codegen.cuda_sources import CudaSource

# Type of the elements in memory by dtype; bool is read as uint8.
ELEMENTS = {
    "u8": "uint8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "f16": "ag_stored_f16", "bf16": "ag_stored_bf16", "f32": "float", "f64": "double",
    "c64": "ag_c64", "c128": "ag_c128",
}  # fmt: skip
INTS, HALVES, COMPLEX = ("u8", "i8", "i16", "i32", "i64"), ("f16", "bf16"), ("c64", "c128")
FLOATS = (*HALVES, "f32", "f64")

# Operations, of all dtypes, of those that have an order, and of floating-point ones.
COMMON = ("sum", "product")
ORDERED = (*COMMON, "extreme")
OF_FLOATS = (*ORDERED, "logsumexp", "variance")

# Truth depends on bits alone, and so on sizes.
WORDS = {
    "w8": "uint8_t",
    "w16": "uint16_t",
    "w32": "uint32_t",
    "w64": "uint64_t",
    "w128": "ag_word_128",
}

# Second passes, by accumulator.
PARTS = {
    "sum_i64": "ag_total<int64_t>", "sum_f64": "ag_total<double>", "sum_c128": "ag_total<ag_c128>",
    "product_i64": "ag_multiplied<int64_t>", "product_f64": "ag_multiplied<double>",
    "product_c128": "ag_multiplied<ag_c128>",
    "extreme_i32": "ag_best<int32_t>", "extreme_i64": "ag_best<int64_t>",
    "extreme_f32": "ag_best<float>", "extreme_f64": "ag_best<double>",
    "truth": "ag_seen", "logsumexp": "ag_log_of_sum", "variance": "ag_spread",
}  # fmt: skip

DEVICE = Path(__file__).parents[1] / "cuda" / "device"


def losses() -> list[str]:
    """The formulas of losses, each of which becomes a kernel of each dtype."""
    text = (DEVICE / "losses.cuh").read_text(encoding="utf-8")
    return re.findall(r"^AG_FORMULA\((\w+),", text, re.MULTILINE)


def reduction(name: str, operation: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}, ag_reduce_args, AG_REDUCE_THREADS) "
        f"{{ ag_reduce<{operation}>(a); }}\n"
    )


def loss(name: str, dtype: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_loss_args, AG_REDUCE_THREADS) "
        f"{{ ag_loss<ag_{name}, {ELEMENTS[dtype]}>(a); }}\n"
    )


def reductions_of(operations: tuple[str, ...], *dtypes: str) -> str:
    return "".join(
        reduction(f"{op}_{dtype}", f"ag_{op}<{ELEMENTS[dtype]}>")
        for dtype in dtypes
        for op in operations
    )


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    squares = (*OF_FLOATS, "squares")
    words = "".join(reduction(f"truth_{w}", f"ag_truth<{WORDS[w]}>") for w in WORDS)
    parts = "".join(reduction(f"{name}_parts", f"ag_joined<{op}>") for name, op in PARTS.items())
    texts = {
        "reduce_ints": reductions_of(ORDERED, *INTS) + words,
        "reduce_halves": reductions_of(OF_FLOATS, *HALVES),
        "reduce_f32": reductions_of(squares, "f32"),
        "reduce_f64": reductions_of(squares, "f64"),
        "reduce_complex": reductions_of(COMMON, *COMPLEX),
        "reduce_parts": parts,
    }
    sources = {
        name: CudaSource(f'#include "reduction_operations.cuh"\n\n{text}')
        for name, text in texts.items()
    }
    for image, dtypes in (("halves", HALVES), ("f32", ("f32",)), ("f64", ("f64",))):
        text = "".join(loss(name, dtype) for dtype in dtypes for name in losses())
        sources[f"loss_{image}"] = CudaSource(f'#include "losses.cuh"\n\n{text}')
    return sources
