# cython: language_level=3
"""The geometry of a convolution: grids of results, their taps, and the contents of a vector."""
from autograd_cy._C.convolution_plan cimport Form, Planes

# Lanes of a vector that belong to neighbours in one row of the result.
ctypedef struct Piece:
    Py_ssize_t vector
    Py_ssize_t image
    Py_ssize_t lane
    Py_ssize_t count
    Py_ssize_t source       # where the first one's image begins, relative to the tap at 0
    Py_ssize_t result

# Results whose taps are the same.
ctypedef struct Grid:
    Py_ssize_t extent[3]
    Py_ssize_t first        # place of the first result, and distances in elements of dt
    Py_ssize_t step[3]
    Py_ssize_t k            # taps of all channels; twice as many for complex numbers
    Py_ssize_t* off         # where a tap's elements are
    Py_ssize_t* woff        # where its weight is
    char* weights           # packed: of each group the blocks at work, contiguous along k
    bint gathered           # vectors are gathered first, as few lanes would be of use
    Py_ssize_t vectors
    Py_ssize_t* source      # of each vector
    Py_ssize_t* begins      # its first piece; one more than vectors
    Py_ssize_t pieces
    Piece* piece

# Results at places of `result`, from images in `source`.
ctypedef struct Work:
    Form* f
    Planes p
    const char* source
    const Py_ssize_t* at_source
    const Py_ssize_t* of_source
    Py_ssize_t channels     # of the source, and of the result, in each group; real ones
    Py_ssize_t rows
    char* result
    const Py_ssize_t* at_result
    Py_ssize_t row_step     # of weights
    bint twins              # two grids at a time, whose results lie in turn
    bint plain              # their rows are read as they lie, instead of packed ones
    Py_ssize_t block        # rows of a block
    Py_ssize_t blocks
    Py_ssize_t grids
    Grid* grid
    Py_ssize_t* ramp        # 0, 1, 2, ... times the vectors of a tile, for gathered ones
    char* bias              # of the computing type, or zeros
    char* packed
    Py_ssize_t first        # blocks that are at work, and where they end
    Py_ssize_t last
    Py_ssize_t batches      # of images; each task has one, and some groups, and some blocks
    Py_ssize_t group_parts
    Py_ssize_t block_parts
    int failed

# The memory format of the source, and the one grid for y from x.
cdef void plan_result(Work* t) noexcept nogil
cdef int tap_result(Work* t) noexcept nogil

# The same for x from y, with a grid for each phase.
cdef void plan_image(Work* t) noexcept nogil
cdef int tap_image(Work* t) noexcept nogil

cdef int cut_vectors(Work* t, Grid* g) noexcept nogil
