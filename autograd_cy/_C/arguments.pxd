# cython: language_level=3
"""Arguments of operators: from Python objects to C values, with torch's errors."""
from autograd_cy._C.tensor cimport Tensor

# Each takes the value, and for the error the operator, the argument and its position (0: none).
cdef Tensor tensor_arg(object x, str op, str name, int position)
cdef tuple tensors_arg(object x, str op, str name, int position)
cdef Tensor operand_arg(object x, str op, str name, int position)
cdef Tensor number_arg(object x, str op, str name, int position)
cdef bint bool_arg(object x, str op, str name, int position) except -1
cdef Py_ssize_t int_arg(object x, str op, str name, int position) except? -1
cdef Py_ssize_t dim_arg(object x, str op, str name, int position) except? -1
cdef double float_arg(object x, str op, str name, int position) except? -1.0
cdef str str_arg(object x, str op, str name, int position)
cdef int dtype_arg(object x, str op, str name, int position) except -2
cdef int format_arg(object x, str op, str name, int position) except -2
cdef tuple sizes_arg(object x, str op, str name, int position)
cdef tuple ints_arg(object x, str op, str name, int position)
cdef object dims_arg(object x, str op, str name, int position)
cdef object sections_arg(object x, str op, str name, int position)
cdef object places_arg(object x, str op, str name, int position)
cdef double correction_arg(object x, str op, str name, int position) except? -1.0
cdef Py_ssize_t start_arg(object x, str op, str name, int position) except? -1
cdef object count_arg(object x, str op, str name, int position)
cdef object order_arg(object x, str op, str name, int position)
cdef tuple indices_arg(object x, str op, str name, int position)

cdef Tensor number_alone(Tensor a)
cdef Tensor alpha_arg(object alpha, str op, Tensor a, Tensor b)
cdef Tensor foreign_operand(object x)                 # None for what is no operand
cdef tuple given_sizes(tuple args, object named, str op, str name)
cdef tuple bind(str op, tuple names, tuple defaults, int positional, tuple args, dict kwargs)

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1
cdef int check_pow_domain(Tensor a, Tensor b) except -1
cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1
cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1
cdef int check_gelu_kind(Tensor a, str kind) except -1
cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1
cdef int factor_fits(Tensor factor, int dt) except -1
cdef int check_factors(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha) except -1
cdef int check_factor(Tensor a, Tensor x, Tensor y, Tensor value) except -1
cdef int check_weight(Tensor a, Tensor end, Tensor weight) except -1
cdef int check_mask(Tensor a, Tensor mask, Tensor value) except -1
cdef int check_selection(Tensor a, Tensor mask) except -1
cdef int check_bound(Tensor a, Tensor bound) except -1
cdef int check_same_parts(Tensor real, Tensor imag) except -1
cdef int check_complex_only(Tensor a) except -1
cdef int check_probability(Tensor a, double p, bint train) except -1
