# Loops over more than one dimension whose last one is short, repeated or turned (part of
# iterate.pyx).
#
# Note [Short rows]. A call of a kernel's loop costs some nanoseconds, and its vectors don't fit a
# row of three. So rows are put side by side: operands that aren't dense are written out in blocks
# that stay in the nearest cache, and the loop runs once for a block. What repeats itself after few
# elements, as a (10, 8) operand beside one of (1000, 10, 8) does, is written out once.

cdef extern from "short_rows.h" nogil:
    void ag_move_rows(const char* src, Py_ssize_t come, char* dst, Py_ssize_t to, Py_ssize_t rows,
                      Py_ssize_t bytes)
    void ag_move_elements(const char* src, Py_ssize_t come, Py_ssize_t step, char* dst,
                          Py_ssize_t to, Py_ssize_t out, Py_ssize_t rows, Py_ssize_t n,
                          Py_ssize_t item)
    void ag_repeat_rows(const char* src, Py_ssize_t come, char* dst, Py_ssize_t rows,
                        Py_ssize_t bytes, Py_ssize_t item)
    void ag_turn_tile(const char* src, Py_ssize_t step, char* dst, Py_ssize_t to, Py_ssize_t rows,
                      Py_ssize_t n, Py_ssize_t item)

cdef enum:
    SIDE_BYTES = 8192          # of a block of the widest operand
    SIDE_SPACE = 5160          # doubles for five blocks with 64 bytes behind each
    SIDE_MOST = 1024           # elements of a block
    SIDE_ROW = 40              # rows shorter than this are put side by side,
    ONCE_ROW = 128             # and shorter than this where that is done once
    SIDE_LEAST = 64            # elements from which it pays
    MOVED_ROW = 256            # the same for rows that are only moved
    TURN_ROWS = 32             # rows and elements of a tile where another dimension is dense
    TURN_ROW = 64
    TURN_SPACE = 2048          # doubles of a tile; of elements of 16 bytes it has half as many
    TURN_LEAST = 8             # rows and elements from which it pays

# How an operand of a block is read.
cdef enum:
    AS_IT_IS = 0               # dense, or one element for all
    ONCE = 1                   # has a period: written out before the first block
    EACH_TIME = 2


cdef bint is_copy(loop_t loop) noexcept:
    """Return whether a loop moves values as they are; conversions of dtypes don't count."""
    cdef int dt
    for dt in range(DTYPES):
        if loop == KT.loops[K_COPY][dt]:
            return True
    return False


