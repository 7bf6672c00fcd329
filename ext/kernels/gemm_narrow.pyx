# cython: language_level=3
# Products with a narrow matrix x of a few rows: the other one, w, is read once and in order, which
# is all that counts.  Complex ones are products of real numbers with twice as many rows of x.

from cpython.pycapsule cimport PyCapsule_GetPointer

from autograd_cy._C.dtypes cimport DT_C64, DT_F32
from autograd_cy._C.gemm_loops cimport CHUNK, KIND_F32, KIND_F64, LoopTable
from autograd_cy._C.gemm_product cimport (
    GEMM_NO_MEMORY, GEMM_OK, Product, even_part, is_complex, parts)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.scratch cimport give_scratch, take_scratch

from autograd_cy._C import cpu

cdef LoopTable loops = (<LoopTable*>PyCapsule_GetPointer(
    cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

ctypedef fused real:
    float
    double


# Everything in real numbers: c[i * row_step + j * col_step] = alpha * (w @ x.T) + beta * c.
ctypedef struct Narrow:
    int kind
    Py_ssize_t size
    bint along_k        # rows of w are contiguous along k, else its columns are neighbours
    Py_ssize_t m
    int few
    Py_ssize_t k
    const char* w
    Py_ssize_t ldw
    const char* x
    Py_ssize_t ldx
    double alpha
    double beta
    char* c
    Py_ssize_t row_step
    Py_ssize_t col_step
    Py_ssize_t chunk


# Which operand is which: the product as the caller gave it, seen from w.
ctypedef struct Roles:
    Py_ssize_t m
    int few
    const char* w
    Py_ssize_t ldw
    bint along_k
    bint conj_w
    const char* x
    # Steps of x from row to row and along k, and of c.
    Py_ssize_t x_row
    Py_ssize_t x_step
    bint conj_x
    Py_ssize_t row_step
    Py_ssize_t col_step


cdef bint suits_narrow(const Product* p) noexcept nogil:
    return min(p.m, p.n) <= (2 if is_complex(p.dtype) else 4)


cdef void assign_roles(const Product* p, Roles* r) noexcept nogil:
    if p.n <= p.m:
        r.m, r.few = p.m, <int>p.n
        r.w, r.ldw, r.along_k, r.conj_w = p.a, p.lda, p.trans_a == 0, p.trans_a == 2
        r.x, r.conj_x = p.b, p.trans_b == 2
        r.x_row = p.ldb if p.trans_b else 1
        r.x_step = 1 if p.trans_b else p.ldb
        r.row_step, r.col_step = p.ldc, 1
    else:
        r.m, r.few = p.n, <int>p.m
        r.w, r.ldw, r.along_k, r.conj_w = p.b, p.ldb, p.trans_b != 0, p.trans_b == 2
        r.x, r.conj_x = p.a, p.trans_a == 2
        r.x_row = 1 if p.trans_a else p.lda
        r.x_step = p.lda if p.trans_a else 1
        r.row_step, r.col_step = 1, p.ldc


cdef void run_chunk(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Narrow* t = <Narrow*>ctx
    cdef Py_ssize_t i = index * t.chunk, rows = min(t.chunk, t.m - i)
    cdef char* c = t.c + i * t.row_step * t.size
    if t.along_k:
        loops.dot_rows(
            t.kind, rows, t.few, t.k, t.w + i * t.ldw * t.size, t.ldw, t.x, t.ldx,
            t.alpha, t.beta, c, t.row_step, t.col_step)
    else:
        loops.add_rows(
            t.kind, rows, t.few, t.k, t.w + i * t.size, t.ldw, t.x, t.ldx,
            t.alpha, t.beta, c, t.row_step, t.col_step)


cdef void run_chunks(Narrow* t) noexcept nogil:
    # Chunks are cut at multiples of what the loops take at once, so that the sums do not depend on
    # their number.
    cdef int threads = team_size(0.5 * t.m * t.k)
    t.chunk = t.m if threads == 1 else even_part(t.m, max(parts(t.m, 4 * threads), 16), 16)
    if not t.along_k:
        t.chunk = min(t.chunk, <Py_ssize_t>CHUNK)
    parallel_for(run_chunk, t, parts(t.m, t.chunk), threads)


cdef void pack_rows(
        Py_ssize_t rows, Py_ssize_t k, const real* x, Py_ssize_t row, Py_ssize_t step,
        real* result) noexcept nogil:
    cdef Py_ssize_t i, q
    for i in range(rows):
        for q in range(k):
            result[i * k + q] = x[i * row + q * step]


cdef int run_real(const Product* p, const Roles* r, Narrow* t) noexcept nogil:
    cdef void* scratch = NULL
    t.m, t.few, t.k = r.m, r.few, p.k
    t.w, t.ldw, t.along_k = r.w, r.ldw, r.along_k
    t.x, t.ldx = r.x, r.x_row
    t.alpha, t.beta = p.alpha_re, p.beta
    t.c, t.row_step, t.col_step = p.c, r.row_step, r.col_step
    if r.x_step != 1:
        scratch = take_scratch(t.few * t.k * t.size)
        if scratch == NULL:
            return GEMM_NO_MEMORY
        if t.kind == KIND_F32:
            pack_rows(t.few, t.k, <float*>r.x, r.x_row, r.x_step, <float*>scratch)
        else:
            pack_rows(t.few, t.k, <double*>r.x, r.x_row, r.x_step, <double*>scratch)
        t.x, t.ldx = <char*>scratch, t.k
    run_chunks(t)
    give_scratch(scratch)
    return GEMM_OK


cdef void split_parts(
        const Product* p, const Roles* r, const real* x, real* result) noexcept nogil:
    # Two real rows for one complex row x: with w contiguous along k those whose products with the
    # interleaved parts of w are the parts of the result, else the parts of x.
    cdef Py_ssize_t q, k = p.k
    cdef real re, im, scaled, alpha_re = <real>p.alpha_re, alpha_im = <real>p.alpha_im
    cdef real sign = -1 if r.conj_x else 1, turn = -1 if r.conj_w else 1
    for q in range(k):
        re, im = x[2 * q * r.x_step], sign * x[2 * q * r.x_step + 1]
        scaled = alpha_re * re - alpha_im * im
        im = alpha_re * im + alpha_im * re
        re = scaled
        if r.along_k:
            result[2 * q], result[2 * q + 1] = re, -turn * im
            result[2 * k + 2 * q], result[2 * k + 2 * q + 1] = im, turn * re
        else:
            result[q], result[k + q] = re, im


cdef void join_parts(
        const Product* p, const Roles* r, const real* sums, real* c) noexcept nogil:
    # c = s0 + i s1 + beta * c for the products s0 and s1 of w with the parts of x.
    cdef Py_ssize_t i, at
    cdef real turn = -1 if r.conj_w else 1, beta = <real>p.beta, re, im
    cdef const real* other = sums + 2 * r.m
    for i in range(r.m):
        re = sums[2 * i] - turn * other[2 * i + 1]
        im = turn * sums[2 * i + 1] + other[2 * i]
        at = 2 * i * r.row_step
        if beta != 0:
            re += beta * c[at]
            im += beta * c[at + 1]
        c[at], c[at + 1] = re, im


cdef int run_complex(const Product* p, const Roles* r, Narrow* t) noexcept nogil:
    cdef int j
    cdef char* sums
    cdef const char* x
    cdef char* c
    if r.m == 1 and r.few == 1 and r.along_k and r.x_step == 1:
        # The other vector is as long as x: neither is written in another form.
        loops.dot_complex(t.kind, p.k, r.w, r.conj_w, r.x, r.conj_x, p.alpha_re, p.alpha_im,
                          p.beta, p.c)
        return GEMM_OK
    cdef Py_ssize_t parts_of_x = (4 if r.along_k else 2) * p.k
    cdef char* scratch = <char*>take_scratch((parts_of_x + 4 * r.m) * t.size)
    if scratch == NULL:
        return GEMM_NO_MEMORY
    sums = scratch + parts_of_x * t.size
    t.few, t.w, t.ldw, t.along_k = 2, r.w, 2 * r.ldw, r.along_k
    t.x, t.alpha, t.beta = scratch, 1, 0
    for j in range(r.few):
        x, c = r.x + 2 * j * r.x_row * t.size, p.c + 2 * j * r.col_step * t.size
        if t.kind == KIND_F32:
            split_parts(p, r, <float*>x, <float*>scratch)
        else:
            split_parts(p, r, <double*>x, <double*>scratch)
        if r.along_k:
            t.m, t.k, t.ldx = r.m, 2 * p.k, 2 * p.k
            t.c, t.row_step, t.col_step, t.beta = c, 2 * r.row_step, 1, p.beta
            run_chunks(t)
            continue
        t.m, t.k, t.ldx = 2 * r.m, p.k, p.k
        t.c, t.row_step, t.col_step = sums, 1, 2 * r.m
        run_chunks(t)
        if t.kind == KIND_F32:
            join_parts(p, r, <float*>sums, <float*>c)
        else:
            join_parts(p, r, <double*>sums, <double*>c)
    give_scratch(scratch)
    return GEMM_OK


cdef int run_narrow(const Product* p) noexcept nogil:
    cdef Roles r
    cdef Narrow t
    t.kind = KIND_F32 if p.dtype == DT_F32 or p.dtype == DT_C64 else KIND_F64
    t.size = 4 if t.kind == KIND_F32 else 8
    assign_roles(p, &r)
    if is_complex(p.dtype):
        return run_complex(p, &r, &t)
    return run_real(p, &r, &t)
