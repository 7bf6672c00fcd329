# cython: language_level=3
"""cuBLAS, found by dlopen at the first product of a GPU; it is built without the toolkit."""
from autograd_cy._C.devices cimport stream_t

# c = alpha * op(a) @ op(b) + beta * c as cuBLAS has it: in columns, with leading dimensions.
cdef struct BlasCall:
    const char* op             # the operator, for messages
    int dt
    bint wide                  # c is float32, and a and b are of a half type
    int turn_a, turn_b         # BLAS_PLAIN, BLAS_TURNED, BLAS_CONJUGATED
    int m, n, k
    int lda, ldb, ldc
    long long step_a, step_b, step_c     # from one matrix of a batch to the next, in elements
    Py_ssize_t batch
    const void* a
    const void* b
    void* c
    double alpha[2]            # real and imaginary part
    double beta[2]

cdef enum:
    BLAS_PLAIN = 0
    BLAS_TURNED = 1
    BLAS_CONJUGATED = 2        # and turned

cdef bint use_blas(int dt) except -1     # whether there is a cuBLAS, and it has the dtype
# Put it on a stream. 0: done; 1: this cuBLAS doesn't have it on this device.
cdef int blas_call(BlasCall* call, int index, stream_t stream) except -1
