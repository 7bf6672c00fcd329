# One dimension: plans of dense operands of one shape, and of numbers (part of iterate.pyx).

cdef struct FlatPlan:
    loop_t loop
    int nargs
    int order
    Py_ssize_t n
    float cost
    char* p[5]
    Py_ssize_t step[5]


cdef void flat_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    cdef FlatPlan* plan = <FlatPlan*>ctx
    cdef char* q[5]
    cdef int a
    for a in range(plan.nargs):
        q[a] = plan.p[a] + lo * plan.step[a]
    ordered_loop(plan.loop, plan.nargs, q, plan.step, hi - lo, plan.order)


cdef void flat_whole(void* ctx) noexcept nogil:
    cdef FlatPlan* plan = <FlatPlan*>ctx
    cdef int threads = team_size(plan.n * plan.cost)
    if threads <= 1:
        flat_range(plan, 0, plan.n)
    else:
        parallel_range(flat_range, plan, plan.n, threads)


cdef int capture_flat(FlatPlan* plan, Tensor r, Tensor a, Tensor b) except -1:
    """Copy what run_flat is about to do. No tensor for an operand: the number at its address."""
    cdef Launch work
    cdef bint copied = is_copy(plan.loop)
    plan.order = FORWARDS
    begin(&work, "copy" if copied else "flat", plan, sizeof(FlatPlan),
          KIND_COPY if copied else KIND_ELEMENTWISE)
    work.run = flat_whole
    operand(&work, &plan.p[0], r, WRITES)
    operand(&work, &plan.p[1], a, READS)
    if plan.nargs > 2 and b is not None:
        operand(&work, &plan.p[2], b, READS)
    elif plan.nargs > 2:
        add_range(&work, &plan.p[2], NULL, READS, a.dt, 1, 0, DT_SIZE[a.dt])
    return add_launch(&work)


cdef inline int run_flat(FlatPlan* plan) noexcept:
    """One dimension, already known to be it."""
    plan.order = next_order(plan.nargs, plan.p, plan.step, plan.n)
    if plan.n * plan.cost < RELEASE_GIL:
        if plan.order == FORWARDS:
            if plan.n:
                plan.loop(plan.p, plan.step, plan.n)
        else:
            flat_range(plan, 0, plan.n)
        return 0
    with nogil:
        flat_whole(plan)
    return 0


cdef inline void flat_plan(FlatPlan* plan, int nargs, loop_t loop, float cost, Tensor r, Tensor a,
                           int dt) noexcept:
    """Fill the plan of a result and of an operand of dtype `dt`, both dense and of one shape."""
    plan.loop = loop
    plan.nargs = nargs
    plan.p[0] = r.ptr
    plan.p[1] = a.ptr
    plan.step[0] = DT_SIZE[r.dt]
    plan.step[1] = DT_SIZE[dt]
    plan.n = a.count
    plan.cost = cost


cdef inline void flat_third(FlatPlan* plan, char* p, Py_ssize_t step) noexcept:
    plan.p[2] = p
    plan.step[2] = step
