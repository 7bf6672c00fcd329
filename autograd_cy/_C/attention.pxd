# cython: language_level=3
"""Attention tile by tile, forward and backward."""
from autograd_cy._C.tensor cimport Tensor

cdef int attention_into(Tensor out, Tensor lse, Tensor exact, Tensor query, Tensor key,
                        Tensor value, Tensor mask, bint is_causal, double scale,
                        Tensor dropped) except -1
cdef int attention_gradients_into(Tensor query_out, Tensor key_out, Tensor value_out, Tensor grad,
                                  Tensor query, Tensor key, Tensor value, Tensor mask, Tensor out,
                                  Tensor lse, Tensor exact, bint is_causal, double scale,
                                  Tensor dropped) except -1
