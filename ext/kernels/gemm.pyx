# cython: language_level=3
# Matrix products: the tiles, the threads, and the choice of the routine for each tile.
# The BLAS is found in blas.pyx; the loops that no BLAS has are in gemm_small.pyx.

from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer)
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from autograd_cy._C cimport blas as blas_module
from autograd_cy._C.blas cimport BLAS_C, BLAS_D, BLAS_S, BLAS_Z, blas
from autograd_cy._C.gemm_small cimport SmallTable
from autograd_cy._C.parallel cimport parallel_for_dynamic, team_size

from autograd_cy._C import cpu
from autograd_cy._C.blas import blas_info

cdef enum:
    UINT8 = 1
    INT64 = 5
    FLOAT16 = 6
    BFLOAT16 = 7
    FLOAT32 = 8
    FLOAT64 = 9
    COMPLEX64 = 10
    COMPLEX128 = 11

cdef enum:
    # BLAS sizes are 32-bit; longer ones are cut here.
    LONGEST = 1 << 30
    # Panels of the types that are widened first, chosen to stay in the second-level cache.
    PANEL = 256

cdef Py_ssize_t[12] ITEMSIZE
ITEMSIZE[:] = [1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16]

cdef SmallTable small = (<SmallTable*>PyCapsule_GetPointer(
    cpu.load("gemm_small").table_capsule(), "autograd_cy.gemm_small"))[0]


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


ctypedef struct Tiling:
    Product whole
    Py_ssize_t tile_m
    Py_ssize_t tile_n
    Py_ssize_t across
    Py_ssize_t tiles
    # For a batch: distances of the matrices in bytes.
    Py_ssize_t step_a
    Py_ssize_t step_b
    Py_ssize_t step_c
    int failed


cdef int ensure_blas() except -1:
    return blas_module.ensure_blas()


cdef union Scalar:
    float[2] s
    double[2] d


cdef inline void put_scalar(Scalar* scalar, int routine, double re, double im) noexcept nogil:
    if routine == BLAS_S or routine == BLAS_C:
        scalar.s[0] = <float>re
        scalar.s[1] = <float>im
    else:
        scalar.d[0] = re
        scalar.d[1] = im


cdef inline char flag(int trans) noexcept nogil:
    return b"N"[0] if trans == 0 else (b"T"[0] if trans == 1 else b"C"[0])


cdef void blas_product(const Product* p) noexcept nogil:
    # The row-major product is the column-major one of the transposes in reverse order.
    cdef int routine = p.dtype - FLOAT32
    cdef int m = <int>p.n, n = <int>p.m, k, lda = <int>p.ldb, ldb = <int>p.lda, ldc = <int>p.ldc
    cdef char trans_a = flag(p.trans_b), trans_b = flag(p.trans_a)
    cdef Scalar alpha, beta
    cdef Py_ssize_t done = 0, size = ITEMSIZE[p.dtype]
    cdef Py_ssize_t step_a, step_b
    cdef int before = 0
    put_scalar(&alpha, routine, p.alpha_re, p.alpha_im)
    put_scalar(&beta, routine, p.beta, 0)
    if blas.local_threads != NULL and not blas.own_threads:
        before = blas.local_threads(1)
    step_a = size if p.trans_b else p.ldb * size
    step_b = p.lda * size if p.trans_a else size
    while True:
        k = <int>min(p.k - done, <Py_ssize_t>LONGEST)
        blas.gemm[routine](
            &trans_a, &trans_b, &m, &n, &k, &alpha, p.b + done * step_a, &lda,
            p.a + done * step_b, &ldb, &beta, p.c, &ldc)
        done += k
        if done >= p.k:
            break
        put_scalar(&beta, routine, 1, 0)
    if blas.local_threads != NULL and not blas.own_threads:
        blas.local_threads(before)


