# cython: language_level=3
"""Shape rules of embeddings."""
from autograd_cy._C.dtypes cimport dt_scalar_name, DT_F16, DT_I32, DT_I64
from autograd_cy._C.outputs cimport result_dense

from autograd_cy._C.tensor cimport MAX_DIMS, Tensor, sizes_of

__all__: list[str] = []


cdef int check_indices(Tensor indices, str name, str op) except -1:
    if indices.dt != DT_I64 and indices.dt != DT_I32:
        raise RuntimeError(
            f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
            f"Long, Int; but got {dt_scalar_name(indices.dt)}Tensor instead (while checking "
            f"arguments for {op})")
    return 0


cdef int add_width(Result* r, Tensor indices, Py_ssize_t width, int dt, str op) except -1:
    """The shape of the indices, and a row behind it."""
    if indices.nd >= MAX_DIMS:
        raise RuntimeError(f"{op}: indices have too many dimensions ({indices.nd})")
    result_dense(r, dt, indices.nd, indices.sizes)
    r.sizes[indices.nd] = width
    r.nd += 1
    return 0


cdef int looked_up(Result* r, Tensor weight, Tensor indices, bint sparse, str op) except -1:
    if weight.nd != 2:
        raise RuntimeError(
            f"'weight' must be 2-D ({op} got shape {list(sizes_of(weight))})")
    check_indices(indices, "indices", op)
    if sparse:
        raise NotImplementedError(
            f"{op}: sparse=True needs sparse gradients, which there are none of here; leave it "
            "away for a dense gradient")
    return add_width(r, indices, weight.sizes[1], weight.dt, op)


cdef int gathered_back(Result* r, Tensor grad, Tensor indices, Py_ssize_t rows, str op) except -1:
    cdef int d
    cdef bint fits = grad.nd == indices.nd + 1
    cdef Py_ssize_t sizes[2]
    check_indices(indices, "indices", op)
    for d in range(indices.nd):
        fits = fits and grad.sizes[d] == indices.sizes[d]
    if not fits:
        raise RuntimeError(
            f"{op}: expected a gradient with one row for each index, got shape "
            f"{list(sizes_of(grad))} for indices of shape {list(sizes_of(indices))}")
    if rows < 0:
        raise RuntimeError(f"{op}: the number of rows must not be negative, got {rows}")
    sizes[0], sizes[1] = rows, grad.sizes[grad.nd - 1]
    return result_dense(r, grad.dt, 2, sizes)


cdef int embedding_rows(Result* r, Tensor grad, Tensor indices, str op) except -1:
    return add_width(r, indices, grad.sizes[1], grad.dt, op)


cdef int bagged(Result* r, Tensor weight, Tensor indices, Tensor offsets, Tensor samples,
                Py_ssize_t mode, bint last, str op) except -1:
    """Bags, the bag of each index, the sizes of bags, where each maximum is (mode 2)."""
    cdef Py_ssize_t sizes[2]
    if weight.nd != 2:
        raise RuntimeError(f"'weight' must be 2-D ({op} got shape {list(sizes_of(weight))})")
    if weight.dt < DT_F16:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {dt_scalar_name(weight.dt)}Tensor instead "
            f"(while checking arguments for {op})")
    check_indices(indices, "indices", op)
    check_indices(offsets, "offsets", op)
    if indices.nd != 1 or offsets.nd != 1:
        raise RuntimeError(
            f"{op}: indices and offsets must be 1-D, got shapes {list(sizes_of(indices))} and "
            f"{list(sizes_of(offsets))}")
    if last and offsets.count == 0:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if mode < 0 or mode > 2:
        raise RuntimeError(f"{op}: mode must be 0 (sum), 1 (mean) or 2 (max), got {mode}")
    if samples is not None:
        if mode != 0:
            raise RuntimeError(f"{op}: per_sample_weights only supported with mode='sum'")
        if samples.dt != weight.dt:
            raise RuntimeError(
                "Expected tensor for argument #1 'weight' to have the same type as tensor for "
                f"argument #2 'per_sample_weights'; but type {dt_scalar_name(weight.dt)}Tensor "
                f"does not equal {dt_scalar_name(samples.dt)}Tensor (while checking arguments for "
                f"{op})")
        if samples.nd != 1 or samples.count != indices.count:
            raise RuntimeError(
                f"{op}: expected one of per_sample_weights for each of {indices.count} indices, "
                f"got shape {list(sizes_of(samples))}")
    sizes[0] = offsets.count - (1 if last else 0)
    sizes[1] = weight.sizes[1]
    result_dense(r, weight.dt, 2, sizes)
    result_dense(r + 1, DT_I64, 1, indices.sizes)
    result_dense(r + 2, DT_I64, 1, sizes)
    if mode != 2:
        sizes[0] = 0
        return result_dense(r + 3, DT_I64, 1, sizes)
    return result_dense(r + 3, DT_I64, 2, sizes)
