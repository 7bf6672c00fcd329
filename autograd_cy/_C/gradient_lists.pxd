# cython: language_level=3
"""Kernels of the CPU for lists of gradients, and for scalers of losses; all numbers are read and
written when a launch runs."""
from autograd_cy._C.tensor cimport Tensor

cdef int unscale(tuple grads, Tensor found_inf, Tensor inv_scale) except -1
cdef int clip(tuple grads, Tensor total_norm, double max_norm) except -1
cdef int total_norm(Tensor out, tuple tensors) except -1
cdef int update_scale(Tensor scale, Tensor growth_tracker, Tensor found_inf, double growth,
                      double backoff, Py_ssize_t interval) except -1
