# cython: language_level=3
# What the compiled copies of winograd_loops.pyx offer to winograd.pyx: one table of functions each,
# handed over in a capsule. All of float32; what each computes is said in scalar/winograd.h.

# Rows of an image with margins.
ctypedef void (*plane_fn)(
    const float* x, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t rows, Py_ssize_t n, float* to,
    Py_ssize_t row, Py_ssize_t left) noexcept nogil

# Images to the 16 places of tiles, and those of products back to images.
ctypedef void (*tiles_in_fn)(
    const float* x, Py_ssize_t row, Py_ssize_t n, float* v, Py_ssize_t step) noexcept nogil
ctypedef float (*tiles_out_fn)(
    const float* m, Py_ssize_t step, Py_ssize_t n, float bias, float* y,
    Py_ssize_t row) noexcept nogil

# Kernels to the 16 places, and those of sums back to kernels.
ctypedef void (*taps_in_fn)(
    const float* w, Py_ssize_t row, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t n, int turned,
    float* u, Py_ssize_t step, Py_ssize_t u_row) noexcept nogil
ctypedef float (*taps_out_fn)(
    const float* u, Py_ssize_t step, Py_ssize_t row, Py_ssize_t channels, Py_ssize_t n, float* w,
    Py_ssize_t ld) noexcept nogil

# Gradients of results to the 16 places; channels are neighbours.
ctypedef void (*tiles_back_fn)(
    const float* y, Py_ssize_t row, Py_ssize_t n, Py_ssize_t width, float* z,
    Py_ssize_t step) noexcept nogil
ctypedef void (*columns_fn)(
    Py_ssize_t n, Py_ssize_t cols, Py_ssize_t width, const float* source, Py_ssize_t ld,
    float* result) noexcept nogil

# Tiles of 4 x 4 results (scalar/winograd_large.h): images with margins, and they, gradients of
# results and kernels to the 36 places; products back to images, sums back to kernels.
ctypedef void (*lanes_in_fn)(
    const float* x, Py_ssize_t channel, Py_ssize_t x_row, Py_ssize_t x_step, Py_ssize_t now,
    Py_ssize_t rows, Py_ssize_t n, Py_ssize_t left, Py_ssize_t ld, float* to) noexcept nogil
ctypedef void (*large_in_fn)(
    const float* x, Py_ssize_t ld, Py_ssize_t n, float* v, Py_ssize_t each, Py_ssize_t step,
    float* room) noexcept nogil
ctypedef void (*large_taps_fn)(
    const float* w, Py_ssize_t ld, Py_ssize_t w_step, Py_ssize_t n, Py_ssize_t k, int turned,
    float* u, Py_ssize_t width, Py_ssize_t step) noexcept nogil
ctypedef float (*large_out_fn)(
    const float* m, Py_ssize_t each, Py_ssize_t step, Py_ssize_t n, const float* bias,
    Py_ssize_t now, Py_ssize_t high, Py_ssize_t wide, float* y, Py_ssize_t channel,
    Py_ssize_t y_row, Py_ssize_t y_step) noexcept nogil
ctypedef float (*large_taps_out_fn)(
    const float* u, Py_ssize_t width, Py_ssize_t step, Py_ssize_t rows, Py_ssize_t n, float* w,
    Py_ssize_t ld) noexcept nogil

cdef enum:
    # Most channels of one call of taps_out.
    TAPS_TOGETHER = 16

ctypedef struct TileTable:
    plane_fn plane
    tiles_in_fn tiles_in
    tiles_out_fn tiles_out
    taps_in_fn taps_in
    taps_out_fn taps_out
    tiles_back_fn tiles_back
    columns_fn columns
    lanes_in_fn lanes_in
    large_in_fn large_in
    large_in_fn large_back
    large_taps_fn large_taps
    large_out_fn large_out
    large_taps_out_fn large_taps_out
