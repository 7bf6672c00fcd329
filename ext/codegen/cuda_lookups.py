"""The sources of losses of classes, bags of embeddings and checks of values on CUDA devices.

Bodies are in ext/cuda/device/lookups.cuh.
"""

from __future__ import annotations

from ext.codegen.cuda_reductions import ELEMENTS, FLOATS
from ext.codegen.cuda_sources import CudaSource


def sources() -> dict[str, CudaSource]:
    """The source of the image: {its name: source}."""
    lines = [
        "AG_KERNEL_TOGETHER(nll_total, ag_nll_args, AG_LOOKUP_THREADS) { ag_nll_total(a); }",
        "AG_KERNEL(bag_check, ag_bag_args) { ag_bag_check(a); }",
        "AG_KERNEL(check_range, ag_check_args) { ag_check_range(a); }",
        "AG_KERNEL(check_signs, ag_check_args) { ag_check_signs(a); }",
    ]
    for dtype in FLOATS:
        element = ELEMENTS[dtype]
        lines += [
            f"AG_KERNEL_TOGETHER(nll_{dtype}, ag_nll_args, AG_LOOKUP_THREADS) "
            f"{{ ag_nll<{element}>(a); }}",
            f"AG_KERNEL(nll_backward_{dtype}, ag_nll_args) {{ ag_nll_backward<{element}>(a); }}",
            f"AG_KERNEL(bag_{dtype}, ag_bag_args) {{ ag_bag<{element}>(a); }}",
        ]
    text = "\n".join(lines)
    return {"lookups": CudaSource(f'#include "lookups.cuh"\n\n{text}\n')}
