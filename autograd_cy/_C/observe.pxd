# cython: language_level=3
"""Called around each operator while the global profile bit is set."""

# Begins to observe `op`; to be kept in a local variable of the function that does it.
cdef object observe(str op)
