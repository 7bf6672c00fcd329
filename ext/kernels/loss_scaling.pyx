# cython: language_level=3
# build: plain cold
# What a scaler of losses does: take the scale out of gradients, and find the next one.

from cpython.pycapsule cimport PyCapsule_GetPointer

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_SIZE, dt_is_complex, dt_real
from autograd_cy._C.iterate cimport contiguous, copy_into
from autograd_cy._C.launch cimport KIND_STEP, READS, UPDATES, Launch, begin, launch, operand
from autograd_cy._C.optimizer_loops cimport OptimizerTable
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_LAZY, Tensor, tensor_is_dense

__all__: list[str] = []

cdef object _loops = _cpu.load("optimizer_loops")
cdef const OptimizerTable* L = <const OptimizerTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.optimizer_table")

cdef enum:
    TILE = 16384       # elements


cdef struct UnscalePlan:
    char* found            # float32
    char* factor           # float32
    char* p
    int dt
    Py_ssize_t item
    Py_ssize_t n


cdef void unscale_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef UnscalePlan* plan = <UnscalePlan*>ctx
    cdef Py_ssize_t at = tile * TILE, n = plan.n - at
    if n > TILE:
        n = TILE
    if not L.unscale(plan.dt, plan.p + at * plan.item, n, (<float*>plan.factor)[0]):
        (<float*>plan.found)[0] = 1


cdef void run_unscale(void* ctx) noexcept nogil:
    cdef UnscalePlan* plan = <UnscalePlan*>ctx
    parallel_for(unscale_tile, plan, parts(plan.n, TILE), team_size(1.5 * plan.n))


cdef int unscale(tuple grads, Tensor found_inf, Tensor inv_scale) except -1:
    """Gradients times `inv_scale`; where one isn't finite, found_inf becomes 1."""
    cdef UnscalePlan plan
    cdef Launch work
    cdef Tensor t, u
    for t in grads:
        u = t if tensor_is_dense(t) and not t.flags & F_LAZY else contiguous(t)
        plan.dt = dt_real(t.dt)
        plan.item = DT_SIZE[plan.dt]
        plan.n = 2 * t.count if dt_is_complex(t.dt) else t.count
        plan.p, plan.found, plan.factor = u.ptr, found_inf.ptr, inv_scale.ptr
        if plan.n == 0:
            continue
        begin(&work, "unscale", &plan, sizeof(plan), KIND_STEP)
        operand(&work, &plan.p, u, UPDATES)
        operand(&work, &plan.found, found_inf, UPDATES)
        operand(&work, &plan.factor, inv_scale, READS)
        launch(&work, run_unscale, 1.5 * plan.n)
        if u is not t:
            copy_into(t, u, "unscale")
    return 0


cdef struct ScalePlan:
    char* scale            # float32
    char* tracker          # int32
    char* found            # float32
    double growth
    double backoff
    Py_ssize_t interval


cdef void run_scale(void* ctx) noexcept nogil:
    cdef ScalePlan* plan = <ScalePlan*>ctx
    cdef float* scale = <float*>plan.scale
    cdef int* tracker = <int*>plan.tracker
    cdef float grown
    if (<float*>plan.found)[0] != 0:
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
    plan.scale, plan.tracker, plan.found = scale.ptr, growth_tracker.ptr, found_inf.ptr
    plan.growth, plan.backoff, plan.interval = growth, backoff, interval
    begin(&work, "scale of losses", &plan, sizeof(plan), KIND_STEP)
    operand(&work, &plan.scale, scale, UPDATES)
    operand(&work, &plan.tracker, growth_tracker, UPDATES)
    operand(&work, &plan.found, found_inf, READS)
    return launch(&work, run_scale, 1)