cdef int widened_product(const Product* p) noexcept nogil:
    # Panels of a and b are widened, multiplied into sums of the wide type, and rounded at the end.
    cdef bint half = p.dtype == FLOAT16 or p.dtype == BFLOAT16
    cdef Py_ssize_t size = ITEMSIZE[p.dtype], wide = 8 if p.dtype == INT64 else 4
    cdef Py_ssize_t mb = min(p.m, <Py_ssize_t>PANEL), nb = min(p.n, <Py_ssize_t>PANEL)
    cdef Py_ssize_t kb = min(p.k, <Py_ssize_t>PANEL)
    cdef Py_ssize_t i, j, q, ib, jb, qb, mi, nj, kq
    cdef const char* a
    cdef const char* b
    cdef char* pa = <char*>malloc((mb * kb + kb * nb + mb * nb) * wide)
    cdef char* pb = pa + mb * kb * wide
    cdef char* sums = pb + kb * nb * wide
    cdef Product part
    if pa == NULL:
        return GEMM_NO_MEMORY
    part.dtype = FLOAT32
    part.alpha_re = part.beta = 1
    part.alpha_im = 0
    part.c = sums
    for jb in range(blocks(p.n, nb)):
        j = jb * nb
        nj = min(nb, p.n - j)
        for ib in range(blocks(p.m, mb)):
            i = ib * mb
            mi = min(mb, p.m - i)
            memset(sums, 0, mi * nj * wide)
            for qb in range(blocks(p.k, kb)):
                q = qb * kb
                kq = min(kb, p.k - q)
                a = p.a + (q * p.lda + i if p.trans_a else i * p.lda + q) * size
                b = p.b + (j * p.ldb + q if p.trans_b else q * p.ldb + j) * size
                if half:
                    widen_stored(&part, p, mi, nj, kq, a, b, pa, pb)
                    blas_product(&part)
                    continue
                widen_plain(p.dtype, p.trans_a != 0, mi, kq, a, p.lda, pa)
                widen_plain(p.dtype, p.trans_b != 0, kq, nj, b, p.ldb, pb)
                small.int_product(wide == 8, mi, nj, kq, pa, kq, pb, nj, sums, nj)
            small.narrow(
                p.dtype, mi, nj, sums, nj, p.alpha_re, p.beta,
                p.c + (i * p.ldc + j) * size, p.ldc)
    free(pa)
    return GEMM_OK


cdef inline void widen_stored(
        Product* part, const Product* p, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
        const char* a, const char* b, char* pa, char* pb) noexcept nogil:
    # Half types keep their layout: BLAS takes either.
    part.m = m
    part.n = n
    part.k = k
    part.trans_a = p.trans_a
    part.trans_b = p.trans_b
    part.lda = m if p.trans_a else k
    part.ldb = k if p.trans_b else n
    part.ldc = n
    part.a = pa
    part.b = pb
    small.widen(
        p.dtype, False, k if p.trans_a else m, part.lda, a, p.lda, pa, part.lda)
    small.widen(
        p.dtype, False, n if p.trans_b else k, part.ldb, b, p.ldb, pb, part.ldb)


cdef inline void widen_plain(
        int dtype, bint trans, Py_ssize_t rows, Py_ssize_t cols,
        const char* source, Py_ssize_t ld, char* result) noexcept nogil:
    if trans:
        small.widen(dtype, True, cols, rows, source, ld, result, cols)
    else:
        small.widen(dtype, False, rows, cols, source, ld, result, cols)


