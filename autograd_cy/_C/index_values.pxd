# cython: language_level=3
"""The values of an index tensor: as int64, and the first that is out of range."""
from libc.stdint cimport int64_t, uint64_t
from autograd_cy._C.dtypes cimport DT_I64
from autograd_cy._C.iterate cimport cast, contiguous
from autograd_cy._C.tensor cimport Tensor


cdef inline Tensor positions(Tensor index):
    """The index as dense int64."""
    return contiguous(index if index.dt == DT_I64 else cast(index, DT_I64))


cdef inline Py_ssize_t first_outside(
        const int64_t* k, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """Place of the first index outside 0 <= k < size, or -1."""
    cdef Py_ssize_t i, start = 0, stop
    cdef bint bad
    while start < n:
        # The inner loop has no exit, so that it runs at the speed of memory.
        stop = min(start + 1024, n)
        bad = False
        for i in range(start, stop):
            bad |= <uint64_t>k[i] >= <uint64_t>size
        if bad:
            for i in range(start, stop):
                if <uint64_t>k[i] >= <uint64_t>size:
                    return i
        start = stop
    return -1
