# cython: language_level=3
# build: simd
# Inner loops of pooling, compiled once per instruction set; pool_loops.pxd shows the table, and
# pooling.pyx cuts tensors into tiles.
#
# There are two ways. Along a row of results, one element of all windows at a time, so that the
# results of a row are lanes of vectors; or window by window, where windows are longer than rows of
# results or not all alike. Elements of a window are taken in the same order both ways. In
# channels last, the channels of a place are the lanes.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport (
    DT_F32, DT_F64, DT_I8, DT_I16, DT_I32, DT_I64, DT_U8)
from autograd_cy._C.pool_loops cimport *
from autograd_cy._C.sizes cimport parts

cdef extern from "<math.h>" nogil:
    double INFINITY

cdef extern from "pool_lanes.h" nogil:
    void ag_average_f32(const float* p, Py_ssize_t c, const int64_t* place, Py_ssize_t places,
                        float count, float* out, Py_ssize_t n)
    void ag_average_f64(const double* p, Py_ssize_t c, const int64_t* place, Py_ssize_t places,
                        double count, double* out, Py_ssize_t n)
    void ag_largest_place_f32(const float* p, Py_ssize_t c, const int64_t* place,
                              Py_ssize_t places, bint more, float* out, int64_t* index,
                              Py_ssize_t n)
    void ag_largest_place_f64(const double* p, Py_ssize_t c, const int64_t* place,
                              Py_ssize_t places, bint more, double* out, int64_t* index,
                              Py_ssize_t n)

ctypedef fused real_t:
    float
    double

ctypedef fused num_t:
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t
    float
    double

ctypedef fused avg_t:
    int64_t
    float
    double

cdef enum:
    CHUNK = 256        # results of a row that are computed together
    PHASES = 8         # largest step that the gradient of averages handles by rows
    REACH = 64         # windows that may overlap there
    LANES = 16
    LISTED = 64        # elements of a window that are listed at a time
    PAIRS = 512        # results of windows of 2 x 2 that are computed together

cdef Py_ssize_t FAR = 1 << 31    # positions in windows are int32 in the loops for float32


# --- windows --------------------------------------------------------------------------------

