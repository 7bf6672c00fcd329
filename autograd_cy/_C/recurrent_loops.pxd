# cython: language_level=3
# What the compiled copies of recurrent_loops.pyx offer, handed over as one table in a capsule.
# dt: DT_F32 or DT_F64. Distances of rows (ld) are in elements; n is the size of a gate.

# Gates of a row in the workspace: four and the cell (LSTM), three and the state's part of the last
# (GRU). What each loop does is said in recurrent_rows.h.
ctypedef void (*lstm_rows_fn)(
    int dt, Py_ssize_t rows, Py_ssize_t n, char* gates, const char* before, char* cell,
    char* h) noexcept nogil
# ld_before: the cells before are in a workspace, or rows of n.
ctypedef void (*lstm_back_fn)(
    int dt, Py_ssize_t rows, Py_ssize_t n, const char* gates, const char* before,
    Py_ssize_t ld_before, const char* dh, char* dc, char* d, char* raw) noexcept nogil
ctypedef void (*gru_rows_fn)(
    int dt, Py_ssize_t rows, Py_ssize_t n, char* gates, const char* sums, const char* before,
    char* state, char* h) noexcept nogil
ctypedef void (*gru_back_fn)(
    int dt, Py_ssize_t rows, Py_ssize_t n, const char* gates, const char* before, char* dh,
    char* d, char* s) noexcept nogil
# n elements in all.
ctypedef void (*plain_rows_fn)(
    int dt, bint relu, Py_ssize_t n, char* sums, char* state) noexcept nogil
ctypedef void (*plain_back_fn)(
    int dt, bint relu, Py_ssize_t n, const char* h, const char* dh, char* d) noexcept nogil
ctypedef void (*add_fn)(int dt, Py_ssize_t n, char* to, const char* source) noexcept nogil
# out[j] = the sum of column j
ctypedef void (*sum_columns_fn)(
    int dt, Py_ssize_t rows, Py_ssize_t n, const char* p, char* out) noexcept nogil

ctypedef struct RecurrentTable:
    lstm_rows_fn lstm_rows
    lstm_back_fn lstm_back
    gru_rows_fn gru_rows
    gru_back_fn gru_back
    plain_rows_fn plain_rows
    plain_back_fn plain_back
    add_fn add
    sum_columns_fn sum_columns
