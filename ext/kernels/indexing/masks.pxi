# Positions of what is true, and moves by a mask alone (part of indexing.pyx).
#
# A mask over all dimensions of a tensor needs no list of positions: blocks of it become positions
# of 16 bits that stay in the cache, and are used at once.

cdef enum:
    MASK_BLOCK = 4096       # elements of a mask whose positions are found at once
    SHORT_RUN = 64          # rows of fewer elements are moved by positions

cdef extern from "mask_lanes.h" nogil:
    void ag_fill_bits()
    Py_ssize_t ag_count_true(const uint8_t* p, Py_ssize_t n)
    Py_ssize_t ag_true_places(const uint8_t* p, Py_ssize_t n, uint16_t* k, Py_ssize_t most)


ag_fill_bits()


cdef inline Py_ssize_t count_true(const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Count bytes that aren't 0, whatever else they are: as many positions are written."""
    return ag_count_true(p, n)


cdef Py_ssize_t true_in_block(const uint8_t* p, Py_ssize_t n, uint16_t* k,
                              Py_ssize_t most) noexcept nogil:
    """
    The first positions, up to `most`, of what is true in a block; returns how many there are.

    `k` can hold eight more than the block has elements.
    """
    cdef Py_ssize_t i = n - n % 16, count = ag_true_places(p, n, k, most)
    while i < n and count < most:
        k[count] = <uint16_t>i
        count += p[i] != 0
        i += 1
    return least(count, most)


cdef Py_ssize_t write_true(const uint8_t* p, Py_ssize_t n, int64_t* k,
                           Py_ssize_t left) noexcept nogil:
    """The first `left` positions of what is true; where there are fewer, zeros follow."""
    cdef uint16_t block[4104]
    cdef Py_ssize_t first = 0, count, j
    while first < n and left:
        count = true_in_block(p + first, least(n - first, MASK_BLOCK), block, left)
        for j in range(count):
            k[j] = first + block[j]
        k += count
        left -= count
        first += MASK_BLOCK
    memset(k, 0, left * sizeof(int64_t))
    return left


# --- nonzero ---------------------------------------------------------------------------------

cdef int count_nonzero(Tensor a, Py_ssize_t* sizes, list memo) except -1:
    cdef Tensor truth = contiguous(cast(a, DT_BOOL))
    if truth is not a:
        memo.append(truth)
    sizes[0] = count_true(<const uint8_t*>truth.ptr, truth.count)
    return 0


cdef int nonzero(Tensor out, Tensor a, list memo) except -1:
    """A row of positions for each element that isn't 0, in order."""
    cdef Tensor truth = <Tensor>memo[0] if memo else a
    if out.count == 0:
        return 0
    if a.nd == 1:
        write_true(<const uint8_t*>truth.ptr, truth.count, <int64_t*>out.ptr, out.sizes[0])
    else:
        write_rows(truth, <int64_t*>out.ptr, out.sizes[0])
    return 0


cdef int write_rows(Tensor truth, int64_t* k, Py_ssize_t left) except -1:
    """Write the places of a mask of several dimensions: a place in memory moves on through the rows
    with them."""
    cdef const uint8_t* p = <const uint8_t*>truth.ptr
    cdef uint16_t block[4104]
    cdef int64_t at[64]
    cdef int d, last = truth.nd - 1
    cdef Py_ssize_t length = truth.sizes[last], row = 0, first = 0, count, place, j
    memset(at, 0, sizeof(at))
    while first < truth.count and left:
        count = true_in_block(p + first, least(truth.count - first, MASK_BLOCK), block, left)
        for j in range(count):
            place = first + block[j]
            while place - row >= length:
                row += length
                for d in range(last - 1, -1, -1):
                    at[d] += 1
                    if at[d] < truth.sizes[d]:
                        break
                    at[d] = 0
            for d in range(last):
                k[d] = at[d]
            k[last] = place - row
            k += truth.nd
        left -= count
        first += MASK_BLOCK
    memset(k, 0, left * truth.nd * sizeof(int64_t))
    return 0


# --- masks as indices ------------------------------------------------------------------------

cdef int only_mask(tuple indices) noexcept:
    """The place of the only index, if that is a mask; else -1."""
    cdef int i, place = -1
    for i in range(len(indices)):
        if indices[i] is None:
            continue
        if place >= 0 or (<Tensor>indices[i]).dt != DT_BOOL:
            return -1
        place = i
    return place


cdef int count_masks(Tensor a, object indices, Py_ssize_t* sizes, list memo) except -1:
    """Count the true elements of each mask, and append the mask, contiguous, to `memo`."""
    cdef Tensor mask
    for entry in <tuple>indices:
        if entry is None or (<Tensor>entry).dt != DT_BOOL:
            continue
        mask = contiguous(<Tensor>entry)
        sizes[len(memo)] = count_true(<const uint8_t*>mask.ptr, mask.count)
        memo.append(mask)
    return 0


cdef int count_put(Tensor a, object indices, Tensor values, bint accumulate, Py_ssize_t* sizes,
                   list memo) except -1:
    return count_masks(a, indices, sizes, memo)


cdef struct MaskPlan:
    int mode                # TAKE or PUT
    Py_ssize_t item
    const uint8_t* mask     # dense
    char* x
    char* y                 # dense: what is selected
    Span rows[64]           # dimensions of x, but for the last one
    int n_rows
    Py_ssize_t length       # of the last one
    Py_ssize_t step         # bytes
    Py_ssize_t row_blocks
    int64_t* firsts         # how many are true before each block, and in all
    Py_ssize_t blocks


cdef inline void take_true(word_t* y, const char* x, Py_ssize_t step, const uint16_t* k,
                           Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    if step == sizeof(word_t):
        for j in range(n):
            y[j] = (<const word_t*>x)[k[j]]
    else:
        for j in range(n):
            y[j] = (<const word_t*>(x + k[j] * step))[0]


cdef inline void put_true(const word_t* y, char* x, Py_ssize_t step, const uint16_t* k,
                          Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    if step == sizeof(word_t):
        for j in range(n):
            (<word_t*>x)[k[j]] = y[j]
    else:
        for j in range(n):
            (<word_t*>(x + k[j] * step))[0] = y[j]


cdef inline void move_true(int mode, word_t* y, char* x, Py_ssize_t step, const uint16_t* k,
                           Py_ssize_t n) noexcept nogil:
    if mode == TAKE:
        take_true(y, x, step, k, n)
    else:
        put_true(y, x, step, k, n)


cdef void mask_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MaskPlan* plan = <MaskPlan*>ctx
    move_block(plan, tile, plan.firsts[tile], plan.firsts[tile + 1] - plan.firsts[tile])


cdef Py_ssize_t move_block(MaskPlan* plan, Py_ssize_t block, Py_ssize_t before,
                           Py_ssize_t most) noexcept nogil:
    """A block of the mask, with so many elements selected before; returns how many more are."""
    cdef uint16_t k[4104]
    cdef Py_ssize_t row = block // plan.row_blocks, n
    cdef Py_ssize_t first = block % plan.row_blocks * MASK_BLOCK
    cdef char* x = plan.x
    cdef char* y = plan.y + before * plan.item
    cdef char* none = NULL
    if most == 0:
        return 0
    n = true_in_block(plan.mask + row * plan.length + first,
                      least(plan.length - first, MASK_BLOCK), k, most)
    walk_spans(plan.rows, plan.n_rows, row, &x, &none)
    x += first * plan.step
    if plan.item == 4:
        move_true(plan.mode, <uint32_t*>y, x, plan.step, k, n)
    elif plan.item == 8:
        move_true(plan.mode, <uint64_t*>y, x, plan.step, k, n)
    elif plan.item == 1:
        move_true(plan.mode, <uint8_t*>y, x, plan.step, k, n)
    elif plan.item == 2:
        move_true(plan.mode, <uint16_t*>y, x, plan.step, k, n)
    else:
        move_true(plan.mode, <double complex*>y, x, plan.step, k, n)
    return n


cdef bint by_mask(MaskPlan* plan, Tensor a, Tensor mask) noexcept:
    """Fill the plan with the dimensions; False if rows are too short."""
    cdef Py_ssize_t item = DT_SIZE[a.dt]
    cdef int d, n = 0
    plan.item = item
    for d in range(a.nd):
        n = join_span(plan.rows, n, a.sizes[d], a.strides[d] * item, 0)
    if n == 0:
        plan.rows[0].size, plan.rows[0].x, plan.rows[0].y = 1, item, 0
        n = 1
    plan.n_rows = n - 1
    plan.length = plan.rows[n - 1].size
    plan.step = plan.rows[n - 1].x
    if n > 1 and plan.length < SHORT_RUN:
        return False
    plan.row_blocks = parts(plan.length, MASK_BLOCK)
    plan.blocks = mask.count // plan.length * plan.row_blocks
    return True


cdef bint rows_are_long(Tensor a, Tensor mask) noexcept:
    """Tell whether rows are long enough for move_by_mask."""
    cdef MaskPlan plan
    return mask.nd > 0 and by_mask(&plan, a, mask)


cdef bint move_by_mask(int mode, Tensor a, tuple indices, list memo, Tensor other) except -1:
    """
    Move between what a mask over all of `a` selects and `other`, dense and of as many elements.

    False, and nothing has happened, where another way is to be taken.
    """
    cdef MaskPlan plan
    cdef Tensor mask
    cdef StorageImpl* counted
    cdef int team
    if len(indices) != 1 or len(memo) != 1:
        return False
    mask = <Tensor>memo[0]
    if mask.nd == 0 or mask.nd != a.nd or mask.count == 0 or not by_mask(&plan, a, mask):
        return False
    plan.mode = mode
    plan.mask = <const uint8_t*>mask.ptr
    plan.x, plan.y = a.ptr, other.ptr
    if mask.count < GIVE_UP_GIL:
        move_in_order(&plan, other.count)
        return True
    team = team_size(2.0 * mask.count)
    if team == 1:
        with nogil:
            move_in_order(&plan, other.count)
        return True
    counted = storage_new((plan.blocks + 1) * sizeof(int64_t))
    plan.firsts = <int64_t*>counted.data
    with nogil:
        count_blocks(&plan, other.count)
        parallel_for(mask_tile, &plan, plan.blocks, team)
    storage_decref(counted)
    return True


cdef void move_in_order(MaskPlan* plan, Py_ssize_t left) noexcept nogil:
    """All blocks one after the other, each from where the last one ended."""
    cdef Py_ssize_t i, n, first = 0
    for i in range(plan.blocks):
        n = move_block(plan, i, first, left)
        first += n
        left -= n


cdef void count_blocks(MaskPlan* plan, Py_ssize_t most) noexcept nogil:
    cdef Py_ssize_t i, row, first, total = 0
    for i in range(plan.blocks):
        row, first = i // plan.row_blocks, i % plan.row_blocks * MASK_BLOCK
        plan.firsts[i] = total
        # Never more than memory was allocated for, whatever another thread does to the mask.
        total = least(most, total + count_true(
            plan.mask + row * plan.length + first, least(plan.length - first, MASK_BLOCK)))
    plan.firsts[plan.blocks] = total


# --- x[mask] = value ---------------------------------------------------------------------------

cdef struct FillPlan:
    const uint8_t* mask     # dense
    char* x
    const char* value
    Py_ssize_t item
    Py_ssize_t n            # of the mask
    Span outer[64]          # dimensions before those of the mask
    int n_outer
    Span places[64]         # those of the mask
    int n_places
    Span inner[64]          # those after them
    int n_inner
    Py_ssize_t outers
    Py_ssize_t inners
    loop_t copy
    loop_t where
    Py_ssize_t block        # of the mask in one tile
    Py_ssize_t blocks
    Py_ssize_t group        # of the outer ones in one tile


cdef inline void put_value(char* x, Py_ssize_t step, const uint16_t* k, Py_ssize_t n,
                           word_t value) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        (<word_t*>(x + k[j] * step))[0] = value


cdef void fill_some(FillPlan* plan, char* x, const uint16_t* k, Py_ssize_t n) noexcept nogil:
    """Single elements in one run of places."""
    cdef Py_ssize_t step = plan.places[0].x
    if plan.item == 4:
        put_value(x, step, k, n, (<const uint32_t*>plan.value)[0])
    elif plan.item == 8:
        put_value(x, step, k, n, (<const uint64_t*>plan.value)[0])
    elif plan.item == 1:
        put_value(x, step, k, n, (<const uint8_t*>plan.value)[0])
    elif plan.item == 2:
        put_value(x, step, k, n, (<const uint16_t*>plan.value)[0])
    else:
        put_value(x, step, k, n, (<const double complex*>plan.value)[0])


cdef void fill_blocks(FillPlan* plan, char* x, Py_ssize_t first, const uint16_t* k,
                      Py_ssize_t n) noexcept nogil:
    """The dimensions after those of the mask, at each place."""
    cdef Py_ssize_t i, j, runs, size = 1
    cdef char* none = NULL
    cdef char* p[2]
    cdef Py_ssize_t step[2]
    p[1] = <char*>plan.value
    step[0] = step[1] = 0
    if plan.n_inner:
        size, step[0] = plan.inner[plan.n_inner - 1].size, plan.inner[plan.n_inner - 1].x
    runs = plan.inners // size
    for j in range(n):
        for i in range(runs):
            p[0] = x
            walk_spans(plan.places, plan.n_places, first + k[j], &p[0], &none)
            if runs > 1:
                walk_spans(plan.inner, plan.n_inner - 1, i, &p[0], &none)
            plan.copy(p, step, size)


cdef void fill_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef FillPlan* plan = <FillPlan*>ctx
    cdef uint16_t k[4104]
    cdef Py_ssize_t first = tile % plan.blocks * plan.block
    cdef Py_ssize_t outer = tile // plan.blocks * plan.group
    cdef Py_ssize_t size = least(plan.n - first, plan.block), i
    cdef Py_ssize_t n = count_true(plan.mask + first, size)
    cdef bint several = plan.inners > 1 or plan.n_places != 1
    cdef char* x
    cdef char* none = NULL
    cdef char* p[4]
    cdef Py_ssize_t step[4]
    if n == 0:
        return
    if several or 4 * n < size:
        n = true_in_block(plan.mask + first, size, k, n)
    for i in range(outer, least(outer + plan.group, plan.outers)):
        x = plan.x
        walk_spans(plan.outer, plan.n_outer, i, &x, &none)
        if several:
            fill_blocks(plan, x, first, k, n)
        elif 4 * n < size:
            fill_some(plan, x + first * plan.places[0].x, k, n)
        else:                   # all are written, some with what they are
            p[0] = p[3] = x + first * plan.places[0].x
            p[1], p[2] = <char*>plan.mask + first, <char*>plan.value
            step[0] = step[3] = plan.places[0].x
            step[1], step[2] = 1, 0
            plan.where(p, step, size)


cdef int fill_true(Tensor a, Tensor mask, int place, Tensor value) except -1:
    """One value of a's dtype wherever a mask over some dimensions, from `place` on, says so."""
    cdef FillPlan plan
    cdef Launch work
    cdef Py_ssize_t step
    cdef int d
    mask = contiguous(mask)
    plan.item = DT_SIZE[a.dt]
    plan.n_outer = plan.n_places = plan.n_inner = 0
    plan.outers = plan.inners = 1
    for d in range(a.nd):
        step = a.strides[d] * plan.item
        if d < place:
            plan.n_outer = join_span(plan.outer, plan.n_outer, a.sizes[d], step, 0)
            plan.outers *= a.sizes[d]
        elif d < place + mask.nd:
            plan.n_places = join_span(plan.places, plan.n_places, a.sizes[d], step, 0)
        else:
            plan.n_inner = join_span(plan.inner, plan.n_inner, a.sizes[d], step, 0)
            plan.inners *= a.sizes[d]
    plan.mask, plan.x, plan.value = <const uint8_t*>mask.ptr, a.ptr, value.ptr
    plan.n = mask.count
    plan.copy, plan.where = KT.loops[K_COPY][<int>a.dt], KT.loops[K_WHERE][<int>a.dt]
    plan.block = least(MASK_BLOCK, TILE_WORK // plan.inners + 1)
    plan.blocks = parts(plan.n, plan.block)
    plan.group = TILE_WORK // (least(plan.n, plan.block) * plan.inners) + 1
    begin(&work, "index_put", &plan, sizeof(plan), KIND_ELEMENTWISE)
    operand(&work, &plan.mask, mask, READS)
    operand(&work, &plan.x, a, UPDATES)
    operand(&work, &plan.value, value, READS)
    return launch_tiles(&work, fill_tile, plan.blocks * parts(plan.outers, plan.group),
                        0.5 * a.count)


# --- places as often as counts say ------------------------------------------------------------

cdef int count_repeats(Tensor repeats, object output_size, Py_ssize_t* sizes,
                       list memo) except -1:
    """The sum of the counts, none of which may be negative."""
    cdef Tensor k = positions(repeats)
    cdef const int64_t* p = <const int64_t*>k.ptr
    cdef Py_ssize_t i, total = 0, limit = <Py_ssize_t>1 << 60
    cdef bint over = False
    for i in range(k.count):
        if p[i] < 0:
            raise RuntimeError("repeat_interleave: repeats can not be negative")
        over |= p[i] >= limit - total
        total += 0 if over else p[i]
    if output_size is not None and (over or output_size != total):
        raise RuntimeError(
            f"repeat_interleave: allocated size does not match required size: {output_size} and "
            f"{sum(k.tolist()) if over else total}")
    if over:
        raise RuntimeError("repeat_interleave: Storage size calculation overflowed with "
                           f"sizes=[{sum(k.tolist())}]")
    sizes[0] = total
    memo.append(k)
    return 0


cdef int repeated_places(Tensor out, Tensor repeats, object output_size, list memo) except -1:
    """The place of each count as often as it says."""
    cdef Tensor counts = <Tensor>memo[0]
    cdef int64_t* k = <int64_t*>out.ptr
    cdef Py_ssize_t i, stop, at = 0
    for i in range(counts.count):
        stop = least(out.count, at + <Py_ssize_t>(<const int64_t*>counts.ptr)[i])
        while at < stop:
            k[at] = i
            at += 1
    while at < out.count:
        k[at] = 0
        at += 1
    return 0


# --- how often numbers occur ------------------------------------------------------------------

cdef int count_bins(Tensor a, Py_ssize_t minlength, Py_ssize_t* sizes, list memo) except -1:
    """One more than the largest number; those are whole and not negative."""
    cdef Tensor numbers = contiguous(cast(a, DT_I64))
    cdef const int64_t* p = <const int64_t*>numbers.ptr
    cdef Py_ssize_t i, n = numbers.count
    cdef int64_t low = 0, high = -1, other = -1, signs = 0
    for i in range(0, n - 1, 2):        # one comparison waits for the one before it
        signs |= p[i] | p[i + 1]
        high = p[i] if p[i] > high else high
        other = p[i + 1] if p[i + 1] > other else other
    if n & 1:
        signs |= p[n - 1]
        high = p[n - 1] if p[n - 1] > high else high
    high = other if other > high else high
    if signs < 0:
        for i in range(n):
            low = p[i] if p[i] < low else low
    if low < 0:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {low}")
    if high == <int64_t>0x7FFFFFFFFFFFFFFF:
        raise RuntimeError(
            f"bincount(): maximum value of input overflowed, it should be < {high} but got {high}")
    sizes[0] = minlength if minlength > high + 1 else <Py_ssize_t>(high + 1)
    memo.append(numbers)
    return 0


cdef int bincount(Tensor out, Tensor a, Py_ssize_t minlength, list memo) except -1:
    cdef Tensor numbers = <Tensor>memo[0]
    cdef const int64_t* p = <const int64_t*>numbers.ptr
    cdef int64_t* bins = <int64_t*>out.ptr
    cdef int64_t others[1024]           # of every second number: a count waits for the one before
    cdef Py_ssize_t i, n = numbers.count, first = 0
    cdef int64_t x, y, size = out.count
    if size:
        memset(bins, 0, size * sizeof(int64_t))
    if size <= 1024 and n >= size:
        memset(others, 0, size * sizeof(int64_t))
        for first in range(0, n - 1, 2):
            x, y = p[first], p[first + 1]
            if <uint64_t>x < <uint64_t>size:    # another thread may have written there
                bins[x] += 1
            if <uint64_t>y < <uint64_t>size:
                others[y] += 1
        for i in range(size):
            bins[i] += others[i]
        first = n & -2
    for i in range(first, n):
        x = p[i]
        if <uint64_t>x < <uint64_t>size:
            bins[x] += 1
    return 0
