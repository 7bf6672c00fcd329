# cython: language_level=3
# What the compiled copies of gemm_loops.pyx offer to gemm.pyx: one table of functions each, handed
# over in a capsule.
#
# `kind` is the type that is computed in: float32 for itself, complex64 and the half types, float64
# for itself and complex128, uint32 for integers up to 32 bits, uint64 for int64.  `ld` is the
# distance of stored rows in elements.

cdef enum:
    KIND_F32 = 0
    KIND_F64 = 1
    KIND_U32 = 2
    KIND_U64 = 3

# How the rows of a are laid out for multiply().
cdef enum:
    BY_ROWS = 0     # row i at i * step, contiguous along k
    BY_COLUMNS = 1  # rows are neighbours, k advances by step
    STRIPS = 2      # packed by pack_a: strips of `rows` rows, contiguous in it along both

# b[k, n] (with `trans` stored as [n, k]; 2: conjugate) of `dtype` to strips of `width` columns,
# each k long and filled up with zeros.  Complex b is multiplied by alpha and becomes a real matrix
# with two rows and two columns for each of its own, so that c = a @ b holds for interleaved parts.
ctypedef void (*pack_b_fn)(
    int dtype, int trans, Py_ssize_t k, Py_ssize_t n, const void* b, Py_ssize_t ldb,
    double alpha_re, double alpha_im, void* packed) noexcept nogil

# a[m, k] (with `trans` stored as [k, m]; 2: conjugate) to strips of `rows` rows, filled up with
# zeros.
ctypedef void (*pack_a_fn)(
    int dtype, int trans, Py_ssize_t m, Py_ssize_t k,
    const void* a, Py_ssize_t lda, void* packed) noexcept nogil

# c = alpha * a @ packed b + beta * c; integers take a in strips only.
ctypedef void (*multiply_fn)(
    int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
    Py_ssize_t step, const void* packed, double alpha, double beta,
    void* c, Py_ssize_t ldc) noexcept nogil

# c = row + alpha * a @ packed b: each row of c begins with the same one; floats only.
ctypedef void (*multiply_onto_fn)(
    int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
    Py_ssize_t step, const void* packed, double alpha, const void* row,
    void* c, Py_ssize_t ldc) noexcept nogil

# multiply() for b as stored, not transposed, while it is small; floats only.
ctypedef void (*multiply_direct_fn)(
    int kind, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, int layout, const void* a,
    Py_ssize_t step, const void* b, Py_ssize_t ldb, double alpha, double beta,
    void* c, Py_ssize_t ldc) noexcept nogil

# c[i * row_step + j * col_step] = alpha * (w @ x.T) + beta * c for up to 4 rows of x; w and x are
# contiguous along k; floats only.
ctypedef void (*dot_rows_fn)(
    int kind, Py_ssize_t m, int few, Py_ssize_t k, const void* w, Py_ssize_t ldw,
    const void* x, Py_ssize_t ldx, double alpha, double beta,
    void* c, Py_ssize_t row_step, Py_ssize_t col_step) noexcept nogil

# The same with w stored as [k, m]; `m` must not exceed CHUNK.
ctypedef void (*add_rows_fn)(
    int kind, Py_ssize_t m, int few, Py_ssize_t k, const void* w, Py_ssize_t ldw,
    const void* x, Py_ssize_t ldx, double alpha, double beta,
    void* c, Py_ssize_t row_step, Py_ssize_t col_step) noexcept nogil

# c = alpha * sums + beta * c, rounding to `dtype`; c is not read when beta is 0.
ctypedef void (*narrow_fn)(
    int dtype, Py_ssize_t rows, Py_ssize_t cols, const void* sums, Py_ssize_t ld,
    double alpha, double beta, void* c, Py_ssize_t ldc) noexcept nogil

# c = alpha * sum of w * x + beta * c for complex vectors, either of them conjugated.
ctypedef void (*dot_complex_fn)(
    int kind, Py_ssize_t k, const void* w, bint conj_w, const void* x, bint conj_x,
    double alpha_re, double alpha_im, double beta, void* c) noexcept nogil

# c = alpha * a @ b + beta * c for `count` matrices that lie step_a, step_b and step_c elements
# apart, of up to `tiniest` rows and columns, or few of either; floats only. Elements of a lie `row`
# and `column` apart.
ctypedef void (*tiny_products_fn)(
    int kind, Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const void* a,
    Py_ssize_t step_a, Py_ssize_t row, Py_ssize_t column, bint trans_b, const void* b,
    Py_ssize_t step_b, Py_ssize_t ldb, double alpha, double beta, void* c, Py_ssize_t step_c,
    Py_ssize_t ldc) noexcept nogil

cdef enum:
    CHUNK = 1024
    # Longest k of one call of pack_a or pack_b, and of multiply_direct.
    LONGEST_PACK = 512
    LONGEST_DIRECT = 512

ctypedef struct LoopTable:
    Py_ssize_t rows
    Py_ssize_t[4] width
    pack_b_fn pack_b
    pack_a_fn pack_a
    multiply_fn multiply
    multiply_onto_fn multiply_onto
    multiply_direct_fn multiply_direct
    dot_rows_fn dot_rows
    add_rows_fn add_rows
    narrow_fn narrow
    dot_complex_fn dot_complex
    tiny_products_fn tiny_products
    Py_ssize_t tiniest
