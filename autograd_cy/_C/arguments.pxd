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
cdef tuple sizes_of_call(tuple args, object named, str op, str name)
cdef object wrong_type(object x, str op, str name, int position, str wanted)

# dtypes that a record takes, as bits of dtype codes
cdef int refuse_dtype(int dt, uint32_t allowed, str op, object words) except -1
cdef int check_common_dtype(Tensor a, Tensor b, uint32_t allowed, str op, object words,
                            int kind) except -1

cdef inline int check_dtype(int dt, uint32_t allowed, str op, object words) except -1:
    """Refuse a dtype that isn't allowed; `words`: what the record says then, or None."""
    if not (allowed >> dt) & 1:
        return refuse_dtype(dt, allowed, op, words)
    return 0

cdef inline int check_promoted_dtype(Tensor a, Tensor b, uint32_t allowed, str op, object words,
                                     int kind) except -1:
    if a.dt == b.dt and (allowed >> a.dt) & 1:
        return 0
    return check_common_dtype(a, b, allowed, op, words, kind)
