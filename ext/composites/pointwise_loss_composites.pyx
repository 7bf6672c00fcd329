# cython: language_level=3
"""Composites of the family pointwise_loss: records in its file of autograd_cy/ops name them."""
from autograd_cy._C.dtypes cimport dt_category, dt_scalar_name
from autograd_cy._C.iterate cimport broadcast_shape, result_dtype
from autograd_cy._C.rules_loss cimport RED_MEAN, RED_NONE, RED_SUM
from autograd_cy._C.tensor cimport (
    F_DUAL, M_GUARD_SAVED, M_NO_GRAD, M_VMAP_MASK, Tensor, below_vmaps, dims_of, requires_grad,
    same_shape, tls_modes, wrap_double, wrap_int)
include "operators_of_pointwise_loss_composites.pxi"


cdef Tensor share_of_gradient(Tensor grad, Tensor like, Tensor weight, Py_ssize_t reduction):
    if reduction == RED_MEAN and like.count > 1:
        grad = T.mul(grad, wrap_double(1.0 / like.count))
    return grad if weight is None else T.mul(grad, weight)


cdef Tensor total(Tensor values, Tensor weight, Py_ssize_t reduction):
    if weight is not None:
        values = T.mul(values, weight)
    if reduction == RED_NONE:
        return values
    return T.mean(values, -1) if reduction == RED_MEAN else T.sum(values, -1)


