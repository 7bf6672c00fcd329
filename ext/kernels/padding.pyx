# cython: language_level=3
# Padding of plain tensors by all modes: rows of the last dimension are copied, and what stands
# before and after them is filled. Where an element comes from is computed, dimension by dimension.
# The gradient adds rows up, in the same order for any number of threads.

from libc.string cimport memcpy, memset

from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_F16, DT_F32, DT_SIZE, dt_is_complex, dt_real)
from autograd_cy._C.formats cimport by_places, dense_places, places_first
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.launch cimport (
    KIND_COPY, KIND_WINDOW, READS, WRITES, Launch, begin, launch_tiles, operand)
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, check_fits, tensor_empty, tensor_empty_like,
    tensor_window)

__all__: list[str] = []

cdef enum:
    TILE_WORK = 16384    # elements of a tile

ctypedef fused real_t:
    float
    double


cdef struct Plan:
    int mode
    int nd                 # padded dimensions; those before are planes
    int parts              # real numbers that an element has, for the gradient
    bint wide              # which are doubles
    Py_ssize_t[MAX_DIMS] size
    Py_ssize_t[MAX_DIMS] out_size
    Py_ssize_t[MAX_DIMS] left
    Py_ssize_t item
    char[16] value
    const char* a
    char* out
    Py_ssize_t count       # rows of the result, or planes of the gradient
    Py_ssize_t block       # of which a tile has so many
    Py_ssize_t rows        # of a padded plane
    Py_ssize_t inside      # elements of a plane that isn't padded


