# cython: language_level=3
# build: plain hot
"""Views and rearranging copies of plain tensors; records in autograd_cy/ops/shape.py use them."""
from cpython.exc cimport PyErr_CheckSignals
from autograd_cy._C.checked cimport window_bytes
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_real, dt_scalar_name, dt_to_complex, DT_BOOL, DT_F32, DT_F64, DT_SIZE)
from autograd_cy._C.metadata cimport normal_dims, resolve_shape, view_strides
from autograd_cy._C.tensor cimport normal_dim
from autograd_cy._C.iterate cimport (
    run_loop, expand_plain, copy_into, add_into, clear, clone_plain, clone_format, cast,
    fill_with, to_device_by, ew2, P_SAME)
from autograd_cy._C.kernel_table cimport KT, kernel_number
from autograd_cy._C.placement cimport MF_PRESERVE, MF_CONTIGUOUS
from autograd_cy._C.storage cimport StorageImpl, storage_alias, storage_decref
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, F_STRIDED, F_DEVICE, F_INFERENCE, F_CONJ, F_NEG, F_RAW, F_TURNED,
    tensor_turned, mark_raw, tensor_window, tensor_on, tensor_alias,
    tensor_empty_like, tensor_empty_on, tensor_has_overlap, sizes_of)

cdef int K_COPY = kernel_number("copy")
cdef int K_DIV = kernel_number("div")


cdef int fill_sizes(tuple size, Py_ssize_t* out) except -1:
    cdef int i, n = <int>len(size)
    if n > MAX_DIMS:
        raise RuntimeError(f"a tensor has at most {MAX_DIMS} dimensions, not {n}")
    for i in range(n):
        out[i] = size[i]
    return n


cdef Tensor view_plain(Tensor a, tuple size):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int n, d
    cdef Py_ssize_t seen
    if not (a.flags & F_STRIDED) and len(size) <= MAX_DIMS:
        # Contiguous, and every size given: nothing to work out.
        n = <int>len(size)
        seen = 1
        for d in range(n):
            shape[d] = size[d]
            if shape[d] < 0 or (shape[d] > 1 and seen > a.count):
                break
            seen *= shape[d]
        else:
            if seen == a.count:
                return tensor_window(a, n, shape, NULL, 0)
    size = resolve_shape(a, size, "view")
    n = fill_sizes(size, shape)
    if not (a.flags & F_STRIDED):
        return tensor_window(a, n, shape, NULL, 0)
    if not view_strides(a, n, shape, strides):
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride (at least one "
            f"dimension spans across two contiguous subspaces). Use .reshape(...) instead. view: "
            f"{list(sizes_of(a))} with strides {[a.strides[d] for d in range(a.nd)]} as "
            f"{list(size)}")
    return tensor_window(a, n, shape, strides, 0)


cdef Tensor expand_sizes(Tensor a, tuple size):
    cdef Py_ssize_t[MAX_DIMS] shape
    return expand_plain(a, fill_sizes(size, shape), shape, "expand")


cdef Tensor t_plain(Tensor a):
    """The transpose of a matrix; a vector or a number as it is."""
    return transpose_plain(a, 0, 1) if a.nd == 2 else tensor_alias(a)


cdef Tensor transpose_plain(Tensor a, Py_ssize_t dim0, Py_ssize_t dim1):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    dim0 = normal_dim(dim0, a.nd)
    dim1 = normal_dim(dim1, a.nd)
    if a.nd == 0:
        return tensor_alias(a)
    for d in range(a.nd):
        shape[d] = a.sizes[d]
        strides[d] = a.strides[d]
    shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
    strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return tensor_window(a, a.nd, shape, strides, 0)


