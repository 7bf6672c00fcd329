# cython: language_level=3
"""Composites of the table that rearrange, repeat, split and scatter (records in ops/arrange.py).

They call recorded operators through T, so they differentiate by themselves.
"""
from cpython.exc cimport PyErr_CheckSignals

from autograd_cy._C.arguments cimport tensor_arg, indices_arg, bool_arg, factor_fits, int_arg
from autograd_cy._C.checked cimport checked_add, checked_sub
from autograd_cy._C.dtypes cimport (
    DT_SIZE, DT_BOOL, DT_I64, DT_U8, DT_F16, DT_BF16, DT_F32, DT_F64, DT_C64,
    DT_C128, dt_is_integral, dt_is_complex, dt_object)
from autograd_cy._C.dtypes import finfo as _finfo
from autograd_cy._C.formulas cimport normal_dim, value_like
from autograd_cy._C.iterate cimport broadcast_shape, fill_with
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, F_BATCHED, tensor_empty, dims_of, sizes_of, same_shape,
    scalar_value, wrap_int, wrap_double, wrap_number, install)
include "operators_of_arrange.pxi"


cdef Tensor dense_pairs(Tensor a):
    """Something whose pairs of real numbers can be read as complex ones."""
    cdef int d
    cdef bint fits = a.nd > 0 and not (a.flags & F_BATCHED) and a.strides[a.nd - 1] == 1
    if fits and (a.ptr - a.mem.data) % (2 * DT_SIZE[a.dt]) == 0:
        for d in range(a.nd - 1):
            if a.strides[d] % 2:
                break
        else:
            return a
    return T._contiguous(a, -1)


