# cython: language_level=3
"""The parts that generated operators share: gradients in and out of nodes, shapes of inputs,
flags."""
from cpython.ref cimport PyObject, Py_INCREF
from libc.stdint cimport uint32_t
from autograd_cy._C.node cimport Node, OutMeta, needs, zeros_for
from autograd_cy._C.tensor cimport (
    Tensor, requires_grad, tls_modes, F_BATCHED, F_DUAL, F_GRAD_PATH, M_NO_GRAD)
include "operators_of_node_io.pxi"


cdef PyObject* give(Tensor t) noexcept:
    if t is None:
        return NULL
    Py_INCREF(t)
    return <PyObject*>t


cdef int give_all(Node n, PyObject** gout, int start, tuple grads) except -1:
    cdef Py_ssize_t i
    for i in range(len(grads)):
        if needs(n, start + <int>i):
            gout[start + i] = give(<Tensor>grads[i])
    return 0


cdef bint any_needed(Node n) noexcept:
    cdef int i
    for i in range(n.n_edges):
        if needs(n, i):
            return True
    return False


cdef tuple materialise(Node n, PyObject** gin):
    """Gradients of all outputs, zeros for those without; None if none has any."""
    cdef int i
    for i in range(n.n_out):
        if gin[i] != NULL:
            break
    else:
        return None
    return tuple([<object>gin[i] if gin[i] != NULL else zeros_for(n, i) for i in range(n.n_out)])


cdef inline OutMeta* edge_meta(Node n, int i) noexcept:
    return &(<Node>n.edges[i].node).metas[n.edges[i].nr]


cdef tuple edge_shape(Node n, int i):
    cdef OutMeta* m = edge_meta(n, i)
    cdef int d
    return tuple([m.shape[d] for d in range(m.ndim)])


cdef Py_ssize_t edge_ndim(Node n, int i) noexcept:
    return edge_meta(n, i).ndim


cdef int edge_dtype(Node n, int i) noexcept:
    return edge_meta(n, i).dt


cdef Py_ssize_t edge_numel(Node n, int i) noexcept:
    cdef OutMeta* m = edge_meta(n, i)
    cdef Py_ssize_t r = 1
    cdef int d
    for d in range(m.ndim):
        r *= m.shape[d]
    return r


cdef uint32_t flags_of(tuple tensors) noexcept:
    cdef uint32_t f = 0
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        f |= (<Tensor>tensors[i]).flags
    return f


cdef bint any_requires_grad(tuple tensors) noexcept:
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        if requires_grad(<Tensor>tensors[i]):
            return True
    return False


cdef Tensor overwritten(Tensor t, uint32_t flags):
    """Return the tensor to compute the new value of `t` from: a copy, if some graph may save it."""
    # What is below a vmap, and tangents, may be recorded though the tensor itself isn't.
    if flags & (F_GRAD_PATH | F_BATCHED | F_DUAL) and not (tls_modes() & M_NO_GRAD):
        return T.clone(t, -1)
    return t


cdef Tensor conjugate_complex(Tensor t):
    return T._conjugate(t)
