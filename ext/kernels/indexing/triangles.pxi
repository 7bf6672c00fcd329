# Triangles of matrices (part of indexing.pyx).

cdef struct TrianglePlan:
    const char* a
    char* out
    Py_ssize_t rows
    Py_ssize_t cols
    Py_ssize_t item
    Py_ssize_t k
    bint lower
    Py_ssize_t block        # rows of a tile
    Py_ssize_t total        # rows of all matrices


cdef void triangle_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef TrianglePlan* plan = <TrianglePlan*>ctx
    cdef Py_ssize_t row = tile * plan.block, stop = least(row + plan.block, plan.total), at
    cdef Py_ssize_t size = plan.cols * plan.item, edge
    for row in range(row, stop):
        at = row * size
        # First column that lies above (lower triangle) or in (upper triangle) the diagonal k.
        edge = row % plan.rows + plan.k + (1 if plan.lower else 0)
        edge = 0 if edge < 0 else least(edge, plan.cols)
        edge *= plan.item
        if plan.lower:
            if plan.out != plan.a:
                memcpy(plan.out + at, plan.a + at, edge)
            memset(plan.out + at + edge, 0, size - edge)
        else:
            memset(plan.out + at, 0, edge)
            if plan.out != plan.a:
                memcpy(plan.out + at + edge, plan.a + at + edge, size - edge)


cdef int triangle(Tensor out, Tensor a, long long k, bint lower) except -1:
    """`out` may be `a`."""
    cdef TrianglePlan plan
    cdef Launch work
    if out.count == 0:
        return 0
    a = contiguous(a)
    plan.a = a.ptr
    plan.out = out.ptr
    plan.rows = a.sizes[a.nd - 2]
    plan.cols = a.sizes[a.nd - 1]
    plan.item = DT_SIZE[a.dt]
    # Beyond the matrix all diagonals are alike; clipped so that sums don't overflow.
    plan.k = plan.cols if k > plan.cols else (-plan.rows if k < -plan.rows else <Py_ssize_t>k)
    plan.lower = lower
    plan.total = a.count // plan.cols
    plan.block = TILE_WORK // plan.cols + 1
    begin(&work, "tril" if lower else "triu", &plan, sizeof(plan), KIND_COPY)
    operand(&work, &plan.out, out, WRITES if out.ptr != a.ptr else UPDATES)
    operand(&work, &plan.a, a, READS)
    return launch_tiles(&work, triangle_tile, parts(plan.total, plan.block), a.count)


cdef int tril(Tensor out, Tensor a, Py_ssize_t diagonal) except -1:
    return triangle(out, a, diagonal, True)


cdef int triu(Tensor out, Tensor a, Py_ssize_t diagonal) except -1:
    return triangle(out, a, diagonal, False)
