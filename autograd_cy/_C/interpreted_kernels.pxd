# cython: language_level=3
"""Kernels of interpreted operators."""
from autograd_cy._C.storage cimport MAX_DEVICE_TYPES
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    MOST_RESULTS = 4

cdef class ElementwiseKernel:
    cdef int number, rule
    cdef tuple places
    cdef str name
    cdef Tensor launch(self, tuple args, Tensor out)
    cdef int known_dtype(self, tuple args) except -2

cdef class ShapedKernel:
    cdef void* slots[MAX_DEVICE_TYPES]
    cdef object rule, kernel_args, make
    cdef readonly object over           # the place of the argument that a result may be, or None
    cdef list calls                     # the kernel of each device as a Python function
    cdef int n
    cdef bint places                    # it writes some places of `over`, of whatever strides
    cdef int refuse(self, str name, tuple args) except -1
    cdef object run(self, str name, tuple args, tuple read, bint on_device, tuple outs, str rule)
    cdef int run_inplace(self, str name, tuple args, tuple read, tuple others,
                         bint on_device) except -1
    cdef int fill(self, list to, tuple args, int device, str name) except -1
    cdef tuple apart(self, Tensor out, tuple args, object itself, str name)

cdef class HostKernel:
    cdef object function
    cdef tuple dtypes
    cdef str name
