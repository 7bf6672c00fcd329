# cython: language_level=3
"""Derivatives that are more than a formula: composites of the table that only formulas use.

They call recorded operators through T, so they can be differentiated again.
"""
from autograd_cy._C.formulas cimport count_reduced, expand_reduced
from autograd_cy._C.levels cimport batch_level, lowered
from autograd_cy._C.tensor cimport (
    Tensor, F_BATCHED, dims_of, scalar_value, wrap_double, wrap_int)
include "operators_of_derivatives.pxi"


# --- derivatives that don't exist -----------------------------------------------------------

cdef Tensor not_implemented(Tensor grad, str name):
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


cdef Tensor not_forward(Tensor tangent, str name):
    raise NotImplementedError(
        f"Trying to use forward AD with {name} that does not support it because it has not been "
        "implemented yet. Use reverse mode, or detach the argument.")


cdef Tensor raise_where(Tensor grad, Tensor mask, str text):
    """`grad`, if no element of `mask` is set in any example."""
    while mask.flags & F_BATCHED:
        mask = lowered(mask, batch_level(mask))
    if scalar_value(T.any(mask, None, False)):
        raise RuntimeError(text)
    return grad


# --- mean and variance at once --------------------------------------------------------------

cdef double freedom(Tensor a, object dim, double correction) except? -1.0:
    """What the squares are divided by."""
    return count_reduced(dims_of(a), dim) - correction


cdef Tensor var_mean_backward(Tensor var, Tensor mean, Tensor a, object dim, double correction,
                              bint keepdim):
    """`var` and `mean` are gradients, None where there is none."""
    cdef Tensor r = None
    cdef tuple shape = dims_of(a)
    cdef double n
    if var is not None:
        n = freedom(a, dim, correction)
        var = T.mul(var, wrap_double(2.0 / n if n > 0 else float("inf")))
        r = T.mul(expand_reduced(var, shape, dim, keepdim), T.sub(a, T.mean_dim(a, dim, True, -1)))
    if mean is not None:
        mean = T.div(mean, wrap_int(count_reduced(shape, dim)))
        mean = expand_reduced(mean, shape, dim, keepdim)
        r = mean if r is None else T.add(r, mean)
    return r


cdef Tensor var_moved(Tensor moved, Tensor a, object dim, double correction, bint keepdim):
    """The tangent of the variance."""
    cdef double n = freedom(a, dim, correction)
    cdef Tensor r = T.mul(moved, T.conj(T.sub(a, T.mean_dim(a, dim, True, -1))))
    r = T.sum_dim(T.real(r), dim, keepdim, -1)
    return T.mul(r, wrap_double(2.0 / n if n > 0 else float("inf")))


cdef Tensor of_root(Tensor moved, Tensor root):
    """A gradient or tangent through the square root `root`; 0 where that is 0."""
    cdef Tensor none = T.eq(root, wrap_int(0))
    return T.where(none, wrap_int(0),
                   T.div(moved, T.mul(T.where(none, wrap_int(1), root), wrap_int(2))))


cdef Tensor std_mean_backward(Tensor std, Tensor mean, Tensor root, Tensor a, object dim,
                              double correction, bint keepdim):
    if std is not None:
        std = of_root(std, root)
    return var_mean_backward(std, mean, a, dim, correction, keepdim)


# --- reductions at indices ------------------------------------------------------------------
# Both parts of the derivative are linear: `v` is a gradient, or a tangent.

cdef Tensor corner(Tensor a, Tensor like):
    """The leading corner of `a` that has the shape of `like`."""
    cdef int d
    for d in range(min(a.nd, like.nd)):
        if a.sizes[d] != like.sizes[d]:
            a = T.narrow(a, d, 0, like.sizes[d])
    return a


cdef Tensor along(Tensor index, Py_ssize_t dim, Tensor like):
    """An index of slices along `dim`, as one of single elements."""
    cdef Py_ssize_t d = dim if dim >= 0 else dim + like.nd
    if like.nd == 0:
        return T.reshape(index, ())
    return T.expand(T.reshape(index, (1,) * d + (-1,) + (1,) * (like.nd - 1 - d)), dims_of(like))


cdef Tensor own_part(Tensor own, Py_ssize_t dim, Tensor index, bint include_self):
    """`own`, without the slots that the sources replace."""
    return own if include_self else T._scatter_zero(own, dim, index)


cdef Tensor counts_of(Tensor a, Py_ssize_t dim, Tensor index, bint include_self):
    """How many elements each slot is the mean of."""
    cdef Tensor n = own_part(T.ones_like(a), dim, index, include_self)
    n = T.scatter_add(n, dim, index, T.ones_like(T.gather(n, dim, index)))
    return n if include_self else T.clamp_min(n, wrap_int(1))


