# cython: language_level=3
# Normalisation: rows (layer_norm, rms_norm), rows of channels (group_norm), channels (batch_norm).
# The loops are in norm_loops.pyx; here tensors are cut into tiles that depend on shapes alone.
#
# Gradients: S. Ioffe, C. Szegedy, "Batch normalization" (2015), section 3; for a row with its mean
# and deviation in place of a channel's: J. Ba, J. Kiros, G. Hinton, "Layer normalization" (2016);
# without the mean: B. Zhang, R. Sennrich, "Root mean square layer normalization" (2019).

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.string cimport memset

from autograd_cy._C import cpu as _cpu
from autograd_cy._C.dtypes cimport DT_F64, DT_SIZE
from autograd_cy._C.formats cimport by_places, dense_places
from autograd_cy._C.iterate cimport cast, clear, contiguous, copy_into
from autograd_cy._C.launch cimport (
    KIND_NORM, READS, SCRATCH, UPDATES, WRITES, Launch, begin, launch, launch_tiles, operand)
from autograd_cy._C.norm_loops cimport NormTable
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.rules_normalization cimport (
    CHANNELS_ANYHOW, CHANNELS_APART, CHANNELS_TOGETHER, layout_of)
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, tensor_empty, tensor_empty_like

cdef object _loops = _cpu.load("norm_loops")
cdef const NormTable* T = <const NormTable*>PyCapsule_GetPointer(
    _loops.table_capsule(), "autograd_cy.norm_table")

cdef enum:
    TILE = 16384         # elements of a tile
    PARTS = 32           # most tiles with sums of their own for gradients of weights
    PART = 32768         # elements that are worth one of these
    STEPS = 4            # cost of an element, in additions


cdef inline double element_at(int kind, const char* p, Py_ssize_t i) noexcept nogil:
    return (<const double*>p)[i] if kind else (<const float*>p)[i]


cdef inline void store_as(int kind, char* p, Py_ssize_t i, double x) noexcept nogil:
    if kind:
        (<double*>p)[i] = x
    else:
        (<float*>p)[i] = <float>x


cdef inline double either(int kind, const char* p, Py_ssize_t i, double otherwise) noexcept nogil:
    return otherwise if p == NULL else element_at(kind, p, i)


cdef Tensor dense(Tensor t, int dt):
    return None if t is None else contiguous(cast(t, dt))


cdef inline void optional_operand(Launch* work, const char** field, Tensor t) noexcept:
    """An operand that is read, or None."""
    field[0] = NULL
    if t is not None:
        field[0] = t.ptr
        operand(work, field, t, READS)


cdef inline void written(Launch* work, char** field, Tensor t) noexcept:
    """An operand that is written, or None."""
    if t is not None:
        field[0] = t.ptr
        operand(work, field, t, WRITES)


# --- rows -----------------------------------------------------------------------------------

cdef struct RowPlan:
    int kind               # 0 float32, 1 float64
    bint centred           # False: root mean square
    const char* p
    const char* g
    const char* weight     # NULL: all ones
    const char* bias
    const char* means      # of the forward pass, in backward
    const char* spreads
    char* out
    char* mean
    char* spread
    char* by_weight        # gradients, or NULL
    char* by_bias
    char* partial          # rows: of each tile sums for weight and bias; groups: see group_tile
    Py_ssize_t rows
    Py_ssize_t n
    Py_ssize_t item
    Py_ssize_t block       # rows of a tile
    Py_ssize_t tiles
    Py_ssize_t groups      # of a sample; 0: a weight for each element of a row
    Py_ssize_t per         # channels of a group
    Py_ssize_t run         # elements of a channel
    bint together          # groups: the channels of a position lie side by side
    double eps


