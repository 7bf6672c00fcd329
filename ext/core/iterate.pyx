# cython: language_level=3
# build: openmp
"""Strided iteration and the elementwise drivers.

Every elementwise operator goes through ew1, ew2, ew3 or ewn: choose dtypes, broadcast, then run the
kernel's inner loop over pieces as long as possible. Loops over elements are in the generated kern
module; which of its three builds (baseline, AVX2, AVX-512) is used is decided at import.
"""
from cpython.ref cimport PyObject
from libc.string cimport memcpy, memset
from libc.stdint cimport int64_t, uint8_t, uint32_t
from autograd_cy._C.dtypes cimport (
    dt_category, dt_is_complex, dt_is_float, dt_is_limited, dt_promote, dt_real, dt_scalar_name,
    dt_to_complex, g_default_dtype, no_promotion, not_for_limited, DT_BOOL, DT_C128, DT_C64, DT_F16,
    DT_F32, DT_F64, DT_I64, DT_NONE, DT_SIZE, DT_U8, DTYPES)
from autograd_cy._C.cpu cimport TARGET_AVX512, target as simd_target
from autograd_cy._C.devices cimport (
    Elementwise, check_capture, device_among, device_cast, device_copy,
    device_elementwise, device_fill, services)
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.launch cimport (
    KIND_COPY, KIND_ELEMENTWISE, KIND_FILL, READS, WRITES, Launch, add_launch, add_range, begin,
    capturing, operand)
from autograd_cy._C.kernel_table cimport KT, KEEPS_FACTOR, kernel_number, loop_t
from autograd_cy._C.parallel cimport team_size, parallel_range, turn_round
from autograd_cy._C.out_places cimport (
    check_capacity, has_capacity, leave_base, of_sizes, other_device, take_order)
from autograd_cy._C.placement cimport MF_CONTIGUOUS, MF_PRESERVE, device_of_code
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport ON_CPU, ON_META, StorageImpl, device_type
from autograd_cy._C.tensor cimport (
    Tensor, F_DEVICE, F_STRIDED, F_WRAPPED, F_LAZY, F_CONJ, F_NEG, F_RAW, F_TURNED,
    tensor_on, tensor_turned, element_value,
    tensor_empty, tensor_empty_like, tensor_empty_on, tensor_window, preserved_strides,
    same_shape, sizes_of,
    check_holds, store_element, format_strides, tensor_has_overlap, tensor_is_dense,
    replace_storage, set_geometry, describe_tensor, upcalls, tls_modes,
    warn_once, M_GUARD_SAVED)


from autograd_cy._C._warned import warn as _warn

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX

cdef int K_ADD = kernel_number("add")
cdef int K_CONJ = kernel_number("conj")
cdef int K_COPY = kernel_number("copy")
cdef int K_NEG = kernel_number("neg")

cdef enum:
    RELEASE_GIL = 32768        # elements times cost: shorter work keeps the GIL
    F_ASIDE = F_STRIDED | F_WRAPPED | F_LAZY | F_DEVICE    # not for the shortest ways


# --- the loop over many dimensions ----------------------------------------------------------

cdef enum:
    ROW_BY_ROW = 0
    SIDE_BY_SIDE = 1       # Note [Short rows]
    MOVED_ROWS = 2         # a copy; one of the two is dense
    SAME_ROWS = 3          # all inputs are one element in a row
    TURNED = 4             # by tiles

cdef struct LoopPlan

