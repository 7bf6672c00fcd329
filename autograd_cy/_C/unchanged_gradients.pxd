# cython: language_level=3
"""Gradients that depend on inputs by name only."""
from cpython.ref cimport PyObject
from autograd_cy._C.node cimport Node

cdef int keep_graph(Node n, PyObject** gout, int edge, unsigned inputs) except -1
