# cython: language_level=3
# Matrix products: which routine a product goes to, how it is cut, and over how many threads.
#
# The loops are in gemm_loops.pyx; a BLAS chosen by the user (blas.pyx) takes the products of
# float32, float64 and complex numbers.  The number of threads decides who computes what, never what
# is computed: each element of a result is the same sum in the same order for any number.

from cpython.buffer cimport (
    PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer)
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy, memset

from autograd_cy._C cimport blas as blas_module
from autograd_cy._C.blas cimport BLAS_C, BLAS_S, blas
from autograd_cy._C.dtypes cimport (
    DT_C128 as COMPLEX128, DT_C64 as COMPLEX64, DT_F16 as FLOAT16, DT_F32 as FLOAT32,
    DT_F64 as FLOAT64, DT_I64 as INT64, DT_U8 as UINT8, dt_is_limited)
from autograd_cy._C.gemm_loops cimport (
    BY_COLUMNS, BY_ROWS, KIND_F32, KIND_F64, KIND_U32, KIND_U64, LoopTable, STRIPS)
from autograd_cy._C.gemm_narrow cimport run_narrow, suits_narrow
from autograd_cy._C.gemm_product cimport (
    GEMM_BAD_DTYPE, GEMM_INTERRUPTED, GEMM_NO_BLAS, GEMM_NO_MEMORY, GEMM_OK, GEMM_TOO_LARGE,
    Product, Served, a_at, b_at, c_at, even_grid, even_part, is_complex, itemsize, parts, round_up)
from autograd_cy._C.parallel cimport (
    in_parallel_region, parallel_for, parallel_for_dynamic, team_size)
from autograd_cy._C.scratch cimport give_scratch, take_scratch

from autograd_cy._C import cpu

cdef extern from "Python.h":
    int PyErr_CheckSignals() noexcept
    unsigned long PyThread_get_thread_ident() noexcept nogil

cdef extern from *:
    """
    #include <time.h>
    static double agc_seconds(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + 1e-9 * t.tv_nsec;
    }
    /* The exception that is set already, as Cython sees one. */
    static int agc_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    double agc_seconds() noexcept nogil
    int agc_pass_on() except -1

# How often a product looks whether Ctrl-C was pressed, in seconds: it has to take the GIL for it.
cdef double LOOK_EVERY = 0.03

cdef enum:
    # BLAS sizes are 32-bit; longer ones are cut.
    LONGEST = 1 << 30
    # Longest piece of k: a strip of b then fills half of the first-level cache.
    DEPTH = 256
    # Bytes of packed b that stay in the second-level cache, and of all that is packed at once.
    CACHED = 1 << 18
    PACKED = 1 << 21
    # What goes to a BLAS at once, or in one task to our own loops for a small b, in the time of
    # multiplications of float64: at most some 0.05 s, as Ctrl-C is served in between.
    SERVED_WORK = 1 << 30
    DIRECT_WORK = 1 << 26
    SHORTEST_SUM = 1024
    # Rows of a that go together, and bytes of them where they are packed.
    ROWS = 96
    STRIP_BYTES = 192 * 1024
    # Rows of a whose distance is a multiple of this are packed, if each is used so often: they
    # share the same few places of the first-level cache.
    ALIASED = 4096
    PAYS = 128
    # Rows of sums that are kept in a wider type.
    WIDE_ROWS = 480
    # Parts of a result for each thread: the work of all, and how narrow they may be.
    GRID_WORK = 1 << 28
    NARROWEST = 32
    # Below this many bytes b is used in its own memory format.
    DIRECT = 1 << 17
    # Products of up to so many multiplications are done by our own loops in any batch.
    TINY = 64
    # Long sums for few results are cut in parts of this length.
    PART = 2048

cdef LoopTable loops = (<LoopTable*>PyCapsule_GetPointer(
    cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]


cdef int ensure_blas() except -1:
    return blas_module.ensure_blas()


cdef int ensure_gemm(int dtype) except -1:
    if needs_blas(dtype):
        return blas_module.ensure_blas()
    return 0


cdef bint needs_blas(int dtype) noexcept nogil:
    return dtype >= FLOAT32 and not blas.own_loops


cdef inline int kind_of_dtype(int dtype) noexcept nogil:
    if dtype == FLOAT64 or dtype == COMPLEX128:
        return KIND_F64
    if dtype >= FLOAT16:
        return KIND_F32
    return KIND_U64 if dtype == INT64 else KIND_U32


cdef inline double cost(int dtype) noexcept nogil:
    # One multiplication and addition in steps of team_size()'s unit.
    cdef int kind = kind_of_dtype(dtype)
    cdef double real = 0.125 if kind == KIND_F32 else (1 if kind == KIND_U64 else 0.25)
    return 4 * real if is_complex(dtype) else real


# Signals.

cdef bint stopped(Served* s) noexcept nogil:
    """Between tasks: whether a signal handler of Python (that of Ctrl-C) has raised."""
    cdef double now
    if s == NULL:
        return False
    if not s.stopped and s.caller == PyThread_get_thread_ident():
        now = agc_seconds()
        if now - s.looked >= LOOK_EVERY:
            with gil:
                s.stopped = PyErr_CheckSignals() != 0
            s.looked = agc_seconds()
    return s.stopped


cdef Served* watch_signals(Product* p, Served* s) noexcept nogil:
    """Let the product `p`, which begins now, look for signals; the others' tasks leave it alone."""
    s.caller = PyThread_get_thread_ident()
    s.looked = agc_seconds()
    s.stopped = 0
    p.served = NULL if in_parallel_region() else s
    return p.served