cdef Tensor permute_plain(Tensor a, tuple dims):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef bint[MAX_DIMS] seen
    cdef Py_ssize_t s
    cdef int d
    if len(dims) != a.nd:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {a.nd} is not equal "
            f"to len(dims) = {len(dims)}")
    for d in range(a.nd):
        seen[d] = False
    for d in range(a.nd):
        s = normal_dim(dims[d], a.nd)
        if seen[s]:
            raise RuntimeError(f"permute(): duplicate dims are not allowed, got {list(dims)}")
        seen[s] = True
        shape[d] = a.sizes[s]
        strides[d] = a.strides[s]
    return tensor_window(a, a.nd, shape, strides, 0)


cdef Tensor slice_plain(Tensor a, Py_ssize_t dim, object start, object end, Py_ssize_t step):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t lo, hi, n
    cdef int d
    if a.nd == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, not {step}")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    lo = 0 if start is None else start
    hi = n if end is None else end
    if lo < 0:
        lo = max(lo + n, 0)
    if hi < 0:
        hi += n
    lo = min(lo, n)
    hi = min(max(hi, lo), n)
    for d in range(a.nd):
        shape[d] = a.sizes[d]
        strides[d] = a.strides[d]
    shape[dim] = (hi - lo - 1) // step + 1 if hi > lo else 0
    strides[dim] = a.strides[dim] * step
    return tensor_window(a, a.nd, shape, strides, lo * a.strides[dim])


cdef Tensor narrow_plain(Tensor a, Py_ssize_t dim, Py_ssize_t start, Py_ssize_t length):
    cdef Py_ssize_t n
    if a.nd == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start < -n or start > n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got "
                         f"{start})")
    if start < 0:
        start += n
    if length > n - start:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return slice_plain(a, dim, start, start + length, 1)


cdef Tensor select_plain(Tensor a, Py_ssize_t dim, Py_ssize_t index):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, n = 0
    if a.nd == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = normal_dim(dim, a.nd)
    if index < -a.sizes[dim] or index >= a.sizes[dim]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(sizes_of(a))} at "
            f"dimension {dim}")
    if index < 0:
        index += a.sizes[dim]
    for d in range(a.nd):
        if d != dim:
            shape[n] = a.sizes[d]
            strides[n] = a.strides[d]
            n += 1
    return tensor_window(a, n, shape, strides, index * a.strides[dim])


cdef Tensor squeeze_all_plain(Tensor a):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, n = 0
    for d in range(a.nd):
        if a.sizes[d] != 1:
            shape[n] = a.sizes[d]
            strides[n] = a.strides[d]
            n += 1
    return tensor_window(a, n, shape, strides, 0)


cdef Tensor squeeze_plain(Tensor a, object dims):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef tuple drop = normal_dims(dims, a.nd) if not (isinstance(dims, tuple) and not dims) else ()
    cdef int d, n = 0
    for d in range(a.nd):
        if a.sizes[d] != 1 or d not in drop:
            shape[n] = a.sizes[d]
            strides[n] = a.strides[d]
            n += 1
    return tensor_window(a, n, shape, strides, 0)


cdef Tensor unsqueeze_plain(Tensor a, Py_ssize_t dim):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    if a.nd >= MAX_DIMS:
        raise RuntimeError(f"a tensor has at most {MAX_DIMS} dimensions")
    dim = normal_dim(dim, a.nd + 1)
    for d in range(a.nd):
        shape[d + (d >= dim)] = a.sizes[d]
        strides[d + (d >= dim)] = a.strides[d]
    shape[dim] = 1
    strides[dim] = a.sizes[dim] * a.strides[dim] if dim < a.nd else 1
    return tensor_window(a, a.nd + 1, shape, strides, 0)


