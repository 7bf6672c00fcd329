# cython: language_level=3
# Reductions of plain tensors: no autograd metadata is read or set.
#
# The kernels fill results that a shape rule (rules_reduction) has sized. `dims` is None (all), an
# int or a tuple of ints; `dt` the dtype code asked for, -1 for torch's default. Integers are summed
# in int64, halves in float32. Tiles depend on shapes alone, so results are bit-equal for any number
# of threads.

from autograd_cy._C.tensor cimport Tensor
from autograd_cy._C.row_loops cimport RowTable

cdef const RowTable* row_table() noexcept nogil

cdef int sum_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1
cdef int mean_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1
cdef int prod_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1
cdef int prod_dim_into(Tensor out, Tensor a, Py_ssize_t dim, bint keepdim, int dt) except -1
cdef int amax_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int amin_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int aminmax_into(Tensor low, Tensor high, Tensor a, object dim, bint keepdim) except -1
cdef int max_into(Tensor out, Tensor a) except -1
cdef int min_into(Tensor out, Tensor a) except -1
cdef int max_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1
cdef int min_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1
cdef int argmax_into(Tensor out, Tensor a, object dim, bint keepdim) except -1
cdef int argmin_into(Tensor out, Tensor a, object dim, bint keepdim) except -1
cdef int squares_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int logsumexp_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int all_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int any_into(Tensor out, Tensor a, object dims, bint keepdim) except -1
cdef int var_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1
cdef int std_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1
cdef int var_mean_into(Tensor var, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1
cdef int std_mean_into(Tensor std, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1
cdef int cumsum_into(Tensor out, Tensor a, Py_ssize_t dim) except -1   # out may be a
cdef int cumprod_into(Tensor out, Tensor a, Py_ssize_t dim) except -1
# terms_k + factors_k result_(k-1); in reverse its transpose: terms_k + factors_(k+1) result_(k+1)
cdef int linear_scan(Tensor out, Tensor terms, Tensor factors, Py_ssize_t dim,
                     bint reverse) except -1

# Into fresh memory, on the CPU, for other kernels.
cdef Tensor sum_plain(Tensor a, object dims, bint keepdim, int dt)

# Undo broadcasting: sum over leading dimensions and over those of size 1 in `shape`.
cdef Tensor sum_to_shape_fast(Tensor a, int ndim, const Py_ssize_t* shape)

# --- shared by the kernels on plain tensors --------------------------------------------------
cdef Tensor reduced_dims_last(Tensor a, const char* mask)  # kept dims first, marked ones last
