# cython: language_level=3
"""Composites of the family indexing: records in autograd_cy/ops/indexing.py name them."""
from libc.stdint cimport uint32_t

from autograd_cy._C.arguments cimport bool_arg, indices_arg, tensor_arg
from autograd_cy._C.rules_common cimport real_number
from autograd_cy._C.constants cimport filled
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_is_integral, dt_scalar_name, DT_BOOL, DT_I64, DT_U8)
from autograd_cy._C.faults cimport FAULT_INDEX, FAULT_MASK, check_indices
from autograd_cy._C.index_values cimport positions as whole_places
from autograd_cy._C.iterate cimport broadcast_shape, one_memory
from autograd_cy._C.placement cimport MF_CONTIGUOUS, device_of_code
from autograd_cy._C.tensor cimport (
    Tensor, below_vmaps, check_fits, device_of, dims_of, install, normal_dim, requires_grad,
    same_shape, scalar_value, sizes_of, tls_modes, warn_once, wrap_int, F_BATCHED, F_DEVICE,
    F_WRAPPED, M_NO_GRAD)
from autograd_cy._C._warned import warn as _warn
include "operators_of_indexing_composites.pxi"


cdef Tensor pad_corner(Tensor a, object shape):
    """`a` in the leading corner of zeros of `shape` (the gradient of a narrowed tensor)."""
    cdef int d
    for d in range(a.nd):
        if a.sizes[d] != shape[d]:
            a = T._slice_backward(a, tuple([sizes_of(a)[j] if j != d else shape[d]
                                            for j in range(a.nd)]), d, 0, a.sizes[d], 1)
    return a


cdef Tensor value_like(Tensor value, Tensor other):
    """`value` as a 0-d operand that can't change the dtype of `other`."""
    if value.nd != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.nd} dimension(s).")
    real_number(value, other.dt, None)
    check_fits(value, other.dt)
    if other.flags & F_DEVICE and not value.flags & F_DEVICE:
        value = T._to_device(value, device_of(other), False)
    return value if value.dt == other.dt else numbered(T._to_dtype(value, other.dt), value)


cdef Tensor numbered(Tensor result, Tensor value):
    """Mark the result of a number as a number for the graph, which has no edge for it."""
    result.flags |= value.flags & F_WRAPPED
    return result


cdef Tensor at_each(Tensor value, Tensor other, Tensor index):
    value = value_like(value, other)
    return numbered(T.expand(value, dims_of(index)), value)


cdef Tensor masked_select(Tensor a, Tensor mask):
    cdef tuple shape
    cdef Py_ssize_t sizes[64]
    cdef int nd = broadcast_shape((a, mask), sizes, "masked_select"), d
    shape = tuple([sizes[d] for d in range(nd)])
    return T._index(T.expand(a, shape), (T.expand(mask, shape),))


cdef Tensor with_slice(Tensor a, Tensor scattered, Tensor mask):
    """`scattered` where the mask is set, `a` elsewhere."""
    return T.where(T.ne(mask, wrap_int(0)), scattered, a)


cdef Tensor slice_source(Tensor src, Tensor window):
    if not same_shape(src, window):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(sizes_of(src))}, slice size = {list(sizes_of(window))}")
    return src if src.dt == window.dt else T._to_dtype(src, window.dt)


cdef Tensor diagonal_scatter(Tensor a, Tensor src, Py_ssize_t offset, Py_ssize_t dim1,
                             Py_ssize_t dim2):
    cdef tuple size = dims_of(a)
    src = slice_source(src, T.diagonal(T.detach(a), offset, dim1, dim2))
    return with_slice(a, T._diagonal_backward(src, size, offset, dim1, dim2),
                      T._diagonal_backward(filled(a, a.dt, dims_of(src), 1), size, offset, dim1,
                                           dim2))


cdef Tensor select_scatter(Tensor a, Tensor src, Py_ssize_t dim, Py_ssize_t index):
    cdef tuple size = dims_of(a)
    src = slice_source(src, T.select(T.detach(a), dim, index))
    return with_slice(a, T._select_backward(src, size, dim, index),
                      T._select_backward(filled(a, a.dt, dims_of(src), 1), size, dim, index))


