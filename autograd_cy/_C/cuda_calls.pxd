# cython: language_level=3
"""Note where in the program kernels were called that may find a bad value."""
from autograd_cy._C.launch cimport Fault

# Say where kernels of a device note their faults.
cdef void watch_faults(int index, Fault* place) noexcept

# Note a call on a device, and return what the kernel writes into its fault as `op`: the operator's
# name (static) with the number of the call in the 16 bits that no address has.
cdef const char* called(int index, const char* op) except? NULL
# The name alone, from what `called` has returned, or from a plain name.
cdef const char* op_of(const char* token) noexcept nogil
# Say in an exception which call has found the bad value.
cdef int say_call(object error, int index, const char* token) except -1
