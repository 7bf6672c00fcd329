# cython: language_level=3
"""Rows of a table by index, their gradients, and sums, means and maxima of bags of them."""
from autograd_cy._C.tensor cimport Tensor

# `padding` is an index whose rows count for nothing, or -1.
cdef int embedding_into(Tensor out, Tensor weight, Tensor indices) except -1
cdef int embedding_dense_backward_into(Tensor out, Tensor grad, Tensor indices, Py_ssize_t rows,
                                       Py_ssize_t padding, bint scale) except -1
cdef int embedding_rows_into(Tensor out, Tensor grad, Tensor indices, Py_ssize_t padding,
                             bint scale) except -1
cdef int embedding_bag_into(Tensor out, Tensor bag_of, Tensor sizes, Tensor places, Tensor weight,
                            Tensor indices, Tensor offsets, Tensor samples, Py_ssize_t mode,
                            Py_ssize_t padding) except -1
