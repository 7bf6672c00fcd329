"""The sources of scans on CUDA devices (ext/cuda/device/scans.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_reductions import COMPLEX, ELEMENTS, FLOATS, HALVES, INTS
from ext.codegen.cuda_sources import CudaSource

# What elements are summed in; products of half types may leave float32 and come back.
SUMS = {
    "i8": "uint32_t", "i16": "uint32_t", "i32": "uint32_t", "i64": "int64_t", "f16": "float",
    "bf16": "float", "f32": "double", "f64": "double", "c64": "ag_c128", "c128": "ag_c128",
}  # fmt: skip
PRODUCTS = {**SUMS, "f16": "double", "bf16": "double"}
MAPS = {dtype: SUMS[dtype] for dtype in ("f32", "f64", "c64", "c128")}
ORDERED = (*INTS, *FLOATS)
REAL = ("f32", "f64")


def kernel(name: str, dtype: str, operation: str) -> str:
    return (
        f"AG_KERNEL_TOGETHER({name}_{dtype}, ag_scan_args, AG_REDUCE_THREADS) "
        f"{{ ag_scan<{operation}>(a); }}\n"
    )


def in_accumulators(name: str, operation: str, accumulators: dict[str, str]) -> str:
    return "".join(
        kernel(name, dtype, f"{operation}<{ELEMENTS[dtype]}, {accumulator}>")
        for dtype, accumulator in accumulators.items()
    )


def of_dtypes(name: str, operation: str, dtypes: tuple[str, ...]) -> str:
    return "".join(kernel(name, d, operation.format(ELEMENTS[d])) for d in dtypes)


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    logs = of_dtypes("log", "ag_running_log<{}>", (*HALVES, *REAL))
    logs += of_dtypes("log", "ag_running_complex_log<{}>", COMPLEX)
    for name, back in (("log_jvp", "false"), ("log_backward", "true")):
        logs += of_dtypes(name, f"ag_log_vector<{{}}, {back}>", REAL)
        logs += of_dtypes(name, f"ag_log_complex_vector<{{}}, {back}>", COMPLEX)
    texts = {
        "scan_sums": in_accumulators("sum", "ag_running_sum", SUMS),
        "scan_products": in_accumulators("product", "ag_running_product", PRODUCTS)
        + in_accumulators("recurrence", "ag_recurrence", MAPS),
        "scan_extremes": of_dtypes("extreme", "ag_running_extreme<{}>", ORDERED),
        "scan_logs": logs,
    }
    return {name: CudaSource(f'#include "scans.cuh"\n\n{text}') for name, text in texts.items()}
