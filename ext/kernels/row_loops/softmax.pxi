# Softmax, its relatives, and sums of squares (part of row_loops.pyx).
#
# Exponentials are taken in a buffer that stays in the first cache, filled up to a whole number of
# vectors: the few elements left over would otherwise cost as much as the rest of a short row.

cdef extern from "soft_lanes.h" nogil:
    enum:
        AG_HAS_SOFT
        AG_HAS_SOFT_LINES
    void ag_soft_row_f32(int, const float*, Py_ssize_t, float*)
    void ag_soft_row_f64(int, const double*, Py_ssize_t, double*)
    void ag_soft_back_row_f32(int, const float*, const float*, Py_ssize_t, float*)
    void ag_soft_back_row_f64(int, const double*, const double*, Py_ssize_t, double*)
    void ag_soft_line_f32(const float*, const float*, float*, float*, Py_ssize_t)
    void ag_soft_line_f64(const double*, const double*, double*, double*, Py_ssize_t)
    void ag_soft_back_line_f32(const float*, const float*, const float*, float*, Py_ssize_t)
    void ag_soft_back_line_f64(const double*, const double*, const double*, double*, Py_ssize_t)

cdef enum:
    PIECE = 1024    # elements of that buffer
    WHOLE = 16      # its length is a multiple of this
    WIDE = 128      # elements to which rows of few columns are put side by side


cdef inline real_t log_of(real_t x) noexcept nogil:
    if real_t is float:
        return ag_log_f32(x)
    else:
        return ag_log_f64(x)


cdef inline bint is_infinite(real_t m) noexcept nogil:
    return m == <real_t>INFINITY or m == -<real_t>INFINITY


