# cython: language_level=3
# Reductions of plain tensors: no autograd metadata is read or set.
#
# `dims` is None (all), an int or a tuple of ints; `dt` the dtype code of the result, -1 for torch's
# default.  Integers are summed in int64, halves in float32.  Tiles depend on shapes alone, so
# results are bit-equal for any number of threads.

from autograd_cy._C.tensor cimport Tensor
from autograd_cy._C.rows cimport RowTable

cdef const RowTable* row_table() noexcept nogil

cdef Tensor sum_plain(Tensor a, object dims, bint keepdim, int dt)
cdef Tensor mean_plain(Tensor a, object dims, bint keepdim, int dt)
cdef Tensor prod_plain(Tensor a, object dims, bint keepdim, int dt)
cdef Tensor amax_plain(Tensor a, object dims, bint keepdim)
cdef Tensor amin_plain(Tensor a, object dims, bint keepdim)
cdef Tensor max_all_plain(Tensor a)
cdef Tensor min_all_plain(Tensor a)
cdef tuple max_dim_plain(Tensor a, int dim, bint keepdim)        # (values, int64 indices)
cdef tuple min_dim_plain(Tensor a, int dim, bint keepdim)
cdef Tensor argmax_plain(Tensor a, object dim, bint keepdim)
cdef Tensor argmin_plain(Tensor a, object dim, bint keepdim)
cdef Tensor logsumexp_plain(Tensor a, object dims, bint keepdim)
cdef Tensor all_plain(Tensor a, object dims, bint keepdim)
cdef Tensor any_plain(Tensor a, object dims, bint keepdim)
cdef Tensor var_plain(Tensor a, object dims, double correction, bint keepdim)
cdef tuple var_mean_plain(Tensor a, object dims, double correction, bint keepdim)
cdef tuple std_mean_plain(Tensor a, object dims, double correction, bint keepdim)
cdef Tensor std_plain(Tensor a, object dims, double correction, bint keepdim)
cdef Tensor cumsum_plain(Tensor a, int dim, int dt)

# Undo broadcasting: sum over leading dimensions and over those of size 1 in `shape`.
cdef Tensor sum_to_shape_fast(Tensor a, int ndim, const Py_ssize_t* shape)

# --- shared by the kernels on plain tensors --------------------------------------------------
cdef Tensor contiguous_moved(Tensor a, const char* mask)   # kept dims first, marked ones last
