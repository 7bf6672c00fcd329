# cython: language_level=3
"""The elementwise loops of the SIMD target chosen at import, by kernel number and type code.

A kernel is known by name: `cdef int K_ADD = kernel_number("add")`. Its number is found at import,
so that a new kernel changes no module that does not use it.
"""
from autograd_cy._C.dtypes cimport DTYPES

ctypedef void (*loop_t)(char** p, const Py_ssize_t* s, Py_ssize_t n) noexcept nogil

cdef enum:
    KERNEL_SPACE = 512         # more kernels than there are
    # How a kernel that computes half types in float32 takes a number: as float32 too, and then
    # whether the second operand may also be a 0-d tensor of a wider dtype.
    KEEPS_NUMBER = 1
    KEEPS_FACTOR = 2

ctypedef struct kernel_table:
    loop_t loops[KERNEL_SPACE][DTYPES]   # NULL where a kernel has no loop
    loop_t casts[DTYPES][DTYPES]         # from, to
    float cost[KERNEL_SPACE]
    unsigned char keeps[KERNEL_SPACE]

cdef kernel_table* KT
cdef int kernel_number(str name) except -1