cdef Tensor owners_of(Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                      bint include_self):
    """How many elements reach the extreme of each slot; at least 1, as NaN equals nothing."""
    cdef Tensor n = own_part(T._to_dtype(T.eq(a, result), a.dt), dim, index, include_self)
    cdef Tensor hits = T.eq(src, T.gather(result, dim, index))
    return T.clamp_min(T.scatter_add(n, dim, index, T._to_dtype(hits, a.dt)), wrap_int(1))


cdef Tensor to_slots(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                     str reduce, bint include_self):
    """The part of `self`."""
    if reduce == "mean":
        v = T.div(v, counts_of(a, dim, index, include_self))
    elif reduce == "prod":
        v = T.mul(v, T.scatter_reduce(T.ones_like(a), dim, index, src, "prod", True))
    elif reduce != "sum":
        v = T.where(T.eq(a, result), T.div(v, owners_of(a, dim, index, corner(src, index), result,
                                                        include_self)), wrap_int(0))
    return own_part(v, dim, index, include_self)


cdef Tensor to_sources(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                       str reduce, bint include_self, str op, str name):
    """The part of the sources; `v` and the result have the shape of the index."""
    cdef Tensor zero, several, others
    src = corner(src, index)
    if reduce == "mean":
        return T.div(v, T.gather(counts_of(a, dim, index, include_self), dim, index))
    if reduce == "amax" or reduce == "amin":
        return T.where(
            T.eq(src, T.gather(result, dim, index)),
            T.div(v, T.gather(owners_of(a, dim, index, src, result, include_self), dim, index)),
            wrap_int(0))
    if reduce == "sum":
        return v
    # The product of the others is result / src. It is that of the rest where src is the only zero.
    zero = T.eq(src, wrap_int(0))
    several = T._to_dtype(zero, a.dt)
    several = T.gather(T.scatter_add(T.zeros_like(a), dim, index, several), dim, index)
    several = T.gt(several, wrap_int(1))
    src = T.where(zero, wrap_int(1), src)
    others = T.gather(T.scatter_reduce(a, dim, index, src, "prod", include_self), dim, index)
    others = T.where(T.logical_and(zero, T.logical_not(several)), others,
                     T.div(T.gather(result, dim, index), src))
    return T._refuse_where(
        T.mul(v, others), several,
        f"{op}(): Double backward is unsupported for {name} when >1 zeros in {name} are scattered "
        "to the same position in self")


cdef Tensor moved_sources(Tensor moved, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                          Tensor result, str reduce, bint include_self, str op, str name):
    """What tangents of the sources add to the tangent of the slots."""
    moved = to_sources(corner(moved, index), a, dim, index, src, result, reduce, include_self, op,
                       name)
    return T.scatter_add(T.zeros_like(a), dim, index, moved)


# --- eigenvectors ---------------------------------------------------------------------------

cdef Tensor identity_like(Tensor a):
    """Identity matrices of the shape of `a`."""
    return T.diag_embed(T.ones_like(T.diagonal(a, 0, -2, -1)), 0, -2, -1)


cdef Tensor over_gaps(Tensor m, Tensor values):
    """m[i, j] / (values[j] - values[i]), and 0 on the diagonal and where m is 0."""
    cdef Tensor gaps = T.sub(T.unsqueeze(values, -2), T.unsqueeze(values, -1))
    cdef Tensor none = T.logical_or(T.eq(m, wrap_int(0)), T.ne(identity_like(gaps), wrap_int(0)))
    return T.where(none, wrap_int(0), T.div(m, T.where(none, wrap_int(1), gaps)))


cdef Tensor hermitian(Tensor m):
    """The Hermitian part: the matrix that a decomposition reads."""
    return T.mul(T.add(m, T.conj(T.transpose(m, -2, -1))), wrap_double(0.5))


cdef Tensor eigh_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors):
    """Gradient of the matrix; the gradients are None where there is none."""
    cdef Tensor back = T.conj(T.transpose(vectors, -2, -1))
    cdef Tensor m = None
    if grad_vectors is not None:
        m = hermitian(over_gaps(T.matmul(back, grad_vectors), values))
    if grad_values is not None:
        grad_values = T.diag_embed(grad_values, 0, -2, -1)
        m = grad_values if m is None else T.add(m, grad_values)
    if m.dt != vectors.dt:
        m = T._to_dtype(m, vectors.dt)
    return T.matmul(vectors, T.matmul(m, back))


cdef Tensor eigenvalues_moved(Tensor moved, Tensor vectors):
    moved = T.matmul(T.conj(T.transpose(vectors, -2, -1)), T.matmul(hermitian(moved), vectors))
    return T.real(T.diagonal(moved, 0, -2, -1))


cdef Tensor eigenvectors_moved(Tensor moved, Tensor values, Tensor vectors):
    moved = T.matmul(T.conj(T.transpose(vectors, -2, -1)), T.matmul(hermitian(moved), vectors))
    return T.matmul(vectors, over_gaps(moved, values))
