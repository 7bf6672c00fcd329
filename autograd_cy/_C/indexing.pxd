# cython: language_level=3
# Selecting, moving and joining elements of plain tensors: no autograd metadata is read or set.
# Where several sources reach one element they are taken in their order, whatever the number of
# threads: the last one written stays, and sums are bit-equal.

from autograd_cy._C.tensor cimport Tensor

# Kernels fill their first argument. That may be the second one where an in-place form exists; then
# it has any strides.
cdef int index_select(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1
cdef int index_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source) except -1
cdef int gather(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1
cdef int scatter(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1
cdef int scatter_add(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src) except -1
cdef int cat(Tensor out, tuple tensors, Py_ssize_t dim) except -1
cdef int stack(Tensor out, tuple tensors, Py_ssize_t dim) except -1

# Advanced indexing. `indices` has None (the whole dimension) or a tensor per dimension: int64 or
# int32 positions, or a bool (uint8) mask over as many dimensions as it has. Index tensors
# broadcast; their dimensions stand in place of the indexed ones, or first when those are not
# neighbours.
cdef int index_elements(Tensor out, Tensor a, object indices) except -1
cdef int put_elements(Tensor out, Tensor a, object indices, Tensor values,
                      bint accumulate) except -1
cdef int scatter_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                        bint include_self) except -1
cdef int index_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                      str reduce, bint include_self) except -1

cdef Tensor nonzero_plain(Tensor a)                       # (n, ndim) positions

cdef int tril(Tensor out, Tensor a, Py_ssize_t diagonal) except -1
cdef int triu(Tensor out, Tensor a, Py_ssize_t diagonal) except -1
cdef int sort(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint descending,
              bint stable) except -1
cdef int topk(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim, bint largest,
              bint is_sorted) except -1
cdef int kthvalue(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim,
                  bint keepdim) except -1
cdef int median_all(Tensor out, Tensor a) except -1
cdef int nanmedian_all(Tensor out, Tensor a) except -1
cdef int median(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint keepdim) except -1
cdef int nanmedian(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint keepdim) except -1
cdef int isin(Tensor out, Tensor elements, Tensor tests, bint assume_unique,
              bint invert) except -1
cdef int searchsorted(Tensor out, Tensor rows, Tensor values, bint out_int32, bint right,
                      object side, Tensor sorter) except -1
cdef int bucketize(Tensor out, Tensor values, Tensor boundaries, bint out_int32,
                   bint right) except -1

# For kernels that NumPy computes; bfloat16 becomes float32 on the way.
cdef object values_of(Tensor a)                 # a NumPy array
cdef Tensor tensor_of(object array, int dt)     # a new tensor

# (values, inverse, counts), whatever is wanted of them
cdef tuple unique_plain(Tensor a, bint is_sorted, bint return_inverse, bint return_counts)
cdef tuple unique_dim_plain(Tensor a, int dim, bint is_sorted, bint return_inverse,
                            bint return_counts)
cdef tuple unique_consecutive_plain(Tensor a, bint return_inverse, bint return_counts, object dim)
