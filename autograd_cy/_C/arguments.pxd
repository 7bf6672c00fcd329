# cython: language_level=3
"""Arguments of operators: from Python objects to C values, with torch's errors."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor tensor_arg(object x, str op, str name)
cdef tuple tensors_arg(object x, str op, str name)
cdef Tensor number_arg(object x, str op, str name)
cdef Tensor alpha_arg(object alpha, str op, Tensor a, Tensor b)
cdef Tensor foreign_operand(object x)                 # None for what is no operand
cdef Py_ssize_t int_arg(object x, str op, str name) except? -1
cdef double float_arg(object x, str op, str name) except? -1.0
cdef str str_arg(object x, str op, str name)
cdef tuple sizes_arg(object x, str op, str name)
cdef object dims_arg(object x, str op, str name)
cdef tuple unpack_sizes(tuple args)

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1
cdef int check_pow_domain(Tensor a, Tensor b) except -1
cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1
cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1
cdef int check_gelu_kind(Tensor a, str kind) except -1
cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1
cdef int check_integral_factors(Tensor a, Tensor mat1, Tensor mat2, Tensor beta,
                                Tensor alpha) except -1
cdef int check_integral_value(Tensor a, Tensor x, Tensor y, Tensor value) except -1
cdef int check_complex_only(Tensor a) except -1
cdef int check_probability(Tensor a, double p, bint train) except -1
