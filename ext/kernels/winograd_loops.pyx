# cython: language_level=3
# build: simd cold
# The transforms of convolutions by tiles (scalar/winograd_2x2.h, scalar/winograd_4x4.h), compiled
# once per instruction set.

from cpython.pycapsule cimport PyCapsule_New

from autograd_cy._C.winograd_loops cimport TransformTable

cdef extern from "scalar/winograd_2x2.h":
    void ag_padded_rows(
        const float* x, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t rows, Py_ssize_t n,
        float* to, Py_ssize_t row, Py_ssize_t left) noexcept nogil
    void ag_input_2x2(
        const float* x, Py_ssize_t row, Py_ssize_t n, float* v, Py_ssize_t step) noexcept nogil
    float ag_output_2x2(
        const float* m, Py_ssize_t step, Py_ssize_t n, float bias, float* y,
        Py_ssize_t row) noexcept nogil
    void ag_filter_2x2(
        const float* w, Py_ssize_t row, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t n, int turned,
        float* u, Py_ssize_t step, Py_ssize_t u_row) noexcept nogil
    float ag_filter_gradient_2x2(
        const float* u, Py_ssize_t step, Py_ssize_t row, Py_ssize_t channels, Py_ssize_t n,
        float* w, Py_ssize_t ld) noexcept nogil
    void ag_output_gradient_2x2(
        const float* y, Py_ssize_t row, Py_ssize_t n, Py_ssize_t width, float* z,
        Py_ssize_t step) noexcept nogil
    void ag_transposed(
        Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const float* source, Py_ssize_t ld,
        float* result) noexcept nogil

cdef extern from "scalar/winograd_4x4.h":
    void ag_padded_channels(
        const float* x, Py_ssize_t channel, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t now,
        Py_ssize_t rows, Py_ssize_t n, Py_ssize_t left, Py_ssize_t ld, float* to) noexcept nogil
    void ag_input_4x4(
        const float* x, Py_ssize_t ld, Py_ssize_t n, float* v, Py_ssize_t each, Py_ssize_t step,
        float* scratch) noexcept nogil
    void ag_output_gradient_4x4(
        const float* y, Py_ssize_t ld, Py_ssize_t n, float* z, Py_ssize_t each, Py_ssize_t step,
        float* scratch) noexcept nogil
    void ag_filter_4x4(
        const float* w, Py_ssize_t ld, Py_ssize_t w_step, Py_ssize_t n, Py_ssize_t k, int turned,
        float* u, Py_ssize_t width, Py_ssize_t step) noexcept nogil
    float ag_output_4x4(
        const float* m, Py_ssize_t each, Py_ssize_t step, Py_ssize_t n, const float* bias,
        Py_ssize_t now, Py_ssize_t high, Py_ssize_t wide, float* y, Py_ssize_t channel,
        Py_ssize_t y_row, Py_ssize_t y_step) noexcept nogil
    float ag_filter_gradient_4x4(
        const float* u, Py_ssize_t width, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t n, float* w,
        Py_ssize_t ld) noexcept nogil

cdef TransformTable table
table.padded_rows = ag_padded_rows
table.input_2x2 = ag_input_2x2
table.output_2x2 = ag_output_2x2
table.filter_2x2 = ag_filter_2x2
table.filter_gradient_2x2 = ag_filter_gradient_2x2
table.output_gradient_2x2 = ag_output_gradient_2x2
table.transposed = ag_transposed
table.padded_channels = ag_padded_channels
table.input_4x4 = ag_input_4x4
table.output_gradient_4x4 = ag_output_gradient_4x4
table.filter_4x4 = ag_filter_4x4
table.output_4x4 = ag_output_4x4
table.filter_gradient_4x4 = ag_filter_gradient_4x4


def table_capsule():
    """Return the table of this instruction set."""
    return PyCapsule_New(&table, "autograd_cy.winograd_loops", NULL)
