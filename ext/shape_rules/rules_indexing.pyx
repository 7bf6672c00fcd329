# cython: language_level=3
"""Shape rules of reading and writing by index, of joining, triangles and sorting."""
from autograd_cy._C.checked cimport checked_add
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_is_limited, dt_promote, dt_scalar_name, no_promotion, not_for_limited,
    DT_BOOL, DT_I32, DT_I64, DT_NONE)
from autograd_cy._C.formats cimport all_channels_last
from autograd_cy._C.iterate cimport expand_plain
from autograd_cy._C.outputs cimport NEEDS_SIZES, Result, result_dense, result_like
from autograd_cy._C.placement cimport MF_CHANNELS_LAST, MF_CHANNELS_LAST_3D, device_of_code

from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, format_strides, is_tensor, normal_dim, same_shape, sizes_of,
    warn_once)

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX


cdef inline Py_ssize_t size_at(Tensor a, int dim) noexcept:
    """A tensor without dimensions is taken for one with a dimension of size 1."""
    return a.sizes[dim] if a.nd else 1


cdef int check_index_dtype(Tensor index, str op) except -1:
    if index.dt != DT_I64 and index.dt != DT_I32:
        raise RuntimeError(
            f"{op}(): Expected dtype int32/int64 for index, but got: {dt_scalar_name(index.dt)}")
    return 0


# --- slices ---------------------------------------------------------------------------------

cdef int check_vector(Tensor a, Tensor index, str op) except -1:
    if index.nd > 1:
        raise IndexError(f"{op}(): Index is supposed to be a vector")
    if a.nd == 0 and index.count != 1:
        raise RuntimeError(
            f"{op}(): Index to scalar can have only 1 value, got {index.count} value(s)")
    return check_index_dtype(index, op)


cdef int selected(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1:
    dim = normal_dim(dim, a.nd)
    check_vector(a, index, op)
    if index.count and a.nd > 1 and a.sizes[dim] == 0:
        raise RuntimeError(f"{op}(): self indexing axis dim should be positive (shape "
                           f"{list(sizes_of(a))}, dim {dim})")
    result_dense(r, a.dt, a.nd, a.sizes)
    if a.nd:
        r.sizes[dim] = index.count
    return 0


cdef int rows_added(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor source,
                    str op) except -1:
    cdef Py_ssize_t rows
    cdef int d
    dim = normal_dim(dim, a.nd)
    check_vector(a, index, op)
    if source.dt != a.dt:
        raise RuntimeError(
            f"{op}_(): self ({dt_scalar_name(a.dt)}) and source ({dt_scalar_name(source.dt)}) must "
            "have the same scalar type")
    rows = source.sizes[dim] if source.nd > dim else 1
    if rows != index.count:
        raise RuntimeError(
            f"{op}_(): Number of indices ({index.count}) should be equal to source.size(dim): "
            f"({rows}), for dim: {dim}")
    for d in range(max(a.nd, source.nd)):
        if source.nd != a.nd or (d != dim and source.sizes[d] != a.sizes[d]):
            raise RuntimeError(
                "source tensor shape must match self tensor shape, excluding the specified "
                f"dimension. Got self.shape = {list(sizes_of(a))} source.shape = "
                f"{list(sizes_of(source))}")
    return result_dense(r, a.dt, a.nd, a.sizes)


# --- elements -------------------------------------------------------------------------------

cdef int check_move(Tensor a, int dim, Tensor index, Tensor src) except -1:
    """Return whether `index` fits into `a` (but for `dim`) and into `src`."""
    cdef int d, nd = a.nd if a.nd else 1
    cdef Py_ssize_t n
    if (index.nd if index.nd else 1) != nd:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if src is None else 'self'} tensor")
    if src is not None and (src.nd if src.nd else 1) != nd:
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d in range(nd):
        n = size_at(index, d)
        if d != dim and n > size_at(a, d):
            if src is not None:
                break
            raise RuntimeError(
                f"Size does not match at dimension {d} expected index {list(sizes_of(index))} to "
                f"be no larger than self {list(sizes_of(a))} apart from dimension {dim}")
        if src is not None and n > size_at(src, d):
            break
    else:
        return 0
    raise RuntimeError(
        f"Expected index {list(sizes_of(index))} to be no larger than self {list(sizes_of(a))} "
        f"apart from dimension {dim} and to be no larger size than src {list(sizes_of(src))}")