# BLAS.

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
    cdef Py_ssize_t done
    cdef int before = 0
    put_scalar(&alpha, routine, p.alpha_re, p.alpha_im)
    put_scalar(&beta, routine, p.beta, 0)
    if blas.local_threads != NULL:
        before = blas.local_threads(1)
    for done from 0 <= done < p.k by LONGEST:
        k = <int>min(p.k - done, <Py_ssize_t>LONGEST)
        blas.gemm[routine](
            &trans_a, &trans_b, &m, &n, &k, &alpha, b_at(p, done, 0), &lda,
            a_at(p, 0, done), &ldb, &beta, p.c, &ldc)
        put_scalar(&beta, routine, 1, 0)
    if blas.local_threads != NULL:
        blas.local_threads(before)


ctypedef struct Tiling:
    Product p
    Py_ssize_t rows
    Py_ssize_t cols
    Py_ssize_t across
    Py_ssize_t tiles
    Py_ssize_t depth


cdef inline void count_tiles(Tiling* t) noexcept nogil:
    t.across = parts(t.p.n, t.cols)
    t.tiles = t.across * parts(t.p.m, t.rows)


cdef void plan_tiles(Tiling* t) noexcept nogil:
    # A BLAS sums in an order that depends on the shape, so its tiles must not depend on threads.
    cdef double work = <double>t.p.m * t.p.n * t.p.k, most = SERVED_WORK / (4 * cost(t.p.dtype))
    cdef Py_ssize_t wanted = 1
    t.rows = min(t.p.m, <Py_ssize_t>LONGEST)
    t.cols = min(t.p.n, <Py_ssize_t>LONGEST)
    while wanted < 64 and work >= 4.0 * wanted * 96 * 96 * 96:
        wanted *= 2
    count_tiles(t)
    # Long sums are cut, which costs 2 %; smaller tiles cost 15 %.
    while ((t.tiles < wanted
            or <double>t.rows * t.cols * min(t.p.k, <Py_ssize_t>SHORTEST_SUM) > most)
            and (t.rows >= 128 or t.cols >= 128)):
        if t.rows >= t.cols:
            t.rows = round_up(parts(t.rows, 2), 32)
        else:
            t.cols = round_up(parts(t.cols, 2), 32)
        count_tiles(t)
    t.depth = even_part(t.p.k, <Py_ssize_t>min(most / t.rows / t.cols, 1.0 * LONGEST), 8)


