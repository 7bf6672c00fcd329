# cython: language_level=3
"""Element types: their codes, sizes and promotion rules."""

# The rows of ext/codegen/dtypes.py, which compares them. Kinds stand in order: bool, integers
# without a sign, integers with one, floats, complex numbers.
cdef enum DTypeCode:
    DT_BOOL = 0
    DT_U8 = 1
    DT_U16 = 2
    DT_U32 = 3
    DT_U64 = 4
    DT_I8 = 5
    DT_I16 = 6
    DT_I32 = 7
    DT_I64 = 8
    DT_F16 = 9
    DT_BF16 = 10
    DT_F32 = 11
    DT_F64 = 12
    DT_C64 = 13
    DT_C128 = 14

cdef enum:
    DTYPES = 15
    DT_NONE = 15           # what two dtypes promote to that don't go together

cdef class dtype:
    cdef readonly int code
    cdef readonly str name
    cdef readonly Py_ssize_t itemsize

cdef Py_ssize_t DT_SIZE[DTYPES]
cdef int g_default_dtype

cdef inline bint dt_is_float(int d) noexcept nogil:
    return DT_F16 <= d <= DT_F64

cdef inline bint dt_is_complex(int d) noexcept nogil:
    return d >= DT_C64

cdef inline bint dt_is_integral(int d) noexcept nogil:
    """Integers and bool."""
    return d <= DT_I64

cdef inline bint dt_is_signed(int d) noexcept nogil:
    return d > DT_U64

cdef inline bint dt_is_limited(int d) noexcept nogil:
    """uint16, uint32, uint64: few operators compute in them."""
    return DT_U16 <= d <= DT_U64

cdef inline int dt_twin(int d) noexcept nogil:
    """The dtype with a sign and the same bits as a limited dtype; others as they are."""
    return d + (DT_I16 - DT_U16) if DT_U16 <= d <= DT_U64 else d

cdef inline bint dt_differentiable(int d) noexcept nogil:
    return d >= DT_F16

cdef inline int dt_real(int d) noexcept nogil:
    """Dtype of the real part."""
    return d - 2 if d >= DT_C64 else d

cdef inline int dt_category(int d) noexcept nogil:
    """0 bool, 1 integer, 2 float, 3 complex."""
    return 0 if d == DT_BOOL else (1 if d <= DT_I64 else (2 if d <= DT_F64 else 3))

cdef int dt_promote(int a, int b) noexcept nogil       # DT_NONE if they don't go together
cdef object no_promotion(int a, int b)                  # the error of that
cdef object not_for_limited(int dt, str op)             # the error of an operator without a kernel
cdef int dt_to_complex(int d) noexcept nogil
cdef dtype dt_object(int code)
cdef str dt_scalar_name(int dt)           # "Long", as most errors of torch name it
cdef str dt_type_name(int dt)             # "long int", as errors of products do
cdef str dt_c_name(int dt)                # "int64_t", as errors of conversions do
cdef int dt_code(object d) except -1      # dtype, NumPy dtype or Python type -> code
cdef object dt_numpy(int code)            # NumPy dtype; bfloat16 needs ml_dtypes
cdef int dt_from_numpy(object np_dtype) except -1
