# cython: language_level=3
"""Composites of the family attention."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor scaled_dot_product(Tensor query, Tensor key, Tensor value, Tensor attn_mask,
                               double dropout_p, bint is_causal, object scale, bint enable_gqa)
