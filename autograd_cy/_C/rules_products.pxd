# cython: language_level=3
"""Shape rules of products of vectors and matrices."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int mm(Result* r, Tensor a, Tensor b, str op) except -1
cdef int bmm(Result* r, Tensor a, Tensor b, str op) except -1
cdef int dot(Result* r, Tensor a, Tensor b, str op) except -1
cdef int vdot(Result* r, Tensor a, Tensor b, str op) except -1
cdef int mv(Result* r, Tensor a, Tensor b, str op) except -1
cdef int addmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1
cdef int addmv(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1
cdef int addbmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1
cdef int baddbmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1
cdef int linear(Result* r, Tensor x, Tensor weight, Tensor bias, str op) except -1
cdef bint broadcasts(int nd, const Py_ssize_t* sizes, int to_nd, const Py_ssize_t* to) noexcept
