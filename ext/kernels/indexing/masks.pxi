# Positions of what is true, and moves by a mask alone (part of indexing.pyx).
#
# A mask over all dimensions of a tensor needs no list of positions: blocks of it become positions
# of 16 bits that stay in the cache, and are used at once.

cdef enum:
    MASK_BLOCK = 4096       # elements of a mask whose positions are found at once
    SHORT_RUN = 64          # rows of fewer elements are moved by positions

# The positions of the bits of a byte, and how many there are.
cdef uint16_t TRUE_BITS[256][8]
cdef uint8_t BITS[256]


cdef int fill_bits() except -1:
    cdef int byte, i
    memset(TRUE_BITS, 0, sizeof(TRUE_BITS))
    memset(BITS, 0, sizeof(BITS))
    for byte in range(256):
        for i in range(8):
            if byte >> i & 1:
                TRUE_BITS[byte][BITS[byte]] = <uint16_t>i
                BITS[byte] += 1
    return 0


fill_bits()


cdef inline int true_bits(const uint8_t* p) noexcept nogil:
    """Bit i: whether p[i] isn't 0, whatever else it is."""
    cdef uint64_t word
    memcpy(&word, p, 8)
    word = ((word & <uint64_t>0x7F7F7F7F7F7F7F7F) + <uint64_t>0x7F7F7F7F7F7F7F7F) | word
    word = (word & <uint64_t>0x8080808080808080) >> 7
    return <int>((word * <uint64_t>0x0102040810204080) >> 56)