cdef Tensor filled(int dt, tuple size, object value):
    """A tensor of one value, outside of the graph."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int d
    cdef Tensor r
    for d in range(len(size)):
        shape[d] = size[d]
    r = tensor_empty(dt, <int>len(size), shape)
    fill_with(r, value)
    return r


cdef tuple replaced(tuple sizes, Py_ssize_t dim, Py_ssize_t size):
    return sizes[:dim] + (size,) + sizes[dim + 1:]


# --- shapes ---------------------------------------------------------------------------------

cdef Tensor unflatten(Tensor a, Py_ssize_t dim, tuple sizes):
    cdef Py_ssize_t n, known = 1
    cdef tuple shape = dims_of(a)
    if a.nd == 0:
        raise IndexError("unflatten: Dimension specified as 0 but tensor has no dimensions")
    dim = normal_dim(dim, a.nd)
    n = shape[dim]
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten: only one dimension can be inferred")
    for s in sizes:
        known *= s if s != -1 else 1
    if -1 in sizes and known and n % known == 0:
        sizes = tuple([s if s != -1 else n // known for s in sizes])
        known = n
    if -1 in sizes or known != n:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({n}) in the input tensor")
    return T.view(a, shape[:dim] + sizes + shape[dim + 1:])


cdef Tensor repeat(Tensor a, tuple sizes):
    cdef list spread = [], wide = [], result = []
    cdef Py_ssize_t extra = len(sizes) - a.nd
    cdef tuple shape
    cdef int d
    if extra < 0:
        raise RuntimeError(
            f"repeat: Number of dimensions of repeat dims can not be smaller than number of "
            f"dimensions of tensor (repeat {list(sizes)}, tensor of shape {list(sizes_of(a))})")
    shape = (1,) * extra + dims_of(a)
    for d in range(len(sizes)):
        if sizes[d] < 0:
            raise RuntimeError(f"repeat: Trying to create tensor with negative dimension: "
                               f"{list(sizes)}")
        spread += [1, shape[d]]
        wide += [sizes[d], shape[d]]
        result.append(sizes[d] * shape[d])
    return T.reshape(T.clone(T.expand(T.reshape(a, tuple(spread)), tuple(wide)), 0), tuple(result))


cdef Tensor tile(Tensor a, tuple dims):
    return repeat(a, (1,) * (a.nd - len(dims)) + dims)


cdef Tensor repeat_interleave(Tensor a, object repeats, object dim, object output_size):
    cdef Tensor counts, index
    cdef Py_ssize_t d, n, k
    cdef tuple shape
    if dim is None:
        a = T.reshape(a, (-1,))
        dim = 0
    d = normal_dim(dim, a.nd)
    if a.nd == 0:
        a = T.reshape(a, (1,))
    shape = dims_of(a)
    n = shape[d]
    if isinstance(repeats, Tensor) and (<Tensor>repeats).count == 1:
        repeats = scalar_value(<Tensor>repeats)
    if isinstance(repeats, int):
        k = int_arg(int(repeats), "repeat_interleave", "repeats", 2)
        if k < 0:
            raise RuntimeError("repeat_interleave: repeats can not be negative")
        if output_size is not None and output_size != n * k:
            raise RuntimeError(
                f"repeat_interleave: allocated size does not match required size: {output_size} "
                f"and {n * k}")
        return T.reshape(T.clone(T.expand(T.unsqueeze(a, d + 1), shape[:d + 1] + (k,)
                                          + shape[d + 1:]), 0), replaced(shape, d, n * k))
    counts = tensor_arg(repeats, "repeat_interleave", "repeats", 2)
    if counts.flags & F_BATCHED:
        raise RuntimeError("vmap: repeat_interleave is not possible with batched repeats: the "
                           "examples would have different sizes")
    if counts.nd > 1 or not dt_is_integral(counts.dt):
        raise RuntimeError(
            "repeat_interleave: repeats must be 0-dim or 1-dim tensor of integers, not of "
            f"{dt_object(counts.dt).name} and shape {list(sizes_of(counts))}")
    if counts.count != n:
        raise RuntimeError(
            f"repeat_interleave: repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {counts.count} and input.size({d}) = {n}")
    rows = []
    for i, k in enumerate(counts.tolist()):
        if k < 0:
            raise RuntimeError("repeat_interleave: repeats can not be negative")
        rows += [i] * k
    if output_size is not None and output_size != len(rows):
        raise RuntimeError(
            f"repeat_interleave: allocated size does not match required size: {output_size} and "
            f"{len(rows)}")
    index = index_vector(rows)
    return T.index_select(a, d, index)


cdef Tensor index_vector(list places):
    cdef Py_ssize_t[1] shape
    cdef Py_ssize_t i
    cdef Tensor r
    shape[0] = len(places)
    r = tensor_empty(DT_I64, 1, shape)
    for i in range(shape[0]):
        (<long long*>r.ptr)[i] = places[i]
    return r


cdef Tensor roll(Tensor a, tuple shifts, tuple dims):
    cdef Py_ssize_t d, n, k
    if not dims:
        if len(shifts) != 1:
            raise RuntimeError(
                f"roll: shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
        return T.reshape(roll(T.reshape(a, (-1,)), shifts, (0,)), dims_of(a))
    if len(shifts) != len(dims):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(shifts)}, "
                           f"dims:{len(dims)}")
    if a.nd == 0:
        raise IndexError("roll: Dimension specified as 0 but tensor has no dimensions")
    for dim, shift in zip(dims, shifts):
        d = normal_dim(dim, a.nd)
        n = a.sizes[d] if a.nd else 1
        k = shift % n if n else 0
        if k:
            a = T.cat((T.narrow(a, d, n - k, k), T.narrow(a, d, 0, n - k)), d)
        else:
            a = T.clone(a, -1)
    return a


cdef Tensor fliplr(Tensor a):
    if a.nd < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d, not of shape {list(sizes_of(a))}.")
    return T.flip(a, (1,))


cdef Tensor flipud(Tensor a):
    if a.nd < 1:
        raise RuntimeError("flipud: Input must be >= 1-d, not a 0-d tensor.")
    return T.flip(a, (0,))


cdef Tensor rot90(Tensor a, Py_ssize_t k, tuple dims):
    cdef Py_ssize_t first, second
    if len(dims) != 2 or a.nd < 2:
        raise RuntimeError(
            f"rot90: expected total rotation dims == 2 and total dims >= 2, but got dims = "
            f"{len(dims)} and total dims = {a.nd}")
    first = normal_dim(dims[0], a.nd)
    second = normal_dim(dims[1], a.nd)
    if first == second:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got dim0 = "
                           f"{dims[0]} and dim1 = {dims[1]}")
    k = (k % 4 + 4) % 4         # division as in C
    if k == 1:
        return T.transpose(T.flip(a, (second,)), first, second)
    if k == 2:
        return T.flip(a, (first, second))
    if k == 3:
        return T.transpose(T.flip(a, (first,)), first, second)
    return T.clone(a, 0)


# --- pieces ---------------------------------------------------------------------------------

cdef tuple piece_sizes(Tensor a, object size, Py_ssize_t dim, str op):
    cdef Py_ssize_t n, step, i
    if a.nd == 0:
        raise RuntimeError(f"{op} expects at least a 1-dimensional tensor")
    n = a.sizes[normal_dim(dim, a.nd)]
    if isinstance(size, int):
        step = size
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"{op} expects split_size be non-negative, but got "
                               f"split_size={step}")
        return tuple([min(step, n - i) for i in range(0, n, step)]) if n else (0,)
    if sum(size) != n:
        raise RuntimeError(
            f"{op} expects split_sizes to sum exactly to {n} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(size)}")
    return tuple(size)


cdef tuple unsafe_split(Tensor a, object size, Py_ssize_t dim):
    return T._unsafe_split(a, piece_sizes(a, size, dim, "unsafe_split"), dim)


cdef tuple unsafe_chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim):
    cdef Py_ssize_t n
    if chunks <= 0:
        raise RuntimeError(f"unsafe_chunk expects `chunks` to be greater than 0, got: {chunks}")
    if a.nd == 0:
        raise RuntimeError("unsafe_chunk expects at least a 1-dimensional tensor")
    n = a.sizes[normal_dim(dim, a.nd)]
    if n == 0:
        return T._unsafe_split(a, (0,) * chunks, dim)
    return unsafe_split(a, (n - 1) // chunks + 1 if n else 0, dim)


cdef tuple tensor_split(Tensor a, object where, Py_ssize_t dim):
    """Pieces between given places, or of nearly equal size; each is a view of its own."""
    cdef Py_ssize_t n, k, i, at = 0, size
    cdef list out = []
    if a.nd == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if isinstance(where, Tensor):
        if (<Tensor>where).nd > 1 or not dt_is_integral((<Tensor>where).dt):
            raise RuntimeError(
                "tensor_split: expected tensor_indices_or_sections to be a zero-dimensional or "
                "one-dimensional tensor of integers")
        where = (<Tensor>where).tolist()
    if isinstance(where, int):
        k = where
        if k <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {k}")
        out = [None] * k        # more than there is memory for fails here, not after hours
        for i in range(k):
            size = n // k + (1 if i < n % k else 0)
            out[i] = T.slice(a, dim, at, at + size, 1)
            at += size
            PyErr_CheckSignals()
        return tuple(out)
    for end in (*where, n):
        out.append(T.slice(a, dim, at, end, 1))
        at = end
    return tuple(out)


# --- writing a slice ------------------------------------------------------------------------

cdef Tensor with_slice(Tensor a, Tensor src, Tensor scattered, Tensor mask):
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
    return with_slice(a, src, T._diagonal_backward(src, size, offset, dim1, dim2),
                      T._diagonal_backward(filled(a.dt, dims_of(src), 1), size, offset, dim1, dim2))


cdef Tensor select_scatter(Tensor a, Tensor src, Py_ssize_t dim, Py_ssize_t index):
    cdef tuple size = dims_of(a)
    src = slice_source(src, T.select(T.detach(a), dim, index))
    return with_slice(a, src, T._select_backward(src, size, dim, index),
                      T._select_backward(filled(a.dt, dims_of(src), 1), size, dim, index))


cdef Tensor slice_scatter(Tensor a, Tensor src, Py_ssize_t dim, object start, object end,
                          Py_ssize_t step):
    cdef tuple size = dims_of(a)
    src = slice_source(src, T.slice(T.detach(a), dim, start, end, step))
    return with_slice(a, src, T._slice_backward(src, size, dim, start, end, step),
                      T._slice_backward(filled(a.dt, dims_of(src), 1), size, dim, start, end, step))


# --- diagonals ------------------------------------------------------------------------------

cdef Tensor diag_embed(Tensor a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2):
    cdef Py_ssize_t n, nd = a.nd + 1
    cdef list size
    if a.nd == 0:
        raise RuntimeError("diag_embed: expected at least one dimension")
    n = checked_add(a.sizes[a.nd - 1],
                    offset if offset >= 0 else checked_sub(0, offset, "diag_embed"), "diag_embed")
    dim1 = normal_dim(dim1, nd)
    dim2 = normal_dim(dim2, nd)
    if dim1 == dim2:
        raise RuntimeError(f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = list(dims_of(a)[:a.nd - 1])
    for d in sorted((dim1, dim2)):
        size.insert(d, n)
    return T._diagonal_backward(a, tuple(size), offset, dim1, dim2)


cdef Tensor diag(Tensor a, Py_ssize_t diagonal):
    if a.nd == 1:
        return diag_embed(a, diagonal, 0, 1)
    if a.nd != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {a.nd}D")
    return T.clone(T.diagonal(a, diagonal, 0, 1), -1)


cdef Tensor trace(Tensor a):
    if a.nd != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.nd}")
    return T.sum(T.diagonal(a, 0, 0, 1), -1)


# --- indices and masks ----------------------------------------------------------------------

cdef Tensor as_positions(Tensor index, str op):
    """An index tensor as int64, or as mask."""
    if index.dt == DT_BOOL or index.dt == DT_I64:
        return index
    if index.dt == DT_U8:
        return T.ne(index, wrap_int(0))
    if not dt_is_integral(index.dt):
        raise IndexError(f"{op}: tensors used as indices must be long, int, byte or bool tensors, "
                         f"not {dt_object(index.dt).name}")
    return T._to_dtype(index, DT_I64)


cdef tuple positions(object indices, str op):
    return tuple([None if x is None else as_positions(<Tensor>x, op) for x in indices])


cdef int same_dtype(Tensor a, Tensor b, str op) except -1:
    if a.dt != b.dt:
        raise RuntimeError(
            f"{op}: requires the source and destination dtypes match, got "
            f"{dt_object(a.dt).name} for the destination and {dt_object(b.dt).name} for the "
            "source.")
    return 0


cdef Tensor values_to_put(Tensor a, tuple places, Tensor values, bint accumulate):
    """The values of index_put in the dtype of `a`: one for a mask is a number, others have it."""
    if values.dt == a.dt:
        return values
    given = [x for x in places if x is not None]
    if (values.count == 1 and not accumulate and len(given) == 1
            and (<Tensor>given[0]).dt == DT_BOOL):
        return T._to_dtype(values, a.dt)
    raise RuntimeError(
        "Index put requires the source and destination dtypes match, got "
        f"{dt_object(a.dt).name} for the destination and {dt_object(values.dt).name} for the "
        "source.")


cdef Tensor index_put(Tensor a, object indices, Tensor values, bint accumulate):
    cdef tuple places = positions(indices, "index_put")
    return T._index_put(a, places, values_to_put(a, places, values, accumulate), accumulate)


cdef Tensor index_copy(Tensor a, Py_ssize_t dim, Tensor index, Tensor source):
    cdef Py_ssize_t d = normal_dim(dim, a.nd), n
    cdef tuple size
    same_dtype(a, source, "index_copy_()")
    if index.nd > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.nd})")
    if index.dt != DT_I64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got "
                           f"{dt_object(index.dt).name}")
    if a.nd == 0:
        return T.reshape(index_copy(T.reshape(a, (1,)), 0, T.reshape(index, (-1,)),
                                    T.reshape(source, (-1,))), ())
    index = T.reshape(index, (-1,))
    if source.nd != a.nd:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.nd}), destination dimensionality ({a.nd})")
    n = source.sizes[d]
    if index.count != n:
        raise IndexError(f"index_copy_(): Number of indices ({index.count}) should be equal to "
                         f"source.size(dim) ({n})")
    size = dims_of(a)
    if replaced(size, d, n) != dims_of(source):
        raise RuntimeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"shape: {list(size)} at dimension {d} and source shape: {list(sizes_of(source))}")
    index = T.reshape(index, (1,) * d + (n,) + (1,) * (a.nd - 1 - d))
    return T.scatter_src(a, d, T.expand(index, dims_of(source)), source)


cdef Tensor index_fill(Tensor a, Py_ssize_t dim, Tensor index, Tensor value):
    cdef Py_ssize_t d = normal_dim(dim, a.nd), n
    cdef Tensor mask, every
    if value.nd:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.nd} dimension(s).")
    if index.dt != DT_I64 or index.nd > 1:
        raise IndexError("index_fill_(): Expected dtype int64 for index, of at most one dimension, "
                         f"but got {dt_object(index.dt).name} {list(sizes_of(index))}")
    n = a.sizes[d] if a.nd else 1
    index = T.reshape(index, (-1,))
    if index.flags & F_BATCHED:
        # Which of 0..n-1 an example's index has; negative ones count from the end.
        every = T.unsqueeze(index_vector(list(range(n))), 1)
        mask = T.any(T.logical_or(T.eq(every, index), T.eq(T.sub(every, wrap_int(n)), index)), 1,
                     False)
    else:
        mask = T._index_put(filled(DT_BOOL, (n,), False), (index,), filled(DT_BOOL, (), True),
                            False)
    mask = T.reshape(mask, (1,) * d + (n,) + (1,) * (a.nd - 1 - d) if a.nd else ())
    return T.where(mask, value_like(value, a), a)


cdef Tensor masked_scatter(Tensor a, Tensor mask, Tensor source):
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t n
    cdef int nd, d
    cdef tuple shape
    if mask.dt != DT_BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{dt_object(mask.dt).name}")
    if a.dt != source.dt:
        raise RuntimeError(
            f"masked_scatter_: expected self and source to have same dtypes but got "
            f"{dt_object(a.dt).name} and {dt_object(source.dt).name}")
    if (mask.flags | source.flags) & F_BATCHED:
        raise RuntimeError("vmap: masked_scatter is not possible with a batched mask or source, "
                           "whose examples take different numbers of elements; use where()")
    nd = broadcast_shape((a, mask), sizes, "masked_scatter")
    shape = tuple([sizes[d] for d in range(nd)])
    mask = T.expand(mask, shape)
    n = scalar_value(T.sum(mask, -1))
    if source.count < n:
        raise RuntimeError("masked_scatter_: Number of elements of source < number of ones in mask "
                           f"({source.count} < {n})")
    return T._index_put(T.expand(a, shape), (mask,),
                        T.slice(T.reshape(source, (-1,)), 0, 0, n, 1), False)


cdef Tensor take(Tensor a, Tensor index):
    if index.dt != DT_I64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got "
                           f"{dt_object(index.dt).name}")
    return T._index(T.reshape(a, (-1,)), (index,))      # counts negative indices from the end


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
    cdef tuple places = positions(indices_arg(indices, "index_put_", "indices", 1), "index_put_")
    cdef bint added = bool_arg(accumulate, "index_put_", "accumulate", 3)
    return T._index_put_(self, places, values_to_put(self, places, v, added), added)


install(Tensor, "index_put_", index_put_)


# --- values ---------------------------------------------------------------------------------

cdef Tensor nan_to_num(Tensor a, object nan, object posinf, object neginf):
    """Limits of the dtype stand for infinities, zero for NaN, where nothing else is given."""
    cdef Tensor r
    if dt_is_integral(a.dt):
        return T.clone(a, -1)
    if dt_is_complex(a.dt):
        raise RuntimeError("nan_to_num: not implemented for complex tensors; convert their parts")
    limits = _finfo(dt_object(a.dt))
    r = T.where(T.ne(a, a), wrap_number(0.0 if nan is None else nan), a)   # only NaN differs
    r = T.where(T.eq(a, wrap_double(float("inf"))),
                wrap_number(limits.max if posinf is None else posinf), r)
    return T.where(T.eq(a, wrap_double(float("-inf"))),
                   wrap_number(limits.min if neginf is None else neginf), r)


cdef Tensor cumprod(Tensor a, Py_ssize_t dim, int dt):
    """Running products in log2(n) steps; made of products, so zeros differentiate like the rest."""
    cdef Py_ssize_t n, step = 1
    cdef int out, wide
    dim = normal_dim(dim, a.nd)
    if dt < 0 and dt_is_integral(a.dt):
        dt = DT_I64
    out = a.dt if dt < 0 else dt
    # Partial products may overflow, or vanish, and still be factors of a number that doesn't.
    if out == DT_F16 or out == DT_BF16:
        return T._to_dtype(cumprod(T._to_dtype(a, DT_F32), dim, -1), out)
    if out == DT_F32 or out == DT_C64:
        wide = DT_F64 if out == DT_F32 else DT_C128
        return T._to_dtype(cumprod(T._to_dtype(T._to_dtype(a, out), wide), dim, -1), out)
    a = T._to_dtype(a, dt) if dt >= 0 and dt != a.dt else T.clone(a, -1)
    n = a.sizes[dim] if a.nd else 1
    while step < n:
        a = T.cat((T.narrow(a, dim, 0, step),
                   T.mul(T.narrow(a, dim, step, n - step), T.narrow(a, dim, 0, n - step))), dim)
        step *= 2
    return a


cdef Tensor product_of_others(Tensor a, object dim):
    """For each element the product of all others along a dimension (None: of the tensor)."""
    cdef Tensor one, before, after, r, zeros
    cdef Py_ssize_t d, n
    if dim is None:
        return T.reshape(product_of_others(T.reshape(a, (-1,)), 0), dims_of(a))
    if a.nd == 0:
        return T.ones_like(a)
    d = normal_dim(dim, a.nd)
    n = a.sizes[d]
    if n == 0:
        return a
    one = T.ones_like(T.detach(T.narrow(a, d, 0, 1)))
    before = T.cat((one, cumprod(T.narrow(a, d, 0, n - 1), d, -1)), d)
    after = T.cat((one, cumprod(T.flip(T.narrow(a, d, 1, n - 1), (d,)), d, -1)), d)
    r = T.mul(before, T.flip(after, (d,)))
    # Beside two zeros there is nothing, not even of infinity.
    zeros = T.sum_dim(T.eq(a, wrap_int(0)), d, True, -1)
    return T.where(T.logical_and(T.gt(zeros, wrap_int(1)), T.ne(r, r)), wrap_int(0), r)


cdef Tensor safe_sqrt(Tensor v):
    cdef Tensor none = T.eq(v, wrap_int(0))
    return T.where(none, wrap_int(0), T.sqrt(T.where(none, wrap_int(1), v)))


cdef Tensor norm(Tensor a, object p, object dim, bint keepdim, int dt):
    """The p-norm of the elements over dimensions (all, if None)."""
    cdef Tensor size
    cdef double order
    cdef int half
    if dt >= 0 and dt != a.dt:
        a = T._to_dtype(a, dt)
    if dt_is_integral(a.dt):
        raise RuntimeError(
            f"norm: expected a floating point or complex tensor as input. Got "
            f"{dt_object(a.dt).name}")
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: order {p!r} is not supported; use a number or 'fro'")
    order = 2.0 if p is None or p == "fro" else float(p)
    if a.dt in (DT_F16, DT_BF16) and order not in (1.0, float("inf"), float("-inf")):
        half = a.dt          # powers may be out of their range
        return T._to_dtype(norm(T._to_dtype(a, DT_F32), order, dim, keepdim, -1), half)
    if order == 2.0:
        size = T.real(T.mul(a, T.conj(a))) if dt_is_complex(a.dt) else T.mul(a, a)
        return safe_sqrt(T.sum_dim(size, dim, keepdim, -1))
    size = T.abs(a)
    if order == 0.0:
        # The derivative is zero: that of ceil, which is kept where there is nothing to count.
        size = T.where(T.ne(size, wrap_int(0)), wrap_int(1), T.ceil(size))
        return T.sum_dim(size, dim, keepdim, -1)
    if order == 1.0:
        return T.sum_dim(size, dim, keepdim, -1)
    if order == float("inf"):
        return T.amax(size, dim, keepdim)
    if order == float("-inf"):
        return T.amin(size, dim, keepdim)
    # Elements of 0, and a norm of 0, add nothing to the derivative: the powers see a 1 there.
    size = power_from(size, order, 0.0 if order > 0.0 else float("inf"))
    return power_from(T.sum_dim(size, dim, keepdim, -1), 1.0 / order, 0.0 if order > 0.0 else None)


cdef Tensor power_from(Tensor a, double exponent, object at_zero):
    """``a ** exponent`` with a constant where `a` is 0, if one is given."""
    cdef Tensor none
    if at_zero is None:
        return T.pow(a, wrap_double(exponent))
    none = T.eq(a, wrap_int(0))
    return T.where(none, wrap_double(at_zero),
                   T.pow(T.where(none, wrap_int(1), a), wrap_double(exponent)))


cdef Tensor diff(Tensor a, Py_ssize_t n, Py_ssize_t dim, Tensor prepend, Tensor append):
    cdef Py_ssize_t d, size, _i
    cdef list parts
    if a.nd == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = normal_dim(dim, a.nd)
    parts = [t for t in (prepend, a, append) if t is not None]
    if len(parts) > 1:
        a = T.cat(tuple(parts), d)
    for _i in range(n):
        size = a.sizes[d]
        if size == 0:
            break
        a = (T.logical_xor if a.dt == DT_BOOL else T.sub)(T.narrow(a, d, 1, size - 1),
                                                          T.narrow(a, d, 0, size - 1))
    return a if n else T.clone(a, -1)


# --- products -------------------------------------------------------------------------------

cdef Tensor outer(Tensor a, Tensor b):
    if a.nd != 1 or b.nd != 1:
        which = "self" if a.nd != 1 else "vec2"
        raise RuntimeError(f"outer: Expected 1-D argument {which}, but got "
                           f"{a.nd if a.nd != 1 else b.nd}-D")
    return T.mul(T.unsqueeze(a, 1), b)


cdef Tensor kron(Tensor a, Tensor b):
    cdef Py_ssize_t nd = max(a.nd, b.nd)
    cdef tuple left = (1,) * (nd - a.nd) + dims_of(a), right = (1,) * (nd - b.nd) + dims_of(b)
    cdef list x = [], y = [], out = []
    for n, m in zip(left, right):
        x += [n, 1]
        y += [1, m]
        out.append(n * m)
    return T.reshape(T.mul(T.reshape(a, tuple(x)), T.reshape(b, tuple(y))), tuple(out))


cdef Tensor cross(Tensor a, Tensor b, object dim):
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t d
    cdef int nd, i
    cdef tuple shape
    nd = broadcast_shape((a, b), sizes, "cross")
    shape = tuple([sizes[i] for i in range(nd)])
    a = T.expand(a, shape)
    b = T.expand(b, shape)
    if dim is None:
        if 3 not in shape:
            raise RuntimeError("cross: no dimension of size 3 in input")
        d = shape.index(3)
    else:
        d = normal_dim(dim, nd)
    if not nd or shape[d] != 3:
        raise RuntimeError(f"cross: dimension {d} does not have size 3 (shape {list(shape)})")
    return T.sub(T.mul(roll(a, (-1,), (d,)), roll(b, (-2,), (d,))),
                 T.mul(roll(a, (-2,), (d,)), roll(b, (-1,), (d,))))


cdef Tensor affine(Tensor a, Tensor product, Tensor beta, Tensor alpha):
    """beta * a + alpha * product; with beta 0 the values of `a` don't count, NaN neither."""
    factor_fits(beta, product.dt)
    factor_fits(alpha, product.dt)
    if scalar_value(alpha) != 1:
        product = T.mul(product, alpha)
    if scalar_value(beta) == 0:
        return product
    if scalar_value(beta) != 1:
        a = T.mul(a, beta)
    return T.add(a, product)


