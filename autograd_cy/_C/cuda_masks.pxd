# cython: language_level=3
"""Positions of what is true on CUDA devices, and what index tensors and masks select."""
from libc.stdint cimport int64_t
from autograd_cy._C.tensor cimport Tensor

cdef class Places:
    """A selection x[i, j, ...]: index tensors, and which dimensions they index."""
    cdef Tensor source          # the tensor; dimensions of a mask may be joined to one
    cdef list index             # int32 or int64 tensors of the device, of any strides
    cdef int n                  # how many
    cdef int dim[64]            # of `source`, that each indexes
    cdef int64_t size[64]       # of that
    cdef char taken[64]         # which dimensions of `source` are indexed
    cdef int nd                 # the shape that index tensors broadcast to
    cdef Py_ssize_t shape[64]
    cdef int before             # dimensions of the selection in front of that shape

# The shape rule has checked all but values; `masks` are what count_masks found, or None.
cdef Places resolve_indices(Tensor a, tuple indices, list masks)
