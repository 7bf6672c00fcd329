"""The sources of kernels for windows of images on CUDA devices (windows.cuh, depthwise.cuh,
pooling.cuh, resample.cuh, grid.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, FLOATS, INTS
from ext.codegen.cuda_sources import CudaSource

# What is only moved depends on sizes alone.
WORDS = {8: "ag_w8", 16: "ag_w16", 32: "ag_w32", 64: "ag_w64", 128: "ag_w128"}
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

GRIDS = {
    "grid_sample": "ag_grid_args",
    "grid_points": "ag_grid_args",
    "grid_keys": "ag_grid_keys_args",
}
TAPS = {"nearest": 1, "linear": 2, "cubic": 4}


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
    resampling = "".join(
        kernel(
            f"{name}{back}_{dtype}",
            "ag_resample_args",
            f"ag_resample{back}<{ELEMENTS[dtype]}, {taps}>",
        )
        for name, taps in TAPS.items()
        for back in ("", "_backward")
        for dtype in FLOATS
    )
    filters = "".join(
        kernel(f"{name}_{dtype}", "ag_filter_args", f"ag_{name}<{ELEMENTS[dtype]}>")
        for name in ("filter", "filter_backward")
        for dtype in ("f32", "f64")
    )
    filters += kernel("filter_u8", "ag_filter_args", "ag_filter_bytes")
    grids = "".join(
        kernel(f"{name}_{mode}_{dtype}", arguments, f"ag_{name}<{ELEMENTS[dtype]}, {taps}>")
        for mode, taps in TAPS.items()
        for name, arguments in GRIDS.items()
        if name != "grid_points" or taps > 1  # the nearest element stays where it is
        for dtype in FLOATS
    )
    grids += "".join(
        kernel(f"grid_gather_{dtype}", "ag_grid_gather_args", f"ag_grid_gather<{ELEMENTS[dtype]}>")
        for dtype in FLOATS
    )
    return {
        "grid": CudaSource(f'#include "grid.cuh"\n\n{grids}'),
        "resample": CudaSource(f'#include "resample.cuh"\n\n{resampling}{filters}'),
        "pooling": CudaSource(f'#include "pooling.cuh"\n\n{pools}'),
        "windows": CudaSource(f'#include "windows.cuh"\n\n{columns}{folds}'),
        "depthwise": CudaSource(f'#include "depthwise.cuh"\n\n{depthwise}'),
    }