cdef int check_window(Tensor a, tuple size, tuple stride, Py_ssize_t offset, str op) except -1:
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t needed
    if len(size) != len(stride):
        raise RuntimeError(
            f"{op}: mismatch in length of strides and shape ({list(stride)} and {list(size)})")
    for n, s in zip(size, stride):
        if n < 0 or s < 0:
            raise RuntimeError(
                f"{op}: sizes and strides must not be negative (size {list(size)}, stride "
                f"{list(stride)})")
    if offset < 0:
        raise RuntimeError(f"{op}: Tensor: invalid storage offset {offset}")
    fill_sizes(stride, strides)
    needed = window_bytes(fill_sizes(size, shape), shape, strides, offset, DT_SIZE[a.dt])
    if needed > a.mem.nbytes:
        raise RuntimeError(
            f"{op}: setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
            f"{offset} require a storage size of {needed} bytes, which is out of bounds for "
            f"storage of size {a.mem.nbytes}")
    return 0


cdef Tensor as_strided_plain(Tensor a, tuple size, tuple stride, object storage_offset):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t here = (a.ptr - a.mem.data) // DT_SIZE[a.dt]
    cdef Py_ssize_t offset = here if storage_offset is None else storage_offset
    check_window(a, size, stride, offset, "as_strided")
    fill_sizes(stride, strides)
    if 0 in size and offset > a.mem.nbytes // DT_SIZE[a.dt]:
        offset = here           # it shows nothing, and no address shall lie outside of memory
    return tensor_window(a, fill_sizes(size, shape), shape, strides, offset - here)


cdef Tensor diagonal_plain(Tensor a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t start, n1, n2
    cdef int d, n = 0
    dim1 = normal_dim(dim1, a.nd)
    dim2 = normal_dim(dim2, a.nd)
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n1 = a.sizes[dim1]
    n2 = a.sizes[dim2]
    if offset >= 0:
        n2 = max(n2 - offset, 0)
        start = offset * a.strides[dim2]
    else:
        n1 = max(n1 + offset, 0)
        start = -offset * a.strides[dim1]
    for d in range(a.nd):
        if d != dim1 and d != dim2:
            shape[n] = a.sizes[d]
            strides[n] = a.strides[d]
            n += 1
    shape[n] = min(n1, n2)
    strides[n] = a.strides[dim1] + a.strides[dim2]
    return tensor_window(a, n + 1, shape, strides, start if shape[n] else 0)


cdef tuple unbind_plain(Tensor a, Py_ssize_t dim):
    cdef list out
    cdef Py_ssize_t i
    if a.nd == 0:
        raise IndexError("unbind(): Dimension specified as 0 but tensor has no dimensions")
    dim = normal_dim(dim, a.nd)
    out = [None] * a.sizes[dim]         # pieces beyond all memory are refused at once
    for i in range(a.sizes[dim]):
        if i & 0x3fff == 0x3fff:
            PyErr_CheckSignals()        # millions of pieces can be interrupted
        out[i] = select_plain(a, dim, i)
    return tuple(out)


cdef tuple split_plain(Tensor a, tuple sizes, Py_ssize_t dim):
    cdef list out = []
    cdef Py_ssize_t at = 0, n
    for size in sizes:
        if len(out) & 0x3fff == 0x3fff:
            PyErr_CheckSignals()
        n = size
        out.append(slice_plain(a, dim, at, at + n, 1))
        at += n
    return tuple(out)


cdef tuple split_with_sizes_plain(Tensor a, tuple sizes, Py_ssize_t dim):
    cdef Py_ssize_t n
    if a.nd == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if min(sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}")
    if sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(sizes)}")
    return split_plain(a, sizes, dim)


cdef tuple of_their_own(tuple pieces):
    """The pieces with version counters of their own: a change of one isn't noticed by another."""
    cdef Tensor t
    cdef StorageImpl* s
    cdef Py_ssize_t i
    for i in range(len(pieces)):
        if i & 0x3fff == 0x3fff:
            PyErr_CheckSignals()
        t = <Tensor>pieces[i]
        s = t.mem
        t.mem = storage_alias(s)
        storage_decref(s)
    return pieces


cdef tuple unsafe_split_plain(Tensor a, tuple sizes, Py_ssize_t dim):
    return of_their_own(split_plain(a, sizes, dim))


cdef tuple unsafe_split_with_sizes_plain(Tensor a, tuple sizes, Py_ssize_t dim):
    return of_their_own(split_with_sizes_plain(a, sizes, dim))


