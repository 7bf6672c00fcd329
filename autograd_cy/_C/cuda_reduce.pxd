# cython: language_level=3
"""Reductions on CUDA devices: how dimensions become a launch, for all that reduces."""
from libc.stdint cimport uint64_t
from autograd_cy._C.devices cimport stream_t
from autograd_cy._C.tensor cimport Tensor

# What is reduced, with kernels of these names.
cdef enum:
    OP_SUM = 0
    OP_PRODUCT = 1
    OP_EXTREME = 2       # values, or places, or both
    OP_LOGSUMEXP = 3
    OP_VARIANCE = 4      # of real numbers, and means
    OP_SQUARES = 5
    OP_TRUTH = 6

# How to divide by `size` in a kernel: fills an ag_wide_divisor of device/reduction_arguments.h.
cdef void set_divisor(void* divisor, uint64_t size) noexcept nogil

# out (or None) and second (or None) = reduction of `a` over the marked dimensions. `x` and `y` are
# what the kernel finishes with: a scale, or a divisor and whether the root is taken, or a mask.
cdef int reduce(int op, Tensor a, const char* mask, Tensor out, Tensor second, double x, double y,
                bint turned) except -1

# The sums of the columns of doubles in `partial`, [count][columns], times `scale`, side by side in
# dtype `dt`.
cdef int join_sums(int index, stream_t stream, const void* partial, uint64_t count,
                   uint64_t columns, double scale, char* out, int dt) except -1
