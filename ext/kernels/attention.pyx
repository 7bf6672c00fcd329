# cython: language_level=3
# Attention tile by tile (online softmax: arXiv 1805.02867, 2205.14135): no matrix of all scores is
# in memory, and the backward pass computes them again from the logarithms of their sums.
#
# Operands are (batch, heads, places, width).  Tiles lie at fixed places, and each element of a
# result is summed in the order of the tiles, so results don't depend on threads.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.string cimport memset

from autograd_cy._C.attention_loops cimport (
    AttentionTable, SEEN_ADDED, SEEN_ALL, SEEN_TRUE, Scores)
from autograd_cy._C.dtypes cimport DT_BOOL, DT_F64, DT_SIZE
from autograd_cy._C.gemm_loops cimport BY_COLUMNS, BY_ROWS, KIND_F32, KIND_F64, LoopTable
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport (
    KIND_PRODUCT, READS, WRITES, Launch, begin, launch_tiles, operand)
from autograd_cy._C.parallel cimport team_size
from autograd_cy._C.scratch cimport give_scratch, take_scratch
from autograd_cy._C.sizes cimport parts, round_up
from autograd_cy._C.tensor cimport Tensor, tensor_empty

from autograd_cy._C import cpu

__all__: list[str] = []

cdef enum:
    ROWS = 96       # of a tile: a multiple of the rows of all products' blocks
    STEP = 48       # of a tile of the forward pass: its scores stay in the nearest cache
    COLS = 256      # longest sum of one step
    CLOSE = 1 << 15  # bytes of a tile of values that are read as they lie
    FEW = 4         # so many queries read keys as they lie