cdef Tensor alias_plain(Tensor a):
    return tensor_window(a, a.nd, a.sizes, a.strides, 0)


cdef Tensor conj_plain(Tensor a):
    """The conjugate as a view: the same memory, read with the other sign of imaginary parts."""
    if not dt_is_complex(a.dt):
        raise RuntimeError(f"conj: not implemented as a view of a tensor of dtype "
                           f"{dt_scalar_name(a.dt)}; a real tensor is its own conjugate")
    return tensor_turned(a, F_CONJ)


cdef Tensor neg_plain(Tensor a):
    """The negative as a view."""
    if a.dt == DT_BOOL:
        raise RuntimeError("_neg_view: not implemented for tensors of dtype bool; use ~x")
    return tensor_turned(a, F_NEG)


# --- views across dtypes --------------------------------------------------------------------

cdef Tensor on_same_memory(Tensor a, int dt, int nd, const Py_ssize_t* shape,
                           const Py_ssize_t* strides):
    cdef Tensor t = tensor_on(a.mem, a.ptr, dt, nd, shape, strides)
    t.flags |= a.flags & (F_DEVICE | F_INFERENCE | F_NEG)
    if dt != a.dt:
        # Bytes are written through either.
        mark_raw(t)
        mark_raw(a)
    else:
        t.flags |= a.flags & F_RAW
    return t


cdef Tensor view_as_real_plain(Tensor a):
    """Real and imaginary parts along a new last dimension."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    if not dt_is_complex(a.dt):
        raise RuntimeError(
            f"view_as_real is only supported for complex tensors, not {dt_scalar_name(a.dt)}")
    if a.flags & F_CONJ:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original.")
    if a.nd >= MAX_DIMS:
        raise RuntimeError(f"a tensor has at most {MAX_DIMS} dimensions")
    for d in range(a.nd):
        shape[d] = a.sizes[d]
        strides[d] = 2 * a.strides[d]
    shape[a.nd] = 2
    strides[a.nd] = 1
    return on_same_memory(a, dt_real(a.dt), a.nd + 1, shape, strides)


cdef Tensor view_as_complex_plain(Tensor a):
    """The last dimension, of size 2, read as real and imaginary part."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    if a.dt != DT_F32 and a.dt != DT_F64:
        raise RuntimeError(
            f"view_as_complex is only supported for float and double tensors, but got a tensor of "
            f"scalar type: {dt_scalar_name(a.dt)}")
    if a.nd == 0:
        raise RuntimeError("view_as_complex: Input tensor must have one or more dimensions")
    if a.sizes[a.nd - 1] != 2:
        raise RuntimeError(
            f"view_as_complex: Tensor must have a last dimension of size 2, not of "
            f"{a.sizes[a.nd - 1]} (shape {list(sizes_of(a))})")
    if a.strides[a.nd - 1] != 1:
        raise RuntimeError(
            "view_as_complex: Tensor must have a last dimension with stride 1; use .contiguous()")
    for d in range(a.nd - 1):
        if a.strides[d] % 2 and a.sizes[d] > 1:
            raise RuntimeError(
                "view_as_complex: Tensor must have a stride divisible by 2 for all but last "
                f"dimension, but dimension {d} has {a.strides[d]}; use .contiguous()")
        shape[d] = a.sizes[d]
        strides[d] = a.strides[d] // 2
    if (a.ptr - a.mem.data) % (2 * DT_SIZE[a.dt]):
        raise RuntimeError(
            "view_as_complex: Tensor must have a storage_offset divisible by 2; use .clone()")
    return on_same_memory(a, dt_to_complex(a.dt), a.nd - 1, shape, strides)


