# cython: language_level=3
"""Element types: their codes, sizes and promotion rules."""

cdef enum DTypeCode:
    DT_BOOL = 0
    DT_U8 = 1
    DT_I8 = 2
    DT_I16 = 3
    DT_I32 = 4
    DT_I64 = 5
    DT_F16 = 6
    DT_BF16 = 7
    DT_F32 = 8
    DT_F64 = 9
    DT_C64 = 10
    DT_C128 = 11

cdef class dtype:
    cdef readonly int code
    cdef readonly str name
    cdef readonly Py_ssize_t itemsize

cdef Py_ssize_t DT_SIZE[12]
cdef int g_default_dtype

cdef inline bint dt_is_float(int d) noexcept nogil:
    return DT_F16 <= d <= DT_F64

cdef inline bint dt_is_complex(int d) noexcept nogil:
    return d >= DT_C64

cdef inline bint dt_is_integral(int d) noexcept nogil:
    """Integers and bool."""
    return d <= DT_I64

cdef inline bint dt_differentiable(int d) noexcept nogil:
    return d >= DT_F16

cdef inline int dt_real(int d) noexcept nogil:
    """Dtype of the real part."""
    return d - 2 if d >= DT_C64 else d

cdef inline int dt_category(int d) noexcept nogil:
    """0 bool, 1 integer, 2 float, 3 complex."""
    return 0 if d == DT_BOOL else (1 if d <= DT_I64 else (2 if d <= DT_F64 else 3))

cdef int dt_promote(int a, int b) noexcept nogil
cdef int dt_to_complex(int d) noexcept nogil
cdef dtype dt_object(int code)
cdef str dt_scalar_name(int dt)           # "Long", as most errors of torch name it
cdef str dt_type_name(int dt)             # "long int", as errors of products do
cdef str dt_c_name(int dt)                # "int64_t", as errors of conversions do
cdef int dt_code(object d) except -1      # dtype, NumPy dtype or Python type -> code
cdef object dt_numpy(int code)            # NumPy dtype; bfloat16 needs ml_dtypes
cdef int dt_from_numpy(object np_dtype) except -1