cdef int need_dims(Tensor t, int nd, str op, str name) except -1:
    if t.nd != nd:
        raise RuntimeError(f"{op}: expected {name} to be {nd}-D, but got {t.nd}-D (shape "
                           f"{list(sizes_of(t))})")
    return 0


cdef bint halves(Tensor a, Tensor b, Tensor c):
    """Whether all have one half type: what is between the product and the sum is float32 then."""
    return a.dt in (DT_F16, DT_BF16) and a.dt == b.dt == c.dt


cdef Tensor single(Tensor a):
    return T._to_dtype(a, DT_F32)


cdef Tensor addmv(Tensor a, Tensor mat, Tensor vec, Tensor beta, Tensor alpha):
    need_dims(mat, 2, "addmv", "mat")
    need_dims(vec, 1, "addmv", "vec")
    if halves(a, mat, vec):
        return T._to_dtype(addmv(single(a), single(mat), single(vec), beta, alpha), a.dt)
    return affine(a, T.mv(mat, vec), beta, alpha)


cdef Tensor addr(Tensor a, Tensor vec1, Tensor vec2, Tensor beta, Tensor alpha):
    cdef Tensor product
    if halves(a, vec1, vec2):
        return T._to_dtype(addr(single(a), single(vec1), single(vec2), beta, alpha), a.dt)
    product = outer(vec1, vec2)
    if dt_is_integral(product.dt) and not (dt_is_integral(beta.dt) and dt_is_integral(alpha.dt)):
        which = "alpha" if dt_is_integral(beta.dt) else "beta"
        raise RuntimeError(f"addr: For integral input tensors, argument {which} must not be a "
                           "floating point number.")
    if product.dt == DT_BOOL and a.dt == DT_BOOL:
        beta = T.ne(beta, wrap_int(0))
        alpha = T.ne(alpha, wrap_int(0))
        return T.logical_or(T.logical_and(a, beta), T.logical_and(product, alpha))
    return affine(a, product, beta, alpha)


cdef Tensor baddbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha):
    need_dims(batch1, 3, "baddbmm", "batch1")
    need_dims(batch2, 3, "baddbmm", "batch2")
    if halves(a, batch1, batch2):
        return T._to_dtype(baddbmm(single(a), single(batch1), single(batch2), beta, alpha), a.dt)
    return affine(a, T.bmm(batch1, batch2), beta, alpha)


cdef Tensor addbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha):
    need_dims(batch1, 3, "addbmm", "batch1")
    need_dims(batch2, 3, "addbmm", "batch2")
    if halves(a, batch1, batch2):
        return T._to_dtype(addbmm(single(a), single(batch1), single(batch2), beta, alpha), a.dt)
    return affine(a, T.sum_dim(T.bmm(batch1, batch2), 0, False, batch1.dt), beta, alpha)
