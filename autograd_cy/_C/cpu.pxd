# cython: language_level=3
# Which of the instruction sets that kernels are compiled for is used in this process.

cdef enum:
    TARGET_BASE = 0
    TARGET_AVX2 = 1
    TARGET_AVX512 = 2

cdef int target() noexcept nogil
