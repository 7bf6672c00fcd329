"""The sources of operations along rows on CUDA devices (ext/cuda/device/rows.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, HALVES
from ext.codegen.cuda_sources import CudaSource

OPERATIONS = {
    "softmax": "ag_softmax<false>",
    "log_softmax": "ag_softmax<true>",
    "softmax_backward": "ag_softmax_backward<false>",
    "log_softmax_backward": "ag_softmax_backward<true>",
}


def kernel(name: str, dtype: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_row_args, AG_REDUCE_THREADS) "
        f"{{ ag_rows<{OPERATIONS[name]}, {ELEMENTS[dtype]}>(a); }}\n"
    )


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    found = {}
    for image, dtypes in (("halves", HALVES), ("f32", ("f32",)), ("f64", ("f64",))):
        text = "".join(kernel(name, dtype) for dtype in dtypes for name in OPERATIONS)
        found[f"rows_{image}"] = CudaSource(f'#include "rows.cuh"\n\n{text}')
    return found
