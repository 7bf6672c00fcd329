# cython: language_level=3
"""Shape rules of losses."""
from autograd_cy._C.dtypes cimport dt_scalar_name, DT_I64, DT_U8
from autograd_cy._C.iterate cimport broadcast_shape, result_dtype
from autograd_cy._C.outputs cimport has_shape, result_dense, result_like

from autograd_cy._C.tensor cimport Tensor, same_shape, sizes_of


cdef int check_reduction(Py_ssize_t reduction) except -1:
    if reduction < RED_NONE or reduction > RED_SUM:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return 0


# --- negative log-likelihood ----------------------------------------------------------------

cdef int check_target(int nd, const Py_ssize_t* sizes, Tensor target) except -1:
    """Return whether there is one class for each position of the input."""
    cdef int d
    if nd == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if nd == 1:
        if target.nd > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.count != 1:
            raise ValueError(
                f"For 1D input, 1D target must have size 1, but got target size: {target.count}")
        return 0
    if target.nd == 0 or sizes[0] != target.sizes[0]:
        raise ValueError(
            f"Expected input batch_size ({sizes[0]}) to match target batch_size "
            f"({target.sizes[0] if target.nd else 'none: the target is 0-d'}).")
    if nd == 2 and target.nd != 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.nd != nd - 1:
        raise RuntimeError(
            f"nll_loss: expected a target of {nd - 1} dimensions, got shape "
            f"{list(sizes_of(target))} for input {[sizes[d] for d in range(nd)]}")
    for d in range(2, nd):
        if sizes[d] != target.sizes[d - 1]:
            raise RuntimeError(
                f"size mismatch (got input: {[sizes[d] for d in range(nd)]}, target: "
                f"{list(sizes_of(target))})")
    return 0


cdef int check_classes(int nd, const Py_ssize_t* sizes, int dt, Tensor target,
                       Tensor weight) except -1:
    cdef Py_ssize_t classes
    check_target(nd, sizes, target)
    classes = sizes[0 if nd == 1 else 1]
    if target.dt != DT_I64 and target.dt != DT_U8:
        raise RuntimeError(
            "nll_loss: expected target dtype to be Long or Byte (expected scalar type Long but "
            f"found {dt_scalar_name(target.dt)})")
    if weight is None:
        return 0
    if weight.nd != 1 or weight.count != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(sizes_of(weight))}")
    if weight.dt != dt:
        raise RuntimeError(
            f"expected scalar type {dt_scalar_name(dt)} but found {dt_scalar_name(weight.dt)}")
    return 0


cdef int nll(Result* r, Tensor input, Tensor target, Tensor weight, Py_ssize_t reduction,
             str op) except -1:
    """Losses (or one), and the sum of the weights."""
    check_reduction(reduction)
    check_classes(input.nd, input.sizes, input.dt, target, weight)
    result_dense(r, input.dt, target.nd if reduction == RED_NONE and input.nd > 1 else 0,
                 target.sizes)
    return result_dense(r + 1, input.dt, 0, target.sizes)


cdef int nll_backward(Result* r, Tensor grad, Tensor target, Tensor weight, tuple size,
                      Py_ssize_t reduction, str op) except -1:
    cdef int d
    check_reduction(reduction)
    for d in range(<int>len(size)):
        r.sizes[d] = size[d]
    result_dense(r, grad.dt, <int>len(size), r.sizes)
    check_classes(r.nd, r.sizes, grad.dt, target, weight)
    if grad.count != (target.count if reduction == RED_NONE else 1):
        raise RuntimeError(
            f"nll_loss_backward: grad of shape {list(sizes_of(grad))} doesn't match the loss")
    return 0


# --- squares --------------------------------------------------------------------------------

cdef int squares(Result* r, Tensor a, Tensor b, Py_ssize_t reduction, str op) except -1:
    """Promoted and broadcast, like an elementwise operation."""
    cdef Tensor like = None
    check_reduction(reduction)
    if a.dt == b.dt and same_shape(a, b):
        like = a
        r.dt = a.dt
    else:
        r.dt = result_dtype((a, b))
        r.nd = broadcast_shape((a, b), r.sizes, op)
        for t in (a, b):
            if like is None and has_shape(<Tensor>t, r):
                like = <Tensor>t
    if reduction != RED_NONE:
        return result_dense(r, r.dt, 0, r.sizes)
    if like is not None:
        return result_like(r, like, r.dt)
    r.strided = False
    return 0


# --- numbers of single elements -------------------------------------------------------------

cdef int check_same_shape(Tensor a, Tensor b, str op) except -1:
    if not same_shape(a, b):
        raise RuntimeError(
            f"{op}: input and target have different shapes, {list(sizes_of(a))} and "
            f"{list(sizes_of(b))}")
    return 0


cdef int pointwise(Result* r, Tensor a, Tensor b, Py_ssize_t reduction, str op) except -1:
    """Promoted; the shapes are the same."""
    check_same_shape(a, b, op)
    return squares(r, a, b, reduction, op)


cdef int smooth_l1(Result* r, Tensor a, Tensor b, double beta, Py_ssize_t reduction,
                   str op) except -1:
    if not beta >= 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return pointwise(r, a, b, reduction, op)


cdef int huber(Result* r, Tensor a, Tensor b, double delta, Py_ssize_t reduction,
               str op) except -1:
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return pointwise(r, a, b, reduction, op)


cdef int check_factor(Tensor a, Tensor factor, str op) except -1:
    """Return whether it broadcasts to the shape of the losses."""
    cdef Py_ssize_t sizes[64]
    cdef int d, nd
    if factor is None or same_shape(a, factor):
        return 0
    nd = broadcast_shape((a, factor), sizes, op)
    if nd == a.nd:
        for d in range(nd):
            if sizes[d] != a.sizes[d]:
                break
        else:
            return 0
    raise RuntimeError(
        f"{op}: output with shape {list(sizes_of(a))} doesn't match the broadcast shape "
        f"{[sizes[d] for d in range(nd)]} of the weight")


cdef int probabilities(Result* r, Tensor a, Tensor b, Tensor weight, Py_ssize_t reduction,
                       str op) except -1:
    check_reduction(reduction)
    check_same_shape(a, b, op)
    check_factor(a, weight, op)
    if a.dt != b.dt:
        raise RuntimeError(
            f"{op}: Found dtype {dt_scalar_name(b.dt)} but expected {dt_scalar_name(a.dt)} (of the "
            "target, as the input has)")
    return result_dense(r, a.dt, a.nd if reduction == RED_NONE else 0, a.sizes)


cdef int logits(Result* r, Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                Py_ssize_t reduction, str op) except -1:
    """Describe a result of the target's dtype."""
    check_reduction(reduction)
    check_same_shape(a, b, op)
    check_factor(a, weight, op)
    check_factor(a, pos_weight, op)
    return result_dense(r, b.dt, a.nd if reduction == RED_NONE else 0, a.sizes)
