# cython: language_level=3
"""vmap rules of the negative log-likelihood: examples are rows."""
from autograd_cy._C.batching cimport (
    batch_expand, batch_front, batch_size_of, loop_batch, wrap_results, wrap_shared,
    wrap_shared_all)
from autograd_cy._C.levels cimport any_batched, is_batched, lowered, top_level
from autograd_cy._C.tensor cimport Tensor, dims_of, wrap_at, wrap_double, wrap_int
include "operators_of_loss_batching.pxi"

__all__: list[str] = []


cdef Tensor merged(Tensor t):
    """The first two dimensions, examples and rows of each, as one."""
    cdef tuple shape = dims_of(t)
    return T.reshape(t, (shape[0] * shape[1],) + shape[2:])


cdef Tensor sum_per_example(Tensor t):
    if t.nd == 1:
        return t
    return T.sum_dim(t, tuple(range(1, t.nd)), False, -1)


cdef tuple nll_forward_each(Tensor self, Tensor target, Tensor weight, Py_ssize_t reduction,
                            Py_ssize_t ignore_index):
    cdef int level = top_level((self, target, weight))
    cdef Tensor each, keep, w, total
    cdef Py_ssize_t size
    self = lowered(self, level)
    target = lowered(target, level)
    weight = lowered(weight, level)
    if is_batched(weight, level) or target.nd != self.nd - 1:
        # Each example says what is wrong with its dimensions.
        return loop_batch("nll_loss_forward", (self, target, weight, reduction, ignore_index),
                          level)
    if not any_batched((self, target), level):
        return wrap_shared_all(
            T.nll_loss_forward(self, target, weight, reduction, ignore_index), level)
    size = batch_size_of((self, target), level)
    self = batch_expand(batch_front(self, level), is_batched(self, level), size)
    target = batch_expand(batch_front(target, level), is_batched(target, level), size)
    if self.nd == 2:
        each = <Tensor>T.nll_loss_forward(self, target, weight, 0, ignore_index)[0]
    else:
        each = T.reshape(<Tensor>T.nll_loss_forward(merged(self), merged(target), weight, 0,
                                                    ignore_index)[0], dims_of(target))
    if reduction == 0:
        return wrap_results((each, T.new_zeros(each, (size,))), level)
    keep = T.ne(target, wrap_int(ignore_index))
    if weight is None:
        w = T._to_dtype(keep, self.dt)
    else:
        w = T.index_select(weight, 0, T.reshape(T.where(keep, target, wrap_int(0)), (-1,)))
        w = T.where(keep, T.reshape(w, dims_of(target)), wrap_double(0.0))
    total = sum_per_example(w)
    each = sum_per_example(each)
    return wrap_results((T.div(each, total) if reduction == 1 else each, total), level)


cdef Tensor nll_backward_each(Tensor grad_output, Tensor target, Tensor weight, Tensor total_weight,
                              tuple size, Py_ssize_t reduction, Py_ssize_t ignore_index):
    cdef int level = top_level((grad_output, target, weight, total_weight))
    cdef Tensor g, zero
    cdef Py_ssize_t count
    grad_output = lowered(grad_output, level)
    target = lowered(target, level)
    weight = lowered(weight, level)
    total_weight = lowered(total_weight, level)
    if is_batched(weight, level):
        return loop_batch("nll_loss_backward", (grad_output, target, weight, total_weight, size,
                                                reduction, ignore_index), level)
    if not any_batched((grad_output, target, total_weight), level):
        return wrap_shared(T.nll_loss_backward(grad_output, target, weight, total_weight, size,
                                               reduction, ignore_index), level)
    count = batch_size_of((grad_output, target, total_weight), level)
    g = batch_expand(batch_front(grad_output, level), is_batched(grad_output, level), count)
    target = batch_expand(batch_front(target, level), is_batched(target, level), count)
    if reduction == 1:
        g = T.div(g, batch_front(total_weight, level))
    if reduction != 0:
        while g.nd < target.nd:
            g = T.unsqueeze(g, -1)
        g = T.expand(g, dims_of(target))
    zero = T.new_zeros(g, ())
    if len(size) == 1:
        g = T.nll_loss_backward(g, target, weight, zero, (count,) + size, 0, ignore_index)
    else:
        g = T.nll_loss_backward(merged(g), merged(target), weight, zero,
                                (count * size[0],) + size[1:], 0, ignore_index)
        g = T.reshape(g, (count,) + size)
    return wrap_at(g, 0, level)
