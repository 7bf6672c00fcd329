# cython: language_level=3
"""Values that a composite of other operators checks; see checked_values.pxd."""
from autograd_cy._C.faults cimport FAULT_VARIANCE, check_range, check_variance
from autograd_cy._C.index_values cimport positions
from autograd_cy._C.iterate cimport copy_into

__all__: list[str] = []


cdef int checked_values(Tensor out, Tensor a, Py_ssize_t low, Py_ssize_t high,
                        Py_ssize_t fault) except -1:
    cdef Py_ssize_t dim = (fault >> 8) - 1 if fault >> 8 else a.count
    if a.count and fault == FAULT_VARIANCE:
        check_variance(a)
    elif a.count:
        check_range(positions(a), low, high, <int>(fault & 255), "checked_values", dim)
    return copy_into(out, a, "checked_values")
