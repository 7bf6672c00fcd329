# cython: language_level=3
"""Composites of the family resampling: records in autograd_cy/ops/resampling.py name them."""
from autograd_cy._C.dtypes cimport dt_is_float, dt_scalar_name, DT_I64, DT_U8
from autograd_cy._C.formats cimport channels_last
from autograd_cy._C.placement cimport MF_CHANNELS_LAST
from autograd_cy._C.resample_loops cimport CUBIC, LINEAR, NEAREST_EXACT

from autograd_cy._C.tensor cimport Tensor, dims_of, sizes_of
include "operators_of_resampling_composites.pxi"


# --- interpolation --------------------------------------------------------------------------

cdef str axes_of(list sizes):
    names = "DHW"[3 - len(sizes):]
    return ", ".join([f"{axis}: {n}" for axis, n in zip(names, sizes)])


cdef Tensor resample_form(Tensor a, tuple size, double scale_d, double scale_h, double scale_w,
                          Py_ssize_t mode, bint align):
    cdef int d, n = <int>len(size)
    cdef bint fits = True
    cdef str word
    cdef list sizes = [a.sizes[a.nd - n + d] for d in range(n)], wanted = list(size)
    for d in range(n):
        fits = fits and sizes[d] > 0 and wanted[d] > 0
    if not fits:
        if n == 1:
            raise RuntimeError(
                f"Input and output sizes should be greater than 0, but got input ({axes_of(sizes)})"
                f" and output ({axes_of(wanted)})")
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({axes_of(sizes)}) "
            f"output ({axes_of(wanted)})")
    if a.sizes[1] == 0:
        raise RuntimeError(
            f"Non-empty {a.nd}D data tensor expected but got a tensor with sizes "
            f"{list(sizes_of(a))}")
    if not dt_is_float(a.dt) and not (a.dt == DT_U8 and mode <= NEAREST_EXACT):
        word = "bicubic" if mode == CUBIC else "nearest"
        if mode == LINEAR:
            word = ("linear", "bilinear", "trilinear")[n - 1]
        raise NotImplementedError(
            f"\"upsample_{word}{n}d\" not implemented for '{dt_scalar_name(a.dt)}'")
    return T._resample(a, size, scale_d, scale_h, scale_w, mode, align)


# --- elements in another order --------------------------------------------------------------

cdef Py_ssize_t LARGEST_ROOT = 3037000499  # the square of the next is no Py_ssize_t


cdef Tensor own(Tensor result, Tensor source, int form):
    """Results have memory of their own, also where every element stays."""
    return T.clone(result, form) if result.mem == source.mem else result


cdef Tensor pixel_shuffle(Tensor input, Py_ssize_t factor):
    cdef Tensor a = input
    cdef tuple shape = dims_of(a), lead
    cdef Py_ssize_t n = len(shape), c, h, w
    cdef object times = factor  # without elements, sizes may be beyond C's
    if n < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {n} "
            "dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {factor}")
    if factor > LARGEST_ROOT:
        raise ValueError(
            "upscale factor is too large, (upscale_factor)^2 overflowed: "
            f"upscale_factor={factor}")
    lead = shape[:n - 3]
    c, h, w = shape[n - 3], shape[n - 2], shape[n - 1]
    if c % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={c} is not divisible by {factor * factor}")
    c //= factor * factor
    if n == 4 and channels_last(a):
        a = T.reshape(T.permute(a, (0, 2, 3, 1)), (shape[0], h, w, c, factor, factor))
        a = T.reshape(T.permute(a, (0, 1, 4, 2, 5, 3)), (shape[0], h * times, w * times, c))
        return own(T.permute(a, (0, 3, 1, 2)), input, -1)
    a = T.permute(T.reshape(a, lead + (c, factor, factor, h, w)),
                  tuple(range(n - 3)) + (n - 3, n, n - 2, n + 1, n - 1))
    return own(T.reshape(a, lead + (c, h * times, w * times)), input, 0)


cdef Tensor pixel_unshuffle(Tensor input, Py_ssize_t factor):
    cdef Tensor a = input
    cdef tuple shape = dims_of(a), lead
    cdef Py_ssize_t n = len(shape), c, h, w
    cdef object times = factor
    if n < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {n} "
            "dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {factor}")
    lead = shape[:n - 3]
    c, h, w = shape[n - 3], shape[n - 2], shape[n - 1]
    for name, at, size in (("height", -2, h), ("width", -1, w)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({at})={size} is not divisible by {factor}")
    h //= factor
    w //= factor
    if n == 4 and channels_last(a):
        a = T.reshape(T.permute(a, (0, 2, 3, 1)), (shape[0], h, factor, w, factor, c))
        a = T.reshape(T.permute(a, (0, 1, 3, 5, 2, 4)), (shape[0], h, w, times * times * c))
        return own(T.permute(a, (0, 3, 1, 2)), input, -1)
    a = T.permute(T.reshape(a, lead + (c, h, factor, w, factor)),
                  tuple(range(n - 3)) + (n - 3, n - 1, n + 1, n - 2, n))
    return own(T.reshape(a, lead + (times * times * c, h, w)), input, 0)


cdef Tensor channel_shuffle(Tensor input, Py_ssize_t groups):
    cdef Tensor a = input
    cdef tuple shape = dims_of(a), lead
    if a.nd <= 2:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(sizes_of(a))}")
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if a.sizes[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and "
            f"{groups} groups.")
    if channels_last(a):
        a = T.movedim(a, (1,), (-1,))
        lead = dims_of(a)
        a = T.transpose(T.reshape(a, lead[:a.nd - 1] + (groups, shape[1] // groups)), -1, -2)
        return own(T.movedim(T.reshape(a, lead), (-1,), (1,)), input, -1)
    a = T.transpose(T.reshape(a, (shape[0], groups, shape[1] // groups) + shape[2:]), 1, 2)
    return own(T.reshape(a, shape), input, 0)


# --- elements where they were -----------------------------------------------------------------

cdef Tensor unpool(Tensor a, Tensor indices, tuple size):
    """Zeros but for the elements at their places, which count in planes of `size`."""
    cdef Py_ssize_t n = len(size), lead = a.nd - n, count = 1, d
    cdef object inside = 1
    cdef tuple shape = dims_of(a)
    cdef bint last = a.nd == 4 and channels_last(a)
    if indices.dt != DT_I64:
        raise RuntimeError(
            "elements in indices should be type int64 but got: " + dt_scalar_name(indices.dt))
    if a.nd < n + 1 or a.nd > n + 2:
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a tensor "
            f"with {a.nd} dimensions.")
    if dims_of(indices) != shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but "
            f"got indices tensor with shape: {list(dims_of(indices))}")
    for d in range(n):
        inside *= size[d]
        count *= shape[lead + d]
    if inside >= <Py_ssize_t>1 << 60:
        raise RuntimeError(
            f"max_unpool{n}d: Storage size calculation overflowed with planes of {list(size)}")
    a = T.scatter_src(T.new_zeros(a, shape[:lead] + (inside,)), lead,
                      T.reshape(indices, shape[:lead] + (count,)),
                      T.reshape(a, shape[:lead] + (count,)))
    a = T.reshape(a, shape[:lead] + size)
    if last:
        return T.clone(a, MF_CHANNELS_LAST)
    return a
