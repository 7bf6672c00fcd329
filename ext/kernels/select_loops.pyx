# cython: language_level=3
# build: simd cold
"""Medians, elements up to one rank (its key and its place), and runs of equal elements; compiled
once per instruction set.

Note [One rank]. Thirty-two keys taken from all over say between which two the one looked for most
likely lies. Those in between are kept, about a third, and the same is done with them, until 32 are
left. Each pass moves whole vectors where the machine can pack them (select_lanes.h). If too few
drop out, as of many equal keys, the rest goes by counting bits from the top.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_F16, DT_F32, DT_F64, DT_I8, DT_I16, DT_I32, DT_I64)
from autograd_cy._C.select_loops cimport SelectTable
from autograd_cy._C.sort_keys cimport key_of, key_of_nan, key_t

cdef extern from "select_lanes.h" nogil:
    Py_ssize_t ag_keep_u32(const uint32_t* a, Py_ssize_t n, uint32_t lo, uint32_t hi,
                           uint32_t* out, Py_ssize_t* below)
    Py_ssize_t ag_keep_u64(const uint64_t* a, Py_ssize_t n, uint64_t lo, uint64_t hi,
                           uint64_t* out, Py_ssize_t* below)
    enum:
        AG_HAS_NEW
    Py_ssize_t ag_keep_new_u32(const uint32_t* a, Py_ssize_t n, uint32_t* out)
    Py_ssize_t ag_keep_new_u64(const uint64_t* a, Py_ssize_t n, uint64_t* out)
    Py_ssize_t ag_keep_new_f32(const float* a, Py_ssize_t n, float* out)
    Py_ssize_t ag_keep_new_f64(const double* a, Py_ssize_t n, double* out)
    void ag_count_smaller_u32(const uint32_t* a, Py_ssize_t n, uint32_t* counts)
    void ag_count_smaller_u64(const uint64_t* a, Py_ssize_t n, uint64_t* counts)

cdef enum:
    FEW_KEYS = 32           # of which one rank is found by counting the smaller ones
    FEW_SPREAD = 6          # places on both sides of the likely one, in a sample of so many
    MANY_KEYS = 32768       # from here on the sample is
    SAMPLED = 1024
    SPREAD = 40
    LOOKED = 32             # elements that are looked through at once
    OFTEN = 4               # of which so many begin a run: the next ones are likely to do, too
    RUNS_AT_ONCE = 4096     # elements whose runs are counted without widening

ctypedef fused bits_t:
    uint32_t
    uint64_t


cdef inline Py_ssize_t keep(const bits_t* a, Py_ssize_t n, bits_t lo, bits_t hi, bits_t* out,
                            Py_ssize_t* below) noexcept nogil:
    if bits_t is uint32_t:
        return ag_keep_u32(a, n, lo, hi, out, below)
    else:
        return ag_keep_u64(a, n, lo, hi, out, below)


cdef inline void count_smaller(const bits_t* few, Py_ssize_t n, bits_t* counts) noexcept nogil:
    if bits_t is uint32_t:
        ag_count_smaller_u32(few, n, counts)
    else:
        ag_count_smaller_u64(few, n, counts)


cdef inline bits_t at_place(const bits_t* few, const bits_t* counts, Py_ssize_t k) noexcept nogil:
    """The key at place k of the sorted ones: the largest with at most k smaller ones."""
    cdef bits_t best = 0
    cdef int j
    for j in range(FEW_KEYS):
        best = few[j] if counts[j] <= <bits_t>k and few[j] > best else best
    return best


cdef bits_t key_of_few(const bits_t* a, Py_ssize_t n, Py_ssize_t* rank) noexcept nogil:
    """As `key_of_rank`, of at most FEW_KEYS."""
    cdef bits_t[FEW_KEYS] few
    cdef bits_t[FEW_KEYS] counts
    cdef bits_t key
    cdef Py_ssize_t j, smaller = 0
    for j in range(n):
        few[j] = a[j]
    for j in range(n, FEW_KEYS):
        few[j] = <bits_t>-1
    count_smaller(few, n, counts)
    key = at_place(few, counts, rank[0])
    for j in range(n):
        smaller += few[j] < key
    rank[0] -= smaller
    return key


cdef bits_t key_by_bits(bits_t* a, Py_ssize_t n, int bits, Py_ssize_t* rank) noexcept nogil:
    """By the bits from the top: ever fewer keys share them with the one looked for."""
    cdef Py_ssize_t counts[1024]
    cdef Py_ssize_t others[1024]    # of every second key: one count waits for the one before it
    cdef Py_ssize_t i, held, k = rank[0]
    cdef bits_t x, digit, mask
    cdef int width
    while bits > 0 and n > 1:
        if n <= FEW_KEYS:
            rank[0] = k
            return key_of_few(a, n, rank)
        width = min(10 if n >= 8192 else 8, bits)
        bits -= width
        mask = (<bits_t>1 << width) - 1
        memset(counts, 0, sizeof(Py_ssize_t) << width)
        memset(others, 0, sizeof(Py_ssize_t) << width)
        for i in range(0, n - 1, 2):
            counts[(a[i] >> bits) & mask] += 1
            others[(a[i + 1] >> bits) & mask] += 1
        if n & 1:
            counts[(a[n - 1] >> bits) & mask] += 1
        for i in range(<Py_ssize_t>1 << width):
            counts[i] += others[i]
        digit = (a[0] >> bits) & mask
        if counts[digit] == n:
            continue
        digit = 0
        while k >= counts[digit]:
            k -= counts[digit]
            digit += 1
        held = 0
        for i in range(n):
            x = a[i]
            a[held] = x
            held += (x >> bits) & mask == digit
        n = held
    rank[0] = k
    return a[0]


cdef inline void bounds(const bits_t* a, Py_ssize_t n, int bits, Py_ssize_t k, bits_t* lo,
                        bits_t* hi) noexcept nogil:
    """Two of the keys, between which the one of rank k is likely to lie; or the ends of all."""
    cdef bits_t[SAMPLED] sample
    cdef bits_t[SAMPLED] again
    cdef bits_t[FEW_KEYS] counts
    cdef Py_ssize_t i, rank, step, most, spread
    most = SAMPLED if n >= MANY_KEYS else FEW_KEYS
    spread = SPREAD if n >= MANY_KEYS else FEW_SPREAD
    step = n // most
    for i in range(most):
        sample[i] = a[i * step + step // 2]
    rank = <Py_ssize_t>(<double>k / n * most)
    lo[0] = 0
    hi[0] = <bits_t>-1
    if most == FEW_KEYS:
        count_smaller(sample, FEW_KEYS, counts)
        if rank >= spread:
            lo[0] = at_place(sample, counts, rank - spread)
        if rank + spread < most:
            hi[0] = at_place(sample, counts, rank + spread)
        return
    if rank >= spread:
        memcpy(again, sample, sizeof(sample))
        i = rank - spread
        lo[0] = key_by_bits(again, most, bits, &i)
    if rank + spread < most:
        i = rank + spread
        hi[0] = key_by_bits(sample, most, bits, &i)


cdef bits_t key_of_rank(bits_t* a, bits_t* b, Py_ssize_t n, int bits,
                        Py_ssize_t* rank) noexcept nogil:
    """
    The key of `rank[0]`, were `a` sorted (Note [One rank]); changes `a`, and `b`, its scratch.

    Keys have so many bits. `rank` becomes the number of keys like it that come before.
    """
    cdef Py_ssize_t k = rank[0], below, held
    cdef bits_t lo, hi
    cdef bits_t* other
    while n > FEW_KEYS:
        bounds(a, n, bits, k, &lo, &hi)
        held = keep(a, n, lo, hi, b, &below)
        if k < below:                       # the sample misled; what it found still parts them
            hi = lo - 1
            lo = 0
            held = keep(a, n, lo, hi, b, &below)
        elif k >= below + held:
            lo = hi + 1
            hi = <bits_t>-1
            held = keep(a, n, lo, hi, b, &below)
        k -= below
        if lo == hi:
            rank[0] = k
            return lo
        other = a
        a = b
        b = other
        if 4 * held > 3 * n:
            rank[0] = k
            return key_by_bits(a, held, bits, rank)
        n = held
    rank[0] = k
    return key_of_few(a, n, rank)


cdef inline void load_keys(const key_t* a, Py_ssize_t step, Py_ssize_t n, int dt, bits_t flip,
                           bits_t* keys) noexcept nogil:
    cdef Py_ssize_t i
    if step == 1:
        for i in range(n):              # by whole vectors
            keys[i] = <bits_t>key_of(a[i], dt) ^ flip
    else:
        for i in range(n):
            keys[i] = <bits_t>key_of(a[i * step], dt) ^ flip


cdef inline Py_ssize_t median_rank(const bits_t* keys, Py_ssize_t n, int dt,
                                   bint skip_nan) noexcept nogil:
    cdef Py_ssize_t i, rank, missing = 0
    cdef bits_t nan = <bits_t>key_of_nan(dt)
    if dt >= DT_F16:
        for i in range(n):
            missing += keys[i] == nan
    if skip_nan:
        rank = n - missing - 1
        return rank // 2 if rank > 0 else 0
    return n - missing if missing else (n - 1) // 2


cdef inline int64_t typed_place(const key_t* a, Py_ssize_t step, Py_ssize_t n, int dt,
                                bint skip_nan, Py_ssize_t rank, bits_t* keys) noexcept nogil:
    """The place of one rank of n elements, -1: of the median; `keys` is scratch for 2 * n."""
    cdef Py_ssize_t i, j, here
    cdef bits_t key
    load_keys(a, step, n, dt, <bits_t>0, keys)
    if rank < 0:
        rank = median_rank(keys, n, dt, skip_nan)
    key = key_of_rank(keys, keys + n, n, 8 * <int>sizeof(key_t), &rank)
    i = 0
    if step == 1:
        for i from 0 <= i <= n - LOOKED by LOOKED:
            here = 0
            for j in range(LOOKED):
                here += <bits_t>key_of(a[i + j], dt) == key
            if here > rank:
                break
            rank -= here
    for i in range(i, n):
        if <bits_t>key_of(a[i * step], dt) == key:
            if rank == 0:
                return i
            rank -= 1
    return 0


cdef inline int64_t place_of_rank(int dt, const char* a, Py_ssize_t step, Py_ssize_t n,
                                  bint skip_nan, Py_ssize_t rank, char* scratch) noexcept nogil:
    if dt == DT_F32:
        return typed_place(<const float*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)
    if dt == DT_F64:
        return typed_place(<const double*>a, step, n, dt, skip_nan, rank, <uint64_t*>scratch)
    if dt == DT_I64:
        return typed_place(<const int64_t*>a, step, n, dt, skip_nan, rank, <uint64_t*>scratch)
    if dt == DT_I32:
        return typed_place(<const int32_t*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)
    if dt == DT_F16 or dt == DT_BF16:
        return typed_place(<const uint16_t*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)
    if dt == DT_I16:
        return typed_place(<const int16_t*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)
    if dt == DT_I8:
        return typed_place(<const int8_t*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)
    return typed_place(<const uint8_t*>a, step, n, dt, skip_nan, rank, <uint32_t*>scratch)


cdef int64_t median(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, bint skip_nan,
                    char* scratch) noexcept nogil:
    return place_of_rank(dt, a, step, n, skip_nan, -1, scratch)


cdef int64_t ranked(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, Py_ssize_t rank,
                    char* scratch) noexcept nogil:
    return place_of_rank(dt, a, step, n, False, rank, scratch)


cdef inline void typed_first(const key_t* a, Py_ssize_t step, Py_ssize_t n, int dt,
                             Py_ssize_t k, bint largest, bits_t* keys,
                             uint64_t* pairs) noexcept nogil:
    """The pairs of the first k; `keys` is scratch for 2 * n."""
    cdef Py_ssize_t i, j, here, stop, held = 0, equal = k - 1
    cdef bits_t flip = <bits_t>-1 if largest else 0, last, key
    if sizeof(key_t) < sizeof(bits_t) and largest:
        flip >>= 8 * (sizeof(bits_t) - sizeof(key_t))
    load_keys(a, step, n, dt, flip, keys)
    last = key_of_rank(keys, keys + n, n, 8 * <int>sizeof(key_t), &equal)
    equal += 1                          # of those like the last one so many are wanted
    i = 0
    while held < k and i < n:
        stop = min(i + LOOKED, n)
        if step == 1 and stop == i + LOOKED:
            here = 0                    # most have nothing: so many are asked at once
            for j in range(LOOKED):
                here += (<bits_t>key_of(a[i + j], dt) ^ flip) <= last
            if here == 0:
                i = stop
                continue
        for j in range(i, stop):
            key = <bits_t>key_of(a[j * step], dt) ^ flip
            if key > last or (key == last and equal == 0):
                continue
            equal -= key == last
            pairs[2 * held] = key
            pairs[2 * held + 1] = j
            held += 1
        i = stop
    while held < k:                     # another thread wrote: the places exist, at least
        pairs[2 * held] = last
        pairs[2 * held + 1] = 0
        held += 1


cdef void first(int dt, const char* a, Py_ssize_t step, Py_ssize_t n, Py_ssize_t k, bint largest,
                char* scratch, uint64_t* pairs) noexcept nogil:
    cdef uint32_t* half = <uint32_t*>scratch
    cdef uint64_t* whole = <uint64_t*>scratch
    if dt == DT_F32:
        typed_first(<const float*>a, step, n, dt, k, largest, half, pairs)
    elif dt == DT_F64:
        typed_first(<const double*>a, step, n, dt, k, largest, whole, pairs)
    elif dt == DT_I64:
        typed_first(<const int64_t*>a, step, n, dt, k, largest, whole, pairs)
    elif dt == DT_I32:
        typed_first(<const int32_t*>a, step, n, dt, k, largest, half, pairs)
    elif dt == DT_F16 or dt == DT_BF16:
        typed_first(<const uint16_t*>a, step, n, dt, k, largest, half, pairs)
    elif dt == DT_I16:
        typed_first(<const int16_t*>a, step, n, dt, k, largest, half, pairs)
    elif dt == DT_I8:
        typed_first(<const int8_t*>a, step, n, dt, k, largest, half, pairs)
    else:
        typed_first(<const uint8_t*>a, step, n, dt, k, largest, half, pairs)


# --- runs of equal elements ------------------------------------------------------------------

ctypedef fused run_t:
    uint8_t
    int16_t                 # halves
    uint16_t
    uint32_t
    uint64_t
    float
    double


cdef inline bint differ(run_t a, run_t b, int dt) noexcept nogil:
    """Return whether neighbours are of different runs: a NaN is a run of its own."""
    cdef int16_t largest = 0x7C00 if dt == DT_F16 else 0x7F80
    if run_t is int16_t:
        return ((a != b) | ((a & 0x7FFF) > largest)) & (((a | b) & 0x7FFF) != 0)
    else:
        return a != b


cdef inline Py_ssize_t count_new(const run_t* a, Py_ssize_t n, int dt) noexcept nogil:
    """How many of n < 2 ** 31 elements differ from the one before, counted in their width."""
    cdef Py_ssize_t i
    cdef int64_t wide = 0
    cdef uint32_t here = 0
    if sizeof(run_t) == 8:
        for i in range(n):
            wide += differ(a[i], a[i - 1], dt)
        return wide
    for i in range(n):
        here += differ(a[i], a[i - 1], dt)
    return here


cdef inline Py_ssize_t typed_runs(const run_t* a, Py_ssize_t n, int dt) noexcept nogil:
    cdef Py_ssize_t i, count = n > 0
    for i from 1 <= i < n by RUNS_AT_ONCE:
        count += count_new(a + i, min(RUNS_AT_ONCE, n - i), dt)
    return count


cdef inline Py_ssize_t note_runs(const run_t* a, Py_ssize_t first, Py_ssize_t n, int dt,
                                 Py_ssize_t held, run_t* values, int64_t* numbers,
                                 int64_t* sizes) noexcept nogil:
    """
    The runs that begin among n elements, a multiple of LOOKED: each element is written where the
    next run belongs, and stays there if it begins one. `values` can hold them all, and one
    more. `sizes` gets the first places of runs.
    """
    cdef Py_ssize_t i
    if numbers == NULL and sizes == NULL:
        if AG_HAS_NEW:
            if run_t is uint32_t:
                return held + ag_keep_new_u32(a + first, n, values + held)
            elif run_t is uint64_t:
                return held + ag_keep_new_u64(a + first, n, values + held)
            elif run_t is float:
                return held + ag_keep_new_f32(a + first, n, values + held)
            elif run_t is double:
                return held + ag_keep_new_f64(a + first, n, values + held)
        for i in range(first, first + n):
            values[held] = a[i]
            held += differ(a[i], a[i - 1], dt)
        return held
    for i in range(first, first + n):
        values[held] = a[i]
        if sizes != NULL:
            sizes[held] = i
        held += differ(a[i], a[i - 1], dt)
        if numbers != NULL:
            numbers[i] = held - 1
    return held


cdef inline void note_last(const run_t* a, Py_ssize_t first, Py_ssize_t n, int dt, Py_ssize_t held,
                           Py_ssize_t count, run_t* values, int64_t* numbers,
                           int64_t* sizes) noexcept nogil:
    """note_runs() where `values` may hold no more than those."""
    cdef Py_ssize_t i
    for i in range(first, first + n):
        if differ(a[i], a[i - 1], dt) and held < count:
            values[held] = a[i]
            if sizes != NULL:
                sizes[held] = i
            held += 1
        if numbers != NULL:
            numbers[i] = held - 1
    for held in range(held, count):     # another thread wrote since they were counted
        values[held] = a[first + n - 1]
        if sizes != NULL:
            sizes[held] = first + n


cdef inline Py_ssize_t runs_of(const run_t* a, Py_ssize_t n, int dt, Py_ssize_t count,
                               run_t* values, int64_t* numbers, int64_t* sizes) noexcept nogil:
    cdef Py_ssize_t i, j, held = 1, before
    cdef bint rare = True               # runs are long: so many elements are asked at once
    if values == NULL:
        return typed_runs(a, n, dt)
    if n == 0 or count == 0:
        return 0
    values[0] = a[0]
    if numbers != NULL:
        numbers[0] = 0
    if sizes != NULL:
        sizes[0] = 0
    i = 1
    while i + LOOKED <= n:
        if rare and count_new(a + i, LOOKED, dt) == 0:
            if numbers != NULL:
                for j in range(LOOKED):
                    numbers[i + j] = held - 1
        elif held + LOOKED < count:
            before = held
            held = note_runs(a, i, LOOKED, dt, held, values, numbers, sizes)
            rare = held - before <= OFTEN
        else:
            break
        i += LOOKED
    note_last(a, i, n - i, dt, held, count, values, numbers, sizes)
    if sizes != NULL:
        for j in range(count - 1):
            sizes[j] = sizes[j + 1] - sizes[j]
        sizes[count - 1] = n - sizes[count - 1]
    return count


cdef Py_ssize_t runs(int dt, Py_ssize_t item, const char* a, Py_ssize_t n, Py_ssize_t count,
                     char* values, int64_t* numbers, int64_t* sizes) noexcept nogil:
    if dt == DT_F32:
        return runs_of(<const float*>a, n, dt, count, <float*>values, numbers, sizes)
    if dt == DT_F64:
        return runs_of(<const double*>a, n, dt, count, <double*>values, numbers, sizes)
    if dt == DT_F16 or dt == DT_BF16:
        return runs_of(<const int16_t*>a, n, dt, count, <int16_t*>values, numbers, sizes)
    if item == 8:
        return runs_of(<const uint64_t*>a, n, dt, count, <uint64_t*>values, numbers, sizes)
    if item == 4:
        return runs_of(<const uint32_t*>a, n, dt, count, <uint32_t*>values, numbers, sizes)
    if item == 2:
        return runs_of(<const uint16_t*>a, n, dt, count, <uint16_t*>values, numbers, sizes)
    return runs_of(<const uint8_t*>a, n, dt, count, <uint8_t*>values, numbers, sizes)


cdef SelectTable table
table.runs = runs
table.median = median
table.ranked = ranked
table.first = first


def table_capsule():
    """Return the functions for indexing.pyx."""
    return PyCapsule_New(&table, "autograd_cy.select_loops", NULL)
