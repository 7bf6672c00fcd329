# cython: language_level=3
"""Shape rules of what is drawn at random."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int uniform(Result* r, Tensor a, double lo, double hi, str op) except -1
cdef int normal(Result* r, Tensor a, double mean, double std, str op) except -1
cdef int normal_mean(Result* r, Tensor a, Tensor mean, double std, str op) except -1
cdef int normal_std(Result* r, Tensor a, Tensor std, str op) except -1
cdef int exponential(Result* r, Tensor a, double rate, str op) except -1
cdef int bernoulli(Result* r, Tensor a, double p, str op) except -1
cdef int bernoulli_each(Result* r, Tensor a, Tensor p, str op) except -1
cdef int chances(Result* r, Tensor a, str op) except -1
cdef int chance(Result* r, Tensor a, double p, str op) except -1
cdef int random(Result* r, Tensor a, Py_ssize_t low, Py_ssize_t last, str op) except -1
cdef int alike(Result* r, Tensor a, str op) except -1
cdef int mask(Result* r, Tensor a, str op) except -1
cdef int scaled_mask(Result* r, Tensor a, double keep, str op) except -1
cdef int channel_mask(Result* r, Tensor a, str op) except -1
cdef int rrelu_slopes(Result* r, Tensor a, Tensor lower, Tensor upper, str op) except -1
cdef int weights(Result* r, Tensor a, str op) except -1
