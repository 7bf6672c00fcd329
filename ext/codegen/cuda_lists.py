"""The source of kernels for lists of gradients on CUDA devices (lists.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, FLOATS
from ext.codegen.cuda_sources import CudaSource

BODIES = {"scale_list": "ag_scale_list", "squares_of_list": "ag_squares_of_list"}


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    lines = ['#include "lists.cuh"', ""]
    lines += [
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_list_args, AG_STEP_THREADS) "
        f"{{ {body}<{ELEMENTS[dtype]}>(a); }}"
        for name, body in BODIES.items()
        for dtype in FLOATS
    ]
    lines += [
        "AG_KERNEL_TOGETHER(root_of_sums, ag_root_args, AG_STEP_THREADS) { ag_root_of_sums(a); }",
        "AG_KERNEL_TOGETHER(next_scale, ag_scale_args, AG_STEP_THREADS) { ag_next_scale(a); }",
    ]
    return {"lists": CudaSource("\n".join(lines) + "\n")}
