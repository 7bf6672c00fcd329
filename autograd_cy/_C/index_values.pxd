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
    cdef int64_t last = size - 1, one, two
    while start < n:
        # The inner loop has no exit, so that it runs at the speed of memory. The sign of
        # k | (last - k) is set where k lies outside; two chains of `or` keep up with the loads.
        stop = min(start + 1024, n)
        one = two = 0
        for i in range(start, stop - 1, 2):
            one |= k[i] | <int64_t>(<uint64_t>last - <uint64_t>k[i])
            two |= k[i + 1] | <int64_t>(<uint64_t>last - <uint64_t>k[i + 1])
        one |= k[stop - 1] | <int64_t>(<uint64_t>last - <uint64_t>k[stop - 1])
        if (one | two) < 0:
            for i in range(start, stop):
                if <uint64_t>k[i] >= <uint64_t>size:
                    return i
        start = stop
    return -1