cdef void forward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t r, c, first, stop = (tile + 1) * plan.block
    cdef const char* p
    cdef const char* w
    cdef const char* b
    cdef char* out
    cdef double two[2]
    cdef double spread
    if stop > plan.rows:
        stop = plan.rows
    for r in range(tile * plan.block, stop):
        p = plan.p + r * plan.n * plan.item
        out = plan.out + r * plan.n * plan.item
        if plan.centred:
            T.moments[k](p, 1, 0, plan.n, two)
            store_as(k, plan.mean, r, two[0])
        else:
            two[0] = 0
            two[1] = T.squares[k](p, plan.n)
        spread = 1 / sqrt(two[1] / plan.n + plan.eps)
        store_as(k, plan.spread, r, spread)
        if plan.groups == 0 or plan.run == 1 or (plan.weight == NULL and plan.bias == NULL):
            first = r % plan.groups * plan.per * plan.item if plan.groups else 0
            w = plan.weight + first if plan.weight != NULL else NULL
            b = plan.bias + first if plan.bias != NULL else NULL
            T.row[k](p, out, plan.n, two[0], spread, w, b)
            continue
        first = r % plan.groups * plan.per
        for c in range(plan.per):
            T.scale[k](p + c * plan.run * plan.item, out + c * plan.run * plan.item, 1, 0,
                       plan.run, two[0], spread * either(k, plan.weight, first + c, 1),
                       either(k, plan.bias, first + c, 0))