cdef int gathered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, str op) except -1:
    dim = normal_dim(dim, a.nd)
    if index.count:
        check_index_dtype(index, op)
        check_move(a, <int>dim, index, None)
    return result_dense(r, a.dt, index.nd, index.sizes)


cdef int scattered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                   str op) except -1:
    dim = normal_dim(dim, a.nd)
    if index.count:
        check_index_dtype(index, "scatter")
    if src.dt != a.dt:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype "
            f"(self is {dt_scalar_name(a.dt)}, src is {dt_scalar_name(src.dt)})")
    if index.count:
        check_move(a, <int>dim, index, src)
    return result_dense(r, a.dt, a.nd, a.sizes)


# --- joining --------------------------------------------------------------------------------

cdef inline bint is_legacy_empty(Tensor t) noexcept:
    """torch lets an empty vector join anything."""
    return t.nd == 1 and t.sizes[0] == 0


cdef Tensor first_of_shape(tuple tensors):
    """The tensor that the others must match."""
    cdef Tensor t, first = None
    for i, x in enumerate(tensors):
        if not is_tensor(x):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
        t = <Tensor>x
        if t.nd == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if first is None or is_legacy_empty(first):
            first = t
    return first


cdef int promoted_dtype(tuple tensors) except -1:
    """All have dimensions in the result, so none counts less than another."""
    cdef int dt = (<Tensor>tensors[0]).dt
    for x in tensors:
        if dt_promote(dt, (<Tensor>x).dt) == DT_NONE:
            raise no_promotion(dt, (<Tensor>x).dt)
        dt = dt_promote(dt, (<Tensor>x).dt)
    return dt


cdef int joined_shape(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1:
    cdef Tensor t, like
    cdef Py_ssize_t total = 0
    cdef int d, dt, i, n = len(tensors)
    if n == 0:
        raise ValueError(f"{op}(): expected a non-empty list of Tensors")
    like = first_of_shape(tensors)
    # Vectors of nothing alone join along any dimension.
    dim = 0 if is_legacy_empty(like) else normal_dim(dim, like.nd)
    dt = like.dt
    for i in range(n):
        t = <Tensor>tensors[i]
        if t.dt != dt:
            dt = -1
        if is_legacy_empty(t):
            continue
        if t.nd != like.nd:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {like.nd} and {t.nd}")
        for d in range(like.nd):
            if d != dim and t.sizes[d] != like.sizes[d]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{like.sizes[d]} but got size {t.sizes[d]} for tensor number {i} in the list.")
        if t.sizes[dim] > PY_SSIZE_T_MAX - total:
            checked_add(total, t.sizes[dim], f"{op}(): size of the result")     # says so
        total += t.sizes[dim]
    result_dense(r, promoted_dtype(tensors) if dt < 0 else dt, like.nd, like.sizes)
    r.sizes[dim] = total
    if like.flags & F_STRIDED and all_channels_last(tensors):
        r.strided = True
        return format_strides(
            r.nd, r.sizes, MF_CHANNELS_LAST if r.nd == 4 else MF_CHANNELS_LAST_3D, r.strides)
    return 0


cdef int stacked(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1:
    cdef Tensor t, first
    cdef int d, dt
    if not tensors:
        raise RuntimeError(f"{op} expects a non-empty TensorList")
    first = <Tensor>tensors[0]
    if not -first.nd - 1 <= dim <= first.nd:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-first.nd - 1}, {first.nd}], "
            f"but got {dim})")
    if first.nd == MAX_DIMS:
        raise RuntimeError(f"{op}: the result would have more than {MAX_DIMS} dimensions")
    if dim < 0:
        dim += first.nd + 1
    dt = first.dt
    for i, x in enumerate(tensors):
        t = <Tensor>x
        if not same_shape(t, first):
            raise RuntimeError(
                f"{op} expects each tensor to be equal size, but got {list(sizes_of(first))} at "
                f"entry 0 and {list(sizes_of(t))} at entry {i}")
        if t.dt != dt:
            dt = -1
    r.dt = promoted_dtype(tensors) if dt < 0 else dt
    r.nd = first.nd + 1
    r.strided = False
    for d in range(first.nd):
        r.sizes[d + (d >= dim)] = first.sizes[d]
    r.sizes[dim] = len(tensors)
    return 0


