# cython: language_level=3
"""Arguments of operators: from Python objects to C values, with torch's errors."""
from libc.stdint cimport uint32_t
from autograd_cy._C.tensor cimport Tensor

# Each takes the value, and for the error the operator, the argument and its position (0: none).
# Interpreted operators call them from Python.
cpdef Tensor tensor_arg(object x, str op, str name, int position)
cpdef tuple tensors_arg(object x, str op, str name, int position)
cpdef Tensor operand_arg(object x, str op, str name, int position)
cpdef Tensor number_arg(object x, str op, str name, int position)
cpdef bint bool_arg(object x, str op, str name, int position) except -1
cpdef Py_ssize_t int_arg(object x, str op, str name, int position) except? -1
cpdef Py_ssize_t dim_arg(object x, str op, str name, int position) except? -1
cpdef double float_arg(object x, str op, str name, int position) except? -1.0
cpdef str str_arg(object x, str op, str name, int position)
cpdef int dtype_arg(object x, str op, str name, int position) except -2
cpdef int format_arg(object x, str op, str name, int position) except -2
cpdef str choice_arg(object x, str op, str name, int position, tuple words)
cpdef object device_arg(object x, str op, str name, int position)
cpdef object generator_arg(object x, str op, str name, int position)
cpdef tuple sizes_arg(object x, str op, str name, int position)
cpdef tuple ints_arg(object x, str op, str name, int position)
cpdef object dims_arg(object x, str op, str name, int position)
cpdef tuple fixed_arg(object x, str op, str name, int position, tuple words)
cpdef object union_arg(object x, str op, str name, int position, tuple words)
cpdef object padding_arg(object x, str op, str name, int position)
cpdef double correction_arg(object x, str op, str name, int position) except? -1.0
cpdef Py_ssize_t start_arg(object x, str op, str name, int position) except? -1
cpdef object order_arg(object x, str op, str name, int position)
cpdef tuple indices_arg(object x, str op, str name, int position)

cdef Tensor number_alone(Tensor a)
cdef Tensor alpha_arg(object alpha, str op, Tensor a, Tensor b, bint bool_too)
cdef Tensor foreign_operand(object x)                 # None for what is no operand
cdef tuple given_sizes(tuple args, object named, str op, str name)

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1
cdef int check_pow_domain(Tensor a, Tensor b) except -1
cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1
cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1
cdef int check_gelu_kind(Tensor a, str kind) except -1
cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1
cdef int real_number(Tensor number, int dt, str op) except -1
cdef int slope_range(Tensor a, Tensor lower, Tensor upper, double* at) except -1
# The Python number that a `Scalar` argument was made of; it is no operand, and on no device.
cdef object given_number(Tensor number)
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
cdef object wrong_type(object x, str op, str name, int position, str wanted)

# dtypes that a record claims, as bits of dtype codes
cdef int refuse_dtype(int dt, str op, str words) except -1
cdef int claim_common(Tensor a, Tensor b, uint32_t claimed, str op, str words) except -1

cdef inline int claim(int dt, uint32_t claimed, str op, str words) except -1:
    """Refuse a dtype that isn't claimed; `words`: what the record says then, or None."""
    if not (claimed >> dt) & 1:
        return refuse_dtype(dt, op, words)
    return 0

cdef inline int claim_promoted(Tensor a, Tensor b, uint32_t claimed, str op, str words) except -1:
    if a.dt == b.dt and (claimed >> a.dt) & 1:
        return 0
    return claim_common(a, b, claimed, op, words)
