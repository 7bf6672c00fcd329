# cython: language_level=3
"""Constant tensors outside of the graph, made on the device that is to have them."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor filled(Tensor a, int dt, tuple size, object value)
cdef Tensor counted(int device, Py_ssize_t n, Py_ssize_t step)    # int64: 0, step, 2 * step, ...
# first + i * step in a dense `out`; both are ints, or both floats.
cdef int fill_range(Tensor out, object first, object step) except -1
cdef bint makes_ranges(int device) except -1         # without a copy from the host
