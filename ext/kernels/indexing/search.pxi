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


cdef Tensor tensor_from_array(object array, int dt):
    """A new tensor with the elements of an array."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor r
    cdef int d
    if dt == DT_BF16:
        return cast(tensor_from_array(array, DT_F32), DT_BF16)
    for d in range(array.ndim):
        shape[d] = array.shape[d]
    r = tensor_empty(dt, array.ndim, shape)
    as_array(r)[...] = array
    return r


# --- unique elements -------------------------------------------------------------------------

ctypedef fused whole_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    int8_t
    int16_t
    int32_t
    int64_t

cdef uint64_t SIGN = <uint64_t>1 << 63      # turns numbers into keys that are in the same order


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


cdef void sort_keys(uint64_t* a, uint64_t* b, Py_ssize_t n) noexcept nogil:
    """By bytes; b is scratch for as many."""
    cdef Py_ssize_t counts[256]
    cdef Py_ssize_t i, total, here
    cdef uint64_t varying = 0
    cdef uint64_t* to
    cdef uint64_t* start = a
    cdef int shift, d
    for i in range(1, n):
        varying |= a[i] ^ a[0]
    for shift in range(0, 64, 8):
        if not (varying >> shift) & 0xFF:
            continue
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[(a[i] >> shift) & 0xFF] += 1
        total = 0
        for d in range(256):
            here = counts[d]
            counts[d] = total
            total += here
        for i in range(n):
            d = (a[i] >> shift) & 0xFF
            b[counts[d]] = a[i]
            counts[d] += 1
        to = a
        a = b
        b = to
    if a != start:
        memcpy(start, a, n * sizeof(uint64_t))


cdef inline void load_whole(const whole_t* a, Py_ssize_t n, uint64_t* keys) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if whole_t is uint64_t:
            keys[i] = a[i]
        else:
            keys[i] = <uint64_t><int64_t>a[i] ^ SIGN


cdef inline void store_whole(const uint64_t* keys, Py_ssize_t n, whole_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if whole_t is uint64_t:
            out[i] = keys[i]
        else:
            out[i] = <whole_t><int64_t>(keys[i] ^ SIGN)


cdef void keys_of_whole(int dt, const char* a, Py_ssize_t n, uint64_t* keys) noexcept nogil:
    if dt == DT_I64:
        load_whole(<const int64_t*>a, n, keys)
    elif dt == DT_I32:
        load_whole(<const int32_t*>a, n, keys)
    elif dt == DT_I16:
        load_whole(<const int16_t*>a, n, keys)
    elif dt == DT_I8:
        load_whole(<const int8_t*>a, n, keys)
    elif dt == DT_U16:
        load_whole(<const uint16_t*>a, n, keys)
    elif dt == DT_U32:
        load_whole(<const uint32_t*>a, n, keys)
    elif dt == DT_U64:
        load_whole(<const uint64_t*>a, n, keys)
    else:
        load_whole(<const uint8_t*>a, n, keys)


cdef void whole_of_keys(int dt, const uint64_t* keys, Py_ssize_t n, char* a) noexcept nogil:
    if dt == DT_I64:
        store_whole(keys, n, <int64_t*>a)
    elif dt == DT_I32:
        store_whole(keys, n, <int32_t*>a)
    elif dt == DT_I16:
        store_whole(keys, n, <int16_t*>a)
    elif dt == DT_I8:
        store_whole(keys, n, <int8_t*>a)
    elif dt == DT_U16:
        store_whole(keys, n, <uint16_t*>a)
    elif dt == DT_U32:
        store_whole(keys, n, <uint32_t*>a)
    elif dt == DT_U64:
        store_whole(keys, n, <uint64_t*>a)
    else:
        store_whole(keys, n, <uint8_t*>a)


cdef tuple unique_whole(Tensor a, bint return_inverse):
    """
    The unique elements of whole numbers in order, the place of each element among them (if that is
    wanted) and how often they occur; None where a table of all numbers in between would be larger
    than the tensor, and places are wanted.
    """
    cdef Py_ssize_t n = a.count, i, held = 0
    cdef Py_ssize_t[1] shape = [2 * n]
    cdef Tensor scratch = tensor_empty(DT_I64, 1, shape)
    cdef Tensor table, counts, inverse, values
    cdef uint64_t* keys = <uint64_t*>scratch.ptr
    cdef uint64_t low = <uint64_t>-1, high = 0, width
    cdef int64_t* ranks
    cdef int64_t* many
    cdef int64_t* places
    keys_of_whole(a.dt, a.ptr, n, keys)
    for i in range(n):
        low = keys[i] if keys[i] < low else low
        high = keys[i] if keys[i] > high else high
    width = high - low
    shape[0] = 0
    inverse = tensor_empty(DT_I64, 1, shape)
    if n and width < <uint64_t>(2 * n + 256):
        shape[0] = <Py_ssize_t>width + 1
        table = tensor_empty(DT_I64, 1, shape)
        ranks = <int64_t*>table.ptr
        memset(ranks, 0, shape[0] * sizeof(int64_t))
        for i in range(n):
            keys[i] -= low
            ranks[keys[i]] += 1
        for i in range(shape[0]):
            held += ranks[i] != 0
        shape[0] = held
        counts = tensor_empty(DT_I64, 1, shape)
        many = <int64_t*>counts.ptr
        held = 0
        for i in range(<Py_ssize_t>width + 1):
            if ranks[i]:
                many[held] = ranks[i]
                keys[n + held] = low + i
                ranks[i] = held
                held += 1
        if return_inverse:
            shape[0] = n
            inverse = tensor_empty(DT_I64, 1, shape)
            places = <int64_t*>inverse.ptr
            for i in range(n):
                places[i] = ranks[keys[i]]
    elif return_inverse:
        return None
    else:
        sort_keys(keys, keys + n, n)
        for i in range(n):
            held += i == 0 or keys[i] != keys[i - 1]
        shape[0] = held
        counts = tensor_empty(DT_I64, 1, shape)
        many = <int64_t*>counts.ptr
        held = 0
        for i in range(n):
            if i == 0 or keys[i] != keys[i - 1]:
                keys[n + held] = keys[i]
                many[held] = 0
                held += 1
            many[held - 1] += 1
    shape[0] = held
    values = tensor_empty(a.dt, 1, shape)
    whole_of_keys(a.dt, keys + n, held, values.ptr)
    return values, inverse, counts


cdef int unique_of(object array, object shape, bint sort, bint return_inverse, bint return_counts,
                   int dt, Py_ssize_t* sizes, list memo) except -1:
    """Find the unique elements of a vector; NaNs are different from each other. Results that nobody
    wants are empty."""
    cdef Py_ssize_t n = array.size
    order = None
    if sort and (return_inverse or dt >= DT_F16):
        array, order = sorted_of(tensor_from_array(array, DT_F32 if dt == DT_BF16 else dt))
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
    memo.extend((array, groups, counts))
    return 0


cdef int unique_rows(Tensor a, int dim, bint sort, Py_ssize_t* sizes, list memo) except -1:
    """Find the unique slices along a dimension."""
    dim = normal_dim(dim, a.nd)
    array = values_of(a)
    if a.nd == 0:
        return unique_of(array.reshape(-1), (1,), sort, True, True, a.dt, sizes, memo)
    size = a.sizes[dim]
    rows = _np.moveaxis(array, dim, 0).reshape(size, -1 if a.count else 0)
    order = _np.lexsort(_np.fliplr(rows).T) if sort and rows.size else _np.arange(size)
    ordered = rows[order]
    first, groups, counts = groups_of(order, (ordered[1:] != ordered[:max(size - 1, 0)]).any(1))
    sizes[0] = len(first)
    memo.extend((_np.take(array, first, dim), groups, counts))
    return 0


cdef int count_unique(Tensor a, bint is_sorted, bint return_inverse, bint return_counts,
                      Py_ssize_t* sizes, list memo) except -1:
    cdef tuple uniques
    if a.dt <= DT_I64:
        uniques = unique_whole(contiguous(a), return_inverse)
        if uniques is not None:
            values, groups, counts = [values_of(<Tensor>t) for t in uniques]
            sizes[0] = len(values)
            memo.extend((values, groups.reshape(tuple(sizes_of(a))) if return_inverse else groups,
                         counts if return_counts else counts[:0]))
            return 0
    return unique_of(values_of(a).reshape(-1), tuple(sizes_of(a)), True, return_inverse,
                     return_counts, a.dt, sizes, memo)


cdef int count_unique_dim(Tensor a, Py_ssize_t dim, bint is_sorted, bint return_inverse,
                          bint return_counts, Py_ssize_t* sizes, list memo) except -1:
    return unique_rows(a, <int>dim, True, sizes, memo)


cdef int count_runs(Tensor a, bint return_inverse, bint return_counts, object dim,
                    Py_ssize_t* sizes, list memo) except -1:
    cdef Tensor dense
    if dim is not None:
        return unique_rows(a, dim, False, sizes, memo)
    dense = contiguous(a)
    sizes[0] = SELECT.runs(dense.dt, DT_SIZE[dense.dt], dense.ptr, dense.count, 0, NULL, NULL, NULL)
    memo.append(dense)
    return 0


cdef int put_array(Tensor out, object array) except -1:
    """Write what was found; bfloat16 was float32."""
    if out.dt == DT_BF16:
        return copy_into(out, tensor_from_array(array, DT_F32), "unique")
    as_array(out)[...] = array
    return 0


cdef int put_unique(Tensor values, Tensor inverse, Tensor counts, list memo) except -1:
    put_array(values, memo[0])
    put_array(inverse, memo[1])
    return put_array(counts, memo[2])


cdef int unique(Tensor values, Tensor inverse, Tensor counts, Tensor a, bint is_sorted,
                bint return_inverse, bint return_counts, list memo) except -1:
    return put_unique(values, inverse, counts, memo)


cdef int unique_dim(Tensor values, Tensor inverse, Tensor counts, Tensor a, Py_ssize_t dim,
                    bint is_sorted, bint return_inverse, bint return_counts,
                    list memo) except -1:
    return put_unique(values, inverse, counts, memo)


cdef int unique_consecutive(Tensor values, Tensor inverse, Tensor counts, Tensor a,
                            bint return_inverse, bint return_counts, object dim,
                            list memo) except -1:
    cdef Tensor dense
    if dim is not None:
        return put_unique(values, inverse, counts, memo)
    dense = <Tensor>memo[0]
    SELECT.runs(dense.dt, DT_SIZE[dense.dt], dense.ptr, dense.count, values.count, values.ptr,
                <int64_t*>inverse.ptr if return_inverse else NULL,
                <int64_t*>counts.ptr if return_counts else NULL)
    return 0


# --- members ---------------------------------------------------------------------------------

cdef struct MembersPlan:
    const char* a
    const char* tests
    uint8_t* out
    char* scratch           # two times as many pairs as there are tests
    const Pair* pairs       # where in scratch they are sorted; NULL: there is a table instead
    uint8_t* table          # of whole numbers: what is said of each from `low` on
    uint64_t capacity       # numbers that fit in
    uint64_t low            # a key, like the next
    uint64_t width
    int dt
    Py_ssize_t item
    Py_ssize_t n
    Py_ssize_t m
    bint invert
    double work

cdef enum:
    MEMBERS_AT_ONCE = 128
    MOST_LISTED = 1 << 20   # bytes of a table that caches still hold


cdef void members_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MembersPlan* plan = <MembersPlan*>ctx
    cdef Pair pairs[128]
    cdef Py_ssize_t first = tile * MEMBERS_AT_ONCE, i, low, half, size, m = plan.m
    cdef Py_ssize_t n = least(plan.n - first, MEMBERS_AT_ONCE)
    cdef uint64_t key, nan = key_of_nan(plan.dt)
    cdef uint64_t least_key = plan.low, width = plan.width
    cdef const Pair* members = plan.pairs
    cdef const uint8_t* table = plan.table
    cdef uint8_t* out = plan.out + first
    cdef bint invert = plan.invert, inside, floating = plan.dt >= DT_F16
    load_pairs(plan.dt, plan.a + first * plan.item, 1, n, 0, pairs)
    if members == NULL:
        for i in range(n):
            key = pairs[i].key - least_key
            inside = key < width
            out[i] = table[key if inside else 0] & inside ^ invert
        return
    for i in range(n):
        key = pairs[i].key
        low = 0
        size = m
        while size > 0:                 # as in place_in_row()
            half = (size + 1) // 2
            low += half & -<Py_ssize_t>(members[low + half - 1].key < key)
            size -= half
        out[i] = invert ^ (low < m and members[low].key == key and not (floating and key == nan))


cdef bint list_members(MembersPlan* plan, const Pair* pairs) noexcept nogil:
    """Fill the table, if the numbers are close enough together."""
    cdef uint64_t low = <uint64_t>-1, high = 0
    cdef Py_ssize_t i
    for i in range(plan.m):
        low = pairs[i].key if pairs[i].key < low else low
        high = pairs[i].key if pairs[i].key > high else high
    if plan.m == 0 or high - low >= plan.capacity:
        return False
    plan.low = low
    plan.width = high - low + 1
    memset(plan.table, 0, plan.width)
    for i in range(plan.m):
        plan.table[pairs[i].key - low] = 1
    return True


cdef void members_run(void* ctx) noexcept nogil:
    cdef MembersPlan* plan = <MembersPlan*>ctx
    cdef Pair* pairs = <Pair*>plan.scratch
    load_pairs(plan.dt, plan.tests, 1, plan.m, 0, pairs)
    plan.table = <uint8_t*>(pairs + 2 * plan.m)
    plan.pairs = NULL
    if not list_members(plan, pairs):
        plan.pairs = sort_pairs(pairs, pairs + plan.m, plan.m)
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
    plan.dt = dt_twin(dt)           # equal bits are equal numbers
    plan.item = DT_SIZE[dt]
    plan.n = elements.count
    plan.m = tests.count
    plan.invert = invert
    plan.work = 32.0 * plan.n + 64.0 * plan.m
    plan.capacity = 0 if dt >= DT_F16 else least(4 * (plan.n + plan.m), MOST_LISTED)
    scratch = storage_new((2 * plan.m + 1) * sizeof(Pair) + plan.capacity)
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


cdef inline Py_ssize_t place_in_row(const real_t* row, Py_ssize_t size, real_t x,
                                    bint right) noexcept nogil:
    """How many elements stand before x. Nobody can predict which half it is in: no branch asks."""
    cdef Py_ssize_t low = 0, half
    cdef real_t element
    while size > 0:
        half = (size + 1) // 2
        element = row[low + half - 1]
        # Said so that NaN is above everything.
        low += half & -<Py_ssize_t>(not (element > x) if right else not (element >= x))
        size -= half
    return low


cdef inline Py_ssize_t place_by_steps(const real_t* row, const int64_t* sorter, Py_ssize_t size,
                                      real_t x, bint right) noexcept nogil:
    """Search as above where NaN ends a row, which counts as below x: the steps of torch decide."""
    cdef Py_ssize_t low = 0, high = size, middle
    cdef real_t element
    while low < high:
        middle = (low + high) // 2
        element = row[middle if sorter == NULL else sorter[middle]]
        if not (element > x if right else element >= x):
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void search_typed(SearchPlan* plan, const real_t* rows, const real_t* values,
                              Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i = first, place, until
    cdef Py_ssize_t size = plan.size, each = plan.each
    cdef const real_t* row
    cdef const int64_t* sorter = plan.sorter
    cdef bint right = plan.right, narrow = plan.narrow, by_steps
    while i < stop:
        row = rows + i // each * size
        if plan.sorter != NULL:
            sorter = plan.sorter + i // each * size
        until = least((i // each + 1) * each, stop)
        by_steps = sorter != NULL or (size > 0 and row[size - 1] != row[size - 1])
        while i < until:
            if by_steps:
                place = place_by_steps(row, sorter, size, values[i], right)
            elif right:
                place = place_in_row(row, size, values[i], True)
            else:
                place = place_in_row(row, size, values[i], False)
            if narrow:
                (<int32_t*>plan.out)[i] = <int32_t>place
            else:
                (<int64_t*>plan.out)[i] = place
            i += 1


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
