# cython: language_level=3
# Working memory of kernels: blocks of 64-byte alignment that are kept for the next call.

# NULL when there is no memory.  Contents are undefined.  Safe in any thread.
cdef void* take_scratch(size_t nbytes) noexcept nogil
cdef void give_scratch(void* block) noexcept nogil

# Lists of so many elements, also NULL when there is no memory; free() gives them back.
cdef void* allocate(Py_ssize_t count, Py_ssize_t size) noexcept nogil
