"""The sources of scatters on CUDA devices (ext/cuda/device/scatters.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_gathers import WORDS
from ext.codegen.cuda_reductions import ELEMENTS, FLOATS
from ext.codegen.cuda_sources import CudaSource

# Accumulators of runs that several threads have a part of.
JOINED = {"i64": "int64_t", "f64": "double", "c128": "ag_c128"}


def kernel(name: str, body: str, arguments: str = "ag_scatter_args") -> str:
    return f"AG_KERNEL({name}, {arguments}) {{ {body}(a); }}\n"


def sources() -> dict[str, CudaSource]:
    """The source of the image: {its name: source}."""
    text = "".join(
        kernel(f"scatter_runs_{dtype}", f"ag_scatter_runs<{element}>")
        for dtype, element in ELEMENTS.items()
    )
    text += "".join(
        kernel(f"scatter_short_{dtype}", f"ag_short_scatter<{element}>", "ag_short_scatter_args")
        for dtype, element in ELEMENTS.items()
    )
    text += "".join(
        f"AG_KERNEL_TOGETHER(scatter_join_{name}, ag_scatter_args, AG_SCATTER_THREADS) "
        f"{{ ag_scatter_join<{accumulator}>(a); }}\n"
        for name, accumulator in JOINED.items()
    )
    text += "".join(
        kernel(f"scatter_last_{w}", f"ag_scatter_last<{word}>") for w, word in WORDS.items()
    )
    text += "".join(
        kernel(f"row_shares_{dtype}", f"ag_row_shares<{ELEMENTS[dtype]}>", "ag_row_shares_args")
        for dtype in FLOATS
    )
    return {"scatter": CudaSource(f'#include "scatters.cuh"\n\n{text}')}
