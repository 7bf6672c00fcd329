# cython: language_level=3
"""vmap rules that need more than a formula: advanced indexing, windows of a storage.

Each takes the wrappers of the innermost vmap apart, calls recorded operators on what is below, and
wraps the result; so derivatives of outer transformations go through.
"""
from libc.stdint cimport uint32_t
from autograd_cy._C.batching cimport (
    align_batch, all_front, batch_expand, batch_front, batch_size_of, wrap_shared)
from autograd_cy._C.constants cimport counted
from autograd_cy._C.dtypes cimport DT_BOOL
from autograd_cy._C.tensor cimport normal_dim
from autograd_cy._C.iterate cimport all_resolved
from autograd_cy._C.levels cimport all_lowered, any_batched, is_batched, lowered, top_level
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.rules_indexing cimport joined_shape, rows_added, selected
from autograd_cy._C.tensor cimport Tensor, below_vmaps, device_of, dims_of, wrap_at
include "operators_of_batching_rules.pxi"


# --- advanced indexing ----------------------------------------------------------------------

cdef uint32_t flags_of_indices(object indices) noexcept:
    cdef uint32_t flags = 0
    for t in <tuple>indices:
        if t is not None:
            flags |= (<Tensor>t).flags
    return flags


cdef tuple resolved_indices(object indices):
    return all_resolved(<tuple>indices)


cdef tuple index_tensors(object indices):
    return tuple([t for t in <tuple>indices if t is not None])


cdef tuple as_integers(object indices, int level):
    """The indices below the vmap; masks as the positions of what they select."""
    cdef list out = []
    cdef Tensor t, where
    cdef Py_ssize_t k
    for x in <tuple>indices:
        if x is None:
            out.append(None)
            continue
        t = lowered(<Tensor>x, level)
        if t.dt == DT_BOOL:
            if is_batched(t, level):
                raise RuntimeError(
                    "vmap: We do not support batching operators that can support dynamic shape. "
                    "Attempting to batch over indexing with a boolean mask; use where() instead.")
            where = T.nonzero(t)
            for k in range(t.nd):
                out.append(T.select(where, 1, k))
            continue
        out.append(t)
    return tuple(out)


cdef class Layout:
    """The places at which dimensions of index tensors land in a result."""
    cdef int first          # dimensions before the first index
    cdef int used           # dimensions that are indexed
    cdef int nd             # dimensions of the broadcast index tensors
    cdef bint together      # no None between them: their dimensions stay in place

    def __init__(self, tuple indices):
        cdef Py_ssize_t i
        cdef Tensor t
        self.together = True
        for i in range(len(indices)):
            if indices[i] is None:
                continue
            t = <Tensor>indices[i]
            if self.used == 0:
                self.first = <int>i
            elif i != self.first + self.used:
                self.together = False
            self.used += 1
            self.nd = max(self.nd, <int>t.nd)


cdef tuple indices_with_batch(Tensor self, tuple indices, Layout where, int level,
                              Py_ssize_t size):
    """The indices with a first one that counts examples."""
    cdef Tensor count = counted(device_of(below_vmaps(self)), size, 1)
    count = T.view(count, (size,) + (1,) * where.nd)
    return (count,) + aligned_indices(indices, where, level)


cdef tuple aligned_indices(tuple indices, Layout where, int level):
    return tuple([None if t is None else align_batch(<Tensor>t, level, where.nd, -1)
                  for t in indices])


