# Medians, unique elements, places in sorted rows, and reductions at indices (part of indexing.pyx).
#
# NumPy does the work, on the memory of the tensors; bfloat16, which it lacks, goes through float32.

cdef object values_of(Tensor a):
    """A tensor's elements as a NumPy array that keeps them alive; bfloat16 as float32."""
    return array_of(contiguous(cast(a, DT_F32) if a.dt == DT_BF16 else a))


cdef Tensor tensor_of(object array, int dt):
    """A new tensor with the elements of an array."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor r
    cdef int d
    if dt == DT_BF16:
        return cast(tensor_of(array, DT_F32), DT_BF16)
    for d in range(array.ndim):
        shape[d] = array.shape[d]
    r = tensor_empty(dt, array.ndim, shape)
    as_array(r)[...] = array
    return r


# --- medians ---------------------------------------------------------------------------------

cdef object count_nan(object array, object dim):
    return (array != array).sum(dim)


cdef Tensor median_of_all(Tensor a, bint skip_nan):
    cdef Py_ssize_t missing, n, k
    array = values_of(a).reshape(-1)
    missing = count_nan(array, None)
    n = array.size - (missing if skip_nan else 0)
    if n == 0 or (missing and not skip_nan):
        if a.dt <= DT_I64:
            raise RuntimeError("median() of a tensor without elements is NaN, which integers lack")
        return tensor_of(_np.asarray(_np.nan), a.dt)
    k = (n - 1) // 2       # NaN comes last
    return tensor_of(_np.partition(array, k)[k], a.dt)


cdef tuple median_along(Tensor a, int dim, bint keepdim, bint skip_nan, str op):
    dim = normal_dim(dim, a.nd)
    array = values_of(a)
    if a.nd == 0:
        return (tensor_of(array, a.dt), tensor_of(_np.zeros((), _np.int64), DT_I64))
    if a.sizes[dim] == 0:
        raise IndexError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")
    order = _np.argsort(array, dim, kind="stable")
    missing = _np.expand_dims(count_nan(array, dim), dim)
    size = a.sizes[dim]
    if skip_nan:
        rank = _np.maximum(size - missing - 1, 0) // 2
    else:
        rank = _np.where(missing > 0, size - missing, (size - 1) // 2)
    index = _np.take_along_axis(order, rank, dim)
    values = _np.take_along_axis(array, index, dim)
    if not keepdim:
        values, index = values.squeeze(dim), index.squeeze(dim)
    return (tensor_of(values, a.dt), tensor_of(index, DT_I64))


cdef Tensor median_all_plain(Tensor a):
    return median_of_all(a, False)


cdef Tensor nanmedian_all_plain(Tensor a):
    return median_of_all(a, True)


cdef tuple median_plain(Tensor a, int dim, bint keepdim):
    return median_along(a, dim, keepdim, False, "median")


cdef tuple nanmedian_plain(Tensor a, int dim, bint keepdim):
    return median_along(a, dim, keepdim, True, "nanmedian")


# --- unique elements -------------------------------------------------------------------------

cdef tuple groups_of(object order, object differs):
    """First members, group of each element, sizes; `differs`: from the one before."""
    cdef Py_ssize_t n = len(order)
    starts = _np.flatnonzero(_np.concatenate(([True], differs))) if n else _np.zeros(0, _np.int64)
    groups = _np.zeros(n, _np.int64)
    if n:
        groups[order] = _np.cumsum(_np.concatenate(([False], differs)))
    return order[starts], groups, _np.diff(_np.concatenate((starts, [n]))).astype(_np.int64)


cdef tuple unique_of(object array, object shape, bint sort, int dt):
    """Of a vector; NaNs are different from each other."""
    order = _np.argsort(array, kind="stable") if sort else _np.arange(array.size)
    ordered = array[order]
    first, groups, counts = groups_of(order, ordered[1:] != ordered[:-1])
    return (tensor_of(array[first], dt), tensor_of(groups.reshape(shape), DT_I64),
            tensor_of(counts, DT_I64))


cdef tuple unique_plain(Tensor a, bint is_sorted, bint return_inverse, bint return_counts):
    return unique_of(values_of(a).reshape(-1), tuple(sizes_of(a)), True, a.dt)


cdef tuple unique_rows(Tensor a, int dim, bint sort):
    """Of the slices along a dimension."""
    dim = normal_dim(dim, a.nd)
    array = values_of(a)
    if a.nd == 0:
        return unique_of(array.reshape(-1), (1,), sort, a.dt)
    size = a.sizes[dim]
    if a.count == 0 and size:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    rows = _np.moveaxis(array, dim, 0).reshape(size, -1 if a.count else 0)
    order = _np.lexsort(_np.fliplr(rows).T) if sort and rows.size else _np.arange(size)
    ordered = rows[order]
    first, groups, counts = groups_of(order, (ordered[1:] != ordered[:max(size - 1, 0)]).any(1))
    return (tensor_of(_np.take(array, first, dim), a.dt), tensor_of(groups, DT_I64),
            tensor_of(counts, DT_I64))


cdef tuple unique_dim_plain(Tensor a, int dim, bint is_sorted, bint return_inverse,
                            bint return_counts):
    return unique_rows(a, dim, True)


cdef tuple unique_consecutive_plain(Tensor a, bint return_inverse, bint return_counts, object dim):
    if dim is None:
        return unique_of(values_of(a).reshape(-1), tuple(sizes_of(a)), False, a.dt)
    return unique_rows(a, dim, False)


# --- members and places ----------------------------------------------------------------------

cdef Tensor isin_plain(Tensor elements, Tensor test_elements, bint assume_unique, bint invert):
    cdef int dt = result_dtype((elements, test_elements))
    if elements.dt == DT_BOOL or test_elements.dt == DT_BOOL:
        raise RuntimeError(
            "Unsupported input type encountered for isin(): Bool (elements are "
            f"{scalar_name(elements.dt)}, test_elements {scalar_name(test_elements.dt)}); "
            "convert truth values to integers first")
    return tensor_of(
        _np.isin(values_of(cast(elements, dt)), values_of(cast(test_elements, dt)), invert=invert),
        DT_BOOL)


cdef int check_rows(Tensor rows, Tensor values, Tensor sorter) except -1:
    if rows.nd == 0:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive "
                           "dimension, but got 0 dimension")
    if values.nd == 0 and rows.nd != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({rows.nd}) and input value's dim(0) "
            "numel(1)")
    if rows.nd != 1 and (rows.nd != values.nd or sizes_of(rows)[:rows.nd - 1]
                         != sizes_of(values)[:values.nd - 1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sizes_of(rows))} and input value tensor "
            f"{list(sizes_of(values))}")
    if sorter is None:
        return 0
    if sorter.dt != DT_I64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got "
                           f"dtype {scalar_name(sorter.dt)}")
    if not same_shape(rows, sorter):
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(sizes_of(rows))} and got sorter tensor {list(sizes_of(sorter))}")
    sorter = contiguous(sorter)
    if first_outside(<const int64_t*>sorter.ptr, sorter.count, rows.sizes[rows.nd - 1]) >= 0:
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    return 0


cdef Tensor searchsorted_plain(Tensor rows, Tensor values, bint out_int32, bint right, object side,
                               Tensor sorter):
    cdef int dt = result_dtype((rows, values))
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got "
                           "side of left while right was True")
    check_rows(rows, values, sorter)
    ordered, wanted = values_of(cast(rows, dt)), values_of(cast(values, dt))
    if sorter is not None:
        ordered = _np.take_along_axis(ordered, values_of(sorter), -1)
    # Bisection of all rows at once. NaN is above everything in the values and in the rows.
    size = ordered.shape[ordered.ndim - 1]
    low = _np.zeros(wanted.shape, _np.int64)
    high = _np.full(wanted.shape, size, _np.int64)
    for _ in range(int(size).bit_length()):
        middle = (low + high) // 2
        probe = _np.minimum(middle, size - 1)
        found = ordered[probe] if rows.nd == 1 else _np.take_along_axis(ordered, probe, -1)
        before = ~(found > wanted) if right or side == "right" else ~(found >= wanted)
        before &= low < high
        low = _np.where(before, middle + 1, low)
        high = _np.where(before, high, middle)
    return tensor_of(low, DT_I32 if out_int32 else DT_I64)


cdef Tensor bucketize_plain(Tensor values, Tensor boundaries, bint out_int32, bint right):
    if boundaries.nd != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.nd})")
    return searchsorted_plain(boundaries, values, out_int32, right, None, None)


# --- reductions at indices -------------------------------------------------------------------

cdef tuple slots_along(object index, Py_ssize_t dim):
    """Index arrays that pick, for each element of `index`, its slot along a dimension."""
    mesh = list(_np.ogrid[tuple([slice(n) for n in index.shape])])
    mesh[dim] = index
    return tuple(mesh)


cdef object reduce_slots(object target, tuple slots, object source, str reduce, bint include_self,
                         int dt):
    """Reduces `source` into `target` in place; returns the target, rounded once if it is a mean."""
    if reduce == "sum" or reduce == "mean":
        function, neutral = _np.add, 0
    elif reduce == "prod":
        function, neutral = _np.multiply, 1
    else:
        function = _np.maximum if reduce == "amax" else _np.minimum
        if dt == DT_BOOL:
            neutral = reduce == "amin"
        elif dt <= DT_I64:
            limits = _np.iinfo(target.dtype)
            neutral = limits.min if reduce == "amax" else limits.max
        else:
            neutral = -_np.inf if reduce == "amax" else _np.inf
    with _np.errstate(all="ignore"):
        if not include_self:
            target[slots] = neutral
        function.at(target, slots, source)
        if reduce == "mean":
            counts = _np.full(target.shape, 1 if include_self else 0, _np.int64)
            _np.add.at(counts, slots, 1)
            counts = _np.maximum(counts, 1)
            target[...] = target // counts if dt <= DT_I64 else target / counts
    return target


cdef int reduce_into(Tensor dst, int dim, Tensor index, Tensor src, str reduce,
                     bint include_self) except -1:
    """All checks are done; `index` is dense int64 of the dimensions of dst."""
    cdef Tensor wide = cast(dst, DT_F32) if is_half(dst.dt) else dst
    cdef Tensor dense = contiguous(wide)
    cdef Tensor source = contiguous(cast(src, DT_F32) if is_half(src.dt) else src)
    target, values, places = as_array(dense), as_array(source), as_array(index)
    if dst.nd == 0 or index.nd == 0:
        target, values = target.reshape(-1), values.reshape(-1)
        places = places.reshape(-1)
    values = values[tuple([slice(n) for n in places.shape])]
    if source.mem == dense.mem:
        values = values.copy()
    reduce_slots(target, slots_along(places, dim), values, reduce, include_self, dst.dt)
    if dense is not dst:
        copy_into(dst, dense, "scatter_reduce_")
    return 0


cdef int scatter_reduce_into(Tensor dst, int dim, Tensor index, Tensor src, str reduce,
                             bint include_self) except -1:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    dim = normal_dim(dim, dst.nd)
    if index.dt != DT_I64 and index.dt != DT_I32:
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index, but got "
                           f"{scalar_name(index.dt)}")
    index = positions(index)
    if src.dt != dst.dt:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype "
            f"(self is {scalar_name(dst.dt)}, src is {scalar_name(src.dt)})")
    if index.count == 0:
        return 0
    check_move(dst, dim, index, src)
    check_writable(dst, "scatter_reduce_")
    check_index(index, dst.sizes[dim] if dst.nd else 1, dim, RuntimeError)
    return reduce_into(dst, dim, index, src, reduce, include_self)


cdef Tensor scatter_reduce_plain(Tensor a, int dim, Tensor index, Tensor src, str reduce,
                                 bint include_self):
    cdef Tensor out = clone_plain(a)
    scatter_reduce_into(out, dim, index, src, reduce, include_self)
    return out


cdef int check_reduced_rows(Tensor dst, int dim, Tensor index, Tensor source) except -1:
    if index.nd > 1:
        raise IndexError(
            f"index_reduce_(): Index is supposed to be a vector, but got dim: {index.nd} with "
            f"type: {scalar_name(index.dt)} and size: {list(sizes_of(index))}")
    if index.dt != DT_I64 and index.dt != DT_I32:
        raise RuntimeError("index_reduce_(): Expected dtype int32/int64 for index but got: "
                           f"{scalar_name(index.dt)}")
    if source.dt != dst.dt:
        raise RuntimeError(
            f"index_reduce_(): self ({scalar_name(dst.dt)}) and source "
            f"({scalar_name(source.dt)}) must have the same scalar type")
    rows, wanted = list(sizes_of(source)), list(sizes_of(dst))
    if len(rows) != len(wanted) or rows[:dim] + rows[dim + 1:] != wanted[:dim] + wanted[dim + 1:]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {wanted} source.shape = {rows}")
    if index.count != (source.sizes[dim] if source.nd else 1):
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({index.count}) should be equal to "
            f"source.size(dim): ({source.sizes[dim] if source.nd else 1}), for dim: {dim}")
    return 0


cdef int index_reduce_into(Tensor dst, int dim, Tensor index, Tensor source, str reduce,
                           bint include_self) except -1:
    cdef Tensor places
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError("index_reduce(): Expected reduce to be one of prod, mean, amax or amin "
                           f"but got {reduce}.")
    dim = normal_dim(dim, dst.nd)
    check_reduced_rows(dst, dim, index, source)
    index = positions(index)
    if first_outside(<const int64_t*>index.ptr, index.count, dst.sizes[dim] if dst.nd else 1) >= 0:
        raise IndexError("index out of range in self")
    if source.count == 0:
        return 0
    check_writable(dst, "index_reduce_")
    shape = [1] * max(dst.nd, 1)
    shape[dim] = index.count
    rows = _np.broadcast_to(as_array(index).reshape(shape), tuple(sizes_of(source)))
    places = tensor_of(rows, DT_I64)
    return reduce_into(dst, dim, places, source, reduce, include_self)


cdef Tensor index_reduce_plain(Tensor a, int dim, Tensor index, Tensor source, str reduce,
                               bint include_self):
    cdef Tensor out = clone_plain(a)
    index_reduce_into(out, dim, index, source, reduce, include_self)
    return out
