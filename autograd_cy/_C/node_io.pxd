# cython: language_level=3
"""Gradients in and out of nodes; flags of operands."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_is_complex
from autograd_cy._C.node cimport Node
from autograd_cy._C.tensor cimport Tensor

cdef PyObject* give(Tensor t) noexcept
cdef int give_all(Node n, PyObject** gout, int start, tuple grads) except -1
cdef bint any_needed(Node n) noexcept
cdef tuple materialise(Node n, PyObject** gin)
cdef tuple edge_shape(Node n, int i)
cdef Py_ssize_t edge_ndim(Node n, int i) noexcept
cdef int edge_dtype(Node n, int i) noexcept
cdef Py_ssize_t edge_numel(Node n, int i) noexcept
cdef uint32_t flags_of(tuple tensors) noexcept
cdef bint any_requires_grad(tuple tensors) noexcept
cdef Tensor overwritten(Tensor t, uint32_t flags)

cdef Tensor conjugate_complex(Tensor t)

cdef inline Tensor conjugate(Tensor t):
    """The conjugate that formulas mean; a real tensor itself."""
    return conjugate_complex(t) if dt_is_complex(t.dt) else t
