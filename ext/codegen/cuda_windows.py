"""The sources of kernels for windows of images on CUDA devices (windows.cuh, depthwise.cuh,
pooling.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, INTS
from ext.codegen.cuda_sources import CudaSource

# What is only moved depends on sizes alone.
WORDS = {8: "ag_w8", 16: "ag_w16", 32: "ag_w32", 64: "ag_w64", 128: "ag_w128"}
FLOATS = ("f16", "bf16", "f32", "f64")
FOLDED = {
    "b1": "ag_stored_bool",
    **{dtype: ELEMENTS[dtype] for dtype in (*FLOATS, "c64", "c128")},
}

# Name: dtypes.
POOLS = {
    "max_pool": (*INTS, *FLOATS),
    "max_pool_backward": FLOATS,
    "avg_pool": ("i64", *FLOATS),
    "avg_pool_backward": FLOATS,
}


def kernel(name: str, arguments: str, call: str, threads: str = "") -> str:
    """A kernel; with `threads`, one whose threads wait for each other."""
    if threads:
        return f"AG_KERNEL_TOGETHER({name}, {arguments}, {threads}) {{ {call}(a); }}\n"
    return f"AG_KERNEL({name}, {arguments}) {{ {call}(a); }}\n"


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    columns = "".join(
        kernel(f"columns_w{bits}", "ag_columns_args", f"ag_columns<{word}>")
        for bits, word in WORDS.items()
    )
    folds = "".join(
        kernel(f"fold_{dtype}", "ag_fold_args", f"ag_fold<{element}>")
        for dtype, element in FOLDED.items()
    )
    depthwise = "".join(
        kernel(f"depthwise_{dtype}", "ag_depthwise_args", f"ag_depthwise<{ELEMENTS[dtype]}>")
        + kernel(
            f"depthwise_weight_{dtype}",
            "ag_depthwise_weight_args",
            f"ag_depthwise_weight<{ELEMENTS[dtype]}>",
            "AG_REDUCE_THREADS",
        )
        for dtype in FLOATS
    )
    pools = "".join(
        kernel(f"{name}_{dtype}", "ag_pool_args", f"ag_{name}<{ELEMENTS[dtype]}>")
        for name, dtypes in POOLS.items()
        for dtype in dtypes
    )
    return {
        "pooling": CudaSource(f'#include "pooling.cuh"\n\n{pools}'),
        "windows": CudaSource(f'#include "windows.cuh"\n\n{columns}{folds}'),
        "depthwise": CudaSource(f'#include "depthwise.cuh"\n\n{depthwise}'),
    }
