# cython: language_level=3
"""Shape rules of pooling. Arguments were checked before, by pooling_composites.pyx."""
from autograd_cy._C.dtypes cimport DT_I64
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport F_STRIDED

__all__: list[str] = []


cdef Py_ssize_t pooled_size(Py_ssize_t size, Py_ssize_t kernel, Py_ssize_t stride,
                            Py_ssize_t padding, Py_ssize_t dilation,
                            bint ceil_mode) noexcept nogil:
    cdef Py_ssize_t span = size + 2 * padding - dilation * (kernel - 1) - 1, n
    if ceil_mode:
        span += stride - 1
    # Rounded down, below zero as well.
    n = span // stride if span >= 0 else -((stride - 1 - span) // stride)
    n += 1
    if (n - 1) * stride >= size + padding:
        # The last window would have padding alone; without ceil_mode, it ends before that.
        n -= 1
    return n


cdef int avg_pooled(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding,
                    bint ceil_mode, str op) except -1:
    return windows(r, a, kernel, stride, padding, None, ceil_mode)


cdef int windows(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                 bint ceil_mode) except -1:
    cdef int d, lead = a.nd - <int>len(kernel)
    result_dense(r, a.dt, a.nd, a.sizes)
    for d in range(lead, a.nd):
        r.sizes[d] = pooled_size(
            a.sizes[d], kernel[d - lead], stride[d - lead], padding[d - lead],
            1 if dilation is None else dilation[d - lead], ceil_mode)
    return 0


cdef int max_pooled(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                    bint ceil_mode, str op) except -1:
    windows(r, a, kernel, stride, padding, dilation, ceil_mode)
    result_dense(r + 1, DT_I64, r.nd, r.sizes)
    if len(kernel) == 3 and a.nd == 4 and a.flags & F_STRIDED and (
            a.mem.device == ON_CPU or a.mem.device == ON_META) and one_volume_by_places(a):
        lay_by_places(r)
        lay_by_places(r + 1)
    return 0


cdef bint one_volume_by_places(Tensor a) noexcept:
    """Return whether (C, D, H, W) has the channels innermost, as a batch of it would have."""
    cdef Py_ssize_t least = 0
    cdef int i, d
    if a.strides[0] == 0:
        return False
    for i in range(4):
        d = 4 - i if i else 0
        if a.sizes[d] == 0 or a.strides[d] < least:
            return False
        least = a.strides[d] * a.sizes[d]
    return least > a.strides[0]


cdef int lay_by_places(Result* r) noexcept:
    cdef Py_ssize_t step = r.sizes[0]
    cdef int d
    r.strided = True
    r.strides[0] = 1
    for d in range(r.nd - 1, 0, -1):
        r.strides[d] = step
        step *= r.sizes[d]
    return 0


cdef int max_values(Result* r, Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                    bint ceil_mode, str op) except -1:
    return windows(r, a, kernel, stride, padding, dilation, ceil_mode)


cdef int adaptive(Result* r, Tensor a, tuple size, str op) except -1:
    cdef int d, lead = a.nd - <int>len(size)
    result_dense(r, a.dt, a.nd, a.sizes)
    for d in range(lead, a.nd):
        r.sizes[d] = size[d - lead]
    return 0


cdef int adaptive_max(Result* r, Tensor a, tuple size, str op) except -1:
    adaptive(r, a, size, op)
    return result_dense(r + 1, DT_I64, r.nd, r.sizes)


cdef int sized(Result* r, Tensor grad, tuple size, str op) except -1:
    cdef int d
    r.dt = grad.dt
    r.nd = <int>len(size)
    r.strided = False
    for d in range(r.nd):
        r.sizes[d] = size[d]
    return 0
