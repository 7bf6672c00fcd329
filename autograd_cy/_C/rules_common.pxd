# cython: language_level=3
"""Shape rules of many operators, and what rules are made of."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int same(Result* r, Tensor a, str op) except -1     # dtype, shape and order of dimensions of a
cdef int turned(Result* r, Tensor a, tuple dims, str op) except -1   # flip: dims are checked

# --- dimensions -----------------------------------------------------------------------------

# Marks reduced dimensions in mask[nd + 1]; None and an empty tuple stand for all, as in torch.
cdef int dims_mask(object dims, int nd, char* mask) except -1
# The shape without the marked dimensions, or with size 1 there.
cdef int result_reduced(Result* r, int dt, Tensor a, const char* mask, bint keepdim) except -1

# --- dtypes in messages ---------------------------------------------------------------------

cdef str scalar_name(int dt)                                 # "Float", as torch says it
