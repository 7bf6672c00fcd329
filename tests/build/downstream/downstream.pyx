# cython: language_level=3
"""Operators called through the table record as their Python forms do."""
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.optable cimport T
from autograd_cy._C.tensor cimport Tensor, is_tensor, tensor_empty, wrap_double


def make(Py_ssize_t rows, Py_ssize_t columns):
    cdef Py_ssize_t[2] shape
    shape[0], shape[1] = rows, columns
    return tensor_empty(0, 2, shape)


def describe(Tensor t not None):
    return t.nd, t.count, t.sizes[0], t.sizes[1], DT_SIZE[t.dt] > 0


def recognises(x):
    return is_tensor(x)


def polynomial(Tensor x not None, int degree):
    """The sum of ``x**k / k`` for ``k`` from 1 to `degree`, by Horner's rule."""
    cdef Tensor total = wrap_double(1.0 / degree)
    cdef int k
    for k in range(degree - 1, 0, -1):
        total = T.add(T.mul(total, x), wrap_double(1.0 / k))
    return T.mul(total, x)


def twice_in_place(Tensor x not None):
    return T.mul_(x, wrap_double(2.0))