cdef inline Py_ssize_t fill_up(real_t* t, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, whole = round_up(n, WHOLE)
    for i in range(n, whole):
        t[i] = 0
    return whole


cdef void exp_falling(real_t* t, Py_ssize_t n) noexcept nogil:
    """t = exp(t) for t <= 0 or NaN; t holds whole vectors."""
    cdef Py_ssize_t whole = fill_up(t, n)
    if real_t is float:
        ag_run_exp_falling_f32(t, t, whole)
    else:
        ag_run_exp_falling_f64(t, t, whole)


cdef void exp_any(real_t* t, Py_ssize_t n) noexcept nogil:
    """t = exp(t); t holds whole vectors."""
    cdef Py_ssize_t whole = fill_up(t, n)
    if real_t is float:
        ag_run_exp_f32(t, t, whole)
    else:
        ag_run_exp_f64(t, t, whole)


cdef inline double sum_of(const real_t* p, Py_ssize_t n) noexcept nogil:
    cdef double pair[2]
    pairwise_sum(p, n, pair)
    return pair[0] + pair[1]


cdef void soft_one(int kind, const real_t* p, Py_ssize_t n, real_t* out) noexcept nogil:
    """One row, n > 0."""
    cdef real_t piece[PIECE]
    cdef Py_ssize_t start, i, length
    cdef real_t m, f
    cdef double s = 0
    if AG_HAS_SOFT:
        if real_t is float:
            ag_soft_row_f32(kind, p, n, out)
        else:
            ag_soft_row_f64(kind, p, n, out)
        return
    m = best_of_block(p, n, <Largest*>NULL)
    if kind == S_LOGSUMEXP and is_infinite(m):
        out[0] = m
        return
    for start from 0 <= start < n by PIECE:
        length = n - start if n - start < PIECE else PIECE
        for i in range(length):
            piece[i] = p[start + i] - m
        exp_falling(piece, length)
        s += sum_of(<const real_t*>piece, length)
        if kind == S_SOFTMAX and n > PIECE:
            for i in range(length):
                out[start + i] = piece[i]
    if kind == S_SOFTMAX:
        f = <real_t>(1 / s)
        if n > PIECE:
            for i in range(n):
                out[i] *= f
        else:
            for i in range(n):
                out[i] = piece[i] * f
    elif kind == S_LOG_SOFTMAX:
        f = log_of(<real_t>s)
        for i in range(n):
            out[i] = p[i] - m - f
    else:
        out[0] = m + log_of(<real_t>s)


# Few columns: `k` rows that follow each other in memory are taken as one row of k * n columns, and
# the k results of each column are joined at the end.

cdef inline Py_ssize_t side_by_side(Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                                    Py_ssize_t item) noexcept nogil:
    cdef Py_ssize_t k = WIDE // n
    if k < 2 or step != n * item:
        return 1
    return k if k < rows else rows


cdef inline void join_max(real_t* m, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t g, j
    for g in range(1, k):
        for j in range(n):
            m[j] = better(m[j], m[g * n + j], <Largest*>NULL)
    for g in range(1, k):
        for j in range(n):
            m[g * n + j] = m[j]


cdef inline void join_sum(real_t* s, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t g, j
    for g in range(1, k):
        for j in range(n):
            s[j] += s[g * n + j]


cdef inline void repeat(real_t* s, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t g, j
    for g in range(1, k):
        for j in range(n):
            s[g * n + j] = s[j]


cdef void soft_cols(int kind, const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    real_t* out) noexcept nogil:
    """Softmax down the columns; n <= COLS, rows > 0; rows of `out` have the strides of p."""
    cdef real_t m[COLS]
    cdef real_t s[COLS]
    cdef real_t t[COLS]
    cdef const real_t* q
    cdef real_t* o
    cdef Py_ssize_t k = side_by_side(rows, step, n, sizeof(real_t))
    cdef Py_ssize_t total = rows * n, width = k * n, r, j, some, lines = parts(rows, k)
    step *= k
    for j in range(width):
        m[j] = p[j]
        s[j] = 0
    for r in range(1, lines):
        q = <const real_t*>(<const char*>p + r * step)
        some = total - r * width if total - r * width < width else width
        for j in range(some):
            m[j] = better(m[j], q[j], <Largest*>NULL)
    join_max(m, n, k)
    for r in range(lines):
        q = <const real_t*>(<const char*>p + r * step)
        some = total - r * width if total - r * width < width else width
        if AG_HAS_SOFT_LINES:
            o = <real_t*>(<char*>out + r * step) if kind == S_SOFTMAX else NULL
            if real_t is float:
                ag_soft_line_f32(q, m, s, o, some)
            else:
                ag_soft_line_f64(q, m, s, o, some)
            continue
        for j in range(some):
            t[j] = q[j] - m[j]
        exp_falling(t, some)
        for j in range(some):
            s[j] += t[j]
        if kind == S_SOFTMAX:
            o = <real_t*>(<char*>out + r * step)
            for j in range(some):
                o[j] = t[j]
    join_sum(s, n, k)
    if kind == S_SOFTMAX:
        for j in range(n):
            s[j] = 1 / s[j]
    else:
        for j in range(n):
            s[j] = log_of(s[j])
    if kind == S_LOGSUMEXP:
        for j in range(n):
            out[j] = m[j] if is_infinite(m[j]) else m[j] + s[j]
        return
    repeat(s, n, k)
    for r in range(lines):
        q = <const real_t*>(<const char*>p + r * step)
        o = <real_t*>(<char*>out + r * step)
        some = total - r * width if total - r * width < width else width
        if kind == S_SOFTMAX:
            for j in range(some):
                o[j] *= s[j]
        else:
            for j in range(some):
                o[j] = q[j] - m[j] - s[j]


cdef inline void turn_back(const real_t* tile, real_t* out, Py_ssize_t rows,
                           Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t r, j
    for r in range(rows):
        for j in range(n):
            out[r * n + j] = tile[j * GROUP + r]


cdef void soft_rows(int kind, const real_t* p, Py_ssize_t rows, Py_ssize_t n,
                    real_t* out) noexcept nogil:
    cdef real_t tile[NARROW * GROUP]
    cdef Py_ssize_t r, some
    cdef Py_ssize_t width = 1 if kind == S_LOGSUMEXP else n
    if n > NARROW or rows < FEW:
        for r in range(rows):
            soft_one(kind, p + r * n, n, out + r * width)
        return
    r = 0
    while r < rows:         # as a `for` loop a sixth slower
        some = rows - r if rows - r < GROUP else GROUP
        transpose_block(p + r * n, n, tile, some, n)
        if kind == S_LOGSUMEXP:
            soft_cols(kind, <const real_t*>tile, n, GROUP * sizeof(real_t), some, out + r)
        else:
            soft_cols(kind, <const real_t*>tile, n, GROUP * sizeof(real_t), some, tile)
            turn_back(tile, out + r * n, some, n)
        r += some


# --- backward -------------------------------------------------------------------------------

cdef void soft_back_one(int kind, const real_t* g, const real_t* y, Py_ssize_t n,
                        real_t* out) noexcept nogil:
    cdef real_t piece[PIECE]
    cdef Py_ssize_t start, i, length
    cdef double s = 0
    cdef real_t f
    if AG_HAS_SOFT:
        if real_t is float:
            ag_soft_back_row_f32(kind, g, y, n, out)
        else:
            ag_soft_back_row_f64(kind, g, y, n, out)
        return
    if kind == S_SOFTMAX:
        for start from 0 <= start < n by PIECE:
            length = n - start if n - start < PIECE else PIECE
            for i in range(length):
                piece[i] = g[start + i] * y[start + i]
            s += sum_of(<const real_t*>piece, length)
        f = <real_t>s
        for i in range(n):
            out[i] = y[i] * (g[i] - f)
        return
    f = <real_t>sum_of(g, n)
    for start from 0 <= start < n by PIECE:
        length = n - start if n - start < PIECE else PIECE
        for i in range(length):
            piece[i] = y[start + i]
        exp_any(piece, length)
        for i in range(length):
            out[start + i] = g[start + i] - piece[i] * f


cdef void soft_back_cols(int kind, const real_t* g, const real_t* y, Py_ssize_t rows,
                         Py_ssize_t step, Py_ssize_t n, real_t* out) noexcept nogil:
    cdef real_t s[COLS]
    cdef real_t t[COLS]
    cdef const real_t* u
    cdef const real_t* v
    cdef real_t* o
    cdef Py_ssize_t k = side_by_side(rows, step, n, sizeof(real_t))
    cdef Py_ssize_t total = rows * n, width = k * n, r, j, some, lines = parts(rows, k)
    step *= k
    for j in range(width):
        s[j] = 0
    for r in range(lines):
        u = <const real_t*>(<const char*>g + r * step)
        v = <const real_t*>(<const char*>y + r * step)
        some = total - r * width if total - r * width < width else width
        if kind == S_SOFTMAX:
            for j in range(some):
                s[j] = fma(u[j], v[j], s[j])
        else:
            for j in range(some):
                s[j] += u[j]
    join_sum(s, n, k)
    repeat(s, n, k)
    for r in range(lines):
        u = <const real_t*>(<const char*>g + r * step)
        v = <const real_t*>(<const char*>y + r * step)
        o = <real_t*>(<char*>out + r * step)
        some = total - r * width if total - r * width < width else width
        if kind == S_SOFTMAX:
            for j in range(some):
                o[j] = v[j] * (u[j] - s[j])
            continue
        if AG_HAS_SOFT_LINES:
            if real_t is float:
                ag_soft_back_line_f32(u, v, s, o, some)
            else:
                ag_soft_back_line_f64(u, v, s, o, some)
            continue
        for j in range(some):
            t[j] = v[j]
        exp_any(t, some)
        for j in range(some):
            o[j] = u[j] - t[j] * s[j]


cdef void soft_back_rows(int kind, const real_t* g, const real_t* y, Py_ssize_t rows,
                         Py_ssize_t n, real_t* out) noexcept nogil:
    cdef real_t tile[NARROW * GROUP]
    cdef real_t other[NARROW * GROUP]
    cdef Py_ssize_t r, some
    if n > NARROW or rows < FEW:
        for r in range(rows):
            soft_back_one(kind, g + r * n, y + r * n, n, out + r * n)
        return
    for r from 0 <= r < rows by GROUP:
        some = rows - r if rows - r < GROUP else GROUP
        transpose_block(g + r * n, n, tile, some, n)
        transpose_block(y + r * n, n, other, some, n)
        soft_back_cols(kind, <const real_t*>tile, <const real_t*>other, n,
                       GROUP * sizeof(real_t), some, tile)
        turn_back(tile, out + r * n, some, n)


# --- sums of squares ------------------------------------------------------------------------

cdef void deviation_rows(const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                         const double* mean, double* acc) noexcept nogil:
    cdef real_t piece[PIECE]
    cdef const real_t* q
    cdef Py_ssize_t r, start, i, length
    cdef real_t m, d
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        m = <real_t>mean[r]
        acc[r] = 0
        for start from 0 <= start < n by PIECE:
            length = n - start if n - start < PIECE else PIECE
            for i in range(length):
                d = q[start + i] - m
                piece[i] = d * d
            acc[r] += sum_of(<const real_t*>piece, length)


cdef double squared_distance(const real_t* a, const real_t* b, Py_ssize_t n) noexcept nogil:
    cdef real_t piece[PIECE]
    cdef Py_ssize_t start, i, length
    cdef real_t d
    cdef double s = 0
    for start from 0 <= start < n by PIECE:
        length = n - start if n - start < PIECE else PIECE
        for i in range(length):
            d = a[start + i] - b[start + i]
            piece[i] = d * d
        s += sum_of(<const real_t*>piece, length)
    return s


cdef void scaled_difference(const real_t* a, const real_t* b, real_t* out, Py_ssize_t n,
                            double scale) noexcept nogil:
    cdef Py_ssize_t i
    cdef real_t f = <real_t>scale
    for i in range(n):
        out[i] = (a[i] - b[i]) * f
