# cython: language_level=3
"""Composites of the family margin_loss."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor cosine_similarity(Tensor a, Tensor b, Py_ssize_t dim, double eps)
cdef Tensor pairwise_distance(Tensor a, Tensor b, double p, double eps, bint keepdim)
cdef Tensor bilinear(Tensor a, Tensor b, Tensor weight, Tensor bias)
cdef Tensor margin_ranking_loss(Tensor a, Tensor b, Tensor target, double margin,
                                Py_ssize_t reduction)
cdef Tensor hinge_embedding_loss(Tensor a, Tensor target, double margin, Py_ssize_t reduction)
cdef Tensor cosine_embedding_loss(Tensor a, Tensor b, Tensor target, double margin,
                                  Py_ssize_t reduction)
cdef Tensor triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, double margin,
                                double p, double eps, bint swap, Py_ssize_t reduction)
cdef Tensor poisson_nll_loss(Tensor a, Tensor target, bint log_input, bint full, double eps,
                             Py_ssize_t reduction)
