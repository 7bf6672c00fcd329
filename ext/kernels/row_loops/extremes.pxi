# The largest and the smallest elements and their positions (part of row_loops.pyx).  Both orders
# are one text: `order_t` in a signature says which, and points to nothing or to results.

cdef struct Largest:
    char byte


cdef struct Smallest:
    char byte


ctypedef fused order_t:
    Largest
    Smallest


cdef inline bint before(num_t x, num_t m, order_t* order) noexcept nogil:
    if order_t is Largest:
        return x > m
    else:
        return x < m


cdef inline num_t better(num_t m, num_t x, order_t* order) noexcept nogil:
    # One test of x != x is enough: a NaN in m loses to nothing.
    return x if before(x, m, order) | (x != x) else m


cdef inline choice_t better_choice(choice_t m, choice_t x, order_t* order) noexcept nogil:
    if order_t is Largest:
        if choice_t is choice_u8:
            return ag_larger_u8(m, x)
        elif choice_t is choice_i8:
            return ag_larger_i8(m, x)
        elif choice_t is choice_i16:
            return ag_larger_i16(m, x)
        elif choice_t is choice_i32:
            return ag_larger_i32(m, x)
        elif choice_t is choice_i64:
            return ag_larger_i64(m, x)
        elif choice_t is choice_f32:
            return ag_larger_f32(m, x)
        else:
            return ag_larger_f64(m, x)
    else:
        if choice_t is choice_u8:
            return ag_smaller_u8(m, x)
        elif choice_t is choice_i8:
            return ag_smaller_i8(m, x)
        elif choice_t is choice_i16:
            return ag_smaller_i16(m, x)
        elif choice_t is choice_i32:
            return ag_smaller_i32(m, x)
        elif choice_t is choice_i64:
            return ag_smaller_i64(m, x)
        elif choice_t is choice_f32:
            return ag_smaller_f32(m, x)
        else:
            return ag_smaller_f64(m, x)


cdef inline void best_vectors(const choice_t* u, Py_ssize_t n, const void* end, choice_t* out,
                              order_t* order) noexcept nogil:
    """out[0] = best of n vectors and of the last one before `end`, which may overlap them."""
    cdef choice_t a = (<const choice_t*>end - 1)[0], b = u[0], c = u[0], d = u[0]
    cdef Py_ssize_t i
    for i from 0 <= i <= n - 4 by 4:
        a = better_choice(a, u[i], order)
        b = better_choice(b, u[i + 1], order)
        c = better_choice(c, u[i + 2], order)
        d = better_choice(d, u[i + 3], order)
    for i in range(i, n):
        a = better_choice(a, u[i], order)
    out[0] = better_choice(better_choice(a, b, order), better_choice(c, d, order), order)


