# cython: language_level=3
"""Shape rules of reading and writing by index, of joining and of triangles."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int selected(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1
cdef int rows_added(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                    str op) except -1
cdef int gathered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1
cdef int scattered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str op) except -1
cdef int joined(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1
cdef int stacked(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1

cdef int check_move(Tensor a, int dim, Tensor index, Tensor src) except -1
cdef str scalar_name(int dt)
