"""The sources of sorts of rows, unique elements and counts on CUDA devices (orders.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sort import WORDS
from ext.codegen.cuda_sources import CudaSource

UNIQUE = ("mark", "keys", "write", "count", "slices")


def together(name: str, arguments: str, body: str) -> str:
    return f"AG_KERNEL_TOGETHER({name}, {arguments}, AG_ORDER_THREADS) {{ {body}(a); }}\n"


def kernel_text(name: str, arguments: str, body: str) -> str:
    return f"AG_KERNEL({name}, {arguments}) {{ {body}(a); }}\n"


def sources() -> dict[str, CudaSource]:
    """The source of the image: {its name: source}."""
    text = kernel_text("order_write", "ag_order_args", "ag_order_write")
    for word, kind in WORDS.items():
        text += kernel_text(f"order_keys_{word}", "ag_order_args", f"ag_order_keys<{kind}>")
        text += kernel_text(f"order_rows_{word}", "ag_order_args", f"ag_order_rows<{kind}>")
        text += together(f"order_small_{word}", "ag_order_args", f"ag_order_small<{kind}>")
    for name in UNIQUE:
        text += kernel_text(f"unique_{name}", "ag_unique_args", f"ag_unique_{name}")
    text += together("bins", "ag_count_args", "ag_bins")
    text += kernel_text("repeated", "ag_count_args", "ag_repeated")
    return {"orders": CudaSource(f'#include "orders.cuh"\n\n{text}')}