ctypedef void (*tiled_t)(LoopPlan* plan, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil

cdef struct LoopPlan:
    loop_t loop
    int nargs
    int nd
    int way
    int order
    bint moves
    Py_ssize_t n
    float cost
    loop_t copy            # for SAME_ROWS
    tiled_t tiled          # of a way with tiles on the stack; by address, so that it isn't inlined
    Py_ssize_t item[5]     # bytes of an element
    Py_ssize_t shape[64]
    Py_ssize_t strides[5][64]
    char* p[5]


include "iterate/orders.pxi"
include "iterate/rows.pxi"


cdef void ordered_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """plan_range() in the plan's order."""
    cdef LoopPlan* plan = <LoopPlan*>ctx
    cdef char* q[5]
    cdef Py_ssize_t[5] step
    cdef Py_ssize_t start
    cdef int a
    if plan.order == FORWARDS:
        plan_range(plan, lo, hi)
    elif plan.nd == 1:
        for a in range(plan.nargs):
            step[a] = plan.strides[a][0]
            q[a] = plan.p[a] + lo * step[a]
        ordered_loop(plan.loop, plan.nargs, q, step, hi - lo, plan.order)
    else:
        start = lo + ((hi - lo - 1) & -ROWS_CHUNK)
        while start >= lo:
            plan_range(plan, start, min(hi, start + ROWS_CHUNK))
            start -= ROWS_CHUNK


cdef inline void whole_rows(LoopPlan* plan, char** q, const Py_ssize_t* step,
                            Py_ssize_t rows) noexcept nogil:
    """Rows of one dimension; leaves the operands at the row behind them."""
    cdef loop_t loop = plan.loop
    cdef Py_ssize_t inner = plan.shape[plan.nd - 1], _r
    cdef Py_ssize_t[5] down
    cdef int a, nargs = plan.nargs
    for a in range(nargs):
        down[a] = plan.strides[a][plan.nd - 2]
    for _r in range(rows):
        loop(q, step, inner)
        q[0] += down[0]
        q[1] += down[1]
        if nargs > 2:
            q[2] += down[2]
        for a in range(3, nargs):
            q[a] += down[a]


cdef void plan_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """Run elements lo..hi (in the plan's order) through the inner loop."""
    cdef LoopPlan* plan = <LoopPlan*>ctx
    cdef Py_ssize_t[64] index
    cdef char* q[5]
    cdef Py_ssize_t[5] step
    cdef Py_ssize_t inner = plan.shape[plan.nd - 1]
    cdef Py_ssize_t left = hi - lo, rest = lo, first, n
    cdef int d, a, last = plan.nd - 1
    if plan.way == SIDE_BY_SIDE or plan.way == TURNED:
        plan.tiled(plan, lo, hi)
        return
    if plan.way == MOVED_ROWS:
        move_range(plan, lo, hi)
        return
    for a in range(plan.nargs):
        q[a] = plan.p[a]
        step[a] = plan.strides[a][last]
    for d in range(last, -1, -1):
        index[d] = rest % plan.shape[d]
        rest = rest // plan.shape[d]
        for a in range(plan.nargs):
            q[a] += index[d] * plan.strides[a][d]
    first = index[last]
    while left > 0:
        if not first and left >= 2 * inner and last > 0 and plan.way == ROW_BY_ROW:
            # All rows but the last that differ in the dimension before alone.
            n = min(left // inner, plan.shape[last - 1] - index[last - 1]) - 1
            whole_rows(plan, q, step, n)
            index[last - 1] += n
            left -= n * inner
        n = inner - first
        if n > left:
            n = left
        if plan.way == SAME_ROWS:
            same_row(plan, q, step, n)
        else:
            plan.loop(q, step, n)
        left -= n
        if left <= 0:
            break
        # Back to the start of this row, then on to the next one.
        for a in range(plan.nargs):
            q[a] -= first * step[a]
        first = 0
        d = last - 1
        while d >= 0:
            index[d] += 1
            for a in range(plan.nargs):
                q[a] += plan.strides[a][d]
            if index[d] < plan.shape[d]:
                break
            for a in range(plan.nargs):
                q[a] -= plan.shape[d] * plan.strides[a][d]
            index[d] = 0
            d -= 1


cdef inline void one_range(LoopPlan* plan) noexcept nogil:
    # Tiles lie on the stack, of which a loop of parallel.pyx sees that there is enough.
    if plan.way == SIDE_BY_SIDE or plan.way == TURNED:
        parallel_range(ordered_range, plan, plan.n, 1)
    else:
        ordered_range(plan, 0, plan.n)


cdef void loop_whole(void* ctx) noexcept nogil:
    cdef LoopPlan* plan = <LoopPlan*>ctx
    cdef int threads = team_size(plan.n * plan.cost)
    if threads <= 1:
        one_range(plan)
    else:
        parallel_range(ordered_range, plan, plan.n, threads)


cdef int plan_order(LoopPlan* plan) noexcept:
    cdef Py_ssize_t[5] step
    cdef int a, d
    if plan.way == SAME_ROWS or plan.way == TURNED:
        return FORWARDS
    if plan.nd == 1:
        for a in range(plan.nargs):
            step[a] = plan.strides[a][0]
        return next_order(plan.nargs, plan.p, step, plan.n)
    for d in range(plan.nd):
        if plan.strides[0][d] == 0:
            return FORWARDS         # its elements are written again and again
    return turned_round() if plan.n >= 2 * ROWS_CHUNK else FORWARDS


cdef int capture_loop(LoopPlan* plan, StorageImpl** mem, const int* dts) except -1:
    """Copy what run_plan is about to do."""
    cdef Launch work
    cdef Py_ssize_t low, high, step
    cdef int a, d
    cdef bint copied = is_copy(plan.loop)
    begin(&work, "copy" if copied else "loop", plan, sizeof(LoopPlan),
          KIND_COPY if copied else KIND_ELEMENTWISE)
    work.run = loop_whole
    for a in range(plan.nargs):
        low, high = 0, DT_SIZE[dts[a]]
        for d in range(plan.nd):
            step = (plan.shape[d] - 1) * plan.strides[a][d]
            if step < 0:
                low += step
            else:
                high += step
        if mem[a] != NULL:
            low += plan.p[a] - mem[a].data
            high += plan.p[a] - mem[a].data
        add_range(&work, &plan.p[a], mem[a], READS if a else WRITES, dts[a],
                  1 if mem[a] == NULL else plan.n, low, high)
    return add_launch(&work)


cdef int run_plan(LoopPlan* plan, StorageImpl** mem, const int* dts) except -1:
    plan.order = FORWARDS if capturing() else plan_order(plan)
    if capturing():
        capture_loop(plan, mem, dts)
    if plan.n * plan.cost < RELEASE_GIL:
        one_range(plan)
        return 0
    with nogil:
        loop_whole(plan)
    return 0


cdef int run_loop(loop_t loop, int nargs, char** p, StorageImpl** mem, int ndim,
                  const Py_ssize_t* shape, Py_ssize_t** strides, const int* dts,
                  float cost) except -1:
    cdef LoopPlan plan
    cdef int[64] order
    cdef int i, j, a, nd = 0
    cdef Py_ssize_t n = 1
    cdef bint joined
    # Dimensions by the output's stride, outermost first; size 1 is left out.
    for i in range(ndim):
        n *= shape[i]
        if shape[i] == 1:
            continue
        j = nd
        while j > 0 and (strides[0][order[j - 1]] < strides[0][i]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        nd += 1
    if n == 0:
        return 0
    plan.loop = loop
    plan.nargs = nargs
    plan.nd = 0
    for i in range(nd):
        j = order[i]
        joined = plan.nd > 0
        if joined:
            for a in range(nargs):
                if plan.strides[a][plan.nd - 1] != strides[a][j] * shape[j]:
                    joined = False
                    break
        if joined:
            plan.shape[plan.nd - 1] *= shape[j]
            for a in range(nargs):
                plan.strides[a][plan.nd - 1] = strides[a][j]
        else:
            plan.shape[plan.nd] = shape[j]
            for a in range(nargs):
                plan.strides[a][plan.nd] = strides[a][j]
            plan.nd += 1
    if plan.nd == 0:
        plan.nd = 1
        plan.shape[0] = 1
        for a in range(nargs):
            plan.strides[a][0] = 0
    for a in range(nargs):
        plan.p[a] = p[a]
    plan.n = n
    plan.cost = cost
    plan.way = ROW_BY_ROW
    if n >= SIDE_LEAST:
        for a in range(nargs):
            plan.item[a] = DT_SIZE[dts[a]]
        plan.way = way_of(&plan)
        plan.tiled = turned_range if plan.way == TURNED else side_range
    return run_plan(&plan, mem, dts)


include "iterate/flat.pxi"
include "iterate/results.pxi"


# --- elementwise drivers --------------------------------------------------------------------

cdef object unsupported(int dt, str op):
    if dt_is_limited(dt):
        return not_for_limited(dt, op)
    return RuntimeError(
        f"\"{op}\" not implemented for '{dt_scalar_name(dt)}'; convert the operands with .to(dtype)"
    )


cdef object lacking(int dt, int device, str op):
    """The error where the CPU computes it and the device doesn't."""
    return NotImplementedError(
        f"{op}: there is no elementwise kernel of this operator for device "
        f"'{device_of_code(device)}' in {dt_scalar_name(dt)}; move the operands with .cpu()")


include "iterate/overlaps.pxi"


cdef bint number_is_cut(PyObject** args, int nin, int dt, bint factor):
    """
    Return whether a Python number among the operands isn't one of the half type `dt`.

    `factor`: the second operand may be a 0-d tensor. While it is captured nobody knows its value at
    the next run: it counts as one that isn't, which gives the same bits if it is.
    """
    cdef char[16] cell
    cdef char* qp[2]
    cdef Py_ssize_t[2] zero
    cdef Tensor t
    cdef int i
    zero[0] = zero[1] = 0
    for i in range(nin):
        t = <Tensor>args[i]
        if t.dt != dt and not t.flags & F_DEVICE and (
                t.flags & F_WRAPPED or (factor and i == 1 and t.nd == 0)):
            if not t.flags & F_WRAPPED and capturing():
                return True
            qp[0] = cell
            qp[1] = t.ptr
            KT.casts[t.dt][dt](qp, zero, 1)
            value = element_value(t.ptr, t.dt)
            if element_value(cell, dt) != value and value == value:
                return True
    return False


cdef Tensor through_single(int kernel, PyObject** args, int nin, int rule, Tensor out, int dt,
                           str op):
    """The operator on half types in float32, rounded once at the end."""
    cdef PyObject* wide[4]
    cdef list held = []
    cdef Tensor t
    cdef int i
    for i in range(nin):
        t = <Tensor>args[i]
        if not t.flags & F_WRAPPED:
            t = cast(t, DT_F32)
            held.append(t)
        wide[i] = <PyObject*>t
    t = cast(ew_general(kernel, wide, nin, rule, None, op), dt)
    if out is None:
        return t
    if out is <Tensor>args[0] and not same_shape(out, t):
        raise RuntimeError(
            f"{op}: output with shape {list(sizes_of(out))} doesn't match the broadcast shape "
            f"{list(sizes_of(t))}")
    return ew1(K_COPY, t, 0, out, op)


# An elementwise operation has two halves: `plan_elementwise` is the same for all devices, and
# `launch_elementwise` is what a device does.

cdef int launch_elementwise(Elementwise* e, int device) except -1:
    cdef Py_ssize_t* rows[5]
    cdef int i
    if device:
        return device_elementwise(e, device)
    for i in range(e.nargs):
        rows[i] = e.strides[i]
    return run_loop(KT.loops[e.kernel][e.dt], e.nargs, e.p, e.mem, e.nd, e.shape, rows, e.dts,
                    KT.cost[e.kernel])


cdef inline bint has_elementwise(int device, int kernel, int dt) noexcept:
    """Tell if the device computes this kernel in a dtype; one that doesn't say has the CPU's."""
    if device and services[device_type(device)].has_elementwise != NULL:
        return services[device_type(device)].has_elementwise(kernel, dt) != 0
    return KT.loops[kernel][dt] != NULL


cdef inline bint stays_single(Tensor t, int kernel, int place, int want) noexcept:
    """Tell if a number beside halves is to reach the kernel of a device as it is, in float32."""
    return is_half(want) and KT.keeps[kernel] != 0 and t.dt != want and (
        t.flags & F_WRAPPED or (KT.keeps[kernel] & KEEPS_FACTOR and place == 2 and t.nd == 0))


cdef int number_operand(Elementwise* e, int i, Tensor t, int want, char* cell) except -1:
    """The value of a tensor of one element, as a number of dtype `want` in `cell`."""
    cdef Py_ssize_t[2] zero
    cdef char* qp[2]
    cdef int d
    zero[0] = zero[1] = 0
    qp[0] = cell
    qp[1] = t.ptr
    KT.casts[t.dt][want](qp, zero, 1)
    e.p[i] = cell
    e.mem[i] = NULL
    e.dts[i] = want
    for d in range(e.nd):
        e.strides[i][d] = 0
    return 0


cdef Tensor plan_elementwise(Elementwise* e, char* cells, list held, PyObject** args, int nin,
                             int rule, int dt, int in_dt, int device, bint numbers, Tensor out,
                             str op):
    """
    Decide the result's dtype and memory and how operands are read; returns where the result goes.

    e.nd and e.shape are those of the operands broadcast. `cells` has 16 bytes for each operand,
    `held` keeps what was converted.
    """
    cdef Tensor t, target
    cdef int first = 1 if rule & P_SKIP_FIRST else 0
    cdef int i, d, shift, want, result_dt = dt
    cdef bint changed
    if rule & P_BOOL:
        result_dt = DT_BOOL
    elif rule & P_REAL:
        result_dt = dt_real(dt)
    target = None
    if out is not None:
        if dt_category(result_dt) > dt_category(out.dt):
            raise RuntimeError(
                f"{op}: result type {dt_scalar_name(result_dt)} can't be cast to the desired "
                f"output type {dt_scalar_name(out.dt)}"
            )
        changed = False             # an operand, in place
        for i in range(nin):
            changed = changed or out is <Tensor>args[i]
        if changed:
            for d in range(e.nd):
                if e.nd != out.nd or e.shape[d] != out.sizes[d]:
                    raise RuntimeError(
                        f"{op}: output with shape {list(sizes_of(out))} doesn't match the "
                        f"broadcast shape {[e.shape[i] for i in range(e.nd)]}"
                    )
        else:
            resize_like_operands(out, e, args, nin, device, op)
        check_writable(out, op)
        target = out if out.dt == result_dt else None
    for i in range(nin):
        t = <Tensor>args[i]
        want = DT_BOOL if i < first else in_dt
        if t.dt != want or t.mem.device != device:
            if t.count == 1 and not t.flags & F_DEVICE and (
                    t.flags & F_WRAPPED or device or not capturing()):
                if device and stays_single(t, e.kernel, i + 1, want):
                    want = DT_F32
                number_operand(e, i + 1, t, want, cells + 16 * i)
                continue
            t = cast(t, want)
            held.append(t)
        elif (
            out is not None and one_memory(t, out) and not same_window(t, out)
            and ranges_meet(t, out)
        ):
            # The output would overwrite what is still to be read.
            check_partial_overlap(out, t, op)
            if t.count == 1 and not t.flags & F_DEVICE and not capturing():
                number_operand(e, i + 1, t, want, cells + 16 * i)
                continue
            t = clone_plain(t)
            held.append(t)
        e.p[i + 1] = t.ptr
        e.mem[i + 1] = NULL if t.flags & F_WRAPPED else t.mem
        e.dts[i + 1] = want
        shift = e.nd - t.nd
        for d in range(e.nd):
            if d < shift or t.sizes[d - shift] == 1:
                e.strides[i + 1][d] = 0
            else:
                e.strides[i + 1][d] = t.strides[d - shift] * DT_SIZE[t.dt]
    if target is None:
        target = empty_for(result_dt, e.nd, e.shape, args, nin, device)
        if numbers:
            target.flags |= F_WRAPPED
    e.p[0] = target.ptr
    e.mem[0] = target.mem
    e.dts[0] = target.dt
    for d in range(e.nd):
        e.strides[0][d] = target.strides[d] * DT_SIZE[target.dt]
    return target


cdef inline int device_of_operands(PyObject** args, int nin, str op) except -1:
    """Agree on the device of the operands; `device_among` decides where they differ."""
    cdef int i, there, device = ON_CPU
    cdef bint host = False, apart = False
    for i in range(nin):
        there = (<Tensor>args[i]).mem.device
        if there == ON_CPU:
            host |= (<Tensor>args[i]).nd != 0
        elif device == ON_CPU:
            device = there
        else:
            apart |= there != device
    if apart or (host and device != ON_CPU):
        return device_among(tuple([<Tensor>args[i] for i in range(nin)]), op)
    if device != ON_CPU:
        check_capture(device, op)
    return device


cdef Tensor ew_general(int kernel, PyObject** args, int nin, int rule, Tensor out, str op):
    cdef Elementwise e
    cdef char cells[4 * 16]
    cdef Tensor target
    cdef list held = []            # keeps converted operands alive
    cdef int first = 1 if rule & P_SKIP_FIRST else 0
    cdef int i, dt, in_dt, device = 0
    cdef bint numbers
    cdef uint32_t flags = out.flags if out is not None else 0
    cdef uint32_t common = F_WRAPPED
    for i in range(nin):
        flags |= (<Tensor>args[i]).flags
        common &= (<Tensor>args[i]).flags
    if flags & F_LAZY:
        return ew_resolved(kernel, args, nin, rule, out, op)
    if flags & F_DEVICE:
        device = device_of_operands(args, nin, op)
        if out is not None and out.mem.device != device:
            raise other_device(out, device, op)
    e.nd = broadcast_args(args, nin, e.shape, op)
    numbers = common != 0
    dt = promote_numbers(args + first, nin - first) if numbers else promote_all(args, first, nin)
    if dt == DT_NONE:
        raise refused_promotion(args, first, nin)
    if rule & P_FLOAT and dt <= DT_I64:
        dt = DT_F64 if numbers else g_default_dtype
    # Loops of the CPU read numbers in the dtype that they compute in.
    if not device and is_half(dt) and KT.keeps[kernel] and number_is_cut(
            args, nin, dt, KT.keeps[kernel] & KEEPS_FACTOR != 0):
        return through_single(kernel, args, nin, rule, out, dt, op)
    in_dt = dt
    if rule & P_COMPLEX:
        if dt <= DT_I64:
            dt = DT_F64 if numbers else g_default_dtype
        in_dt = dt_real(dt)
        dt = dt_to_complex(dt)
    if not has_elementwise(device, kernel, dt):
        raise unsupported(dt, op) if KT.loops[kernel][dt] == NULL else lacking(dt, device, op)
    e.kernel = kernel
    e.dt = dt
    e.nargs = nin + 1
    target = plan_elementwise(&e, cells, held, args, nin, rule, dt, in_dt, device, numbers, out, op)
    launch_elementwise(&e, device)
    if out is not None and target is not out:
        copy_into(out, target, op)
        return out
    return target


cdef inline bint is_expanded(Tensor t) noexcept:
    cdef int d
    for d in range(t.nd):
        if t.strides[d] == 0 and t.sizes[d] > 1:
            return True
    return False


cdef Tensor empty_for(int dt, int nd, const Py_ssize_t* shape, PyObject** args, int n,
                      int device):
    """
    A fresh result; the order of dimensions follows the first operand of the full shape, but an
    expanded one says little of its own: rather the first of the others.
    """
    cdef int i, d
    cdef Tensor t, like = None
    cdef bint full
    for i in range(n):
        t = <Tensor>args[i]
        if t.nd != nd or nd == 0:
            continue
        full = True
        for d in range(nd):
            if t.sizes[d] != shape[d]:
                full = False
                break
        if full:
            if like is None or not is_expanded(t):
                like = t
            if not is_expanded(t):
                break
    if like is not None and like.flags & F_STRIDED and like.mem.device == device:
        return tensor_empty_like(like, dt)
    return tensor_empty_on(device, dt, nd, shape, NULL) if device else tensor_empty(dt, nd, shape)


cdef Tensor ew1(int kernel, Tensor a, int rule, Tensor out, str op):
    cdef FlatPlan plan
    cdef Tensor r
    cdef loop_t loop
    cdef int dt = a.dt
    cdef PyObject* args[1]
    if (out is None and not (a.flags & F_ASIDE)
            and not (rule & ~P_BOOL)):
        loop = KT.loops[kernel][dt]
        if loop == NULL:
            raise unsupported(dt, op)
        r = tensor_empty(DT_BOOL if rule & P_BOOL else dt, a.nd, a.sizes)
        flat_plan(&plan, 2, loop, KT.cost[kernel], r, a, dt)
        if capturing():
            capture_flat(&plan, r, a, None)
        run_flat(&plan)
        return r
    args[0] = <PyObject*>a
    if (out is None and rule & P_FLOAT and dt > DT_I64
            and not (a.flags & F_ASIDE)):
        return ew1(kernel, a, rule & ~P_FLOAT, None, op)
    return ew_general(kernel, args, 1, rule, out, op)


cdef inline bint takes_result(Tensor out, Tensor a) noexcept:
    """Return whether results like `a` go into `out` as it is (a plain one that isn't `a`)."""
    return (out.dt == a.dt and not out.flags & F_ASIDE and same_shape(out, a)
            and not tls_modes() & M_GUARD_SAVED)


cdef Tensor ew2_on_device(int kernel, Tensor a, Tensor b, int result_dt, str op):
    """Of one dtype, shape and device, both dense in C order: one dimension."""
    cdef Elementwise e
    cdef int device = a.mem.device
    cdef Tensor r
    check_capture(device, op)
    r = tensor_empty_on(device, result_dt, a.nd, a.sizes, NULL)
    e.kernel, e.dt, e.nargs, e.nd = kernel, a.dt, 3, 1
    e.shape[0] = a.count
    e.p[0], e.p[1], e.p[2] = r.ptr, a.ptr, b.ptr
    e.mem[0], e.mem[1], e.mem[2] = r.mem, a.mem, b.mem
    e.dts[0], e.dts[1], e.dts[2] = result_dt, a.dt, a.dt
    e.strides[0][0] = DT_SIZE[result_dt]
    e.strides[1][0] = e.strides[2][0] = DT_SIZE[a.dt]
    device_elementwise(&e, device)
    return r


cdef Tensor ew2(int kernel, Tensor a, Tensor b, int rule, Tensor out, str op):
    cdef FlatPlan plan
    cdef Tensor r
    cdef loop_t loop
    cdef int dt = a.dt
    cdef PyObject* args[2]
    cdef char[16] cell
    cdef char* qp[2]
    cdef Py_ssize_t[2] zero
    if (not (a.flags & F_ASIDE) and not (rule & ~(P_BOOL | P_FLOAT))
            and (not (rule & P_FLOAT) or dt > DT_I64)
            and (out is None or ((out is a or takes_result(out, a)) and not (rule & P_BOOL)
                                 and not out.mem.readonly))):
        loop = KT.loops[kernel][dt]
        if (
            dt == b.dt and not (b.flags & F_ASIDE) and loop != NULL
            and same_shape(a, b)
        ):
            # Same dtype, same shape, both dense: one flat loop.
            if out is not None and (
                    (out.ptr != a.ptr and ranges_meet(out, a))
                    or (out.ptr != b.ptr and ranges_meet(out, b))):
                args[0] = <PyObject*>a
                args[1] = <PyObject*>b
                return ew_general(kernel, args, 2, rule, out, op)
            r = (out if out is not None
                 else tensor_empty(DT_BOOL if rule & P_BOOL else dt, a.nd, a.sizes))
            flat_plan(&plan, 3, loop, KT.cost[kernel], r, a, dt)
            flat_third(&plan, b.ptr, plan.step[1])
            if capturing():
                capture_flat(&plan, r, a, b)
            run_flat(&plan)
            return r
        if (b.nd == 0 and loop != NULL and b.ptr != a.ptr and not b.flags & (F_LAZY | F_DEVICE)
                and not (b.dt != dt and capturing() and not b.flags & F_WRAPPED)
                and not (b.dt != dt and is_half(dt)) and (out is None or out is a)
                and (out is None or not one_memory(a, b))
                and (dt_category(b.dt) < dt_category(dt) or b.dt == dt
                     or (dt_category(b.dt) == dt_category(dt)
                         and (a.nd > 0 or b.flags & F_WRAPPED)))):
            # A number or 0-d tensor that doesn't change the dtype: stride 0.
            r = (out if out is not None
                 else tensor_empty(DT_BOOL if rule & P_BOOL else dt, a.nd, a.sizes))
            qp[0] = b.ptr
            if b.dt != dt:
                zero[0] = zero[1] = 0
                qp[0] = cell
                qp[1] = b.ptr
                KT.casts[b.dt][dt](qp, zero, 1)
            flat_plan(&plan, 3, loop, KT.cost[kernel], r, a, dt)
            flat_third(&plan, qp[0], 0)
            if capturing():
                capture_flat(&plan, r, a, None if b.flags & F_WRAPPED else b)
            run_flat(&plan)
            return r
    if (out is None and dt == b.dt and a.flags & b.flags & F_DEVICE
            and not (a.flags | b.flags) & (F_STRIDED | F_LAZY | F_WRAPPED)
            and a.mem.device == b.mem.device and not (rule & ~(P_BOOL | P_FLOAT))
            and (not (rule & P_FLOAT) or dt > DT_I64) and same_shape(a, b)
            and has_elementwise(a.mem.device, kernel, dt)):
        return ew2_on_device(kernel, a, b, DT_BOOL if rule & P_BOOL else dt, op)
    args[0] = <PyObject*>a
    args[1] = <PyObject*>b
    return ew_general(kernel, args, 2, rule, out, op)


cdef Tensor ew3(int kernel, Tensor a, Tensor b, Tensor c, int rule, Tensor out, str op):
    cdef PyObject* args[3]
    args[0] = <PyObject*>a
    args[1] = <PyObject*>b
    args[2] = <PyObject*>c
    return ew_general(kernel, args, 3, rule, out, op)


cdef Tensor ewn(int kernel, tuple operands, int rule, Tensor out, str op):
    cdef PyObject* args[4]
    cdef int i, n = len(operands)
    if n > 4:
        raise ValueError(f"{op}: an elementwise kernel has at most 4 inputs")
    for i in range(n):
        args[i] = <PyObject*>operands[i]
    return ew_general(kernel, args, n, rule, out, op)


include "iterate/copies.pxi"
include "iterate/fills.pxi"


cdef Tensor expand_plain(Tensor a, int ndim, const Py_ssize_t* shape, str op):
    """A stride-0 view of `a`; -1 keeps a size."""
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t[64] strides
    cdef int d, shift = ndim - a.nd
    if shift < 0:
        raise RuntimeError(
            f"{op}({describe_tensor(a)}, size={[shape[d] for d in range(ndim)]}): the number of "
            f"sizes provided ({ndim}) must be greater or equal to the number of dimensions in the "
            f"tensor ({a.nd})"
        )
    for d in range(ndim):
        if shape[d] < -1:
            raise RuntimeError(f"{op}: invalid size {shape[d]} in dimension {d}; -1 keeps a size")
        if d < shift:
            if shape[d] < 0:
                raise RuntimeError(
                    f"{op}: The expanded size of the tensor ({shape[d]}) isn't allowed in a "
                    f"leading, non-existing dimension {d}"
                )
            sizes[d] = shape[d]
            strides[d] = 0 if shape[d] != 1 else -1     # known when those behind it are
        elif shape[d] == -1 or shape[d] == a.sizes[d - shift]:
            sizes[d] = a.sizes[d - shift]
            strides[d] = a.strides[d - shift]
        elif a.sizes[d - shift] == 1:
            sizes[d] = shape[d]
            strides[d] = 0
        else:
            raise RuntimeError(
                f"{op}: The expanded size of the tensor ({shape[d]}) must match the existing size "
                f"({a.sizes[d - shift]}) at non-singleton dimension {d}. Target sizes: "
                f"{[shape[i] for i in range(ndim)]}. Tensor sizes: {list(sizes_of(a))}"
            )
    for d in range(shift - 1, -1, -1):
        if strides[d] < 0:
            strides[d] = sizes[d + 1] * strides[d + 1] if a.nd else 0
    return tensor_window(a, ndim, sizes, strides, 0)


include "iterate/resizing.pxi"
include "iterate/resolving.pxi"
