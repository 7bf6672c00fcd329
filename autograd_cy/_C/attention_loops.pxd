# cython: language_level=3
"""The table of functions that each compiled copy of attention_loops.pyx offers to attention.pyx."""

cdef enum:
    SEEN_ALL = 0
    SEEN_TRUE = 1      # bytes of truth values
    SEEN_ADDED = 2     # numbers of the computing type that are added

# A tile of scores: `rows` rows, `step` elements apart, of which `cols` columns count; a whole
# number of vectors may be written.
ctypedef struct Scores:
    char* at
    Py_ssize_t rows
    Py_ssize_t cols
    Py_ssize_t step
    int seen
    const char* mask       # of the first element; strides in elements
    Py_ssize_t mask_row
    Py_ssize_t mask_col
    bint causal
    Py_ssize_t ahead       # of the first row: columns up to this one are seen (may be negative)

# Exponentials of the scores, relative to the largest so far; sums, largest and `out` follow.
ctypedef void (*soften_fn)(
    const Scores* s, char* top, char* total, char* out, Py_ssize_t out_step,
    Py_ssize_t width) noexcept nogil
# out /= total; lse = top + log(total); rows that saw nothing are zero.
ctypedef void (*finish_rows_fn)(
    Py_ssize_t rows, const char* top, const char* total, char* out, Py_ssize_t out_step,
    Py_ssize_t width, char* lse) noexcept nogil
# Scores become weights; `score_grads`, gradients of weights with the same strides, those of scores.
ctypedef void (*gradients_fn)(
    const Scores* s, char* score_grads, const char* lse, const char* shift) noexcept nogil
# shift[i] = a[i] . b[i]
ctypedef void (*dots_fn)(
    Py_ssize_t rows, Py_ssize_t width, const char* a, Py_ssize_t a_step, const char* b,
    Py_ssize_t b_step, char* shift) noexcept nogil

ctypedef struct AttentionTable:     # float32, float64
    soften_fn[2] soften
    finish_rows_fn[2] finish_rows
    gradients_fn[2] gradients
    dots_fn[2] dots
