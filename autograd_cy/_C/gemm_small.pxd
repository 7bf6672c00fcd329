# cython: language_level=3
# What the compiled copies of gemm_small.pyx offer to gemm.pyx: one table of functions each, handed
# over in a capsule.  All matrices are row-major; `ld` is the distance of rows in elements.

# Widen `rows` x `cols` elements of `dtype` to its computing type: float32 for the half types,
# uint32 for integers up to 32 bits, uint64 for int64.  With `trans` the result is transposed.
ctypedef void (*widen_fn)(
    int dtype, bint trans, Py_ssize_t rows, Py_ssize_t cols,
    const void* source, Py_ssize_t ld, void* result, Py_ssize_t ld_result) noexcept nogil

# c = alpha * acc + beta * c, from the computing type; c is not read when beta is 0.
ctypedef void (*narrow_fn)(
    int dtype, Py_ssize_t rows, Py_ssize_t cols, const void* acc, Py_ssize_t ld_acc,
    double alpha, double beta, void* c, Py_ssize_t ldc) noexcept nogil

# acc += a @ b on uint32 or uint64, modulo 2**32 or 2**64: the arithmetic of every integer type.
ctypedef void (*int_product_fn)(
    bint wide, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a, Py_ssize_t lda,
    const void* b, Py_ssize_t ldb, void* acc, Py_ssize_t ldc) noexcept nogil

ctypedef struct SmallTable:
    widen_fn widen
    narrow_fn narrow
    int_product_fn int_product
