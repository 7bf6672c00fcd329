# cython: language_level=3
# What the compiled copies of convolution_loops.pyx offer to convolution.pyx: one table of functions
# each, handed over in a capsule.
#
# `kind` is the type that is computed in: float32 for itself, complex64 and the half types, float64
# for itself and complex128, uint64 for integers.  Complex tensors come as twice as many real ones
# (`unit` 2), and `dt` is then the dtype of the parts.  Steps are in elements of `dt`.

cdef enum:
    CONV_F32 = 0
    CONV_F64 = 1
    CONV_U64 = 2

# c[i][v] = first[i] + sum_p w[p * rows + i] * b[v][off[p]] for 1, 2 or 4 vectors; `rows` and the
# number of vectors are as `shapes` says.  Without `first` the sums go on from what c holds.
ctypedef void (*gather_fn)(
    int kind, int rows, int vecs, Py_ssize_t k, const void* w, const void* const* b,
    const Py_ssize_t* off, const void* first, void* c, Py_ssize_t row_step,
    Py_ssize_t vec_step) noexcept nogil

# Rows of n elements of one channel, `x_step` and `y_step` apart, of at least a vector each:
# y[j] = first + sum_p w[p] * x[off[p] + j], float32 and float64.
ctypedef void (*slim_fn)(
    int kind, Py_ssize_t rows, Py_ssize_t n, Py_ssize_t k, const void* w, const Py_ssize_t* off,
    const void* first, const void* x, Py_ssize_t x_step, void* y, Py_ssize_t y_step) noexcept nogil

# c[r * taps + t] += sum of x[at[run] + base[r] + t + i] * y, for bases_of(taps) bases.
ctypedef void (*tap_fn)(
    int kind, int taps, int vecs, Py_ssize_t runs, Py_ssize_t length, const void* x,
    const Py_ssize_t* at, const Py_ssize_t* base, const void* y, void* c,
    Py_ssize_t row_step) noexcept nogil

# c[j * col_step + i] += sum over runs of y[j * y_step + ...] * x[at[run] + base[i] + ...] for one
# or two j and up to `rows` i; a vector beyond the ends of x and y may be read.
ctypedef void (*dot_fn)(
    int kind, int rows, int cols, Py_ssize_t runs, Py_ssize_t length, const void* x,
    const Py_ssize_t* at, const Py_ssize_t* base, const void* y, Py_ssize_t y_step, void* c,
    Py_ssize_t col_step) noexcept nogil

# tile[p * width + to[i] ...] = x[off[p] + source[i] ...] for p < k and each run i of count[i]
# elements.
ctypedef void (*collect_fn)(
    int kind, Py_ssize_t k, const Py_ssize_t* off, int runs, const Py_ssize_t* source,
    const Py_ssize_t* to, const Py_ssize_t* count, const void* x, void* tile,
    Py_ssize_t width) noexcept nogil

# The same runs of some rows of sums, to where they belong; `step` between elements of dt.
ctypedef void (*spread_fn)(
    int dt, Py_ssize_t rows, int runs, const Py_ssize_t* source, const Py_ssize_t* to,
    const Py_ssize_t* count, const void* sums, Py_ssize_t width, void* result,
    Py_ssize_t row_step, Py_ssize_t step) noexcept nogil

# Rows of n float32 whose elements are sums of two kinds in turn:
# d[2 * i + phase] = first + sum_p w[phase][p] * s[off[phase][p] + i]; whole vectors of s are read.
ctypedef void (*twins_fn)(
    Py_ssize_t rows, Py_ssize_t n, const Py_ssize_t* k, const float* const* w,
    const Py_ssize_t* const* off, float first, const float* s, Py_ssize_t s_step, float* d,
    Py_ssize_t d_step) noexcept nogil

# Results of one image whose channels are the lanes of one or two vectors, float32:
# tile[i * cols + j][c] = first[c] + sum_p w[p][c] * x[off[p] + i * x_row + j * step], step 1 or 2.
ctypedef void (*by_channels_fn)(
    int vecs, int step, Py_ssize_t rows, Py_ssize_t cols, Py_ssize_t k, const float* w,
    const Py_ssize_t* off, const float* first, const float* x, Py_ssize_t x_row,
    float* tile) noexcept nogil

# And where they belong: y[c * y_step + p] = tile[p * width + c] for n places p.
ctypedef void (*to_images_fn)(
    Py_ssize_t n, Py_ssize_t channels, const float* tile, Py_ssize_t width, float* y,
    Py_ssize_t y_step) noexcept nogil

# n elements of dt, `step` apart, to neighbours of the computing type, and back.
ctypedef void (*widen_fn)(
    int dt, const void* source, Py_ssize_t step, Py_ssize_t n, void* result) noexcept nogil
ctypedef void (*narrow_fn)(
    int dt, const void* source, Py_ssize_t n, void* result, Py_ssize_t step) noexcept nogil

# result[p * rows + i] = w[i * row_step + off[p]]; with unit 2 the real matrix that multiplies
# parts: rows and p alternate between them.
ctypedef void (*pack_fn)(
    int dt, int unit, Py_ssize_t row, Py_ssize_t rows, Py_ssize_t k, const void* w,
    Py_ssize_t row_step, const Py_ssize_t* off, void* result) noexcept nogil

# result[p * width + j] = source[j * col_step + p * step] for j < cols, 0 for the rest.
ctypedef void (*columns_fn)(
    int dt, int unit, Py_ssize_t col, Py_ssize_t cols, Py_ssize_t width, Py_ssize_t n,
    const void* source, Py_ssize_t col_step, Py_ssize_t step, void* result) noexcept nogil

# result[j * line + q] = sums[row[q] * width + j] for q < n and j < cols.
ctypedef void (*lines_fn)(
    int kind, Py_ssize_t n, Py_ssize_t cols, const void* sums, const Py_ssize_t* row,
    Py_ssize_t width, void* result, Py_ssize_t line) noexcept nogil

ctypedef struct ConvTable:
    int rows                # most rows of a block
    int lanes[3]            # elements of a vector, by kind
    int taps                # most taps
    int held                # columns that by_channels computes at a time
    gather_fn gather
    slim_fn slim
    tap_fn tap
    dot_fn dot
    collect_fn collect
    spread_fn spread
    twins_fn twins
    by_channels_fn by_channels
    to_images_fn to_images
    widen_fn widen
    narrow_fn narrow
    pack_fn pack
    columns_fn columns
    lines_fn lines
