# cython: language_level=3
"""``out=``: checks, and results that are written there."""
from libc.stdint cimport uint32_t
from autograd_cy._C.tensor cimport Tensor

cdef int check_out(Tensor out, uint32_t flags, str op) except -1
cdef Tensor in_wider_dtype(Tensor a, Tensor out)
cdef int write_out(Tensor out, Tensor value, str op) except -1
cdef object no_cast(int dt, Tensor out, str op)
cdef object bad_inplace(Tensor a, int dt)
cdef object other_out(Tensor out, int dt, str op)
cdef int need_exact_out(Tensor out, int dt, str op) except -1
cdef int write_exact_out(Tensor out, Tensor value, str op) except -1
cdef tuple outs_arg(object out, Py_ssize_t n, uint32_t flags, str op)
cdef tuple write_outs(tuple out, tuple values, str op)
cdef int write_truth_out(Tensor out, Tensor value, str op) except -1
