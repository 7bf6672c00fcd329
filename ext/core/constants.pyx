# cython: language_level=3
"""Constant tensors outside of the graph."""
from autograd_cy._C.dtypes cimport DT_I64
from autograd_cy._C.iterate cimport fill_with, to_device
from autograd_cy._C.launch cimport note_constant
from autograd_cy._C.tensor cimport Tensor, tensor_empty, tensor_empty_on, MAX_DIMS


cdef Tensor filled(Tensor a, int dt, tuple size, object value):
    """A tensor of one value on a's device, outside of the graph."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int d
    cdef Tensor r
    for d in range(len(size)):
        shape[d] = size[d]
    r = tensor_empty_on(a.mem.device, dt, <int>len(size), shape, NULL)
    fill_with(r, value)
    return r


cdef Tensor index_vector(Tensor a, list places):
    """Indices on a's device."""
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t i
    cdef Tensor r
    shape[0] = len(places)
    r = tensor_empty(DT_I64, 1, shape)
    for i in range(shape[0]):
        (<long long*>r.ptr)[i] = places[i]
    note_constant(r)
    return to_device(r, a.mem.device)
