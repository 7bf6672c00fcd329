"""The sources of products: a kernel of each body of ext/cuda/device/products.cuh for each dtype."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

# What is loaded together: {image: dtypes}.
IMAGES = {
    "products_floats": ("f32", "f64"),
    "products_halves": ("f16", "bf16"),
    "products_complex": ("c64", "c128"),
    "products_integers": ("u8", "i8", "i16", "i32", "i64"),
}
LARGE = ("f32", "f16", "bf16")  # dtypes that also have tiles of 128 x 128


def text(dtypes: tuple[str, ...]) -> str:
    """The text of an image."""
    lines = ['#include "products.cuh"', ""]
    lines += [f"AG_PRODUCTS({dtype})" for dtype in dtypes]
    lines += [f"AG_LARGE_PRODUCT({dtype})" for dtype in dtypes if dtype in LARGE]
    return "\n".join([*lines, ""])


def sources() -> dict[str, CudaSource]:
    """The source of each image of products."""
    return {image: CudaSource(text(dtypes)) for image, dtypes in IMAGES.items()}
