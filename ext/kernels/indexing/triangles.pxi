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


# --- places in them --------------------------------------------------------------------------

cdef struct PlacesPlan:
    char* out
    Py_ssize_t count        # of places: the rows of all, then the columns of all
    Py_ssize_t row          # the first one with a place, and the one after the last
    Py_ssize_t stop
    Py_ssize_t cols
    Py_ssize_t k
    bint lower
    bint narrow             # int32

ctypedef fused place_t:
    int32_t
    int64_t


cdef inline void list_places(const PlacesPlan* plan, place_t* rows) noexcept nogil:
    cdef place_t* cols = rows + plan.count
    cdef Py_ssize_t row, edge, first, n, i
    for row in range(plan.row, plan.stop):
        edge = row + plan.k + (1 if plan.lower else 0)
        edge = 0 if edge < 0 else least(edge, plan.cols)
        first = 0 if plan.lower else edge
        n = edge if plan.lower else plan.cols - edge
        for i in range(n):
            rows[i] = <place_t>row
        for i in range(n):
            cols[i] = <place_t>(first + i)
        rows += n
        cols += n


cdef void places_run(void* ctx) noexcept nogil:
    cdef PlacesPlan* plan = <PlacesPlan*>ctx
    if plan.narrow:
        list_places(plan, <int32_t*>plan.out)
    else:
        list_places(plan, <int64_t*>plan.out)


def _put_triangle_places(Tensor out not None, Py_ssize_t row, Py_ssize_t col, Py_ssize_t offset,
                         bint lower):
    """Write the places in a triangle, which dense `out` of int32 or int64 has a column for each."""
    cdef PlacesPlan plan
    cdef Launch work
    plan.out = out.ptr
    plan.count = out.count // 2
    plan.row = -offset if lower and offset < 0 else 0
    plan.stop = row if lower else least(row, col - offset)
    plan.cols = col
    plan.k = offset
    plan.lower = lower
    plan.narrow = out.dt == DT_I32
    begin(&work, "tril_indices" if lower else "triu_indices", &plan, sizeof(plan), KIND_COPY)
    operand(&work, &plan.out, out, WRITES)
    launch(&work, places_run, 2.0 * plan.count)
