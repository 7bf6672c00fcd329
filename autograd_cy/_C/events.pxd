# cython: language_level=3
"""The events that operators and the engine report to the recorder of nodes."""
from autograd_cy._C.node cimport Node
from autograd_cy._C.recorder cimport Event

# An operator is done; `n` is the node that it made, or None.
cdef void finished(Event* e, object result, Node n) noexcept
cdef void note_node(Event* e, Node n) noexcept
cdef Event* begin_node(Node n) noexcept            # the derivative
cdef Event* begin_outer(Node n) noexcept           # and all that the engine does around it
