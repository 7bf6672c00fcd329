# cython: language_level=3
"""Dimensions of several operands of one CUDA launch: joined, sorted, as arguments of kernels."""
from libc.stdint cimport int64_t, uint64_t
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    TRACKS = 10            # operands of a walk: two, and index tensors

# Dimensions, the outermost first, with the bytes of a step along each for some operands.
cdef struct Walk:
    int nd
    int tracks
    int64_t size[66]
    int64_t step[10][66]

cdef inline void begin_walk(Walk* w, int tracks) noexcept:
    w.nd = 0
    w.tracks = tracks

# Append a dimension, whose steps are set by the caller at the number that it gets: w.nd - 1.
cdef inline int add_dim(Walk* w, int64_t size) noexcept:
    cdef int k
    w.size[w.nd] = size
    for k in range(w.tracks):
        w.step[k][w.nd] = 0
    w.nd += 1
    return w.nd - 1

cdef int64_t walk_count(const Walk* w) noexcept
# Leave dimensions of size 1 out, and join neighbours where all operands allow it.
cdef void join_walk(Walk* w) noexcept
# The outermost first by the steps of the first operand, which is the result: for launches that may
# take elements in any order.
cdef void sort_walk(Walk* w) noexcept
# The most bytes, up to 16, that go as one word: the innermost dimension is bytes side by side for
# the first two operands, at `p` and `q`; its size becomes that in words. `other` are bytes that
# places of the second operand are multiples of.
cdef int take_words(Walk* w, const void* p, const void* q, int64_t other) noexcept

# Sizes (ag_wide_divisor each) and steps as kernels take them, the innermost first. There are at
# most AG_CUDA_DIMS.
cdef void put_sizes(const Walk* w, void* size) noexcept
cdef void put_steps(const Walk* w, int track, int64_t* stride) noexcept

# An index tensor on the device, as int32 or int64. It becomes one more of an ag_index_args
# (device/index_arguments.h), and their steps are tracks of a walk, from `first_track` on.
cdef Tensor index_on(Tensor index, int device)
cdef int set_index(void* args, Tensor index, int64_t size, int64_t step, int dim) except -1
cdef void put_index_steps(void* args, const Walk* w, int first_track) noexcept

# Start a kernel of which each thread takes an element, and others beyond the grid.
cdef int launch_each(int kernel, int device, uint64_t n, const void* args,
                     Py_ssize_t size) except -1
# Numbers of the kernels <name>_w8 to <name>_w128 by the bytes of a word.
cdef int kernel_of_words(str image, str name, int word) except -1
