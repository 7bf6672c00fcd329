# cython: language_level=3
# build: openmp
# A recurrent layer in one direction. Forward: the inputs of all steps go through one product, then
# each step adds the product of its state and makes the gates, where they are kept. Backward: the
# steps in the other order give the gradients of the gates' sums; those of weights and inputs are
# products over all steps.
#
# Steps of packed rows have fewer and fewer rows. State j belongs to sequence j in both directions:
# a step changes the first of them and leaves the others alone, which have ended or not begun.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_SIZE
from autograd_cy._C.gemm cimport ensure_gemm, gemm, gemm_onto, needs_blas
from autograd_cy._C.gemm_loops cimport BY_ROWS, KIND_F32, KIND_F64, LoopTable
from autograd_cy._C.gemm_product cimport GEMM_INTERRUPTED, GEMM_NO_MEMORY, GEMM_OK
from autograd_cy._C.iterate cimport contiguous
from autograd_cy._C.launch cimport (
    KIND_PRODUCT, READS, WRITES, Launch, Operand, begin, launch, operand, spread)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.recurrent_loops cimport RecurrentTable
from autograd_cy._C.rules_recurrent cimport (
    OF_BH, OF_BI, OF_HH, OF_HR, OF_IH, OF_X, R_GRU, R_LSTM, R_RELU, R_REVERSE, gates_of,
    workspace_columns)
from autograd_cy._C.scratch cimport give_scratch, take_scratch
from autograd_cy._C.sizes cimport parts, round_up
from autograd_cy._C.tensor cimport Tensor

cdef object _loops = _cpu.load("recurrent_loops")
cdef const RecurrentTable* L = <const RecurrentTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.recurrent_table")

cdef LoopTable G = (<LoopTable*>PyCapsule_GetPointer(
    _cpu.load("gemm_loops").table_capsule(), "autograd_cy.gemm_loops"))[0]

cdef extern from "Python.h":
    int PyErr_CheckSignals() noexcept

