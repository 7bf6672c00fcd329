# cython: language_level=3
"""Batched tensors of vmap: a wrapper shows one example's shape and holds the whole batch."""
from autograd_cy._C.tensor cimport Tensor

cdef int widest(tuple tensors, int level) except -1            # most logical dimensions
cdef int common_dtype(tuple tensors) except -1
cdef Tensor align_batch(Tensor t, int level, int nd, int dt)   # batch first, then nd dimensions
cdef Tensor batch_front(Tensor t, int level)      # physical, batch first
cdef tuple all_front(tuple tensors, int level)
cdef Tensor batch_expand(Tensor t, bint batched, Py_ssize_t size)
cdef Py_ssize_t batch_size_of(tuple tensors, int level) except -1
cdef Tensor wrap_batch(Tensor physical, int level)             # batch dimension is the first
cdef tuple wrap_results(tuple physical, int level)
cdef Tensor wrap_shared(Tensor value, int level)
cdef tuple wrap_shared_all(tuple values, int level)
cdef Tensor drop_lifted(Tensor t)
cdef tuple all_drop_lifted(tuple tensors)
cdef Tensor end_dims(Tensor value, int level, bint shared, bint lifted)
cdef tuple end_dims_all(tuple values, int level, bint shared, bint lifted)
cdef object shift_dims(object dims, int nd)
cdef object loop_batch(str key, tuple args, int level)
cdef object loop_lowered(str key, tuple tensors, tuple args)
cdef object random_under_vmap(str name, str key, tuple args, str draws)
cdef Tensor batch_aligned(void* op, tuple tensors, bint skip_first)
cdef object refuse_batch(str text)                             # always raises
