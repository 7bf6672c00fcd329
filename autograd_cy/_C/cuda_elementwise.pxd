# cython: language_level=3
"""Elementwise work on CUDA devices: operands, packed for the kernels of cuda_elementwise.py."""
from libc.stdint cimport uint64_t
from autograd_cy._C.devices cimport Elementwise, stream_t

cdef int elementwise(Elementwise* work, int index, stream_t stream) except -1
cdef int has_elementwise(int kernel, int dt) noexcept

# Operands over one shape, the result first, whose dimensions `join_dims` has sorted and joined.
cdef struct Joined:
    int nargs
    int nd
    Py_ssize_t n               # elements
    char* p[5]                 # NULL: the number in `cell`
    Py_ssize_t item[5]         # bytes of an element, as the kernel reads it
    uint64_t cell[5][2]
    Py_ssize_t shape[64]       # outermost first, by the result's strides
    Py_ssize_t strides[5][64]

# Fill n, nd, shape and strides (in bytes); the other fields are there.
cdef void join_dims(Joined* o, int nd, const Py_ssize_t* shape, Py_ssize_t** strides) noexcept nogil
cdef bint is_flat(const Joined* o, int a) noexcept nogil    # operand `a` is dense, in that order
# Put an entry of the table of kernels on a stream.
cdef int run_entry(int entry, Joined* o, int index, stream_t stream) except -1
cdef int copy_entry(Py_ssize_t item) noexcept               # of elements of so many bytes
cdef int cast_entry(int source, int target) noexcept
# n / size by a product, for any n < 2^31
cdef void divide_by(Py_ssize_t size, void* divisor) noexcept nogil
