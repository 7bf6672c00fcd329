# cython: language_level=3
# Matrix products on pointers, row-major, for every dtype but bool.
#
# dtype codes are those of dtypes.pxd, from uint8 on without uint16, uint32 and uint64.  trans: 0 as
# stored, 1 the stored matrix is the transpose, 2 it is the conjugate transpose (1 for real types).
# ld is the distance of stored rows in elements and at least their length (any value with a single
# row).  Operands must not overlap the result.
#
# ensure_gemm(dtype) must have been called once before.  Integers wrap around; the half types are
# multiplied in float32 and rounded once.  Results are bit-equal for any number of threads.

# Return codes (GEMM_OK, ...) are in gemm_product.pxd.

# True if products of that dtype go to a BLAS: float32, float64 and complex ones do if the user
# chose one (see blas.pyx).
cdef bint needs_blas(int dtype) noexcept nogil

# Loads the BLAS at the first product that needs it; needs the GIL; cheap once done.
cdef int ensure_gemm(int dtype) except -1

# The same without regard to the dtype.
cdef int ensure_blas() except -1

# c[m, n] = alpha * op(a)[m, k] @ op(b)[k, n] + beta * c.  c is not read when beta is 0.
cdef int gemm(
    int dtype, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    double alpha_re, double alpha_im, const void* a, Py_ssize_t lda,
    const void* b, Py_ssize_t ldb, double beta, void* c, Py_ssize_t ldc) noexcept nogil

# c = row + op(a) @ op(b): each row of c begins with the same one.
cdef int gemm_onto(
    int dtype, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a,
    Py_ssize_t lda, const void* b, Py_ssize_t ldb, const void* row, void* c,
    Py_ssize_t ldc) noexcept nogil

# gemm() for each of `batch` triples; strides are in elements, and 0 repeats an operand.
cdef int gemm_batched(
    int dtype, int trans_a, int trans_b, Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
    double alpha_re, double alpha_im, const void* a, Py_ssize_t lda, Py_ssize_t stride_a,
    const void* b, Py_ssize_t ldb, Py_ssize_t stride_b,
    double beta, void* c, Py_ssize_t ldc, Py_ssize_t stride_c) noexcept nogil
