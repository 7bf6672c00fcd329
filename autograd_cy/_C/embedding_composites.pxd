# cython: language_level=3
"""Composites of the family embedding."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor embedding_each(Tensor weight, Tensor indices, Py_ssize_t padding_idx, bint scale,
                           bint sparse)
cdef Tensor dense_backward_each(Tensor grad, Tensor indices, Py_ssize_t rows,
                                Py_ssize_t padding_idx, bint scale)
cdef Tensor dense_backward_shared(Tensor grad, Tensor indices, Py_ssize_t rows,
                                  Py_ssize_t padding_idx, bint scale)
cdef tuple embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bint scale_grad_by_freq,
                         Py_ssize_t mode, bint sparse, Tensor per_sample_weights,
                         bint include_last_offset, object padding_idx)
cdef Tensor embedding_bag_weight(Tensor grad, Tensor indices, Tensor bag_of, Tensor sizes,
                                 Tensor places, Tensor samples, Py_ssize_t rows, Py_ssize_t mode,
                                 bint scale, Py_ssize_t padding)
cdef Tensor embedding_bag_samples(Tensor grad, Tensor weight, Tensor indices, Tensor bag_of,
                                  Py_ssize_t padding)
cdef Tensor embedding_bag_jvp(Tensor tangent, Tensor indices, Tensor bag_of, Tensor sizes,
                              Tensor places, Tensor samples, Py_ssize_t mode,
                              Py_ssize_t padding)