cdef inline num_t best_of_block(const num_t* p, Py_ssize_t n, order_t* order) noexcept nogil:
    cdef num_t lanes[VECTOR]
    cdef Py_ssize_t width = AG_CHOICE // sizeof(num_t), i
    cdef num_t m = p[0]
    if n < width:
        for i in range(1, n):
            m = better(m, p[i], order)
        return m
    if AG_HAS_BEST:
        if num_t is float:
            return ag_largest_f32(p, n) if order_t is Largest else ag_smallest_f32(p, n)
        if num_t is double:
            return ag_largest_f64(p, n) if order_t is Largest else ag_smallest_f64(p, n)
    if num_t is uint8_t:
        best_vectors(<const choice_u8*>p, n // width, p + n, <choice_u8*>lanes, order)
    elif num_t is int8_t:
        best_vectors(<const choice_i8*>p, n // width, p + n, <choice_i8*>lanes, order)
    elif num_t is int16_t:
        best_vectors(<const choice_i16*>p, n // width, p + n, <choice_i16*>lanes, order)
    elif num_t is int32_t:
        best_vectors(<const choice_i32*>p, n // width, p + n, <choice_i32*>lanes, order)
    elif num_t is int64_t:
        best_vectors(<const choice_i64*>p, n // width, p + n, <choice_i64*>lanes, order)
    elif num_t is float:
        best_vectors(<const choice_f32*>p, n // width, p + n, <choice_f32*>lanes, order)
    else:
        best_vectors(<const choice_f64*>p, n // width, p + n, <choice_f64*>lanes, order)
    if width == 32:
        for i in range(16):
            lanes[i] = better(lanes[i], lanes[i + 16], order)
    if width >= 16:
        for i in range(8):
            lanes[i] = better(lanes[i], lanes[i + 8], order)
    if width >= 8:
        for i in range(4):
            lanes[i] = better(lanes[i], lanes[i + 4], order)
    if width == 2:
        return better(lanes[0], lanes[1], order)
    return better(
        better(lanes[0], lanes[2], order), better(lanes[1], lanes[3], order), order)


cdef inline void put_wide(num_t x, char* acc, Py_ssize_t i) noexcept nogil:
    """Store in the accumulator type, which holds every value exactly."""
    if num_t is float or num_t is double:
        (<double*>acc)[i] = x
    else:
        (<int64_t*>acc)[i] = x


cdef void best_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    order_t* acc) noexcept nogil:
    cdef num_t tile[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    for j in range(n):
        tile[j] = p[j]
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        for j in range(n):
            tile[j] = better(tile[j], q[j], acc)
    for j in range(n):
        put_wide(tile[j], <char*>acc, j)


cdef void best_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    order_t* acc) noexcept nogil:
    cdef num_t tile[FEW * GROUP]
    cdef Py_ssize_t r, some
    if n <= FEW and rows >= FEW and step % <Py_ssize_t>sizeof(num_t) == 0:
        for r from 0 <= r < rows by GROUP:
            some = rows - r if rows - r < GROUP else GROUP
            transpose_block(<const num_t*>(<const char*>p + r * step),
                            step // <Py_ssize_t>sizeof(num_t),
                            tile, some, n)
            best_cols(<const num_t*>tile, n, GROUP * sizeof(num_t), some,
                      <order_t*>(<char*>acc + r * 8))
        return
    for r in range(rows):
        put_wide(best_of_block(<const num_t*>(<const char*>p + r * step), n, acc), <char*>acc, r)


# --- positions ------------------------------------------------------------------------------

cdef inline Py_ssize_t find_equal(const num_t* p, Py_ssize_t n, num_t m) noexcept nogil:
    """First place that holds m (or any NaN when m is one); it may be gone, if others write."""
    cdef Py_ssize_t i, j
    cdef int hit
    if m != m:
        for i in range(n):
            if p[i] != p[i]:
                return i
        return n
    for i from 0 <= i <= n - 32 by 32:
        # No way out inside, so that this becomes a few vector comparisons.
        hit = 0
        for j in range(32):
            hit |= p[i + j] == m
        if hit:
            break
    for i in range(i, n):
        if p[i] == m:
            return i
    return n


cdef inline int64_t place_in_row(const num_t* q, Py_ssize_t n, num_t* value,
                                 order_t* order) noexcept nogil:
    cdef Py_ssize_t i, length, at = 0
    cdef num_t m, best = q[0]
    # Only the block that first reaches the final value is searched again.
    for i from 0 <= i < n by 1024:
        length = n - i if n - i < 1024 else 1024
        m = best_of_block(q + i, length, order)
        if before(m, best, order) or (m != m and best == best):
            best = m
            at = i
    value[0] = best
    return at + find_equal(q + at, n - at, best)


cdef void places_in_cols(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                         num_t* values, order_t* index) noexcept nogil:
    cdef num_t tile[COLS]
    cdef int32_t place[COLS]
    cdef const num_t* q
    cdef Py_ssize_t r, j
    cdef num_t x, m
    cdef bint wins
    cdef int32_t row
    for j in range(n):
        tile[j] = p[j]
        place[j] = 0
    for r in range(1, rows):
        q = <const num_t*>(<const char*>p + r * step)
        row = <int32_t>r
        for j in range(n):
            x = q[j]
            m = tile[j]
            wins = before(x, m, index) | ((x != x) & (m == m))
            tile[j] = x if wins else m
            place[j] = row if wins else place[j]
    for j in range(n):
        values[j] = tile[j]
        (<int64_t*>index)[j] = place[j]


cdef void places_in_rows(const num_t* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                         num_t* values, order_t* index) noexcept nogil:
    cdef num_t tile[NARROW * GROUP]
    cdef Py_ssize_t r, some
    cdef const num_t* q
    if n > NARROW or rows < FEW:
        for r in range(rows):
            q = <const num_t*>(<const char*>p + r * step)
            (<int64_t*>index)[r] = place_in_row(q, n, values + r, index)
        return
    for r from 0 <= r < rows by GROUP:
        some = rows - r if rows - r < GROUP else GROUP
        q = <const num_t*>(<const char*>p + r * step)
        transpose_block(q, step // <Py_ssize_t>sizeof(num_t), tile, some, n)
        places_in_cols(<const num_t*>tile, n, GROUP * sizeof(num_t), some, values + r,
                       <order_t*>(<int64_t*>index + r))


cdef void fill_order(int op, int dt, num_t* unused, order_t* order) noexcept:
    table.rows[op][dt] = <rows_fn>best_rows[num_t, order_t]
    table.cols[op][dt] = <cols_fn>best_cols[num_t, order_t]
    table.arg_rows[op][dt] = <arg_fn>places_in_rows[num_t, order_t]
    table.arg_cols[op][dt] = <arg_fn>places_in_cols[num_t, order_t]


cdef void fill_ordered(int dt, num_t* unused) noexcept:
    fill_order(R_MAX, dt, unused, <Largest*>NULL)
    fill_order(R_MIN, dt, unused, <Smallest*>NULL)
