# Softmax, its relatives, and sums of squares (part of rows.pyx).
#
# Exponentials go to a block that stays in the first cache and is summed from there: two plain loops
# that vectorise, where one loop with accumulators would run out of registers.

cdef enum:
    PIECE = 1024    # elements of that block


cdef inline real_t exp_of(real_t x) noexcept nogil:
    if real_t is float:
        return ag_exp_f32(x)
    else:
        return ag_exp_f64(x)


cdef inline real_t log_of(real_t x) noexcept nogil:
    if real_t is float:
        return ag_log_f32(x)
    else:
        return ag_log_f64(x)


cdef inline real_t finite_shift(real_t m) noexcept nogil:
    """What logsumexp subtracts: an infinite maximum would give inf - inf."""
    return 0 if m == <real_t>INFINITY or m == -<real_t>INFINITY else m


cdef inline double sum_of(const real_t* p, Py_ssize_t n) noexcept nogil:
    cdef double pair[2]
    block_sum(p, n, pair)
    return pair[0] + pair[1]


cdef inline double exp_sum(const real_t* p, Py_ssize_t n, real_t shift) noexcept nogil:
    cdef real_t piece[PIECE]
    cdef Py_ssize_t start = 0, i, length
    cdef double s = 0
    while start < n:
        length = n - start if n - start < PIECE else PIECE
        for i in range(length):
            piece[i] = exp_of(p[start + i] - shift)
        s += sum_of(<const real_t*>piece, length)
        start += length
    return s


cdef void soft_one(int kind, const real_t* p, Py_ssize_t n, real_t* out) noexcept nogil:
    """One row, n > 0."""
    cdef Py_ssize_t start = 0, i, length
    cdef real_t m = block_max(p, n)
    cdef real_t f
    cdef double s = 0
    if kind == S_SOFTMAX:
        while start < n:
            length = n - start if n - start < PIECE else PIECE
            for i in range(start, start + length):
                out[i] = exp_of(p[i] - m)
            s += sum_of(<const real_t*>out + start, length)
            start += length
        f = <real_t>(1 / s)
        for i in range(n):
            out[i] *= f
    elif kind == S_LOG_SOFTMAX:
        f = log_of(<real_t>exp_sum(p, n, m))
        for i in range(n):
            out[i] = p[i] - m - f
    else:
        m = finite_shift(m)
        out[0] = m + log_of(<real_t>exp_sum(p, n, m))