cdef Tensor view_dtype_plain(Tensor a, int dt):
    """View the bytes as elements of another type; the last dimension absorbs a change of size."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t old = DT_SIZE[a.dt], new = DT_SIZE[dt] if dt >= 0 else 0, k
    cdef int d, last = a.nd - 1
    cdef str how
    if dt < 0:
        raise TypeError("view(): argument 'dtype' must be torch.dtype, not None")
    if a.flags & F_TURNED:
        raise RuntimeError(
            f"torch.Tensor.view is not supported for "
            f"{'conjugate view tensors' if a.flags & F_CONJ else 'tensors with negative bit set'} "
            f"when converting to a different dtype. Use "
            f"resolve_{'conj' if a.flags & F_CONJ else 'neg'}() first.")
    if old == new:
        return on_same_memory(a, dt, a.nd, a.sizes, a.strides)
    how = (f"to view {dt_scalar_name(a.dt)} as {dt_scalar_name(dt)} (different element sizes)")
    if a.nd == 0:
        raise RuntimeError(f"self.dim() cannot be 0 {how}")
    if a.strides[last] != 1 and a.sizes[last] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {how}, but got {a.strides[last]}")
    for d in range(a.nd):
        shape[d] = a.sizes[d]
        strides[d] = a.strides[d]
    strides[last] = 1
    if old > new:
        k = old // new
        for d in range(last):
            strides[d] *= k
        shape[last] *= k
        return on_same_memory(a, dt, a.nd, shape, strides)
    k = new // old
    if shape[last] % k:
        raise RuntimeError(f"self.size(-1) must be divisible by {k} {how}, but got {shape[last]}")
    if (a.ptr - a.mem.data) % new:
        raise RuntimeError(f"self.storage_offset() must be divisible by {k} {how}, but got "
                           f"{(a.ptr - a.mem.data) // old}")
    for d in range(last):
        if strides[d] % k and shape[d] > 1:
            raise RuntimeError(f"self.stride({d}) must be divisible by {k} {how}, but got "
                               f"{strides[d]}")
        strides[d] = strides[d] // k
    shape[last] = shape[last] // k
    return on_same_memory(a, dt, a.nd, shape, strides)


cdef Tensor unfold_plain(Tensor a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step):
    """Windows of `size` elements every `step` along a dimension; the window is the last one."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t n
    cdef int d
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim] if a.nd else 1
    if a.nd >= MAX_DIMS:
        raise RuntimeError(f"a tensor has at most {MAX_DIMS} dimensions")
    if size < 0:
        raise RuntimeError(f"unfold: size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(
            f"unfold: maximum size for tensor at dimension {dim} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step} but must be > 0")
    for d in range(a.nd):
        shape[d] = a.sizes[d]
        strides[d] = a.strides[d]
    shape[a.nd] = size
    strides[a.nd] = a.strides[dim] if a.nd else 1
    if a.nd:
        shape[dim] = (n - size) // step + 1
        strides[dim] = step * a.strides[dim]
    return tensor_window(a, a.nd + 1, shape, strides, 0)


# --- copies that undo views -----------------------------------------------------------------

