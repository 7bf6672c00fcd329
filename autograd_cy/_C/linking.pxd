# cython: language_level=3
"""C pointers to operators, exchanged by name and signature ("Tensor mul(Tensor, Tensor)")."""

# Signatures are separated by newlines; `functions` is an array, or a struct, of as many pointers.
cdef int publish(void** functions, str signatures) except -1
cdef int link(str module, void** functions, str signatures) except -1