cdef void backward_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Rows with a weight for each element; sums of the tile for weight and bias."""
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t r, row = plan.n * plan.item, stop = (tile + 1) * plan.block
    cdef char* by_weight = plan.partial + 2 * tile * row
    cdef char* by_bias = by_weight + row
    cdef double mean, spread
    if stop > plan.rows:
        stop = plan.rows
    if plan.by_weight != NULL or plan.by_bias != NULL:
        memset(by_weight, 0, 2 * row)
    if plan.by_weight == NULL:
        by_weight = NULL
    if plan.by_bias == NULL:
        by_bias = NULL
    for r in range(tile * plan.block, stop):
        mean = either(k, plan.means, r, 0)
        spread = element_at(k, plan.spreads, r)
        if plan.out != NULL:
            T.row_back[k](plan.g + r * row, plan.p + r * row, plan.out + r * row, plan.n, mean,
                          spread, plan.weight, plan.centred)
        T.row_gather[k](plan.g + r * row, plan.p + r * row, plan.n, mean, spread, by_weight,
                        by_bias)


cdef void row_sums(void* ctx) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t i, tile
    cdef double x, y
    parallel_for(backward_tile, plan, plan.tiles, team_size(<double>STEPS * plan.rows * plan.n))
    for i in range(plan.n):
        x = y = 0
        if plan.by_weight != NULL:
            for tile in range(plan.tiles):
                x += element_at(k, plan.partial, 2 * tile * plan.n + i)
            store_as(k, plan.by_weight, i, x)
        if plan.by_bias != NULL:
            for tile in range(plan.tiles):
                y += element_at(k, plan.partial, (2 * tile + 1) * plan.n + i)
            store_as(k, plan.by_bias, i, y)


cdef void group_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    """Groups; `partial` has for each channel of each sample the sums of g and of g (x - mean)."""
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t r, c, place, first, run = plan.run * plan.item
    cdef Py_ssize_t stop = (tile + 1) * plan.block
    cdef double* sums
    cdef const char* g
    cdef const char* p
    cdef double mean, spread, w, c0, c1
    if stop > plan.rows:
        stop = plan.rows
    for r in range(tile * plan.block, stop):
        mean = element_at(k, plan.means, r)
        spread = element_at(k, plan.spreads, r)
        first = r % plan.groups * plan.per
        sums = <double*>plan.partial + 2 * r * plan.per
        g = plan.g + r * plan.per * run
        p = plan.p + r * plan.per * run
        c0 = c1 = 0
        for c in range(plan.per):
            T.dots[k](g + c * run, p + c * run, 1, 0, plan.run, mean, sums + 2 * c)
            w = either(k, plan.weight, first + c, 1)
            c0 += w * sums[2 * c]
            c1 += w * sums[2 * c + 1]
        if plan.out == NULL:
            continue
        c0 = c0 / plan.n * spread
        c1 = c1 / plan.n * spread * spread * spread
        for c in range(plan.per):
            place = r * plan.per * run + c * run
            w = either(k, plan.weight, first + c, 1)
            T.back[k](plan.g + place, plan.p + place, plan.out + place, 1, 0, plan.run, mean,
                      w * spread, c0, c1)


include "norms/groups_together.pxi"


cdef void group_sums(void* ctx) noexcept nogil:
    cdef RowPlan* plan = <RowPlan*>ctx
    cdef int k = plan.kind
    cdef const double* sums = <const double*>plan.partial
    cdef Py_ssize_t c, s, place, channels = plan.groups * plan.per
    cdef double x, y
    if plan.together:
        parallel_for(together_back_tile, plan, plan.rows // plan.groups,
                     team_size(<double>STEPS * plan.rows * plan.n))
    else:
        parallel_for(group_tile, plan, plan.tiles, team_size(<double>STEPS * plan.rows * plan.n))
    if plan.by_weight == NULL and plan.by_bias == NULL:
        return
    for c in range(channels):
        x = y = 0
        for s in range(plan.rows // plan.groups):
            place = s * channels + c
            x += sums[2 * place + 1] * element_at(k, plan.spreads, s * plan.groups + c // plan.per)
            y += sums[2 * place]
        if plan.by_weight != NULL:
            store_as(k, plan.by_weight, c, x)
        if plan.by_bias != NULL:
            store_as(k, plan.by_bias, c, y)


cdef int choose_tiles(RowPlan* plan, Py_ssize_t rows, Py_ssize_t n, int dt) except -1:
    memset(plan, 0, sizeof(RowPlan))
    plan.kind = dt == DT_F64
    plan.item = DT_SIZE[dt]
    plan.rows = rows
    plan.n = n
    plan.block = TILE // n if n else 1
    if plan.block < 1:
        plan.block = 1
    if plan.block > rows:
        plan.block = rows if rows else 1
    plan.tiles = parts(rows, plan.block)
    return 0


cdef int count_rows(Tensor input, tuple shape, Py_ssize_t* rows, Py_ssize_t* n) except -1:
    cdef int d, last = input.nd - <int>len(shape)
    rows[0] = n[0] = 1
    for d in range(last):
        rows[0] *= input.sizes[d]
    for d in range(last, input.nd):
        n[0] *= input.sizes[d]
    return 0


cdef int forward_rows(RowPlan* plan, Tensor result, Tensor mean, Tensor spread, Tensor input,
                      Tensor weight, Tensor bias, int dt) except -1:
    cdef Launch work
    cdef Tensor to = result, partial
    cdef Py_ssize_t count = 8 * plan.rows * plan.per
    if input.count == 0:
        return 0
    input = dense_places(cast(input, dt)) if plan.together else dense(input, dt)
    weight = dense(weight, dt)
    bias = dense(bias, dt)
    if result.dt != dt or (result.flags & F_STRIDED and not plan.together):
        to = tensor_empty(dt, result.nd, result.sizes)
        if plan.together:
            to = tensor_empty_like(result, dt)
    begin(&work, "norm_rows", plan, sizeof(RowPlan), KIND_NORM)
    optional_operand(&work, &plan.p, input)
    optional_operand(&work, &plan.weight, weight)
    optional_operand(&work, &plan.bias, bias)
    plan.out = to.ptr
    operand(&work, &plan.out, to, WRITES)
    plan.spread = spread.ptr
    operand(&work, &plan.spread, spread, WRITES)
    if mean is not None:
        plan.mean = mean.ptr
        operand(&work, &plan.mean, mean, WRITES)
    if plan.together:
        partial = tensor_empty(DT_F64, 1, &count)
        plan.partial = partial.ptr
        operand(&work, &plan.partial, partial, SCRATCH)
        launch_tiles(&work, together_tile, plan.rows // plan.groups, <double>STEPS * input.count)
    else:
        launch_tiles(&work, forward_tile, plan.tiles, <double>STEPS * input.count)
    if to is not result:
        copy_into(result, to, "norm")
    return 0


cdef Tensor wanted(Tensor t, Py_ssize_t n, int dt):
    """Return the destination of a gradient: None if it isn't wanted, or a tensor that is cast to
    `t` afterwards."""
    if t is None or t.count != n:
        return None
    return t if t.dt == dt else tensor_empty_like(t, dt)


cdef int cast_back(Tensor t, Tensor source) except -1:
    if source is not None and source is not t:
        copy_into(t, source, "norm")
    return 0


ctypedef fused plan_t:
    RowPlan
    ChannelPlan


cdef void backward_operands(Launch* work, plan_t* plan, Tensor grad, Tensor input, Tensor weight,
                            Tensor mean, Tensor spread, Tensor dx, Tensor dw, Tensor db) noexcept:
    """Declare the operands of a backward pass, and the gradients that it writes; None for those
    that are absent."""
    optional_operand(work, &plan.g, grad)
    optional_operand(work, &plan.p, input)
    optional_operand(work, &plan.weight, weight)
    optional_operand(work, &plan.means, mean)
    optional_operand(work, &plan.spreads, spread)
    written(work, &plan.out, dx)
    written(work, &plan.by_weight, dw)
    written(work, &plan.by_bias, db)


cdef int backward_rows(RowPlan* plan, Tensor to_input, Tensor to_weight, Tensor to_bias,
                       Tensor grad, Tensor input, Tensor mean, Tensor spread, Tensor weight,
                       int dt) except -1:
    cdef Launch work
    cdef Py_ssize_t count, elements = input.count
    cdef Py_ssize_t weights = plan.groups * plan.per if plan.groups else plan.n
    cdef Tensor dx = wanted(to_input, elements, dt), partial
    cdef Tensor dw = wanted(to_weight, weights, dt), db = wanted(to_bias, weights, dt)
    if elements == 0:
        for t in (to_weight, to_bias):
            if t is not None and (<Tensor>t).count:
                clear(<Tensor>t)
        return 0
    if plan.groups and layout_of(input) == CHANNELS_TOGETHER:
        plan.together = True
        grad = with_layout_of(grad, input, dt)
        input = with_layout_of(input, input, dt)
    else:
        grad = dense(grad, dt)
        input = dense(input, dt)
    weight = dense(weight, dt)
    begin(&work, "norm_rows_backward", plan, sizeof(RowPlan), KIND_NORM)
    backward_operands(&work, plan, grad, input, weight, mean, spread, dx, dw, db)
    if plan.groups:
        count = (8 if plan.together else 2) * plan.rows * plan.per
    else:
        plan.tiles = elements // PART
        plan.tiles = PARTS if plan.tiles > PARTS else 1 if plan.tiles < 1 else plan.tiles
        plan.block = parts(plan.rows, plan.tiles)
        plan.tiles = parts(plan.rows, plan.block)
        count = 2 * plan.tiles * plan.n
    partial = tensor_empty(DT_F64, 1, &count)
    plan.partial = partial.ptr
    operand(&work, &plan.partial, partial, SCRATCH)
    launch(&work, group_sums if plan.groups else row_sums, <double>STEPS * elements)
    cast_back(to_input, dx)
    cast_back(to_weight, dw)
    return cast_back(to_bias, db)


cdef int layer_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, tuple shape,
                    Tensor weight, Tensor bias, double eps) except -1:
    cdef RowPlan plan
    cdef Py_ssize_t rows, n
    count_rows(input, shape, &rows, &n)
    choose_tiles(&plan, rows, n, spread.dt)
    plan.centred = True
    plan.eps = eps
    return forward_rows(&plan, result, mean, spread, input, weight, bias, spread.dt)


cdef int layer_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, tuple shape, Tensor mean, Tensor spread,
                             Tensor weight) except -1:
    cdef RowPlan plan
    cdef Py_ssize_t rows, n
    count_rows(input, shape, &rows, &n)
    choose_tiles(&plan, rows, n, spread.dt)
    plan.centred = True
    return backward_rows(&plan, to_input, to_weight, to_bias, grad, input, mean, spread, weight,
                         spread.dt)


cdef int rms_norm(Tensor result, Tensor spread, Tensor input, tuple shape, Tensor weight,
                  double eps) except -1:
    cdef RowPlan plan
    cdef Py_ssize_t rows, n
    count_rows(input, shape, &rows, &n)
    choose_tiles(&plan, rows, n, spread.dt)
    plan.eps = eps
    return forward_rows(&plan, result, None, spread, input, weight, None, spread.dt)


cdef int rms_norm_backward(Tensor to_input, Tensor to_weight, Tensor grad, Tensor input,
                           tuple shape, Tensor spread, Tensor weight) except -1:
    cdef RowPlan plan
    cdef Py_ssize_t rows, n
    count_rows(input, shape, &rows, &n)
    choose_tiles(&plan, rows, n, spread.dt)
    return backward_rows(&plan, to_input, to_weight, None, grad, input, None, spread, weight,
                         spread.dt)


cdef int cut_groups(RowPlan* plan, Tensor input, Py_ssize_t groups, int dt) except -1:
    cdef Py_ssize_t run = 1, per = input.sizes[1] // groups
    cdef int d
    for d in range(2, input.nd):
        run *= input.sizes[d]
    choose_tiles(plan, input.sizes[0] * groups, per * run, dt)
    plan.centred = True
    plan.groups = groups
    plan.per = per
    plan.run = run
    return 0


cdef int group_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Py_ssize_t groups,
                    Tensor weight, Tensor bias, double eps) except -1:
    cdef RowPlan plan
    cut_groups(&plan, input, groups, spread.dt)
    plan.eps = eps
    plan.together = by_places(result, input)
    return forward_rows(&plan, result, mean, spread, input, weight, bias, spread.dt)


cdef int group_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Py_ssize_t groups, Tensor mean, Tensor spread,
                             Tensor weight) except -1:
    cdef RowPlan plan
    cut_groups(&plan, input, groups, spread.dt)
    return backward_rows(&plan, to_input, to_weight, to_bias, grad, input, mean, spread, weight,
                         spread.dt)


# --- channels -------------------------------------------------------------------------------

cdef struct ChannelPlan:
    int kind
    bint training
    bint together          # the channels of a position lie side by side
    const char* p
    const char* g
    const char* weight
    const char* bias
    const char* means      # of the forward pass, in backward
    const char* spreads
    char* out
    char* mean
    char* spread
    char* running_mean
    char* running_var
    char* by_weight
    char* by_bias
    double* partial        # together: of each tile two sums a channel
    char* factors          # together: four numbers a channel, in the type of the elements
    Py_ssize_t samples
    Py_ssize_t channels
    Py_ssize_t run
    Py_ssize_t item
    Py_ssize_t rows        # together: samples * run
    Py_ssize_t block
    Py_ssize_t tiles
    double momentum
    double eps


cdef void learn(ChannelPlan* plan, Py_ssize_t c, double mean, double var) noexcept nogil:
    """Move the running statistics of a channel; their variance is the unbiased one."""
    cdef int k = plan.kind
    cdef double n = plan.samples * plan.run, old
    if plan.running_mean != NULL:
        old = element_at(k, plan.running_mean, c)
        store_as(k, plan.running_mean, c, old + plan.momentum * (mean - old))
    if plan.running_var != NULL:
        old = element_at(k, plan.running_var, c)
        store_as(k, plan.running_var, c, old + plan.momentum * (var * (n / (n - 1)) - old))


cdef void channel_statistics(ChannelPlan* plan, Py_ssize_t c, double* mean,
                             double* spread) noexcept nogil:
    """The mean of a channel, and the inverse of its deviation, from the running ones."""
    cdef int k = plan.kind
    mean[0] = element_at(k, plan.running_mean, c)
    spread[0] = 1 / sqrt(element_at(k, plan.running_var, c) + plan.eps)


cdef void plain_moments(ChannelPlan* plan, const char* p, Py_ssize_t samples, Py_ssize_t step,
                        Py_ssize_t run, double* mean, double* var) noexcept nogil:
    """Mean and variance of a channel without a shift, which makes NaN of infinite elements."""
    cdef int k = plan.kind
    cdef Py_ssize_t s, i
    cdef double total = 0, squares = 0, d, n = samples * run
    for s in range(samples):
        for i in range(run):
            total += element_at(k, p, s * step + i)
    total /= n
    for s in range(samples):
        for i in range(run):
            d = element_at(k, p, s * step + i) - total
            squares += d * d
    mean[0] = total
    var[0] = squares / n


cdef void channel_tile(void* ctx, Py_ssize_t c) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t step = plan.channels * plan.run, place = c * plan.run * plan.item
    cdef double two[2]
    cdef double mean, var, spread
    if plan.training:
        T.moments[k](plan.p + place, plan.samples, step, plan.run, two)
        mean = two[0]
        var = two[1] / (plan.samples * plan.run)
        if var - var != 0:
            plain_moments(plan, plan.p + place, plan.samples, step, plan.run, &mean, &var)
        spread = 1 / sqrt(var + plan.eps)
        learn(plan, c, mean, var)
    else:
        channel_statistics(plan, c, &mean, &spread)
    store_as(k, plan.mean, c, mean)
    store_as(k, plan.spread, c, spread)
    T.scale[k](plan.p + place, plan.out + place, plan.samples, step, plan.run, mean,
               spread * either(k, plan.weight, c, 1), either(k, plan.bias, c, 0))


cdef void channel_back_tile(void* ctx, Py_ssize_t c) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t step = plan.channels * plan.run, place = c * plan.run * plan.item
    cdef double two[2]
    cdef double mean = element_at(k, plan.means, c), spread = element_at(k, plan.spreads, c)
    cdef double a = spread * either(k, plan.weight, c, 1), n = plan.samples * plan.run
    two[0] = two[1] = 0
    if plan.training or plan.by_weight != NULL or plan.by_bias != NULL:
        T.dots[k](plan.g + place, plan.p + place, plan.samples, step, plan.run, mean, two)
    if plan.by_weight != NULL:
        store_as(k, plan.by_weight, c, two[1] * spread)
    if plan.by_bias != NULL:
        store_as(k, plan.by_bias, c, two[0])
    if plan.out == NULL:
        return
    if plan.training:
        T.back[k](plan.g + place, plan.p + place, plan.out + place, plan.samples, step, plan.run,
                  mean, a, a * two[0] / n, a * spread * spread * two[1] / n)
    else:
        T.scale[k](plan.g + place, plan.out + place, plan.samples, step, plan.run, 0, a, 0)


cdef inline Py_ssize_t rows_at(ChannelPlan* plan, Py_ssize_t tile) noexcept nogil:
    cdef Py_ssize_t rest = plan.rows - tile * plan.block
    return rest if rest < plan.block else plan.block


cdef inline char* factor(ChannelPlan* plan, int which) noexcept nogil:
    return plan.factors + which * plan.channels * plan.item


cdef void column_moments_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef double* sums = plan.partial + 2 * tile * plan.channels
    T.column_moments[plan.kind](
        plan.p + tile * plan.block * plan.channels * plan.item, rows_at(plan, tile),
        plan.channels, plan.p, sums, sums + plan.channels)


cdef void column_scale_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef Py_ssize_t place = tile * plan.block * plan.channels * plan.item
    T.column_scale[plan.kind](
        plan.p + place, plan.out + place, rows_at(plan, tile), plan.channels, factor(plan, 0),
        factor(plan, 1), factor(plan, 2))


cdef void columns_forward(void* ctx) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t c, tile
    cdef double s, q, mean, spread, var, shift, n = plan.rows
    cdef int team = team_size(<double>STEPS * plan.rows * plan.channels)
    if plan.training:
        parallel_for(column_moments_tile, plan, plan.tiles, team)
    for c in range(plan.channels):
        if plan.training:
            s = q = 0
            for tile in range(plan.tiles):
                s += plan.partial[2 * tile * plan.channels + c]
                q += plan.partial[(2 * tile + 1) * plan.channels + c]
            shift = element_at(k, plan.p, c)
            mean = shift + s / n
            var = q / n - (s / n) * (s / n)
            if var - var != 0:
                plain_moments(plan, plan.p + c * plan.item, plan.rows, plan.channels, 1, &mean,
                              &var)
            elif var < 0:
                var = 0
            spread = 1 / sqrt(var + plan.eps)
            learn(plan, c, mean, var)
        else:
            channel_statistics(plan, c, &mean, &spread)
        store_as(k, plan.mean, c, mean)
        store_as(k, plan.spread, c, spread)
        store_as(k, factor(plan, 0), c, mean)
        store_as(k, factor(plan, 1), c, spread * either(k, plan.weight, c, 1))
        store_as(k, factor(plan, 2), c, either(k, plan.bias, c, 0))
    parallel_for(column_scale_tile, plan, plan.tiles, team)


cdef void column_dots_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef double* sums = plan.partial + 2 * tile * plan.channels
    cdef Py_ssize_t place = tile * plan.block * plan.channels * plan.item
    T.column_dots[plan.kind](
        plan.g + place, plan.p + place, rows_at(plan, tile), plan.channels, plan.means, sums,
        sums + plan.channels)


cdef void column_back_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef Py_ssize_t place = tile * plan.block * plan.channels * plan.item
    if plan.training:
        T.column_back[plan.kind](
            plan.g + place, plan.p + place, plan.out + place, rows_at(plan, tile), plan.channels,
            plan.means, factor(plan, 0), factor(plan, 1), factor(plan, 2))
    else:
        # Not a product of the input and zero, which isn't zero for NaN.
        T.column_scale[plan.kind](
            plan.g + place, plan.out + place, rows_at(plan, tile), plan.channels, factor(plan, 1),
            factor(plan, 0), factor(plan, 1))


cdef void columns_backward(void* ctx) noexcept nogil:
    cdef ChannelPlan* plan = <ChannelPlan*>ctx
    cdef int k = plan.kind
    cdef Py_ssize_t c, tile
    cdef double s, q, a, spread, n = plan.rows
    cdef int team = team_size(<double>STEPS * plan.rows * plan.channels)
    if plan.training or plan.by_weight != NULL or plan.by_bias != NULL:
        parallel_for(column_dots_tile, plan, plan.tiles, team)
    else:
        memset(plan.partial, 0, 2 * plan.tiles * plan.channels * sizeof(double))
    for c in range(plan.channels):
        s = q = 0
        for tile in range(plan.tiles):
            s += plan.partial[2 * tile * plan.channels + c]
            q += plan.partial[(2 * tile + 1) * plan.channels + c]
        spread = element_at(k, plan.spreads, c)
        a = spread * either(k, plan.weight, c, 1)
        if plan.by_weight != NULL:
            store_as(k, plan.by_weight, c, q * spread)
        if plan.by_bias != NULL:
            store_as(k, plan.by_bias, c, s)
        store_as(k, factor(plan, 0), c, a)
        store_as(k, factor(plan, 1), c, a * s / n if plan.training else 0)
        store_as(k, factor(plan, 2), c, a * spread * spread * q / n if plan.training else 0)
    if plan.out != NULL:
        parallel_for(column_back_tile, plan, plan.tiles, team)


cdef Tensor with_layout_of(Tensor t, Tensor like, int dt):
    """The values of `t` in a dtype and the memory format of `like`."""
    cdef Tensor result = cast(t, dt)
    cdef int layout = layout_of(like)
    if layout == CHANNELS_APART:
        return contiguous(result)
    if layout_of(result) == layout:
        return result
    result = tensor_empty_like(like, dt)
    copy_into(result, t, "batch_norm")
    return result


cdef int cut_channels(ChannelPlan* plan, Tensor input, int dt) noexcept:
    """`input` is in C order, or has its channels together."""
    cdef int d
    memset(plan, 0, sizeof(ChannelPlan))
    plan.kind = dt == DT_F64
    plan.item = DT_SIZE[dt]
    plan.samples = input.sizes[0]
    plan.channels = input.sizes[1]
    plan.run = 1
    for d in range(2, input.nd):
        plan.run *= input.sizes[d]
    plan.rows = plan.samples * plan.run
    plan.together = plan.run == 1 or layout_of(input) == CHANNELS_TOGETHER
    plan.block = TILE // plan.channels if plan.channels else 1
    if plan.block < 64:
        plan.block = 64
    plan.tiles = parts(plan.rows, plan.block)
    return 0


cdef int run_channels(ChannelPlan* plan, Launch* work, Tensor input, bint backward) except -1:
    cdef double cost = <double>STEPS * input.count
    cdef Py_ssize_t count
    cdef Tensor partial, factors
    if not plan.together:
        return launch_tiles(work, channel_back_tile if backward else channel_tile, plan.channels,
                            cost)
    count = 2 * plan.tiles * plan.channels
    partial = tensor_empty(DT_F64, 1, &count)
    plan.partial = <double*>partial.ptr
    operand(work, &plan.partial, partial, SCRATCH)
    count = 3 * plan.channels
    factors = tensor_empty(DT_F64, 1, &count)
    plan.factors = factors.ptr
    operand(work, &plan.factors, factors, SCRATCH)
    return launch(work, columns_backward if backward else columns_forward, cost)


cdef int batch_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Tensor weight,
                    Tensor bias, Tensor running_mean, Tensor running_var, bint training,
                    double momentum, double eps) except -1:
    cdef ChannelPlan plan
    cdef Launch work
    cdef int dt = spread.dt
    cdef Tensor to = result, own_mean = dense(running_mean, dt), own_var = dense(running_var, dt)
    if input.count == 0:
        return 0
    input = with_layout_of(input, result, dt)
    weight = dense(weight, dt)
    bias = dense(bias, dt)
    if result.dt != dt:
        to = tensor_empty_like(result, dt)
    cut_channels(&plan, input, dt)
    plan.training = training
    plan.momentum = momentum
    plan.eps = eps
    begin(&work, "batch_norm", &plan, sizeof(plan), KIND_NORM)
    optional_operand(&work, &plan.p, input)
    optional_operand(&work, &plan.weight, weight)
    optional_operand(&work, &plan.bias, bias)
    plan.out = to.ptr
    operand(&work, &plan.out, to, WRITES)
    plan.mean = mean.ptr
    operand(&work, &plan.mean, mean, WRITES)
    plan.spread = spread.ptr
    operand(&work, &plan.spread, spread, WRITES)
    if own_mean is not None:
        plan.running_mean = own_mean.ptr
        operand(&work, &plan.running_mean, own_mean, UPDATES if training else READS)
    if own_var is not None:
        plan.running_var = own_var.ptr
        operand(&work, &plan.running_var, own_var, UPDATES if training else READS)
    run_channels(&plan, &work, input, False)
    if training and own_mean is not running_mean:
        copy_into(running_mean, own_mean, "batch_norm")
    if training and own_var is not running_var:
        copy_into(running_var, own_var, "batch_norm")
    return cast_back(result, to)


cdef int batch_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Tensor weight, Tensor mean, Tensor spread,
                             bint training) except -1:
    cdef ChannelPlan plan
    cdef Launch work
    cdef int dt = spread.dt
    cdef Tensor dx = None, dw = wanted(to_weight, input.sizes[1], dt)
    cdef Tensor db = wanted(to_bias, input.sizes[1], dt)
    if input.count == 0:
        for t in (to_weight, to_bias):
            clear(<Tensor>t)
        return 0
    if layout_of(input) == CHANNELS_ANYHOW:
        input = contiguous(input)
    grad = with_layout_of(grad, input, dt)
    input = with_layout_of(input, input, dt)
    weight = dense(weight, dt)
    if to_input.count:
        dx = to_input if to_input.dt == dt else tensor_empty_like(to_input, dt)
    cut_channels(&plan, input, dt)
    plan.training = training
    begin(&work, "batch_norm_backward", &plan, sizeof(plan), KIND_NORM)
    backward_operands(&work, &plan, grad, input, weight, mean, spread, dx, dw, db)
    run_channels(&plan, &work, input, True)
    cast_back(to_input, dx)
    cast_back(to_weight, dw)
    return cast_back(to_bias, db)
