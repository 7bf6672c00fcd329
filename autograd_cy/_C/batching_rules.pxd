# cython: language_level=3
"""vmap rules that need more than a formula; the table names them with `by_hand`."""
from libc.stdint cimport uint32_t
from autograd_cy._C.tensor cimport Tensor

cdef uint32_t flags_of_indices(object indices) noexcept
cdef tuple resolved_indices(object indices)
cdef Tensor index_each(Tensor self, object indices)
cdef Tensor index_put_each(Tensor self, object indices, Tensor values, bint accumulate)
cdef Tensor index_select_each(Tensor self, Py_ssize_t dim, Tensor index)
cdef Tensor index_add_each(Tensor self, Py_ssize_t dim, Tensor index, Tensor source)
cdef Tensor cat_each(tuple tensors, Py_ssize_t dim)
cdef Tensor strided_gather_each(Tensor self, tuple base_size, tuple base_stride,
                                Py_ssize_t base_offset, tuple size, tuple stride,
                                object storage_offset)
cdef Tensor strided_scatter_each(Tensor self, Tensor src, tuple size, tuple stride,
                                 object storage_offset)
cdef Tensor strided_backward_each(Tensor grad_output, tuple base_size, tuple base_stride,
                                  Py_ssize_t base_offset, tuple size, tuple stride,
                                  object storage_offset)
