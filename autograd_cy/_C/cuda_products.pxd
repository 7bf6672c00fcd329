# cython: language_level=3
"""Products of matrices of CUDA devices, for kernels that are made of them."""

# c = a @ b, or with `add` c += a @ b, of memory of a device on its current stream: c is (m, n), a
# (m, k), or (k, m) if it is turned, b (k, n) or (n, k). In rows with leading dimensions, which
# aren't less than the rows are long.
cdef int multiply(const char* op, int dt, int device, bint turn_a, bint turn_b, Py_ssize_t m,
                  Py_ssize_t n, Py_ssize_t k, const void* a, Py_ssize_t lda, const void* b,
                  Py_ssize_t ldb, bint add, void* c, Py_ssize_t ldc) except -1
