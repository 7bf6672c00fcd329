"""The sources of attention on CUDA devices (attention.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

PASSES = ("forward", "queries", "keys")

# Suffix of a kernel: (type that is computed in, scores of a thread along rows, columns of a result).
TILES = {"f32": ("float", 4, 64), "f32_wide": ("float", 4, 128), "f64": ("double", 2, 64)}


def sources() -> dict[str, CudaSource]:
    """The source of each image: float32 also reads half types."""
    sources = {}
    for image in ("f32", "f64"):
        text = '#include "attention.cuh"\n\n'
        for suffix, tile in TILES.items():
            if not suffix.startswith(image):
                continue
            arguments = ", ".join(map(str, tile))
            for name in PASSES:
                text += (
                    f"AG_KERNEL_TOGETHER(attention_{name}_{suffix}, ag_attention_args, "
                    f"AG_ATTENTION_BOUNDS) {{ ag_attention_{name}<{arguments}>(a); }}\n"
                )
        sources[f"attention_{image}"] = CudaSource(text)
    return sources
