# Groups of channels that lie side by side (part of norms.pyx): loops of columns give each channel
# its sums, a sample at a time, and those of a group are put together.

cdef inline double* sums_of(RowPlan* plan, Py_ssize_t s) noexcept nogil:
    """Room of sample s: two numbers and four factors a channel, behind those of group_sums."""
    return <double*>plan.partial + 2 * plan.rows * plan.per + 6 * s * plan.groups * plan.per


cdef void together_tile(void* ctx, Py_ssize_t s) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t group, c, channels = plan.groups * plan.per, place = s * plan.run * channels
    cdef const char* p = plan.p + place * plan.item
    cdef double* sums = sums_of(plan, s)
    cdef double* squares = sums + channels
    cdef char* means = <char*>(sums + 2 * channels)
    cdef char* scales = <char*>(sums + 3 * channels)
    cdef char* biases = <char*>(sums + 4 * channels)
    cdef double mean, spread, n = plan.run
    # The first element of each channel is its shift.
    T.column_moments[k](p, plan.run, channels, p, sums, squares)
    for group in range(plan.groups):
        mean = spread = 0
        for c in range(group * plan.per, (group + 1) * plan.per):
            squares[c] -= sums[c] * sums[c] / n
            sums[c] = element_at(k, p, c) + sums[c] / n
            mean += sums[c]
        mean /= plan.per
        for c in range(group * plan.per, (group + 1) * plan.per):
            spread += (squares[c] if squares[c] > 0 else 0) + n * (sums[c] - mean) ** 2
        spread = 1 / sqrt(spread / plan.n + plan.eps)
        store_as(k, plan.mean, s * plan.groups + group, mean)
        store_as(k, plan.spread, s * plan.groups + group, spread)
        for c in range(group * plan.per, (group + 1) * plan.per):
            store_as(k, means, c, mean)
            store_as(k, scales, c, spread * either(k, plan.weight, c, 1))
            store_as(k, biases, c, either(k, plan.bias, c, 0))
    T.column_scale[k](p, plan.out + place * plan.item, plan.run, channels, means, scales, biases)


cdef void together_back_tile(void* ctx, Py_ssize_t s) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t group, c, channels = plan.groups * plan.per, place = s * plan.run * channels
    cdef const char* g = plan.g + place * plan.item
    cdef const char* p = plan.p + place * plan.item
    cdef double* partial = <double*>plan.partial + 2 * s * channels
    cdef double* sums = sums_of(plan, s)
    cdef double* products = sums + channels
    cdef char* means = <char*>(sums + 2 * channels)
    cdef char* scales = <char*>(sums + 3 * channels)
    cdef char* constants = <char*>(sums + 4 * channels)
    cdef char* projections = <char*>(sums + 5 * channels)
    cdef double c0, c1, spread
    for c in range(channels):
        store_as(k, means, c, element_at(k, plan.means, s * plan.groups + c // plan.per))
    T.column_dots[k](g, p, plan.run, channels, means, sums, products)
    for group in range(plan.groups):
        c0 = c1 = 0
        for c in range(group * plan.per, (group + 1) * plan.per):
            partial[2 * c] = sums[c]
            partial[2 * c + 1] = products[c]
            c0 += sums[c] * either(k, plan.weight, c, 1)
            c1 += products[c] * either(k, plan.weight, c, 1)
        spread = element_at(k, plan.spreads, s * plan.groups + group)
        for c in range(group * plan.per, (group + 1) * plan.per):
            store_as(k, scales, c, spread * either(k, plan.weight, c, 1))
            store_as(k, constants, c, c0 / plan.n * spread)
            store_as(k, projections, c, c1 / plan.n * spread * spread * spread)
    if plan.out != NULL:
        T.column_back[k](g, p, plan.out + place * plan.item, plan.run, channels, means, scales,
                         constants, projections)
