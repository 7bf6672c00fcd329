"""The source of functions with loops on CUDA devices (ext/cuda/device/special.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

TEXT = """#include "special.cuh"

AG_KERNEL(incomplete_gamma, ag_special_args) { ag_incomplete_gamma(a); }
AG_KERNEL(polygamma, ag_special_args) { ag_polygamma(a); }
"""


def sources() -> dict[str, CudaSource]:
    """The source of the image: {its name: source}."""
    return {"special": CudaSource(TEXT)}