cdef Tensor index_each(Tensor self, object indices):
    cdef int level = top_level((self,) + index_tensors(indices))
    cdef tuple idx = as_integers(indices, level)
    cdef tuple present = index_tensors(idx)
    cdef Layout where = Layout(idx)
    cdef Tensor r
    cdef int d
    self = lowered(self, level)
    if not any_batched(present, level):
        if not is_batched(self, level):
            return wrap_shared(T._index(self, idx), level)
        r = T._index(batch_front(self, level), (None,) + idx)
        return wrap_at(r, 0 if where.together else where.nd, level)
    if not is_batched(self, level):
        r = T._index(self, aligned_indices(idx, where, level))
        return wrap_at(r, where.first if where.together else 0, level)
    r = T._index(batch_front(self, level),
                 indices_with_batch(self, idx, where, level, batch_size_of((self,), level)))
    if where.together and where.first > 0:
        # Examples, index dimensions, then those before them: put these back in front.
        r = T.permute(r, (0,) + tuple([1 + where.nd + d for d in range(where.first)])
                      + tuple([1 + d for d in range(where.nd)])
                      + tuple(range(1 + where.nd + where.first, r.nd)))
    return wrap_at(r, 0, level)


cdef Tensor index_put_each(Tensor self, object indices, Tensor values, bint accumulate):
    cdef int level = top_level((self, values) + index_tensors(indices))
    cdef tuple idx = as_integers(indices, level)
    cdef tuple present = index_tensors(idx)
    cdef Layout where = Layout(idx)
    cdef Py_ssize_t size
    cdef Tensor p, v
    cdef int d, nd
    self = lowered(self, level)
    values = lowered(values, level)
    nd = self.nd - where.used + where.nd
    if not any_batched((self, values) + present, level):
        return wrap_shared(T._index_put(self, idx, values, accumulate), level)
    size = batch_size_of((self, values) + present, level)
    p = batch_expand(batch_front(self, level), is_batched(self, level), size)
    v = align_batch(values, level, nd, -1)
    if not any_batched(present, level) and where.together:
        return wrap_at(T._index_put(p, (None,) + idx, v, accumulate), 0, level)
    if where.together and where.first > 0:
        if not is_batched(values, level):
            while v.nd < nd:
                v = T.unsqueeze(v, 0)
            v = T.unsqueeze(v, 0)
        v = T.permute(v, (0,) + tuple([1 + where.first + d for d in range(where.nd)])
                      + tuple([1 + d for d in range(where.first)])
                      + tuple(range(1 + where.nd + where.first, v.nd)))
    idx = indices_with_batch(p, idx, where, level, size)
    return wrap_at(T._index_put(p, idx, v, accumulate), 0, level)


cdef tuple one_index(Tensor self, Py_ssize_t dim, Tensor index):
    return (None,) * normal_dim(dim, self.nd) + (T.unsqueeze(index, 0) if index.nd == 0 else index,)


cdef Tensor index_select_each(Tensor self, Py_ssize_t dim, Tensor index):
    cdef Result r
    selected(&r, self, dim, index, "index_select")
    if self.nd == 0:
        # A 0-d tensor has one slice, itself.
        return T.squeeze_dim(T._index(T.unsqueeze(self, 0), (T.reshape(index, (-1,)),)), (0,))
    return T._index(self, one_index(self, dim, index))


cdef Tensor index_add_each(Tensor self, Py_ssize_t dim, Tensor index, Tensor source):
    cdef Result r
    rows_added(&r, self, dim, index, source, "index_add")
    if self.nd == 0:
        return T.squeeze_dim(index_put_each(
            T.unsqueeze(self, 0), (T.reshape(index, (-1,)),), T.reshape(source, (-1,)), True), (0,))
    return T._index_put(self, one_index(self, dim, index), source, True)


# --- joining ----------------------------------------------------------------------------------

cdef Tensor cat_each(tuple tensors, Py_ssize_t dim):
    """Vectors without elements join whatever the others are, so they have no dimension to shift."""
    cdef Result r
    cdef Tensor t, result, first = None
    cdef int level = top_level(tensors)
    cdef list nonempty = []
    joined_shape(&r, tensors, dim, "cat")
    tensors = all_lowered(tensors, level)
    if not any_batched(tensors, level):
        return wrap_shared(T.cat(tensors, dim), level)
    for t in tensors:
        if t.nd != 1 or t.sizes[0] != 0:
            nonempty.append(t)
            first = t if first is None else first
    if first is None or first.nd == 1:
        return wrap_at(T.cat(all_front(tensors, level), normal_dim(dim, 1) + 1), 0, level)
    tensors = tuple(nonempty)
    if any_batched(tensors, level):
        result = wrap_at(T.cat(all_front(tensors, level), normal_dim(dim, first.nd) + 1), 0, level)
    else:
        result = wrap_shared(T.cat(tensors, dim), level)
    # Those without elements take part in promotion.
    return result if result.dt == r.dt else T._to_dtype(result, r.dt)


