# cython: language_level=3
"""Constant tensors outside of the graph."""
from autograd_cy._C.dtypes cimport DT_I64
from autograd_cy._C.iterate cimport fill_with
from autograd_cy._C.tensor cimport Tensor, tensor_empty, MAX_DIMS


cdef Tensor filled(int dt, tuple size, object value):
    """A tensor of one value, outside of the graph."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int d
    cdef Tensor r
    for d in range(len(size)):
        shape[d] = size[d]
    r = tensor_empty(dt, <int>len(size), shape)
    fill_with(r, value)
    return r


cdef Tensor index_vector(list places):
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t i
    cdef Tensor r
    shape[0] = len(places)
    r = tensor_empty(DT_I64, 1, shape)
    for i in range(shape[0]):
        (<long long*>r.ptr)[i] = places[i]
    return r