cdef void walk_rows(LoopPlan* plan, int a, Py_ssize_t lo, Py_ssize_t hi, char* side,
                    bint back) noexcept nogil:
    """Put elements lo..hi of an operand into dense memory, or (back) take them from there.

    Behind the last element `side` has 16 bytes more, except where it goes back or `a` is 1 of a
    plan that only moves.
    """
    cdef Py_ssize_t[64] index
    cdef int d, last = plan.nd - 1, before = plan.nd - 2
    cdef Py_ssize_t inner = plan.shape[last], step = plan.strides[a][last], item = plan.item[a]
    cdef Py_ssize_t row = lo // inner, first = lo % inner, left = hi - lo, rows, n, down
    cdef Py_ssize_t bytes = inner * item
    cdef char* p = plan.p[a]
    for d in range(before, -1, -1):
        index[d] = row % plan.shape[d]
        row = row // plan.shape[d]
        p += index[d] * plan.strides[a][d]
    down = plan.strides[a][before]
    while left > 0:
        if first or left < inner:
            # A part of a row.
            rows = 1
            n = min(inner - first, left)
            if back:
                ag_move_elements(side, 0, item, p + first * step, 0, step, 1, n, item)
            else:
                ag_move_elements(p + first * step, 0, step, side, 0, item, 1, n, item)
            side += n * item
            left -= n
            first = 0
        else:
            rows = min(plan.shape[before] - index[before], left // inner)
            if step == item:
                if back:
                    ag_move_rows(side, bytes, p, down, rows, bytes)
                else:
                    ag_move_rows(p, down, side, bytes, rows, bytes)
            elif back:
                ag_move_elements(side, bytes, item, p, down, step, rows, inner, item)
            elif step == 0 and not plan.moves:
                ag_repeat_rows(p, down, side, rows, bytes, item)
            else:
                ag_move_elements(p, down, step, side, bytes, item, rows, inner, item)
            side += rows * bytes
            left -= rows * inner
        if left <= 0:
            return
        index[before] += rows
        p += rows * down
        d = before
        while d > 0 and index[d] == plan.shape[d]:
            p += plan.strides[a][d - 1] - plan.shape[d] * plan.strides[a][d]
            index[d] = 0
            index[d - 1] += 1
            d -= 1


cdef inline bint dense_in_plan(LoopPlan* plan, int a) noexcept nogil:
    cdef Py_ssize_t step = plan.item[a]
    cdef int d
    for d in range(plan.nd - 1, -1, -1):
        if plan.strides[a][d] != step:
            return False
        step *= plan.shape[d]
    return True


cdef inline Py_ssize_t period(LoopPlan* plan, int a) noexcept nogil:
    """After how many elements an operand repeats itself; 1: one element."""
    cdef Py_ssize_t n = 1
    cdef int d, first = 0
    while first < plan.nd and plan.strides[a][first] == 0:
        first += 1
    for d in range(first, plan.nd):
        n *= plan.shape[d]
    return n


cdef void move_range(LoopPlan* plan, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """A copy of elements: one of the two is dense."""
    if dense_in_plan(plan, 0):
        walk_rows(plan, 1, lo, hi, plan.p[0] + lo * plan.item[0], False)
    else:
        walk_rows(plan, 0, lo, hi, plan.p[1] + lo * plan.item[1], True)


cdef void side_range(LoopPlan* plan, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """Elements lo..hi with rows side by side (Note [Short rows])."""
    cdef double space[SIDE_SPACE]
    cdef char* q[5]
    cdef Py_ssize_t[5] step
    cdef int[5] kind
    cdef char* side
    cdef Py_ssize_t inner = plan.shape[plan.nd - 1], most = SIDE_MOST, n, longest = 0
    cdef Py_ssize_t unit, base, at, stop
    cdef int a
    for a in range(plan.nargs):
        if plan.item[a] * most > SIDE_BYTES:
            most = SIDE_BYTES // plan.item[a]
    for a in range(plan.nargs):
        step[a] = plan.item[a]
        kind[a] = EACH_TIME
        if dense_in_plan(plan, a):
            kind[a] = AS_IT_IS
        elif a > 0:
            n = period(plan, a)
            if n == 1:
                kind[a] = AS_IT_IS
                step[a] = 0
            elif n <= most:
                kind[a] = ONCE
                longest = max(longest, n)
    # Periods divide each other, so a block of whole ones begins where each begins.
    unit = most // longest * longest if longest else most // inner * inner
    for a in range(1, plan.nargs):
        if kind[a] == ONCE:
            walk_rows(plan, a, 0, min(unit, plan.n), <char*>space + a * (SIDE_BYTES + 64), False)
    base = lo - lo % unit
    at = lo
    while at < hi:
        stop = min(base + unit, hi)
        for a in range(plan.nargs):
            side = <char*>space + a * (SIDE_BYTES + 64)
            if kind[a] == AS_IT_IS:
                q[a] = plan.p[a] + at * step[a]
            elif kind[a] == ONCE:
                q[a] = side + (at - base) * step[a]
            else:
                q[a] = side
                if a:
                    walk_rows(plan, a, at, stop, side, False)
        plan.loop(q, step, stop - at)
        if kind[0] == EACH_TIME:
            walk_rows(plan, 0, at, stop, q[0], True)
        base += unit
        at = stop


cdef void same_row(LoopPlan* plan, char** q, Py_ssize_t* step, Py_ssize_t n) noexcept nogil:
    """A row whose inputs are one element each: the result is computed once."""
    cdef char* ends[2]
    cdef Py_ssize_t[2] steps
    plan.loop(q, step, 1)
    ends[0] = q[0] + step[0]
    ends[1] = q[0]
    steps[0] = step[0]
    steps[1] = 0
    plan.copy(ends, steps, n - 1)


cdef inline bint is_turned(LoopPlan* plan, int a) noexcept nogil:
    """Return whether the last but one dimension is dense in an operand, and the last isn't."""
    cdef Py_ssize_t step = plan.strides[a][plan.nd - 1], item = plan.item[a]
    return plan.strides[a][plan.nd - 2] == item and (step > item or step < -item)


cdef void turned_range(LoopPlan* plan, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """
    Rows that begin in lo..hi, by tiles: what is dense along the last but one dimension is read by
    whole lines of the cache, and turned.
    """
    cdef double space[4 * TURN_SPACE]
    cdef char* p[5]
    cdef char* q[5]
    cdef Py_ssize_t[5] step
    cdef bint[5] turned
    cdef int a, d, last = plan.nd - 1, before = plan.nd - 2
    cdef Py_ssize_t inner = plan.shape[last], size = plan.shape[before]
    cdef Py_ssize_t row = parts(lo, inner), stop = parts(hi, inner)
    cdef Py_ssize_t rows, j, n, r, rest, i, width = TURN_ROW
    for a in range(1, plan.nargs):
        turned[a] = is_turned(plan, a)
        if turned[a] and plan.item[a] > 8:
            width = TURN_ROW // 2
    while row < stop:
        i = row % size
        rows = min(min(size - i, stop - row), <Py_ssize_t>TURN_ROWS)
        for a in range(plan.nargs):
            rest = row // size
            p[a] = plan.p[a] + i * plan.strides[a][before]
            for d in range(before - 1, -1, -1):
                p[a] += rest % plan.shape[d] * plan.strides[a][d]
                rest = rest // plan.shape[d]
        j = 0
        while j < inner:
            n = min(inner - j, width)
            if plan.moves:
                ag_turn_tile(p[1] + j * plan.strides[1][last], plan.strides[1][last],
                             p[0] + j * plan.item[0], plan.strides[0][before], rows, n,
                             plan.item[0])
            else:
                for a in range(plan.nargs):
                    q[a] = p[a] + j * plan.strides[a][last]
                    step[a] = plan.strides[a][last]
                    if a and turned[a]:
                        ag_turn_tile(q[a], step[a], <char*>(space + (a - 1) * TURN_SPACE),
                                     width * plan.item[a], rows, n, plan.item[a])
                        q[a] = <char*>(space + (a - 1) * TURN_SPACE)
                        step[a] = plan.item[a]
                for r in range(rows):
                    plan.loop(q, step, n)
                    for a in range(plan.nargs):
                        if a and turned[a]:
                            q[a] += width * plan.item[a]
                        else:
                            q[a] += plan.strides[a][before]
            j += n
        row += rows


cdef bint turn_plan(LoopPlan* plan) noexcept:
    """Return whether tiles are of use; then the dimension along them is the last but one."""
    cdef int a, d, along = -1, last = plan.nd - 1
    cdef Py_ssize_t size, step
    if plan.shape[last] < TURN_LEAST or plan.strides[0][last] != plan.item[0]:
        return False
    for a in range(1, plan.nargs):
        if -plan.item[a] <= plan.strides[a][last] <= plan.item[a]:
            continue
        for d in range(last):
            if plan.shape[d] >= TURN_LEAST and plan.strides[a][d] == plan.item[a]:
                along = d
    if along < 0:
        return False
    size = plan.shape[along]
    for d in range(along, last - 1):
        plan.shape[d] = plan.shape[d + 1]
    plan.shape[last - 1] = size
    for a in range(plan.nargs):
        step = plan.strides[a][along]
        for d in range(along, last - 1):
            plan.strides[a][d] = plan.strides[a][d + 1]
        plan.strides[a][last - 1] = step
    return True


cdef int copy_code(Py_ssize_t item) noexcept:
    """A dtype whose elements have that size."""
    if item == 4:
        return DT_F32
    if item == 8:
        return DT_F64
    if item == 1:
        return DT_BOOL
    return DT_F16 if item == 2 else DT_C128


cdef int way_of(LoopPlan* plan) noexcept:
    """Choose how a loop goes over its elements; it needs the sizes of elements."""
    cdef int a, last = plan.nd - 1
    cdef Py_ssize_t inner = plan.shape[last]
    cdef bint same = plan.nargs > 1 and plan.strides[0][last] == plan.item[0]
    for a in range(1, plan.nargs):
        same = same and plan.strides[a][last] == 0
    plan.moves = False
    if same and (inner >= 64 or plan.nd == 1) and not is_copy(plan.loop):
        plan.copy = KT.loops[K_COPY][copy_code(plan.item[0])]
        if plan.nd == 1:
            plan.cost = 1
        return SAME_ROWS
    if plan.nd == 1:
        return ROW_BY_ROW
    # A loop of copies also casts complex numbers to their real parts: elements of two sizes.
    plan.moves = plan.nargs == 2 and plan.item[0] == plan.item[1] and is_copy(plan.loop)
    if turn_plan(plan):
        return TURNED
    if plan.moves and inner * plan.item[0] <= MOVED_ROW:
        if dense_in_plan(plan, 0) or dense_in_plan(plan, 1):
            return MOVED_ROWS
    plan.moves = False
    if inner < SIDE_ROW:
        return SIDE_BY_SIDE
    if inner < ONCE_ROW:
        same = dense_in_plan(plan, 0)
        for a in range(1, plan.nargs):
            same = same and (dense_in_plan(plan, a)
                             or period(plan, a) * plan.item[a] <= SIDE_BYTES // 2)
        if same:
            return SIDE_BY_SIDE
    return ROW_BY_ROW
