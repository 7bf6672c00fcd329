# cython: language_level=3
"""Composites of the family attention: records in autograd_cy/ops/attention.py name them."""
from libc.math cimport sqrt
from autograd_cy._C.constants cimport counted
from autograd_cy._C.devices cimport has_kernel
from autograd_cy._C.dtypes cimport dt_scalar_name, DT_BF16, DT_BOOL, DT_F16, DT_F32, DT_F64
from autograd_cy._C.gemm_loops cimport LONGEST_PACK

from autograd_cy._C.tensor cimport (
    F_BATCHED, F_DUAL, G_FORWARD, M_INFERENCE, M_NO_GRAD, Tensor, below_vmaps, device_of, dims_of,
    g_modes, requires_grad, sizes_of, tensor_empty_on, tls_modes, wrap_double)
include "operators_of_attention_composites.pxi"

cdef double INF = float("inf")


# --- in plain operators ---------------------------------------------------------------------

cdef Tensor causal_mask(int device, Py_ssize_t rows, Py_ssize_t columns):
    """Return a mask that lets each row see no column after its own."""
    return T.ge(T.unsqueeze(counted(device, rows, 1), 1), counted(device, columns, 1))


cdef Tensor masked(Tensor scores, Tensor mask):
    if mask is None:
        return scores
    if mask.dt == DT_BOOL:
        return T.where(mask, scores, wrap_double(-INF))
    return T.add(scores, mask)


cdef Tensor weights_of(Tensor query, Tensor key, Tensor mask, bint is_causal, double scale):
    """Softmax of the scores; rows that see nothing are zero, and so are their gradients."""
    cdef Tensor scores, dead = None
    scores = T.mul(T.matmul(query, T.transpose(key, key.nd - 2, key.nd - 1)), wrap_double(scale))
    if is_causal:
        scores = masked(scores, causal_mask(device_of(below_vmaps(query)),
                                            query.sizes[query.nd - 2], key.sizes[key.nd - 2]))
    scores = masked(scores, mask)
    if scores.sizes[scores.nd - 1]:
        dead = T.eq(T.amax(scores, (-1,), True), wrap_double(-INF))
        scores = T.masked_fill(scores, dead, wrap_double(0.0))
    scores = T.softmax(scores, scores.nd - 1, -1)
    return scores if dead is None else T.masked_fill(scores, dead, wrap_double(0.0))


cdef Tensor in_plain(Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                     bint is_causal, double scale):
    cdef Tensor weights, result
    cdef int dt = query.dt
    if dt == DT_F16 or dt == DT_BF16:       # rounded once
        query, key = T._to_dtype(query, DT_F32), T._to_dtype(key, DT_F32)
        value = T._to_dtype(value, DT_F32)
        if mask is not None and mask.dt != DT_BOOL:
            mask = T._to_dtype(mask, DT_F32)
    weights = weights_of(query, key, mask, is_causal, scale)
    if dropout_p > 0.0:
        weights = T.dropout(weights, dropout_p, True)
    result = T.matmul(weights, value)
    return result if result.dt == dt else T._to_dtype(result, dt)


# --- the public operator --------------------------------------------------------------------

cdef int check_operands(Tensor query, Tensor key, Tensor value) except -1:
    if query.nd < 2 or key.nd < 2 or value.nd < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.nd} key.dim: {key.nd} and value.dim: {value.nd} instead.")
    if query.dt != key.dt or query.dt != value.dt:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{dt_scalar_name(query.dt)} key.dtype: {dt_scalar_name(key.dt)} and value.dtype: "
            f"{dt_scalar_name(value.dt)} instead.")
    if query.dt > DT_F64:
        raise NotImplementedError(
            "scaled_dot_product_attention: not implemented for "
            f"{dt_scalar_name(query.dt)}; complex scores have no order")
    if query.dt < DT_F16:
        raise RuntimeError(
            "scaled_dot_product_attention: expected a floating point dtype, but query, key and "
            f"value are {dt_scalar_name(query.dt)}")
    if (query.sizes[query.nd - 1] != key.sizes[key.nd - 1]
            or key.sizes[key.nd - 2] != value.sizes[value.nd - 2]):
        raise RuntimeError(
            "scaled_dot_product_attention: query and key must have the same last size, key and "
            f"value the same number of rows, but got query {list(sizes_of(query))}, key "
            f"{list(sizes_of(key))} and value {list(sizes_of(value))}")
    return 0


cdef int check_mask(Tensor mask, Tensor query) except -1:
    if mask.dt != DT_BOOL and mask.dt != DT_F32 and mask.dt != query.dt:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {dt_scalar_name(mask.dt)} and  query.dtype: "
            f"{dt_scalar_name(query.dt)} instead.")
    return 0


