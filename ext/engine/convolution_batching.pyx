# cython: language_level=3
"""vmap rules of convolutions: examples are images, or groups if they have weights of their own."""
from autograd_cy._C.batching cimport (
    batch_expand, batch_front, batch_size_of, loop_batch, wrap_shared)
from autograd_cy._C.levels cimport any_batched, is_batched, lowered, top_level
from autograd_cy._C.tensor cimport Tensor, dims_of, wrap_at
include "operators_of_convolution_batching.pxi"

__all__: list[str] = []


cdef Tensor merge_examples(Tensor t, int level, Py_ssize_t size):
    """All examples of a tensor, one after the other."""
    return batch_expand(batch_front(t, level), is_batched(t, level), size)


cdef Tensor as_images(Tensor t):
    """(examples, images, ...) as more images."""
    cdef tuple shape = dims_of(t)
    return T.reshape(t, (shape[0] * shape[1],) + shape[2:])


cdef Tensor as_channels(Tensor t):
    """(examples, images, channels, ...) as images of more channels."""
    cdef tuple shape = dims_of(t)
    return T.reshape(T.transpose(t, 0, 1), (shape[1], shape[0] * shape[2]) + shape[3:])


cdef Tensor of_images(Tensor t, Py_ssize_t size, Py_ssize_t images):
    return T.reshape(t, (size, images) + dims_of(t)[1:])


cdef Tensor of_channels(Tensor t, Py_ssize_t size):
    cdef tuple shape = dims_of(t)
    return T.transpose(
        T.reshape(t, (shape[0], size, shape[1] // size if size else 0) + shape[2:]), 0, 1)


cdef Tensor convolution_each(Tensor input, Tensor weight, Tensor bias, tuple stride, tuple padding,
                             tuple dilation, bint transposed, tuple output_padding,
                             Py_ssize_t groups):
    cdef int level = top_level((input, weight, bias))
    cdef Py_ssize_t size
    cdef Tensor r
    input = lowered(input, level)
    weight = lowered(weight, level)
    bias = lowered(bias, level)
    if not any_batched((input, weight, bias), level):
        return wrap_shared(T.convolution(input, weight, bias, stride, padding, dilation, transposed,
                                         output_padding, groups), level)
    size = batch_size_of((input, weight, bias), level)
    if (size == 0 or input.nd < 3 or input.nd != weight.nd
            or (bias is not None and bias.nd != 1)):
        # Each example says what is wrong with its dimensions; no examples are no groups.
        return loop_batch("convolution", (input, weight, bias, stride, padding, dilation,
                                          transposed, output_padding, groups), level)
    if not any_batched((weight, bias), level):
        input = merge_examples(input, level, size)
        r = T.convolution(as_images(input), weight, bias, stride, padding, dilation, transposed,
                          output_padding, groups)
        return wrap_at(of_images(r, size, input.sizes[1]), 0, level)
    if bias is not None:
        bias = T.reshape(merge_examples(bias, level, size), (-1,))
    r = T.convolution(as_channels(merge_examples(input, level, size)),
                      as_images(merge_examples(weight, level, size)),
                      bias, stride, padding, dilation, transposed, output_padding, groups * size)
    return wrap_at(of_channels(r, size), 0, level)


cdef Tensor input_each(Tensor grad_output, Tensor weight, tuple size, tuple stride, tuple padding,
                       tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups):
    cdef int level = top_level((grad_output, weight))
    cdef Py_ssize_t count
    cdef Tensor r
    grad_output = lowered(grad_output, level)
    weight = lowered(weight, level)
    if not any_batched((grad_output, weight), level):
        return wrap_shared(
            T._convolution_input(grad_output, weight, size, stride, padding, dilation, transposed,
                                 output_padding, groups), level)
    count = batch_size_of((grad_output, weight), level)
    if count == 0:
        return loop_batch("_convolution_input", (grad_output, weight, size, stride, padding,
                                                 dilation, transposed, output_padding, groups),
                          level)
    if not is_batched(weight, level):
        r = T._convolution_input(
            as_images(merge_examples(grad_output, level, count)), weight,
            (count * size[0],) + size[1:],
            stride, padding, dilation, transposed, output_padding, groups)
        return wrap_at(of_images(r, count, size[0]), 0, level)
    r = T._convolution_input(
        as_channels(merge_examples(grad_output, level, count)),
        as_images(merge_examples(weight, level, count)),
        (size[0], count * size[1]) + size[2:], stride, padding, dilation, transposed,
        output_padding, groups * count)
    return wrap_at(of_channels(r, count), 0, level)


cdef Tensor weight_each(Tensor grad_output, Tensor input, tuple size, tuple stride, tuple padding,
                        tuple dilation, bint transposed, tuple output_padding, Py_ssize_t groups):
    cdef int level = top_level((grad_output, input))
    cdef Py_ssize_t count
    cdef Tensor r
    grad_output = lowered(grad_output, level)
    input = lowered(input, level)
    if not any_batched((grad_output, input), level):
        return wrap_shared(
            T._convolution_weight(grad_output, input, size, stride, padding, dilation, transposed,
                                  output_padding, groups), level)
    count = batch_size_of((grad_output, input), level)
    if count == 0:
        return loop_batch("_convolution_weight", (grad_output, input, size, stride, padding,
                                                  dilation, transposed, output_padding, groups),
                          level)
    r = T._convolution_weight(
        as_channels(merge_examples(grad_output, level, count)),
        as_channels(merge_examples(input, level, count)),
        (count * size[0],) + size[1:], stride, padding, dilation, transposed, output_padding,
        groups * count)
    return wrap_at(of_images(r, count, size[0]), 0, level)