cdef void run_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Tiling* t = <Tiling*>ctx
    cdef Product part = t.p
    cdef Py_ssize_t i = tile // t.across * t.rows, j = tile % t.across * t.cols, q
    part.m = min(t.rows, t.p.m - i)
    part.n = min(t.cols, t.p.n - j)
    part.c = c_at(&t.p, i, j)
    for q from 0 <= q < t.p.k by t.depth:
        if stopped(t.p.served):
            break
        part.k = min(t.depth, t.p.k - q)
        part.a = a_at(&t.p, i, q)
        part.b = b_at(&t.p, q, j)
        blas_product(&part)
        part.beta = 1


cdef int run_blas(const Product* p) noexcept nogil:
    cdef Tiling t
    t.p = p[0]
    plan_tiles(&t)
    if t.tiles == 1:
        run_tile(&t, 0)
    elif blas.own_threads:
        parallel_for(run_tile, &t, t.tiles, 1)
    else:
        parallel_for_dynamic(
            run_tile, &t, t.tiles, team_size(cost(p.dtype) * p.m * p.n * p.k))
    return outcome(p)


cdef inline int outcome(const Product* p) noexcept nogil:
    return GEMM_INTERRUPTED if p.served != NULL and p.served.stopped else GEMM_OK


# Products by blocks.

ctypedef struct Blocked:
    Product p
    int kind
    int layout
    Py_ssize_t size         # of an element of the computing type
    # Such elements in one of the dtype: 2 for complex ones, which are seen as interleaved parts.
    # Columns and k below count elements of the computing type.
    Py_ssize_t unit
    # The part that is being worked on.
    Py_ssize_t row
    Py_ssize_t rows
    Py_ssize_t col
    Py_ssize_t cols
    Py_ssize_t q
    Py_ssize_t depth
    # Packed b; and sums of the types that are rounded at the end, else NULL.
    char* packed
    char* sums
    # What one task does.
    Py_ssize_t task_rows
    Py_ssize_t task_cols
    Py_ssize_t across
    int failed


cdef inline bint is_widened(int dtype) noexcept nogil:
    return dtype < FLOAT32


cdef void choose_tasks(Blocked* t, int threads) noexcept nogil:
    # A few tasks for each thread, cut across rows first; at multiples of the blocks, so that the
    # sums do not depend on it.
    cdef Py_ssize_t width = loops.width[t.kind], down, across = 1
    t.task_rows = t.rows
    t.task_cols = t.cols
    if threads > 1:
        down = min(parts(t.rows, ROWS), <Py_ssize_t>(4 * threads))
        down = min(round_up(down, threads), parts(t.rows, 2 * loops.rows))
        t.task_rows = round_up(parts(t.rows, down), loops.rows)
        if down < threads:
            across = min(parts(threads, down), parts(t.cols, 2 * width))
            t.task_cols = round_up(parts(t.cols, across), width)
    t.across = parts(t.cols, t.task_cols)


