# cython: language_level=3
# What the compiled copies of row_loops.pyx offer: inner loops of reductions, arg-reductions and
# softmax, handed over as one table in a capsule.  Steps between rows are in bytes; elements of a
# row lie side by side.

from libc.stdint cimport int64_t

from autograd_cy._C.dtypes cimport DTYPES

cdef enum:
    R_SUM = 0
    R_PROD = 1
    R_MAX = 2
    R_MIN = 3
    R_SQUARES = 4     # float32 and float64

cdef enum:
    ACC_I64 = 0     # bool and integers
    ACC_F64 = 1     # floats; blocks are summed in their own type (halves in float32)
    ACC_C128 = 2
    COLS = 256      # most columns that one call of a column loop may take

cdef enum:
    S_SOFTMAX = 0
    S_LOG_SOFTMAX = 1
    S_LOGSUMEXP = 2

# acc[r] = reduction of row r (n elements at p + r * step).
ctypedef void (*rows_fn)(
    const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, char* acc) noexcept nogil

# acc[j] = reduction of column j over the rows; n <= COLS.
ctypedef void (*cols_fn)(
    const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, char* acc) noexcept nogil

# dst[j] = dst[j] op src[j]
ctypedef void (*combine_fn)(char* dst, const char* src, Py_ssize_t n) noexcept nogil

# out[j * stride] = acc[j] * scale, in the dtype of the result; stride in elements.
ctypedef void (*finish_fn)(
    const char* acc, char* out, Py_ssize_t n, Py_ssize_t stride, double scale) noexcept nogil

# Largest (smallest) element of each row or column and its first position; a NaN wins.
ctypedef void (*arg_fn)(
    const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, char* values,
    int64_t* index) noexcept nogil

# kind S_*; out: rows like p, or one value per row (column) for S_LOGSUMEXP.
ctypedef void (*soft_rows_fn)(
    int kind, const char* p, Py_ssize_t rows, Py_ssize_t n, char* out) noexcept nogil
ctypedef void (*soft_cols_fn)(
    int kind, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
    char* out) noexcept nogil

# kind S_SOFTMAX or S_LOG_SOFTMAX; g: incoming gradient, y: result of the forward pass.
ctypedef void (*soft_back_rows_fn)(
    int kind, const char* g, const char* y, Py_ssize_t rows, Py_ssize_t n,
    char* out) noexcept nogil
ctypedef void (*soft_back_cols_fn)(
    int kind, const char* g, const char* y, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
    char* out) noexcept nogil

# Sum of (x - mean)**2 of each row; mean[r] and acc[r] are doubles.
ctypedef void (*deviation_fn)(
    const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, const double* mean,
    double* acc) noexcept nogil

# Sum of (a - b)**2.
ctypedef double (*distance_fn)(const char* a, const char* b, Py_ssize_t n) noexcept nogil

# out = (a - b) * scale
ctypedef void (*difference_fn)(
    const char* a, const char* b, char* out, Py_ssize_t n, double scale) noexcept nogil

# The loops of reductions for the half dtypes, with the operation and the dtype as arguments.
ctypedef void (*half_fn)(
    int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
    char* acc) noexcept nogil
ctypedef void (*half_arg_fn)(
    int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, char* values,
    int64_t* index) noexcept nogil
ctypedef void (*half_deviation_fn)(
    int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n, const double* mean,
    double* acc) noexcept nogil

ctypedef struct RowTable:
    rows_fn rows[5][DTYPES]           # op, dtype; NULL where there is none
    cols_fn cols[5][DTYPES]
    combine_fn combine[5][3]      # op, accumulator
    finish_fn finish[3][DTYPES]       # accumulator, dtype of the result
    arg_fn arg_rows[4][DTYPES]
    arg_fn arg_cols[4][DTYPES]
    soft_rows_fn soft_rows[DTYPES]
    soft_cols_fn soft_cols[DTYPES]
    soft_back_rows_fn soft_back_rows[DTYPES]
    soft_back_cols_fn soft_back_cols[DTYPES]
    deviation_fn deviation[DTYPES]
    distance_fn distance[DTYPES]
    difference_fn difference[DTYPES]
    half_fn half_rows
    half_fn half_cols
    half_arg_fn half_arg_rows
    half_arg_fn half_arg_cols
    half_deviation_fn half_deviation
