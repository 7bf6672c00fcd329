# cython: language_level=3
"""Gradients on their way: fitted to what they belong to, added up, put into ``grad``."""
from cpython.ref cimport PyObject
from autograd_cy._C.node cimport Node, OutMeta
from autograd_cy._C.tensor cimport Tensor

cdef struct Busy:          # see Note [Busy leaves] in accumulate.pyx
    long long held
    long long process
    long long thread

cdef bint hold(Busy* b) except -1     # wait until it is free; False if this thread held it already
cdef Tensor fit_gradient(Node target, int nr, Tensor grad, Node source, int index)
cdef int accumulate_into(Tensor variable, PyObject* grad, bint create_graph) except -1
cdef bint becomes_grad(Tensor variable, PyObject* grad, bint create_graph) noexcept
cdef int add_gradients(PyObject** slot, PyObject* grad, bint create_graph) except -1

cdef inline bint gradient_fits(Node target, int nr, Tensor grad) noexcept:
    cdef OutMeta* m = &target.metas[nr]
    cdef int i
    if grad.dt != m.dt or grad.nd != m.ndim or grad.mem.device != m.device:
        return False
    for i in range(m.ndim):
        if grad.sizes[i] != m.shape[i]:
            return False
    return True
