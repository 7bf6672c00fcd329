# cython: language_level=3
"""Python forms of operators: functions made of a row of text and a C function."""
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    PyObject* NONE "Py_None"
    ctypedef PyObject* (*vectorcall_fn "vectorcallfunc")(
        PyObject*, PyObject**, size_t, PyObject*) noexcept

cdef union Value:
    # One argument as C has it: the kind of its parameter says which.
    PyObject* o
    Py_ssize_t i
    double d

cdef struct CallArguments:
    # What an overloaded function was called with.
    PyObject** args
    Py_ssize_t n
    PyObject* names                 # of the values after the first n; NULL without

cdef struct Row                     # the parameters of one signature

cdef class Form:
    cdef vectorcall_fn vectorcall
    cdef Row* rows                  # made at the first call
    cdef int n_rows
    cdef readonly str __name__
    cdef object module
    cdef const char* text           # the first of its lines
    cdef const char* doc
    cdef void** bodies
    cdef list owned                 # what the rows point to
    cdef object words               # the text of __doc__, once it was read
    cdef int alone                  # the only row that counts, or -1
    cdef bint dispatches            # to overrides by classes of arguments (overrides.pyx)
    cdef bint each                  # all parameters of the record, and no others, come by position
    cdef bint counts_on             # errors count arguments from the one after the tensor
    cdef Form function              # that whose rows this one has (as_method), or None
    cdef readonly object public     # the public function that forwards to it (forwarding), or None
    cdef dict __dict__
    cdef object __weakref__

cdef struct FormUpcalls:
    # What overrides.pyx fills in: the vectorcall of calls that may have to dispatch.
    vectorcall_fn look_closely
    vectorcall_fn plainly           # and that of calls that dispatch to nobody
    int dispatching                 # whether every call must be looked at

cdef FormUpcalls form_upcalls

cdef dict make_forms(dict module, const char* rows, const char* docs, void** bodies)
cdef Form positional(Form form, int row)
cdef Form as_method(dict forms, str name, Form form)
cdef Form only_method(Form form)
cdef Form forwarding(object public, str name)
cdef int keep_message(object error) except -1
cdef bint has_named(CallArguments* g, str name) except -1

cdef inline Py_ssize_t named_count(CallArguments* g):
    return 0 if g.names == NULL else len(<tuple>g.names)
