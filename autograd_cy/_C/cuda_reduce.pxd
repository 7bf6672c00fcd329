# cython: language_level=3
"""Reductions on CUDA devices: how dimensions become a launch, for all that reduces."""
from libc.stdint cimport uint32_t, uint64_t
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

# How results, rows or columns are shared out among the threads of blocks.
cdef enum:
    LOG_THREADS = 8      # of a block
    LOG_WARP = 5
    BLOCKS = 528         # that large GPUs run at once: four for each multiprocessor
    MANY = 1 << 18       # threads that keep a GPU busy

cdef inline uint32_t log_ceil(uint64_t n) noexcept:
    cdef uint32_t k = 0
    while k < 62 and <uint64_t>1 << k < n:
        k += 1
    return k

cdef inline uint64_t quotient_up(uint64_t n, uint64_t d) noexcept:
    return (n + d - 1) // d

# Blocks of a grid that make 1 << width results each; what is beyond a grid they take by turns.
cdef inline unsigned blocks_of(uint64_t results, uint32_t width) noexcept:
    return <unsigned>min(quotient_up(results, <uint64_t>1 << width), <uint64_t>0x7FFFFFFF)

# The number of a kernel for a floating-point dtype, for `launch`: of a family whose images are
# <family>_halves, <family>_f32 and <family>_f64.
cdef int kernel_of_floats(str family, str name, int dt) except -1

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