cdef Tensor slice_scatter(Tensor a, Tensor src, Py_ssize_t dim, object start, object end,
                          Py_ssize_t step):
    cdef tuple size = dims_of(a)
    if a.nd == 0:
        raise IndexError("slice_scatter() cannot be applied to a 0-dim tensor.")
    src = slice_source(src, T.slice(T.detach(a), dim, start, end, step))
    return with_slice(a, T._slice_backward(src, size, dim, start, end, step),
                      T._slice_backward(filled(a, a.dt, dims_of(src), 1), size, dim, start, end,
                                        step))


cdef Tensor as_positions(Tensor index, str op):
    """An index tensor as int64, or as mask."""
    if index.dt == DT_BOOL or index.dt == DT_I64:
        return index
    if index.dt == DT_U8:
        return T.ne(index, wrap_int(0))
    if not dt_is_integral(index.dt):
        raise IndexError(f"{op}: tensors used as indices must be long, int, byte or bool tensors, "
                         f"not {dt_scalar_name(index.dt)}")
    return T._to_dtype(index, DT_I64)


cdef tuple positions(Tensor a, object indices, str op):
    """The index tensors of a call, in which a mask of a number counts as a dimension, too."""
    if len(indices) > a.nd:
        raise IndexError(
            f"{op}: too many indices for tensor of dimension {a.nd} (got {len(indices)})")
    return tuple([None if x is None else as_positions(<Tensor>x, op) for x in indices])


cdef int same_dtype(Tensor a, Tensor b, str op) except -1:
    if a.dt != b.dt:
        raise RuntimeError(
            f"{op}: requires the source and destination dtypes match, got "
            f"{dt_scalar_name(a.dt)} for the destination and {dt_scalar_name(b.dt)} for the "
            "source.")
    return 0


cdef Tensor values_to_put(Tensor a, tuple places, Tensor values, bint accumulate):
    """The values of index_put in the dtype of `a`: one for a mask is a number, others have it."""
    indices = [x for x in places if x is not None]
    number = (values.count == 1 and not accumulate and len(indices) == 1
              and (<Tensor>indices[0]).dt == DT_BOOL)
    if number and one_memory(values, a):
        values = T.clone(values, -1)    # it is read before anything is written
    if values.dt == a.dt:
        return values
    if number:
        return T._to_dtype(values, a.dt)
    raise RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{dt_scalar_name(a.dt)} for the destination and {dt_scalar_name(values.dt)} for the "
        "source.")


cdef Tensor index_put(Tensor a, object indices, Tensor values, bint accumulate):
    cdef tuple places = positions(a, indices, "index_put")
    return T._index_put(a, places, values_to_put(a, places, values, accumulate), accumulate)


cdef int check_devices(Tensor a, Tensor index, Tensor source, str op) except -1:
    """Refuse operands of several devices, also an index on the CPU, which scatter would take."""
    cdef int device = device_of(below_vmaps(a))
    for t in (index, source):
        if device_of(below_vmaps(<Tensor>t)) != device:
            raise RuntimeError(
                f"{op}(): self, index and source expected to be in the same device, but got "
                f"{device_of_code(device)} and {device_of_code(device_of(below_vmaps(<Tensor>t)))}")
    return 0


cdef tuple without_dim(Tensor a, Py_ssize_t d):
    """The shape of the slices of a tensor along a dimension."""
    cdef tuple size = dims_of(a)
    return size[:d] + size[d + 1:]


