# cython: language_level=3
"""Shape rules of embeddings."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int looked_up(Result* r, Tensor weight, Tensor indices, bint sparse, str op) except -1
cdef int gathered_back(Result* r, Tensor grad, Tensor indices, Py_ssize_t rows, str op) except -1
cdef int embedding_rows(Result* r, Tensor grad, Tensor indices, str op) except -1
cdef int bagged(Result* r, Tensor weight, Tensor indices, Tensor offsets, Tensor samples,
                Py_ssize_t mode, bint last, str op) except -1