cdef void pack_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Blocked* t = <Blocked*>ctx
    cdef Py_ssize_t step = 4 * loops.width[t.kind], j = index * step
    loops.pack_b(
        t.p.dtype, t.p.trans_b, t.depth // t.unit, min(step, t.cols - j) // t.unit,
        b_at(&t.p, t.q // t.unit, (t.col + j) // t.unit), t.p.ldb, t.p.alpha_re, t.p.alpha_im,
        t.packed + j * t.depth * t.size)


cdef void block_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Blocked* t = <Blocked*>ctx
    cdef Py_ssize_t first = index // t.across * t.task_rows, j = index % t.across * t.task_cols
    cdef Py_ssize_t i, last = min(first + t.task_rows, t.rows), cols = min(t.task_cols, t.cols - j)
    cdef Py_ssize_t most = round_up(ROWS, loops.rows), rows
    cdef void* strips = NULL
    if t.layout == STRIPS:
        most = max(round_up(STRIP_BYTES // (t.depth * t.size), loops.rows), most)
        most = min(most, round_up(t.task_rows, loops.rows))
        strips = take_scratch(most * t.depth * t.size)
        if strips == NULL:
            t.failed = GEMM_NO_MEMORY
            return
    for i from first <= i < last by most:
        if stopped(t.p.served):
            break
        rows = min(most, last - i)
        if strips != NULL:
            loops.pack_a(
                t.p.dtype, t.p.trans_a, rows, t.depth // t.unit,
                a_at(&t.p, t.row + i, t.q // t.unit), t.p.lda, strips)
        multiply_rows(t, i, rows, j, cols, strips)
    give_scratch(strips)


cdef inline void multiply_rows(
        Blocked* t, Py_ssize_t i, Py_ssize_t rows, Py_ssize_t j, Py_ssize_t cols,
        const void* strips) noexcept nogil:
    # Rows i.. and columns j.. of the part, by pieces of packed b that stay in cache.
    cdef Py_ssize_t width = loops.width[t.kind], last = j + cols, ld = t.p.ldc * t.unit, now
    cdef Py_ssize_t piece = max(CACHED // (t.depth * t.size) // width * width, width)
    cdef const void* a = strips
    # The factor of complex products is in the packed b.
    cdef double alpha = t.p.alpha_re if t.unit == 1 else 1, beta = t.p.beta if t.q == 0 else 1
    cdef char* c
    if strips == NULL:
        a = a_at(&t.p, t.row + i, t.q // t.unit)
    if t.sums != NULL:
        alpha, beta, ld = 1, t.q != 0, t.cols
    for j from j <= j < last by piece:
        now = min(piece, last - j)
        c = c_at(&t.p, t.row + i, (t.col + j) // t.unit)
        if t.sums != NULL:
            c = t.sums + (i * ld + j) * t.size
        if t.p.row != NULL and t.q == 0:
            loops.multiply_onto(
                t.kind, rows, now, t.depth, t.layout, a, t.p.lda, t.packed + j * t.depth * t.size,
                alpha, t.p.row + (t.col + j) * t.size, c, ld)
        else:
            loops.multiply(
                t.kind, rows, now, t.depth, t.layout, a, t.p.lda * t.unit,
                t.packed + j * t.depth * t.size, alpha, beta, c, ld)
        if t.sums != NULL and t.q + t.depth == t.p.k:
            loops.narrow(
                t.p.dtype, rows, now, c, ld, t.p.alpha_re, t.p.beta,
                c_at(&t.p, t.row + i, t.col + j), t.p.ldc)


cdef void multiply_part(Blocked* t) noexcept nogil:
    # All of k for the rows and columns of the part.
    cdef Py_ssize_t k = t.p.k * t.unit, depth = even_part(k, DEPTH, 8), q
    cdef int threads = team_size(cost(t.p.dtype) / t.unit / t.unit * t.rows * t.cols * depth)
    choose_tasks(t, threads)
    for q from 0 <= q < k by depth:
        if stopped(t.p.served):
            break
        t.q, t.depth = q, min(depth, k - q)
        parallel_for(
            pack_task, t, parts(t.cols, 4 * loops.width[t.kind]),
            min(threads, team_size(2.0 * t.cols * depth)))
        parallel_for_dynamic(
            block_task, t, t.across * parts(t.rows, t.task_rows), threads)


cdef inline bint suits_packing(const Product* p) noexcept nogil:
    # Fewer rows than eight stay in a cache of eight ways, where they lie.
    return (loops.rows > 8 and p.m > loops.rows and p.n >= PAYS and not is_complex(p.dtype)
            and p.lda * itemsize(p.dtype) % ALIASED == 0)


cdef int run_panels(const Product* p) noexcept nogil:
    cdef Blocked t
    cdef Py_ssize_t width, columns, rows = p.m, depth, row, col
    cdef size_t nbytes
    t.p = p[0]
    t.kind = kind_of_dtype(p.dtype)
    t.size = 8 if t.kind == KIND_F64 or t.kind == KIND_U64 else 4
    t.unit = 2 if is_complex(p.dtype) else 1
    t.layout = STRIPS if p.dtype < FLOAT32 or p.trans_a or suits_packing(p) else BY_ROWS
    t.failed = GEMM_OK
    width = loops.width[t.kind]
    depth = round_up(min(p.k * t.unit, <Py_ssize_t>DEPTH), 8)
    columns = min(round_up(p.n * t.unit, width), PACKED // (DEPTH * t.size))
    nbytes = columns * depth * t.size
    if is_widened(p.dtype):
        rows = min(p.m, <Py_ssize_t>WIDE_ROWS)
        nbytes += rows * columns * t.size
    t.packed = <char*>take_scratch(nbytes)
    if t.packed == NULL:
        return GEMM_NO_MEMORY
    t.sums = t.packed + columns * depth * t.size if is_widened(p.dtype) else NULL
    for row from 0 <= row < p.m by rows:
        t.row, t.rows = row, min(rows, p.m - row)
        for col from 0 <= col < p.n * t.unit by columns:
            t.col, t.cols = col, min(columns, p.n * t.unit - col)
            multiply_part(&t)
            if stopped(t.p.served):
                give_scratch(t.packed)
                return GEMM_INTERRUPTED
    give_scratch(t.packed)
    return t.failed


# Products of medium size: each thread has a part of the result and packs for itself, so that none
# waits for another before the end.  The largest stay with tasks that threads take as they come.

ctypedef struct Grid:
    Product p
    Py_ssize_t rows
    Py_ssize_t cols
    Py_ssize_t across
    int failed


cdef bint suits_grid(Grid* t, int threads) noexcept nogil:
    even_grid(t.p.m, loops.rows, t.p.n, loops.width[kind_of_dtype(t.p.dtype)], threads,
              &t.rows, &t.cols)
    t.across = parts(t.p.n, t.cols)
    return min(t.rows, t.cols) >= NARROWEST and t.across * parts(t.p.m, t.rows) == threads


cdef void grid_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Grid* t = <Grid*>ctx
    cdef Product p = t.p
    cdef Py_ssize_t i = index // t.across * t.rows, j = index % t.across * t.cols
    p.m = min(t.rows, t.p.m - i)
    p.n = min(t.cols, t.p.n - j)
    p.a = a_at(&t.p, i, 0)
    p.b = b_at(&t.p, 0, j)
    p.c = c_at(&t.p, i, j)
    if p.row != NULL:
        p.row += j * itemsize(p.dtype)
    cdef int status = run_panels(&p)
    if status != GEMM_OK:
        t.failed = status


cdef int run_blocked(const Product* p) noexcept nogil:
    cdef Grid t
    cdef double work = cost(p.dtype) * p.m * p.n * p.k
    cdef int threads = team_size(work) if work <= GRID_WORK else 1
    t.p = p[0]
    if threads == 1 or not suits_grid(&t, threads):
        return run_panels(p)
    t.failed = GEMM_OK
    parallel_for(grid_task, &t, threads, threads)
    return t.failed


# Products with a small b, which isn't packed.

ctypedef struct Direct:
    Product p
    Py_ssize_t rows
    Py_ssize_t depth


cdef void direct_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Direct* t = <Direct*>ctx
    cdef Py_ssize_t i = index * t.rows, q, depth
    for q from 0 <= q < t.p.k by t.depth:
        if stopped(t.p.served):
            break
        depth = min(t.depth, t.p.k - q)
        loops.multiply_direct(
            kind_of_dtype(t.p.dtype), min(t.rows, t.p.m - i), t.p.n, depth,
            BY_COLUMNS if t.p.trans_a else BY_ROWS, a_at(&t.p, i, q), t.p.lda,
            b_at(&t.p, q, 0), t.p.ldb, t.p.alpha_re, t.p.beta if q == 0 else 1,
            c_at(&t.p, i, 0), t.p.ldc)


cdef int run_direct(const Product* p) noexcept nogil:
    cdef Direct t
    cdef int threads = team_size(cost(p.dtype) * p.m * p.n * p.k)
    t.p = p[0]
    t.depth = even_part(p.k, DEPTH, 8)
    t.rows = p.m if threads == 1 else round_up(parts(p.m, threads), loops.rows)
    if <double>t.rows * p.n * p.k > DIRECT_WORK:
        t.rows = min(t.rows, round_up(DIRECT_WORK // (p.n * p.k) + 1, loops.rows))
    parallel_for(direct_task, &t, parts(p.m, t.rows), threads)
    return outcome(p)


cdef inline bint suits_direct(const Product* p) noexcept nogil:
    cdef Py_ssize_t depth = min(p.k, <Py_ssize_t>DEPTH), size = itemsize(p.dtype)
    if p.trans_b or p.n * depth * size > DIRECT or is_complex(p.dtype):
        return False
    return not p.trans_a or p.lda * depth * size <= DIRECT


# Long sums for few results: parts of k side by side, added up in order.

ctypedef struct Split:
    Product p
    Py_ssize_t part
    char* sums
    int failed


cdef void split_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Split* t = <Split*>ctx
    cdef Product p = t.p
    cdef Py_ssize_t q = index * t.part
    p.a = a_at(&t.p, 0, q)
    p.b = b_at(&t.p, q, 0)
    p.k = min(t.part, t.p.k - q)
    p.beta = 0
    p.c = t.sums + index * p.m * p.n * itemsize(p.dtype)
    p.ldc = p.n
    cdef int status = GEMM_OK
    if not stopped(p.served):
        status = run_floats(&p)
    if status != GEMM_OK:
        t.failed = status


ctypedef fused real:
    float
    double


cdef void add_parts(
        const Product* p, const real* sums, Py_ssize_t count, real* c) noexcept nogil:
    cdef Py_ssize_t unit = 2 if is_complex(p.dtype) else 1, n = p.n * unit, ldc = p.ldc * unit
    cdef Py_ssize_t i, j, part
    cdef real sum, beta = <real>p.beta
    for i in range(p.m):
        for j in range(n):
            sum = 0
            for part in range(count):
                sum += sums[(part * p.m + i) * n + j]
            if beta != 0:
                sum += beta * c[i * ldc + j]
            c[i * ldc + j] = sum


cdef int run_split(const Product* p) noexcept nogil:
    cdef Split t
    cdef Py_ssize_t count
    t.p = p[0]
    t.failed = GEMM_OK
    t.part = max(<Py_ssize_t>PART, round_up(parts(p.k, 32), 64))
    count = parts(p.k, t.part)
    t.sums = <char*>take_scratch(count * p.m * p.n * itemsize(p.dtype))
    if t.sums == NULL:
        return GEMM_NO_MEMORY
    parallel_for_dynamic(
        split_task, &t, count, team_size(cost(p.dtype) * p.m * p.n * p.k + p.k))
    if t.failed != GEMM_OK or outcome(p) != GEMM_OK:
        give_scratch(t.sums)
        return t.failed if t.failed != GEMM_OK else outcome(p)
    if kind_of_dtype(p.dtype) == KIND_F32:
        add_parts(p, <float*>t.sums, count, <float*>p.c)
    else:
        add_parts(p, <double*>t.sums, count, <double*>p.c)
    give_scratch(t.sums)
    return t.failed


# The choice.

cdef inline bint suits_split(const Product* p) noexcept nogil:
    return p.k >= 4 * PART and p.m * p.n <= 128 * 128


cdef int run_floats(const Product* p) noexcept nogil:
    if suits_narrow(p):
        return run_narrow(p)
    if suits_direct(p):
        return run_direct(p)
    return run_blocked(p)


cdef int run_product(const Product* p) noexcept nogil:
    if p.m <= 0 or p.n <= 0:
        return GEMM_OK
    if p.k <= 0:
        return scale_result(p)
    if needs_blas(p.dtype):
        return run_blas(p)
    if p.dtype < FLOAT32:
        return run_blocked(p)
    if suits_split(p):
        return run_split(p)
    return run_floats(p)


cdef int scale_result(const Product* p) noexcept nogil:
    # k is 0: the product is an empty sum.
    cdef Py_ssize_t i, j, size = itemsize(p.dtype)
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
            return scale_narrow(p)
    return GEMM_OK


cdef int scale_narrow(const Product* p) noexcept nogil:
    cdef Py_ssize_t wide = 8 if p.dtype == INT64 else 4
    cdef void* zeros = take_scratch(p.n * wide)
    if zeros == NULL:
        return GEMM_NO_MEMORY
    memset(zeros, 0, p.n * wide)
    loops.narrow(p.dtype, p.m, p.n, zeros, 0, 1, p.beta, p.c, p.ldc)
    give_scratch(zeros)
    return GEMM_OK


cdef inline Py_ssize_t row_distance(
        Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t cols) noexcept nogil:
    # Of a single row it may be anything, and BLAS rejects some values.
    return max(cols, <Py_ssize_t>1) if rows <= 1 else ld


cdef int check_product(Product* p) noexcept nogil:
    if p.dtype < UINT8 or p.dtype > COMPLEX128 or dt_is_limited(p.dtype):
        return GEMM_BAD_DTYPE
    if needs_blas(p.dtype) and not blas.ready:
        return GEMM_NO_BLAS
    if p.dtype < COMPLEX64:
        p.trans_a = p.trans_a != 0
        p.trans_b = p.trans_b != 0
    p.lda = row_distance(p.lda, p.k if p.trans_a else p.m, p.m if p.trans_a else p.k)
    p.ldb = row_distance(p.ldb, p.n if p.trans_b else p.k, p.k if p.trans_b else p.n)
    p.ldc = row_distance(p.ldc, p.m, p.n)
    if needs_blas(p.dtype) and max(p.lda, max(p.ldb, p.ldc)) > 0x7fffffff:
        return GEMM_TOO_LARGE
    return GEMM_OK


cdef int gemm(
        int dtype, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
        double alpha_re, double alpha_im, const void* a, Py_ssize_t lda,
        const void* b, Py_ssize_t ldb, double beta, void* c, Py_ssize_t ldc) noexcept nogil:
    cdef Product p = Product(
        dtype, trans_a, trans_b, m, n, k, alpha_re, alpha_im,
        <const char*>a, lda, <const char*>b, ldb, beta, <char*>c, ldc, NULL, NULL)
    cdef Served served
    cdef int status = check_product(&p)
    watch_signals(&p, &served)
    return status if status != GEMM_OK else run_product(&p)


cdef int run_onto(Product* p, const char* row) noexcept nogil:
    # Blocks begin with the row; the others find it in c.
    cdef Py_ssize_t i, size = p.n * itemsize(p.dtype)
    if ((p.dtype == FLOAT32 or p.dtype == FLOAT64) and p.m > 0 and p.n > 0 and p.k > 0
            and not (needs_blas(p.dtype) or suits_split(p) or suits_narrow(p) or suits_direct(p))):
        p.row = row
        return run_blocked(p)
    for i in range(p.m):
        memcpy(c_at(p, i, 0), row, size)
    return run_product(p)


cdef int gemm_onto(
        int dtype, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
        const void* a, Py_ssize_t lda, const void* b, Py_ssize_t ldb, const void* row, void* c,
        Py_ssize_t ldc) noexcept nogil:
    cdef Product p = Product(
        dtype, trans_a, trans_b, m, n, k, 1, 0,
        <const char*>a, lda, <const char*>b, ldb, 1, <char*>c, ldc, NULL, NULL)
    cdef Served served
    cdef int status = check_product(&p)
    watch_signals(&p, &served)
    return status if status != GEMM_OK else run_onto(&p, <const char*>row)


include "gemm/batches.pxi"
include "gemm/diagnosis.pxi"
