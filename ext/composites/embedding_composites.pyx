# cython: language_level=3
"""Composites of the family embedding: records in autograd_cy/ops/embedding.py name them."""
from autograd_cy._C.constants cimport counted
from autograd_cy._C.launch cimport capturing
from autograd_cy._C.tensor cimport (
    Tensor, below_vmaps, device_of, dims_of, wrap_double, wrap_int, F_BATCHED, F_DEVICE)
include "operators_of_embedding_composites.pxi"


# --- one table for each example -------------------------------------------------------------

cdef Tensor shifted(Tensor indices, Py_ssize_t batch, Py_ssize_t rows):
    """Indices into the rows of all tables, one behind the other."""
    cdef Tensor start = counted(device_of(below_vmaps(indices)), batch, rows)
    return T.add(indices, T.reshape(start, (batch,) + (1,) * (indices.nd - 1)))


cdef Tensor at_padding(Tensor indices, Py_ssize_t padding_idx):
    return T.unsqueeze(T.eq(indices, wrap_int(padding_idx)), -1)


cdef Tensor embedding_each(Tensor weight, Tensor indices, Py_ssize_t padding_idx, bint scale,
                           bint sparse):
    cdef Py_ssize_t batch = weight.sizes[0], rows = weight.sizes[1], width = weight.sizes[2]
    cdef Tensor result = T.embedding(
        T.reshape(weight, (batch * rows, width)), shifted(indices, batch, rows), -1, scale, sparse)
    if padding_idx < 0:
        return result
    # The value of the padding without its gradient.
    return T.where(at_padding(indices, padding_idx), T._without_history(result), result)


cdef Tensor dense_backward_each(Tensor grad, Tensor indices, Py_ssize_t rows,
                                Py_ssize_t padding_idx, bint scale):
    cdef Py_ssize_t batch = grad.sizes[0], width = grad.sizes[grad.nd - 1]
    indices = T.expand(indices, dims_of(grad)[:grad.nd - 1])
    if padding_idx >= 0:
        grad = T.where(at_padding(indices, padding_idx), wrap_double(0.0), grad)
    indices = shifted(indices, batch, rows)
    grad = T.embedding_dense_backward(grad, indices, batch * rows, -1, scale)
    return T.reshape(grad, (batch, rows, width))


cdef Tensor dense_backward_shared(Tensor grad, Tensor indices, Py_ssize_t rows,
                                  Py_ssize_t padding_idx, bint scale):
    """Look up indices that all examples share: the examples stand side by side in wide rows."""
    cdef Py_ssize_t batch = grad.sizes[0], width = grad.sizes[grad.nd - 1]
    grad = T.reshape(T.movedim(grad, (0,), (-2,)), dims_of(indices) + (batch * width,))
    grad = T.embedding_dense_backward(grad, indices, rows, padding_idx, scale)
    return T.transpose(T.reshape(grad, (rows, batch, width)), 0, 1)


# --- bags -----------------------------------------------------------------------------------

cdef tuple embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bint scale_grad_by_freq,
                         Py_ssize_t mode, bint sparse, Tensor per_sample_weights,
                         bint include_last_offset, object padding_idx):
    cdef Py_ssize_t padding = -1
    if sparse:
        raise NotImplementedError(
            "embedding_bag: sparse=True needs sparse gradients, which there are none of here; "
            "leave it away for a dense gradient")
    if padding_idx is not None:
        padding = padding_idx
        if padding < -weight.sizes[0] or padding >= weight.sizes[0]:
            raise RuntimeError(
                f"padding_idx must be within the number of embeddings, -{weight.sizes[0]} through "
                f"{weight.sizes[0] - 1}, but got {padding}")
        if padding < 0:
            padding += weight.sizes[0]
    if include_last_offset and offsets.nd == 1 and indices.nd == 1 and offsets.count:
        if capturing() or (offsets.flags | indices.flags) & (F_BATCHED | F_DEVICE):
            return with_bag_of_rest(weight, indices, offsets, per_sample_weights, mode,
                                    scale_grad_by_freq, padding)
        last = T.select(offsets, 0, -1).item()
        if 0 <= last < indices.count:       # what is beyond the last bag belongs to none
            indices = T.narrow(indices, 0, 0, last)
            if per_sample_weights is not None:
                per_sample_weights = T.narrow(per_sample_weights, 0, 0, last)
    return T._embedding_bag(weight, indices, offsets, per_sample_weights, mode,
                            include_last_offset, scale_grad_by_freq, padding)