cdef Py_ssize_t count_true(const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """How many bytes aren't 0, whatever else they are: as many positions are written."""
    cdef uint8_t lanes[64]
    cdef Py_ssize_t i = 0, count = 0, some
    cdef int j
    while i + 64 <= n:
        memset(lanes, 0, 64)
        some = least((n - i) // 64, 255)
        while some:
            for j in range(64):
                lanes[j] += p[i + j] != 0
            i += 64
            some -= 1
        for j in range(64):
            count += lanes[j]
    while i < n:
        count += p[i] != 0
        i += 1
    return count


cdef Py_ssize_t true_in_block(const uint8_t* p, Py_ssize_t n, uint16_t* k,
                              Py_ssize_t most) noexcept nogil:
    """
    The first positions, up to `most`, of what is true in a block; returns how many there are.

    `k` has room for eight more than the block has elements.
    """
    cdef Py_ssize_t i = 0, found = 0
    cdef int bits, j
    cdef const uint16_t* at
    while i + 8 <= n and found < most:
        bits = true_bits(p + i)
        if bits:
            at = TRUE_BITS[bits]
            for j in range(8):
                k[found + j] = <uint16_t>(at[j] + i)
            found += BITS[bits]
        i += 8
    while i < n and found < most:
        k[found] = <uint16_t>i
        found += p[i] != 0
        i += 1
    return least(found, most)


cdef Py_ssize_t write_true(const uint8_t* p, Py_ssize_t n, int64_t* k,
                           Py_ssize_t left) noexcept nogil:
    """The first `left` positions of what is true; where there are fewer, zeros follow."""
    cdef uint16_t block[4104]
    cdef Py_ssize_t first = 0, found, j
    while first < n and left:
        found = true_in_block(p + first, least(n - first, MASK_BLOCK), block, left)
        for j in range(found):
            k[j] = first + block[j]
        k += found
        left -= found
        first += MASK_BLOCK
    memset(k, 0, left * sizeof(int64_t))
    return left


# --- nonzero ---------------------------------------------------------------------------------

cdef int count_nonzero(Tensor a, Py_ssize_t* sizes, list found) except -1:
    cdef Tensor truth = contiguous(cast(a, DT_BOOL))
    found.append(truth)
    sizes[0] = count_true(<const uint8_t*>truth.ptr, truth.count)
    return 0


cdef int nonzero(Tensor out, Tensor a, list found) except -1:
    """A row of positions for each element that isn't 0, in order."""
    cdef Tensor truth = <Tensor>found[0]
    if out.count == 0:
        return 0
    if a.nd == 1:
        write_true(<const uint8_t*>truth.ptr, truth.count, <int64_t*>out.ptr, out.sizes[0])
    else:
        write_rows(truth, <int64_t*>out.ptr, out.sizes[0])
    return 0


cdef int write_rows(Tensor truth, int64_t* k, Py_ssize_t left) except -1:
    cdef const uint8_t* p = <const uint8_t*>truth.ptr
    cdef Py_ssize_t[64] at
    cdef Py_ssize_t j, row, true, step = truth.nd
    cdef int d, last = truth.nd - 1
    cdef Py_ssize_t length = truth.sizes[last]
    memset(at, 0, sizeof(at))
    for row in range(truth.count // length):
        # Written without asking, and kept if true: a branch here is mispredicted half the time.
        for j in range(length):
            if left == 0:
                break
            for d in range(last):
                k[d] = at[d]
            k[last] = j
            true = p[row * length + j] != 0
            k += step * true
            left -= true
        for d in range(last - 1, -1, -1):
            at[d] += 1
            if at[d] < truth.sizes[d]:
                break
            at[d] = 0
    memset(k, 0, left * step * sizeof(int64_t))
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


cdef int count_masks(Tensor a, object indices, Py_ssize_t* sizes, list found) except -1:
    """How much of each mask is true; they are left behind as dense ones."""
    cdef Tensor mask
    for entry in <tuple>indices:
        if entry is None or (<Tensor>entry).dt != DT_BOOL:
            continue
        mask = contiguous(<Tensor>entry)
        sizes[len(found)] = count_true(<const uint8_t*>mask.ptr, mask.count)
        found.append(mask)
    return 0


cdef int count_put(Tensor a, object indices, Tensor values, bint accumulate, Py_ssize_t* sizes,
                   list found) except -1:
    return count_masks(a, indices, sizes, found)


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
    cdef uint16_t k[4104]
    cdef Py_ssize_t row = tile // plan.row_blocks
    cdef Py_ssize_t first = tile % plan.row_blocks * MASK_BLOCK
    cdef Py_ssize_t most = plan.firsts[tile + 1] - plan.firsts[tile], n
    cdef char* x = plan.x
    cdef char* y = plan.y + plan.firsts[tile] * plan.item
    cdef char* none = NULL
    if most == 0:
        return
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


cdef bint move_by_mask(int mode, Tensor a, tuple indices, list found, Tensor other) except -1:
    """
    Move between what a mask over all of `a` selects and `other`, dense and of as many elements.

    False, and nothing has happened, where another way is to be taken.
    """
    cdef MaskPlan plan
    cdef Tensor mask
    cdef StorageImpl* counted
    cdef Py_ssize_t i, row, first, total = 0
    if len(indices) != 1 or found is None or len(found) != 1:
        return False
    mask = <Tensor>found[0]
    if mask.nd == 0 or mask.nd != a.nd or mask.count == 0 or not by_mask(&plan, a, mask):
        return False
    plan.mode = mode
    plan.mask = <const uint8_t*>mask.ptr
    plan.x, plan.y = a.ptr, other.ptr
    counted = storage_new((plan.blocks + 1) * sizeof(int64_t))
    plan.firsts = <int64_t*>counted.data
    for i in range(plan.blocks):
        row, first = i // plan.row_blocks, i % plan.row_blocks * MASK_BLOCK
        plan.firsts[i] = total
        # Never more than there is room for, whatever another thread does to the mask.
        total = least(other.count, total + count_true(
            plan.mask + row * plan.length + first, least(plan.length - first, MASK_BLOCK)))
    plan.firsts[plan.blocks] = total
    try:
        if mask.count < GIVE_UP_GIL:
            for i in range(plan.blocks):
                mask_tile(&plan, i)
        else:
            with nogil:
                parallel_for(mask_tile, &plan, plan.blocks, team_size(2.0 * mask.count))
    finally:
        storage_decref(counted)
    return True


# --- places as often as counts say ------------------------------------------------------------

cdef int count_repeats(Tensor repeats, object output_size, Py_ssize_t* sizes,
                       list found) except -1:
    """The sum of the counts, none of which may be negative."""
    cdef Tensor k = positions(repeats)
    cdef const int64_t* p = <const int64_t*>k.ptr
    cdef Py_ssize_t i, total = 0, room = <Py_ssize_t>1 << 60
    cdef bint over = False
    for i in range(k.count):
        if p[i] < 0:
            raise RuntimeError("repeat_interleave: repeats can not be negative")
        over |= p[i] >= room - total
        total += 0 if over else p[i]
    if output_size is not None and (over or output_size != total):
        raise RuntimeError(
            f"repeat_interleave: allocated size does not match required size: {output_size} and "
            f"{sum(k.tolist()) if over else total}")
    if over:
        raise RuntimeError("repeat_interleave: Storage size calculation overflowed with "
                           f"sizes=[{sum(k.tolist())}]")
    sizes[0] = total
    found.append(k)
    return 0


cdef int repeated_places(Tensor out, Tensor repeats, object output_size, list found) except -1:
    """The place of each count as often as it says."""
    cdef Tensor counts = <Tensor>found[0]
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

cdef int count_bins(Tensor a, Py_ssize_t minlength, Py_ssize_t* sizes, list found) except -1:
    """One more than the largest number; those are whole and not negative."""
    cdef Tensor numbers = contiguous(cast(a, DT_I64))
    cdef const int64_t* p = <const int64_t*>numbers.ptr
    cdef Py_ssize_t i
    cdef int64_t low = 0, high = -1
    for i in range(numbers.count):
        low = p[i] if p[i] < low else low
        high = p[i] if p[i] > high else high
    if low < 0:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {low}")
    if high == <int64_t>0x7FFFFFFFFFFFFFFF:
        raise RuntimeError(
            f"bincount(): maximum value of input overflowed, it should be < {high} but got {high}")
    sizes[0] = minlength if minlength > high + 1 else <Py_ssize_t>(high + 1)
    found.append(numbers)
    return 0


cdef int bincount(Tensor out, Tensor a, Py_ssize_t minlength, list found) except -1:
    cdef Tensor numbers = <Tensor>found[0]
    cdef const int64_t* p = <const int64_t*>numbers.ptr
    cdef int64_t* bins = <int64_t*>out.ptr
    cdef Py_ssize_t i
    if out.count:
        memset(bins, 0, out.count * sizeof(int64_t))
    for i in range(numbers.count):
        if 0 <= p[i] < out.count:       # another thread may have written there
            bins[p[i]] += 1
    return 0
