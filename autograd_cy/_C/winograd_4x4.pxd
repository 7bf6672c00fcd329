# cython: language_level=3
"""Convolutions of 3 x 3 taps by tiles of 4 x 4 results; part of winograd_2x2.pyx."""
from autograd_cy._C.convolution_plan cimport Form
from autograd_cy._C.scratch cimport take_scratch

# Whether such tiles take less time than those of 2 x 2, of a convolution that suits those.
cdef bint suits_4x4(Form* f) noexcept nogil

# y from x, x from y, and the weights' gradient. 0; or 1 if something isn't finite or there is no
# memory, and the plain sums have to be taken.
cdef int run_4x4(Form* f, bint image) noexcept nogil
cdef int run_4x4_weights(Form* f) noexcept nogil


cdef inline float* floats(Py_ssize_t count) noexcept nogil:
    """Working memory; NULL if there is none."""
    return <float*>take_scratch(<size_t>(count + 64) * sizeof(float))
