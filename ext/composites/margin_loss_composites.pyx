# cython: language_level=3
"""Composites of the family margin_loss: records in its file of autograd_cy/ops name them."""
from libc.math cimport M_PI

from autograd_cy._C.rules_common cimport check_no_bool_subtraction
from autograd_cy._C.dtypes cimport (
    dt_category, dt_is_float, dt_scalar_name, dt_type_name, DT_BOOL, DT_F32)
from autograd_cy._C.iterate cimport broadcast_shape, result_dtype
from autograd_cy._C.rules_loss cimport RED_MEAN, RED_SUM
from autograd_cy._C.tensor cimport (
    Tensor, dims_of, missing_dim, normal_dim, same_shape, sizes_of, wrap_double, wrap_int)
include "operators_of_margin_loss_composites.pxi"


cdef Tensor reduce_values(Tensor values, Py_ssize_t reduction):
    """Any number but those of mean and sum means no reduction, as in torch."""
    if reduction == RED_MEAN:
        return T.mean(values, -1)
    return T.sum(values, -1) if reduction == RED_SUM else values


# --- vectors --------------------------------------------------------------------------------

cdef tuple expanded(Tensor a, Tensor b, str op):
    cdef Py_ssize_t sizes[64]
    cdef int d, nd
    if same_shape(a, b):
        return a, b
    nd = broadcast_shape((a, b), sizes, op)
    shape = tuple([sizes[d] for d in range(nd)])
    return T.expand(a, shape), T.expand(b, shape)


cdef Tensor direction(Tensor a, object dim, double eps):
    """Vectors divided by their lengths, or by eps if that is more."""
    return T.div(a, T.clamp_min(T.norm(a, 2.0, dim, True, -1), wrap_double(eps)))


cdef Tensor cosine_similarity(Tensor a, Tensor b, Py_ssize_t dim, double eps):
    cdef int dt = result_dtype((a, b))
    cdef object at
    if not eps >= 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps:g}")
    if dt_category(dt) != 2:
        raise RuntimeError(
            "cosine_similarity: expected common dtype to be floating point, yet common dtype is "
            f"{dt_scalar_name(dt)}; convert the tensors first")
    a, b = expanded(a, b, "cosine_similarity")
    at = normal_dim(dim, a.nd)
    if a.dt != dt:
        a = T._to_dtype(a, dt)
    if b.dt != dt:
        b = T._to_dtype(b, dt)
    if dt < DT_F32:                 # lengths and products are rounded once, at the end
        a = cosine_similarity(T._to_dtype(a, DT_F32), T._to_dtype(b, DT_F32), dim, eps)
        return T._to_dtype(a, dt)
    return T.sum_dim(T.mul(direction(a, at, eps), direction(b, at, eps)), at, False, -1)


cdef Tensor difference(Tensor a, Tensor b):
    check_no_bool_subtraction(a, b)
    return T.sub(a, b)


cdef Tensor pairwise_distance(Tensor a, Tensor b, double p, double eps, bint keepdim):
    cdef Tensor d = difference(a, b)
    return T.norm(T.add(d, wrap_double(eps)), p, d.nd - 1 if d.nd else 0, keepdim, -1)


cdef Tensor bilinear(Tensor a, Tensor b, Tensor weight, Tensor bias):
    """The batch in one dimension: products with all matrices at once, then with the others."""
    cdef Py_ssize_t n = 1, k, i, j
    cdef int d
    cdef Tensor r
    if a.nd != b.nd:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {a.nd} and {b.nd}")
    if a.nd == 0:
        raise RuntimeError("bilinear(): inputs must have a dimension")
    for d in range(a.nd - 1):
        if a.sizes[d] != b.sizes[d]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {d}: got {a.sizes[d]} and "
                f"{b.sizes[d]}")
        n *= a.sizes[d]
    if weight.nd != 3:
        raise missing_dim(
            weight.nd or 1, weight.nd,
            f"bilinear(): weight must have 3 dimensions, not {weight.nd} (shape "
            f"{list(sizes_of(weight))})")
    k, i, j = weight.sizes[0], weight.sizes[1], weight.sizes[2]
    for number, size, expected in ((1, a.sizes[a.nd - 1], i), (2, b.sizes[b.nd - 1], j)):
        if size != expected:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {size} but "
                f"expected {expected}")
    if bias is not None and bias.nd == 0:
        raise missing_dim(0, 0, "bilinear(): bias must have one dimension")
    if bias is not None and (bias.nd != 1 or bias.sizes[0] != k):
        raise RuntimeError(
            "bilinear(): bias size does not match weight size: got "
            f"{bias.sizes[0]} but expected {k}")
    if bias is not None and bias.dt != a.dt:
        raise RuntimeError(f"bilinear: All tensors must have the same dtype, got input1: "
                           f"{dt_type_name(a.dt)}, bias: {dt_type_name(bias.dt)}")
    shape = dims_of(a)[:a.nd - 1] + (k,)
    # (n, i) by (i, k j), as (n, k, j) by (n, j, 1)
    r = T.matmul(T.reshape(a, (n, i)), T.reshape(T.transpose(weight, 0, 1), (i, k * j)))
    r = T.matmul(T.reshape(r, (n, k, j)), T.reshape(b, (n, j, 1)))
    r = T.reshape(r, shape)
    return r if bias is None else T.add(r, bias)


