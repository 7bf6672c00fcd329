# cython: language_level=3
"""The first and last steps of generated in-place forms (see Note [In-place forms] in
inplace.pyx)."""
from autograd_cy._C.node cimport Node
from autograd_cy._C.tensor cimport Tensor

cdef int end_inplace(Tensor self, Node n) except -1        # n: what recorded the change, or None
cdef Tensor replace_value(Tensor self, Tensor value, str op)
cdef int put_value(Tensor self, Tensor value, str op) except -1
cdef int constant_history(Tensor self, str name) except -1
cdef int unknown_history(Tensor self, str name) except -1
cdef int refuse_complex(Tensor self, str op) except -1
