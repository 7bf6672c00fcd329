# cython: language_level=3
"""Shape rules of reductions and of what runs along a dimension.

Which dtypes are allowed is said in the records.
"""
from libc.string cimport memset
from autograd_cy._C.dtypes cimport (
    dt_is_limited, dt_real, dt_scalar_name, not_for_limited, DT_BOOL, DT_I64)
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.rules_common cimport dims_mask, result_reduced
from autograd_cy._C.tensor cimport MAX_DIMS, normal_dim, same_shape, sizes_of


cdef inline int reduced_shape(Result* r, int dt, Tensor a, object dims, bint keepdim) except -1:
    cdef char[MAX_DIMS + 1] mask
    if dims is None and not keepdim:
        return result_dense(r, dt, 0, r.sizes)
    dims_mask(dims, a.nd, mask)
    return result_reduced(r, dt, a, mask, keepdim)


# --- sums, means, truth ---------------------------------------------------------------------

cdef int sum_dtype(int dt, int requested, str op) except -1:
    if requested >= 0:
        if dt_is_limited(requested):
            raise not_for_limited(requested, op)
        return requested
    return max(dt, <int>DT_I64)


cdef int summed(Result* r, Tensor a, object dims, bint keepdim, int dt, str op) except -1:
    return reduced_shape(r, sum_dtype(a.dt, dt, op), a, dims, keepdim)


cdef int averaged(Result* r, Tensor a, object dims, bint keepdim, int dt, str op) except -1:
    return reduced_shape(r, a.dt if dt < 0 else dt, a, dims, keepdim)


cdef int truth(Result* r, Tensor a, object dims, bint keepdim, str op) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    if isinstance(dims, (tuple, list)) and len(dims) == 0:
        memset(mask, 0, a.nd)
    # uint8 stays uint8: torch kept that from the time before it had bool.
    return result_reduced(r, a.dt if a.dt < 2 else DT_BOOL, a, mask, keepdim)


# --- extremes -------------------------------------------------------------------------------

cdef int check_nonempty(str op, Tensor a, object dims, const char* mask) except -1:
    cdef int d
    if a.count:
        return 0
    if dims is None or (isinstance(dims, (tuple, list)) and len(dims) == 0):
        raise RuntimeError(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument.")
    for d in range(a.nd):
        if mask[d] and a.sizes[d] == 0:
            raise IndexError(f"{op}(): Expected reduction dim {d} to have non-zero size.")
    return 0


cdef int extreme(Result* r, Tensor a, object dims, bint keepdim, str op) except -1:
    cdef char[MAX_DIMS + 1] mask
    if dims is None and not keepdim and a.count:
        return result_dense(r, a.dt, 0, r.sizes)
    dims_mask(dims, a.nd, mask)
    check_nonempty(op, a, dims, mask)
    return result_reduced(r, a.dt, a, mask, keepdim)


cdef int extreme_dim(Result* r, Tensor a, Py_ssize_t dim, bint keepdim, str op) except -1:
    """Values and where they are."""
    cdef char[MAX_DIMS + 1] mask
    dim = normal_dim(dim, a.nd)
    memset(mask, 0, a.nd + 1)
    mask[dim] = 1
    check_nonempty(op, a, dim, mask)
    result_reduced(r, a.dt, a, mask, keepdim)
    return result_reduced(r + 1, DT_I64, a, mask, keepdim)


cdef int both_extremes(Result* r, Tensor a, object dim, bint keepdim, str op) except -1:
    cdef char[MAX_DIMS + 1] mask
    if dim is None and a.count == 0:
        raise RuntimeError(
            f"{op}(): cannot compute {op} over an empty dimension as the operation has no "
            "identity.")
    dims_mask(dim, a.nd, mask)
    check_nonempty(op, a, dim, mask)
    result_reduced(r, a.dt, a, mask, keepdim)
    return result_reduced(r + 1, a.dt, a, mask, keepdim)


cdef int extreme_place(Result* r, Tensor a, object dim, bint keepdim, str op) except -1:
    """Describe the place of an extreme."""
    cdef Result both[2]
    cdef int d
    if dim is not None:
        extreme_dim(both, a, dim, keepdim, op)
        return result_dense(r, DT_I64, both[1].nd, both[1].sizes)
    if a.count == 0:
        raise IndexError(
            f"{op}(): Expected reduction dim to be specified for input.numel() == 0.")
    for d in range(a.nd):
        r.sizes[d] = 1
    return result_dense(r, DT_I64, a.nd if keepdim else 0, r.sizes)


# --- logsumexp, variance, running sums ------------------------------------------------------

cdef int logsumexp(Result* r, Tensor a, object dims, bint keepdim, str op) except -1:
    return reduced_shape(r, a.dt, a, dims, keepdim)


cdef int variance(Result* r, Tensor a, object dims, bint keepdim, str op) except -1:
    return reduced_shape(r, dt_real(a.dt), a, dims, keepdim)


cdef int variance_mean(Result* r, Tensor a, object dims, bint keepdim, str op) except -1:
    variance(r, a, dims, keepdim, op)
    return reduced_shape(r + 1, a.dt, a, dims, keepdim)


cdef int scanned(Result* r, Tensor a, Py_ssize_t dim, int dt, str op) except -1:
    normal_dim(dim, a.nd)
    return result_dense(r, sum_dtype(a.dt, dt, op), a.nd, a.sizes)


cdef int recurrence(Result* r, Tensor terms, Tensor factors, Py_ssize_t dim, str op) except -1:
    normal_dim(dim, terms.nd)
    if terms.dt != factors.dt or not same_shape(terms, factors):
        raise RuntimeError(
            f"{op}: expected terms and factors of one dtype and shape, but got "
            f"{dt_scalar_name(terms.dt)} {list(sizes_of(terms))} and "
            f"{dt_scalar_name(factors.dt)} {list(sizes_of(factors))}")
    return result_dense(r, terms.dt, terms.nd, terms.sizes)


# --- softmax --------------------------------------------------------------------------------

cdef int softmax(Result* r, Tensor a, Py_ssize_t dim, int dt, str op) except -1:
    normal_dim(dim, a.nd)
    return result_dense(r, a.dt if dt < 0 else dt, a.nd, a.sizes)


cdef int softmax_backward(Result* r, Tensor grad, Tensor result, Py_ssize_t dim,
                          str op) except -1:
    normal_dim(dim, result.nd)
    if not same_shape(grad, result):
        raise RuntimeError(
            f"{op}: grad of shape {list(sizes_of(grad))} doesn't match the result of shape "
            f"{list(sizes_of(result))}")
    return result_dense(r, result.dt, result.nd, result.sizes)
