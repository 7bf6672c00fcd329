# cython: language_level=3
"""Images at the points of a grid, on plain tensors; what is before channels is a batch."""
from autograd_cy._C.tensor cimport Tensor

cdef int grid_sample(Tensor out, Tensor image, Tensor grid, Py_ssize_t mode, Py_ssize_t padding,
                     bint align) except -1
cdef int grid_sample_input(Tensor out, Tensor grad, Tensor grid, tuple size, Py_ssize_t mode,
                           Py_ssize_t padding, bint align) except -1
cdef int grid_sample_grid(Tensor out, Tensor grad, Tensor image, Tensor grid, Py_ssize_t mode,
                          Py_ssize_t padding, bint align) except -1
