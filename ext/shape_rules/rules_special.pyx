# cython: language_level=3
"""Shape rules of special functions."""
from autograd_cy._C.dtypes cimport DT_I64, g_default_dtype
from autograd_cy._C.iterate cimport broadcast_shape, result_dtype
from autograd_cy._C.outputs cimport result_dense


cdef int floating(Result* r, Tensor a, str op) except -1:
    """Describe a result of the shape of `a`; integers become the default float."""
    return result_dense(r, g_default_dtype if a.dt <= DT_I64 else a.dt, a.nd, a.sizes)


cdef int polygamma(Result* r, Tensor a, Py_ssize_t n, str op) except -1:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return floating(r, a, op)


cdef int both(Result* r, Tensor a, Tensor b, str op) except -1:
    """Describe a result of the shape and dtype that the two have together."""
    cdef tuple operands = (a, b)
    cdef int nd = broadcast_shape(operands, r.sizes, op)
    return result_dense(r, result_dtype(operands), nd, r.sizes)