# --- reductions at indices ------------------------------------------------------------------

cdef int reduced_at(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src, str reduce,
                    str op) except -1:
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if dt_is_complex(a.dt) and reduce in ("amax", "amin"):
        raise NotImplementedError(f"{op}: {reduce} is not defined for complex tensors; compare "
                                  "their absolute values")
    return scattered(r, a, dim, index, src, op)


cdef int rows_reduced(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor source, str reduce,
                      str op) except -1:
    cdef Py_ssize_t rows
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"{op}(): Expected reduce to be one of prod, mean, amax or amin "
                           f"but got {reduce}.")
    dim = normal_dim(dim, a.nd)
    if index.nd > 1:
        raise IndexError(
            f"{op}_(): Index is supposed to be a vector, but got dim: {index.nd} with "
            f"type: {dt_scalar_name(index.dt)} and size: {list(sizes_of(index))}")
    if index.dt != DT_I64 and index.dt != DT_I32:
        raise RuntimeError(f"{op}_(): Expected dtype int32/int64 for index but got: "
                           f"{dt_scalar_name(index.dt)}")
    if source.dt != a.dt:
        raise RuntimeError(
            f"{op}_(): self ({dt_scalar_name(a.dt)}) and source "
            f"({dt_scalar_name(source.dt)}) must have the same scalar type")
    source_sizes, sizes = list(sizes_of(source)), list(sizes_of(a))
    if (len(source_sizes) != len(sizes)
            or source_sizes[:dim] + source_sizes[dim + 1:] != sizes[:dim] + sizes[dim + 1:]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {sizes} source.shape = {source_sizes}")
    rows = size_at(source, <int>dim)
    if index.count != rows:
        raise RuntimeError(
            f"{op}_(): Number of indices ({index.count}) should be equal to "
            f"source.size(dim): ({rows}), for dim: {dim}")
    return result_dense(r, a.dt, a.nd, a.sizes)


# --- advanced indexing ----------------------------------------------------------------------

cdef struct Selection:
    Py_ssize_t sizes[64]    # of the tensor, with a dimension more for each 0-d mask
    char taken[64]          # whether that dimension is indexed
    int nd                  # dimensions that the indices stand for
    Py_ssize_t shape[64]    # of all index tensors, broadcast
    int n
    int first               # first indexed dimension, -1: none
    bint together           # indexed dimensions are neighbours
    bint unknown            # a mask whose values nobody knows
    bint refused            # they don't broadcast, which is said once the sizes are known
    int tensors             # index tensors
    int masks


cdef int take_dim(Selection* s, Py_ssize_t size) except -1:
    if s.nd == MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
    if s.first < 0:
        s.first = s.nd
    elif not s.taken[s.nd - 1]:
        s.together = False
    s.sizes[s.nd] = size
    s.taken[s.nd] = True
    s.nd += 1
    return 0


cdef bint broadcasts(Selection* s, int nd, const Py_ssize_t* sizes) noexcept:
    """Let one more index tensor take part; False if it can't."""
    cdef int d, shift
    if nd > s.n:
        shift = nd - s.n
        for d in range(s.n - 1, -1, -1):
            s.shape[d + shift] = s.shape[d]
        for d in range(shift):
            s.shape[d] = 1
        s.n = nd
    shift = s.n - nd
    for d in range(nd):
        if sizes[d] == s.shape[d + shift] or sizes[d] == 1:
            continue
        if s.shape[d + shift] != 1:
            return False
        s.shape[d + shift] = sizes[d]
    return True


cdef object index_shapes(tuple indices, const Py_ssize_t* sizes):
    cdef list texts = []
    cdef Tensor t
    cdef int k = 0
    for entry in indices:
        if entry is None:
            continue
        t = <Tensor>entry
        if t.dt == DT_BOOL:
            texts += ["[?]" if sizes == NULL else str([sizes[k]])] * max(t.nd, 1)
            k += 1
        else:
            texts.append(str(list(sizes_of(t))))
    return IndexError("shape mismatch: indexing tensors could not be broadcast together with "
                      f"shapes {', '.join(texts)}")


cdef int select_all(Selection* s, Tensor a, tuple indices, const Py_ssize_t* sizes) except -1:
    """Note what the indices select; `sizes`, if not NULL, says how much of each mask is true."""
    cdef Tensor t
    cdef int d, more = 0
    s.nd = s.n = s.tensors = s.masks = 0
    s.first = -1
    s.together = True
    s.unknown = s.refused = False
    for entry in indices:
        if entry is None:
            if s.nd - more >= a.nd:
                raise IndexError(f"too many indices for tensor of dimension {a.nd}")
            s.sizes[s.nd] = a.sizes[s.nd - more]
            s.taken[s.nd] = False
            s.nd += 1
            continue
        t = <Tensor?>entry
        s.tensors += 1
        if t.mem.device != ON_CPU and t.mem.device != a.mem.device:
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({device_of_code(a.mem.device)}), and one is on "
                f"{device_of_code(t.mem.device)}; move it with .to(device)")
        if t.dt == DT_BOOL:
            if t.nd == 0:
                take_dim(s, 1)
                more += 1
            for d in range(t.nd):
                if s.nd - more >= a.nd:
                    raise IndexError(f"too many indices for tensor of dimension {a.nd}")
                if t.sizes[d] != a.sizes[s.nd - more]:
                    raise IndexError(
                        f"The shape of the mask {list(sizes_of(t))} at index {d} does not match "
                        f"the shape of the indexed tensor {list(sizes_of(a))} at index {s.nd}")
                take_dim(s, t.sizes[d])
            s.unknown |= t.mem.device == ON_META
            if sizes != NULL and not broadcasts(s, 1, &sizes[s.masks]):
                s.refused = True
            s.masks += 1
        elif t.dt == DT_I64 or t.dt == DT_I32:
            if s.nd - more >= a.nd:
                raise IndexError(f"too many indices for tensor of dimension {a.nd}")
            take_dim(s, a.sizes[s.nd - more])
            if not broadcasts(s, t.nd, t.sizes):
                s.refused = True
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if s.refused and (s.masks == 0 or s.unknown or sizes != NULL):
        raise index_shapes(indices, sizes)
    for d in range(s.nd - more, a.nd):
        if s.nd == MAX_DIMS:
            raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
        s.sizes[s.nd] = a.sizes[d]
        s.taken[s.nd] = False
        s.nd += 1
    return 0


