# cython: language_level=3
"""Classes of which Python makes no objects; to be called at the end of the class's own module."""

cdef int seal(type cls, str text, object error=*) except -1