# --- losses ---------------------------------------------------------------------------------

cdef Tensor above_zero(Tensor a):
    return T.clamp_min(a, wrap_int(0))


cdef Tensor margin_ranking_loss(Tensor a, Tensor b, Tensor target, double margin,
                                Py_ssize_t reduction):
    if target.dt == DT_BOOL:
        raise RuntimeError("margin_ranking_loss: Negation, the `-` operator, on a bool tensor is "
                           "not supported; targets are 1 or -1")
    a = T.mul(difference(b, a), target)
    if margin != 0.0 or not dt_is_float(a.dt):  # a float makes integers floats, zero or not
        a = T.add(a, wrap_double(margin))
    return reduce_values(above_zero(a), reduction)


cdef Tensor hinge_embedding_loss(Tensor a, Tensor target, double margin, Py_ssize_t reduction):
    cdef Tensor none = wrap_double(0.0)
    return reduce_values(T.add(
        T.where(T.ne(target, wrap_int(1)), above_zero(difference(wrap_double(margin), a)), none),
        T.where(T.ne(target, wrap_int(-1)), a, none)), reduction)


cdef Tensor cosine_embedding_loss(Tensor a, Tensor b, Tensor target, double margin,
                                  Py_ssize_t reduction):
    cdef Tensor cosine, none = wrap_double(0.0)
    cdef object at
    if target.nd > 1:
        raise RuntimeError(
            "cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported")
    if a.nd != target.nd + 1 or b.nd != target.nd + 1:
        raise RuntimeError(
            f"{target.nd}D target tensor expects {target.nd + 1}D input tensors, but found inputs "
            f"with sizes {list(sizes_of(a))} and {list(sizes_of(b))}.")
    # What is stretched has the length that it had before, as in torch.
    expanded(a, b, "cosine_embedding_loss")
    at = a.nd - 1
    # Vectors of length 0 have the cosine 0 with all others.
    cosine = T.div(T.sum_dim(T.mul(a, b), at, False, -1), T.sqrt(T.mul(
        T.add(T.sum_dim(T.mul(a, a), at, False, -1), wrap_double(1e-12)),
        T.add(T.sum_dim(T.mul(b, b), at, False, -1), wrap_double(1e-12)))))
    return reduce_values(T.add(
        T.where(T.eq(target, wrap_int(1)), T.sub(wrap_double(1.0), cosine), none),
        T.where(T.eq(target, wrap_int(-1)), above_zero(T.sub(cosine, wrap_double(margin))), none)),
        reduction)


cdef Tensor triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, double margin,
                                double p, double eps, bint swap, Py_ssize_t reduction):
    cdef Tensor near, far
    if anchor.nd != positive.nd or anchor.nd != negative.nd:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.nd}D, positive {positive.nd}D, and negative "
            f"{negative.nd}D inputs")
    near = pairwise_distance(anchor, positive, p, eps, False)
    far = pairwise_distance(anchor, negative, p, eps, False)
    if swap:
        far = T.minimum(far, pairwise_distance(positive, negative, p, eps, False))
    return reduce_values(above_zero(T.add(T.sub(near, far), wrap_double(margin))), reduction)


cdef Tensor poisson_nll_loss(Tensor a, Tensor target, bint log_input, bint full, double eps,
                             Py_ssize_t reduction):
    cdef Tensor loss, stirling
    if log_input:
        loss = difference(T.exp(a), T.mul(target, a))
    else:
        loss = difference(a, T.mul(target, T.log(T.add(a, wrap_double(eps)))))
    if full:
        stirling = T.add(T.sub(T.mul(target, T.log(target)), target),
                         T.mul(wrap_double(0.5), T.log(T.mul(wrap_double(2 * M_PI), target))))
        loss = T.add(loss, T.where(T.gt(target, wrap_int(1)), stirling, wrap_double(0.0)))
    return reduce_values(loss, reduction)
