# cython: language_level=3
"""Events of nodes: the one that an operator makes, and those that backward runs.

How events are recorded is in ext/core/recorder.pyx.
"""
from autograd_cy._C.node cimport Node, N_ACCUMULATE, N_NAMED
from autograd_cy._C.recorder cimport (
    Event, S_BACKWARD, D_ARGUMENTS, D_MEMORY, begin_event, close, details, events, known,
    note_result, number_of_name, type_name_id)
from autograd_cy._C.tensor cimport Tensor, itemsize

cdef str OUTER = "autograd::engine::evaluate_function: "
cdef str ACCUMULATE = "torch::autograd::AccumulateGrad"
cdef int E = events(f"{ACCUMULATE}\n{OUTER}{ACCUMULATE}")


cdef void note_node(Event* e, Node n) noexcept:
    """The event made this node; what it keeps is counted if bytes are."""
    cdef int i
    e.seq = <long long>n.seq
    if details & (D_ARGUMENTS | D_MEMORY):
        for i in range(n.n_saved):
            if n.saved[i].obj != NULL and isinstance(<object>n.saved[i].obj, Tensor):
                e.saved += (<Tensor>n.saved[i].obj).count * itemsize(<Tensor>n.saved[i].obj)


cdef void finished(Event* e, object result, Node n) noexcept:
    if n is not None:
        note_node(e, n)
    if details & D_ARGUMENTS:
        note_result(e, result)
    close(e)


cdef int name_numbers(Node n, int* outer) noexcept:
    if n.flags & N_ACCUMULATE:
        outer[0] = E + 1
        return E
    if n.flags & N_NAMED:
        outer[0] = number_of_name(OUTER + n.node_name())
        return number_of_name(n.node_name())
    return type_name_id(type(n), outer)


cdef Event* begin_of(Node n, int name) noexcept:
    cdef Event* e = begin_event(name, S_BACKWARD)
    if e != NULL and not n.flags & N_ACCUMULATE:
        e.seq = <long long>n.seq
    if e != NULL:
        known(e)
    return e


cdef Event* begin_node(Node n) noexcept:
    cdef int outer
    return begin_of(n, name_numbers(n, &outer))


cdef Event* begin_outer(Node n) noexcept:
    cdef int outer
    name_numbers(n, &outer)
    return begin_of(n, outer)