# --- windows of a storage -------------------------------------------------------------------

cdef Py_ssize_t extent(tuple size, tuple stride) except -1:
    cdef Py_ssize_t n = 1
    for k, s in zip(size, stride):
        n += max(k - 1, 0) * s
    return n


cdef Py_ssize_t storage_size(tuple base_size, tuple base_stride, Py_ssize_t base_offset, tuple size,
                             tuple stride, object storage_offset) except -1:
    """Elements that an example's storage has at least; each example gets a storage of its own."""
    cdef Py_ssize_t offset = base_offset if storage_offset is None else storage_offset
    cdef Py_ssize_t base = base_offset + extent(base_size, base_stride)
    return base if 0 in size else max(base, offset + extent(size, stride))


cdef Tensor strided_gather_each(Tensor self, tuple base_size, tuple base_stride,
                                Py_ssize_t base_offset, tuple size, tuple stride,
                                object storage_offset):
    cdef int level = top_level((self,))
    cdef Py_ssize_t count, span
    self = lowered(self, level)
    if not is_batched(self, level):
        return wrap_shared(T._as_strided_gather(self, base_size, base_stride, base_offset, size,
                                                stride, storage_offset), level)
    count = batch_size_of((self,), level)
    span = storage_size(base_size, base_stride, base_offset, size, stride, storage_offset)
    return wrap_at(T._as_strided_gather(
        batch_front(self, level), (count,) + base_size, (span,) + base_stride, base_offset,
        (count,) + size, (span,) + stride, storage_offset), 0, level)


cdef Tensor strided_scatter_each(Tensor self, Tensor src, tuple size, tuple stride,
                                 object storage_offset):
    """Places count from the first element of each example."""
    cdef int level = top_level((self, src))
    cdef Py_ssize_t count, i, step
    cdef list rows = []
    self, src = lowered(self, level), lowered(src, level)
    if not is_batched(self, level) and not is_batched(src, level):
        return wrap_shared(T.as_strided_scatter(self, src, size, stride, storage_offset), level)
    count = batch_size_of((self, src), level)
    self, src = examples_of(self, level, count), examples_of(src, level, count)
    step = self.strides[0]
    for i in range(count):
        rows.append(T.as_strided_scatter(
            T.select(self, 0, i), T.select(src, 0, i), size, stride,
            None if storage_offset is None else storage_offset + i * step))
    return wrap_at(T.stack(tuple(rows), 0) if count else T.clone(self, -1), 0, level)


cdef Tensor examples_of(Tensor a, int level, Py_ssize_t count):
    """Its examples in the first dimension; one that all share is shown again and again."""
    if is_batched(a, level):
        return batch_front(a, level)
    return T.expand(T.unsqueeze(a, 0), (count,) + dims_of(a))


cdef Tensor strided_backward_each(Tensor grad_output, tuple base_size, tuple base_stride,
                                  Py_ssize_t base_offset, tuple size, tuple stride,
                                  object storage_offset):
    cdef int level = top_level((grad_output,))
    cdef Py_ssize_t count, span
    grad_output = lowered(grad_output, level)
    if not is_batched(grad_output, level):
        return wrap_shared(T._as_strided_backward(
            grad_output, base_size, base_stride, base_offset, size, stride, storage_offset), level)
    count = batch_size_of((grad_output,), level)
    span = storage_size(base_size, base_stride, base_offset, size, stride, storage_offset)
    return wrap_at(T._as_strided_backward(
        batch_front(grad_output, level), (count,) + base_size, (span,) + base_stride,
        base_offset, (count,) + size, (span,) + stride, storage_offset), 0, level)
