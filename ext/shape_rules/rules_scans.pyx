# cython: language_level=3
"""Shape rules of what runs along a dimension."""
from autograd_cy._C.dtypes cimport DT_I64
from autograd_cy._C.iterate cimport broadcast_shape
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport normal_dim

__all__: list[str] = []


cdef int like(Result* r, Tensor a, Py_ssize_t dim, str op) except -1:
    normal_dim(dim, a.nd)
    return result_dense(r, a.dt, a.nd, a.sizes)


cdef int extremes(Result* r, Tensor a, Py_ssize_t dim, str op) except -1:
    """Values and where they are."""
    like(r, a, dim, op)
    return result_dense(r + 1, DT_I64, a.nd, a.sizes)


cdef int together(Result* r, Tensor a, Tensor b, Tensor c, str op) except -1:
    """Describe a result of operands of one shape, in the dtype of the first."""
    cdef int nd = broadcast_shape((a, b, c), r.sizes, op)
    return result_dense(r, a.dt, nd, r.sizes)
