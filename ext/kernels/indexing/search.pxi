# Unique elements, members and places in sorted rows (part of indexing.pyx).
#
# NumPy finds unique elements of what is sorted; bfloat16, which it lacks, goes through float32.

cdef extern from "Python.h":
    object PyMemoryView_FromMemory(char* p, Py_ssize_t n, int flags)
    int PyBUF_WRITE

import numpy as _np


cdef object as_array(Tensor a):
    """A dense tensor's memory as a NumPy array; the tensor must outlive it."""
    if a.count == 0:
        return _np.empty(sizes_of(a), dt_numpy(a.dt))
    memory = PyMemoryView_FromMemory(a.ptr, a.count * DT_SIZE[a.dt], PyBUF_WRITE)
    return _np.frombuffer(memory, dt_numpy(a.dt)).reshape(tuple(sizes_of(a)))


cdef object values_of(Tensor a):
    """A tensor's elements as a NumPy array that keeps them alive; bfloat16 as float32."""
    return array_of(contiguous(cast(a, DT_F32) if a.dt == DT_BF16 else a))


cdef Tensor tensor_of(object array, int dt):
    """A new tensor with the elements of an array."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor r
    cdef int d
    if dt == DT_BF16:
        return cast(tensor_of(array, DT_F32), DT_BF16)
    for d in range(array.ndim):
        shape[d] = array.shape[d]
    r = tensor_empty(dt, array.ndim, shape)
    as_array(r)[...] = array
    return r


# --- unique elements -------------------------------------------------------------------------

cdef tuple groups_of(object order, object differs):
    """First members, group of each element, sizes; `differs`: from the one before."""
    cdef Py_ssize_t n = len(order)
    starts = _np.flatnonzero(_np.concatenate(([True], differs))) if n else _np.zeros(0, _np.int64)
    groups = _np.zeros(n, _np.int64)
    if n:
        groups[order] = _np.cumsum(_np.concatenate(([False], differs)))
    return order[starts], groups, _np.diff(_np.concatenate((starts, [n]))).astype(_np.int64)


cdef tuple sorted_of(Tensor a):
    """The elements of a vector in order, and where they were, as arrays."""
    cdef Tensor values = tensor_empty(a.dt, a.nd, a.sizes)
    cdef Tensor index = tensor_empty(DT_I64, a.nd, a.sizes)
    sort(values, index, a, 0, False, True)
    return values_of(values), values_of(index)


cdef int unique_of(object array, object shape, bint sort, bint return_inverse, bint return_counts,
                   int dt, Py_ssize_t* sizes, list found) except -1:
    """Find the unique elements of a vector; NaNs are different from each other. Results that nobody
    wants are empty."""
    cdef Py_ssize_t n = array.size
    order = None
    if sort and (return_inverse or dt >= DT_F16):
        array, order = sorted_of(tensor_of(array, DT_F32 if dt == DT_BF16 else dt))
    elif sort:
        array = _np.sort(array)     # of whole numbers, quicker
    first = _np.ones(n, _np.bool_)
    _np.not_equal(array[1:], array[:max(n - 1, 0)], out=first[1:])
    groups = counts = _np.zeros(0, _np.int64)
    if return_inverse:
        groups = _np.cumsum(first, dtype=_np.int64) - 1
        if sort:
            ordered, groups = groups, _np.empty(n, _np.int64)
            groups[order] = ordered
        groups = groups.reshape(shape)
    if return_counts:
        counts = _np.diff(_np.concatenate((_np.flatnonzero(first), [n]))).astype(_np.int64)
    array = array[first]
    sizes[0] = len(array)
    found.extend((array, groups, counts))
    return 0


cdef int unique_rows(Tensor a, int dim, bint sort, Py_ssize_t* sizes, list found) except -1:
    """Find the unique slices along a dimension."""
    dim = normal_dim(dim, a.nd)
    array = values_of(a)
    if a.nd == 0:
        return unique_of(array.reshape(-1), (1,), sort, True, True, a.dt, sizes, found)
    size = a.sizes[dim]
    rows = _np.moveaxis(array, dim, 0).reshape(size, -1 if a.count else 0)
    order = _np.lexsort(_np.fliplr(rows).T) if sort and rows.size else _np.arange(size)
    ordered = rows[order]
    first, groups, counts = groups_of(order, (ordered[1:] != ordered[:max(size - 1, 0)]).any(1))
    sizes[0] = len(first)
    found.extend((_np.take(array, first, dim), groups, counts))
    return 0


cdef int count_unique(Tensor a, bint is_sorted, bint return_inverse, bint return_counts,
                      Py_ssize_t* sizes, list found) except -1:
    return unique_of(values_of(a).reshape(-1), tuple(sizes_of(a)), True, return_inverse,
                     return_counts, a.dt, sizes, found)


cdef int count_unique_dim(Tensor a, Py_ssize_t dim, bint is_sorted, bint return_inverse,
                          bint return_counts, Py_ssize_t* sizes, list found) except -1:
    return unique_rows(a, <int>dim, True, sizes, found)


cdef int count_runs(Tensor a, bint return_inverse, bint return_counts, object dim,
                    Py_ssize_t* sizes, list found) except -1:
    if dim is None:
        return unique_of(values_of(a).reshape(-1), tuple(sizes_of(a)), False, return_inverse,
                         return_counts, a.dt, sizes, found)
    return unique_rows(a, dim, False, sizes, found)


cdef int put_array(Tensor out, object array) except -1:
    """Write what was found; bfloat16 was float32."""
    if out.dt == DT_BF16:
        return copy_into(out, tensor_of(array, DT_F32), "unique")
    as_array(out)[...] = array
    return 0


cdef int put_found(Tensor values, Tensor inverse, Tensor counts, list found) except -1:
    put_array(values, found[0])
    put_array(inverse, found[1])
    return put_array(counts, found[2])


cdef int unique(Tensor values, Tensor inverse, Tensor counts, Tensor a, bint is_sorted,
                bint return_inverse, bint return_counts, list found) except -1:
    return put_found(values, inverse, counts, found)


cdef int unique_dim(Tensor values, Tensor inverse, Tensor counts, Tensor a, Py_ssize_t dim,
                    bint is_sorted, bint return_inverse, bint return_counts,
                    list found) except -1:
    return put_found(values, inverse, counts, found)


cdef int unique_consecutive(Tensor values, Tensor inverse, Tensor counts, Tensor a,
                            bint return_inverse, bint return_counts, object dim,
                            list found) except -1:
    return put_found(values, inverse, counts, found)


# --- members ---------------------------------------------------------------------------------

cdef struct MembersPlan:
    const char* a
    const char* tests
    uint8_t* out
    char* scratch           # two times as many pairs as there are tests
    const Pair* found       # where in scratch they are sorted
    int dt
    Py_ssize_t item
    Py_ssize_t n
    Py_ssize_t m
    bint invert
    double work

cdef enum:
    MEMBERS_AT_ONCE = 128


cdef void members_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MembersPlan* plan = <MembersPlan*>ctx
    cdef Pair pairs[128]
    cdef Py_ssize_t first = tile * MEMBERS_AT_ONCE, i, low, high, middle
    cdef Py_ssize_t n = least(plan.n - first, MEMBERS_AT_ONCE)
    cdef uint64_t key, nan = key_of_nan(plan.dt)
    load_pairs(plan.dt, plan.a + first * plan.item, 1, n, 0, pairs)
    for i in range(n):
        key = pairs[i].key
        low = 0
        high = plan.m
        while low < high:
            middle = (low + high) // 2
            if plan.found[middle].key < key:
                low = middle + 1
            else:
                high = middle
        plan.out[first + i] = plan.invert ^ (
            low < plan.m and plan.found[low].key == key and not (plan.dt >= DT_F16 and key == nan))


cdef void members_run(void* ctx) noexcept nogil:
    cdef MembersPlan* plan = <MembersPlan*>ctx
    cdef Pair* pairs = <Pair*>plan.scratch
    load_pairs(plan.dt, plan.tests, 1, plan.m, 0, pairs)
    plan.found = sort_pairs(pairs, pairs + plan.m, plan.m)
    parallel_for(members_tile, plan, parts(plan.n, MEMBERS_AT_ONCE),
                 team_size(plan.work))


cdef int isin(Tensor out, Tensor elements, Tensor tests, bint assume_unique,
              bint invert) except -1:
    cdef MembersPlan plan
    cdef Launch work
    cdef StorageImpl* scratch
    cdef int dt = result_dtype((elements, tests))
    if out.count == 0:
        return 0
    elements = contiguous(cast(elements, dt))
    tests = contiguous(cast(tests, dt))
    plan.a = elements.ptr
    plan.tests = tests.ptr
    plan.out = <uint8_t*>out.ptr
    plan.dt = dt
    plan.item = DT_SIZE[dt]
    plan.n = elements.count
    plan.m = tests.count
    plan.invert = invert
    plan.work = 32.0 * plan.n + 64.0 * plan.m
    scratch = storage_new((2 * plan.m + 1) * sizeof(Pair))
    plan.scratch = scratch.data
    try:
        begin(&work, "isin", &plan, sizeof(plan), KIND_SORT)
        operand(&work, &plan.a, elements, READS)
        operand(&work, &plan.tests, tests, READS)
        operand(&work, &plan.out, out, WRITES)
        memory(&work, &plan.scratch, scratch, SCRATCH)
        return launch(&work, members_run, plan.work)
    finally:
        storage_decref(scratch)


# --- places in sorted rows -------------------------------------------------------------------

ctypedef fused real_t:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t
    float
    double

cdef struct SearchPlan:
    const char* rows
    const char* values
    const int64_t* sorter   # NULL: the rows are sorted
    char* out
    int dt
    Py_ssize_t size         # elements of a row
    Py_ssize_t each         # values that belong to it
    Py_ssize_t n
    bint right
    bint narrow             # int32 results

cdef enum:
    SEARCHED_AT_ONCE = 1024


cdef inline void search_typed(SearchPlan* plan, const real_t* rows, const real_t* values,
                              Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i, low, high, middle, row
    cdef real_t x, found
    for i in range(first, stop):
        x = values[i]
        row = i // plan.each * plan.size
        low = 0
        high = plan.size
        while low < high:
            middle = (low + high) // 2
            found = rows[row + (middle if plan.sorter == NULL else plan.sorter[row + middle])]
            # Said so that NaN is above everything, in the values and in the rows.
            if not (found > x if plan.right else found >= x):
                low = middle + 1
            else:
                high = middle
        if plan.narrow:
            (<int32_t*>plan.out)[i] = <int32_t>low
        else:
            (<int64_t*>plan.out)[i] = low


cdef void search_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef SearchPlan* plan = <SearchPlan*>ctx
    cdef Py_ssize_t first = tile * SEARCHED_AT_ONCE
    cdef Py_ssize_t stop = least(first + SEARCHED_AT_ONCE, plan.n)
    if plan.dt == DT_F32:
        search_typed(plan, <const float*>plan.rows, <const float*>plan.values, first, stop)
    elif plan.dt == DT_F64:
        search_typed(plan, <const double*>plan.rows, <const double*>plan.values, first, stop)
    elif plan.dt == DT_I64:
        search_typed(plan, <const int64_t*>plan.rows, <const int64_t*>plan.values, first, stop)
    elif plan.dt == DT_I32:
        search_typed(plan, <const int32_t*>plan.rows, <const int32_t*>plan.values, first, stop)
    elif plan.dt == DT_I16:
        search_typed(plan, <const int16_t*>plan.rows, <const int16_t*>plan.values, first, stop)
    elif plan.dt == DT_I8:
        search_typed(plan, <const int8_t*>plan.rows, <const int8_t*>plan.values, first, stop)
    else:
        search_typed(plan, <const uint8_t*>plan.rows, <const uint8_t*>plan.values, first, stop)


cdef int search(Tensor out, Tensor rows, Tensor values, bint right, Tensor sorter) except -1:
    cdef SearchPlan plan
    cdef Launch work
    cdef int dt = result_dtype((rows, values))
    if sorter is not None:
        sorter = contiguous(sorter)
        check_indices(sorter, rows.sizes[rows.nd - 1], FAULT_SORTER, NULL, 0)
    if out.count == 0:
        return 0
    if is_half(dt):
        dt = DT_F32
    rows = contiguous(cast(rows, dt))
    values = contiguous(cast(values, dt))
    plan.rows = rows.ptr
    plan.values = values.ptr
    plan.sorter = NULL if sorter is None else <const int64_t*>sorter.ptr
    plan.out = out.ptr
    plan.dt = dt
    plan.size = rows.sizes[rows.nd - 1]
    plan.n = values.count
    plan.each = plan.n if rows.nd == 1 else values.sizes[values.nd - 1]
    plan.right = right
    plan.narrow = out.dt == DT_I32
    begin(&work, "searchsorted", &plan, sizeof(plan), KIND_SORT)
    operand(&work, &plan.rows, rows, READS)
    operand(&work, &plan.values, values, READS)
    operand(&work, &plan.out, out, WRITES)
    if sorter is not None:
        operand(&work, &plan.sorter, sorter, READS)
    return launch_tiles(&work, search_tile, parts(plan.n, SEARCHED_AT_ONCE),
                        32.0 * plan.n)


cdef int searchsorted(Tensor out, Tensor rows, Tensor values, bint out_int32, bint right,
                      object side, Tensor sorter) except -1:
    return search(out, rows, values, right or side == "right", sorter)


cdef int bucketize(Tensor out, Tensor values, Tensor boundaries, bint out_int32,
                   bint right) except -1:
    return search(out, boundaries, values, right, None)
