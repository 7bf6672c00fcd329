# cython: language_level=3
# Arithmetic on sizes.

cdef inline Py_ssize_t parts(Py_ssize_t length, Py_ssize_t side) noexcept nogil:
    return (length + side - 1) // side


cdef inline Py_ssize_t round_up(Py_ssize_t length, Py_ssize_t multiple) noexcept nogil:
    return parts(length, multiple) * multiple
