# Sorting, the largest k and medians (part of indexing.pyx).

# --- keys ------------------------------------------------------------------------------------

cdef enum:
    SHORT_ROW = 32          # sorted by insertion
    RADIX_ROW = 256         # from here on by bytes
    CHOSEN_ROW = 1024       # from here on a few elements are chosen before they are sorted

cdef struct Pair:
    uint64_t key            # ordered as the elements are: NaN last, -0 as 0
    int64_t place


cdef inline void load_typed(const key_t* a, Py_ssize_t step, Py_ssize_t n, int dt, uint64_t flip,
                            Pair* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i].key = key_of(a[i * step], dt) ^ flip
        out[i].place = i


cdef void load_pairs(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, uint64_t flip,
                     Pair* out) noexcept nogil:
    """Keys of n elements, `step` of them apart; `flip` is 0, or -1 to turn their order."""
    if dt == DT_F32:
        load_typed(<const float*>a, step, n, dt, flip, out)
    elif dt == DT_F64:
        load_typed(<const double*>a, step, n, dt, flip, out)
    elif dt == DT_I64:
        load_typed(<const int64_t*>a, step, n, dt, flip, out)
    elif dt == DT_I32:
        load_typed(<const int32_t*>a, step, n, dt, flip, out)
    elif is_half(dt):
        load_typed(<const uint16_t*>a, step, n, dt, flip, out)
    elif dt == DT_I16:
        load_typed(<const int16_t*>a, step, n, dt, flip, out)
    elif dt == DT_I8:
        load_typed(<const int8_t*>a, step, n, dt, flip, out)
    else:
        load_typed(<const uint8_t*>a, step, n, dt, flip, out)


# --- sorting pairs ---------------------------------------------------------------------------

