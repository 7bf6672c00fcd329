# cython: language_level=3
"""Classes of which Python makes no objects.

Python can make an object of any class without its ``__init__``: by a bare ``__new__``, from a
pickle, in a subclass that forgets ``super().__init__()``. For a class that means nothing without
its content that would be a null pointer in disguise. Cython code makes objects of the classes of
its own module without asking the slot that is closed here.
"""
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject

cdef extern from "Python.h":
    ctypedef PyObject* (*newfunc)(PyTypeObject*, PyObject*, PyObject*) except NULL
    ctypedef struct NewType "PyTypeObject":
        newfunc tp_new
        void* tp_vectorcall

cdef dict _errors = {}          # class -> the error's class and text


cdef PyObject* no_new(PyTypeObject* cls, PyObject* args, PyObject* kwargs) except NULL:
    for base in (<object>cls).__mro__:       # a subclass is no way around
        if base in _errors:
            error, text = _errors[base]
            raise error(text)
    raise TypeError(f"{(<object>cls).__name__} objects cannot be made")


cdef int seal(type cls, str text, object error=TypeError) except -1:
    """Let ``cls()`` and ``cls.__new__(cls)`` raise an error with this text."""
    _errors[cls] = (error, text)
    (<NewType*>cls).tp_new = no_new
    (<NewType*>cls).tp_vectorcall = NULL        # which would make objects without asking tp_new
    return 0
