# Batches of products (part of gemm.pyx): several threads share the matrices, or the rows of one.

ctypedef struct Batch:
    Product p
    Py_ssize_t step_a
    Py_ssize_t step_b
    Py_ssize_t step_c
    Py_ssize_t count
    Py_ssize_t chunk
    int failed


cdef void run_matrix(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Batch* t = <Batch*>ctx
    cdef Product p = t.p
    p.a += index * t.step_a
    p.b += index * t.step_b
    p.c += index * t.step_c
    cdef int status
    if stopped(p.served):
        return
    status = run_product(&p)
    if status != GEMM_OK:
        t.failed = status


# Batches of tiny matrices, for which choosing a kernel takes longer than the product.

cdef void tiny_products(
        const Batch* t, Py_ssize_t first, Py_ssize_t last, const real* like) noexcept nogil:
    """Multiply matrices first to last; `like` says the type alone."""
    cdef Py_ssize_t m = t.p.m, n = t.p.n, k = t.p.k, index, i, j, q
    cdef Py_ssize_t row = 1 if t.p.trans_a else t.p.lda, column = t.p.lda if t.p.trans_a else 1
    cdef Py_ssize_t down = 1 if t.p.trans_b else t.p.ldb, right = t.p.ldb if t.p.trans_b else 1
    cdef real alpha = <real>t.p.alpha_re, beta = <real>t.p.beta, total
    cdef const real* a
    cdef const real* b
    cdef real* c
    for index in range(first, last):
        c = <real*>(t.p.c + index * t.step_c)
        for i in range(m):
            a = <const real*>(t.p.a + index * t.step_a) + i * row
            for j in range(n):
                b = <const real*>(t.p.b + index * t.step_b) + j * right
                total = 0
                for q in range(k):
                    total += a[q * column] * b[q * down]
                total *= alpha
                if beta != 0:
                    total += beta * c[j]
                c[j] = total
            c += t.p.ldc


cdef void tiny_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Batch* t = <Batch*>ctx
    cdef Py_ssize_t first = index * t.chunk, last = min(first + t.chunk, t.count)
    if stopped(t.p.served):
        return
    if t.p.dtype == FLOAT32:
        tiny_products(t, first, last, <const float*>NULL)
    else:
        tiny_products(t, first, last, <const double*>NULL)


cdef int run_tiny(Batch* t) noexcept nogil:
    # Products of this size take some 25 ns, in the steps of 0.1 ns that team_size() counts.
    cdef int threads = team_size(250.0 * t.count)
    # Several chunks a thread, so that one that is held up leaves little behind.
    t.chunk = parts(t.count, 8 * threads)
    parallel_for(tiny_task, t, parts(t.count, t.chunk), threads)
    return outcome(&t.p)


cdef int gemm_batched(
        int dtype, int trans_a, int trans_b, Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n,
        Py_ssize_t k, double alpha_re, double alpha_im,
        const void* a, Py_ssize_t lda, Py_ssize_t stride_a,
        const void* b, Py_ssize_t ldb, Py_ssize_t stride_b,
        double beta, void* c, Py_ssize_t ldc, Py_ssize_t stride_c) noexcept nogil:
    cdef Batch t
    cdef Served served
    cdef int status, threads
    cdef double work
    t.p = Product(
        dtype, trans_a, trans_b, m, n, k, alpha_re, alpha_im,
        <const char*>a, lda, <const char*>b, ldb, beta, <char*>c, ldc, NULL, NULL)
    status = check(&t.p)
    watch(&t.p, &served)
    if status != GEMM_OK or batch <= 0:
        return status
    if stride_b == 0 and not trans_a and stride_a == m * t.p.lda and stride_c == m * t.p.ldc:
        # One matrix b for all: the batch is more rows.
        t.p.m *= batch
        return run_product(&t.p)
    t.step_a = stride_a * itemsize(dtype)
    t.step_b = stride_b * itemsize(dtype)
    t.step_c = stride_c * itemsize(dtype)
    t.count = batch
    t.failed = GEMM_OK
    if (dtype == FLOAT32 or dtype == FLOAT64) and 0 < m * n * k <= TINY:
        return run_tiny(&t)
    work = cost(dtype) * m * n * k
    # A matrix of its own costs some 50 ns on top.
    threads = 1 if blas.own_threads else team_size((work + 500) * batch)
    if threads > batch and work > 1e6:
        # Few large matrices: the threads work inside each of them.
        threads = 1
    parallel_for(run_matrix, &t, batch, threads)
    return t.failed if t.failed != GEMM_OK else outcome(&t.p)
