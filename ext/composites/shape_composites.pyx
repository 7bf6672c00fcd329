# cython: language_level=3
"""Composites of the family shape: records in autograd_cy/ops/shape.py name them."""
from autograd_cy._C.arguments cimport int_arg, tensor_arg
from autograd_cy._C.checked cimport checked_add, checked_sub
from autograd_cy._C.constants cimport counted
from autograd_cy._C.dtypes cimport dt_is_integral, dt_scalar_name
from autograd_cy._C.iterate cimport check_writable, copy_into, fill_with, resize_out, to_device
from autograd_cy._C.metadata cimport is_whole, replaced, resolve_shape, viewable
from autograd_cy._C.out_places cimport apart
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, dims_of, missing_dim, normal_dim, scalar_value, sizes_of, F_BATCHED,
    F_STRIDED)
include "operators_of_shape_composites.pxi"


cdef Tensor reshape(Tensor a, tuple shape):
    if not a.flags & (F_STRIDED | F_BATCHED) and is_whole(a, shape):
        return T.view(a, shape)
    shape = resolve_shape(a, shape, "reshape")
    # A wrapper of vmap has the strides of one example, and these decide for all.
    if viewable(a, shape):
        return T.view(a, shape)
    return T._unsafe_view(T.clone(a, 0), shape)     # no view: others show none of it


cdef Tensor ravel(Tensor a):
    """One dimension of contiguous memory."""
    if a.flags & F_STRIDED:
        a = T.clone(a, 0)
    return reshape(a, (-1,))


cdef Tensor flatten(Tensor a, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t n = 1, d
    cdef list shape
    if a.nd == 0:
        normal_dim(start, 0)
        normal_dim(end, 0)
        return T.reshape(a, (1,))
    start = normal_dim(start, a.nd)
    end = normal_dim(end, a.nd)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return a
    shape = [a.sizes[d] for d in range(start)]
    for d in range(start, end + 1):
        n *= a.sizes[d]
    shape.append(n)
    shape += [a.sizes[d] for d in range(end + 1, a.nd)]
    return T.reshape(a, tuple(shape))


cdef tuple distinct_dims(tuple dims, int nd, str side):
    """The dimensions that `movedim` moves, or their new places, each once."""
    cdef list places = [normal_dim(d, nd) for d in dims]
    if len(set(places)) != len(places):
        raise RuntimeError(f"movedim: repeated dim in `{side}` ({list(dims)})")
    return tuple(places)


cdef Tensor movedim(Tensor a, object source, object destination):
    cdef tuple src = (source,) if isinstance(source, int) else tuple(source)
    cdef tuple dst = (destination,) if isinstance(destination, int) else tuple(destination)
    cdef list order
    if isinstance(source, int) != isinstance(destination, int):
        raise TypeError(
            "movedim() received an invalid combination of arguments: source and destination must "
            f"be two ints or two sequences of ints, not {source} and {destination}")
    if len(src) != len(dst):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(src)} dims) should "
            f"contain the same number of dims as destination ({list(dst)} dims)")
    src, dst = distinct_dims(src, a.nd, "source"), distinct_dims(dst, a.nd, "destination")
    if a.nd == 0:
        return T.permute(a, ())
    order = [d for d in range(a.nd) if d not in src]
    for d, s in sorted(zip(dst, src)):
        order.insert(d, s)
    return T.permute(a, tuple(order))


