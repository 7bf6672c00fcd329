# cython: language_level=3
# The BLAS in use, as a table of pointers that work without the GIL.  Column-major, Fortran calling
# convention, 32-bit sizes.  The table is filled by ensure_blas(), at the first product and not at
# import, because loading SciPy's BLAS takes longer than loading this package.

ctypedef void (*gemm_fn)(
    char* trans_a, char* trans_b, int* m, int* n, int* k, const void* alpha,
    const void* a, int* lda, const void* b, int* ldb, const void* beta,
    void* c, int* ldc) noexcept nogil
ctypedef void (*gemv_fn)(
    char* trans, int* m, int* n, const void* alpha, const void* a, int* lda,
    const void* x, int* incx, const void* beta, void* y, int* incy) noexcept nogil
ctypedef int (*local_threads_fn)(int n) noexcept nogil

cdef enum:
    BLAS_S = 0
    BLAS_D = 1
    BLAS_C = 2
    BLAS_Z = 3

ctypedef struct BlasTable:
    bint ready
    # True unless the user chose a BLAS: all products are then done by our own loops.
    bint own_loops
    # True with AUTOGRAD_CY_BLAS_THREADS=library: products are not split by us.
    bint own_threads
    # Set where the library has a thread-local number of threads (MKL): 1 around each call of ours
    # leaves the rest of the process alone.
    local_threads_fn local_threads
    gemm_fn gemm[4]
    gemv_fn gemv[4]

cdef BlasTable blas

# Fills the table; needs the GIL; cheap once done.
cdef int ensure_blas() except -1