cdef Tensor index_copy_places(Tensor a, Py_ssize_t dim, Tensor index, Tensor source):
    """The index of scatter that puts each slice of `source` where `index` says."""
    cdef Py_ssize_t d = normal_dim(dim, a.nd), n
    cdef tuple own = without_dim(a, d), other = without_dim(source, d)
    check_devices(a, index, source, "index_copy")
    if index.nd > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.nd})")
    if source.nd == 0 and index.count != 1:
        raise IndexError("index_copy_(): When source is scalar, index should have one element (got "
                         f"{index.count})")
    if source.nd != a.nd and source.nd and a.nd:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.nd}), destination dimensionality ({a.nd})")
    if index.dt != DT_I64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got "
                           f"{dt_scalar_name(index.dt)}")
    same_dtype(a, source, "index_copy_()")
    if own != other:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, own))} at dimension {d} and source slice shape: "
            f"{' '.join(map(str, other))} at dimension 0.")
    n = source.sizes[d] if source.nd else 1
    if index.count != n:
        raise IndexError(f"index_copy_(): Number of indices ({index.count}) should be equal to "
                         f"source.size(dim) ({n})")
    if index.count and not (index.flags | a.flags) & F_BATCHED:
        if index.flags & F_DEVICE:
            T._checked_values(index, 0, a.sizes[d] if a.nd else 1, FAULT_INDEX + 256 * (d + 1))
        else:
            check_indices(whole_places(index), a.sizes[d] if a.nd else 1, FAULT_INDEX,
                          "index_copy_", d)
    index = T.reshape(index, (-1,))
    if a.nd == 0 or source.nd == 0:
        return T.reshape(index, dims_of(source))
    index = T.reshape(index, (1,) * d + (n,) + (1,) * (a.nd - 1 - d))
    return T.expand(index, dims_of(source))


cdef Tensor index_fill_mask(Tensor a, Py_ssize_t dim, Tensor index, Tensor value):
    cdef Py_ssize_t d = normal_dim(dim, a.nd), n
    cdef Tensor mask
    check_devices(a, index, a, "index_fill")
    if value.nd:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.nd} dimension(s).")
    if dt_is_complex(value.dt) and not dt_is_complex(a.dt):
        raise RuntimeError(
            f"index_fill_(): a complex value can't go into {dt_scalar_name(a.dt)}; give a real one")
    if index.dt != DT_I64:
        raise IndexError("index_fill_(): Expected dtype int64 for index, but got "
                         f"{dt_scalar_name(index.dt)}")
    if index.nd > 1:
        raise RuntimeError("index_fill_(): Index has to be a vector or a number, but has shape "
                           f"{list(sizes_of(index))}")
    n = a.sizes[d] if a.nd else 1
    index = T.reshape(index, (-1,))
    mask = T._index_put(filled(a, DT_BOOL, (n,), False), (index,), filled(a, DT_BOOL, (), True),
                        False)
    return T.reshape(mask, (1,) * d + (n,) + (1,) * (a.nd - 1 - d) if a.nd else ())


cdef Tensor masked_scatter(Tensor a, Tensor mask, Tensor source):
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t n
    cdef int nd, d
    cdef tuple shape
    if mask.dt != DT_BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{dt_scalar_name(mask.dt)}")
    if a.dt != source.dt:
        raise RuntimeError(
            f"masked_scatter_: expected self and source to have same dtypes but got "
            f"{dt_scalar_name(a.dt)} and {dt_scalar_name(source.dt)}")
    nd = broadcast_shape((a, mask), sizes, "masked_scatter")
    shape = tuple([sizes[d] for d in range(nd)])
    mask = T.expand(mask, shape)
    if (mask.flags | source.flags) & F_BATCHED:
        return masked_scatter_each(T.expand(a, shape), mask, source)
    if mask.flags & F_DEVICE:
        # How many there are is counted there, and nobody waits for it.
        T._checked_values(T.sum(mask, -1), 0, source.count + 1, FAULT_MASK)
        return masked_scatter_each(T.expand(a, shape), mask, source)
    n = scalar_value(T.sum(mask, -1))
    if source.count < n:
        raise RuntimeError("masked_scatter_: Number of elements of source < number of ones in mask "
                           f"({source.count} < {n})")
    return T._index_put(T._contiguous(T.expand(a, shape), -1), (mask,),
                        T.slice(T.reshape(source, (-1,)), 0, 0, n, 1), False)


cdef Tensor masked_scatter_each(Tensor a, Tensor mask, Tensor source):
    """
    Scatter under vmap, where each example may take another number of elements.

    Element k of the source, counted from 1, goes where k ones of the mask have been met; the
    first place is for elements that stay.
    """
    cdef Tensor flat, places, values
    flat = T.reshape(mask, (-1,))
    places = T.mul(T.cumsum(flat, 0, -1), flat)
    values = T.cat((T.new_zeros(source, (1,)), T.reshape(source, (-1,))), 0)
    try:
        values = T.gather(values, 0, places)
    except RuntimeError as error:
        raise RuntimeError("masked_scatter_: Number of elements of source < number of ones in mask "
                           f"of an example of vmap (source has {source.count})") from error
    return T.where(mask, T.reshape(values, tuple(sizes_of(a))), a)


