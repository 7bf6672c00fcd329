# cython: language_level=3
# Negative log-likelihood and mean squared error of plain tensors, forward and backward.
# Sums are taken in double over tiles that depend on shapes alone.

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from autograd_cy._C.dtypes cimport DT_C64, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE, DT_U8
from autograd_cy._C.iterate cimport P_SAME, cast, contiguous, ew2
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.reduce cimport mean_plain, row_table, sum_plain
from autograd_cy._C.rows cimport RowTable
from autograd_cy._C.rules_common cimport scalar_name
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, same_shape, sizes_of, tensor_empty, wrap_double)
from autograd_cy._C.tiles cimport run_tiles

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
    SMALL = 16           # tiles whose partial sums stay on the stack
    MSE_TILE = 32768


cdef inline double load(const char* p, int dt, Py_ssize_t i) noexcept nogil:
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
    int dt
    const char* input
    const int64_t* target
    const char* weight       # NULL: all ones
    char* out                # losses (reduction none), or the gradient of the input
    const char* grad
    double scale             # backward with one gradient for all
    Py_ssize_t count         # targets
    Py_ssize_t classes
    Py_ssize_t inner         # targets of one sample
    long long ignore
    int reduction
    Py_ssize_t tile          # samples (backward) or targets of a tile
    double* loss             # partial sums per tile
    double* total
    Py_ssize_t* bad          # first target out of bounds in the tile, or -1


cdef void nll_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef NllPlan* plan = <NllPlan*>ctx
    cdef Py_ssize_t i = tile * plan.tile, stop = i + plan.tile, at
    cdef int64_t t
    cdef double w = 1, x, loss = 0, total = 0
    if stop > plan.count:
        stop = plan.count
    plan.bad[tile] = -1
    for i in range(i, stop):
        t = plan.target[i]
        if t == plan.ignore:
            if plan.reduction == RED_NONE:
                store(plan.out, plan.dt, i, 0)
            continue
        if t < 0 or t >= plan.classes:
            plan.bad[tile] = i
            break
        at = i * plan.classes + t
        if plan.inner != 1:
            at = (i // plan.inner * plan.classes + t) * plan.inner + i % plan.inner
        x = load(plan.input, plan.dt, at)
        if plan.weight != NULL:
            w = load(plan.weight, plan.dt, t)
        if plan.reduction == RED_NONE:
            store(plan.out, plan.dt, i, -x * w)
        else:
            loss += x * w
            total += w
    plan.loss[tile] = -loss
    plan.total[tile] = total


cdef void nll_backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef NllPlan* plan = <NllPlan*>ctx
    cdef Py_ssize_t samples = plan.count // plan.inner
    cdef Py_ssize_t n = tile * plan.tile, last = n + plan.tile, size, i, at
    cdef int64_t t
    cdef double w = 1, g = plan.scale
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
            w = load(plan.weight, plan.dt, t)
        if plan.reduction == RED_NONE:
            g = load(plan.grad, plan.dt, i)
        store(plan.out, plan.dt, at, -w * g)


cdef Tensor checked_target(Tensor target):
    if target.dt != DT_I64 and target.dt != DT_U8:
        raise RuntimeError(
            "nll_loss: expected target dtype to be Long or Byte (expected scalar type Long but "
            f"found {scalar_name(target.dt)})")
    return contiguous(cast(target, DT_I64))


cdef int check_nll_shapes(Tensor x, Tensor target) except -1:
    cdef int d
    if x.nd == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if x.nd == 1:
        if target.nd > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.count != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.count}")
        return 0
    if target.nd == 0 or x.sizes[0] != target.sizes[0]:
        raise ValueError(
            f"Expected input batch_size ({x.sizes[0]}) to match target batch_size "
            f"({target.sizes[0] if target.nd else 'none: the target is 0-d'}).")
    if x.nd == 2 and target.nd != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.nd != x.nd - 1:
        raise RuntimeError(
            f"nll_loss: expected a target of {x.nd - 1} dimensions, got shape "
            f"{list(sizes_of(target))} for input {list(sizes_of(x))}")
    for d in range(2, x.nd):
        if x.sizes[d] != target.sizes[d - 1]:
            raise RuntimeError(
                f"size mismatch (got input: {list(sizes_of(x))}, target: {list(sizes_of(target))})")
    return 0


cdef Tensor checked_weight(object weight, int dt, Py_ssize_t classes):
    cdef Tensor w
    if weight is None:
        return None
    w = <Tensor?>weight
    if w.nd != 1 or w.count != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(sizes_of(w))}")
    if w.dt != dt:
        raise RuntimeError(
            f"expected scalar type {scalar_name(dt)} but found {scalar_name(w.dt)}")
    return contiguous(w)


cdef int check_reduction(int reduction) except -1:
    if reduction < RED_NONE or reduction > RED_SUM:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return 0