cdef inline void insert_pairs(Pair* a, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Pair x
    for i in range(1, n):
        x = a[i]
        j = i
        while j > 0 and a[j - 1].key > x.key:
            a[j] = a[j - 1]
            j -= 1
        a[j] = x


cdef inline void merge_pairs(const Pair* a, Py_ssize_t n, const Pair* b, Py_ssize_t m,
                             Pair* out) noexcept nogil:
    cdef Py_ssize_t i = 0, j = 0, k
    for k in range(n + m):
        if j == m or (i < n and a[i].key <= b[j].key):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1


cdef Pair* sort_by_bytes(Pair* a, Pair* b, Py_ssize_t n, uint64_t varying) noexcept nogil:
    cdef Py_ssize_t counts[256]
    cdef Py_ssize_t i, total, here
    cdef int shift, d
    cdef Pair* other
    for shift in range(0, 64, 8):
        if not (varying >> shift) & 0xFF:
            continue
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[(a[i].key >> shift) & 0xFF] += 1
        total = 0
        for d in range(256):
            here = counts[d]
            counts[d] = total
            total += here
        for i in range(n):
            d = (a[i].key >> shift) & 0xFF
            b[counts[d]] = a[i]
            counts[d] += 1
        other = a
        a = b
        b = other
    return a


cdef Pair* sort_pairs(Pair* a, Pair* b, Py_ssize_t n) noexcept nogil:
    """Sort by keys, equal ones in their order; b is scratch for as many. Returns the sorted one."""
    cdef Py_ssize_t i, width
    cdef uint64_t varying = 0
    cdef bint done = True
    cdef Pair* other
    for i in range(1, n):
        varying |= a[i].key ^ a[i - 1].key
        done &= a[i - 1].key <= a[i].key
    if done:
        return a
    if n <= SHORT_ROW:
        insert_pairs(a, n)
        return a
    if n >= RADIX_ROW:
        return sort_by_bytes(a, b, n, varying)
    for i in range(0, n, 16):
        insert_pairs(a + i, least(16, n - i))
    width = 16
    while width < n:
        for i from 0 <= i < n by 2 * width:
            merge_pairs(a + i, least(width, n - i), a + least(i + width, n),
                        least(width, n - least(i + width, n)), b + i)
        other = a
        a = b
        b = other
        width *= 2
    return a


cdef void first_pairs(const Pair* a, Py_ssize_t n, Pair* out, Py_ssize_t k) noexcept nogil:
    """The first k of what sort_pairs() would give; for small k."""
    cdef Py_ssize_t i, j, held = 0
    for i in range(n):
        if held == k and a[i].key >= out[k - 1].key:
            continue
        j = held if held < k else k - 1
        while j > 0 and out[j - 1].key > a[i].key:
            out[j] = out[j - 1]
            j -= 1
        out[j] = a[i]
        held += held < k


# --- rows: sort, topk, median ----------------------------------------------------------------

cdef struct RowsPlan:
    const char* a           # dense
    char* values
    int64_t* index          # NULL: values alone
    char* scratch           # pairs of each lane
    Py_ssize_t pairs_per_lane
    int dt
    Py_ssize_t item
    Py_ssize_t size         # elements of a row
    Py_ssize_t inner        # elements between neighbours
    Py_ssize_t take         # elements of a row of the results
    Py_ssize_t rows
    Py_ssize_t lanes        # runs of rows that go on at once
    uint64_t flip
    bint skip_nan


cdef void sort_lane(void* ctx, Py_ssize_t lane) noexcept nogil:
    cdef RowsPlan* plan = <RowsPlan*>ctx
    cdef Pair* pairs = <Pair*>plan.scratch + lane * plan.pairs_per_lane
    cdef Pair* in_order
    cdef Py_ssize_t row, j, at, to
    cdef int64_t* k
    cdef bint few = plan.take <= 32 and 8 * plan.take <= plan.size
    cdef bint chosen = plan.size >= CHOSEN_ROW and 4 * plan.take <= plan.size
    for row in range(lane * plan.rows // plan.lanes, (lane + 1) * plan.rows // plan.lanes):
        at = row // plan.inner * plan.size * plan.inner + row % plan.inner
        to = row // plan.inner * plan.take * plan.inner + row % plan.inner
        in_order = pairs + plan.size
        if chosen:
            if plan.take > 0:
                # Scratch for twice as many keys as there are elements is what follows `in_order`.
                SELECT.first(plan.dt, plan.a + at * plan.item, plan.inner, plan.size, plan.take,
                             plan.flip != 0, <char*>in_order, <uint64_t*>pairs)
                in_order = sort_pairs(pairs, in_order, plan.take)
        else:
            load_pairs(plan.dt, plan.a + at * plan.item, plan.inner, plan.size, plan.flip, pairs)
            if few:
                first_pairs(pairs, plan.size, in_order, plan.take)
            else:
                in_order = sort_pairs(pairs, in_order, plan.size)
        # Each place moves to the front of the pairs, behind which all have been read.
        k = <int64_t*>in_order
        for j in range(plan.take):
            k[j] = in_order[j].place
            plan.index[to + j * plan.inner] = k[j]
        move_words(MOVE_GATHER, plan.item, plan.values + to * plan.item, plan.inner * plan.item,
                   <char*>plan.a + at * plan.item, 0, plan.inner * plan.item, k, plan.take)


cdef void kth_lane(void* ctx, Py_ssize_t lane) noexcept nogil:
    cdef RowsPlan* plan = <RowsPlan*>ctx
    cdef char* scratch = plan.scratch + lane * plan.pairs_per_lane * <Py_ssize_t>sizeof(Pair)
    cdef Py_ssize_t row, at
    for row in range(lane * plan.rows // plan.lanes, (lane + 1) * plan.rows // plan.lanes):
        at = row // plan.inner * plan.size * plan.inner + row % plan.inner
        plan.index[row] = SELECT.ranked(plan.dt, plan.a + at * plan.item, plan.inner, plan.size,
                                        plan.take - 1, scratch)
        memcpy(plan.values + row * plan.item,
               plan.a + (at + plan.index[row] * plan.inner) * plan.item, plan.item)


cdef void median_lane(void* ctx, Py_ssize_t lane) noexcept nogil:
    cdef RowsPlan* plan = <RowsPlan*>ctx
    cdef char* scratch = plan.scratch + lane * plan.pairs_per_lane * <Py_ssize_t>sizeof(Pair)
    cdef Py_ssize_t row, at
    cdef int64_t place
    for row in range(lane * plan.rows // plan.lanes, (lane + 1) * plan.rows // plan.lanes):
        at = row // plan.inner * plan.size * plan.inner + row % plan.inner
        place = SELECT.median(plan.dt, plan.a + at * plan.item, plan.inner, plan.size,
                              plan.skip_nan, scratch)
        memcpy(plan.values + row * plan.item, plan.a + (at + place * plan.inner) * plan.item,
               plan.item)
        if plan.index != NULL:
            plan.index[row] = place


cdef int over_rows(body_t body, const char* name, RowsPlan* plan, Tensor values, Tensor index,
                   Tensor a, int dim, double cost) except -1:
    """Launch the body for all rows along `dim` (-1: one row of all), in lanes with scratch."""
    cdef Launch work
    cdef StorageImpl* scratch
    cdef int d
    if values.count == 0:
        return 0
    a = contiguous(a)
    plan.a = a.ptr
    plan.values = values.ptr
    plan.index = NULL if index is None else <int64_t*>index.ptr
    plan.dt = dt_twin(a.dt)
    plan.item = DT_SIZE[a.dt]
    if dt_is_limited(a.dt):         # keys of signed numbers have their highest bit turned
        plan.flip ^= <uint64_t>1 << (8 * plan.item - 1)
    plan.size = a.count if dim < 0 or a.nd == 0 else a.sizes[dim]
    plan.inner = 1
    for d in range(dim + 1, a.nd if dim >= 0 else 0):
        plan.inner *= a.sizes[d]
    plan.rows = a.count // plan.size
    plan.lanes = least(plan.rows, team_size(cost * a.count))
    plan.pairs_per_lane *= plan.size
    scratch = storage_new(plan.lanes * plan.pairs_per_lane * sizeof(Pair))
    plan.scratch = scratch.data
    try:
        begin(&work, name, plan, sizeof(RowsPlan), KIND_SORT)
        operand(&work, &plan.a, a, READS)
        operand(&work, &plan.values, values, WRITES)
        if index is not None:
            operand(&work, &plan.index, index, WRITES)
        memory(&work, &plan.scratch, scratch, SCRATCH)
        return launch_tiles(&work, body, plan.lanes, cost * a.count)
    finally:
        storage_decref(scratch)


cdef Tensor in_order(Tensor a, const int* order):
    """A view with the dimensions in another order."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    for d in range(a.nd):
        sizes[d], strides[d] = a.sizes[order[d]], a.strides[order[d]]
    return tensor_window(a, a.nd, sizes, strides, 0)


cdef int sort(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint descending,
              bint stable) except -1:
    """It is stable, whether asked for or not."""
    cdef RowsPlan plan
    cdef int[MAX_DIMS] order
    cdef int d, i
    dim = normal_dim(dim, a.nd)
    if values.flags & F_STRIDED and values.count:
        # The results are dense, in some order of dimensions, which is that of the walk.
        for d in range(a.nd):
            i = d
            while i > 0 and values.strides[order[i - 1]] < values.strides[d]:
                order[i] = order[i - 1]
                i -= 1
            order[i] = d
        values, index, a = in_order(values, order), in_order(index, order), in_order(a, order)
        for d in range(a.nd):
            if order[d] == dim:
                dim = d
                break
    plan.pairs_per_lane = 2
    plan.take = a.sizes[dim] if a.nd else 1
    plan.flip = <uint64_t>-1 if descending else 0
    return over_rows(sort_lane, "sort", &plan, values, index, a, <int>dim, 64.0)


cdef int topk(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim, bint largest,
              bint is_sorted) except -1:
    cdef RowsPlan plan
    plan.pairs_per_lane = 2
    plan.take = k if a.nd else 1    # none of a number is the number, as in torch
    plan.flip = <uint64_t>-1 if largest else 0
    return over_rows(sort_lane, "topk", &plan, values, index, a, <int>normal_dim(dim, a.nd), 16.0)


cdef int kthvalue(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim,
                  bint keepdim) except -1:
    cdef RowsPlan plan
    plan.pairs_per_lane = 1
    plan.take = k
    return over_rows(kth_lane, "kthvalue", &plan, values, index, a, <int>normal_dim(dim, a.nd),
                     16.0)


cdef int median_of_all(Tensor out, Tensor a, bint skip_nan) except -1:
    cdef RowsPlan plan
    if a.count == 0:
        return fill_dense(out, float("nan"))
    plan.pairs_per_lane = 1
    plan.skip_nan = skip_nan
    return over_rows(median_lane, "median", &plan, out, None, a, -1, 16.0)


cdef int median_along(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint skip_nan) except -1:
    cdef RowsPlan plan
    plan.pairs_per_lane = 1
    plan.skip_nan = skip_nan
    return over_rows(median_lane, "median", &plan, values, index, a, <int>normal_dim(dim, a.nd),
                     16.0)


cdef int median_all(Tensor out, Tensor a) except -1:
    return median_of_all(out, a, False)


cdef int nanmedian_all(Tensor out, Tensor a) except -1:
    return median_of_all(out, a, True)


cdef int median(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint keepdim) except -1:
    return median_along(values, index, a, dim, False)


cdef int nanmedian(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint keepdim) except -1:
    return median_along(values, index, a, dim, True)
