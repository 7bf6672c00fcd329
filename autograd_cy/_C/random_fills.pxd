# cython: language_level=3
"""Kernels of the CPU that draw: `out` is in C order, `state` is that of a generator."""
from autograd_cy._C.tensor cimport Tensor

cdef int uniform(Tensor out, double lo, double hi, Tensor state) except -1
cdef int normal(Tensor out, double mean, double std, Tensor state) except -1
cdef int normal_mean(Tensor out, Tensor mean, double std, Tensor state) except -1
cdef int normal_std(Tensor out, double mean, Tensor std, Tensor state) except -1
cdef int normal_both(Tensor out, Tensor mean, Tensor std, Tensor state) except -1
cdef int exponential(Tensor out, double rate, Tensor state) except -1
cdef int bernoulli(Tensor out, double p, Tensor state) except -1
cdef int bernoulli_each(Tensor out, Tensor p, Tensor state) except -1
cdef int random(Tensor out, Py_ssize_t low, Py_ssize_t last, Tensor state) except -1
cdef int permutation(Tensor out, Tensor state) except -1
cdef int scaled_mask(Tensor out, double keep, Tensor state) except -1
cdef int rrelu_slopes(Tensor out, Tensor a, Tensor lower, Tensor upper, Tensor state) except -1
cdef int weights(Tensor out, Tensor a) except -1

# The largest number of a floating dtype below x.
cdef double largest_below(double x, int dt) noexcept