cdef Tensor repeated(Tensor t, Py_ssize_t heads):
    """Each head as often as there are queries for it."""
    cdef Py_ssize_t own = t.sizes[t.nd - 3]
    cdef tuple shape
    if own == heads:
        return t
    shape = dims_of(t)
    t = T.expand(T.unsqueeze(t, -3), shape[:t.nd - 2] + (heads // own,) + shape[t.nd - 2:])
    return T.reshape(t, shape[:len(shape) - 3] + (heads,) + shape[len(shape) - 2:])


cdef bint same_heads(Tensor query, Tensor key, bint grouped) noexcept:
    """Return whether the batches are the same, and the heads the same or a divisor."""
    cdef int d
    if query.nd != key.nd:
        return False
    for d in range(query.nd - 3):
        if query.sizes[d] != key.sizes[d]:
            return False
    if query.nd < 3 or query.sizes[query.nd - 3] == key.sizes[query.nd - 3]:
        return True
    d = query.nd - 3
    return grouped and key.sizes[d] > 0 and query.sizes[d] % key.sizes[d] == 0


cdef bint suits_tiles(Tensor query, Tensor key, Tensor value, Tensor mask,
                      bint grouped) except -1:
    cdef int d
    cdef Py_ssize_t width = query.sizes[query.nd - 1], deep = value.sizes[value.nd - 1], rows
    if (query.flags | key.flags | value.flags) & F_BATCHED:
        return False
    if not has_kernel(device_of(query), "_attention"):
        return False
    if width < 1 or width > LONGEST_PACK or deep < 1 or deep > LONGEST_PACK or key.count == 0:
        return False
    if not same_heads(query, key, grouped) or not same_heads(key, value, False):
        return False
    if mask is None:
        return True
    # Gradients and tangents of masks need all scores.
    if mask.flags & (F_BATCHED | F_DUAL) or requires_grad(mask) or mask.nd > query.nd:
        return False
    if mask.nd > 0 and g_modes & G_FORWARD:
        return False
    for d in range(mask.nd):
        rows = query.sizes[query.nd - 1 - d] if d else key.sizes[key.nd - 2]
        if mask.sizes[mask.nd - 1 - d] != 1 and mask.sizes[mask.nd - 1 - d] != rows:
            return False
    return True


cdef Tensor four(Tensor t):
    """As (batch, heads, places, width)."""
    cdef tuple shape
    if t.nd == 4:
        return t
    shape = dims_of(t)
    if t.nd < 4:
        return T.reshape(t, (1,) * (4 - t.nd) + shape)
    return T.reshape(t, (product_of_sizes(shape, t.nd - 3),) + shape[t.nd - 3:])


cdef Py_ssize_t product_of_sizes(tuple sizes, int n) except -1:
    cdef Py_ssize_t total = 1
    cdef int d
    for d in range(n):
        total *= <Py_ssize_t>sizes[d]
    return total


cdef Tensor mask_of_dropout(Tensor query, Tensor key, double p):
    """Fractions for the weights of each query, drawn as those of a matrix of all scores."""
    cdef int dt = DT_F64 if query.dt == DT_F64 else DT_F32
    cdef Py_ssize_t[1] one = [1]
    cdef Tensor like = tensor_empty_on(device_of(query), dt, 1, one, NULL)
    return T._dropout_mask(
        T.expand(like, (product_of_sizes(dims_of(query), query.nd - 3) if query.nd > 3 else 1,
                        query.sizes[query.nd - 3] if query.nd > 2 else 1,
                        query.sizes[query.nd - 2], key.sizes[key.nd - 2])),
        1.0 - p)


cdef Tensor in_tiles(Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                     bint is_causal, double scale):
    cdef tuple shape = dims_of(query)
    cdef Tensor result, dropped = None
    if dropout_p > 0.0:
        dropped = mask_of_dropout(query, key, dropout_p)
    if mask is not None:
        if query.nd > 4 and mask.nd > 3:
            mask = T.expand(mask, shape[:query.nd - 3] + dims_of(mask)[mask.nd - 3:])
        mask = four(mask)
    result = <Tensor>T._attention(four(query), four(key), four(value), mask, is_causal, scale,
                                  dropped)[0]
    if len(shape) == 4:
        return result
    return T.reshape(result, shape[:len(shape) - 1] + (value.sizes[value.nd - 1],))


# --- its gradient ---------------------------------------------------------------------------

cdef Tensor grouped_sum(Tensor t, Py_ssize_t heads):
    """Summed over the heads of queries that share one of keys."""
    cdef tuple shape = dims_of(t)
    if shape[1] == heads:
        return t
    t = T.reshape(t, (shape[0], heads, shape[1] // heads) + shape[2:])
    return T.sum_dim(t, (2,), False, -1)


cdef Tensor transposed(Tensor t):
    return T.transpose(t, t.nd - 2, t.nd - 1)


cdef Tensor score_gradients(Tensor weights, Tensor d):
    """Gradient, or tangent, of the softmax."""
    cdef Tensor both = T.mul(weights, d)
    return T.sub(both, T.mul(weights, T.sum_dim(both, (weights.nd - 1,), True, -1)))


cdef Tensor widened(Tensor t):
    if t is not None and (t.dt == DT_F16 or t.dt == DT_BF16):
        return T._to_dtype(t, DT_F32)
    return t


cdef tuple attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor mask,
                              Tensor output, Tensor logsumexp, Tensor exact, bint is_causal,
                              double scale, Tensor dropped):
    cdef Tensor weights, score_grads, dq, dk, dv, k, v, q, g, dropped_weights
    cdef int dt = query.dt
    cdef bint recorded = not (tls_modes() & (M_NO_GRAD | M_INFERENCE))
    if has_kernel(device_of(query), "_attention_gradients") and not (
            recorded or g_modes & G_FORWARD
            or (grad.flags | query.flags | key.flags | value.flags) & F_BATCHED):
        return T._attention_gradients(
            grad, query, key, value, mask, output, logsumexp, exact, is_causal, scale, dropped)
    # What is differentiated again is made of plain operators.
    g, q = widened(grad), widened(query)
    k = widened(repeated(key, query.sizes[1]))
    v = widened(repeated(value, query.sizes[1]))
    weights = weights_of(q, k, widened(mask), is_causal, scale)
    score_grads = T.matmul(g, transposed(v))
    dropped_weights = weights
    if dropped is not None:
        dropped_weights, score_grads = T.mul(weights, dropped), T.mul(score_grads, dropped)
    score_grads = score_gradients(weights, score_grads)
    dq = T.mul(T.matmul(score_grads, k), wrap_double(scale))
    dk = grouped_sum(T.mul(T.matmul(transposed(score_grads), q), wrap_double(scale)), key.sizes[1])
    dv = grouped_sum(T.matmul(transposed(dropped_weights), g), key.sizes[1])
    if dq.dt != dt:
        return T._to_dtype(dq, dt), T._to_dtype(dk, dt), T._to_dtype(dv, dt)
    return dq, dk, dv


cdef Tensor attention_jvp(Tensor query, Tensor key, Tensor value, Tensor mask, Tensor query_t,
                          Tensor key_t, Tensor value_t, bint is_causal, double scale):
    """Tangent of the result by one of the three."""
    cdef Py_ssize_t heads = query.sizes[1]
    cdef Tensor weights, score_tangents, result, k = widened(repeated(key, heads))
    cdef Tensor v = widened(repeated(value, heads)), q = widened(query)
    weights = weights_of(q, k, widened(mask), is_causal, scale)
    if value_t is not None:
        result = T.matmul(weights, widened(repeated(value_t, heads)))
    else:
        if query_t is not None:
            score_tangents = T.matmul(widened(query_t), transposed(k))
        else:
            score_tangents = T.matmul(q, transposed(widened(repeated(key_t, heads))))
        score_tangents = T.mul(score_tangents, wrap_double(scale))
        result = T.matmul(score_gradients(weights, score_tangents), v)
    return result if result.dt == query.dt else T._to_dtype(result, query.dt)


cdef int check_groups(Tensor query, Tensor key, Tensor value) except -1:
    cdef Py_ssize_t heads
    if query.nd < 3 or key.nd < 3 or value.nd < 3:
        raise RuntimeError(
            "scaled_dot_product_attention: enable_gqa needs a dimension of heads in query, key and "
            "value, the third from the end")
    heads = query.sizes[query.nd - 3]
    for t in (key, value):
        own = (<Tensor>t).sizes[(<Tensor>t).nd - 3]
        if own == 0 or heads % own:
            raise RuntimeError(
                "Number of heads in key and value must divide the number of heads in query, but "
                f"got query {list(sizes_of(query))}, key {list(sizes_of(key))} and value "
                f"{list(sizes_of(value))}")
    return 0


cdef Tensor scaled_dot_product(Tensor query, Tensor key, Tensor value, Tensor attn_mask,
                               double dropout_p, bint is_causal, object scale, bint enable_gqa):
    cdef double factor
    check_operands(query, key, value)
    if dropout_p > 1.0:
        raise RuntimeError(
            f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if attn_mask is not None:
        check_mask(attn_mask, query)
        if is_causal:
            raise RuntimeError(
                "scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True; hide what is behind each place in the mask")
    if enable_gqa:
        check_groups(query, key, value)
    if scale is not None:
        factor = scale
    else:
        factor = 1.0 / sqrt(<double>max(query.sizes[query.nd - 1], 1))
    if attn_mask is not None and attn_mask.dt == DT_F32 and query.dt != DT_F32:
        if query.dt == DT_F64:
            attn_mask = T._to_dtype(attn_mask, DT_F64)
        else:                               # the mask keeps its digits
            return T._to_dtype(
                scaled_dot_product(
                    T._to_dtype(query, DT_F32), T._to_dtype(key, DT_F32),
                    T._to_dtype(value, DT_F32), attn_mask, dropout_p, False, factor, enable_gqa),
                query.dt)
    if not suits_tiles(query, key, value, attn_mask, enable_gqa) or dropout_p > 0.0 and (
            g_modes & G_FORWARD or (query.flags | key.flags | value.flags) & F_DUAL):
        if enable_gqa:
            key = repeated(key, query.sizes[query.nd - 3])
            value = repeated(value, query.sizes[query.nd - 3])
        return in_plain(query, key, value, attn_mask, dropout_p, is_causal, factor)
    return in_tiles(query, key, value, attn_mask, dropout_p, is_causal, factor)
