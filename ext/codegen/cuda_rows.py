"""The sources of operations along rows on CUDA devices (rows.cuh, norm_rows.cuh), and of
norms of channels and groups (norm_sets.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, HALVES
from ext.codegen.cuda_sources import CudaSource

OPERATIONS = {
    "softmax": "ag_softmax<false>",
    "log_softmax": "ag_softmax<true>",
    "softmax_backward": "ag_softmax_backward<false>",
    "log_softmax_backward": "ag_softmax_backward<true>",
}

# Name: (body, arguments).
NORMS = {
    "norm_rows": ("ag_norm_forward", "ag_norm_args"),
    "norm_rows_backward": ("ag_norm_backward", "ag_norm_args"),
    "norm_columns": ("ag_norm_columns", "ag_norm_columns_args"),
}

SETS = {"norm_sets": "ag_sets_forward", "norm_sets_backward": "ag_sets_backward"}


def kernel(name: str, dtype: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_row_args, AG_REDUCE_THREADS) "
        f"{{ ag_rows<{OPERATIONS[name]}, {ELEMENTS[dtype]}>(a); }}\n"
    )


def norm(name: str, dtype: str) -> str:
    body, arguments = NORMS[name]
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, {arguments}, AG_REDUCE_THREADS) "
        f"{{ {body}<{ELEMENTS[dtype]}>(a); }}\n"
    )


def norm_of_sets(name: str, dtype: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_set_args, AG_REDUCE_THREADS) "
        f"{{ {SETS[name]}<{ELEMENTS[dtype]}>(a); }}\n"
    )


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    sources = {}
    for image, dtypes in (("halves", HALVES), ("f32", ("f32",)), ("f64", ("f64",))):
        text = "".join(kernel(name, dtype) for dtype in dtypes for name in OPERATIONS)
        sources[f"rows_{image}"] = CudaSource(f'#include "rows.cuh"\n\n{text}')
        text = "".join(norm(name, dtype) for dtype in dtypes for name in NORMS)
        sources[f"norm_{image}"] = CudaSource(f'#include "norm_rows.cuh"\n\n{text}')
        text = "".join(norm_of_sets(name, dtype) for dtype in dtypes for name in SETS)
        sources[f"sets_{image}"] = CudaSource(f'#include "norm_sets.cuh"\n\n{text}')
    return sources
