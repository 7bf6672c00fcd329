# cython: language_level=3
"""Composites of the family indexing."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor pad_corner(Tensor a, object shape)
cdef Tensor value_like(Tensor value, Tensor other)
cdef Tensor at_each(Tensor value, Tensor other, Tensor index)
cdef Tensor masked_select(Tensor a, Tensor mask)
cdef Tensor diagonal_scatter(Tensor a, Tensor src, Py_ssize_t offset, Py_ssize_t dim1,
                             Py_ssize_t dim2)
cdef Tensor select_scatter(Tensor a, Tensor src, Py_ssize_t dim, Py_ssize_t index)
cdef Tensor slice_scatter(Tensor a, Tensor src, Py_ssize_t dim, object start, object end,
                          Py_ssize_t step)
cdef Tensor index_put(Tensor a, object indices, Tensor values, bint accumulate)
cdef Tensor index_copy_places(Tensor a, Py_ssize_t dim, Tensor index, Tensor source)
cdef Tensor index_fill_mask(Tensor a, Py_ssize_t dim, Tensor index, Tensor value)
cdef Tensor masked_scatter(Tensor a, Tensor mask, Tensor source)
cdef Tensor take(Tensor a, Tensor index, Tensor out)
cdef Tensor along(Tensor index, Py_ssize_t dim, Tensor like)
cdef Tensor to_slots(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                     str reduce, bint include_self)
cdef Tensor to_sources(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                       str reduce, bint include_self, str op, str name)
cdef Tensor sources_jvp(Tensor tangent, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                        Tensor result, str reduce, bint include_self, str op, str name)
cdef Tensor gather_sparse(Tensor a, Py_ssize_t dim, Tensor index, bint sparse_grad)
cdef Tensor scatter_by(Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce,
                       Tensor out)
cdef tuple nonzero_tuple(Tensor a, bint as_tuple)
cdef Tensor raise_where(Tensor grad, Tensor mask, str text)
