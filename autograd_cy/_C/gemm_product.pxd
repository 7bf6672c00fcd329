# cython: language_level=3
# What the modules of matrix products share: the description of one product and its addresses.

from autograd_cy._C.dtypes cimport DT_C64, DT_SIZE
from autograd_cy._C.sizes cimport parts, round_up

# What products return.
cdef enum:
    GEMM_OK = 0
    GEMM_NO_MEMORY = 1
    GEMM_NO_BLAS = 2
    GEMM_BAD_DTYPE = 3
    # A leading dimension that the chosen BLAS, with its 32-bit sizes, cannot take.
    GEMM_TOO_LARGE = 4
    # Python's exception is set: a signal has come in between.
    GEMM_INTERRUPTED = 5

# Signals during one product: who called it, when it last looked for them, whether one has raised.
ctypedef struct Served:
    unsigned long caller
    double looked
    int stopped

# c[m, n] = alpha * op(a) @ op(b) + beta * c; see gemm.pxd.
ctypedef struct Product:
    int dtype
    int trans_a
    int trans_b
    Py_ssize_t m
    Py_ssize_t n
    Py_ssize_t k
    double alpha_re
    double alpha_im
    const char* a
    Py_ssize_t lda
    const char* b
    Py_ssize_t ldb
    double beta
    char* c
    Py_ssize_t ldc
    Served* served      # NULL inside of somebody else's parallel region
    const char* row     # NULL, or what each row of c begins with, which isn't read then


cdef inline Py_ssize_t itemsize(int dtype) noexcept nogil:
    return DT_SIZE[dtype]


cdef inline bint is_complex(int dtype) noexcept nogil:
    return dtype >= DT_C64


# Address of op(a)[i, q], op(b)[q, j] and c[i, j].

cdef inline const char* a_at(const Product* p, Py_ssize_t i, Py_ssize_t q) noexcept nogil:
    return p.a + (q * p.lda + i if p.trans_a else i * p.lda + q) * itemsize(p.dtype)


cdef inline const char* b_at(const Product* p, Py_ssize_t q, Py_ssize_t j) noexcept nogil:
    return p.b + (j * p.ldb + q if p.trans_b else q * p.ldb + j) * itemsize(p.dtype)


cdef inline char* c_at(const Product* p, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    return p.c + (i * p.ldc + j) * itemsize(p.dtype)


# The sides of a part of a result for each of `count` threads, which is quickest for the largest:
# to pack a number costs as much as sixteen multiplications.
cdef inline void even_grid(Py_ssize_t rows, Py_ssize_t row_step, Py_ssize_t cols,
                           Py_ssize_t col_step, int count, Py_ssize_t* row_side,
                           Py_ssize_t* col_side) noexcept nogil:
    cdef Py_ssize_t down, high, wide
    cdef double time, least = 0
    for down in range(1, count + 1):
        if count % down == 0:
            high = round_up(parts(rows, down), row_step)
            wide = round_up(parts(cols, count // down), col_step)
            time = <double>high * wide + 16.0 * (high + wide)
            if least == 0 or time < least:
                least = time
                row_side[0] = high
                col_side[0] = wide


cdef inline Py_ssize_t even_part(
        Py_ssize_t length, Py_ssize_t longest, Py_ssize_t multiple) noexcept nogil:
    # Parts as even as can be, none longer than `longest` (but for rounding).
    return round_up(parts(length, parts(length, longest)), multiple)
