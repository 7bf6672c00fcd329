# cython: language_level=3
"""Shape rules of operators that change lists of tensors: they check, and there are no results."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int step(Result* r, tuple params, tuple grads, tuple arrays, tuple numbers, Tensor lr,
              Tensor grad_scale, Tensor found_inf, str op) except -1
cdef int unscaled(Result* r, tuple grads, Tensor found_inf, Tensor inv_scale, str op) except -1
cdef int total_norm(Result* r, tuple tensors, str op) except -1
cdef int clipped(Result* r, tuple grads, Tensor total_norm, str op) except -1
cdef int scale_updated(Result* r, Tensor scale, Tensor growth_tracker, Tensor found_inf,
                       str op) except -1
