# cython: language_level=3
"""Memory of tensors as mpi4py takes it."""
from autograd_cy._C.tensor cimport Tensor

cdef int look_at(Tensor t) except -1     # before its memory is used
cdef object memory_at(size_t address, Py_ssize_t nbytes)          # mpi4py's object
cdef list part_of(Tensor t, Py_ssize_t start, Py_ssize_t stop)    # memory, count and datatype