cdef inline Py_ssize_t source_index(int mode, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """The element that stands at place i of an axis of n elements; -1 for none."""
    if 0 <= i < n:
        return i
    if mode == PAD_REFLECT:
        return -i if i < 0 else 2 * (n - 1) - i
    if mode == PAD_REPLICATE:
        return 0 if i < 0 else n - 1
    if mode == PAD_CIRCULAR:
        return i + n if i < 0 else i - n
    return -1


cdef inline Py_ssize_t source_row(const Plan* plan, Py_ssize_t row) noexcept nogil:
    """The row of a plane that row `row` of the padded one shows; -1 for none."""
    cdef Py_ssize_t at = 0, step = 1, i
    cdef int d
    for d in range(plan.nd - 2, -1, -1):
        # The first dimension needs no division, which takes as long as copying a short row.
        i = source_index(plan.mode, (row % plan.out_size[d] if d > 0 else row) - plan.left[d],
                         plan.size[d])
        if i < 0:
            return -1
        if d > 0:
            row //= plan.out_size[d]
        at += i * step
        step *= plan.size[d]
    return at


cdef inline void fill_few(char* out, const char* value, Py_ssize_t item,
                          Py_ssize_t n) noexcept nogil:
    """`fill_items` before and after rows, where a call takes longer than one or two elements."""
    cdef Py_ssize_t i
    if item == 4 and n <= 2:
        for i in range(n):
            memcpy(out + 4 * i, value, 4)
    else:
        fill_items(out, value, item, n)


cdef void fill_items(char* out, const char* value, Py_ssize_t item, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef unsigned int* words = <unsigned int*>out
    cdef unsigned long long* longs = <unsigned long long*>out
    if item == 4:
        for i in range(n):
            words[i] = (<unsigned int*>value)[0]
    elif item == 8:
        for i in range(n):
            longs[i] = (<unsigned long long*>value)[0]
    else:
        for i in range(n):
            memcpy(out + i * item, value, item)


cdef void pad_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t last = plan.nd - 1, n = plan.size[last], m = plan.out_size[last], r, k, i
    cdef Py_ssize_t left = plan.left[last], lo, hi, item = plan.item
    cdef Py_ssize_t first = tile * plan.block, end = first + plan.block
    cdef Py_ssize_t row = first % plan.rows
    cdef const char* plane = plan.a + first // plan.rows * plan.inside * item
    cdef const char* p
    cdef char* to
    if end > plan.count:
        end = plan.count
    lo = left if left > 0 else 0
    hi = n + left if n + left < m else m
    if hi < lo:
        lo = hi = m if left > 0 else 0
    for r in range(first, end):
        to = plan.out + r * m * item
        if row == plan.rows:
            row = 0
            plane += plan.inside * item
        k = source_row(plan, row)
        row += 1
        if k < 0:
            fill_items(to, plan.value, item, m)
            continue
        p = plane + k * n * item
        if plan.mode == PAD_CONSTANT:
            fill_few(to, plan.value, item, lo)
            memcpy(to + lo * item, p + (lo - left) * item, (hi - lo) * item)
            fill_few(to + hi * item, plan.value, item, m - hi)
            continue
        for i in range(lo):
            fill_items(to + i * item, p + source_index(plan.mode, i - left, n) * item, item, 1)
        memcpy(to + lo * item, p + (lo - left) * item, (hi - lo) * item)
        for i in range(hi, m):
            fill_items(to + i * item, p + source_index(plan.mode, i - left, n) * item, item, 1)


cdef void add_rows(const Plan* plan, const real_t* grad, real_t* out, Py_ssize_t first,
                   Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t last = plan.nd - 1, n = plan.size[last], m = plan.out_size[last], r, i, j, k
    cdef Py_ssize_t left = plan.left[last], lo, hi, numbers = plan.parts, plane
    cdef real_t* to
    lo = left if left > 0 else 0
    hi = n + left if n + left < m else m
    if hi < lo:
        lo = hi = m if left > 0 else 0
    memset(out + first * plan.inside * numbers, 0,
           (end - first) * plan.inside * numbers * sizeof(real_t))
    for plane in range(first, end):
        for r in range(plan.rows):
            k = source_row(plan, r)
            to = out + (plane * plan.inside + k * n) * numbers
            for i in range((hi - lo) * numbers):
                to[(lo - left) * numbers + i] += grad[lo * numbers + i]
            for i in range(lo):
                j = source_index(plan.mode, i - left, n)
                for k in range(numbers):
                    to[j * numbers + k] += grad[i * numbers + k]
            for i in range(hi, m):
                j = source_index(plan.mode, i - left, n)
                for k in range(numbers):
                    to[j * numbers + k] += grad[i * numbers + k]
            grad += m * numbers


cdef void back_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Plan* plan = <Plan*>ctx
    cdef Py_ssize_t first = tile * plan.block, end = first + plan.block, at
    if end > plan.count:
        end = plan.count
    at = first * plan.rows * plan.out_size[plan.nd - 1] * plan.parts
    if plan.wide:
        add_rows(plan, <const double*>plan.a + at, <double*>plan.out, first, end)
    else:
        add_rows(plan, <const float*>plan.a + at, <float*>plan.out, first, end)


cdef Py_ssize_t describe_pads(Plan* plan, Tensor a, Tensor out, tuple pad,
                              Py_ssize_t mode) except -1:
    """`a` is as it was, `out` is padded; returns the number of planes."""
    cdef int d, lead, n = <int>(len(pad) // 2)
    cdef Py_ssize_t planes = 1
    # Dimensions that nothing is added to are planes, but for the last one.
    while n > 1 and pad[2 * n - 1] == 0 and pad[2 * n - 2] == 0:
        n -= 1
    lead = a.nd - n
    plan.mode = <int>mode
    plan.nd = n
    plan.item = DT_SIZE[a.dt]
    plan.inside = plan.rows = 1
    for d in range(lead):
        planes *= a.sizes[d]
    for d in range(n):
        plan.size[d] = a.sizes[lead + d]
        plan.out_size[d] = out.sizes[lead + d]
        plan.left[d] = pad[2 * (n - 1 - d)]
        plan.inside *= plan.size[d]
        if d < n - 1:
            plan.rows *= plan.out_size[d]
    return planes


cdef Tensor merge_planes(Tensor a):
    """Return a contiguous tensor with its last two dimensions as one."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, last = a.nd - 2
    for d in range(last):
        sizes[d], strides[d] = a.sizes[d], a.strides[d]
    sizes[last] = a.sizes[last] * a.sizes[last + 1]
    strides[last] = 1
    return tensor_window(a, last + 1, sizes, strides, 0)


cdef Tensor without_channels(Tensor a):
    """Return the places of a tensor channels last, each one large element; strides say nothing."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef int d
    sizes[0] = a.sizes[0]
    for d in range(2, a.nd):
        sizes[d - 1] = a.sizes[d]
    return tensor_window(a, a.nd - 1, sizes, a.strides, 0)


cdef int run_pad(Tensor out, Tensor a, tuple pad, Py_ssize_t mode, Tensor value) except -1:
    cdef Plan plan
    cdef Py_ssize_t c = 1
    cdef Launch work
    cdef Tensor wide
    if out.count == 0:
        return 0
    if len(pad) == 0:
        return copy_into(out, a, "pad")
    if len(pad) <= 2 * (a.nd - 2) and by_places(out, a):
        c = a.sizes[1]
        a = dense_places(a)
        if mode == PAD_CONSTANT:
            # Channels are a part of the last dimension.
            pad = (pad[0] * c, pad[1] * c) + pad[2:]
            out, a, c = merge_planes(places_first(out)), merge_planes(places_first(a)), 1
        else:
            out, a = without_channels(out), without_channels(a)
    elif out.flags & F_STRIDED:
        wide = tensor_empty(out.dt, out.nd, out.sizes)
        run_pad(wide, contiguous(a), pad, mode, value)
        return copy_into(out, wide, "pad")
    else:
        a = contiguous(a)
    plan.count = describe_pads(&plan, a, out, pad, mode) * plan.rows
    plan.item *= c
    if value is not None:
        memcpy(plan.value, value.ptr, plan.item)
    plan.a = a.ptr
    plan.out = out.ptr
    plan.block = TILE_WORK // (c * plan.out_size[plan.nd - 1]) + 1
    begin(&work, "pad", &plan, sizeof(plan), KIND_COPY)
    operand(&work, &plan.a, a, READS)
    operand(&work, &plan.out, out, WRITES)
    return launch_tiles(&work, pad_tile, parts(plan.count, plan.block),
                        c * out.count + 16.0 * plan.count)


cdef int constant_pad(Tensor out, Tensor a, tuple pad, Tensor value) except -1:
    check_fits(value, a.dt)
    return run_pad(out, a, pad, PAD_CONSTANT, cast(value, a.dt))


cdef int pad_by(Tensor out, Tensor a, tuple pad, Py_ssize_t mode) except -1:
    return run_pad(out, a, pad, mode, None)


cdef int pad_backward(Tensor out, Tensor grad, tuple size, tuple pad, Py_ssize_t mode) except -1:
    cdef Plan plan
    cdef Py_ssize_t c = 1
    cdef Launch work
    cdef Tensor wide
    if out.count == 0:
        return 0
    if out.dt == DT_F16 or out.dt == DT_BF16:
        wide = tensor_empty_like(out, DT_F32)
        pad_backward(wide, cast(grad, DT_F32), size, pad, mode)
        return copy_into(out, wide, "pad_backward")
    if len(pad) <= 2 * (out.nd - 2) and by_places(out, grad):
        c = out.sizes[1]
        out, grad = without_channels(out), without_channels(dense_places(grad))
    elif out.flags & F_STRIDED:
        wide = tensor_empty(out.dt, out.nd, out.sizes)
        pad_backward(wide, contiguous(grad), size, pad, mode)
        return copy_into(out, wide, "pad_backward")
    else:
        grad = contiguous(grad)
    plan.count = describe_pads(&plan, out, grad, pad, mode)
    plan.parts = c * (2 if dt_is_complex(out.dt) else 1)
    plan.wide = dt_real(out.dt) != DT_F32
    plan.a = grad.ptr
    plan.out = out.ptr
    plan.block = TILE_WORK // (c * plan.rows * plan.out_size[plan.nd - 1] + 1) + 1
    begin(&work, "pad_backward", &plan, sizeof(plan), KIND_WINDOW)
    operand(&work, &plan.a, grad, READS)
    operand(&work, &plan.out, out, WRITES)
    return launch_tiles(&work, back_tile, parts(plan.count, plan.block),
                        2.0 * c * grad.count + 16.0 * plan.rows * plan.count)
