# cython: language_level=3
# build: plain
"""Gradients that depend on inputs by name only: their derivative is zero, and no error.

The gradient of a mean of windows doesn't change with what lies in them. With create_graph=True it
stays in the graph all the same, where a record says so by `stays`, as torch's does: a program that
differentiates once more, whatever its function is, gets zeros.
"""
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF, Py_REFCNT
from autograd_cy._C.node cimport (
    N_ACCUMULATE, N_TRACKED, Node, edge_defined, needs, node_init, node_track, set_history,
    zeros_for)
from autograd_cy._C.node_io cimport give
from autograd_cy._C.tensor cimport Tensor, requires_grad, tls_modes, F_VIEW, M_NO_GRAD
include "operators_of_unchanged_gradients.pxi"

__all__: list[str] = []


cdef class UnchangedBackward(Node):
    """The node of a gradient that doesn't change with the inputs that it leads to."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef int i
        if gin[0] == NULL:
            return 0
        for i in range(self.n_edges):
            if needs(self, i):
                gout[i] = give(zeros_for(<Node>self.edges[i].node, <int>self.edges[i].nr))
        return 0


cdef int keep_graph(Node n, PyObject** gout, int edge, unsigned inputs) except -1:
    """Let the gradient of an edge lead to those of `n` whose bit is set in `inputs`."""
    cdef int i, count = 0
    cdef Tensor t
    cdef UnchangedBackward node
    if gout[edge] == NULL or tls_modes() & M_NO_GRAD or requires_grad(<Tensor>gout[edge]):
        return 0
    for i in range(n.n_edges):
        count += inputs >> i & 1 and edge_defined(n, i)
    if count == 0:
        return 0
    t = <Tensor>gout[edge]
    # The reference here and that of gout; others may show it without history.
    if Py_REFCNT(t) > 2 or t.flags & F_VIEW:
        t = T.clone(t, -1)
        Py_INCREF(t)
        Py_DECREF(<Tensor>gout[edge])
        gout[edge] = <PyObject*>t
    node = UnchangedBackward.__new__(UnchangedBackward)
    node_init(node, count, 0, 1)
    count = 0
    for i in range(n.n_edges):
        if inputs >> i & 1 and edge_defined(n, i):
            node.edges[count].node = n.edges[i].node
            node.edges[count].nr = n.edges[i].nr
            Py_INCREF(<object>n.edges[i].node)
            if (<Node>n.edges[i].node).flags & N_TRACKED and not (
                    (<Node>n.edges[i].node).flags & N_ACCUMULATE):
                node_track(node)
            count += 1
    set_history(t, node, 0)
    return 0
