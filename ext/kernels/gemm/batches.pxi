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

cdef void tiny_task(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Batch* t = <Batch*>ctx
    cdef Py_ssize_t first = index * t.chunk, last = min(first + t.chunk, t.count)
    if stopped(t.p.served):
        return
    loops.tiny_products(
        kind_of_dtype(t.p.dtype), last - first, t.p.m, t.p.n, t.p.k, t.p.a + first * t.step_a,
        t.step_a // itemsize(t.p.dtype), 1 if t.p.trans_a else t.p.lda,
        t.p.lda if t.p.trans_a else 1, t.p.trans_b, t.p.b + first * t.step_b,
        t.step_b // itemsize(t.p.dtype), t.p.ldb, t.p.alpha_re, t.p.beta,
        t.p.c + first * t.step_c, t.step_c // itemsize(t.p.dtype), t.p.ldc)


cdef inline bint suits_tiny(const Product* p) noexcept nogil:
    cdef Py_ssize_t work = p.m * p.n * p.k
    if (p.dtype != FLOAT32 and p.dtype != FLOAT64) or work <= 0:
        return False
    return work <= TINY or (
        max(p.m, max(p.n, p.k)) <= loops.tiniest and not needs_blas(p.dtype))


cdef int run_tiny(Batch* t) noexcept nogil:
    # A matrix of its own costs some 15 ns, in the steps of 0.1 ns that team_size() counts.
    cdef int threads = team_size((150 + cost(t.p.dtype) * t.p.m * t.p.n * t.p.k) * t.count)
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
    status = check_product(&t.p)
    watch_signals(&t.p, &served)
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
    if suits_tiny(&t.p):
        return run_tiny(&t)
    work = cost(dtype) * m * n * k
    # A matrix of its own costs some 50 ns on top.
    threads = 1 if blas.own_threads else team_size((work + 500) * batch)
    if threads > batch and work > 1e6:
        # Few large matrices: the threads work inside each of them.
        threads = 1
    parallel_for(run_matrix, &t, batch, threads)
    return t.failed if t.failed != GEMM_OK else outcome(&t.p)
