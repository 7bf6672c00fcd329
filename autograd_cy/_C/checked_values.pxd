# cython: language_level=3
"""Values that a composite of other operators checks."""
from autograd_cy._C.tensor cimport Tensor

# `a` as it is, if low <= k < high for all its elements, else the error of the fault (faults.pxd).
# FAULT_VARIANCE alone takes numbers of all dtypes, and only looks for those below 0. A kernel of
# another device notes the fault of the first launch with a bad element, and writes what it likes
# there. Where the error names a dimension, fault is the number plus 256 * (dimension + 1).
cdef int checked_values(Tensor out, Tensor a, Py_ssize_t low, Py_ssize_t high,
                        Py_ssize_t fault) except -1