cdef tuple whole_size(Tensor a, tuple size):
    """`size` with the batch of `a`; no examples don't tell what -1 means."""
    cdef Py_ssize_t n = 1, known = 1, d
    if a.sizes[0] == 0 and -1 in size:
        for d in range(1, a.nd):
            n *= a.sizes[d]
        for d in size:
            if d != -1:
                known *= d
        if known > 0 and n % known == 0:
            size = tuple([n // known if d == -1 else d for d in size])
    return (a.sizes[0],) + size


cdef Tensor view_each(Tensor a, tuple size):
    return T.view(a, whole_size(a, size))


cdef Tensor reshape_each(Tensor a, tuple size):
    return T.reshape(a, whole_size(a, size))


cdef Tensor insert_dims(Tensor a, Py_ssize_t ndim):
    while a.nd < ndim + 1:
        a = T.unsqueeze(a, 1)
    return a


cdef Tensor trailing_dims(Tensor a, Py_ssize_t ndim):
    while a.nd < ndim:
        a = T.unsqueeze(a, -1)
    return a


cdef Tensor up_to_2d(Tensor a):
    if a.nd > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {a.nd}D")
    return a


cdef Tensor dense_window(Tensor grad, tuple size, tuple stride, object storage_offset):
    return T.as_strided(T.clone(grad, -1), size, stride, 0 if storage_offset is None
                        else storage_offset)


cdef Tensor unflatten(Tensor a, Py_ssize_t dim, tuple sizes):
    cdef Py_ssize_t n
    cdef object known = 1       # perhaps beyond 64 bits
    cdef tuple shape = dims_of(a)
    dim = normal_dim(dim, a.nd)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if a.nd == 0:
        raise RuntimeError("unflatten: a tensor without dimensions has none to split")
    n = shape[dim]
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
    cdef Tensor counts
    cdef Py_ssize_t d, n, k
    cdef tuple shape
    if dim is None:
        a = T.reshape(a, (-1,))
        dim = 0
    elif a.nd == 0:
        raise IndexError(
            f"repeat_interleave: Dimension specified as {dim} but tensor has no dimensions")
    d = normal_dim(dim, a.nd)
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
        raise (RuntimeError if counts.nd > 1 else NotImplementedError)(
            "repeat_interleave: repeats must be 0-dim or 1-dim tensor of integers, not of "
            f"{dt_scalar_name(counts.dt)} and shape {list(sizes_of(counts))}")
    if counts.count != n:
        raise RuntimeError(
            f"repeat_interleave: repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {counts.count} and input.size({d}) = {n}")
    return T.index_select(a, d, on_device_of(a, T._repeated_places(counts, output_size)))


cdef Tensor on_device_of(Tensor a, Tensor places):
    """Places that counts on the CPU gave, beside a tensor of another device."""
    return to_device(places, a.mem.device) if places.mem.device != a.mem.device else places


cdef Tensor repeat_counts(Tensor repeats, object output_size):
    cdef Tensor numbers
    if repeats.nd != 1:
        raise RuntimeError("repeat_interleave: repeats alone must be a 1-dim tensor, got shape "
                           f"{list(sizes_of(repeats))}")
    numbers = counted(repeats.mem.device, repeats.sizes[0], 1)
    return T._to_dtype(repeat_interleave(numbers, repeats, 0, output_size), repeats.dt)


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
        n = a.sizes[d]
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


cdef Tensor diag_embed(Tensor a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2):
    cdef Py_ssize_t n, nd = a.nd + 1
    cdef list size
    if a.nd == 0:
        raise missing_dim(-2, 0, "diag_embed: expected at least one dimension")
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


cdef int out_like_diagonal(Tensor out, Tensor a, Py_ssize_t offset) except -1:
    """Make `out` the matrix with a vector on a diagonal."""
    cdef Py_ssize_t n = checked_add(
        a.sizes[0], offset if offset >= 0 else checked_sub(0, offset, "diag"), "diag")
    cdef Py_ssize_t[2] sizes = [n, n]
    resize_out(out, 2, sizes, "diag")
    check_writable(out, "diag")
    fill_with(out, 0)  # of any strides
    copy_into(T.diagonal(T.detach(out), offset, 0, 1), a, "diag")
    bump_version(out)
    return 0


cdef Tensor diag(Tensor a, Py_ssize_t diagonal, Tensor out):
    cdef Tensor line
    cdef bint fits = apart(out, a.dt, a)
    if a.nd == 1:
        if fits:
            out_like_diagonal(out, a, diagonal)
            return out
        return diag_embed(a, diagonal, 0, 1)
    if a.nd != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {a.nd}D")
    line = T.diagonal(a, diagonal, 0, 1)
    if not fits:
        return T.clone(line, -1)
    resize_out(out, 1, line.sizes, "diag")
    copy_into(out, line, "diag")
    bump_version(out)
    return out