cdef int selection_sizes(Selection* s, Py_ssize_t* sizes) except -1:
    """Shape of what is selected; returns its number of dimensions."""
    cdef int before = s.first if s.together else 0, d, n = 0
    for d in range(before):
        sizes[n] = s.sizes[d]
        n += 1
    for d in range(s.n):
        if n == MAX_DIMS:
            raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
        sizes[n] = s.shape[d]
        n += 1
    for d in range(before, s.nd):
        if not s.taken[d]:
            if n == MAX_DIMS:
                raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
            sizes[n] = s.sizes[d]
            n += 1
    return n


cdef int indexed(Result* r, Tensor a, object indices, const Py_ssize_t* sizes,
                 str op) except -1:
    cdef Selection s
    select_all(&s, a, <tuple>indices, sizes)
    if s.first < 0:
        return result_like(r, a, a.dt)
    if s.unknown:
        raise NotImplementedError(
            f"{op}: how many elements a mask on meta selects isn't known; use where(), or an index "
            "of a known size")
    if s.masks and sizes == NULL:
        return NEEDS_SIZES
    r.dt = a.dt
    r.strided = False
    r.nd = selection_sizes(&s, r.sizes)
    return 0


cdef int index_put(Result* r, Tensor a, object indices, Tensor values, bint accumulate,
                   const Py_ssize_t* sizes, str op) except -1:
    cdef Selection s
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int n, d, skipped = 0
    if accumulate and dt_is_limited(a.dt):
        raise not_for_limited(a.dt, op)
    select_all(&s, a, <tuple>indices, sizes)
    if s.first < 0:
        expand_plain(values, a.nd, a.sizes, f"{op}_")
        if accumulate:
            raise ValueError(f"{op}_: at least one index tensor is needed to accumulate")
    elif s.tensors == 1 and s.masks == 1 and values.count == 1 and not accumulate:
        pass            # one value wherever the mask says so: nobody asks how often that is
    elif not s.unknown:
        if s.masks and sizes == NULL:
            return NEEDS_SIZES
        n = selection_sizes(&s, shape)
        while values.nd - skipped > n and values.sizes[skipped] == 1:
            skipped += 1
        for d in range(skipped, values.nd):
            if values.nd - skipped > n or (values.sizes[d] != 1
                                           and values.sizes[d] != shape[n - values.nd + d]):
                raise RuntimeError(
                    f"shape mismatch: value tensor of shape {list(sizes_of(values)[skipped:])} "
                    f"cannot be broadcast to indexing result of shape "
                    f"{[shape[i] for i in range(n)]}")
    return result_like(r, a, a.dt)


