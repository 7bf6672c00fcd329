# cython: language_level=3
"""Shape rules of reading and writing by index, of joining, triangles and sorting."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef int selected(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1
cdef int rows_added(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                    str op) except -1
cdef int gathered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1
cdef int scattered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str op) except -1
cdef int joined_shape(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1
cdef int stacked(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1

cdef int reduced_at(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                    str op) except -1
cdef int rows_reduced(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce,
                      str op) except -1
cdef int indexed(Result* r, Tensor a, object indices, const Py_ssize_t* sizes,
                 str op) except -1
cdef int index_put(Result* r, Tensor a, object indices, Tensor values, bint accumulate,
                   const Py_ssize_t* sizes, str op) except -1

cdef int true_places(Result* r, Tensor a, const Py_ssize_t* sizes, str op) except -1
cdef int different(Result* r, Tensor a, bint inverse, bint counts, const Py_ssize_t* sizes,
                   str op) except -1
cdef int different_slices(Result* r, Tensor a, Py_ssize_t dim, const Py_ssize_t* sizes,
                          str op) except -1
cdef int different_runs(Result* r, Tensor a, bint inverse, bint counts, object dim,
                        const Py_ssize_t* sizes, str op) except -1
cdef int bins(Result* r, Tensor a, const Py_ssize_t* sizes, str op) except -1

cdef int triangle(Result* r, Tensor a, str op) except -1
cdef int sorted_like(Result* r, Tensor a, Py_ssize_t dim, str op) except -1
cdef int sorted_along(Result* r, Tensor a, Py_ssize_t dim, str op) except -1
cdef int topk(Result* r, Tensor a, Py_ssize_t k, Py_ssize_t dim, str op) except -1
cdef int middle(Result* r, Tensor a, str op) except -1
cdef int middle_along(Result* r, Tensor a, Py_ssize_t dim, bint keepdim, str op) except -1
cdef int members(Result* r, Tensor elements, Tensor test_elements, str op) except -1
cdef int kth_along(Result* r, Tensor a, Py_ssize_t k, Py_ssize_t dim, bint keepdim,
                   str op) except -1
cdef int searchsorted(Result* r, Tensor rows, Tensor values, bint out_int32, bint right,
                      object side,
                      Tensor sorter, str op) except -1
cdef int buckets(Result* r, Tensor values, Tensor boundaries, bint out_int32, bint right,
                 str op) except -1
