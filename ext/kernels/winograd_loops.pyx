# cython: language_level=3
# build: simd
# The transforms of convolutions by tiles (scalar/winograd.h, scalar/winograd_large.h), compiled
# once per instruction set.

from cpython.pycapsule cimport PyCapsule_New

from autograd_cy._C.winograd_loops cimport TileTable

cdef extern from "scalar/winograd.h":
    void ag_plane(
        const float* x, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t rows, Py_ssize_t n,
        float* to, Py_ssize_t row, Py_ssize_t left) noexcept nogil
    void ag_tiles_in(
        const float* x, Py_ssize_t row, Py_ssize_t n, float* v, Py_ssize_t step) noexcept nogil
    float ag_tiles_out(
        const float* m, Py_ssize_t step, Py_ssize_t n, float bias, float* y,
        Py_ssize_t row) noexcept nogil
    void ag_taps_in(
        const float* w, Py_ssize_t row, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t n, int turned,
        float* u, Py_ssize_t step, Py_ssize_t u_row) noexcept nogil
    float ag_taps_out(
        const float* u, Py_ssize_t step, Py_ssize_t row, Py_ssize_t channels, Py_ssize_t n,
        float* w, Py_ssize_t ld) noexcept nogil
    void ag_tiles_back(
        const float* y, Py_ssize_t row, Py_ssize_t n, Py_ssize_t width, float* z,
        Py_ssize_t step) noexcept nogil
    void ag_columns(
        Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const float* source, Py_ssize_t ld,
        float* result) noexcept nogil

cdef extern from "scalar/winograd_large.h":
    void ag_lanes_in(
        const float* x, Py_ssize_t channel, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t now,
        Py_ssize_t rows, Py_ssize_t n, Py_ssize_t left, Py_ssize_t ld, float* to) noexcept nogil
    void ag_large_in(
        const float* x, Py_ssize_t ld, Py_ssize_t n, float* v, Py_ssize_t each, Py_ssize_t step,
        float* room) noexcept nogil
    void ag_large_back(
        const float* y, Py_ssize_t ld, Py_ssize_t n, float* z, Py_ssize_t each, Py_ssize_t step,
        float* room) noexcept nogil
    void ag_large_taps(
        const float* w, Py_ssize_t ld, Py_ssize_t w_step, Py_ssize_t n, Py_ssize_t k, int turned,
        float* u, Py_ssize_t width, Py_ssize_t step) noexcept nogil
    float ag_large_out(
        const float* m, Py_ssize_t each, Py_ssize_t step, Py_ssize_t n, const float* bias,
        Py_ssize_t now, Py_ssize_t high, Py_ssize_t wide, float* y, Py_ssize_t channel,
        Py_ssize_t y_row, Py_ssize_t y_step) noexcept nogil
    float ag_large_taps_out(
        const float* u, Py_ssize_t width, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t n, float* w,
        Py_ssize_t ld) noexcept nogil

cdef TileTable table
table.plane = ag_plane
table.tiles_in = ag_tiles_in
table.tiles_out = ag_tiles_out
table.taps_in = ag_taps_in
table.taps_out = ag_taps_out
table.tiles_back = ag_tiles_back
table.columns = ag_columns
table.lanes_in = ag_lanes_in
table.large_in = ag_large_in
table.large_back = ag_large_back
table.large_taps = ag_large_taps
table.large_out = ag_large_out
table.large_taps_out = ag_large_taps_out


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.winograd_loops", NULL)
