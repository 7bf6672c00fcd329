# What anomaly mode is told of nodes (part of engine.pyx).

# What anomaly mode does after a node and when one fails; set by autograd_cy.autograd.anomaly_mode.
cdef object _anomaly_check = None
cdef object _anomaly_failure = None


cdef int check_anomaly(Node n, PyObject** gout) except -1:
    if _anomaly_check is not None:
        _anomaly_check(n, gradients_as_tuple(gout + first_edge(n), n.n_edges - first_edge(n)))
    return 0


def _set_anomaly(check, failure):
    """`check(node, gradients)` runs after each node, `failure(node, error)` when one raises."""
    global _anomaly_check, _anomaly_failure
    _anomaly_check, _anomaly_failure = check, failure