cdef tuple nll_loss_plain(Tensor input, Tensor target, object weight, int reduction,
                          long long ignore_index):
    cdef NllPlan plan
    cdef double[2 * SMALL] sums
    cdef Py_ssize_t[SMALL] bad
    cdef double loss = 0, total = 0
    cdef Tensor w, out, total_weight
    cdef Py_ssize_t tiles, k
    cdef int64_t wrong = 0
    cdef bint found = False
    check_reduction(reduction)
    if input.dt <= DT_I64 or input.dt >= DT_C64:
        raise NotImplementedError(
            f'"nll_loss_out_frame" not implemented for \'{scalar_name(input.dt)}\'')
    check_nll_shapes(input, target)
    target = checked_target(target)
    plan.classes = input.sizes[0 if input.nd == 1 else 1]
    w = checked_weight(weight, input.dt, plan.classes)
    input = contiguous(input)
    if reduction == RED_NONE:
        out = tensor_empty(input.dt, target.nd if input.nd > 1 else 0, target.sizes)
    else:
        out = tensor_empty(input.dt, 0, NULL)
    total_weight = tensor_empty(input.dt, 0, NULL)
    plan.dt = input.dt
    plan.input = input.ptr
    plan.target = <const int64_t*>target.ptr
    plan.weight = NULL if w is None else w.ptr
    plan.out = out.ptr
    plan.count = target.count
    plan.inner = 1
    for k in range(2, input.nd):
        plan.inner *= input.sizes[k]
    plan.ignore = ignore_index
    plan.reduction = reduction
    plan.tile = TILE
    tiles = (plan.count + TILE - 1) // TILE
    plan.loss = sums
    plan.bad = bad
    if tiles > SMALL:
        plan.loss = <double*>malloc(tiles * (2 * sizeof(double) + sizeof(Py_ssize_t)))
        if plan.loss == NULL:
            raise MemoryError()
        plan.bad = <Py_ssize_t*>(plan.loss + 2 * tiles)
    plan.total = plan.loss + tiles
    run_tiles(nll_tile, &plan, tiles, 8.0 * plan.count)
    for k in range(tiles):
        if plan.bad[k] >= 0:
            wrong = plan.target[plan.bad[k]]
            found = True
            break
        loss += plan.loss[k]
        total += plan.total[k]
    if plan.loss != sums:
        free(plan.loss)
    if found:
        raise IndexError(f"Target {wrong} is out of bounds.")
    if reduction == RED_MEAN:
        loss = loss / total
    if reduction != RED_NONE:
        store(out.ptr, out.dt, 0, loss)
    store(total_weight.ptr, out.dt, 0, 0 if reduction == RED_NONE else total)
    return (out, total_weight)