cdef Tensor zeros(Tensor a, tuple size):
    """Zeros of a's dtype, on its device."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int n = fill_sizes(size, shape)
    cdef Tensor t = tensor_empty_on(a.mem.device, a.dt, n, shape, NULL)
    clear(t)
    return t


cdef Tensor slice_backward_plain(Tensor grad, tuple size, Py_ssize_t dim, object start, object end,
                                 Py_ssize_t step):
    cdef Tensor t = zeros(grad, size)
    copy_into(slice_plain(t, dim, start, end, step), grad, "slice_backward")
    return t


cdef Tensor select_backward_plain(Tensor grad, tuple size, Py_ssize_t dim, Py_ssize_t index):
    cdef Tensor t = zeros(grad, size)
    copy_into(select_plain(t, dim, index), grad, "select_backward")
    return t


cdef Tensor diagonal_backward_plain(Tensor grad, tuple size, Py_ssize_t offset, Py_ssize_t dim1,
                                    Py_ssize_t dim2):
    cdef Tensor t = zeros(grad, size)
    copy_into(diagonal_plain(t, offset, dim1, dim2), grad, "diagonal_backward")
    return t


cdef Tensor unfold_backward_plain(Tensor grad, tuple sizes, Py_ssize_t dim, Py_ssize_t size,
                                  Py_ssize_t step):
    cdef Tensor t = zeros(grad, sizes)
    add_overlapping(unfold_plain(t, dim, size, step), grad)
    return t


cdef int flip(Tensor r, Tensor a, tuple dims) except -1:
    """A copy that is read backwards along `dims`."""
    cdef Py_ssize_t strides[2][MAX_DIMS]
    cdef Py_ssize_t* rows[2]
    cdef char* p[2]
    cdef StorageImpl* mem[2]
    cdef int[2] dts
    cdef tuple turned = normal_dims(dims, a.nd) if dims else ()
    cdef int d
    rows[0] = strides[0]
    rows[1] = strides[1]
    p[0] = r.ptr
    p[1] = a.ptr
    for d in range(a.nd):
        strides[0][d] = r.strides[d] * DT_SIZE[a.dt]
        strides[1][d] = a.strides[d] * DT_SIZE[a.dt]
        if d in turned:
            p[1] += (a.sizes[d] - 1) * strides[1][d]
            strides[1][d] = -strides[1][d]
    mem[0] = r.mem
    mem[1] = a.mem
    dts[0] = dts[1] = a.dt
    return run_loop(KT.loops[K_COPY][a.dt], 2, p, mem, a.nd, a.sizes, rows, dts, 1)


cdef Tensor as_strided_scatter_plain(Tensor a, Tensor src, tuple size, tuple stride,
                                     object storage_offset):
    """A copy of `a` (with its strides) in which the window holds `src`."""
    cdef Tensor t = tensor_empty_on(a.mem.device, a.dt, a.nd, a.sizes, a.strides)
    cdef Py_ssize_t here = (a.ptr - a.mem.data) // DT_SIZE[a.dt]
    cdef Py_ssize_t offset = here if storage_offset is None else storage_offset
    copy_into(t, a, "as_strided_scatter")
    copy_into(as_strided_plain(t, size, stride, offset - here), src, "as_strided_scatter")
    return t


cdef Py_ssize_t reach(tuple size, tuple stride) except -1:
    """Return the number of places from a window's first one to its last; 0 if it is empty."""
    cdef Py_ssize_t n, s, places = 1
    for n, s in zip(size, stride):
        if n == 0:
            return 0
        places += (n - 1) * s
    return places


cdef Tensor as_strided_backward_plain(Tensor grad, tuple base_size, tuple base_stride,
                                      Py_ssize_t base_offset, tuple size, tuple stride,
                                      object offset):
    """Gradient of as_strided: what the window's elements get is added up in the base's geometry."""
    cdef Py_ssize_t extent = reach(base_size, base_stride), one = reach(size, stride), low
    cdef Py_ssize_t storage_offset = base_offset if offset is None else offset
    cdef Tensor flat, window
    if extent == 0:
        return zeros(grad, base_size)
    if one == 0:        # nothing arrives, wherever it would be
        storage_offset = base_offset
    low = min(base_offset, storage_offset)
    flat = zeros(grad, (max(extent + base_offset, one + storage_offset) - low,))
    if one:
        window = as_strided_plain(flat, size, stride, storage_offset - low)
        add_overlapping(window, grad)
    window = as_strided_plain(flat, base_size, base_stride, base_offset - low)
    if tensor_has_overlap(window):
        divide_by_holders(flat, window)
    return clone_format(window, MF_PRESERVE) if window.flags & F_STRIDED else window


