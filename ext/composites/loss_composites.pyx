# cython: language_level=3
"""Composites of the family loss: records in autograd_cy/ops/loss.py name them."""
from autograd_cy._C.dtypes cimport dt_is_float, dt_scalar_name
from autograd_cy._C.iterate cimport broadcast_shape
from autograd_cy._C.tensor cimport (
    Tensor, dims_of, missing_dim, same_shape, sizes_of, wrap_double, wrap_int)
include "operators_of_loss_composites.pxi"


cdef Tensor reduce_loss(Tensor values, int reduction):
    if reduction == 0:
        return values
    if reduction == 1:
        return T.mean(values, -1)
    return T.sum(values, -1)


cdef int reduction_code(str name) except -1:
    if name == "mean":
        return 1
    if name == "sum":
        return 2
    if name == "none":
        return 0
    raise ValueError(f"{name} is not a valid value for reduction; use 'none', 'mean' or 'sum'")


cdef Tensor cross_entropy_form(Tensor logits, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                               str reduction, double label_smoothing):
    """Negative log-likelihood of class indices, or of class probabilities of logits' shape."""
    cdef int code = reduction_code(reduction)
    cdef int axis = 0 if logits.nd == 1 else 1
    cdef Tensor logp, loss, smooth, total
    cdef Py_ssize_t classes
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if logits.nd == 0:
        raise missing_dim(1, 0, "cross_entropy: input must have at least one dimension")
    logp = T.log_softmax(logits, axis, -1)
    classes = logits.sizes[axis]
    if same_shape(logits, target):
        if not dt_is_float(target.dt):
            raise RuntimeError(
                "cross_entropy: Expected floating point type for target with class probabilities, "
                f"got {dt_scalar_name(target.dt)}; classes have a shape without their dimension")
        if ignore_index >= 0:
            raise RuntimeError(
                "cross_entropy: ignore_index is not supported for floating point target, whose "
                f"elements are probabilities; got {ignore_index}")
        if weight is not None and (weight.nd != 1 or weight.sizes[0] != classes):
            raise RuntimeError(
                "cross_entropy: weight tensor should be defined either for all "
                f"{classes} classes or no classes but got weight tensor of shape: "
                f"{list(sizes_of(weight))}")
        if label_smoothing > 0.0:
            target = T.add(T.mul(target, wrap_double(1.0 - label_smoothing)),
                           wrap_double(label_smoothing / classes))
        if weight is not None:
            shape = tuple([-1 if d == axis else 1 for d in range(logits.nd)])
            logp = T.mul(logp, T.reshape(weight, shape))
        loss = T.neg(T.sum_dim(T.mul(logp, target), axis, False, -1))
        if code == 1:
            # The mean is over examples, whatever the probabilities sum to.
            if logits.count == 0:
                return T.mean(T.mul(logp, target), -1)
            return T.div(T.sum(loss, -1), wrap_double(<double>(logits.count / classes)))
        return reduce_loss(loss, code)
    loss = <Tensor>T.nll_loss_forward(logp, target, weight, code, ignore_index)[0]
    if label_smoothing == 0.0:
        return loss
    # The uniform part: the mean over classes of the (weighted) log-probabilities.
    if weight is not None:
        shape = tuple([-1 if d == axis else 1 for d in range(logits.nd)])
        smooth = T.neg(T.sum_dim(T.mul(logp, T.reshape(weight, shape)), axis, False, -1))
    else:
        smooth = T.neg(T.sum_dim(logp, axis, False, -1))
    keep = T.ne(target, wrap_int(ignore_index))
    smooth = T.where(keep, smooth, wrap_double(0.0))
    if code == 1:
        if weight is not None:
            total = T.sum(T.where(keep, T.reshape(T.index_select(weight, 0, T.reshape(T.where(
                keep, target, wrap_int(0)), (-1,))), dims_of(target)), wrap_double(0.0)), -1)
        else:
            total = T.sum(keep, -1)
        smooth = T.div(T.sum(smooth, -1), total)
    else:
        smooth = reduce_loss(smooth, code)
    return T.add(T.mul(loss, wrap_double(1.0 - label_smoothing)),
                 T.mul(smooth, wrap_double(label_smoothing / classes)))


cdef Tensor nll_output(Tensor a, Tensor target, Tensor weight, Py_ssize_t reduction,
                       Py_ssize_t ignore_index):
    return <Tensor>T.nll_loss_forward(a, target, weight, reduction, ignore_index)[0]


cdef Tensor nll_loss(Tensor a, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                     str reduction):
    return <Tensor>T.nll_loss_forward(a, target, weight, reduction_code(reduction), ignore_index)[0]


cdef Tensor mse_loss(Tensor a, Tensor b, str reduction):
    cdef int code = reduction_code(reduction)
    cdef Py_ssize_t sizes[64]
    cdef tuple shape
    cdef int d, nd
    if code == 1 and not same_shape(a, b):
        # The mean's gradient is divided by the number of losses, not by that of the inputs.
        nd = broadcast_shape((a, b), sizes, "mse_loss")
        shape = tuple([sizes[d] for d in range(nd)])
        a, b = T.expand(a, shape), T.expand(b, shape)
    return T._mse_loss(a, b, code)


cdef Tensor mse_jvp(Tensor tangent, Tensor a, Tensor b, Py_ssize_t reduction):
    return reduce_loss(T.mul(T.mul(T.sub(a, b), tangent), wrap_double(2.0)), <int>reduction)


cdef Tensor mse_each(Tensor a, Tensor b, Py_ssize_t reduction):
    cdef Tensor r
    while a.nd < b.nd:      # examples are broadcast, and not with the batch
        a = T.unsqueeze(a, 1)
    while b.nd < a.nd:
        b = T.unsqueeze(b, 1)
    r = T._mse_loss(a, b, 0)
    if reduction == 0:
        return r
    r = T.reshape(r, (r.sizes[0], r.count // r.sizes[0] if r.sizes[0] else 0))
    return T.mean_dim(r, 1, False, -1) if reduction == 1 else T.sum_dim(r, 1, False, -1)
