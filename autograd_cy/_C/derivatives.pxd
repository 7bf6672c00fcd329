# cython: language_level=3
"""Derivatives that are more than a formula."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor not_implemented(Tensor grad, str name)
cdef Tensor not_forward(Tensor tangent, str name)
cdef Tensor raise_where(Tensor grad, Tensor mask, str text)
cdef Tensor var_mean_backward(Tensor var, Tensor mean, Tensor a, object dim, double correction,
                              bint keepdim)
cdef Tensor std_mean_backward(Tensor std, Tensor mean, Tensor root, Tensor a, object dim,
                              double correction, bint keepdim)
cdef Tensor var_moved(Tensor moved, Tensor a, object dim, double correction, bint keepdim)
cdef Tensor of_root(Tensor moved, Tensor root)
cdef Tensor along(Tensor index, Py_ssize_t dim, Tensor like)
cdef Tensor to_slots(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                     str reduce, bint include_self)
cdef Tensor to_sources(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                       str reduce, bint include_self, str op, str name)
cdef Tensor moved_sources(Tensor moved, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                          Tensor result, str reduce, bint include_self, str op, str name)
cdef Tensor eigh_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors)
cdef Tensor eigenvalues_moved(Tensor moved, Tensor vectors)
cdef Tensor eigenvectors_moved(Tensor moved, Tensor values, Tensor vectors)