cdef Tensor as_strided_gather_plain(Tensor a, tuple base_size, tuple base_stride,
                                    Py_ssize_t base_offset,
                                    tuple size, tuple stride, object storage_offset):
    """The window's values, read from `a`, which is first copied to the strides of the base."""
    cdef Py_ssize_t extent = reach(base_size, base_stride), one = reach(size, stride), offset, low
    cdef Tensor flat, base
    if extent == 0 or one == 0:
        return zeros(a, size)
    offset = base_offset if storage_offset is None else storage_offset
    low = min(base_offset, offset)
    flat = zeros(a, (max(extent + base_offset, one + offset) - low,))
    base = as_strided_plain(flat, base_size, base_stride, base_offset - low)
    add_overlapping(base, a)
    if tensor_has_overlap(base):
        divide_by_holders(flat, base)
    return clone_format(as_strided_plain(flat, size, stride, offset - low), MF_CONTIGUOUS)


cdef int divide_by_holders(Tensor flat, Tensor window) except -1:
    """Elements of a base that lie in one place, as of an expanded tensor, share what it has."""
    cdef Tensor holders = tensor_empty_like(flat, flat.dt)
    cdef Tensor ones = tensor_empty_on(flat.mem.device, flat.dt, window.nd, window.sizes, NULL)
    cdef Tensor places = tensor_window(holders, window.nd, window.sizes, window.strides,
                                       (window.ptr - flat.ptr) // DT_SIZE[flat.dt])
    fill_with(holders, 1)               # also where there is nothing of the base
    fill_with(places, 0)
    fill_with(ones, 1)
    add_overlapping(places, ones)
    ew2(K_DIV, flat, holders, P_SAME, flat, "as_strided_backward")
    return 0


cdef int add_overlapping(Tensor window, Tensor src) except -1:
    """window = src where elements of a window of zeros may coincide: those are added up."""
    if not tensor_has_overlap(window):
        return copy_into(window, src, "as_strided_backward")
    return add_parts(window, src)


cdef int add_parts(Tensor window, Tensor src) except -1:
    """window += src, taken apart into parts that have no overlap."""
    cdef int d
    cdef Py_ssize_t i
    if not tensor_has_overlap(window):
        return add_into(window, src)
    d = dimension_apart(window)
    for i in range(window.sizes[d]):
        add_parts(select_plain(window, d, i), select_plain(src, d, i))
    return 0


cdef int dimension_apart(Tensor window) except -1:
    """The shortest dimension without which nothing coincides; else one of the smallest strides."""
    cdef int d, shortest = -1, near = -1
    for d in range(window.nd):
        if window.sizes[d] == 1:
            continue
        if near < 0 or (window.strides[d], window.sizes[d]) < (window.strides[near],
                                                               window.sizes[near]):
            near = d
        if shortest >= 0 and window.sizes[d] >= window.sizes[shortest]:
            continue
        if not tensor_has_overlap(select_plain(window, d, 0)):
            shortest = d
    return near if shortest < 0 else shortest


cdef Tensor zeros_like_plain(Tensor a):
    cdef Tensor t = tensor_empty_like(a, a.dt)
    clear(t)
    return t


cdef Tensor ones_like_plain(Tensor a):
    cdef Tensor t = tensor_empty_like(a, a.dt)
    fill_with(t, 1)
    return t


cdef Tensor new_zeros_plain(Tensor a, tuple size):
    return zeros(a, size)


cdef Tensor clone_with(Tensor a, int memory_format):
    return clone_plain(a) if memory_format < 0 else clone_format(a, memory_format)


cdef Tensor contiguous_with(Tensor a, int memory_format):
    return clone_format(a, MF_CONTIGUOUS if memory_format < 0 else memory_format)


cdef Tensor cast_copy(Tensor a, int dt):
    return clone_plain(a) if dt < 0 or a.dt == dt else cast(a, dt)


cdef Tensor device_copy(Tensor a, Py_ssize_t place, bint non_blocking):
    if a.mem.device == place:
        return clone_plain(a)
    return to_device_by(a, <int>place, non_blocking)


cdef Tensor fill_plain(Tensor a, Tensor value):
    cdef Tensor t = tensor_empty_like(a, a.dt)
    copy_into(t, value, "fill")
    return t
