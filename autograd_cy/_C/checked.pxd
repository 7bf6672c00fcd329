# cython: language_level=3
"""Arithmetic on sizes, strides and offsets that notices when 64 bits are not enough.

Whatever a program gives as a size, a stride or an offset goes through here before it becomes an
address or a number of bytes. Everything is inline; there is no module behind this file.
"""
from libc.stdint cimport INT32_MAX

cdef extern from *:
    """
    #define AG_ADD(a, b, r) __builtin_add_overflow(a, b, r)
    #define AG_SUB(a, b, r) __builtin_sub_overflow(a, b, r)
    #define AG_MUL(a, b, r) __builtin_mul_overflow(a, b, r)
    """
    bint AG_ADD(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint AG_SUB(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint AG_MUL(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil

cdef inline Py_ssize_t checked_add(Py_ssize_t a, Py_ssize_t b, str what) except? -1:
    cdef Py_ssize_t r
    if AG_ADD(a, b, &r):
        raise RuntimeError(f"{what}: integer addition overflow ({a} + {b})")
    return r

cdef inline Py_ssize_t checked_sub(Py_ssize_t a, Py_ssize_t b, str what) except? -1:
    cdef Py_ssize_t r
    if AG_SUB(a, b, &r):
        raise RuntimeError(f"{what}: integer subtraction overflow ({a} - {b})")
    return r

cdef inline Py_ssize_t checked_mul(Py_ssize_t a, Py_ssize_t b, str what) except? -1:
    cdef Py_ssize_t r
    if AG_MUL(a, b, &r):
        raise RuntimeError(f"{what}: integer multiplication overflow ({a} * {b})")
    return r

cdef inline Py_ssize_t window_bytes(int ndim, const Py_ssize_t* sizes, const Py_ssize_t* strides,
                                    Py_ssize_t offset, Py_ssize_t item) except -1:
    """
    Bytes of a storage from its begin to the end of a window; 0 for an empty one. Sizes, strides
    and the offset count elements and aren't negative.
    """
    cdef Py_ssize_t extent = 1, step
    cdef int i
    cdef bint bad = False
    for i in range(ndim):
        if sizes[i] == 0:
            return 0
        bad |= AG_MUL(sizes[i] - 1, strides[i], &step)
        bad |= AG_ADD(extent, step, &extent)
    bad |= AG_ADD(extent, offset, &extent)
    bad |= AG_MUL(extent, item, &extent)
    if bad:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={[sizes[i] for i in range(ndim)]} and "
            f"strides={[strides[i] for i in range(ndim)]} (storage offset {offset})")
    return extent

cdef inline int checked_count(Py_ssize_t n, str what) except -1:
    """Inputs, outputs and saved tensors of a node are counted in 32 bits."""
    if n < 0 or n > INT32_MAX:
        raise RuntimeError(f"autograd: {n} {what} are more than {INT32_MAX}")
    return 0
