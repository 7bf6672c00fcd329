# cython: language_level=3
# Negative log-likelihood and mean squared error of plain tensors, forward and backward.
# Sums are taken in double over tiles that depend on shapes alone.

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint16_t
from libc.string cimport memset

from autograd_cy._C.dtypes cimport DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE
from autograd_cy._C.faults cimport FAULT_NONE, FAULT_TARGET, Fault, fault_error, note_fault
from autograd_cy._C.iterate cimport P_SAME, cast, contiguous, copy_into, ew2
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport (
    KIND_REDUCE, READS, SCRATCH, WRITES, Launch, begin, launch, launch_tiles, may_fault, operand)
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.reduce cimport mean_into, row_table, sum_into
from autograd_cy._C.row_loops cimport RowTable
from autograd_cy._C.rules_loss cimport RED_MEAN, RED_NONE
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, same_shape, tensor_empty

cdef int K_MUL = kernel_number("mul")
cdef int K_SUB = kernel_number("sub")

cdef extern from "scalar/types.h" nogil:
    float ag_f16_to_f32(uint16_t)
    uint16_t ag_f32_to_f16(float)
    float ag_bf16_to_f32(uint16_t)
    uint16_t ag_f32_to_bf16(float)

cdef const RowTable* T = row_table()

cdef enum:
    TILE = 4096          # targets of one tile
    SMALL = 16           # tiles whose partial sums stay in the plan
    MSE_TILE = 32768


cdef inline double load_element(const char* p, int dt, Py_ssize_t i) noexcept nogil:
    if dt == DT_F32:
        return (<const float*>p)[i]
    if dt == DT_F64:
        return (<const double*>p)[i]
    if dt == DT_F16:
        return ag_f16_to_f32((<const uint16_t*>p)[i])
    return ag_bf16_to_f32((<const uint16_t*>p)[i])


cdef inline void store(char* p, int dt, Py_ssize_t i, double x) noexcept nogil:
    if dt == DT_F32:
        (<float*>p)[i] = <float>x
    elif dt == DT_F64:
        (<double*>p)[i] = x
    elif dt == DT_F16:
        (<uint16_t*>p)[i] = ag_f32_to_f16(<float>x)
    else:
        (<uint16_t*>p)[i] = ag_f32_to_bf16(<float>x)


# --- negative log-likelihood ----------------------------------------------------------------

cdef struct NllPlan:
    Fault fault
    int dt
    const char* input
    const int64_t* target
    const char* weight       # NULL: all ones
    char* out                # losses, or their sum or mean; or the gradient of the input
    char* total              # sum of the weights
    const char* grad
    Py_ssize_t count         # targets
    Py_ssize_t classes
    Py_ssize_t inner         # targets of one sample
    Py_ssize_t ignore
    Py_ssize_t reduction
    Py_ssize_t tile          # samples (backward) or targets of a tile
    Py_ssize_t tiles
    double* partial          # of each tile: loss, sum of weights, first bad target or -1
    double[48] space         # the same for a few tiles; `partial` is NULL then


cdef inline bint bad_target(const NllPlan* plan, int64_t t) noexcept nogil:
    return (t < 0 or t >= plan.classes) and t != plan.ignore


cdef inline void note_target(NllPlan* plan, Py_ssize_t i) noexcept nogil:
    note_fault(&plan.fault, FAULT_TARGET, "nll_loss", plan.target[i], plan.classes, 0)


