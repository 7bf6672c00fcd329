# cython: language_level=3
"""Views and rearranging copies of plain tensors (no autograd)."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor view_plain(Tensor a, tuple size)
cdef Tensor expand_sizes(Tensor a, tuple size)
cdef Tensor t_plain(Tensor a)
cdef Tensor transpose_plain(Tensor a, Py_ssize_t dim0, Py_ssize_t dim1)
cdef Tensor permute_plain(Tensor a, tuple dims)
cdef Tensor slice_plain(Tensor a, Py_ssize_t dim, object start, object end, Py_ssize_t step)
cdef Tensor narrow_plain(Tensor a, Py_ssize_t dim, Py_ssize_t start, Py_ssize_t length)
cdef Tensor select_plain(Tensor a, Py_ssize_t dim, Py_ssize_t index)
cdef Tensor squeeze_all_plain(Tensor a)
cdef Tensor squeeze_plain(Tensor a, object dims)
cdef Tensor unsqueeze_plain(Tensor a, Py_ssize_t dim)
cdef Tensor as_strided_plain(Tensor a, tuple size, tuple stride, object storage_offset)
cdef Tensor diagonal_plain(Tensor a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2)
cdef tuple unbind_plain(Tensor a, Py_ssize_t dim)
cdef tuple split_plain(Tensor a, tuple sizes, Py_ssize_t dim)
cdef tuple split_with_sizes_plain(Tensor a, tuple sizes, Py_ssize_t dim)
cdef tuple unsafe_split_plain(Tensor a, tuple sizes, Py_ssize_t dim)
cdef tuple unsafe_split_with_sizes_plain(Tensor a, tuple sizes, Py_ssize_t dim)
cdef Tensor alias_plain(Tensor a)
cdef Tensor view_as_real_plain(Tensor a)
cdef Tensor view_as_complex_plain(Tensor a)
cdef Tensor view_dtype_plain(Tensor a, int dt)
cdef Tensor unfold_plain(Tensor a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step)

cdef Tensor slice_backward_plain(Tensor grad, tuple size, Py_ssize_t dim, object start, object end,
                                 Py_ssize_t step)
cdef Tensor select_backward_plain(Tensor grad, tuple size, Py_ssize_t dim, Py_ssize_t index)
cdef Tensor diagonal_backward_plain(Tensor grad, tuple size, Py_ssize_t offset, Py_ssize_t dim1,
                                    Py_ssize_t dim2)
cdef Tensor as_strided_scatter_plain(Tensor a, Tensor src, tuple size, tuple stride,
                                     object storage_offset)
cdef Tensor as_strided_backward_plain(Tensor grad, tuple base_size, tuple base_stride,
                                      Py_ssize_t base_offset, tuple size, tuple stride,
                                      object offset)
cdef Tensor as_strided_gather_plain(Tensor a, tuple base_size, tuple base_stride,
                                    Py_ssize_t base_offset,
                                    tuple size, tuple stride, object storage_offset)
cdef Tensor unfold_backward_plain(Tensor grad, tuple sizes, Py_ssize_t dim, Py_ssize_t size,
                                  Py_ssize_t step)
cdef int flip(Tensor r, Tensor a, tuple dims) except -1
cdef Tensor zeros_like_plain(Tensor a)
cdef Tensor ones_like_plain(Tensor a)
cdef Tensor new_zeros_plain(Tensor a, tuple size)
cdef Tensor clone_with(Tensor a, int memory_format)
cdef Tensor contiguous_with(Tensor a, int memory_format)
cdef Tensor cast_copy(Tensor a, int dt)
cdef Tensor device_copy(Tensor a, Py_ssize_t place, bint non_blocking)
cdef Tensor fill_plain(Tensor a, Tensor value)
cdef Tensor conj_plain(Tensor a)
cdef Tensor neg_plain(Tensor a)
