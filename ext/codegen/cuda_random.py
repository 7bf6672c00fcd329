"""The source of the kernels that draw random numbers on CUDA devices (random.cuh)."""

from __future__ import annotations

from ext.codegen.cuda_sources import CudaSource

# Names of kernels; the dtype in memory is an argument.
FILLS = ("uniform_floats", "uniform_doubles", "normal_floats", "normal_doubles",
         "exponential_floats", "exponential_doubles", "ones", "ones_each", "integers")  # fmt: skip

# Name: (arguments, threads, body).
OTHERS = {
    "permutation": ("ag_permutation_args", "AG_PERMUTATION_THREADS", "ag_permute"),
    "check_weights": ("ag_parameters_args", "AG_RANDOM_THREADS", "ag_check_weights"),
}


def sources() -> dict[str, CudaSource]:
    """The source of the image."""
    text = '#include "random.cuh"\n\n'
    for name in FILLS:
        text += (
            f"AG_KERNEL_TOGETHER({name}, ag_random_args, AG_RANDOM_THREADS) "
            f"{{ ag_fill<ag_{name}>(a); }}\n"
        )
    for name, (arguments, threads, body) in OTHERS.items():
        text += f"AG_KERNEL_TOGETHER({name}, {arguments}, {threads}) {{ {body}(a); }}\n"
    text += "AG_KERNEL(check_widths, ag_parameters_args) { ag_check_widths(a); }\n"
    # A seed gives the CPU's numbers: nothing is contracted to fused products.
    return {"random": CudaSource(text, ("-fmad=false",))}
