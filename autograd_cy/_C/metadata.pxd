# cython: language_level=3
"""Dimensions, sizes and numbers of tensors, as formulas use them."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple normal_dims(object dims, Py_ssize_t ndim)
cdef object known_dims(object dims, Py_ssize_t ndim)
cdef int widest_nd(tuple tensors) noexcept
cdef Py_ssize_t size_at(object sizes, Py_ssize_t i) except? -1
cdef tuple inverse_permutation(tuple dims)
cdef tuple shifted(object dims)
cdef tuple axis_sizes(tuple tensors, Py_ssize_t dim)
cdef Py_ssize_t count_reduced(object shape, object dims) except -1
cdef tuple strides_of(Tensor t)
cdef Py_ssize_t offset_of(Tensor t)
cdef Py_ssize_t device_code_of(Tensor t)
cdef tuple without(object shape, Py_ssize_t dim)
cdef tuple shapes_of(tuple tensors)
cdef bint is_number(Tensor t) noexcept
cdef object number_of(Tensor t)
cdef int viewable(Tensor a, tuple shape) except -1
cdef bint view_strides(Tensor a, int n, const Py_ssize_t* sizes, Py_ssize_t* strides) noexcept
cdef tuple resolve_shape(Tensor a, tuple shape, str op)
cdef bint is_whole(Tensor a, tuple shape) except -1
cdef tuple replaced(tuple sizes, Py_ssize_t dim, Py_ssize_t size)
