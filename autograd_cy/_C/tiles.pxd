# cython: language_level=3
# How long the pieces are that long work is cut into.

from autograd_cy._C.sizes cimport parts, round_up

cdef inline Py_ssize_t even_block(Py_ssize_t n, Py_ssize_t most) noexcept nogil:
    """Length of nearly equal pieces of n elements, at most `most`, in whole vectors."""
    cdef Py_ssize_t pieces
    if n <= most:
        return n
    pieces = parts(n, most)
    return round_up(parts(n, pieces), 16)
