# cython: language_level=3
# build: plain cold
# Losses that are a sum of one number for each element, in one pass: the elementwise loop fills a
# block that stays in the cache, where its sum is taken. Half types are computed and summed in
# float32 and better; sums are taken in double over tiles that depend on shapes alone.

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE
from autograd_cy._C.faults cimport FAULT_NONE, FAULT_PROBABILITY, Fault, fault_error, note_fault
from autograd_cy._C.iterate cimport P_SAME, cast, contiguous, ew2, ew3, expand_plain
from autograd_cy._C.kernel_table cimport KT, kernel_number, loop_t
from autograd_cy._C.launch cimport (
    KIND_REDUCE, READS, SCRATCH, WRITES, Launch, begin, launch, may_fault, operand)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.reduce cimport row_table
from autograd_cy._C.row_loops cimport R_SUM, RowTable, rows_fn
from autograd_cy._C.rules_loss cimport RED_MEAN, RED_NONE
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport Tensor, same_shape, tensor_empty, wrap_double

cdef int K_MUL = kernel_number("mul")
cdef int K_L1 = kernel_number("l1_loss")
cdef int K_SMOOTH_L1 = kernel_number("smooth_l1_loss")
cdef int K_HUBER = kernel_number("huber_loss")
cdef int K_CROSS_ENTROPY = kernel_number("binary_cross_entropy")
cdef int K_LOGITS = kernel_number("logit_cross_entropy")
cdef int K_LOGITS_WEIGHTED = kernel_number("weighted_logit_cross_entropy")
cdef int K_KL_DIV = kernel_number("kl_div")
cdef int K_KL_DIV_LOG = kernel_number("kl_div_log")
cdef int K_SOFT_MARGIN = kernel_number("soft_margin_loss")

cdef const RowTable* T = row_table()

cdef enum:
    BLOCK = 1024         # elements whose losses stay in the first cache
    TILE = 16 * BLOCK
    SMALL = 8            # tiles whose sums stay in the plan

cdef struct LossPlan:
    Fault fault          # of elements that must be between 0 and 1, and aren't
    loop_t loop
    loop_t times
    loop_t widen         # from the half type to float32; NULL for the others
    loop_t narrow
    rows_fn total
    int dt               # of all tensors
    int width            # bytes of what is computed
    int terms            # tensors that the loop reads
    bint unit            # both must be between 0 and 1
    Py_ssize_t reduction
    Py_ssize_t count
    Py_ssize_t tiles
    const char* p[3]
    const char* weight   # NULL: all ones
    char* out
    double number        # in the computing type
    double cost          # of an element
    double* partial      # of each tile: its sum, and 1 or 2 if the first or second has such one
    double[16] space     # the same for a few tiles; `partial` is NULL then


cdef inline char* block_of(const LossPlan* plan, const char* p, Py_ssize_t at, Py_ssize_t n,
                           char* scratch) noexcept nogil:
    """The elements from `at` on, in the computing type."""
    cdef char* q[2]
    cdef Py_ssize_t s[2]
    if plan.widen == NULL:
        return <char*>p + at * plan.width
    q[0] = scratch
    q[1] = <char*>p + 2 * at
    s[0] = plan.width
    s[1] = 2
    plan.widen(q, s, n)
    return scratch


cdef bint outside(const LossPlan* plan, const char* p, Py_ssize_t n) noexcept nogil:
    """Return whether an element isn't between 0 and 1 (NaN isn't)."""
    cdef Py_ssize_t i
    cdef double x
    for i in range(n):
        x = (<const double*>p)[i] if plan.width == 8 else (<const float*>p)[i]
        if not (x >= 0 and x <= 1):
            return True
    return False


