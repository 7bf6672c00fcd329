# cython: language_level=3
"""Generators and what fills tensors with random numbers.

The fillers write every element and set no autograd metadata; callers bump the version. `gen` is a
Generator or None for the default one.
"""
from libc.stdint cimport uint64_t
from autograd_cy._C.tensor cimport Tensor

cdef class Generator:
    cdef uint64_t key          # the seed
    cdef uint64_t position     # chunks of counters used so far
    cdef object __weakref__

cdef Generator generator_of(object gen, str op)      # checks the type
cdef int fill_uniform(Tensor t, double lo, double hi, object gen) except -1
cdef int fill_normal(Tensor t, double mean, double std, object gen) except -1
cdef int fill_exponential(Tensor t, double rate, object gen) except -1
cdef int fill_bernoulli(Tensor t, double p, object gen) except -1
cdef int fill_bernoulli_each(Tensor t, Tensor p, object gen) except -1   # p broadcasts to t
cdef int fill_randint(Tensor t, object lo, object hi, object gen) except -1   # lo <= x < hi
cdef Tensor permutation(Py_ssize_t n, object gen)    # int64
cdef Tensor as_tensor_like(Tensor t, double value)
cdef object exact_limit(int dt)
cdef int need_floating(Tensor t, str op) except -1
cdef int need_real(Tensor t, str op) except -1