# --- what is true, different, or repeated -----------------------------------------------------

cdef int true_places(Result* r, Tensor a, const Py_ssize_t* sizes, str op) except -1:
    """A row for each element that isn't zero."""
    cdef Py_ssize_t[2] shape
    if sizes == NULL:
        return NEEDS_SIZES
    shape[0], shape[1] = sizes[0], a.nd
    return result_dense(r, DT_I64, 2, shape)


cdef int vector_of(Result* r, int dt, const Py_ssize_t* sizes) except -1:
    """A vector whose length nobody knows before."""
    if sizes == NULL:
        return NEEDS_SIZES
    return result_dense(r, dt, 1, sizes)


cdef int different(Result* r, Tensor a, bint inverse, bint counts, const Py_ssize_t* sizes,
                   str op) except -1:
    """Values, the place of each element among them, how often each occurs; empty if not asked."""
    cdef Py_ssize_t none = 0
    if sizes == NULL:
        return NEEDS_SIZES
    result_dense(&r[0], a.dt, 1, sizes)
    if inverse:
        result_dense(&r[1], DT_I64, a.nd, a.sizes)
    else:
        result_dense(&r[1], DT_I64, 1, &none)
    return result_dense(&r[2], DT_I64, 1, sizes if counts else &none)


cdef int different_slices(Result* r, Tensor a, Py_ssize_t dim, const Py_ssize_t* sizes,
                          str op) except -1:
    """Describe the unique slices along a dimension; a tensor without dimensions is a vector of
    one."""
    cdef Py_ssize_t size
    dim = normal_dim(dim, a.nd)
    size = size_at(a, <int>dim)
    if a.nd and a.count == 0 and size:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if sizes == NULL:
        return NEEDS_SIZES
    result_dense(&r[0], a.dt, a.nd if a.nd else 1, a.sizes if a.nd else sizes)
    r[0].sizes[dim] = sizes[0]
    result_dense(&r[1], DT_I64, 1, &size)
    return result_dense(&r[2], DT_I64, 1, sizes)


cdef int different_runs(Result* r, Tensor a, bint inverse, bint counts, object dim,
                        const Py_ssize_t* sizes, str op) except -1:
    if dim is None:
        return different(r, a, inverse, counts, sizes, op)
    return different_slices(r, a, dim, sizes, op)


cdef int bins(Result* r, Tensor a, const Py_ssize_t* sizes, str op) except -1:
    return vector_of(r, DT_I64, sizes)


# --- order ----------------------------------------------------------------------------------

cdef int triangle(Result* r, Tensor a, str op) except -1:
    if a.nd < 2:
        raise RuntimeError(f"{op}: input tensor must have at least 2 dimensions")
    return result_dense(r, a.dt, a.nd, a.sizes)


cdef int sorted_along(Result* r, Tensor a, Py_ssize_t dim, str op) except -1:
    normal_dim(dim, a.nd)
    result_dense(&r[0], a.dt, a.nd, a.sizes)
    return result_dense(&r[1], DT_I64, a.nd, a.sizes)


cdef int sorted_like(Result* r, Tensor a, Py_ssize_t dim, str op) except -1:
    """As above, in memory as the operand is, if it is dense, or at least in the order of its
    dimensions."""
    cdef int d
    sorted_along(r, a, dim, op)
    if a.flags & F_STRIDED:
        result_like(&r[0], a, a.dt)
        for d in range(a.nd):
            if a.sizes[d] > 1 and r[0].strides[d] != a.strides[d]:
                break
        else:
            for d in range(a.nd):       # those of one element, too
                r[0].strides[d] = a.strides[d]
        result_like(&r[1], a, DT_I64)
        for d in range(a.nd):
            r[1].strides[d] = r[0].strides[d]
    return 0


