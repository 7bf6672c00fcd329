"""The sources of sorts of pairs on CUDA devices (ext/cuda/device/sort.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

# Types of keys and places by name.
WORDS = {"u32": "uint32_t", "u64": "uint64_t"}


def kernel(name: str, body: str) -> str:
    return f"AG_KERNEL_TOGETHER({name}, ag_sort_args, AG_SORT_THREADS) {{ {body}(a); }}\n"


def sources() -> dict[str, CudaSource]:
    """The source of the image: {its name: source}."""
    text = kernel("sort_add", "ag_sort_add")
    for key, word in WORDS.items():
        text += kernel(f"sort_count_{key}", f"ag_sort_count<{word}>")
        text += kernel(f"sort_small_{key}", f"ag_sort_small<{word}>")
        for place, other in WORDS.items():
            text += kernel(f"sort_move_{key}_{place}", f"ag_sort_move<{word}, {other}>")
    return {"pair_sort": CudaSource(f'#include "sort.cuh"\n\n{text}')}
