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
cdef int index_elements(Tensor out, Tensor a, object indices, list masks) except -1
cdef int put_elements(Tensor out, Tensor a, object indices, Tensor values, bint accumulate,
                      list masks) except -1
cdef int only_mask(tuple indices) noexcept
cdef int fill_true(Tensor a, Tensor mask, int place, Tensor value) except -1    # x[mask] = value
cdef int scatter_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                        bint include_self) except -1
cdef int index_reduce(Tensor out, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                      str reduce, bint include_self) except -1

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
cdef Tensor tensor_from_array(object array, int dt)     # a new tensor

# Results whose size the values decide: a function that finds it, and leaves in a list what the one
# that fills them can use.
cdef int count_masks(Tensor a, object indices, Py_ssize_t* sizes, list memo) except -1
cdef int count_put(Tensor a, object indices, Tensor values, bint accumulate, Py_ssize_t* sizes,
                   list memo) except -1
cdef int count_nonzero(Tensor a, Py_ssize_t* sizes, list memo) except -1
cdef int nonzero(Tensor out, Tensor a, list memo) except -1
cdef int count_repeats(Tensor repeats, object output_size, Py_ssize_t* sizes,
                       list memo) except -1
cdef int repeated_places(Tensor out, Tensor repeats, object output_size, list memo) except -1
cdef int count_bins(Tensor a, Py_ssize_t minlength, Py_ssize_t* sizes, list memo) except -1
cdef int bincount(Tensor out, Tensor a, Py_ssize_t minlength, list memo) except -1

# Values, the place of each element among them, and how often each occurs, whatever is wanted.
cdef int count_unique(Tensor a, bint is_sorted, bint return_inverse, bint return_counts,
                      Py_ssize_t* sizes, list memo) except -1
cdef int unique(Tensor values, Tensor inverse, Tensor counts, Tensor a, bint is_sorted,
                bint return_inverse, bint return_counts, list memo) except -1
cdef int count_unique_dim(Tensor a, Py_ssize_t dim, bint is_sorted, bint return_inverse,
                          bint return_counts, Py_ssize_t* sizes, list memo) except -1
cdef int unique_dim(Tensor values, Tensor inverse, Tensor counts, Tensor a, Py_ssize_t dim,
                    bint is_sorted, bint return_inverse, bint return_counts,
                    list memo) except -1
cdef int count_runs(Tensor a, bint return_inverse, bint return_counts, object dim,
                    Py_ssize_t* sizes, list memo) except -1
cdef int unique_consecutive(Tensor values, Tensor inverse, Tensor counts, Tensor a,
                            bint return_inverse, bint return_counts, object dim,
                            list memo) except -1