cdef tuple with_bag_of_rest(Tensor weight, Tensor indices, Tensor offsets, Tensor samples,
                            Py_ssize_t mode, bint scale, Py_ssize_t padding):
    """
    Return bags of which the last one ends at the last offset, without a look at its value.

    What is beyond it is one bag more, which is computed and cut off.
    """
    cdef Py_ssize_t bags = offsets.count - 1
    out, bag_of, sizes, places = T._embedding_bag(
        weight, indices, offsets, samples, mode, False, scale, padding)
    if mode == 2:
        places = T._contiguous(T.narrow(places, 0, 0, bags), -1)
    # Without the gap where examples of vmap lie side by side: strides are those of the CPU.
    out = T._contiguous(T.narrow(out, 0, 0, bags), -1)
    return out, bag_of, T._contiguous(T.narrow(sizes, 0, 0, bags), -1), places


cdef Tensor per_element(Tensor values, Tensor bag_of, Tensor sizes, Tensor samples, int mode):
    """The row of each element's bag, times its share in it."""
    cdef Tensor rows
    if sizes.count == 0:            # elements of no bag
        return T.new_zeros(values, (bag_of.count, values.sizes[1]))
    rows = T.index_select(values, 0, bag_of)
    if samples is not None:
        return T.mul(rows, T.unsqueeze(samples, 1))
    if mode == 1:
        # An empty bag has no share; its size is never divided by.
        sizes = T.index_select(T.clamp(sizes, wrap_int(1), None), 0, bag_of)
        return T.div(rows, T.unsqueeze(T._to_dtype(sizes, rows.dt), 1))
    return rows


cdef Tensor used_bags(Tensor sizes, int dt):
    return T.unsqueeze(T._to_dtype(T.gt(sizes, wrap_int(0)), dt), 1)


cdef Tensor embedding_bag_weight(Tensor grad, Tensor indices, Tensor bag_of, Tensor sizes,
                                 Tensor places, Tensor samples, Py_ssize_t rows, Py_ssize_t mode,
                                 bint scale, Py_ssize_t padding):
    if mode == 2:
        return T.scatter_add(T.new_zeros(grad, (rows, grad.sizes[1])), 0, places,
                             T.mul(grad, used_bags(sizes, grad.dt)))
    return T.embedding_dense_backward(
        per_element(grad, bag_of, sizes, samples, <int>mode), indices, rows, padding, scale)


cdef Tensor embedding_bag_samples(Tensor grad, Tensor weight, Tensor indices, Tensor bag_of,
                                  Py_ssize_t padding):
    cdef Tensor rows, each
    if grad.sizes[0] == 0:          # elements of no bag
        return T.new_zeros(grad, (bag_of.count,))
    rows = T.embedding(weight, indices, padding, False, False)
    each = T.sum_dim(T.mul(T.index_select(grad, 0, bag_of), rows), (1,), False, -1)
    if padding < 0:
        return each
    return T.where(T.eq(indices, wrap_int(padding)), wrap_double(0.0), each)


cdef Tensor embedding_bag_jvp(Tensor tangent, Tensor indices, Tensor bag_of, Tensor sizes,
                              Tensor places, Tensor samples, Py_ssize_t mode,
                              Py_ssize_t padding):
    """Tangent by the table."""
    cdef Tensor rows, keep
    if mode == 2:
        return T.mul(T.gather(tangent, 0, places), used_bags(sizes, tangent.dt))
    if sizes.count == 0:
        return T.new_zeros(tangent, (0, tangent.sizes[1]))
    rows = T.embedding(tangent, indices, padding, False, False)
    if padding >= 0:
        rows = T.where(at_padding(indices, padding), wrap_double(0.0), rows)
    if samples is not None:
        rows = T.mul(rows, T.unsqueeze(samples, 1))
    rows = T.index_add(T.new_zeros(rows, (sizes.count, rows.sizes[1])), 0, bag_of, rows)
    if mode == 1:
        keep = T._to_dtype(T.clamp(sizes, wrap_int(1), None), rows.dt)
        rows = T.div(rows, T.unsqueeze(keep, 1))
    return rows
