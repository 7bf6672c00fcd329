# cython: language_level=3
"""Composites of the family linear: records in autograd_cy/ops/linear.py name them."""
from autograd_cy._C.tensor cimport Tensor, dims_of
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


cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias):
    """linear where every operand has a leading batch dimension."""
    cdef Tensor r
    cdef bint vector = x.nd == 2
    cdef Py_ssize_t rows = 1, d
    cdef tuple shape
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
