# cython: language_level=3
# build: plain cold
# What is done to gradients between backward and a step: a scaler of losses takes the scale out of
# them and finds the next one; clipping bounds their norm.

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.math cimport sqrt

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport (
    KIND_ELEMENTWISE, KIND_STEP, READS, UPDATES, WRITES, Launch, begin, launch, operand)
from autograd_cy._C.optimizer_loops cimport OptimizerTable
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.reduce cimport squares_into
from autograd_cy._C.shapes cimport select_plain
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_LAZY, Tensor, tensor_empty, tensor_is_dense

__all__: list[str] = []

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef enum:
    TILE = 16384       # elements


cdef struct ListPlan:
    char* found_inf        # float32: becomes 1 if an element isn't finite; NULL: nobody asks
    char* number           # the factor, a float32, or the norm that `bound` limits
    int number_dt
    bint bounded           # whether it is that
    double bound
    char* p
    int dt
    Py_ssize_t item
    Py_ssize_t n
    double factor          # known when the launch runs


cdef inline double factor_of(const ListPlan* plan) noexcept nogil:
    """The factor of gradients; a norm that isn't a number makes them that."""
    cdef float norm, factor
    cdef double wide
    if not plan.bounded:
        return (<float*>plan.number)[0]
    if plan.number_dt == DT_F64:
        wide = plan.bound / ((<double*>plan.number)[0] + 1e-6)
        return 1 if wide > 1 else wide
    norm = (<float*>plan.number)[0]
    factor = <float>plan.bound / (norm + <float>1e-6)
    return 1 if factor > 1 else factor


cdef void scale_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ListPlan* plan = <ListPlan*>ctx
    cdef Py_ssize_t at = tile * TILE, n = plan.n - at
    if n > TILE:
        n = TILE
    if not L.unscale(plan.dt, plan.p + at * plan.item, n, plan.factor) and plan.found_inf != NULL:
        (<float*>plan.found_inf)[0] = 1


cdef void run_scaled(void* ctx) noexcept nogil:
    cdef ListPlan* plan = <ListPlan*>ctx
    plan.factor = factor_of(plan)
    parallel_for(scale_tile, plan, parts(plan.n, TILE), team_size(1.5 * plan.n))


cdef int scaled(tuple grads, Tensor found_inf, Tensor number, bint bounded, double bound,
                str name) except -1:
    """Multiply all elements of a list by one factor."""
    cdef ListPlan plan
    cdef Launch work
    cdef Tensor t, u
    for t in grads:
        u = t if tensor_is_dense(t) and not t.flags & F_LAZY else contiguous(t)
        plan.dt = dt_real(t.dt)
        plan.item = DT_SIZE[plan.dt]
        plan.n = 2 * t.count if dt_is_complex(t.dt) else t.count
        plan.p, plan.number, plan.number_dt = u.ptr, number.ptr, number.dt
        plan.bounded, plan.bound = bounded, bound
        plan.found_inf = NULL if found_inf is None else found_inf.ptr
        if plan.n == 0:
            continue
        begin(&work, PyUnicode_AsUTF8(name), &plan, sizeof(plan), KIND_ELEMENTWISE)
        operand(&work, &plan.p, u, UPDATES)
        if found_inf is not None:
            operand(&work, &plan.found_inf, found_inf, UPDATES)
        operand(&work, &plan.number, number, READS)
        launch(&work, run_scaled, 1.5 * plan.n)
        if u is not t:
            copy_into(t, u, name)
    return 0


cdef int unscale(tuple grads, Tensor found_inf, Tensor inv_scale) except -1:
    """Gradients times `inv_scale`; where one isn't finite, found_inf becomes 1."""
    return scaled(grads, found_inf, inv_scale, False, 0, "unscale")


cdef int clip(tuple grads, Tensor total_norm, double max_norm) except -1:
    """Gradients times max_norm / (total_norm + 1e-6), if that is less than 1."""
    if total_norm.dt != DT_F64:
        total_norm = cast(total_norm, DT_F32)
    return scaled(grads, None, total_norm, True, max_norm, "clip")


cdef struct NormPlan:
    char* sums             # float32 or float64, as the result before it is rounded
    char* out
    int dt
    Py_ssize_t n


cdef void run_norm(void* ctx) noexcept nogil:
    cdef NormPlan* plan = <NormPlan*>ctx
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(plan.n):
        total += (<float*>plan.sums)[i] if plan.dt == DT_F32 else (<double*>plan.sums)[i]
    if plan.dt == DT_F32:
        (<float*>plan.out)[0] = <float>sqrt(total)
    else:
        (<double*>plan.out)[0] = sqrt(total)


cdef int total_norm(Tensor out, tuple tensors) except -1:
    """The square root of the sum of all squares; those of half types are added in float32."""
    cdef NormPlan plan
    cdef Launch work
    cdef int dt = DT_F64 if out.dt == DT_F64 else DT_F32
    cdef Py_ssize_t i, n = len(tensors)
    cdef Tensor sums = tensor_empty(dt, 1, &n), wide = out
    if out.dt != dt:
        wide = tensor_empty(dt, 0, NULL)
    for i in range(n):
        squares_into(<Tensor>select_plain(sums, 0, i), cast(<Tensor>tensors[i], dt), None, False)
    plan.sums, plan.out, plan.dt, plan.n = sums.ptr, wide.ptr, dt, n
    begin(&work, "norm of a list", &plan, sizeof(plan), KIND_STEP)
    operand(&work, &plan.sums, sums, READS)
    operand(&work, &plan.out, wide, WRITES)
    launch(&work, run_norm, n)
    if wide is not out:
        copy_into(out, wide, "norm")
    return 0


cdef struct ScalePlan:
    char* scale            # float32
    char* tracker          # int32
    char* found_inf        # float32
    double growth
    double backoff
    Py_ssize_t interval


cdef void run_scale(void* ctx) noexcept nogil:
    cdef ScalePlan* plan = <ScalePlan*>ctx
    cdef float* scale = <float*>plan.scale
    cdef int* tracker = <int*>plan.tracker
    cdef float grown
    if (<float*>plan.found_inf)[0] != 0:
        scale[0] = <float>(scale[0] * plan.backoff)
        tracker[0] = 0
    elif tracker[0] + 1 == plan.interval:
        grown = <float>(scale[0] * plan.growth)
        if grown - grown == 0:              # it is finite
            scale[0] = grown
        tracker[0] = 0
    else:
        tracker[0] += 1


cdef int update_scale(Tensor scale, Tensor growth_tracker, Tensor found_inf, double growth,
                      double backoff, Py_ssize_t interval) except -1:
    """The scale for the next losses, after steps without overflow or one with it."""
    cdef ScalePlan plan
    cdef Launch work
    plan.scale, plan.tracker, plan.found_inf = scale.ptr, growth_tracker.ptr, found_inf.ptr
    plan.growth, plan.backoff, plan.interval = growth, backoff, interval
    begin(&work, "scale of losses", &plan, sizeof(plan), KIND_STEP)
    operand(&work, &plan.scale, scale, UPDATES)
    operand(&work, &plan.tracker, growth_tracker, UPDATES)
    operand(&work, &plan.found_inf, found_inf, READS)
    return launch(&work, run_scale, 1)