cdef Tensor take(Tensor a, Tensor index, Tensor out):
    if index.dt != DT_I64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got "
                           f"{dt_scalar_name(index.dt)}")
    a = T.reshape(a, (-1,))
    if out is not None and out.dt == a.dt:
        return T._index_out(a, (index,), out)
    return T._index(a, (index,))            # counts negative indices from the end


cdef int repeated_dim(Tensor a) noexcept:
    """A dimension that shows the same elements again and again, or -1."""
    cdef int d
    if a.count:
        for d in range(a.nd):
            if a.strides[d] == 0 and a.sizes[d] > 1:
                return d
    return -1


cdef int put_into_expanded(Tensor a, tuple places, Tensor values, bint added) except -1:
    """Write elements that stand at several places: the last value stays, or all are added."""
    cdef Tensor result, written = None
    _warn(
        "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before "
        "performing this operation. This also applies to advanced indexing e.g. tensor[indices] = "
        "tensor", UserWarning)
    result = T._contiguous(a, MF_CONTIGUOUS)
    if added:
        result = T._index_put(T.zeros_like(result), places, values, True)
    else:
        result = T._index_put(result, places, values, False)
        written = T._index_put(
            T.zeros_like(T._to_dtype(result, DT_BOOL)), places, T._to_dtype(wrap_int(1), DT_BOOL),
            False)
    return bring_together(a, result, written)


cdef int bring_together(Tensor a, Tensor source, Tensor written) except -1:
    cdef int d = repeated_dim(a)
    cdef Py_ssize_t i
    if d >= 0:
        for i in range(a.sizes[d]):
            bring_together(T.narrow(a, d, 0, 1), T.narrow(source, d, i, 1),
                           None if written is None else T.narrow(written, d, i, 1))
    elif written is None:
        T.add_(a, source)
    else:
        T.copy_(a, T.where(written, source, a))
    return 0


def index_put_(Tensor self not None, indices, values, accumulate=False):
    """
    Write `values` at the places that index tensors give; see :func:`index_put`.

    Parameters
    ----------
    indices : tuple of Tensors
        One for each indexed dimension: int64 positions or bool masks.
    values : Tensor
        Of this tensor's dtype; broadcast to the indexed elements.
    accumulate : bool, default False
        Add to what is there, repeated indices too.

    Returns
    -------
    Tensor
        This tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(3).index_put_((ag.tensor([0, 2]),), ag.tensor(5.0))
    tensor([5., 0., 5.])
    """
    cdef Tensor v = tensor_arg(values, "index_put_", "values", 2)
    cdef tuple places = positions(
        self, indices_arg(indices, "index_put_", "indices", 1), "index_put_")
    cdef bint added = bool_arg(accumulate, "index_put_", "accumulate", 3)
    cdef uint32_t version
    if repeated_dim(self) >= 0 and (
            tls_modes() & M_NO_GRAD or not (requires_grad(self) or requires_grad(v))):
        v = values_to_put(self, places, v, added)
        version = self.mem.version[0]
        put_into_expanded(self, places, v, added)
        # One change, although each place that shows an element wrote it.
        self.mem.version[0] = version + 1
        return self
    return T._index_put_(self, places, values_to_put(self, places, v, added), added)


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
    """Count the elements of which each slot is the mean."""
    if dt_is_complex(a.dt):
        a = T.real(a)
    cdef Tensor n = own_part(T.ones_like(a), dim, index, include_self)
    n = T.scatter_add(n, dim, index, T.ones_like(T.gather(n, dim, index)))
    return n if include_self else T.clamp_min(n, wrap_int(1))


cdef Tensor owners_of(Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                      bint include_self):
    """Count the elements that reach the extreme of each slot: none where it is NaN."""
    cdef Tensor n = own_part(T._to_dtype(T.eq(a, result), a.dt), dim, index, include_self)
    cdef Tensor hits = T.eq(src, T.gather(result, dim, index))
    return T.scatter_add(n, dim, index, T._to_dtype(hits, a.dt))


