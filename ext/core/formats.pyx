# cython: language_level=3
"""
Results in channels last, where an operand is.

Kernels that know C order alone fill such memory, and it is turned afterwards (`follows` in the
table); so an operator keeps the memory format of a network whatever its kernel can. Kernels of
`any_format` get memory in the format of the result.
"""
from autograd_cy._C.iterate cimport copy_into
from autograd_cy._C.placement cimport MF_CHANNELS_LAST, MF_CHANNELS_LAST_3D
from autograd_cy._C.storage cimport ON_META
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport (
    MAX_DIMS, Tensor, format_strides, tensor_empty_on, tensor_window)

__all__: list[str] = []


cdef bint strides_say_channels_last(Tensor a) noexcept:
    """From the channels outwards each dimension begins where those inside it end, or later.

    Strides that fit C order as well, as those of one element do, say nothing.
    """
    cdef Py_ssize_t least = 0
    cdef int i, d
    if a.strides[1] == 0:
        return False
    for i in range(a.nd):
        d = 1 if i == 0 else 0 if i == a.nd - 1 else a.nd - i
        if a.sizes[d] == 0 or a.strides[d] < least:
            return False
        if d == 0 and least == a.strides[1]:
            return False
        least = a.strides[d] * a.sizes[d]
    return True


cdef bint all_channels_last(tuple tensors) noexcept:
    for t in tensors:
        if not channels_last(<Tensor>t):
            return False
    return True


cdef Tensor turned_channels_last(Tensor a):
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Tensor r
    if a.nd != 4 and a.nd != 5:
        return a
    format_strides(a.nd, a.sizes, MF_CHANNELS_LAST if a.nd == 4 else MF_CHANNELS_LAST_3D, strides)
    r = tensor_empty_on(a.mem.device, a.dt, a.nd, a.sizes, strides)
    if a.mem.device != ON_META:
        copy_into(r, a, "copy")
    return r


cdef int lay_channels_last(Result* r) except -1:
    if r.nd != 4 and r.nd != 5:
        return 0
    r.strided = True
    return format_strides(
        r.nd, r.sizes, MF_CHANNELS_LAST if r.nd == 4 else MF_CHANNELS_LAST_3D, r.strides)


cdef bint dense_by_places(Tensor a) noexcept:
    """Return whether its memory is that of (N, D, H, W, C) in C order."""
    cdef Py_ssize_t step = 1
    cdef int i, d
    if a.nd != 4 and a.nd != 5:
        return False
    for i in range(a.nd):
        d = 1 if i == 0 else 0 if i == a.nd - 1 else a.nd - i
        if a.sizes[d] != 1 and a.strides[d] != step:
            return False
        step *= a.sizes[d]
    return True


cdef bint by_places(Tensor out, Tensor a) noexcept:
    return channels_last(a) and dense_by_places(out)


cdef Tensor dense_places(Tensor a):
    return a if dense_by_places(a) else turned_channels_last(a)


cdef Tensor places_first(Tensor a):
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    for d in range(a.nd):
        sizes[d] = a.sizes[1 if d == a.nd - 1 else d + 1 if d else 0]
    strides[a.nd - 1] = 1
    for d in range(a.nd - 2, -1, -1):
        strides[d] = strides[d + 1] * sizes[d + 1]
    return tensor_window(a, a.nd, sizes, strides, 0)
