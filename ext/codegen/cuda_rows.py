"""The sources of operations along rows on CUDA devices (rows.cuh, norm_rows.cuh)."""

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


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    sources = {}
    for image, dtypes in (("halves", HALVES), ("f32", ("f32",)), ("f64", ("f64",))):
        text = "".join(kernel(name, dtype) for dtype in dtypes for name in OPERATIONS)
        sources[f"rows_{image}"] = CudaSource(f'#include "rows.cuh"\n\n{text}')
        text = "".join(norm(name, dtype) for dtype in dtypes for name in NORMS)
        sources[f"norm_{image}"] = CudaSource(f'#include "norm_rows.cuh"\n\n{text}')
    return sources