cdef void nll_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef NllPlan* plan = <NllPlan*>ctx
    cdef Py_ssize_t i = tile * plan.tile, stop = i + plan.tile, at
    cdef int64_t t
    cdef double w = 1, x, loss = 0, total = 0
    cdef double* partial = (&plan.space[0] if plan.partial == NULL else plan.partial) + 3 * tile
    if stop > plan.count:
        stop = plan.count
    partial[2] = -1
    for i in range(i, stop):
        t = plan.target[i]
        if t == plan.ignore:
            if plan.reduction == RED_NONE:
                store(plan.out, plan.dt, i, 0)
            continue
        if bad_target(plan, t):
            partial[2] = i
            break
        at = i * plan.classes + t
        if plan.inner != 1:
            at = (i // plan.inner * plan.classes + t) * plan.inner + i % plan.inner
        x = load_element(plan.input, plan.dt, at)
        if plan.weight != NULL:
            w = load_element(plan.weight, plan.dt, t)
        if plan.reduction == RED_NONE:
            store(plan.out, plan.dt, i, -x * w)
        else:
            loss += x * w
            total += w
    partial[0] = -loss
    partial[1] = total


cdef void nll_whole(void* ctx) noexcept nogil:
    """All tiles, then the sums."""
    cdef NllPlan* plan = <NllPlan*>ctx
    cdef double* partial = &plan.space[0] if plan.partial == NULL else plan.partial
    cdef double loss = 0, total = 0
    cdef Py_ssize_t k
    plan.fault.kind = FAULT_NONE
    if plan.reduction == RED_NONE:      # the losses are written at once: first the targets
        for k in range(plan.count):
            if bad_target(plan, plan.target[k]):
                note_target(plan, k)
                return
    if plan.tiles == 1:
        nll_tile(plan, 0)
    else:
        parallel_for(nll_tile, plan, plan.tiles, team_size(8.0 * plan.count))
    for k in range(plan.tiles):
        if partial[3 * k + 2] >= 0:
            note_target(plan, <Py_ssize_t>partial[3 * k + 2])
            return
        loss += partial[3 * k]
        total += partial[3 * k + 1]
    if plan.reduction == RED_MEAN:
        loss = loss / total
    if plan.reduction != RED_NONE:
        store(plan.out, plan.dt, 0, loss)
    store(plan.total, plan.dt, 0, 0 if plan.reduction == RED_NONE else total)


cdef void nll_backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef NllPlan* plan = <NllPlan*>ctx
    cdef Py_ssize_t samples = plan.count // plan.inner
    cdef Py_ssize_t n = tile * plan.tile, last = n + plan.tile, size, i, at
    cdef int64_t t
    cdef double w = 1, g = 0
    if plan.reduction != RED_NONE:
        g = load_element(plan.grad, plan.dt, 0)
    if plan.reduction == RED_MEAN:
        g /= load_element(plan.total, plan.dt, 0)
    if last > samples:
        last = samples
    size = plan.classes * plan.inner * DT_SIZE[plan.dt]
    memset(plan.out + n * size, 0, (last - n) * size)
    for i in range(n * plan.inner, last * plan.inner):
        t = plan.target[i]
        if t == plan.ignore or t < 0 or t >= plan.classes:
            continue
        at = i * plan.classes + t
        if plan.inner != 1:
            at = (i // plan.inner * plan.classes + t) * plan.inner + i % plan.inner
        if plan.weight != NULL:
            w = load_element(plan.weight, plan.dt, t)
        if plan.reduction == RED_NONE:
            g = load_element(plan.grad, plan.dt, i)
        store(plan.out, plan.dt, at, -w * g)


cdef int plan_targets(NllPlan* plan, Launch* work, const char* name, Tensor scores, Tensor target,
                      Tensor weight, Py_ssize_t reduction, Py_ssize_t ignore_index) except -1:
    """Prepare the arguments that both directions share; `scores` is of the input's shape, the
    others are dense."""
    cdef int d
    plan.dt = scores.dt
    plan.target = <const int64_t*>target.ptr
    plan.weight = NULL
    plan.count = target.count
    plan.classes = scores.sizes[0 if scores.nd == 1 else 1]
    plan.inner = 1
    for d in range(2, scores.nd):
        plan.inner *= scores.sizes[d]
    plan.ignore = ignore_index
    plan.reduction = reduction
    begin(work, name, plan, sizeof(NllPlan), KIND_REDUCE)
    operand(work, &plan.target, target, READS)
    if weight is not None:
        plan.weight = weight.ptr
        operand(work, &plan.weight, weight, READS)
    return 0


cdef int nll_loss_into(Tensor out, Tensor total_weight, Tensor input, Tensor target, Tensor weight,
                       Py_ssize_t reduction, Py_ssize_t ignore_index) except -1:
    cdef NllPlan plan
    cdef Launch work
    cdef Tensor partial
    cdef Py_ssize_t n
    target = contiguous(cast(target, DT_I64))
    weight = contiguous(weight) if weight is not None else None
    input = contiguous(input)
    plan_targets(&plan, &work, "nll_loss", input, target, weight, reduction, ignore_index)
    plan.input = input.ptr
    plan.out = out.ptr
    plan.total = total_weight.ptr
    plan.tile = TILE
    plan.tiles = parts(plan.count, TILE)
    plan.partial = NULL
    operand(&work, &plan.input, input, READS)
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.total, total_weight, WRITES)
    if plan.tiles > SMALL:
        n = 3 * plan.tiles
        partial = tensor_empty(DT_F64, 1, &n)
        plan.partial = <double*>partial.ptr
        operand(&work, &plan.partial, partial, SCRATCH)
    may_fault(&work, &plan.fault)
    launch(&work, nll_whole, 8.0 * plan.count)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


cdef int nll_loss_backward_into(Tensor out, Tensor grad, Tensor target, Tensor weight,
                                Tensor total_weight, Py_ssize_t reduction,
                                Py_ssize_t ignore_index) except -1:
    cdef NllPlan plan
    cdef Launch work
    cdef Py_ssize_t samples
    if out.count == 0:
        return 0
    target = contiguous(cast(target, DT_I64))
    weight = contiguous(weight) if weight is not None else None
    grad = contiguous(cast(grad, out.dt))
    total_weight = cast(total_weight, out.dt)
    plan_targets(&plan, &work, "nll_loss_backward", out, target, weight, reduction, ignore_index)
    plan.out = out.ptr
    plan.grad = grad.ptr
    plan.total = total_weight.ptr
    operand(&work, &plan.out, out, WRITES)
    operand(&work, &plan.grad, grad, READS)
    operand(&work, &plan.total, total_weight, READS)
    plan.tile = TILE // (plan.classes * plan.inner) + 1
    samples = plan.count // plan.inner
    return launch_tiles(&work, nll_backward_tile, parts(samples, plan.tile),
                        1.0 * out.count)


# --- mean squared error ---------------------------------------------------------------------

cdef struct MsePlan:
    int dt
    const char* a
    const char* b
    char* out
    Py_ssize_t count
    Py_ssize_t tiles
    bint mean
    double* partial          # of each tile
    double[16] space         # the same for a few; `partial` is NULL then


cdef void mse_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MsePlan* plan = <MsePlan*>ctx
    cdef Py_ssize_t at = tile * MSE_TILE * DT_SIZE[plan.dt]
    cdef Py_ssize_t n = plan.count - tile * MSE_TILE
    cdef double* partial = &plan.space[0] if plan.partial == NULL else plan.partial
    partial[tile] = T.distance[plan.dt](plan.a + at, plan.b + at, n if n < MSE_TILE else MSE_TILE)


cdef void mse_whole(void* ctx) noexcept nogil:
    cdef MsePlan* plan = <MsePlan*>ctx
    cdef double* partial = &plan.space[0] if plan.partial == NULL else plan.partial
    cdef double s = 0
    cdef Py_ssize_t k
    if plan.tiles == 1:
        mse_tile(plan, 0)
    else:
        parallel_for(mse_tile, plan, plan.tiles, team_size(plan.count))
    for k in range(plan.tiles):
        s += partial[k]
    if plan.mean:
        s = s / plan.count if plan.count else NAN
    store(plan.out, plan.dt, 0, s)


cdef void difference_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MsePlan* plan = <MsePlan*>ctx
    cdef Py_ssize_t at = tile * MSE_TILE * DT_SIZE[plan.dt]
    cdef Py_ssize_t n = plan.count - tile * MSE_TILE
    T.difference[plan.dt](plan.a + at, plan.b + at, plan.out + at,
                          n if n < MSE_TILE else MSE_TILE, 1)


cdef int mse_loss_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    cdef MsePlan plan
    cdef Launch work
    cdef Tensor d
    # Dense operands of one shape and one of the two dtypes that have loops.
    if not (a.dt == b.dt and (a.dt == DT_F32 or a.dt == DT_F64)
            and not ((a.flags | b.flags) & F_STRIDED) and same_shape(a, b)):
        return mse_in_steps(out, a, b, reduction)
    plan.dt = a.dt
    plan.a = a.ptr
    plan.b = b.ptr
    plan.out = out.ptr
    plan.count = a.count
    plan.tiles = parts(a.count, MSE_TILE)
    plan.mean = reduction == RED_MEAN
    plan.partial = NULL
    begin(&work, "mse_loss", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.b, b, READS)
    operand(&work, &plan.out, out, WRITES)
    if reduction == RED_NONE:
        launch_tiles(&work, difference_tile, plan.tiles, plan.count)
        ew2(K_MUL, out, out, P_SAME, out, "mse_loss")
        return 0
    if plan.tiles > SMALL:
        d = tensor_empty(DT_F64, 1, &plan.tiles)
        plan.partial = <double*>d.ptr
        operand(&work, &plan.partial, d, SCRATCH)
    return launch(&work, mse_whole, plan.count)


cdef int mse_in_steps(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    cdef Tensor d
    if reduction != RED_NONE and out.dt < DT_F32:
        # Halves: squares are rounded once, after the sum.
        d = tensor_empty(DT_F32, 0, NULL)
        mse_loss_into(d, cast(a, DT_F32), cast(b, DT_F32), reduction)
        return copy_into(out, d, "mse_loss")
    d = ew2(K_SUB, a, b, P_SAME, out if reduction == RED_NONE else None, "mse_loss")
    ew2(K_MUL, d, d, P_SAME, d, "mse_loss")
    if reduction == RED_NONE:
        return 0
    if reduction == RED_MEAN:
        return mean_into(out, d, None, False, -1)
    return sum_into(out, d, None, False, -1)
