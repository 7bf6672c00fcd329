"""How precise products of matrices may be on a GPU: one state for all the names that torch has.

`set_float32_matmul_precision` and ``backends.cuda.matmul`` read and set it. Nothing of CUDA is
imported here; the module that calls cuBLAS is told once it is loaded.
"""

from __future__ import annotations

import sys

__all__ = ["SWITCHES", "Switches"]


class Switches:
    """The switches with torch's defaults."""

    precision: str = "highest"  # of float32: below it, TF32 is allowed
    precision_was_set: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_fp16_reduced_precision_reduction_split_k: bool = True
    allow_bf16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction_split_k: bool = True
    allow_fp16_accumulation: bool = False  # kept: sums of half types are always float32

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 matrices may be rounded to TF32, which has 10 bits of mantissa."""
        return self.precision != "highest"

    def set_precision(self, precision: str) -> None:
        """Set that of float32."""
        self.precision, self.precision_was_set = precision, True
        self.tell()

    def tell(self) -> None:
        """Let the calls of cuBLAS know, if there are any in this process."""
        blas = sys.modules.get("autograd_cy._C.cuda_blas")
        if blas is not None:
            blas.set_precision(
                self.allow_tf32,
                self.allow_fp16_reduced_precision_reduction,
                self.allow_bf16_reduced_precision_reduction,
            )


SWITCHES = Switches()