cdef Tensor to_slots(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                     str reduce, bint include_self):
    """The part of `self`."""
    if reduce == "mean":
        v = T.div(v, counts_of(a, dim, index, include_self))
    elif reduce == "prod":
        v = T.mul(v, T._conjugate(T.scatter_reduce(T.ones_like(a), dim, index, src, "prod", True)))
    elif reduce != "sum":
        # Nobody owns a NaN, whose gradient, 0 / 0, is NaN.
        v = T.mul(T._to_dtype(T.eq(a, result), a.dt), T.div(
            v, owners_of(a, dim, index, corner(src, index), result, include_self)))
    return own_part(v, dim, index, include_self)


cdef Tensor to_sources(Tensor v, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, Tensor result,
                       str reduce, bint include_self, str op, str name):
    """The part of the sources; `v` and the result have the shape of the index."""
    cdef Tensor zero, several, others
    src = corner(src, index)
    if reduce == "mean":
        return T.div(v, T.gather(counts_of(a, dim, index, include_self), dim, index))
    if reduce == "amax" or reduce == "amin":
        return T.mul(
            T._to_dtype(T.eq(src, T.gather(result, dim, index)), a.dt),
            T.div(v, T.gather(owners_of(a, dim, index, src, result, include_self), dim, index)))
    if reduce == "sum":
        return v
    # The product of the others is result / src. It is that of the rest where src is the only zero.
    zero = T.eq(src, wrap_int(0))
    several = T._to_dtype(T.zeros_like(a), DT_I64)
    several = T.scatter_add(several, dim, index, T._to_dtype(zero, DT_I64))
    several = T.gather(several, dim, index)
    several = T.gt(several, wrap_int(1))
    src = T.where(zero, wrap_int(1), src)
    others = T.gather(T.scatter_reduce(a, dim, index, src, "prod", include_self), dim, index)
    others = T.where(T.logical_and(zero, T.logical_not(several)), others,
                     T.div(T.gather(result, dim, index), src))
    return T._refuse_where(
        T.mul(v, T._conjugate(others)), several,
        f"{op}(): Double backward is unsupported for {name} when >1 zeros in {name} are scattered "
        "to the same position in self")


cdef Tensor sources_jvp(Tensor tangent, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                        Tensor result, str reduce, bint include_self, str op, str name):
    """Return the part of the tangent of the slots that comes from tangents of the sources."""
    tangent = to_sources(T._conjugate(corner(tangent, index)), a, dim, index, src, result, reduce,
                         include_self, op, name)
    return T.scatter_add(T.zeros_like(a), dim, index, T._conjugate(tangent))


cdef Tensor gather_sparse(Tensor a, Py_ssize_t dim, Tensor index, bint sparse_grad):
    if sparse_grad:
        raise NotImplementedError(
            "gather: sparse_grad=True needs sparse tensors, which there are none of here; leave it "
            "away for a dense gradient")
    return T.gather(a, dim, index)


cdef Tensor scatter_by(Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce,
                       Tensor out):
    """Sums or products with `source`, a tensor or a number, at the indices along a dimension."""
    if reduce != "add" and reduce != "multiply":
        raise RuntimeError(
            f"scatter: reduce argument must be either add or multiply. (got '{reduce}'; "
            "scatter_reduce knows more)")
    if not source.flags & F_WRAPPED:
        warn_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options.")
    else:
        source = T.expand(value_like(source, a), tuple([index.sizes[i] for i in range(index.nd)]))
    if reduce == "add":
        if out is not None:
            return T.scatter_add_out(a, dim, index, source, out)
        return T.scatter_add(a, dim, index, source)
    if out is not None:
        return T.scatter_reduce_out(a, dim, index, source, "prod", True, out)
    return T.scatter_reduce(a, dim, index, source, "prod", True)


cdef tuple nonzero_tuple(Tensor a, bint as_tuple):
    """One vector of indices for each dimension; a number counts as a vector of one element."""
    if a.nd == 0:
        a = T.reshape(a, (1,))
    return T.unbind(T.nonzero(a), 1)


cdef Tensor raise_where(Tensor grad, Tensor mask, str text):
    """`grad`, if no element of `mask` is set in any example."""
    if scalar_value(T.any(below_vmaps(mask), None, False)):
        raise RuntimeError(text)
    return grad


install(Tensor, "index_put_", index_put_)