cdef int scale_result(const Product* p) noexcept nogil:
    # k is 0: the product is an empty sum.
    cdef Py_ssize_t i, j, size = ITEMSIZE[p.dtype]
    cdef char* row
    for i in range(p.m):
        row = p.c + i * p.ldc * size
        if p.beta == 0:
            memset(row, 0, p.n * size)
        elif p.beta == 1:
            continue
        elif p.dtype == FLOAT32 or p.dtype == COMPLEX64:
            for j in range(p.n * size // 4):
                (<float*>row)[j] *= <float>p.beta
        elif p.dtype == FLOAT64 or p.dtype == COMPLEX128:
            for j in range(p.n * size // 8):
                (<double*>row)[j] *= p.beta
        else:
            # alpha = 0 with the result itself in place of sums: only beta counts.
            return scale_narrow(p)
    return GEMM_OK


cdef int scale_narrow(const Product* p) noexcept nogil:
    cdef Py_ssize_t i, wide = 8 if p.dtype == INT64 else 4
    cdef void* zeros = malloc(p.n * wide)
    if zeros == NULL:
        return GEMM_NO_MEMORY
    memset(zeros, 0, p.n * wide)
    small.narrow(p.dtype, p.m, p.n, zeros, 0, 1, p.beta, p.c, p.ldc)
    free(zeros)
    return GEMM_OK


cdef int one_tile(const Product* p) noexcept nogil:
    if p.dtype >= FLOAT32:
        blas_product(p)
        return GEMM_OK
    return widened_product(p)


cdef inline Py_ssize_t blocks(Py_ssize_t length, Py_ssize_t side) noexcept nogil:
    return (length + side - 1) // side


cdef inline Py_ssize_t half_of(Py_ssize_t length) noexcept nogil:
    return ((length + 1) // 2 + 31) // 32 * 32


cdef void plan(Tiling* t) noexcept nogil:
    # The tiles depend on the shape alone, or results would depend on the number of threads.
    cdef double work = <double>t.whole.m * t.whole.n * t.whole.k
    cdef Py_ssize_t wanted = 1
    t.tile_m = min(t.whole.m, <Py_ssize_t>LONGEST)
    t.tile_n = min(t.whole.n, <Py_ssize_t>LONGEST)
    if work >= 128.0 * 128 * 128:
        wanted = 2
        while wanted < 64 and work >= 4.0 * wanted * 128 * 128 * 128:
            wanted *= 2
    count_tiles(t)
    while t.tiles < wanted and (t.tile_m >= 128 or t.tile_n >= 128):
        if t.tile_m >= t.tile_n:
            t.tile_m = half_of(t.tile_m)
        else:
            t.tile_n = half_of(t.tile_n)
        count_tiles(t)


cdef inline void count_tiles(Tiling* t) noexcept nogil:
    t.across = blocks(t.whole.n, t.tile_n)
    t.tiles = t.across * blocks(t.whole.m, t.tile_m)


cdef void run_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Tiling* t = <Tiling*>ctx
    cdef Product part = t.whole
    cdef Py_ssize_t i = tile // t.across * t.tile_m, j = tile % t.across * t.tile_n
    cdef Py_ssize_t size = ITEMSIZE[part.dtype]
    part.m = min(t.tile_m, part.m - i)
    part.n = min(t.tile_n, part.n - j)
    part.a += (i if part.trans_a else i * part.lda) * size
    part.b += (j * part.ldb if part.trans_b else j) * size
    part.c += (i * part.ldc + j) * size
    if one_tile(&part) != GEMM_OK:
        t.failed = GEMM_NO_MEMORY


cdef inline double cost(int dtype) noexcept nogil:
    # One multiplication and addition in steps of team_size()'s unit.
    if dtype == FLOAT32:
        return 0.125
    if dtype == FLOAT64:
        return 0.25
    if dtype == COMPLEX64:
        return 0.5
    return 1


cdef int check(Product* p) noexcept nogil:
    # Leading dimensions of single rows may be anything, and BLAS rejects some values.
    if p.dtype < UINT8 or p.dtype > COMPLEX128:
        return GEMM_BAD_DTYPE
    if p.dtype >= FLOAT16 and not blas.ready:
        return GEMM_NO_BLAS
    if p.dtype < COMPLEX64:
        p.trans_a = p.trans_a != 0
        p.trans_b = p.trans_b != 0
    p.lda = row_distance(p.lda, p.k if p.trans_a else p.m, p.m if p.trans_a else p.k)
    p.ldb = row_distance(p.ldb, p.n if p.trans_b else p.k, p.k if p.trans_b else p.n)
    p.ldc = row_distance(p.ldc, p.m, p.n)
    return GEMM_OK


cdef inline Py_ssize_t row_distance(
        Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t cols) noexcept nogil:
    return max(cols, <Py_ssize_t>1) if rows <= 1 else ld


cdef int run(Tiling* t) noexcept nogil:
    cdef Product* p = &t.whole
    cdef double work
    if p.m <= 0 or p.n <= 0:
        return GEMM_OK
    if p.k <= 0:
        return scale_result(p)
    plan(t)
    if t.tiles == 1:
        return one_tile(p)
    work = cost(p.dtype) * p.m * p.n * p.k
    t.failed = GEMM_OK
    parallel_for_dynamic(run_tile, t, t.tiles, 1 if blas.own_threads else team_size(work))
    return t.failed


cdef int gemm(
        int dtype, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
        double alpha_re, double alpha_im, const void* a, Py_ssize_t lda,
        const void* b, Py_ssize_t ldb, double beta, void* c, Py_ssize_t ldc) noexcept nogil:
    cdef Tiling t
    cdef int status
    t.whole = Product(
        dtype, trans_a, trans_b, m, n, k, alpha_re, alpha_im,
        <const char*>a, lda, <const char*>b, ldb, beta, <char*>c, ldc)
    status = check(&t.whole)
    return status if status != GEMM_OK else run(&t)


cdef void run_matrix(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Tiling t = (<Tiling*>ctx)[0]
    t.whole.a += index * t.step_a
    t.whole.b += index * t.step_b
    t.whole.c += index * t.step_c
    if run(&t) != GEMM_OK:
        (<Tiling*>ctx).failed = GEMM_NO_MEMORY


cdef int gemm_batched(
        int dtype, int trans_a, int trans_b, Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n,
        Py_ssize_t k, double alpha_re, double alpha_im,
        const void* a, Py_ssize_t lda, Py_ssize_t stride_a,
        const void* b, Py_ssize_t ldb, Py_ssize_t stride_b,
        double beta, void* c, Py_ssize_t ldc, Py_ssize_t stride_c) noexcept nogil:
    cdef Tiling t
    cdef int status
    cdef double work
    cdef Py_ssize_t index
    t.whole = Product(
        dtype, trans_a, trans_b, m, n, k, alpha_re, alpha_im,
        <const char*>a, lda, <const char*>b, ldb, beta, <char*>c, ldc)
    status = check(&t.whole)
    if status != GEMM_OK or batch <= 0:
        return status
    t.step_a = stride_a * ITEMSIZE[dtype]
    t.step_b = stride_b * ITEMSIZE[dtype]
    t.step_c = stride_c * ITEMSIZE[dtype]
    t.failed = GEMM_OK
    work = cost(dtype) * m * n * k
    if batch < 4 and work > 1e6:
        # Few large matrices: threads inside each of them.
        for index in range(batch):
            run_matrix(&t, index)
        return t.failed
    parallel_for_dynamic(
        run_matrix, &t, batch, 1 if blas.own_threads else team_size(work * batch))
    return t.failed


# Entry points of tests and diagnosis: products of anything with a buffer.

def gemm_numpy(dtype, a, b, c, trans_a=0, trans_b=0, alpha=1.0, beta=0.0):
    """Compute ``c = alpha * op(a) @ op(b) + beta * c`` in place and return `c`.

    For tests and diagnosis: nothing is promoted, copied or checked beyond what keeps memory safe.

    Parameters
    ----------
    dtype : int
        The dtype code of `gemm.pxd`; the buffers only need items of that size.
    a, b, c : objects with a writable or readable buffer of 2 or 3 dimensions
        Rows must have unit stride.  With 3 dimensions the first one is the batch.
    trans_a, trans_b : int
        0, 1 (stored transposed) or 2 (stored conjugate transposed).
    """
    cdef Py_buffer va, vb, vc
    cdef int code = dtype, ta = trans_a, tb = trans_b, status
    cdef complex factor = alpha
    cdef double keep = beta
    cdef Py_ssize_t m, n, k, batch, sa, sb, sc, la, lb, lc
    if not UINT8 <= code <= COMPLEX128:
        raise ValueError(f"gemm_numpy: unknown dtype code {code}.")
    if code >= FLOAT16:
        ensure_blas()
    PyObject_GetBuffer(a, &va, PyBUF_STRIDES)
    PyObject_GetBuffer(b, &vb, PyBUF_STRIDES)
    PyObject_GetBuffer(c, &vc, PyBUF_STRIDES | PyBUF_WRITABLE)
    try:
        if not (va.ndim == vb.ndim == vc.ndim and va.ndim in (2, 3)):
            raise ValueError("gemm_numpy: a, b and c must have 2 dimensions, or 3 with a batch.")
        la, sa = _layout(&va, ITEMSIZE[code], "a")
        lb, sb = _layout(&vb, ITEMSIZE[code], "b")
        lc, sc = _layout(&vc, ITEMSIZE[code], "c")
        batch = vc.shape[0] if vc.ndim == 3 else 1
        m, n = vc.shape[vc.ndim - 2], vc.shape[vc.ndim - 1]
        k = va.shape[va.ndim - 2] if ta else va.shape[va.ndim - 1]
        shapes = (
            (va.shape[va.ndim - 2], va.shape[va.ndim - 1]),
            (vb.shape[vb.ndim - 2], vb.shape[vb.ndim - 1]),
        )
        if shapes != ((k, m) if ta else (m, k), (n, k) if tb else (k, n)):
            raise ValueError(f"gemm_numpy: shapes {shapes} do not give {(m, n)}.")
        if vc.ndim == 3 and not (va.shape[0] == vb.shape[0] == batch):
            raise ValueError("gemm_numpy: the batches of a, b and c differ.")
        with nogil:
            if vc.ndim == 2:
                status = gemm(
                    code, ta, tb, m, n, k, factor.real, factor.imag,
                    va.buf, la, vb.buf, lb, keep, vc.buf, lc)
            else:
                status = gemm_batched(
                    code, ta, tb, batch, m, n, k, factor.real, factor.imag,
                    va.buf, la, sa, vb.buf, lb, sb, keep, vc.buf, lc, sc)
    finally:
        PyBuffer_Release(&va)
        PyBuffer_Release(&vb)
        PyBuffer_Release(&vc)
    if status == GEMM_NO_MEMORY:
        raise MemoryError("gemm_numpy: no memory for the panels.")
    return c


cdef tuple _layout(Py_buffer* view, Py_ssize_t size, name):
    """Row and batch distances in elements."""
    cdef Py_ssize_t last = view.ndim - 1
    if view.itemsize != size:
        raise ValueError(f"gemm_numpy: {name} has items of {view.itemsize} bytes, not {size}.")
    if view.shape[last] > 1 and view.strides[last] != size:
        raise ValueError(f"gemm_numpy: the rows of {name} must have unit stride.")
    if view.shape[last - 1] > 1 and view.strides[last - 1] < view.shape[last] * size:
        raise ValueError(f"gemm_numpy: the rows of {name} overlap.")
    return view.strides[last - 1] // size, view.strides[0] // size if view.ndim == 3 else 0


def tiles(m, n, k):
    """Return the tile sides and their number for a product of that size."""
    cdef Tiling t
    t.whole.m, t.whole.n, t.whole.k = m, n, k
    plan(&t)
    return t.tile_m, t.tile_n, t.tiles