cdef void loss_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef LossPlan* plan = <LossPlan*>ctx
    cdef double[5][BLOCK] scratch
    cdef char* q[5]
    cdef Py_ssize_t s[5]
    cdef Py_ssize_t first = tile * TILE, stop = first + TILE, at, n, width = plan.width
    cdef double* partial = (&plan.space[0] if plan.partial == NULL else plan.partial) + 2 * tile
    cdef double total = 0, part
    cdef bint each = plan.reduction == RED_NONE
    cdef int k
    if stop > plan.count:
        stop = plan.count
    partial[1] = 0
    for at from first <= at < stop by BLOCK:
        n = stop - at if stop - at < BLOCK else BLOCK
        for k in range(plan.terms):
            q[k + 1] = block_of(plan, plan.p[k], at, n, <char*>scratch[k])
            s[k + 1] = width
        q[plan.terms + 1] = <char*>&plan.number
        s[plan.terms + 1] = 0
        q[0] = <char*>scratch[4]
        if each and plan.narrow == NULL:
            q[0] = plan.out + at * width
        s[0] = width
        plan.loop(q, s, n)
        if not each:
            plan.total(q[0], 1, 0, n, <char*>&part)
            # Whatever isn't between 0 and 1 has made it NaN.
            if plan.unit and partial[1] == 0:
                if part != part and outside(plan, q[1], n):
                    partial[1] = 1
                elif outside(plan, q[2], n):
                    partial[1] = 2
        if plan.weight != NULL:
            q[1] = q[0]
            q[2] = block_of(plan, plan.weight, at, n, <char*>scratch[3])
            s[1] = s[2] = width
            plan.times(q, s, n)
            if not each:
                plan.total(q[0], 1, 0, n, <char*>&part)
        if not each:
            total += part
        elif plan.narrow != NULL:
            q[1] = q[0]
            q[0] = plan.out + 2 * at
            s[0] = 2
            s[1] = width
            plan.narrow(q, s, n)
    partial[0] = total


cdef void unit_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Look for elements that aren't between 0 and 1."""
    cdef LossPlan* plan = <LossPlan*>ctx
    cdef double[BLOCK] scratch
    cdef Py_ssize_t first = tile * TILE, stop = min(first + TILE, plan.count), at, n
    cdef double* partial = (&plan.space[0] if plan.partial == NULL else plan.partial) + 2 * tile
    cdef int k
    partial[1] = 0
    for at from first <= at < stop by BLOCK:
        n = min(stop - at, <Py_ssize_t>BLOCK)
        for k in range(2):
            if partial[1] == 0 and outside(
                    plan, block_of(plan, plan.p[k], at, n, <char*>scratch), n):
                partial[1] = k + 1


cdef bint is_refused(LossPlan* plan) noexcept nogil:
    """Tell whether some tile has found an element that isn't between 0 and 1; it is noted."""
    cdef const double* partial = &plan.space[0] if plan.partial == NULL else plan.partial
    cdef Py_ssize_t k
    for k in range(plan.tiles):
        if partial[2 * k + 1] != 0:
            note_fault(&plan.fault, FAULT_PROBABILITY, NULL, 0, 0, <int64_t>partial[2 * k + 1])
            return True
    return False


cdef void loss_whole(void* ctx) noexcept nogil:
    """All tiles, then the sum."""
    cdef LossPlan* plan = <LossPlan*>ctx
    cdef double* partial = &plan.space[0] if plan.partial == NULL else plan.partial
    cdef char* q[2]
    cdef Py_ssize_t s[2]
    cdef double total = 0
    cdef Py_ssize_t k
    cdef int threads = team_size(plan.cost * plan.count) if plan.tiles > 1 else 1
    plan.fault.kind = FAULT_NONE
    if plan.unit and plan.reduction == RED_NONE:
        # The losses are written at once: nothing is before all elements were looked at.
        parallel_for(unit_tile, plan, plan.tiles, threads)
        if is_refused(plan):
            return
    parallel_for(loss_tile, plan, plan.tiles, threads)
    if plan.reduction == RED_NONE or is_refused(plan):
        return
    for k in range(plan.tiles):
        total += partial[2 * k]
    if plan.reduction == RED_MEAN:
        total = total / plan.count
    q[0] = plan.out
    q[1] = <char*>&total
    s[0] = s[1] = 0
    KT.casts[<int>DT_F64][plan.dt](q, s, 1)


cdef Tensor dense_as(Tensor t, int dt, Tensor like):
    """Return the tensor in C order, of this dtype and the shape of `like`."""
    t = cast(t, dt)
    if not same_shape(t, like):
        t = expand_plain(t, like.nd, like.sizes, "loss")
    return contiguous(t)