cdef void soft_cols(int kind, const real_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    real_t* out) noexcept nogil:
    """Softmax down the columns; n <= COLS, rows > 0; rows of `out` lie like those of p."""
    cdef real_t m[COLS]
    cdef real_t s[COLS]
    cdef const real_t* q
    cdef real_t* o
    cdef real_t e
    cdef Py_ssize_t r, j
    for j in range(n):
        m[j] = p[j]
        s[j] = 0
    for r in range(1, rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            m[j] = larger(m[j], q[j])
    if kind == S_LOGSUMEXP:
        for j in range(n):
            m[j] = finite_shift(m[j])
    if kind == S_SOFTMAX:
        for r in range(rows):
            q = <const real_t*>(<const char*>p + r * step)
            o = <real_t*>(<char*>out + r * step)
            for j in range(n):
                e = exp_of(q[j] - m[j])
                s[j] += e
                o[j] = e
        for j in range(n):
            s[j] = 1 / s[j]
        for r in range(rows):
            o = <real_t*>(<char*>out + r * step)
            for j in range(n):
                o[j] *= s[j]
        return
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        for j in range(n):
            s[j] += exp_of(q[j] - m[j])
    for j in range(n):
        s[j] = log_of(s[j])
    if kind == S_LOGSUMEXP:
        for j in range(n):
            out[j] = m[j] + s[j]
        return
    for r in range(rows):
        q = <const real_t*>(<const char*>p + r * step)
        o = <real_t*>(<char*>out + r * step)
        for j in range(n):
            o[j] = q[j] - m[j] - s[j]


cdef inline void turn(const real_t* p, real_t* tile, Py_ssize_t rows, Py_ssize_t n) noexcept nogil:
    """tile[j][r] = p[r][j], rows of `tile` being GROUP apart."""
    cdef Py_ssize_t r, j
    for j in range(n):
        for r in range(rows):
            tile[j * GROUP + r] = p[r * n + j]


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
    while r < rows:
        some = rows - r if rows - r < GROUP else GROUP
        turn(p + r * n, tile, some, n)
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
    cdef Py_ssize_t start = 0, i, length
    cdef double s = 0
    cdef real_t f
    while start < n:
        length = n - start if n - start < PIECE else PIECE
        if kind == S_SOFTMAX:
            for i in range(length):
                piece[i] = g[start + i] * y[start + i]
            s += sum_of(<const real_t*>piece, length)
        else:
            s += sum_of(g + start, length)
        start += length
    f = <real_t>s
    if kind == S_SOFTMAX:
        for i in range(n):
            out[i] = y[i] * (g[i] - f)
    else:
        for i in range(n):
            out[i] = g[i] - exp_of(y[i]) * f


cdef void soft_back_cols(int kind, const real_t* g, const real_t* y, Py_ssize_t rows,
                         Py_ssize_t step, Py_ssize_t n, real_t* out) noexcept nogil:
    cdef real_t s[COLS]
    cdef const real_t* u
    cdef const real_t* v
    cdef real_t* o
    cdef Py_ssize_t r, j
    for j in range(n):
        s[j] = 0
    for r in range(rows):
        u = <const real_t*>(<const char*>g + r * step)
        v = <const real_t*>(<const char*>y + r * step)
        if kind == S_SOFTMAX:
            for j in range(n):
                s[j] += u[j] * v[j]
        else:
            for j in range(n):
                s[j] += u[j]
    for r in range(rows):
        u = <const real_t*>(<const char*>g + r * step)
        v = <const real_t*>(<const char*>y + r * step)
        o = <real_t*>(<char*>out + r * step)
        if kind == S_SOFTMAX:
            for j in range(n):
                o[j] = v[j] * (u[j] - s[j])
        else:
            for j in range(n):
                o[j] = u[j] - exp_of(v[j]) * s[j]


cdef void soft_back_rows(int kind, const real_t* g, const real_t* y, Py_ssize_t rows,
                         Py_ssize_t n, real_t* out) noexcept nogil:
    cdef real_t tile[NARROW * GROUP]
    cdef real_t other[NARROW * GROUP]
    cdef Py_ssize_t r, some
    if n > NARROW or rows < FEW:
        for r in range(rows):
            soft_back_one(kind, g + r * n, y + r * n, n, out + r * n)
        return
    r = 0
    while r < rows:
        some = rows - r if rows - r < GROUP else GROUP
        turn(g + r * n, tile, some, n)
        turn(y + r * n, other, some, n)
        soft_back_cols(kind, <const real_t*>tile, <const real_t*>other, n,
                       GROUP * sizeof(real_t), some, tile)
        turn_back(tile, out + r * n, some, n)
        r += some


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
        start = 0
        while start < n:
            length = n - start if n - start < PIECE else PIECE
            for i in range(length):
                d = q[start + i] - m
                piece[i] = d * d
            acc[r] += sum_of(<const real_t*>piece, length)
            start += length


cdef double squared_distance(const real_t* a, const real_t* b, Py_ssize_t n) noexcept nogil:
    cdef real_t piece[PIECE]
    cdef Py_ssize_t start = 0, i, length
    cdef real_t d
    cdef double s = 0
    while start < n:
        length = n - start if n - start < PIECE else PIECE
        for i in range(length):
            d = a[start + i] - b[start + i]
            piece[i] = d * d
        s += sum_of(<const real_t*>piece, length)
        start += length
    return s


cdef void scaled_difference(const real_t* a, const real_t* b, real_t* out, Py_ssize_t n,
                            double scale) noexcept nogil:
    cdef Py_ssize_t i
    cdef real_t f = <real_t>scale
    for i in range(n):
        out[i] = (a[i] - b[i]) * f
