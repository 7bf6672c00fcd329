# cython: language_level=3
# What the compiled copies of norm_loops.pyx offer, handed over as one table in a capsule.  Elements
# of a run lie side by side; steps are in elements.  Statistics are doubles.

# Mean and sum of squared deviations of `runs` runs of n elements, put together.
ctypedef void (*moments_fn)(
    const char* p, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n, double* two) noexcept nogil

# Sum of the squares of a run.
ctypedef double (*squares_fn)(const char* p, Py_ssize_t n) noexcept nogil

# Sums of g and of g (x - mean) over runs.
ctypedef void (*dots_fn)(
    const char* g, const char* p, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n, double mean,
    double* two) noexcept nogil

# out = (x - mean) * a + b of runs.
ctypedef void (*scale_fn)(
    const char* p, char* out, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n, double mean,
    double a, double b) noexcept nogil

# out = g * a - c0 - (x - mean) * c1 of runs.
ctypedef void (*back_fn)(
    const char* g, const char* p, char* out, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n,
    double mean, double a, double c0, double c1) noexcept nogil

# One row with a weight (and bias) for each element; either may be NULL.
ctypedef void (*row_fn)(
    const char* p, char* out, Py_ssize_t n, double mean, double spread, const char* weight,
    const char* bias) noexcept nogil
# out = (g w - c0 - (x - mean) * c1) * spread, with sums of g w and g w (x - mean) taken here;
# `centred` is False where there is no mean.
ctypedef void (*row_back_fn)(
    const char* g, const char* p, char* out, Py_ssize_t n, double mean, double spread,
    const char* weight, bint centred) noexcept nogil
# by_weight += g (x - mean) * spread; by_bias += g; either may be NULL.
ctypedef void (*row_gather_fn)(
    const char* g, const char* p, Py_ssize_t n, double mean, double spread, char* by_weight,
    char* by_bias) noexcept nogil

# Columns of rows: sums of (x - shift) and of its squares, with one number of `shift` a column.
ctypedef void (*column_moments_fn)(
    const char* p, Py_ssize_t rows, Py_ssize_t n, const char* shift, double* sums,
    double* squares) noexcept nogil
# Sums of g and of g (x - mean).
ctypedef void (*column_dots_fn)(
    const char* g, const char* p, Py_ssize_t rows, Py_ssize_t n, const char* mean, double* sums,
    double* products) noexcept nogil
# out = (x - mean) * a + b, with one number of each a column.
ctypedef void (*column_scale_fn)(
    const char* p, char* out, Py_ssize_t rows, Py_ssize_t n, const char* mean, const char* a,
    const char* b) noexcept nogil
# out = g * a - c0 - (x - mean) * c1
ctypedef void (*column_back_fn)(
    const char* g, const char* p, char* out, Py_ssize_t rows, Py_ssize_t n, const char* mean,
    const char* a, const char* c0, const char* c1) noexcept nogil

ctypedef struct NormTable:            # of float32 and of float64
    moments_fn moments[2]
    squares_fn squares[2]
    dots_fn dots[2]
    scale_fn scale[2]
    back_fn back[2]
    row_fn row[2]
    row_back_fn row_back[2]
    row_gather_fn row_gather[2]
    column_moments_fn column_moments[2]
    column_dots_fn column_dots[2]
    column_scale_fn column_scale[2]
    column_back_fn column_back[2]
