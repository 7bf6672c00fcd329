# cython: language_level=3
"""Composites of the family convolution: records in autograd_cy/ops/convolution.py name them."""
from autograd_cy._C.tensor cimport Tensor, sizes_of, wrap_int
include "operators_of_convolution_composites.pxi"

__all__: list[str] = []


cdef bint is_batched_input(Tensor input, int nd, str op) except -1:
    if input.nd != nd + 1 and input.nd != nd + 2:
        raise RuntimeError(
            f"Expected {nd + 1}D (unbatched) or {nd + 2}D (batched) input to {op}, but got input "
            f"of size: {list(sizes_of(input))}")
    return input.nd == nd + 2


cdef int check_weight(Tensor weight, int nd, str op) except -1:
    if weight.nd != nd + 2:
        raise RuntimeError(
            f"{op}: expected weight to be {nd + 2}-dimensional for {nd} spatial dimensions, but "
            f"got weight of size {list(sizes_of(weight))}")
    return 0


cdef inline tuple per_dim(tuple values, int nd):
    """One number for each dimension, where one stands for all."""
    return values * nd if len(values) == 1 else values


cdef Tensor convolve(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                     tuple dilation, Py_ssize_t groups, int nd, str op):
    cdef bint batched = is_batched_input(input, nd, op)
    cdef Py_ssize_t d, total
    cdef list margin = []
    cdef tuple odd = ()
    cdef Tensor r
    check_weight(weight, nd, op)
    if not batched:
        input = T.unsqueeze(input, 0)
    if isinstance(padding, str):
        if padding == "valid":
            r = T.convolution(input, weight, bias, per_dim(stride, nd), (0,), per_dim(dilation, nd),
                              False, (0,), groups)
            return r if batched else T.squeeze_dim(r, (0,))
        if padding != "same":
            raise RuntimeError(f"Invalid padding string: '{padding}'; use 'valid' or 'same'")
        if any(s != 1 for s in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        if len(dilation) not in (1, nd):
            raise RuntimeError(
                f"expected dilation to be a single integer value or a list of {nd} values to "
                f"match the convolution dimensions, but got dilation={list(dilation)}")
        for d in range(nd):
            total = (dilation[0 if len(dilation) == 1 else d]) * (weight.sizes[2 + d] - 1)
            margin.append(total // 2)
            # The odd one goes to the end alone; constant_pad_nd counts from the last dimension on.
            odd = (0, total % 2) + odd
        padding = tuple(margin)
        if any(odd):
            input = T.constant_pad_nd(input, odd, wrap_int(0))
    r = T.convolution(input, weight, bias, per_dim(stride, nd), per_dim(padding, nd),
                      per_dim(dilation, nd), False, (0,) * nd, groups)
    return r if batched else T.squeeze_dim(r, (0,))


cdef Tensor transposed(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                       tuple output_padding, Py_ssize_t groups, tuple dilation, int nd, str op):
    cdef bint batched = is_batched_input(input, nd, op)
    cdef Tensor r
    check_weight(weight, nd, op)
    if not batched:
        input = T.unsqueeze(input, 0)
    r = T.convolution(input, weight, bias, per_dim(stride, nd), per_dim(padding, nd),
                      per_dim(dilation, nd), True, per_dim(output_padding, nd), groups)
    return r if batched else T.squeeze_dim(r, (0,))


cdef Tensor conv1d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups):
    return convolve(input, weight, bias, stride, padding, dilation, groups, 1, "conv1d")


cdef Tensor conv2d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups):
    return convolve(input, weight, bias, stride, padding, dilation, groups, 2, "conv2d")


cdef Tensor conv3d(Tensor input, Tensor weight, Tensor bias, tuple stride, object padding,
                   tuple dilation, Py_ssize_t groups):
    return convolve(input, weight, bias, stride, padding, dilation, groups, 3, "conv3d")


cdef Tensor conv_transpose1d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation):
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 1,
                      "conv_transpose1d")


cdef Tensor conv_transpose2d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation):
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 2,
                      "conv_transpose2d")


cdef Tensor conv_transpose3d(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple output_padding, Py_ssize_t groups, tuple dilation):
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 3,
                      "conv_transpose3d")


cdef Tensor sum_channels(Tensor grad):
    """Return the gradient of the bias: the sum over all dimensions but that of channels."""
    return T.sum_dim(grad, (0,) + tuple(range(2, grad.nd)), False, -1)


cdef Tensor spread_channels(Tensor values, tuple shape):
    """One value for each channel, in the shape of the result."""
    return T.expand(T.reshape(values, (1, -1) + (1,) * (len(shape) - 2)), shape)


cdef Tensor unfold(Tensor input, tuple kernel_size, tuple dilation, tuple padding, tuple stride):
    return T._im2col(input, kernel_size, dilation, padding, stride)


cdef Tensor fold(Tensor input, tuple output_size, tuple kernel_size, tuple dilation, tuple padding,
                 tuple stride):
    return T._col2im(input, output_size, kernel_size, dilation, padding, stride)