cdef Tensor per_example(Tensor values, Py_ssize_t reduction):
    cdef Py_ssize_t n = values.sizes[0]
    if reduction == RED_NONE:
        return values
    values = T.reshape(values, (n, values.count // n if n else 0))
    if reduction == RED_MEAN:
        return T.mean_dim(values, 1, False, -1)
    return T.sum_dim(values, 1, False, -1)


cdef Tensor align_factor(Tensor factor, Tensor like):
    """A batch of factors, with the dimensions of a batch of losses."""
    cdef list sizes
    cdef int d
    if factor is None or factor.nd == like.nd:
        return factor
    sizes = [factor.sizes[0]] + [1] * (like.nd - factor.nd)
    for d in range(1, factor.nd):
        sizes.append(factor.sizes[d])
    return T.reshape(factor, tuple(sizes))


cdef bint has_tangent_of(Tensor t) noexcept:
    return t is not None and (t.flags | below_vmaps(t).flags) & F_DUAL != 0


cdef bint recorded(Tensor t) noexcept:
    return t is not None and requires_grad(t) and not tls_modes() & M_NO_GRAD


cdef bint transformed() noexcept:
    """Return whether a function that is transformed runs, or one of examples."""
    return tls_modes() & (M_GUARD_SAVED | M_VMAP_MASK) != 0


cdef int check_constant(Tensor t, str what, str op, bint always) except -1:
    """
    Raise if a derivative with respect to a weight is asked for: torch has none.

    `always`: it has those in forward mode and of functions that are transformed.
    """
    if (has_tangent_of(t) and not always) or (recorded(t) and not (always and transformed())):
        raise RuntimeError(
            f"The function '{op}' is not differentiable with respect to argument '{what}'. This "
            "input cannot have requires_grad True; detach it, or multiply the losses of "
            "reduction='none' by it.")
    return 0


cdef Py_ssize_t known(Py_ssize_t reduction) noexcept:
    """Any number but those of mean and sum means no reduction, as in torch."""
    return reduction if reduction == RED_MEAN or reduction == RED_SUM else RED_NONE


cdef Tensor cross_entropy(Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction):
    check_constant(weight, "weight", "binary_cross_entropy", False)
    return T._binary_cross_entropy(a, b, weight, reduction)


cdef Tensor cross_entropy_each(Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction):
    return per_example(T._binary_cross_entropy(a, b, align_factor(weight, a), RED_NONE), reduction)


cdef Tensor logit_gradient(Tensor grad, Tensor a, Tensor b, Tensor pos_weight):
    if pos_weight is None:
        return T._logit_cross_entropy_backward(grad, a, b)
    return T._weighted_logit_cross_entropy_backward(grad, a, b, pos_weight)


cdef Tensor logit_target(Tensor grad, Tensor a, Tensor pos_weight):
    """-x, or with a weight log(1 - y) - p log y of y = sigmoid(x): losses of targets 0 and 1."""
    if pos_weight is None:
        return T.neg(T.mul(grad, a))
    return T.mul(grad, T.sub(
        T.mul(pos_weight, T._logit_cross_entropy(a, T.ones_like(a), None, None, RED_NONE)),
        T._logit_cross_entropy(a, T.zeros_like(a), None, None, RED_NONE)))


cdef Tensor logit_cross_entropy_each(Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                     Py_ssize_t reduction):
    losses = T._logit_cross_entropy(
        a, b, align_factor(weight, a), align_factor(pos_weight, a), RED_NONE)
    return per_example(losses, reduction)


cdef tuple common_shape(Tensor a, Tensor b, str op):
    cdef Py_ssize_t sizes[64]
    cdef int d, nd = broadcast_shape((a, b), sizes, op)
    return tuple([sizes[d] for d in range(nd)])


cdef Tensor logit_cross_entropy(Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                Py_ssize_t reduction):
    check_constant(weight, "weight", "binary_cross_entropy_with_logits", True)
    check_constant(pos_weight, "pos_weight", "binary_cross_entropy_with_logits", True)
    if dt_category(b.dt) < 2 and dt_category(a.dt) == 2:
        raise RuntimeError(
            f"binary_cross_entropy_with_logits: result type {dt_scalar_name(a.dt)} can't be cast "
            f"to the desired output type {dt_scalar_name(b.dt)}, that of the target; convert the "
            "target")
    if not same_shape(a, b):
        shape = common_shape(a, b, "binary_cross_entropy_with_logits")
        if dims_of(b) != shape:
            raise RuntimeError(
                f"binary_cross_entropy_with_logits: output with shape {list(dims_of(b))} (that of "
                f"the target) doesn't match the broadcast shape {list(shape)}")
        a = T.expand(a, shape)
    if (has_tangent_of(weight) or has_tangent_of(pos_weight)
            or recorded(weight) or recorded(pos_weight)):
        return total(losses_of_operators(a, b, pos_weight), weight, known(reduction))
    return T._logit_cross_entropy(a, b, weight, pos_weight, known(reduction))


cdef Tensor losses_of_operators(Tensor a, Tensor b, Tensor pos_weight):
    """Losses of operators, which have derivatives with respect to a weight of positive targets."""
    cdef Tensor losses = T._logit_cross_entropy(a, b, None, None, RED_NONE)
    if pos_weight is None:
        return losses
    return T.add(losses, T.mul(
        T.mul(T.sub(pos_weight, wrap_int(1)), b),
        T._logit_cross_entropy(a, T.ones_like(a), None, None, RED_NONE)))


cdef Tensor kl_div(Tensor a, Tensor b, Py_ssize_t reduction, bint log_target):
    cdef int dt
    for t in (a, b):
        if dt_category((<Tensor>t).dt) > 2:
            raise RuntimeError("kl_div: Complex inputs not supported.")
        if dt_category((<Tensor>t).dt) < 2:
            raise RuntimeError("kl_div: Integral inputs not supported.")
    if not same_shape(a, b):
        if a.dt != b.dt:        # promoted while 0-d tensors can be told from others
            dt = result_dtype((a, b))
            a = a if a.dt == dt else T._to_dtype(a, dt)
            b = b if b.dt == dt else T._to_dtype(b, dt)
        shape = common_shape(a, b, "kl_div")
        a, b = T.expand(a, shape), T.expand(b, shape)
    return T._kl_div(a, b, known(reduction), log_target)
