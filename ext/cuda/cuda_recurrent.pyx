# cython: language_level=3
# build: plain cold
"""Recurrent layers on CUDA devices, in one direction: as on the CPU (ext/kernels/recurrent.pyx).

The inputs of all steps go through one product. Then each step is a product of its state and one
launch that makes the gates and the new state. Backward, a step is a launch that makes the gradients
of its sums and a product that carries them to the state before; those of weights and inputs are
products over all steps.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_products cimport multiply
from autograd_cy._C.cuda_reduce cimport OP_SUM, reduce, set_divisor
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_F64, DT_SIZE
from autograd_cy._C.iterate cimport contiguous, copy_into
from autograd_cy._C.rules_recurrent cimport (
    OF_BH, OF_BI, OF_HH, OF_HR, OF_IH, OF_X, R_GRU, R_LSTM, R_RELU, R_REVERSE, gates_of,
    workspace_columns)
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, tensor_empty_on

cdef extern from "device/product_arguments.h" nogil:
    pass

cdef extern from "device/recurrent_arguments.h" nogil:
    enum:
        AG_RECURRENT_THREADS
    ctypedef struct ag_wide_divisor:
        pass
    ctypedef struct ag_cell_args:
        void* sums
        const void* others
        const void* b_ih
        const void* b_hh
        const void* before
        void* cell
        void* h
        void* state
        ag_wide_divisor n
        uint64_t rows, ld
        uint32_t relu
    ctypedef struct ag_two_places:
        const void* first
        const void* rest
        uint64_t count, apart
    ctypedef struct ag_cell_back_args:
        const void* gates
        ag_two_places grad
        const void* grad_out
        ag_two_places grad_cell
        ag_two_places before
        ag_two_places state
        void* grad_sums
        void* grad_others
        void* grad_before
        void* h
        void* last
        ag_wide_divisor n
        uint64_t rows, ld
        uint32_t relu
    ctypedef struct ag_state_rows_args:
        void* out
        ag_two_places a
        const void* b
        void* last
        ag_two_places state
        ag_wide_divisor n
        uint64_t rows

cdef enum:
    LSTM_FORWARD, GRU_FORWARD, PLAIN_FORWARD
    LSTM_BACKWARD, GRU_BACKWARD, PLAIN_BACKWARD
    STATE_ROWS

cdef int[7][2] kernels      # by step, of float32 and of float64
for _k, _name in enumerate(("lstm_forward", "gru_forward", "plain_forward", "lstm_backward",
                            "gru_backward", "plain_backward", "state_rows")):
    kernels[<int>_k][0] = kernel_id("recurrent", f"{_name}_f32")
    kernels[<int>_k][1] = kernel_id("recurrent", f"{_name}_f64")

cdef const char* OP = "recurrent"


cdef struct Layer:
    int dt
    int device
    int index
    stream_t stream
    Py_ssize_t mode
    bint reverse
    bint single              # one step, whose output is the state
    Py_ssize_t item
    Py_ssize_t steps
    Py_ssize_t batch
    Py_ssize_t rows          # of all steps
    Py_ssize_t size          # of inputs
    Py_ssize_t n             # of a gate
    Py_ssize_t state         # of h; not n if there is a projection
    Py_ssize_t gates         # columns of the sums
    Py_ssize_t columns       # columns of the workspace
    const int64_t* sizes     # NULL: all steps have `batch` rows
    ag_wide_divisor by_n
    ag_wide_divisor by_state


cdef void plan_layer(Layer* t, Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor batch_sizes,
                     Py_ssize_t mode) noexcept:
    cdef int d
    memset(t, 0, sizeof(Layer))
    t.dt = x.dt
    t.device = x.mem.device
    t.index = device_index(t.device)
    t.stream = current_stream(t.device)
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
    set_divisor(&t.by_n, max(t.n, <Py_ssize_t>1))
    set_divisor(&t.by_state, max(t.state, <Py_ssize_t>1))
    if batch_sizes is not None:
        t.steps = batch_sizes.count
        t.sizes = <const int64_t*>batch_sizes.ptr
    else:
        t.steps = 1 if t.single else x.sizes[0]


cdef inline Py_ssize_t batch_at(const Layer* t, Py_ssize_t step) noexcept:
    return t.batch if t.sizes == NULL else t.sizes[step]


cdef inline int gemm(const Layer* t, bint turn_a, bint turn_b, Py_ssize_t m, Py_ssize_t n,
                     Py_ssize_t k, const void* a, Py_ssize_t lda, const void* b, Py_ssize_t ldb,
                     bint add, void* c, Py_ssize_t ldc) except -1:
    return multiply(OP, t.dt, t.device, turn_a, turn_b, m, n, k, a, lda, b, ldb, add, c, ldc)


cdef int launch_cell(const Layer* t, int kernel, Py_ssize_t n, const void* args,
                     Py_ssize_t size) except -1:
    if n == 0:
        return 0
    return launch(kernels[kernel][t.dt == DT_F64], t.index, t.stream,
                  blocks_for(t.index, n, AG_RECURRENT_THREADS), 1, 1, AG_RECURRENT_THREADS, 1, 1, 0,
                  args, size)


cdef inline Tensor dense(Tensor t):
    return None if t is None else contiguous(t)


cdef inline char* address(Tensor t) noexcept:
    return NULL if t is None or t.count == 0 else t.ptr


cdef inline Tensor matrix(const Layer* t, Py_ssize_t rows, Py_ssize_t columns):
    cdef Py_ssize_t[2] sizes
    sizes[0], sizes[1] = rows, columns
    return tensor_empty_on(t.device, t.dt, 2, sizes, NULL)


cdef inline void places(ag_two_places* p, const void* first, Py_ssize_t count, Py_ssize_t apart,
                        const void* rest) noexcept:
    p.first, p.count, p.apart, p.rest = first, count, apart, rest


# --- forward ----------------------------------------------------------------------------------

cdef int layer(
        Tensor out, Tensor hy, Tensor cy, Tensor gates, Tensor x, Tensor h, Tensor c, Tensor w_ih,
        Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor w_hr, Tensor batch_sizes,
        Py_ssize_t mode) except -1:
    cdef Layer t
    cdef ag_cell_args args
    cdef ag_state_rows_args rest
    cdef Scratch others = None, raw = None
    cdef Py_ssize_t k, step, rows, at = 0, ld, width
    cdef int kernel = PLAIN_FORWARD
    cdef const char* before
    cdef char* sums
    cdef bint grows                # sequences begin at later steps
    batch_sizes = dense(batch_sizes)
    plan_layer(&t, x, h, w_ih, w_hh, batch_sizes, mode)
    x, h, w_ih, w_hh = contiguous(x), contiguous(h), contiguous(w_ih), contiguous(w_hh)
    c, b_ih, b_hh, w_hr = dense(c), dense(b_ih), dense(b_hh), dense(w_hr)
    ld = t.columns if t.columns else t.gates
    width = t.item * t.state
    memset(&args, 0, sizeof(args))
    args.b_ih, args.b_hh = address(b_ih), address(b_hh)
    args.n = t.by_n
    args.ld = ld
    args.relu = t.mode == R_RELU
    args.cell = address(cy)
    if t.mode == R_GRU:
        kernel = GRU_FORWARD
        others = scratch(t.index, max(t.batch * t.gates * t.item, <Py_ssize_t>1), t.stream)
        args.others = others.data
    elif t.mode == R_LSTM:
        kernel = LSTM_FORWARD
    if w_hr is not None:
        raw = scratch(t.index, max(t.batch * t.n * t.item, <Py_ssize_t>1), t.stream)
    elif not t.single:
        args.state = address(hy)
    sums = gates.ptr if t.columns else out.ptr
    gemm(&t, False, True, t.rows, t.gates, t.size, x.ptr, t.size, w_ih.ptr, t.size, False, sums,
         ld)
    grows = t.reverse and t.sizes != NULL
    before = h.ptr
    args.before = address(c)
    if grows:
        copy_into(hy, h, "recurrent")
        before = hy.ptr
        if t.mode == R_LSTM:
            copy_into(cy, c, "recurrent")
            args.before = cy.ptr
    if t.reverse:
        at = t.rows
    for k in range(t.steps):
        step = t.steps - 1 - k if t.reverse else k
        rows = batch_at(&t, step)
        if t.reverse:
            at -= rows
        args.rows = rows
        args.sums = sums + at * ld * t.item
        args.h = out.ptr + at * width if raw is None else raw.data
        if t.mode == R_GRU:
            gemm(&t, False, True, rows, t.gates, t.state, before, t.state, w_hh.ptr, t.state,
                 False, others.data, t.gates)
            args.before = before
        else:
            gemm(&t, False, True, rows, t.gates, t.state, before, t.state, w_hh.ptr, t.state,
                 True, args.sums, ld)
        launch_cell(&t, kernel, rows * t.n, &args, sizeof(args))
        if t.mode == R_LSTM:
            args.before = cy.ptr
        if raw is not None:
            gemm(&t, False, True, rows, t.state, t.n, raw.data, t.n, w_hr.ptr, t.n, False,
                 out.ptr + at * width, t.state)
            # States that are the last ones of their sequences, or are carried on.
            if not t.single and (t.sizes != NULL or k == t.steps - 1):
                memset(&rest, 0, sizeof(rest))
                rest.out = hy.ptr
                places(&rest.a, out.ptr + at * width, rows, t.state, NULL)
                rest.n, rest.rows = t.by_state, rows
                launch_cell(&t, STATE_ROWS, rows * t.state, &rest, sizeof(rest))
        if not grows:
            before = out.ptr + at * width
        if not t.reverse:
            at += rows
    return 0


# --- backward ---------------------------------------------------------------------------------

cdef int layer_backward(
        Tensor g_x, Tensor g_h, Tensor g_c, Tensor g_ih, Tensor g_hh, Tensor g_bi, Tensor g_bh,
        Tensor g_hr, Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h, Tensor c,
        Tensor w_ih, Tensor w_hh, Tensor w_hr, Tensor batch_sizes, Tensor out, Tensor gates,
        Py_ssize_t mode, Py_ssize_t wanted) except -1:
    cdef Layer t
    cdef ag_cell_back_args args
    cdef ag_state_rows_args sum
    cdef Py_ssize_t k, step, rows, before, at, at_before, width, n, known = 0
    cdef int kernel = PLAIN_BACKWARD
    cdef Tensor d, s, last = None, raw = None, drawn = None, dh = None
    batch_sizes = dense(batch_sizes)
    plan_layer(&t, x, h, w_ih, w_hh, batch_sizes, mode)
    x, h, w_ih, w_hh = contiguous(x), contiguous(h), contiguous(w_ih), contiguous(w_hh)
    c, w_hr, out, gates = dense(c), dense(w_hr), contiguous(out), contiguous(gates)
    g_out, g_hy, g_cy = dense(g_out), dense(g_hy), dense(g_cy)
    width, n = t.item * t.state, t.item * t.n
    d = s = matrix(&t, t.rows, t.gates)        # gradients of the sums, and of the state's part
    if wanted & OF_HH:
        last = matrix(&t, t.rows, t.state)     # the state before each step
    memset(&args, 0, sizeof(args))
    memset(&sum, 0, sizeof(sum))
    args.n, args.ld, args.relu = t.by_n, t.columns, t.mode == R_RELU
    sum.n = t.by_state
    if t.mode == R_LSTM:
        kernel = LSTM_BACKWARD
        args.grad_before = g_c.ptr
    elif t.mode == R_GRU:
        kernel = GRU_BACKWARD
        args.grad_before = g_h.ptr
        s = matrix(&t, t.rows, t.gates)
    if w_hr is not None:
        drawn = matrix(&t, t.rows, t.state)    # gradients of the states behind the projection,
        dh = matrix(&t, t.batch, t.n)          # before it,
        raw = matrix(&t, t.rows, t.n)          # and the states there
    # From the step that was last: forward ended with the last rows, reverse with the first. The
    # first `known` rows have had a step.
    at = 0 if t.reverse else t.rows
    for k in range(t.steps):
        step = k if t.reverse else t.steps - 1 - k
        rows = batch_at(&t, step)
        if not t.reverse:
            at -= rows
        # The step before it in time has its rows next to these; what it has not comes from h and c.
        if k == t.steps - 1:
            before, at_before = 0, 0
        elif t.reverse:
            before, at_before = min(rows, batch_at(&t, step + 1)), at + rows
        else:
            before = rows
            at_before = at - batch_at(&t, step - 1)
        args.rows = rows
        places(&args.state, out.ptr + at_before * width, before, t.state, h.ptr)
        args.last = NULL if last is None else last.ptr + at * width
        places(&args.grad, g_h.ptr, known, t.state, address(g_hy))
        args.grad_out = NULL if g_out is None else g_out.ptr + at * width
        args.grad_sums = d.ptr + at * t.gates * t.item
        args.grad_others = s.ptr + at * t.gates * t.item
        args.gates = gates.ptr + at * t.columns * t.item if t.columns else out.ptr + at * width
        if t.mode == R_LSTM:
            places(&args.before, gates.ptr + (at_before * t.columns + 4 * t.n) * t.item, before,
                   t.columns, c.ptr)
            places(&args.grad_cell, g_c.ptr, known, t.n, address(g_cy))
        if w_hr is not None:
            sum.rows = rows
            sum.out = drawn.ptr + at * width
            sum.a, sum.b = args.grad, args.grad_out
            sum.last, sum.state = args.last, args.state
            launch_cell(&t, STATE_ROWS, rows * t.state, &sum, sizeof(sum))
            gemm(&t, False, False, rows, t.n, t.state, sum.out, t.state, w_hr.ptr, t.n, False,
                 dh.ptr, t.n)
            places(&args.grad, dh.ptr, rows, t.n, NULL)
            args.grad_out = args.last = NULL
            args.h = raw.ptr + at * n
        launch_cell(&t, kernel, rows * t.n, &args, sizeof(args))
        gemm(&t, False, False, rows, t.state, t.gates, args.grad_others, t.gates, w_hh.ptr,
             t.state, t.mode == R_GRU, g_h.ptr, t.state)
        known = max(known, rows)
        if t.reverse:
            at += rows
    if wanted & OF_X:
        gemm(&t, False, False, t.rows, t.size, t.gates, d.ptr, t.gates, w_ih.ptr, t.size, False,
             g_x.ptr, t.size)
    if wanted & OF_IH:
        gemm(&t, True, False, t.gates, t.size, t.rows, d.ptr, t.gates, x.ptr, t.size, False,
             g_ih.ptr, t.size)
    if wanted & OF_HH:
        gemm(&t, True, False, t.gates, t.state, t.rows, s.ptr, t.gates, last.ptr, t.state, False,
             g_hh.ptr, t.state)
    if wanted & OF_HR:
        gemm(&t, True, False, t.state, t.n, t.rows, drawn.ptr, t.state, raw.ptr, t.n, False,
             g_hr.ptr, t.n)
    if wanted & OF_BI:
        reduce(OP_SUM, d, b"\1\0", g_bi, None, 1, 0, False)
    if wanted & OF_BH:
        if wanted & OF_BI and s is d:
            copy_into(g_bh, g_bi, "recurrent")
        else:
            reduce(OP_SUM, s, b"\1\0", g_bh, None, 1, 0, False)
    return 0


KERNELS = {
    "_recurrent": PyCapsule_New(
        <void*>layer,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
        "Tensor, Tensor, Tensor, Py_ssize_t)", NULL),
    "_recurrent_backward": PyCapsule_New(
        <void*>layer_backward,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
        "Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
        "Py_ssize_t, Py_ssize_t)", NULL),
}