cdef extern from *:
    """
    #include <time.h>
    static double agr_seconds(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + 1e-9 * t.tv_nsec;
    }
    /* The exception that is set already, as Cython sees one. */
    static int agr_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    int agr_pass_on() except -1
    double agr_seconds() noexcept nogil

# How often a loop over steps looks whether Ctrl-C was pressed, in seconds.
cdef double LOOK_EVERY = 0.03

cdef enum:
    TILE = 2048          # elements of a gate that go together
    GATE_WORK = 40       # of a gate's element, in steps of team_size()'s unit
    MOST = 24            # operands
    DEPTH = 256          # rows of a matrix that are packed together
    FEW_ROWS = 5         # of a step: from here on packing pays,
    MANY_ROWS = 256      # and up to here products would pack more often than they multiply
    FEW_STEPS = 3
    STRIPS_OF_PIECE = 4  # what one thread takes of a product


cdef struct Layer:
    int dt
    Py_ssize_t mode
    bint reverse
    bint single              # one step, whose output is the state
    int status
    Py_ssize_t item
    Py_ssize_t steps
    Py_ssize_t batch
    Py_ssize_t rows          # of all steps
    Py_ssize_t size          # of inputs
    Py_ssize_t n             # of a gate
    Py_ssize_t state         # of h; not n if there is a projection
    Py_ssize_t gates         # columns of the sums
    Py_ssize_t columns       # columns of the workspace
    Py_ssize_t wanted
    const int64_t* sizes     # NULL: all steps have `batch` rows
    const char* x
    const char* h
    const char* c
    const char* w_ih
    const char* w_hh
    const char* b_ih
    const char* b_hh
    const char* w_hr
    char* out
    char* hy
    char* cy
    char* ws
    const char* g_out        # NULL: zeros
    const char* g_hy
    const char* g_cy
    char* g_x
    char* g_h                # carried from step to step
    char* g_c
    char* g_ih
    char* g_hh
    char* g_bi
    char* g_bh
    char* g_hr


cdef inline void multiply_gates(Layer* t, int trans_a, int trans_b, Py_ssize_t m, Py_ssize_t n,
                                Py_ssize_t k, const void* a, Py_ssize_t lda, const void* b,
                                Py_ssize_t ldb, double beta, void* c,
                                Py_ssize_t ldc) noexcept nogil:
    if t.status == GEMM_OK:
        t.status = gemm(t.dt, trans_a, trans_b, m, n, k, 1, 0, a, lda, b, ldb, beta, c, ldc)


cdef inline void multiply_onto(Layer* t, int trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k,
                               const void* a, const void* b, const char* row, double beta,
                               void* c, Py_ssize_t ldc) noexcept nogil:
    """Matrices without gaps; each row of c begins with `row`, if there is one."""
    cdef Py_ssize_t ldb = k if trans_b else n
    if row == NULL:
        multiply_gates(t, 0, trans_b, m, n, k, a, k, b, ldb, beta, c, ldc)
    elif t.status == GEMM_OK:
        t.status = gemm_onto(t.dt, 0, trans_b, m, n, k, a, k, b, ldb, row, c, ldc)


cdef bint interrupted(Layer* t, double* looked) noexcept nogil:
    """Between steps: whether a signal handler of Python (that of Ctrl-C) has raised."""
    cdef double now = agr_seconds()
    if now - looked[0] >= LOOK_EVERY:
        looked[0] = now
        with gil:
            if PyErr_CheckSignals() != 0:
                t.status = GEMM_INTERRUPTED
    return t.status != GEMM_OK


# --- the matrix of all steps ------------------------------------------------------------------
# It is packed once, as products would do it at each step.

cdef struct Packed:
    Layer* t
    int kind
    char* at                 # NULL: products pack it
    const char* b            # (k, n), or stored as (n, k)
    int trans
    const char* row          # NULL, or what each row of c begins with
    Py_ssize_t k
    Py_ssize_t n
    Py_ssize_t columns       # with what fills the last strip
    # One product.
    Py_ssize_t rows
    const char* a
    double beta
    char* c
    Py_ssize_t ldc
    Py_ssize_t piece


cdef void pack_columns(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Packed* p = <Packed*>ctx
    cdef Py_ssize_t q, depth, ldb = p.k if p.trans else p.n
    for q from 0 <= q < p.k by DEPTH:
        depth = min(p.k - q, <Py_ssize_t>DEPTH)
        G.pack_b(p.t.dt, p.trans, depth, p.n, p.b + (q if p.trans else q * ldb) * p.t.item, ldb,
                 1, 0, p.at + q * p.columns * p.t.item)


cdef void pack_weights(Packed* p, Layer* t, int trans, Py_ssize_t k, Py_ssize_t n,
                       const char* b) noexcept nogil:
    p.t, p.trans, p.k, p.n, p.b = t, trans, k, n, b
    p.at = p.row = NULL
    if (t.steps < FEW_STEPS or t.batch < FEW_ROWS or t.batch > MANY_ROWS or n == 0 or k == 0
            or needs_blas(t.dt)):
        return
    p.kind = KIND_F32 if t.dt == DT_F32 else KIND_F64
    p.columns = round_up(n, G.width[p.kind])
    p.at = <char*>take_scratch(p.columns * k * t.item)
    if p.at == NULL:
        t.status = GEMM_NO_MEMORY
        return
    parallel_for(pack_columns, p, 1, 1)


cdef void packed_piece(void* ctx, Py_ssize_t index) noexcept nogil:
    cdef Packed* p = <Packed*>ctx
    cdef Py_ssize_t j = index * p.piece, now = min(p.piece, p.n - j), q, depth
    cdef Py_ssize_t item = p.t.item
    cdef const char* packed
    for q from 0 <= q < p.k by DEPTH:
        depth = min(p.k - q, <Py_ssize_t>DEPTH)
        packed = p.at + (q * p.columns + j * depth) * item
        if q == 0 and p.row != NULL:
            G.multiply_onto(p.kind, p.rows, now, depth, BY_ROWS, p.a, p.k, packed, 1,
                            p.row + j * item, p.c + j * item, p.ldc)
        else:
            G.multiply(p.kind, p.rows, now, depth, BY_ROWS, p.a + q * item, p.k, packed, 1,
                       p.beta if q == 0 else 1, p.c + j * item, p.ldc)


cdef inline void multiply_packed(Packed* p, Py_ssize_t rows, const char* a, double beta, char* c,
                                 Py_ssize_t ldc) noexcept nogil:
    """c = a @ b + beta * c, or with the row instead; where it is cut changes no sum."""
    cdef int team
    if p.at == NULL or rows < FEW_ROWS:
        multiply_onto(p.t, p.trans, rows, p.n, p.k, a, p.b, p.row, beta, c, ldc)
        return
    p.rows, p.a, p.beta, p.c, p.ldc = rows, a, beta, c, ldc
    team = team_size(0.125 * rows * p.n * p.k)
    p.piece = p.n if team == 1 else STRIPS_OF_PIECE * G.width[p.kind]
    parallel_for(packed_piece, p, parts(p.n, p.piece), team)


cdef inline Py_ssize_t batch_at(const Layer* t, Py_ssize_t step) noexcept nogil:
    return t.batch if t.sizes == NULL else t.sizes[step]


# --- gates, row by row ------------------------------------------------------------------------

# Rows of one step; tiles take some of them.
cdef struct Rows:
    Layer* t
    Py_ssize_t count
    Py_ssize_t tile
    char* sums
    const char* others       # the state's part of the sums (GRU)
    const char* before       # cell (LSTM) or h (GRU) before the step
    Py_ssize_t ld_before
    char* cell
    char* h
    char* dh
    char* dc
    char* d
    char* s
    char* raw


cdef void forward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Rows* w = <Rows*>ctx
    cdef Layer* t = w.t
    cdef Py_ssize_t i = tile * w.tile, rows = min(w.tile, w.count - i), at = i * t.n * t.item
    if t.mode == R_LSTM:
        L.lstm_rows(t.dt, rows, t.n, w.sums + i * t.columns * t.item, w.before + at, w.cell + at,
                    w.h + at)
    elif t.mode == R_GRU:
        L.gru_rows(t.dt, rows, t.n, w.sums + i * t.columns * t.item, w.others + 3 * at,
                   w.before + at, w.cell + at, w.h + at)
    else:
        L.plain_rows(t.dt, t.mode == R_RELU, rows * t.n, w.sums + at, w.cell + at)


cdef void backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Rows* w = <Rows*>ctx
    cdef Layer* t = w.t
    cdef Py_ssize_t i = tile * w.tile, rows = min(w.tile, w.count - i), at = i * t.n * t.item
    if t.mode == R_LSTM:
        L.lstm_back(t.dt, rows, t.n, w.sums + i * t.columns * t.item,
                    w.before + i * w.ld_before * t.item, w.ld_before, w.dh + at, w.dc + at,
                    w.d + 4 * at, w.raw + at)
    elif t.mode == R_GRU:
        L.gru_back(t.dt, rows, t.n, w.sums + i * t.columns * t.item, w.before + at, w.dh + at,
                   w.d + 3 * at, w.s + 3 * at)
    else:
        L.plain_back(t.dt, t.mode == R_RELU, rows * t.n, w.h + at, w.dh + at, w.d + at)


cdef inline void by_tiles(Rows* w, bint backward) noexcept nogil:
    cdef Py_ssize_t n = max(w.t.n, <Py_ssize_t>1)
    w.tile = max(TILE // n, <Py_ssize_t>1)
    parallel_for(backward_tile if backward else forward_tile, w, parts(w.count, w.tile),
                 team_size(1.0 * GATE_WORK * w.count * n))


# --- forward ----------------------------------------------------------------------------------

cdef void forward(void* plan) noexcept nogil:
    cdef Layer* t = <Layer*>plan
    cdef Py_ssize_t k, step, rows, at = 0, ld = t.columns if t.columns else t.gates
    cdef Py_ssize_t width = t.item * t.state, most = t.batch
    cdef char* sums = t.ws if t.columns else t.out
    cdef char* others = NULL         # (batch, 3 n)
    cdef char* raw = NULL            # (batch, n): h before the projection
    cdef const char* h = t.h
    cdef const char* c = t.c
    cdef const char* bias = t.b_ih if t.b_ih != NULL or t.mode == R_GRU else t.b_hh
    cdef char* both = NULL           # biases of inputs and of states, added up
    cdef Packed w_hh
    cdef Rows w
    cdef double looked = agr_seconds()
    t.status = GEMM_OK
    pack_weights(&w_hh, t, 1, t.state, t.gates, t.w_hh)
    if t.mode == R_GRU:
        w_hh.row = t.b_hh
        others = <char*>take_scratch(max(3 * most * t.n * t.item, <Py_ssize_t>64))
        if others == NULL:
            t.status = GEMM_NO_MEMORY
    if t.w_hr != NULL:
        raw = <char*>take_scratch(max(most * t.n * t.item, <Py_ssize_t>64))
        if raw == NULL:
            t.status = GEMM_NO_MEMORY
    if t.mode != R_GRU and t.b_ih != NULL and t.b_hh != NULL:
        both = <char*>take_scratch(max(t.gates * t.item, <Py_ssize_t>64))
        if both == NULL:
            t.status = GEMM_NO_MEMORY
        else:
            memcpy(both, t.b_ih, <size_t>(t.gates * t.item))
            L.add(t.dt, t.gates, both, t.b_hh)
            bias = both
    multiply_onto(t, 1, t.rows, t.gates, t.size, t.x, t.w_ih, bias, 0, sums, ld)
    give_scratch(both)
    if not t.single:
        memcpy(t.hy, t.h, <size_t>(t.batch * width))
        h = t.hy
        if t.mode == R_LSTM:
            memcpy(t.cy, t.c, <size_t>(t.batch * t.n * t.item))
            c = t.cy
    if t.reverse:
        at = t.rows
    w.t = t
    for k in range(t.steps):
        if t.status != GEMM_OK or interrupted(t, &looked):
            break
        step = t.steps - 1 - k if t.reverse else k
        rows = batch_at(t, step)
        if t.reverse:
            at -= rows
        if t.mode == R_GRU:
            multiply_packed(&w_hh, rows, h, 0, others, t.gates)
        else:
            multiply_packed(&w_hh, rows, h, 1, sums + at * ld * t.item, ld)
        w.count = rows
        w.sums = sums + at * ld * t.item
        w.h = raw if raw != NULL else t.out + at * width
        if t.mode == R_LSTM:
            w.before, w.cell = c, t.cy
        else:
            w.others, w.before = others, h
            w.cell = w.h if t.single else t.hy
        by_tiles(&w, False)
        if raw != NULL:
            multiply_gates(t, 0, 1, rows, t.state, t.n, raw, t.n, t.w_hr, t.n, 0,
                           t.out + at * width,
                           t.state)
        if t.mode == R_LSTM and not t.single:
            memcpy(t.hy, t.out + at * width, <size_t>(rows * width))
        if not t.reverse:
            at += rows
    give_scratch(others)
    give_scratch(raw)
    give_scratch(w_hh.at)


# --- backward ---------------------------------------------------------------------------------

cdef inline void copy_or_clear(char* to, const char* source, Py_ssize_t bytes) noexcept nogil:
    if source == NULL:
        memset(to, 0, <size_t>bytes)
    else:
        memcpy(to, source, <size_t>bytes)


cdef void backward(void* plan) noexcept nogil:
    cdef Layer* t = <Layer*>plan
    cdef Py_ssize_t width = t.item * t.state, n = t.n * t.item, rows, before, at, at_before
    cdef Py_ssize_t k, step, held, elements
    cdef char* d                   # (rows, gates): gradients of the sums
    cdef char* s                   # the same of the state's part (GRU), else d
    cdef char* last                # (rows, state): h before each step
    cdef char* raw                 # (rows, n): h before the projection; (batch, n) for nobody
    cdef char* drawn = NULL        # (rows, state): gradients of h behind the projection
    cdef char* dh                  # (batch, n): gradients of h before it, or t.g_h
    cdef char* scratch
    cdef Packed w_hh
    cdef double looked = agr_seconds()
    cdef Rows w
    elements = t.rows * t.gates * (2 if t.mode == R_GRU else 1) + t.rows * t.state
    held = 0
    if t.mode == R_LSTM:
        held = t.rows if t.w_hr != NULL else t.batch
        elements += held * t.n
    if t.w_hr != NULL:
        elements += t.rows * t.state + t.batch * t.n
    scratch = <char*>take_scratch(max(elements * t.item, <Py_ssize_t>64))
    if scratch == NULL:
        t.status = GEMM_NO_MEMORY
        return
    t.status = GEMM_OK
    pack_weights(&w_hh, t, 0, t.gates, t.state, t.w_hh)
    d = s = scratch
    last = d + t.rows * t.gates * t.item
    if t.mode == R_GRU:
        s = last
        last = s + t.rows * t.gates * t.item
    raw = last + t.rows * width
    dh = t.g_h
    if t.w_hr != NULL:
        drawn = raw + held * n
        dh = drawn + t.rows * width
    copy_or_clear(t.g_h, t.g_hy, t.batch * width)
    if t.mode == R_LSTM:
        copy_or_clear(t.g_c, t.g_cy, t.batch * n)
    w.t = t
    # From the step that was last: forward ended with the last rows, reverse with the first.
    at = 0 if t.reverse else t.rows
    for k in range(t.steps):
        if t.status != GEMM_OK or interrupted(t, &looked):
            break
        step = k if t.reverse else t.steps - 1 - k
        rows = batch_at(t, step)
        if not t.reverse:
            at -= rows
        # The step before it in time has its rows next to these; what it has not comes from h and c.
        if k == t.steps - 1:
            before, at_before = 0, 0
        elif t.reverse:
            before, at_before = min(rows, batch_at(t, step + 1)), at + rows
        else:
            before = rows
            at_before = at - batch_at(t, step - 1)
        memcpy(last + at * width, t.out + at_before * width, <size_t>(before * width))
        memcpy(last + (at + before) * width, t.h + before * width,
               <size_t>((rows - before) * width))
        if t.g_out != NULL:
            L.add(t.dt, rows * t.state, t.g_h, t.g_out + at * width)
        if t.w_hr != NULL:
            memcpy(drawn + at * width, t.g_h, <size_t>(rows * width))
            multiply_gates(t, 0, 0, rows, t.n, t.state, t.g_h, t.state, t.w_hr, t.n, 0, dh, t.n)
        w.count = rows
        w.dh = dh
        w.d = d + at * t.gates * t.item
        w.sums = t.ws + at * t.columns * t.item
        if t.mode == R_LSTM:
            w.dc = t.g_c
            w.raw = raw if t.w_hr == NULL else raw + at * n
            w.before = t.ws + (at_before * t.columns + 4 * t.n) * t.item
            w.ld_before = t.columns
            w.count = before
            by_tiles(&w, True)
            w.count = rows - before
            w.sums += before * t.columns * t.item
            w.before, w.ld_before = t.c + before * n, t.n
            w.dh += before * n
            w.dc += before * n
            w.d += 4 * before * n
            w.raw += before * n
        elif t.mode == R_GRU:
            w.before = last + at * width
            w.s = s + at * t.gates * t.item
        else:
            w.h = t.out + at * width
        by_tiles(&w, True)
        multiply_packed(&w_hh, rows, s + at * t.gates * t.item, t.mode == R_GRU, t.g_h, t.state)
        if t.reverse:
            at += rows
    if t.wanted & OF_X:
        multiply_gates(t, 0, 0, t.rows, t.size, t.gates, d, t.gates, t.w_ih, t.size, 0, t.g_x,
                       t.size)
    if t.wanted & OF_IH:
        multiply_gates(t, 1, 0, t.gates, t.size, t.rows, d, t.gates, t.x, t.size, 0, t.g_ih, t.size)
    if t.wanted & OF_HH:
        multiply_gates(t, 1, 0, t.gates, t.state, t.rows, s, t.gates, last, t.state, 0, t.g_hh,
                       t.state)
    if t.wanted & OF_HR:
        multiply_gates(t, 1, 0, t.state, t.n, t.rows, drawn, t.state, raw, t.n, 0, t.g_hr, t.n)
    if t.wanted & OF_BI:
        L.sum_columns(t.dt, t.rows, t.gates, d, t.g_bi)
    if t.wanted & OF_BH:
        if t.wanted & OF_BI and s == d:
            memcpy(t.g_bh, t.g_bi, <size_t>(t.gates * t.item))
        else:
            L.sum_columns(t.dt, t.rows, t.gates, s, t.g_bh)
    give_scratch(scratch)
    give_scratch(w_hh.at)


# --- launches ---------------------------------------------------------------------------------

cdef void plan_layer(Layer* t, Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor batch_sizes,
                     Py_ssize_t mode) noexcept:
    cdef int d
    memset(t, 0, sizeof(Layer))
    t.dt = x.dt
    t.item = DT_SIZE[x.dt]
    t.mode, t.reverse = mode & ~<Py_ssize_t>R_REVERSE, mode & R_REVERSE != 0
    t.rows = 1
    for d in range(x.nd - 1):
        t.rows *= x.sizes[d]
    t.single = x.nd == 2 and batch_sizes is None
    t.batch = h.sizes[0]
    t.size = w_ih.sizes[1]
    t.gates = w_hh.sizes[0]
    t.n = t.gates // gates_of(mode)
    t.state = w_hh.sizes[1]
    t.columns = workspace_columns(mode, t.n)
    if batch_sizes is not None:
        t.steps = batch_sizes.count
    else:
        t.steps = 1 if t.single else x.sizes[0]


cdef inline void optional_operand(Launch* work, const char** field, Tensor t) noexcept:
    if t is not None:
        field[0] = t.ptr
        operand(work, field, t, READS)


cdef inline void set_output(Launch* work, char** field, Tensor t) noexcept:
    field[0] = t.ptr
    operand(work, field, t, WRITES)


cdef inline Tensor dense(Tensor t):
    return None if t is None else contiguous(t)


cdef int check_layer(const Layer* t, str op) except -1:
    if t.status == GEMM_INTERRUPTED:
        return agr_pass_on()
    if t.status == GEMM_NO_MEMORY:
        raise MemoryError(f"{op}: no memory for the gates of {t.rows} rows")
    if t.status != GEMM_OK:
        raise RuntimeError(f"{op}: a product failed (status {t.status})")
    return 0


cdef inline double work_of(const Layer* t) noexcept:
    return 0.125 * t.rows * t.gates * (t.size + t.state) + 1.0 * GATE_WORK * t.rows * t.n


cdef int layer(
        Tensor out, Tensor hy, Tensor cy, Tensor gates, Tensor x, Tensor h, Tensor c, Tensor w_ih,
        Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor w_hr, Tensor batch_sizes,
        Py_ssize_t mode) except -1:
    cdef Layer t
    cdef Launch work
    cdef Operand[MOST] operands
    x, h, w_ih, w_hh = contiguous(x), contiguous(h), contiguous(w_ih), contiguous(w_hh)
    c, b_ih, b_hh, w_hr = dense(c), dense(b_ih), dense(b_hh), dense(w_hr)
    batch_sizes = dense(batch_sizes)
    plan_layer(&t, x, h, w_ih, w_hh, batch_sizes, mode)
    ensure_gemm(x.dt)
    begin(&work, "recurrent", &t, sizeof(Layer), KIND_PRODUCT)
    spread(&work, operands, MOST)
    optional_operand(&work, &t.x, x)
    optional_operand(&work, &t.h, h)
    optional_operand(&work, &t.c, c)
    optional_operand(&work, &t.w_ih, w_ih)
    optional_operand(&work, &t.w_hh, w_hh)
    optional_operand(&work, &t.b_ih, b_ih)
    optional_operand(&work, &t.b_hh, b_hh)
    optional_operand(&work, &t.w_hr, w_hr)
    optional_operand(&work, <const char**>&t.sizes, batch_sizes)
    set_output(&work, &t.out, out)
    set_output(&work, &t.hy, hy)
    set_output(&work, &t.cy, cy)
    set_output(&work, &t.ws, gates)
    launch(&work, forward, work_of(&t))
    return check_layer(&t, "recurrent layer")


cdef int layer_backward(
        Tensor g_x, Tensor g_h, Tensor g_c, Tensor g_ih, Tensor g_hh, Tensor g_bi, Tensor g_bh,
        Tensor g_hr, Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h, Tensor c,
        Tensor w_ih, Tensor w_hh, Tensor w_hr, Tensor batch_sizes, Tensor out, Tensor gates,
        Py_ssize_t mode, Py_ssize_t wanted) except -1:
    cdef Layer t
    cdef Launch work
    cdef Operand[MOST] operands
    x, h, w_ih, w_hh = contiguous(x), contiguous(h), contiguous(w_ih), contiguous(w_hh)
    c, w_hr, batch_sizes = dense(c), dense(w_hr), dense(batch_sizes)
    out, gates = contiguous(out), contiguous(gates)
    g_out, g_hy, g_cy = dense(g_out), dense(g_hy), dense(g_cy)
    plan_layer(&t, x, h, w_ih, w_hh, batch_sizes, mode)
    t.wanted = wanted
    ensure_gemm(x.dt)
    begin(&work, "recurrent_backward", &t, sizeof(Layer), KIND_PRODUCT)
    spread(&work, operands, MOST)
    optional_operand(&work, &t.g_out, g_out)
    optional_operand(&work, &t.g_hy, g_hy)
    optional_operand(&work, &t.g_cy, g_cy)
    optional_operand(&work, &t.x, x)
    optional_operand(&work, &t.h, h)
    optional_operand(&work, &t.c, c)
    optional_operand(&work, &t.w_ih, w_ih)
    optional_operand(&work, &t.w_hh, w_hh)
    optional_operand(&work, &t.w_hr, w_hr)
    optional_operand(&work, <const char**>&t.sizes, batch_sizes)
    optional_operand(&work, <const char**>&t.out, out)
    optional_operand(&work, <const char**>&t.ws, gates)
    set_output(&work, &t.g_x, g_x)
    set_output(&work, &t.g_h, g_h)
    set_output(&work, &t.g_c, g_c)
    set_output(&work, &t.g_ih, g_ih)
    set_output(&work, &t.g_hh, g_hh)
    set_output(&work, &t.g_bi, g_bi)
    set_output(&work, &t.g_bh, g_bh)
    set_output(&work, &t.g_hr, g_hr)
    launch(&work, backward, 2 * work_of(&t))
    return check_layer(&t, "recurrent layer, backward")
