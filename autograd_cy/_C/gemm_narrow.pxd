# cython: language_level=3
# Products in which one matrix has a few rows only; part of gemm.pyx.

from autograd_cy._C.gemm_product cimport Product

# True for float32, float64 and complex products that run_narrow() takes.
cdef bint suits_narrow(const Product* p) noexcept nogil

# 0, or GEMM_NO_MEMORY.
cdef int run_narrow(const Product* p) noexcept nogil