cdef int run_loss(Tensor out, int kernel, Tensor a, Tensor b, Tensor c, Tensor weight,
                  double number, bint unit, Py_ssize_t reduction, const char* name) except -1:
    """`c` and `weight` may be None; `number` comes after the tensors in loops that take one."""
    cdef LossPlan plan
    cdef Launch work
    cdef Tensor partial
    cdef Py_ssize_t n
    cdef int dt = out.dt, computed = DT_F32 if out.dt < DT_F32 else out.dt
    cdef float single = <float>number
    cdef double cost = KT.cost[kernel] + 1
    a = dense_as(a, dt, a)
    b = dense_as(b, dt, a)
    plan.terms = 2
    plan.p[0] = a.ptr
    plan.p[1] = b.ptr
    plan.p[2] = NULL
    if c is not None:
        c = dense_as(c, dt, a)
        plan.terms = 3
        plan.p[2] = c.ptr
    plan.weight = NULL
    if weight is not None:
        weight = dense_as(weight, dt, a)
        plan.weight = weight.ptr
    plan.loop = KT.loops[kernel][computed]
    plan.times = KT.loops[K_MUL][computed]
    plan.total = T.rows[R_SUM][computed]
    plan.widen = NULL if computed == dt else KT.casts[dt][<int>DT_F32]
    plan.narrow = NULL if computed == dt else KT.casts[<int>DT_F32][dt]
    plan.dt = dt
    plan.width = <int>DT_SIZE[computed]
    plan.unit = unit
    plan.reduction = reduction
    plan.count = a.count
    plan.tiles = parts(a.count, TILE)
    plan.out = out.ptr
    plan.number = number
    if computed == DT_F32:
        memcpy(&plan.number, &single, sizeof(single))
    plan.cost = cost
    plan.partial = NULL
    begin(&work, name, &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.p[0], a, READS)
    operand(&work, &plan.p[1], b, READS)
    if c is not None:
        operand(&work, &plan.p[2], c, READS)
    if weight is not None:
        operand(&work, &plan.weight, weight, READS)
    operand(&work, &plan.out, out, WRITES)
    if plan.tiles > SMALL:
        n = 2 * plan.tiles
        partial = tensor_empty(DT_F64, 1, &n)
        plan.partial = <double*>partial.ptr
        operand(&work, &plan.partial, partial, SCRATCH)
    may_fault(&work, &plan.fault)
    launch(&work, loss_whole, cost * plan.count)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


cdef int l1_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    if reduction == RED_NONE:
        ew2(K_L1, a, b, P_SAME, out, "l1_loss")
        return 0
    return run_loss(out, K_L1, a, b, None, None, 0, False, reduction, "l1_loss")


cdef int smooth_l1_into(Tensor out, Tensor a, Tensor b, double beta,
                        Py_ssize_t reduction) except -1:
    if reduction == RED_NONE:
        ew3(K_SMOOTH_L1, a, b, wrap_double(beta), P_SAME, out, "smooth_l1_loss")
        return 0
    return run_loss(out, K_SMOOTH_L1, a, b, None, None, beta, False, reduction,
                    "smooth_l1_loss")


cdef int huber_into(Tensor out, Tensor a, Tensor b, double delta, Py_ssize_t reduction) except -1:
    if reduction == RED_NONE:
        ew3(K_HUBER, a, b, wrap_double(delta), P_SAME, out, "huber_loss")
        return 0
    return run_loss(out, K_HUBER, a, b, None, None, delta, False, reduction, "huber_loss")


cdef int kl_div_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction,
                     bint log_target) except -1:
    cdef int kernel = K_KL_DIV_LOG if log_target else K_KL_DIV
    if reduction == RED_NONE:
        ew2(kernel, a, b, P_SAME, out, "kl_div")
        return 0
    return run_loss(out, kernel, a, b, None, None, 0, False, reduction, "kl_div")


cdef int soft_margin_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    if reduction == RED_NONE:
        ew2(K_SOFT_MARGIN, a, b, P_SAME, out, "soft_margin_loss")
        return 0
    return run_loss(out, K_SOFT_MARGIN, a, b, None, None, 0, False, reduction,
                    "soft_margin_loss")


cdef int cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight,
                            Py_ssize_t reduction) except -1:
    return run_loss(out, K_CROSS_ENTROPY, a, b, None, weight, 0, True, reduction,
                    "binary_cross_entropy")


cdef int logit_cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                  Py_ssize_t reduction) except -1:
    return run_loss(out, K_LOGITS if pos_weight is None else K_LOGITS_WEIGHTED, a, b, pos_weight,
                    weight, 0, False, reduction, "binary_cross_entropy_with_logits")
