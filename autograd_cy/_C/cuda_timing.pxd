# cython: language_level=3
"""Times of kernels and copies, while a profiler asks for them: events before and after each."""
from autograd_cy._C.devices cimport stream_t

cdef bint timing        # some session wants them

# Around what is put on a stream: what begin_timing gives goes to end_timing, whether that was
# possible or not.
cdef void* begin_timing(int index, stream_t stream) except NULL
cdef int end_timing(object name, int index, stream_t stream, void* began) except -1
