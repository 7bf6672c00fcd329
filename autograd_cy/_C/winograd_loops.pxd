# cython: language_level=3
# What the compiled copies of winograd_loops.pyx offer to winograd_2x2.pyx and winograd_4x4.pyx: one
# table of functions each, handed over in a capsule. All of float32; what each computes is said in
# scalar/winograd_2x2.h and scalar/winograd_4x4.h. The transforms have the names that the literature
# gives them: of input, filter and output, and of the gradients that come back through the last two.

# Rows of an image with margins.
ctypedef void (*padded_rows_fn)(
    const float* x, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t rows, Py_ssize_t n, float* to,
    Py_ssize_t row, Py_ssize_t left) noexcept nogil

# Images to the 16 places of tiles, and those of products back to images.
ctypedef void (*input_2x2_fn)(
    const float* x, Py_ssize_t row, Py_ssize_t n, float* v, Py_ssize_t step) noexcept nogil
ctypedef float (*output_2x2_fn)(
    const float* m, Py_ssize_t step, Py_ssize_t n, float bias, float* y,
    Py_ssize_t row) noexcept nogil

# Kernels to the 16 places, and those of sums back to kernels.
ctypedef void (*filter_2x2_fn)(
    const float* w, Py_ssize_t row, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t n, int turned,
    float* u, Py_ssize_t step, Py_ssize_t u_row) noexcept nogil
ctypedef float (*filter_gradient_2x2_fn)(
    const float* u, Py_ssize_t step, Py_ssize_t row, Py_ssize_t channels, Py_ssize_t n, float* w,
    Py_ssize_t ld) noexcept nogil

# Gradients of results to the 16 places; channels are neighbours.
ctypedef void (*output_gradient_2x2_fn)(
    const float* y, Py_ssize_t row, Py_ssize_t n, Py_ssize_t width, float* z,
    Py_ssize_t step) noexcept nogil
ctypedef void (*transposed_fn)(
    Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const float* source, Py_ssize_t ld,
    float* result) noexcept nogil

# Tiles of 4 x 4 results (scalar/winograd_4x4.h): images with margins, and they, gradients of
# results and kernels to the 36 places; products back to images, sums back to kernels.
ctypedef void (*padded_channels_fn)(
    const float* x, Py_ssize_t channel, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t now,
    Py_ssize_t rows, Py_ssize_t n, Py_ssize_t left, Py_ssize_t ld, float* to) noexcept nogil
ctypedef void (*input_4x4_fn)(
    const float* x, Py_ssize_t ld, Py_ssize_t n, float* v, Py_ssize_t each, Py_ssize_t step,
    float* scratch) noexcept nogil
ctypedef void (*filter_4x4_fn)(
    const float* w, Py_ssize_t ld, Py_ssize_t w_step, Py_ssize_t n, Py_ssize_t k, int turned,
    float* u, Py_ssize_t width, Py_ssize_t step) noexcept nogil
ctypedef float (*output_4x4_fn)(
    const float* m, Py_ssize_t each, Py_ssize_t step, Py_ssize_t n, const float* bias,
    Py_ssize_t now, Py_ssize_t high, Py_ssize_t wide, float* y, Py_ssize_t channel,
    Py_ssize_t y_row, Py_ssize_t y_step) noexcept nogil
ctypedef float (*filter_gradient_4x4_fn)(
    const float* u, Py_ssize_t width, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t n, float* w,
    Py_ssize_t ld) noexcept nogil

cdef enum:
    # Most channels of one call of filter_gradient_2x2.
    TAPS_TOGETHER = 16

ctypedef struct TransformTable:
    padded_rows_fn padded_rows
    input_2x2_fn input_2x2
    output_2x2_fn output_2x2
    filter_2x2_fn filter_2x2
    filter_gradient_2x2_fn filter_gradient_2x2
    output_gradient_2x2_fn output_gradient_2x2
    transposed_fn transposed
    padded_channels_fn padded_channels
    input_4x4_fn input_4x4
    input_4x4_fn output_gradient_4x4
    filter_4x4_fn filter_4x4
    output_4x4_fn output_4x4
    filter_gradient_4x4_fn filter_gradient_4x4
