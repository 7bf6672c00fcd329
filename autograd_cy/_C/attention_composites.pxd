# cython: language_level=3
"""Composites of the family attention."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor scaled_dot_product(Tensor query, Tensor key, Tensor value, Tensor attn_mask,
                               double dropout_p, bint is_causal, object scale, bint enable_gqa)
cdef tuple attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor mask,
                              Tensor output, Tensor logsumexp, Tensor exact, bint is_causal,
                              double scale, Tensor dropped)
cdef Tensor attention_jvp(Tensor query, Tensor key, Tensor value, Tensor mask, Tensor query_t,
                          Tensor key_t, Tensor value_t, bint is_causal, double scale)