cdef inline Py_ssize_t over(Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """a / b rounded up; a may be negative."""
    return parts(a, b) if a > 0 else -(-a // b)


cdef inline void window(const PoolShape* g, int d, Py_ssize_t o, Py_ssize_t* lo,
                        Py_ssize_t* hi) noexcept nogil:
    """The elements of window o that are there: from lo to before hi, in steps of e[d]."""
    if g.adaptive:
        lo[0] = o * g.size[d] // g.out[d]
        hi[0] = over((o + 1) * g.size[d], g.out[d])
        return
    lo[0] = o * g.s[d] - g.p[d]
    hi[0] = lo[0] + (g.k[d] - 1) * g.e[d] + 1
    if lo[0] < 0:
        lo[0] += over(-lo[0], g.e[d]) * g.e[d]
    if hi[0] > g.size[d]:
        hi[0] = g.size[d]


cdef inline Py_ssize_t window_count(const PoolShape* g, int d, Py_ssize_t o) noexcept nogil:
    """The elements that window o of an average counts."""
    cdef Py_ssize_t lo, hi
    if g.with_pad:
        lo = o * g.s[d] - g.p[d]
        hi = lo + g.k[d]
        return (hi if hi < g.size[d] + g.p[d] else g.size[d] + g.p[d]) - lo
    window(g, d, o, &lo, &hi)
    return hi - lo


cdef inline bint by_columns(const PoolShape* g) noexcept nogil:
    return not g.adaptive and (g.out[2] >= 8 or g.k[2] <= g.out[2])


cdef bint by_rows(const PoolShape* g) noexcept nogil:
    return by_columns(g) and g.s[2] <= PHASES and g.k[2] <= REACH


# --- largest elements -----------------------------------------------------------------------

cdef inline void take_larger(real_t* best, void* at, const real_t* p, Py_ssize_t step,
                             Py_ssize_t n, Py_ssize_t place, bint places) noexcept nogil:
    """best[i] = p[i * step] where that is larger or NaN, and at[i] = place."""
    cdef Py_ssize_t i
    cdef real_t x, b
    cdef bint wins
    cdef int32_t* at32 = <int32_t*>at
    cdef int64_t* at64 = <int64_t*>at
    if not places:
        for i in range(n):
            x = p[i * step]
            b = best[i]
            best[i] = x if (x > b) | (x != x) else b
        return
    # Places are of the width of elements, so that both are lanes.
    for i in range(n):
        x = p[i * step]
        b = best[i]
        wins = (x > b) | (x != x)
        best[i] = x if wins else b
        if real_t is float:
            at32[i] = <int32_t>place if wins else at32[i]
        else:
            at64[i] = place if wins else at64[i]


cdef void max_chunk(const PoolShape* g, const real_t* plane, real_t* out, int64_t* index,
                    Py_ssize_t od, Py_ssize_t oh, Py_ssize_t first,
                    Py_ssize_t n) noexcept nogil:
    """n <= CHUNK results of a row, from column `first` on."""
    cdef real_t best[CHUNK]
    cdef int64_t at[CHUNK]
    cdef int32_t* at32 = <int32_t*>at
    cdef Py_ssize_t H = g.size[1], W = g.size[2], s = g.s[2], k, d, h, w, lo, hi, i, row, place
    cdef Py_ssize_t d0 = od * g.s[0] - g.p[0], h0 = oh * g.s[1] - g.p[1], begin, top, from_here
    cdef const real_t* p
    cdef void* spot
    cdef bint places = index != NULL
    for i in range(n):
        best[i] = <real_t>-INFINITY
    if places:
        # A window without a larger element is that of its first one.
        top = (over(-d0, g.e[0]) * g.e[0] * H if d0 < 0 else 0) * W
        top += (over(-h0, g.e[1]) * g.e[1] if h0 < 0 else 0) * W
        for i in range(n):
            w = (first + i) * s - g.p[2]
            place = top + (over(-w, g.e[2]) * g.e[2] if w < 0 else 0)
            if real_t is float:
                at32[i] = <int32_t>place
            else:
                at[i] = place
    for k in range(g.k[0] * g.k[1]):
        d = d0 + k // g.k[1] * g.e[0]
        h = h0 + k % g.k[1] * g.e[1]
        if d < 0 or d >= g.size[0] or h < 0 or h >= H:
            continue
        row = (d * H + h) * W
        from_here = ((d - d0) * H + h - h0) * W
        for w in range(g.k[2]):
            begin = w * g.e[2] - g.p[2]          # of the window of column 0
            lo = over(-begin, s) if begin < 0 else 0
            hi = over(W - begin, s) if begin < W else 0
            lo = lo - first if lo > first else 0
            hi = hi - first if hi < first + n else n
            if lo >= hi:
                continue
            p = plane + row + (first + lo) * s + begin
            spot = <char*>at + lo * sizeof(real_t)
            place = from_here + w * g.e[2]
            if s == 1:
                take_larger(best + lo, spot, p, 1, hi - lo, place, places)
            elif s == 2:
                take_larger(best + lo, spot, p, 2, hi - lo, place, places)
            elif s == 3:
                take_larger(best + lo, spot, p, 3, hi - lo, place, places)
            elif s == 4:
                take_larger(best + lo, spot, p, 4, hi - lo, place, places)
            else:
                take_larger(best + lo, spot, p, s, hi - lo, place, places)
    for i in range(n):
        out[i] = best[i]
    if places:
        begin = (d0 * H + h0) * W + first * s - g.p[2]
        for i in range(n):
            if real_t is float:
                index[i] = begin + i * s + at32[i]
            else:
                index[i] = begin + i * s + at[i]


cdef inline bint in_pairs(const PoolShape* g) noexcept nogil:
    """Return whether windows are 2 x 2 elements, side by side and whole, and all of a row is in
    them."""
    return (not g.adaptive and g.size[0] == 1 and g.out[0] == 1 and g.k[1] == 2 and g.k[2] == 2
            and g.s[1] == 2 and g.s[2] == 2 and g.e[1] == 1 and g.e[2] == 1 and g.p[0] == 0
            and g.p[1] == 0 and g.p[2] == 0 and g.size[1] >= 2 * g.out[1]
            and g.size[2] == 2 * g.out[2] and g.out[2] <= PAIRS)


cdef void max_pairs(const PoolShape* g, const real_t* p, real_t* out, int64_t* index,
                    Py_ssize_t oh, Py_ssize_t rows) noexcept nogil:
    """
    Some rows of results, which together are no longer than PAIRS: first the larger of neighbours
    in a row, all rows at once, then of those below each other. A row is taken by whole pieces of
    LANES, and what is beyond its end is overwritten by the next one.
    """
    cdef real_t half[2 * PAIRS + LANES]
    cdef real_t best[PAIRS + LANES]
    cdef int64_t right[2 * PAIRS + LANES]
    cdef int64_t at[PAIRS + LANES]
    cdef int32_t* right32 = <int32_t*>right
    cdef int32_t* at32 = <int32_t*>at
    cdef Py_ssize_t n = g.out[2], W = g.size[2], i, j, r, piece, top, base, place
    cdef real_t x, b
    cdef bint wins
    for j in range(2 * rows * n):
        b = p[2 * j]
        x = p[2 * j + 1]
        wins = (x > b) | (x != x)
        half[j] = x if wins else b
        if real_t is float:
            right32[j] = 1 if wins else 0
        else:
            right[j] = 1 if wins else 0
    for j in range(2 * rows * n, 2 * rows * n + LANES):
        half[j] = 0
        right[j] = 0
    for r in range(rows):
        base = (oh + r) % g.out[1] * 2 * W
        for piece in range(parts(n, LANES)):
            top = 2 * r * n + piece * LANES
            place = base + 2 * piece * LANES
            j = r * n + piece * LANES
            for i in range(LANES):
                b = half[top + i]
                x = half[top + n + i]
                wins = (x > b) | (x != x)
                best[j + i] = x if wins else b
                if real_t is float:
                    at32[j + i] = <int32_t>(place + 2 * i) + (
                        <int32_t>W + right32[top + n + i] if wins else right32[top + i])
                else:
                    at[j + i] = place + 2 * i + (
                        W + right[top + n + i] if wins else right[top + i])
    for j in range(rows * n):
        out[j] = best[j]
    if index == NULL:
        return
    for j in range(rows * n):
        if real_t is float:
            index[j] = at32[j]
        else:
            index[j] = at[j]


cdef void max_rows_of_pairs(const PoolShape* g, const real_t* a, real_t* out, int64_t* index,
                            Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t r = first, oh, rows
    cdef const real_t* p
    cdef int64_t* at
    while r < last:
        oh = r % g.out[1]
        rows = min(PAIRS // g.out[2], last - r)
        if g.size[1] != 2 * g.out[1]:
            # The next plane begins a row later.
            rows = min(rows, g.out[1] - oh)
        p = a + (r // g.out[1] * g.size[1] + 2 * oh) * g.size[2]
        at = index + r * g.out[2] if index != NULL else NULL
        max_pairs(g, p, out + r * g.out[2], at, oh, rows)
        r += rows


cdef void max_window(const PoolShape* g, const num_t* plane, num_t* out, int64_t* index,
                     Py_ssize_t od, Py_ssize_t oh, Py_ssize_t ow) noexcept nogil:
    cdef Py_ssize_t d, h, w, d1, h0, h1, w0, w1, i, at, end, place
    cdef Py_ssize_t H = g.size[1], W = g.size[2]
    cdef num_t best = 0, x
    cdef bint any_found = False, stop
    window(g, 0, od, &d, &d1)
    window(g, 1, oh, &h0, &h1)
    window(g, 2, ow, &w0, &w1)
    place = (d * H + h0) * W + w0
    for d from d <= d < d1 by g.e[0]:
        for h from h0 <= h < h1 by g.e[1]:
            w = w0
            while w < w1:
                if any_found and g.e[2] == 1 and w + LANES <= w1:
                    # Most of a long window is no larger: so many elements are asked at once.
                    stop = False
                    for i in range((d * H + h) * W + w, (d * H + h) * W + w + LANES):
                        stop |= (plane[i] > best) | (plane[i] != plane[i])
                    if not stop:
                        w += LANES
                        continue
                end = min(w + LANES * g.e[2], w1)
                for at from w <= at < end by g.e[2]:
                    i = (d * H + h) * W + at
                    x = plane[i]
                    if not any_found or x > best or x != x:
                        best = x
                        place = i
                        any_found = True
                w += LANES * g.e[2]
    if not any_found:
        if num_t is float or num_t is double:
            best = <num_t>-INFINITY
        elif num_t is uint8_t:
            best = 0
        else:
            best = <num_t>(<uint64_t>1 << (8 * sizeof(num_t) - 1))
    out[0] = best
    if index != NULL:
        index[0] = place


cdef inline real_t larger(real_t b, real_t x) noexcept nogil:
    return x if (x > b) | (x != x) else b


cdef inline void line_of(const real_t* p, Py_ssize_t step, Py_ssize_t k, Py_ssize_t between,
                         bint groups, real_t* out, Py_ssize_t n) noexcept nogil:
    """With `groups`, as many elements at a time as a step has: they are read once."""
    cdef Py_ssize_t i, j, w = 0
    cdef real_t x
    if groups:
        while w + step <= k:
            for i in range(n):
                x = p[i * step + w]
                for j in range(1, step):
                    x = larger(x, p[i * step + w + j])
                out[i] = larger(out[i], x) if w else x
            w += step
    if w == 0:
        for i in range(n):
            out[i] = p[i * step]
        w = 1
    for w in range(w, k):
        for i in range(n):
            out[i] = larger(out[i], p[i * step + w * between])


cdef void max_line(const PoolShape* g, const real_t* p, real_t* out, Py_ssize_t count,
                   Py_ssize_t n) noexcept nogil:
    """count <= CHUNK whole windows of a row, of which the first is at p; n of them are
    computed, up to one more than CHUNK."""
    cdef real_t best[CHUNK + 1]
    cdef Py_ssize_t k = g.k[2], s = g.s[2], e = g.e[2], i
    cdef bint groups = e == 1 and k >= s
    if s == 1 and k == 2:
        line_of(p, 1, 2, e, False, best, n)
    elif s == 1 and k == 3:
        line_of(p, 1, 3, e, False, best, n)
    elif s == 1:
        line_of(p, 1, k, e, False, best, n)
    elif s == 2 and groups and k == 3:
        line_of(p, 2, 3, 1, True, best, n)
    elif s == 2 and groups:
        line_of(p, 2, k, 1, True, best, n)
    elif s == 2:
        line_of(p, 2, k, e, False, best, n)
    elif s == 3 and groups:
        line_of(p, 3, k, 1, True, best, n)
    elif s == 3:
        line_of(p, 3, k, e, False, best, n)
    elif s == 4 and groups:
        line_of(p, 4, k, 1, True, best, n)
    elif s == 4:
        line_of(p, 4, k, e, False, best, n)
    else:
        line_of(p, s, k, e, False, best, n)
    for i in range(count):
        out[i] = best[i]


cdef inline void max_of_edge(const PoolShape* g, const real_t* p, real_t* out,
                             Py_ssize_t ow) noexcept nogil:
    """Write the largest element of a window that may reach beyond its row."""
    cdef Py_ssize_t i = ow * g.s[2] - g.p[2], _
    cdef real_t best = <real_t>-INFINITY
    if g.k[2] > LANES:
        max_window(g, p, out, NULL, 0, 0, ow)
        return
    for _ in range(g.k[2]):
        if 0 <= i < g.size[2]:
            best = larger(best, p[i])
        i += g.e[2]
    out[0] = best


cdef void max_lines(const PoolShape* g, const real_t* a, real_t* out, Py_ssize_t first,
                    Py_ssize_t last) noexcept nogil:
    """Rows of windows of one dimension, without places."""
    cdef Py_ssize_t W = g.size[2], count = g.out[2], s = g.s[2], reach = (g.k[2] - 1) * g.e[2]
    cdef Py_ssize_t lo, hi, ow, n, wide, _, rows = last - first
    cdef const real_t* p = a + first * W
    cdef const real_t* end = a + last * W
    cdef real_t* to = out + first * count
    # Windows from lo to before hi are whole.
    hi = W + g.p[2] - reach
    lo = min(parts(g.p[2], s), count)
    hi = max(min(parts(hi, s) if hi > 0 else 0, count), lo)
    if lo == 0 and hi == count and count * s == W and g.p[2] == 0:
        # The first window of a row is a step behind the last one of the row before.
        count, hi, W, rows = rows * count, rows * count, rows * W, 1
    for _ in range(rows):
        for ow in range(lo):
            max_of_edge(g, p, to + ow, ow)
        for ow from lo <= ow < hi by CHUNK:
            n = min(hi - ow, <Py_ssize_t>CHUNK)
            # Whole vectors, while there is something to read for them; and one more, as elements
            # behind the last of a step could not be read with it.
            wide = parts(n, LANES) * LANES + (s > 1)
            if end - (p + ow * s - g.p[2]) <= (wide - 1) * s + reach:
                wide = n
            max_line(g, p + ow * s - g.p[2], to + ow, n, wide)
        for ow in range(hi, count):
            max_of_edge(g, p, to + ow, ow)
        p += W
        to += count


cdef inline bint in_lines(const PoolShape* g) noexcept nogil:
    """Return whether windows have one dimension."""
    return (not g.adaptive and g.size[0] == 1 and g.size[1] == 1 and g.k[0] == 1 and g.k[1] == 1
            and g.out[0] == 1 and g.out[1] == 1 and g.p[0] == 0 and g.p[1] == 0)


cdef void max_rows(const PoolShape* g, const num_t* a, num_t* out, int64_t* index,
                   Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t size = g.size[0] * g.size[1] * g.size[2], r, od, oh, ow, n
    cdef const num_t* plane
    cdef num_t* to
    cdef int64_t* at
    cdef bint columns = by_columns(g)
    if ((g.k[0] * g.e[0] * g.size[1]) + g.k[1] * g.e[1]) * g.size[2] + g.k[2] * g.e[2] >= FAR:
        columns = False
    if num_t is float or num_t is double:
        if columns and in_pairs(g):
            max_rows_of_pairs(g, a, out, index, first, last)
            return
        if index == NULL and in_lines(g):
            max_lines(g, a, out, first, last)
            return
    for r in range(first, last):
        oh = r % g.out[1]
        od = r // g.out[1] % g.out[0]
        plane = a + r // (g.out[0] * g.out[1]) * size
        to = out + r * g.out[2]
        at = index + r * g.out[2] if index != NULL else NULL
        ow = 0
        if num_t is float or num_t is double:
            for ow from 0 <= ow < (g.out[2] if columns else 0) by CHUNK:
                n = g.out[2] - ow if g.out[2] - ow < CHUNK else CHUNK
                max_chunk(g, plane, to + ow, at + ow if at != NULL else NULL, od, oh, ow, n)
        for ow in range(ow, g.out[2]):
            max_window(g, plane, to + ow, at + ow if at != NULL else NULL, od, oh, ow)


# --- averages -------------------------------------------------------------------------------

cdef inline void add_up(real_t* total, const real_t* p, Py_ssize_t step,
                        Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        total[i] += p[i * step]


cdef void avg_chunk(const PoolShape* g, const real_t* plane, real_t* out, Py_ssize_t od,
                    Py_ssize_t oh, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """n <= CHUNK sums of a row, from column `first` on."""
    cdef Py_ssize_t H = g.size[1], W = g.size[2], s = g.s[2], d, h, w, lo, hi, begin
    cdef Py_ssize_t d0, d1, h0, h1
    cdef const real_t* p
    cdef real_t total[CHUNK]
    memset(total, 0, n * sizeof(real_t))
    window(g, 0, od, &d0, &d1)
    window(g, 1, oh, &h0, &h1)
    for d in range(d0, d1):
        for h in range(h0, h1):
            for w in range(g.k[2]):
                begin = w - g.p[2]
                lo = over(-begin, s) if begin < 0 else 0
                hi = over(W - begin, s) if begin < W else 0
                lo = lo - first if lo > first else 0
                hi = hi - first if hi < first + n else n
                if lo >= hi:
                    continue
                p = plane + (d * H + h) * W + (first + lo) * s + begin
                if s == 1:
                    add_up(total + lo, p, 1, hi - lo)
                elif s == 2:
                    add_up(total + lo, p, 2, hi - lo)
                else:
                    add_up(total + lo, p, s, hi - lo)
    for lo in range(n):
        out[lo] = total[lo]


cdef inline avg_t row_sum(const avg_t* p, Py_ssize_t n) noexcept nogil:
    """Elements far apart are added first, so that they are lanes of vectors."""
    cdef avg_t total[LANES]
    cdef avg_t t = 0
    cdef Py_ssize_t i = 0, j
    if n >= 2 * LANES:
        for j in range(LANES):
            total[j] = 0
        for i from 0 <= i <= n - LANES by LANES:
            for j in range(LANES):
                total[j] += p[i + j]
        for j in range(LANES):
            t += total[j]
    for i in range(i, n):
        t += p[i]
    return t


cdef avg_t window_sum(const PoolShape* g, const avg_t* plane, Py_ssize_t od, Py_ssize_t oh,
                      Py_ssize_t ow) noexcept nogil:
    cdef Py_ssize_t d, h, d0, d1, h0, h1, w0, w1
    cdef Py_ssize_t H = g.size[1], W = g.size[2]
    cdef avg_t t = 0
    window(g, 0, od, &d0, &d1)
    window(g, 1, oh, &h0, &h1)
    window(g, 2, ow, &w0, &w1)
    for d in range(d0, d1):
        if w0 == 0 and w1 == W:
            t += row_sum(plane + (d * H + h0) * W, (h1 - h0) * W)
            continue
        for h in range(h0, h1):
            t += row_sum(plane + (d * H + h) * W + w0, w1 - w0)
    return t


cdef inline void widths(const PoolShape* g, double* n) noexcept nogil:
    """The first CHUNK numbers of elements along the last dimension."""
    cdef Py_ssize_t i
    for i in range(g.out[2] if g.out[2] < CHUNK else CHUNK):
        n[i] = window_count(g, 2, i)


cdef inline avg_t divided(avg_t a, avg_t b) noexcept nogil:
    if avg_t is int64_t:
        return a // b
    else:
        return a / b


cdef inline double counted(const PoolShape* g, Py_ssize_t od, Py_ssize_t oh) noexcept nogil:
    """Return the divisor of windows of a row, without the factor of the last dimension."""
    if g.divisor != 0:
        return <double>g.divisor
    return <double>window_count(g, 0, od) * window_count(g, 1, oh)


cdef inline void divide_by_counts(const PoolShape* g, const avg_t* a, avg_t* out,
                                  const double* width,
                                  double rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """out[i] = a[i] / what the window of column first + i counts."""
    cdef Py_ssize_t i
    if g.divisor != 0:
        for i in range(n):
            out[i] = divided(a[i], <avg_t>rows)
    elif first + n <= CHUNK:
        for i in range(n):
            out[i] = divided(a[i], <avg_t>(rows * width[first + i]))
    else:
        for i in range(n):
            out[i] = divided(a[i], <avg_t>(rows * window_count(g, 2, first + i)))


cdef void avg_rows(const PoolShape* g, const avg_t* a, avg_t* out, Py_ssize_t first,
                   Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t size = g.size[0] * g.size[1] * g.size[2], r, od, oh, ow, n
    cdef const avg_t* plane
    cdef avg_t* to
    cdef double width[CHUNK]
    cdef bint columns = by_columns(g)
    widths(g, width)
    for r in range(first, last):
        oh = r % g.out[1]
        od = r // g.out[1] % g.out[0]
        plane = a + r // (g.out[0] * g.out[1]) * size
        to = out + r * g.out[2]
        ow = 0
        if avg_t is float or avg_t is double:
            for ow from 0 <= ow < (g.out[2] if columns else 0) by CHUNK:
                n = g.out[2] - ow if g.out[2] - ow < CHUNK else CHUNK
                avg_chunk(g, plane, to + ow, od, oh, ow, n)
        for ow in range(ow, g.out[2]):
            to[ow] = window_sum(g, plane, od, oh, ow)
        divide_by_counts(g, to, to, width, counted(g, od, oh), 0, g.out[2])


# --- their gradients ------------------------------------------------------------------------

cdef inline void columns_back(const PoolShape* g, const real_t* part, real_t* total,
                              Py_ssize_t start, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """
    Shares of a row of windows, added to the columns (first + q) * s + r - p of their elements,
    which are at total[r * CHUNK + q]; part[0] is that of window `start`.
    """
    cdef Py_ssize_t w, back, lo, hi, s = g.s[2]
    for w in range(g.k[2]):
        back = w // s
        lo = back - first if back > first else 0
        hi = g.out[2] + back - first
        if hi > n:
            hi = n
        if lo < hi:
            add_up(total + w % s * CHUNK + lo, part + first + lo - back - start, 1, hi - lo)


cdef inline void put_columns(const PoolShape* g, const real_t* total, real_t* row,
                             Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """The columns that columns_back() has added up, where they belong."""
    cdef Py_ssize_t s = g.s[2], r, q, lo, hi, at
    if s == 2 and g.p[2] == 0 and 2 * (first + n) <= g.size[2]:
        for q in range(n):
            row[2 * (first + q)] = total[q]
            row[2 * (first + q) + 1] = total[CHUNK + q]
        return
    for r in range(s):
        at = first * s + r - g.p[2]           # column of q = 0
        lo = over(-at, s) if at < 0 else 0
        hi = over(g.size[2] - at, s) if at < g.size[2] else 0
        if hi > n:
            hi = n
        for q in range(lo, hi):
            row[at + q * s] = total[r * CHUNK + q]


cdef void avg_back_rows(const PoolShape* g, const real_t* grad, real_t* out, Py_ssize_t first,
                        Py_ssize_t last) noexcept nogil:
    """Each row of the gradient is made of the rows of windows that it has a part in."""
    cdef real_t part[CHUNK + REACH]
    cdef real_t total[PHASES * CHUNK]
    cdef double width[CHUNK]
    cdef Py_ssize_t r, d, h, od, oh, od0, oh0, q, n, qs, start, stop, u, v
    cdef const real_t* plane
    widths(g, width)
    qs = over(g.size[2] + g.p[2], g.s[2])
    for r in range(first, last):
        h = r % g.size[1]
        d = r // g.size[1] % g.size[0]
        plane = grad + r // (g.size[0] * g.size[1]) * (g.out[0] * g.out[1] * g.out[2])
        u = d + g.p[0]
        v = h + g.p[1]
        od0 = over(u - g.k[0] + 1, g.s[0]) if u >= g.k[0] else 0
        oh0 = over(v - g.k[1] + 1, g.s[1]) if v >= g.k[1] else 0
        for q from 0 <= q < qs by CHUNK:
            n = qs - q if qs - q < CHUNK else CHUNK
            memset(total, 0, g.s[2] * CHUNK * sizeof(real_t))
            start = q - (g.k[2] - 1) // g.s[2]
            if start < 0:
                start = 0
            stop = q + n if q + n < g.out[2] else g.out[2]
            for od in range(od0, u // g.s[0] + 1):
                if od >= g.out[0]:
                    break
                for oh in range(oh0, v // g.s[1] + 1):
                    if oh >= g.out[1]:
                        break
                    if start < stop:
                        divide_by_counts(g, plane + (od * g.out[1] + oh) * g.out[2] + start, part,
                                         width,
                                         counted(g, od, oh), start, stop - start)
                        columns_back(g, part, total, start, q, n)
            put_columns(g, total, out + r * g.size[2], q, n)


cdef void avg_back_planes(const PoolShape* g, const real_t* grad, real_t* out, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil:
    """Window by window."""
    cdef Py_ssize_t size = g.size[0] * g.size[1] * g.size[2], H = g.size[1], W = g.size[2]
    cdef Py_ssize_t plane, od, oh, ow, d, h, w, d0, d1, h0, h1, w0, w1
    cdef real_t* to
    cdef real_t x
    cdef double n
    memset(out + first * size, 0, (last - first) * size * sizeof(real_t))
    grad += first * g.out[0] * g.out[1] * g.out[2]
    for plane in range(first, last):
        to = out + plane * size
        for od in range(g.out[0]):
            window(g, 0, od, &d0, &d1)
            for oh in range(g.out[1]):
                window(g, 1, oh, &h0, &h1)
                for ow in range(g.out[2]):
                    window(g, 2, ow, &w0, &w1)
                    n = counted(g, od, oh) * (1 if g.divisor != 0 else window_count(g, 2, ow))
                    x = grad[0] / <real_t>n
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                to[(d * H + h) * W + w] += x
                    grad += 1


cdef void put_back(const real_t* grad, const int64_t* index, real_t* out, Py_ssize_t size,
                   Py_ssize_t count, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t plane, i
    cdef real_t* to
    memset(out + first * size, 0, (last - first) * size * sizeof(real_t))
    for plane in range(first, last):
        to = out + plane * size
        for i in range(plane * count, (plane + 1) * count):
            # A window that has no elements has no place.
            if 0 <= index[i] < size:
                to[index[i]] += grad[i]


include "pool_loops/places.pxi"


# --- the table ------------------------------------------------------------------------------

cdef PoolTable table
table.max_rows[<int>DT_U8] = <max_rows_fn>max_rows[uint8_t]
table.max_rows[<int>DT_I8] = <max_rows_fn>max_rows[int8_t]
table.max_rows[<int>DT_I16] = <max_rows_fn>max_rows[int16_t]
table.max_rows[<int>DT_I32] = <max_rows_fn>max_rows[int32_t]
table.max_rows[<int>DT_I64] = <max_rows_fn>max_rows[int64_t]
table.max_rows[<int>DT_F32] = <max_rows_fn>max_rows[float]
table.max_rows[<int>DT_F64] = <max_rows_fn>max_rows[double]
table.avg_rows[<int>DT_I64] = <rows_fn>avg_rows[int64_t]
table.avg_rows[<int>DT_F32] = <rows_fn>avg_rows[float]
table.avg_rows[<int>DT_F64] = <rows_fn>avg_rows[double]
table.avg_back_rows[<int>DT_F32] = <rows_fn>avg_back_rows[float]
table.avg_back_rows[<int>DT_F64] = <rows_fn>avg_back_rows[double]
table.avg_back_planes[<int>DT_F32] = <planes_fn>avg_back_planes[float]
table.avg_back_planes[<int>DT_F64] = <planes_fn>avg_back_planes[double]
table.put[<int>DT_F32] = <put_fn>put_back[float]
table.put[<int>DT_F64] = <put_fn>put_back[double]
table.max_places[<int>DT_F32] = <max_rows_fn>max_places[float]
table.avg_places[<int>DT_F32] = <rows_fn>avg_places[float]
table.avg_back_places[<int>DT_F32] = <rows_fn>avg_back_places[float]
table.put_places[<int>DT_F32] = <max_rows_fn>put_places[float]
table.max_places[<int>DT_F64] = <max_rows_fn>max_places[double]
table.avg_places[<int>DT_F64] = <rows_fn>avg_places[double]
table.avg_back_places[<int>DT_F64] = <rows_fn>avg_back_places[double]
table.put_places[<int>DT_F64] = <max_rows_fn>put_places[double]
table.by_rows = by_rows


def table_capsule():
    """Capsule with the address of the table (see pool_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.pool_table", NULL)
