# cython: language_level=3
"""Composites of the family shape."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor reshape(Tensor a, tuple shape)
cdef Tensor ravel(Tensor a)
cdef Tensor flatten(Tensor a, Py_ssize_t start, Py_ssize_t end)
cdef Tensor movedim(Tensor a, object source, object destination)
cdef Tensor insert_dims(Tensor a, Py_ssize_t ndim)
cdef Tensor trailing_dims(Tensor a, Py_ssize_t ndim)
cdef Tensor up_to_2d(Tensor a)
cdef Tensor dense_window(Tensor grad, tuple size, tuple stride, object storage_offset)
cdef Tensor unflatten(Tensor a, Py_ssize_t dim, tuple sizes)
cdef Tensor repeat(Tensor a, tuple sizes)
cdef Tensor tile(Tensor a, tuple dims)
cdef Tensor repeat_interleave(Tensor a, object repeats, object dim, object output_size)
cdef Tensor repeat_counts(Tensor repeats, object output_size)
cdef Tensor roll(Tensor a, tuple shifts, tuple dims)
cdef Tensor fliplr(Tensor a)
cdef Tensor flipud(Tensor a)
cdef Tensor rot90(Tensor a, Py_ssize_t k, tuple dims)
cdef Tensor diag_embed(Tensor a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2)
cdef Tensor diag(Tensor a, Py_ssize_t diagonal, Tensor out)