cdef LoopTable G = (<LoopTable*>PyCapsule_GetPointer(
    cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]
cdef AttentionTable A = (<AttentionTable*>PyCapsule_GetPointer(
    cpu.load("attention_loops").table_capsule(), "autograd_cy.attention_loops"))[0]


cdef struct Place:
    char* at
    Py_ssize_t batch        # strides in elements
    Py_ssize_t head
    Py_ssize_t row


cdef struct Plan:
    int dt
    int which               # column of the tables
    int kind                # of products
    Py_ssize_t size         # of an element
    Py_ssize_t heads
    Py_ssize_t shared       # heads of query for one of key
    Py_ssize_t rows
    Py_ssize_t cols
    Py_ssize_t width
    Py_ssize_t deep         # width of value
    double scale
    bint causal
    int seen
    Place q
    Place k
    Place v
    Place out
    Place grad
    Place dq
    Place dk
    Place dv
    char* lse
    char* mask
    Py_ssize_t[4] mask_step
    char* dropped           # fractions for all weights, dense, or NULL
    Py_ssize_t pieces       # tasks of one head
    bint failed


cdef inline char* row_at(const Plan* p, const Place* x, Py_ssize_t b, Py_ssize_t h,
                         Py_ssize_t row) noexcept nogil:
    return x.at + (b * x.batch + h * x.head + row * x.row) * p.size


cdef inline Py_ssize_t padded_size(const Plan* p, Py_ssize_t n) noexcept nogil:
    return round_up(n, G.width[p.kind])


cdef inline void pack_matrix(const Plan* p, bint trans, Py_ssize_t k, Py_ssize_t n, const char* b,
                             Py_ssize_t ld, char* packed) noexcept nogil:
    G.pack_b(p.dt, trans, k, n, b, ld, 1, 0, packed)


cdef inline void multiply_packed(const Plan* p, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
                                 int layout,
                                 const char* a, Py_ssize_t step, const char* packed, double alpha,
                                 double beta, char* c, Py_ssize_t ldc) noexcept nogil:
    G.multiply(p.kind, m, n, k, layout, a, step, packed, alpha, beta, c, ldc)


cdef inline void multiply_some(const Plan* p, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
                               Py_ssize_t packed_k, const char* a, Py_ssize_t step,
                               const char* packed, double alpha, double beta, char* c,
                               Py_ssize_t ldc) noexcept nogil:
    """The first k of `packed_k` terms: what is behind them is hidden."""
    cdef Py_ssize_t width = G.width[p.kind], j
    if k == packed_k:
        multiply_packed(p, m, n, k, BY_ROWS, a, step, packed, alpha, beta, c, ldc)
        return
    for j from 0 <= j < n by width:
        multiply_packed(p, m, min(width, n - j), k, BY_ROWS, a, step,
                        packed + j * packed_k * p.size,
                        alpha, beta, c + j * p.size, ldc)


cdef inline void place_scores(const Plan* p, Scores* s, char* scratch, Py_ssize_t b, Py_ssize_t h,
                              Py_ssize_t i, Py_ssize_t rows, Py_ssize_t j,
                              Py_ssize_t cols) noexcept nogil:
    s.at = scratch
    s.rows, s.cols, s.step = rows, cols, COLS
    s.seen = p.seen
    s.causal, s.ahead = p.causal, i - j
    s.mask_row, s.mask_col = p.mask_step[2], p.mask_step[3]
    if p.seen != SEEN_ALL:
        s.mask = p.mask + (b * p.mask_step[0] + h * p.mask_step[1] + i * p.mask_step[2]
                           + j * p.mask_step[3]) * (1 if p.seen == SEEN_TRUE else p.size)


cdef void drop(const Plan* p, char* scores, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i,
               Py_ssize_t rows, Py_ssize_t j, Py_ssize_t cols) noexcept nogil:
    """Multiply a tile of weights, or of their gradients, by the mask of dropout."""
    cdef char* factors = p.dropped + (((b * p.heads + h) * p.rows + i) * p.cols + j) * p.size
    cdef Py_ssize_t r, c
    for r in range(rows):
        if p.which:
            for c in range(cols):
                (<double*>scores)[r * COLS + c] *= (<double*>factors)[r * p.cols + c]
        else:
            for c in range(cols):
                (<float*>scores)[r * COLS + c] *= (<float*>factors)[r * p.cols + c]


# --- forward --------------------------------------------------------------------------------

cdef void forward_rows(Plan* p, Py_ssize_t b, Py_ssize_t h, Py_ssize_t i, Py_ssize_t rows,
                       const char* keys, const char* values, char* scratch) noexcept nogil:
    """One tile of queries; packed keys and values, or NULL to read them as they lie."""
    cdef Scores s
    cdef char* scores = scratch
    cdef char* top = scores + STEP * COLS * p.size
    cdef char* total = top + STEP * p.size
    cdef char* out = row_at(p, &p.out, b, h, i)
    cdef const char* q = row_at(p, &p.q, b, h, i)
    cdef const char* v
    cdef Py_ssize_t j, cols, near, r, deep = padded_size(p, p.deep)
    for r in range(rows):
        if p.which:
            (<double*>top)[r] = -INFINITY
        else:
            (<float*>top)[r] = -INFINITY
    memset(total, 0, rows * p.size)
    for j from 0 <= j < p.cols by COLS:
        cols = min(<Py_ssize_t>COLS, p.cols - j)
        if p.causal and j > i + rows - 1:
            break
        # What is behind the last query of the tile is hidden anyway.
        near = min(cols, i + rows - j) if p.causal else cols
        place_scores(p, &s, scores, b, h, i, rows, j, near)
        if keys == NULL:
            G.dot_rows(p.kind, near, <int>rows, p.width, row_at(p, &p.k, b, h // p.shared, j),
                       p.k.row, q, p.q.row, p.scale, 0, scores, 1, COLS)
        else:
            multiply_packed(p, rows, near, p.width, BY_ROWS, q, p.q.row,
                            keys + j * p.width * p.size,
                            p.scale, 0, scores, COLS)
        A.soften[p.which](&s, top, total, out, p.out.row, p.deep)
        if p.dropped != NULL:
            drop(p, scores, b, h, i, rows, j, near)
        # The first product writes, the others add.
        v = row_at(p, &p.v, b, h // p.shared, j)
        if keys == NULL:
            G.add_rows(p.kind, p.deep, <int>rows, near, v, p.v.row, scores, COLS, 1, j > 0, out, 1,
                       p.out.row)
        elif values == NULL:
            G.multiply_direct(p.kind, rows, p.deep, near, BY_ROWS, scores, COLS, v, p.v.row, 1,
                              j > 0, out, p.out.row)
        else:
            multiply_some(p, rows, p.deep, near, cols, scores, COLS, values + j * deep * p.size, 1,
                          j > 0, out, p.out.row)
    A.finish_rows[p.which](rows, top, total, out, p.out.row, p.deep,
                           p.lse + ((b * p.heads + h) * p.rows + i) * p.size)


cdef inline bint lie_close(const Plan* p) noexcept nogil:
    """Return whether a tile of values stays in the nearest cache as it is: whole vectors, no
    gaps."""
    cdef Py_ssize_t bytes = p.deep * p.size
    return p.v.row == p.deep and bytes % 64 == 0 and bytes * min(<Py_ssize_t>COLS, p.cols) <= CLOSE


cdef void forward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Some tiles of queries of one head."""
    cdef Plan* p = <Plan*>ctx
    cdef Py_ssize_t bh = tile // p.pieces, b = bh // p.heads, h = bh % p.heads
    cdef Py_ssize_t tiles = parts(p.rows, STEP), t
    cdef Py_ssize_t first = tile % p.pieces * tiles // p.pieces
    cdef Py_ssize_t stop = (tile % p.pieces + 1) * tiles // p.pieces
    cdef Py_ssize_t deep = padded_size(p, p.deep), j, cols, last = p.cols
    cdef Py_ssize_t keys_size = padded_size(p, p.cols) * p.width, values_size = p.cols * deep
    # Values that are read once, or whose rows follow each other: packing doesn't pay.
    cdef bint direct = p.rows <= STEP or lie_close(p)
    cdef char* scratch
    cdef char* keys = NULL
    cdef char* values = NULL
    if first == stop:
        return
    if p.rows <= FEW:
        keys_size = 0
    if direct:
        values_size = 0
    scratch = <char*>take_scratch((STEP * (COLS + 2) + keys_size + values_size) * p.size)
    if scratch == NULL:
        p.failed = True
        return
    if p.rows > FEW:
        keys = scratch + STEP * (COLS + 2) * p.size
        if not direct:
            values = keys + keys_size * p.size
        if p.causal:
            last = min(last, stop * STEP)
        pack_matrix(p, True, p.width, last, row_at(p, &p.k, b, h // p.shared, 0), p.k.row, keys)
        for j from 0 <= j < (0 if direct else last) by COLS:
            cols = min(<Py_ssize_t>COLS, p.cols - j)
            pack_matrix(p, False, cols, p.deep, row_at(p, &p.v, b, h // p.shared, j), p.v.row,
                        values + j * deep * p.size)
    for t in range(first, stop):
        forward_rows(p, b, h, t * STEP, min(<Py_ssize_t>STEP, p.rows - t * STEP), keys, values,
                     scratch)
    give_scratch(scratch)


# --- backward -------------------------------------------------------------------------------

cdef inline void clear_rows(const Plan* p, const Place* x, Py_ssize_t b, Py_ssize_t h,
                            Py_ssize_t first, Py_ssize_t stop, Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(first, stop):
        memset(row_at(p, x, b, h, r), 0, width * p.size)


cdef inline void add_keys(const Plan* p, const Place* x, Py_ssize_t b, Py_ssize_t h, Py_ssize_t j,
                          Py_ssize_t near, Py_ssize_t known, Py_ssize_t width, Py_ssize_t rows,
                          const char* weights, const char* packed, double alpha) noexcept nogil:
    """Add what some queries give to keys j..; to those from `known` on it is the first."""
    known = min(max(known - j, <Py_ssize_t>0), near)
    if known > 0:
        multiply_packed(p, known, width, rows, BY_COLUMNS, weights, COLS, packed, alpha, 1,
                        row_at(p, x, b, h, j), x.row)
    if known < near:
        multiply_packed(p, near - known, width, rows, BY_COLUMNS, weights + known * p.size, COLS,
                        packed,
                        alpha, 0, row_at(p, x, b, h, j + known), x.row)


cdef void backward_head(Plan* p, Py_ssize_t b, Py_ssize_t h, bint of_queries, bint of_keys,
                        Py_ssize_t i_first, Py_ssize_t i_stop, Py_ssize_t j_first,
                        Py_ssize_t j_stop) noexcept nogil:
    """Gradients of some queries, or of some keys and values, for one head of keys."""
    cdef Scores s
    cdef Py_ssize_t width = padded_size(p, p.width), deep = padded_size(p, p.deep)
    cdef Py_ssize_t g, head, i, j, rows, cols
    cdef Py_ssize_t near, total = padded_size(p, p.cols), known = j_first
    # Shorter tiles leave out more of what is hidden.
    cdef Py_ssize_t step = STEP if p.causal else ROWS
    cdef char* scores
    cdef char* score_grads
    cdef char* shift
    cdef char* keys_t
    cdef char* keys
    cdef char* values_t
    cdef char* queries
    cdef char* grads
    cdef const char* q
    cdef const char* go
    cdef char* scratch = <char*>take_scratch(
        (ROWS * (2 * COLS + 1) + total * (p.width + p.deep) + p.cols * width
         + ROWS * (width + deep)) * p.size)
    if scratch == NULL:
        p.failed = True
        return
    scores = scratch
    score_grads = scores + ROWS * COLS * p.size
    shift = score_grads + ROWS * COLS * p.size
    keys_t = shift + ROWS * p.size
    values_t = keys_t + total * p.width * p.size
    keys = values_t + total * p.deep * p.size
    queries = keys + p.cols * width * p.size
    grads = queries + ROWS * width * p.size
    pack_matrix(p, True, p.width, p.cols, row_at(p, &p.k, b, h, 0), p.k.row, keys_t)
    pack_matrix(p, True, p.deep, p.cols, row_at(p, &p.v, b, h, 0), p.v.row, values_t)
    for j from 0 <= j < (p.cols if of_queries else 0) by COLS:
        cols = min(<Py_ssize_t>COLS, p.cols - j)
        pack_matrix(p, False, cols, p.width, row_at(p, &p.k, b, h, j), p.k.row,
                    keys + j * width * p.size)
    for g in range(p.shared):
        head = h * p.shared + g
        for i from i_first <= i < i_stop by step:
            rows = min(step, i_stop - i)
            q = row_at(p, &p.q, b, head, i)
            go = row_at(p, &p.grad, b, head, i)
            A.dots[p.which](rows, p.deep, go, p.grad.row, row_at(p, &p.out, b, head, i), p.out.row,
                            shift)
            if of_keys:
                pack_matrix(p, False, rows, p.width, q, p.q.row, queries)
                pack_matrix(p, False, rows, p.deep, go, p.grad.row, grads)
            for j from j_first <= j < j_stop by COLS:
                cols = min(<Py_ssize_t>COLS, j_stop - j)
                if p.causal and j > i + rows - 1:
                    break
                near = min(cols, i + rows - j) if p.causal else cols
                place_scores(p, &s, scores, b, head, i, rows, j, near)
                multiply_packed(p, rows, near, p.width, BY_ROWS, q, p.q.row,
                                keys_t + j * p.width * p.size, p.scale, 0, scores, COLS)
                multiply_packed(p, rows, near, p.deep, BY_ROWS, go, p.grad.row,
                                values_t + j * p.deep * p.size, 1, 0, score_grads, COLS)
                if p.dropped != NULL:
                    drop(p, score_grads, b, head, i, rows, j, near)
                A.gradients[p.which](&s, score_grads,
                                     p.lse + ((b * p.heads + head) * p.rows + i) * p.size,
                                     shift)
                if p.dropped != NULL and of_keys:
                    drop(p, scores, b, head, i, rows, j, near)
                if of_keys:
                    add_keys(p, &p.dv, b, h, j, near, known, p.deep, rows, scores, grads, 1)
                    add_keys(p, &p.dk, b, h, j, near, known, p.width, rows, score_grads, queries,
                             p.scale)
                if of_queries:
                    multiply_some(p, rows, p.width, near, cols, score_grads, COLS,
                                  keys + j * width * p.size, p.scale, j > 0,
                                  row_at(p, &p.dq, b, head, i), p.dq.row)
            known = max(known, min(j_stop, i + rows) if p.causal else j_stop)
    if of_keys:     # what no query sees
        clear_rows(p, &p.dk, b, h, known, j_stop, p.width)
        clear_rows(p, &p.dv, b, h, known, j_stop, p.deep)
    give_scratch(scratch)


cdef void backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """All gradients of one head of keys, or a part of the queries' or of the keys' ones."""
    cdef Plan* p = <Plan*>ctx
    cdef Py_ssize_t heads = p.heads // p.shared, bh = tile // p.pieces, half, part, n
    cdef Py_ssize_t b = bh // heads, h = bh % heads
    if p.pieces == 1:
        backward_head(p, b, h, True, True, 0, p.rows, 0, p.cols)
        return
    half = p.pieces // 2
    part = tile % p.pieces
    if part < half:
        n = parts(p.rows, ROWS)
        backward_head(p, b, h, True, False, part * n // half * ROWS,
                      min((part + 1) * n // half * ROWS, p.rows), 0, p.cols)
    else:
        part -= half
        n = parts(p.cols, COLS)
        backward_head(p, b, h, False, True, 0, p.rows, part * n // half * COLS,
                      min((part + 1) * n // half * COLS, p.cols))


# --- plans ----------------------------------------------------------------------------------

cdef inline Tensor usable(Tensor t, int dt):
    """Return the tensor in the computing type, with rows whose elements lie side by side."""
    t = cast(t, dt)
    return t if t.strides[3] == 1 or t.sizes[3] == 1 else contiguous(t)


cdef inline void set_strides(Place* x, Tensor t) noexcept:
    x.at = t.ptr
    x.batch, x.head, x.row = t.strides[0], t.strides[1], t.strides[2]


cdef Tensor wide(Tensor t, int dt):
    """Return a tensor for the kernel to write: `t`, or an empty one in the computing type."""
    return t if t.dt == dt else tensor_empty(dt, t.nd, t.sizes)


cdef int fill_plan(Plan* p, Tensor q, Tensor k, Tensor v, Tensor mask, Tensor lse, bint causal,
                   double scale, Tensor dropped) except -1:
    cdef int d
    p.dt = q.dt
    p.which = q.dt == DT_F64
    p.kind = KIND_F64 if p.which else KIND_F32
    p.size = DT_SIZE[q.dt]
    p.heads = q.sizes[1]
    p.shared = q.sizes[1] // k.sizes[1]
    p.rows, p.cols = q.sizes[2], k.sizes[2]
    p.width, p.deep = q.sizes[3], v.sizes[3]
    p.scale = scale
    p.causal = causal
    p.seen = SEEN_ALL
    p.failed = False
    set_strides(&p.q, q)
    set_strides(&p.k, k)
    set_strides(&p.v, v)
    p.lse = lse.ptr
    p.dropped = NULL if dropped is None else dropped.ptr
    if mask is not None:
        p.seen = SEEN_TRUE if mask.dt == DT_BOOL else SEEN_ADDED
        p.mask = mask.ptr
        for d in range(4):
            p.mask_step[d] = 0 if mask.sizes[d] == 1 else mask.strides[d]
    return 0


cdef inline Py_ssize_t pieces_for(Py_ssize_t heads, double work, Py_ssize_t most) noexcept:
    """Return the number of pieces of each head, so that all threads have work."""
    cdef Py_ssize_t threads = team_size(work)
    if threads == 1:
        return 1
    return max(<Py_ssize_t>1, min(most, parts(2 * threads, heads)))


cdef int attention_into(Tensor out, Tensor lse, Tensor exact, Tensor query, Tensor key,
                        Tensor value, Tensor mask, bint is_causal, double scale,
                        Tensor dropped) except -1:
    cdef Plan plan
    cdef Launch work
    cdef int dt = lse.dt
    cdef Tensor target = out if out.dt == dt else exact
    cdef Py_ssize_t heads
    cdef double cost
    if out.count == 0:
        return 0
    query, key, value = usable(query, dt), usable(key, dt), usable(value, dt)
    if mask is not None and mask.dt != DT_BOOL:
        mask = cast(mask, dt)
    if dropped is not None:
        dropped = contiguous(cast(dropped, dt))
    fill_plan(&plan, query, key, value, mask, lse, is_causal, scale, dropped)
    set_strides(&plan.out, target)
    heads = query.sizes[0] * query.sizes[1]
    cost = 0.25 * heads * plan.rows * plan.cols * (plan.width + plan.deep + 16)
    plan.pieces = pieces_for(heads, cost, parts(plan.rows, STEP))
    begin(&work, "attention", &plan, sizeof(plan), KIND_PRODUCT)
    operand(&work, &plan.q.at, query, READS)
    operand(&work, &plan.k.at, key, READS)
    operand(&work, &plan.v.at, value, READS)
    operand(&work, &plan.out.at, target, WRITES)
    operand(&work, &plan.lse, lse, WRITES)
    if mask is not None:
        operand(&work, &plan.mask, mask, READS)
    if dropped is not None:
        operand(&work, &plan.dropped, dropped, READS)
    launch_tiles(&work, forward_tile, heads * plan.pieces, cost)
    if plan.failed:
        raise MemoryError("scaled_dot_product_attention: no memory for a tile")
    return 0 if target is out else copy_into(out, target, "scaled_dot_product_attention")


cdef int attention_gradients_into(Tensor query_out, Tensor key_out, Tensor value_out, Tensor grad,
                                  Tensor query, Tensor key, Tensor value, Tensor mask, Tensor out,
                                  Tensor lse, Tensor exact, bint is_causal, double scale,
                                  Tensor dropped) except -1:
    cdef Plan plan
    cdef Launch work
    cdef int dt = lse.dt
    cdef Tensor dq = wide(query_out, dt), dk = wide(key_out, dt), dv = wide(value_out, dt)
    cdef Py_ssize_t heads
    cdef double cost
    query, key, value = usable(query, dt), usable(key, dt), usable(value, dt)
    grad, out = usable(grad, dt), usable(out if out.dt == dt else exact, dt)
    lse = contiguous(lse)
    if mask is not None and mask.dt != DT_BOOL:
        mask = cast(mask, dt)
    if dropped is not None:
        dropped = contiguous(cast(dropped, dt))
    fill_plan(&plan, query, key, value, mask, lse, is_causal, scale, dropped)
    set_strides(&plan.grad, grad)
    set_strides(&plan.out, out)
    set_strides(&plan.dq, dq)
    set_strides(&plan.dk, dk)
    set_strides(&plan.dv, dv)
    heads = key.sizes[0] * key.sizes[1]
    cost = 0.25 * query.sizes[0] * plan.heads * plan.rows * plan.cols * (
        3 * plan.width + 2 * plan.deep + 16)
    plan.pieces = pieces_for(heads, cost, 64)
    if plan.pieces > 1:
        plan.pieces *= 2
    begin(&work, "attention_backward", &plan, sizeof(plan), KIND_PRODUCT)
    operand(&work, &plan.q.at, query, READS)
    operand(&work, &plan.k.at, key, READS)
    operand(&work, &plan.v.at, value, READS)
    operand(&work, &plan.grad.at, grad, READS)
    operand(&work, &plan.out.at, out, READS)
    operand(&work, &plan.lse, lse, READS)
    operand(&work, &plan.dq.at, dq, WRITES)
    operand(&work, &plan.dk.at, dk, WRITES)
    operand(&work, &plan.dv.at, dv, WRITES)
    if mask is not None:
        operand(&work, &plan.mask, mask, READS)
    if dropped is not None:
        operand(&work, &plan.dropped, dropped, READS)
    launch_tiles(&work, backward_tile, heads * plan.pieces, cost)
    if plan.failed:
        raise MemoryError("scaled_dot_product_attention: no memory for a tile")
    if dq is query_out:
        return 0
    copy_into(query_out, dq, "scaled_dot_product_attention")
    copy_into(key_out, dk, "scaled_dot_product_attention")
    return copy_into(value_out, dv, "scaled_dot_product_attention")
