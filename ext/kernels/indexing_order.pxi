# Triangles, sorting and the largest k (part of indexing.pyx).  Sorting is NumPy's, on views.

cdef extern from "Python.h":
    object PyMemoryView_FromMemory(char* p, Py_ssize_t n, int flags)
    int PyBUF_WRITE

import numpy as _np


# --- triangles -------------------------------------------------------------------------------

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
            memcpy(plan.out + at, plan.a + at, edge)
            memset(plan.out + at + edge, 0, size - edge)
        else:
            memset(plan.out + at, 0, edge)
            memcpy(plan.out + at + edge, plan.a + at + edge, size - edge)


cdef Tensor triangle(Tensor a, long long k, bint lower):
    cdef TrianglePlan plan
    cdef Tensor out
    if a.nd < 2:
        raise RuntimeError(
            f"{'tril' if lower else 'triu'}: input tensor must have at least 2 dimensions")
    out = tensor_empty(a.dt, a.nd, a.sizes)
    if out.count == 0:
        return out
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
    run_tiles(triangle_tile, &plan, (plan.total + plan.block - 1) // plan.block, a.count)
    return out


cdef Tensor tril_plain(Tensor a, long long k):
    return triangle(a, k, True)


cdef Tensor triu_plain(Tensor a, long long k):
    return triangle(a, k, False)


# --- sorting ---------------------------------------------------------------------------------

cdef object as_array(Tensor a):
    """A dense tensor's memory as a NumPy array; the tensor must outlive it."""
    if a.count == 0:
        return _np.empty(sizes_of(a), dt_numpy(a.dt))
    memory = PyMemoryView_FromMemory(a.ptr, a.count * DT_SIZE[a.dt], PyBUF_WRITE)
    return _np.frombuffer(memory, dt_numpy(a.dt)).reshape(tuple(sizes_of(a)))


cdef tuple sort_plain(Tensor a, int dim, bint descending, bint stable):
    cdef Tensor values, index
    dim = normal_dim(dim, a.nd)
    if a.dt >= DT_C64:
        raise RuntimeError("Sort does not support complex dtypes on CPU")
    if a.dt == DT_BF16:
        values, index = sort_plain(cast(a, DT_F32), dim, descending, stable)
        return (cast(values, DT_BF16), index)
    a = contiguous(a)
    values = tensor_empty(a.dt, a.nd, a.sizes)
    index = tensor_empty(DT_I64, a.nd, a.sizes)
    if a.nd == 0:
        memcpy(values.ptr, a.ptr, DT_SIZE[a.dt])
        (<int64_t*>index.ptr)[0] = 0
        return (values, index)
    source, order = as_array(a), as_array(index)
    if descending:
        # Sorted backwards twice, equal elements keep their order, and NaN comes first.
        flipped = _np.flip(source, dim)
        order[...] = source.shape[dim] - 1 - _np.flip(_np.argsort(flipped, dim, kind="stable"), dim)
    else:
        order[...] = _np.argsort(source, dim, kind="stable")
    as_array(values)[...] = _np.take_along_axis(source, order, dim)
    return (values, index)


cdef tuple topk_plain(Tensor a, Py_ssize_t k, int dim, bint largest, bint is_sorted):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor values, index
    cdef int d
    dim = normal_dim(dim, a.nd)
    if k < 0 or k > (a.sizes[dim] if a.nd else 1):
        raise RuntimeError("selected index k out of range")
    values, index = sort_plain(a, dim, largest, True)
    if a.nd == 0:
        return (values, index)
    for d in range(a.nd):
        shape[d] = a.sizes[d]
    shape[dim] = k
    return (contiguous(tensor_window(values, a.nd, shape, values.strides, 0)),
            contiguous(tensor_window(index, a.nd, shape, index.strides, 0)))
