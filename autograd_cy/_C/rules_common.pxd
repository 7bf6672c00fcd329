# cython: language_level=3
"""Shape rules of many operators, what rules are made of, and checks that records name."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int same(Result* r, Tensor a, str op) except -1     # dtype, shape and order of dimensions of a
cdef int reversed_dims(Result* r, Tensor a, tuple dims, str op) except -1   # flip: dims are checked

# --- dimensions -----------------------------------------------------------------------------

# Marks reduced dimensions in mask[nd + 1]; None and an empty tuple stand for all, as in torch.
cdef int dims_mask(object dims, int nd, char* mask) except -1
# The shape without the marked dimensions, or with size 1 there.
cdef int result_reduced(Result* r, int dt, Tensor a, const char* mask, bint keepdim) except -1

# --- checks ---------------------------------------------------------------------------------

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1
cdef int check_pow_domain(Tensor a, Tensor b) except -1
cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1
cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1
cdef int check_gelu_kind(Tensor a, str kind) except -1
cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1
cdef int real_number(Tensor number, int dt, str op) except -1
cdef int slope_range(Tensor a, Tensor lower, Tensor upper, double* at) except -1
# The Python number that a `Scalar` argument was made of; it is no operand, and on no device.
cdef object scalar_number(Tensor number)
cdef int factor_fits(Tensor factor, int dt) except -1
cdef int check_factors(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha) except -1
cdef int check_factor(Tensor a, Tensor x, Tensor y, Tensor value) except -1
cdef int check_weight(Tensor a, Tensor end, Tensor weight) except -1
cdef int check_mask(Tensor a, Tensor mask, Tensor value) except -1
cdef int check_selection(Tensor a, Tensor mask) except -1
cdef int check_bound(Tensor a, Tensor bound) except -1
cdef int check_real_limit(Tensor a, Tensor limit) except -1
cdef int check_same_parts(Tensor real, Tensor imag) except -1
cdef int check_complex_only(Tensor a) except -1
cdef int check_probability(Tensor a, double p, bint train) except -1
