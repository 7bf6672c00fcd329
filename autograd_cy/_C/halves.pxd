# cython: language_level=3
"""float16 and bfloat16, which kernels compute in float32."""
from autograd_cy._C.dtypes cimport DT_BF16, DT_F16


cdef inline bint is_half(int dt) noexcept nogil:
    return dt == DT_F16 or dt == DT_BF16