cdef Tensor nll_loss_backward_plain(Tensor grad, Tensor target, object weight, Tensor total_weight,
                                    tuple input_shape, int dt, int reduction,
                                    long long ignore_index):
    cdef NllPlan plan
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor w, out
    cdef int d, nd = len(input_shape)
    cdef Py_ssize_t samples
    check_reduction(reduction)
    for d in range(nd):
        shape[d] = input_shape[d]
    out = tensor_empty(dt, nd, shape)
    check_nll_shapes(out, target)
    target = checked_target(target)
    plan.classes = shape[0 if nd == 1 else 1]
    w = checked_weight(weight, dt, plan.classes)
    grad = contiguous(cast(grad, dt))
    if reduction == RED_NONE and grad.count != target.count or (
            reduction != RED_NONE and grad.count != 1):
        raise RuntimeError(
            f"nll_loss_backward: grad of shape {list(sizes_of(grad))} doesn't match the loss")
    if out.count == 0:
        return out
    plan.dt = dt
    plan.target = <const int64_t*>target.ptr
    plan.weight = NULL if w is None else w.ptr
    plan.out = out.ptr
    plan.grad = grad.ptr
    plan.count = target.count
    plan.inner = 1
    for d in range(2, nd):
        plan.inner *= shape[d]
    plan.ignore = ignore_index
    plan.reduction = reduction
    plan.scale = 0
    if reduction != RED_NONE:
        plan.scale = load(grad.ptr, dt, 0)
    if reduction == RED_MEAN:
        plan.scale /= load(cast(total_weight, dt).ptr, dt, 0)
    plan.tile = TILE // (plan.classes * plan.inner) + 1
    samples = plan.count // plan.inner
    run_tiles(nll_backward_tile, &plan, (samples + plan.tile - 1) // plan.tile, 1.0 * out.count)
    return out


# --- mean squared error ---------------------------------------------------------------------

cdef struct MsePlan:
    int dt
    const char* a
    const char* b
    char* out
    Py_ssize_t count
    double scale
    double* partial


cdef void mse_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MsePlan* plan = <MsePlan*>ctx
    cdef Py_ssize_t at = tile * MSE_TILE * DT_SIZE[plan.dt]
    cdef Py_ssize_t n = plan.count - tile * MSE_TILE
    plan.partial[tile] = T.distance[plan.dt](plan.a + at, plan.b + at, n if n < MSE_TILE
                                             else MSE_TILE)


cdef void mse_backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef MsePlan* plan = <MsePlan*>ctx
    cdef Py_ssize_t at = tile * MSE_TILE * DT_SIZE[plan.dt]
    cdef Py_ssize_t n = plan.count - tile * MSE_TILE
    T.difference[plan.dt](plan.a + at, plan.b + at, plan.out + at,
                          n if n < MSE_TILE else MSE_TILE, plan.scale)


cdef inline bint plain_pair(Tensor a, Tensor b) noexcept:
    """Dense operands of one shape and one of the two dtypes that have a loop."""
    return (a.dt == b.dt and (a.dt == DT_F32 or a.dt == DT_F64)
            and not ((a.flags | b.flags) & F_STRIDED) and same_shape(a, b))


cdef Tensor mse_loss_plain(Tensor a, Tensor b, int reduction):
    cdef MsePlan plan
    cdef double[SMALL] space
    cdef double s = 0
    cdef Py_ssize_t tiles, k
    cdef Tensor d
    check_reduction(reduction)
    if reduction == RED_NONE or not plain_pair(a, b):
        d = ew2(K_SUB, a, b, P_SAME, None, "mse_loss")
        if d.dt <= DT_I64 or d.dt >= DT_C64:
            raise NotImplementedError(f'"mse_cpu" not implemented for \'{scalar_name(d.dt)}\'')
        if reduction != RED_NONE and d.dt < DT_F32:
            # Halves: squares are rounded once, after the sum.
            return cast(mse_loss_plain(cast(a, DT_F32), cast(b, DT_F32), reduction), d.dt)
        d = ew2(K_MUL, d, d, P_SAME, d, "mse_loss")
        if reduction == RED_MEAN:
            return mean_plain(d, None, False, -1)
        return d if reduction == RED_NONE else sum_plain(d, None, False, -1)
    plan.dt = a.dt
    plan.a = a.ptr
    plan.b = b.ptr
    plan.count = a.count
    tiles = (a.count + MSE_TILE - 1) // MSE_TILE
    plan.partial = space
    if tiles > SMALL:
        plan.partial = <double*>malloc(tiles * sizeof(double))
        if plan.partial == NULL:
            raise MemoryError()
    run_tiles(mse_tile, &plan, tiles, a.count)
    for k in range(tiles):
        s += plan.partial[k]
    if plan.partial != space:
        free(plan.partial)
    if reduction == RED_MEAN:
        s = s / a.count if a.count else NAN
    d = tensor_empty(a.dt, 0, NULL)
    store(d.ptr, d.dt, 0, s)
    return d


cdef Tensor mse_loss_backward_plain(Tensor grad, Tensor a, Tensor b, int reduction):
    cdef MsePlan plan
    cdef Tensor out
    cdef double scale = 2
    check_reduction(reduction)
    if reduction != RED_NONE and grad.count == 1 and plain_pair(a, b) and grad.dt == a.dt:
        out = tensor_empty(a.dt, a.nd, a.sizes)
        plan.dt = a.dt
        plan.a = a.ptr
        plan.b = b.ptr
        plan.out = out.ptr
        plan.count = a.count
        plan.scale = 2 * load(grad.ptr, grad.dt, 0)
        if reduction == RED_MEAN and a.count:
            plan.scale /= a.count
        run_tiles(mse_backward_tile, &plan, (a.count + MSE_TILE - 1) // MSE_TILE, a.count)
        return out
    out = ew2(K_SUB, a, b, P_SAME, None, "mse_loss_backward")
    if reduction == RED_MEAN and out.count:
        scale = scale / out.count
    out = ew2(K_MUL, out, grad, P_SAME, None, "mse_loss_backward")
    return ew2(K_MUL, out, wrap_double(scale), P_SAME, None, "mse_loss_backward")


def _call(str name, *args):
    """Diagnostic: call a C function of this module by name (without its suffix "_plain")."""
    if name == "nll_loss":
        return nll_loss_plain(args[0], args[1], args[2], args[3], args[4])
    if name == "nll_loss_backward":
        return nll_loss_backward_plain(
            args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7])
    if name == "mse_loss":
        return mse_loss_plain(args[0], args[1], args[2])
    if name == "mse_loss_backward":
        return mse_loss_backward_plain(args[0], args[1], args[2], args[3])
    raise ValueError(f"_call: no function {name!r} here")


cdef Tensor nll_backward(Tensor grad, Tensor target, Tensor weight, Tensor total_weight, tuple size,
                         Py_ssize_t reduction, Py_ssize_t ignore_index):
    return nll_loss_backward_plain(grad, target, weight, total_weight, size, grad.dt,
                                   <int>reduction, ignore_index)
