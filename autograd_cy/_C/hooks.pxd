# cython: language_level=3
"""Hooks of tensors and nodes, as the engine runs them."""
from cpython.ref cimport PyObject
from autograd_cy._C.node cimport Node
from autograd_cy._C.tensor cimport Tensor

cdef int run_tensor_hooks(object hooks, PyObject** slot) except -1
cdef int tensor_hooks_of(Node n, PyObject** gin) except -1   # hooks and retain_grad of its outputs
cdef int before_node(Node n, PyObject** gin) except -1       # pre-hooks
cdef int after_node(Node n, PyObject** gin, PyObject** gout) except -1
cdef int after_accumulation(Tensor variable) except -1
cdef tuple gradients_as_tuple(PyObject** p, int n)
cdef object c_retain_grad(Tensor t)
