# cython: language_level=3
"""Composites of the family linear: records in autograd_cy/ops/linear.py name them."""
from autograd_cy._C.rules_products cimport broadcasts
from autograd_cy._C.tensor cimport MAX_DIMS, Tensor, dims_of
include "operators_of_linear_composites.pxi"


cdef Tensor flatten_rows(Tensor a):
    cdef Py_ssize_t rows = 1, d
    if a.nd == 2:
        return a
    if a.nd == 0:
        return T.reshape(a, (1, 1))
    for d in range(a.nd - 1):
        rows *= a.sizes[d]
    return T.reshape(a, (rows, a.sizes[a.nd - 1]))


cdef Tensor weight_gradient(Tensor grad, Tensor x):
    """A matrix, or a vector where the results have a dimension less."""
    if grad.nd < x.nd:
        return T.mv(T._conjugate(T.t(flatten_rows(x))), T.reshape(grad, (-1,)))
    return T.mm(T.t(flatten_rows(grad)), T._conjugate(flatten_rows(x)))


cdef bint is_added(tuple bias, tuple results) except -1:
    """Return whether a bias of that shape is added to the results, and not to a matrix of their
    rows."""
    cdef Py_ssize_t[MAX_DIMS] sizes, to
    cdef int d
    for d in range(<int>len(bias)):
        sizes[d] = bias[d]
    for d in range(<int>len(results)):
        to[d] = results[d]
    return broadcasts(<int>len(bias), sizes, <int>len(results), to)


cdef Tensor bias_gradient(Tensor grad, tuple size):
    """Return the gradient of a bias with several dimensions; the edge sums over those that it
    hasn't got."""
    return grad if is_added(size, dims_of(grad)) else flatten_rows(grad)


cdef Tensor spread(Tensor bias, tuple results):
    """A bias in the shape of the results."""
    cdef Py_ssize_t rows = 1, n
    if is_added(dims_of(bias), results):
        return T.expand(bias, results)
    for n in results[:len(results) - 1]:
        rows *= n
    return T.reshape(T.expand(bias, (rows, results[len(results) - 1])), results)


cdef Tensor spread_each(Tensor bias, tuple results):
    """A batch of them, in the shape of the results."""
    cdef tuple of_one = dims_of(bias)[1:]
    cdef Py_ssize_t n = results[0], rows = 1, d
    if is_added(of_one, results[1:]):
        return T.reshape(bias, (n,) + (1,) * (len(results) - bias.nd) + of_one)
    for d in results[1:len(results) - 1]:
        rows *= d
    return T.reshape(T.expand(bias, (n, rows, results[len(results) - 1])), results)


cdef Tensor linear_of_examples(Tensor x, Tensor weight, Tensor bias):
    """linear of a batch, with the weight and the bias of all."""
    cdef Tensor r
    if bias is None or bias.nd < 2:
        return T.linear(x, weight, bias)
    r = T.linear(x, weight, None)
    return T.add(r, spread(bias, dims_of(r)[1:]))


cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias):
    """linear where every operand has a leading batch dimension."""
    cdef Tensor r
    cdef bint vector = x.nd == 2
    cdef Py_ssize_t rows = 1, d
    cdef tuple shape
    if bias is not None and bias.nd > 2:
        r = batched_linear(x, weight, None)
        return T.add(r, spread_each(bias, dims_of(r)))
    if weight.nd == 2:
        bias = None if bias is None else T.unsqueeze(bias, 1)
        r = batched_linear(x, T.unsqueeze(weight, 1), bias)
        return T.squeeze_dim(r, (r.nd - 1,))
    if vector:
        x = T.unsqueeze(x, 1)
    shape = dims_of(x)
    for d in range(1, x.nd - 1):
        rows *= x.sizes[d]
    r = T.bmm(T.reshape(x, (shape[0], rows, x.sizes[x.nd - 1])), T.transpose(weight, 1, 2))
    if bias is not None:
        if bias.nd == 1:                # one number for each example
            bias = T.unsqueeze(bias, 1)
        r = T.add(r, T.unsqueeze(bias, 1))
    r = T.reshape(r, shape[:len(shape) - 1] + (weight.sizes[1],))
    return T.squeeze_dim(r, (1,)) if vector else r
