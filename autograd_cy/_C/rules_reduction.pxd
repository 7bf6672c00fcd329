# cython: language_level=3
"""Shape rules of reductions and of what runs along a dimension."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

# `dims` is None (all), an int or a tuple of ints; `dt` the dtype code asked for, or -1.
cdef int sum_dtype(int dt, int requested, str op) except -1
cdef int summed(Result* r, Tensor a, object dims, bint keepdim, int dt, str op) except -1
cdef int averaged(Result* r, Tensor a, object dims, bint keepdim, int dt, str op) except -1
cdef int truth(Result* r, Tensor a, object dims, bint keepdim, str op) except -1
cdef int extreme(Result* r, Tensor a, object dims, bint keepdim, str op) except -1
cdef int extreme_dim(Result* r, Tensor a, Py_ssize_t dim, bint keepdim, str op) except -1
cdef int both_extremes(Result* r, Tensor a, object dim, bint keepdim, str op) except -1
cdef int extreme_place(Result* r, Tensor a, object dim, bint keepdim, str op) except -1
cdef int logsumexp(Result* r, Tensor a, object dims, bint keepdim, str op) except -1
cdef int variance(Result* r, Tensor a, object dims, bint keepdim, str op) except -1
cdef int variance_mean(Result* r, Tensor a, object dims, bint keepdim, str op) except -1
cdef int scanned(Result* r, Tensor a, Py_ssize_t dim, int dt, str op) except -1
cdef int recurrence(Result* r, Tensor terms, Tensor factors, Py_ssize_t dim, str op) except -1
cdef int softmax(Result* r, Tensor a, Py_ssize_t dim, int dt, str op) except -1
cdef int softmax_backward(Result* r, Tensor grad, Tensor result, Py_ssize_t dim,
                          str op) except -1
