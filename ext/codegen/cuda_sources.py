"""The sources of all CUDA kernels: the text of each image and the flags that its compiler gets.

An image is what becomes one fatbin, `autograd_cy/_cuda/<image>.fatbin`, and one module of the
driver. A family of kernels has a module here that gives the texts of its images.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

FAMILIES = (
    "cuda_elementwise",
    "cuda_copies",
    "cuda_reductions",
    "cuda_rows",
    "cuda_products",
    "cuda_steps",
    "cuda_lists",
    "cuda_sort",
    "cuda_scans",
    "cuda_orders",
    "cuda_special",
    "cuda_gathers",
    "cuda_scatters",
    "cuda_lookups",
    "cuda_windows",
    "cuda_random",
    "cuda_recurrent",
    "cuda_attention",
)


@dataclass(frozen=True)
class CudaSource:
    """A .cu file."""

    text: str
    flags: tuple[str, ...] = ()  # nvcc's, beside those that all images get


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    sources: dict[str, CudaSource] = {}
    for family in FAMILIES:
        # Imported here: these modules import CudaSource from this one.
        own = importlib.import_module(f"ext.codegen.{family}").sources()
        if twice := sources.keys() & own.keys():
            raise ValueError(f"{family} and an earlier family both make {sorted(twice)}")
        sources |= own
    return sources