cdef int topk(Result* r, Tensor a, Py_ssize_t k, Py_ssize_t dim, str op) except -1:
    dim = normal_dim(dim, a.nd)
    if k < 0 or k > size_at(a, <int>dim):
        raise RuntimeError("selected index k out of range")
    sorted_along(r, a, dim, op)
    if a.nd:
        r[0].sizes[dim] = r[1].sizes[dim] = k
    return 0


cdef int middle(Result* r, Tensor a, str op) except -1:
    if a.count == 0 and a.dt <= DT_I64:
        raise RuntimeError("median() of a tensor without elements is NaN, which integers lack")
    return result_dense(r, a.dt, 0, r.sizes)


cdef int middle_along(Result* r, Tensor a, Py_ssize_t dim, bint keepdim, str op) except -1:
    cdef int d, n = 0
    dim = normal_dim(dim, a.nd)
    if a.nd and a.sizes[dim] == 0:
        raise IndexError(f"{op}(): Expected reduction dim {dim} to have non-zero size.")
    for d in range(a.nd):
        if d != dim or keepdim:
            r[0].sizes[n] = 1 if d == dim else a.sizes[d]
            n += 1
    result_dense(&r[0], a.dt, n, r[0].sizes)
    return result_dense(&r[1], DT_I64, n, r[0].sizes)


cdef int kth_along(Result* r, Tensor a, Py_ssize_t k, Py_ssize_t dim, bint keepdim,
                   str op) except -1:
    middle_along(r, a, dim, keepdim, op)
    dim = normal_dim(dim, a.nd)
    if not 1 <= k <= size_at(a, <int>dim):
        raise RuntimeError(
            f"{op}(): selected number k out of range for dimension {dim} (k is {k}, the first is "
            f"1, and there are {size_at(a, <int>dim)})")
    return 0


# --- members and places ---------------------------------------------------------------------

cdef int warn_of_copy(Tensor t, str what) except -1:
    if t is not None and t.flags & F_STRIDED:
        warn_once(
            f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the "
            "performance due to extra data copy when converting non-contiguous tensor to "
            f"contiguous, please use contiguous {what} tensor if possible. This message will only "
            "appear once per program.")
    return 0


cdef int members(Result* r, Tensor elements, Tensor test_elements, str op) except -1:
    if elements.dt == DT_BOOL or test_elements.dt == DT_BOOL:
        raise RuntimeError(
            f"Unsupported input type encountered for {op}(): Bool (elements are "
            f"{dt_scalar_name(elements.dt)}, test_elements {dt_scalar_name(test_elements.dt)}); "
            "convert truth values to integers first")
    return result_dense(r, DT_BOOL, elements.nd, elements.sizes)


cdef int searchsorted(Result* r, Tensor rows, Tensor values, bint out_int32, bint right,
                      object side,
                      Tensor sorter, str op) except -1:
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got "
                           "side of left while right was True")
    if rows.nd == 0:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive "
                           "dimension, but got 0 dimension")
    if values.nd == 0 and rows.nd != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({rows.nd}) and input value's dim(0) "
            "numel(1)")
    if rows.nd != 1 and (rows.nd != values.nd or sizes_of(rows)[:rows.nd - 1]
                         != sizes_of(values)[:values.nd - 1]):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sizes_of(rows))} and input value tensor "
            f"{list(sizes_of(values))}")
    if sorter is not None:
        if sorter.dt != DT_I64:
            raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but "
                               f"got dtype {dt_scalar_name(sorter.dt)}")
        if not same_shape(rows, sorter):
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got "
                f"boundary tensor {list(sizes_of(rows))} and got sorter tensor "
                f"{list(sizes_of(sorter))}")
    warn_of_copy(values, "input value")
    warn_of_copy(rows, "boundary")
    warn_of_copy(sorter, "sorter")
    return result_dense(r, DT_I32 if out_int32 else DT_I64, values.nd, values.sizes)


cdef int buckets(Result* r, Tensor values, Tensor boundaries, bint out_int32, bint right,
                 str op) except -1:
    if boundaries.nd != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.nd})")
    warn_of_copy(values, "input value")
    warn_of_copy(boundaries, "boundary")
    return result_dense(r, DT_I32 if out_int32 else DT_I64, values.nd, values.sizes)
