# cython: language_level=3
"""Shape rules of reading and writing by index, of joining and of triangles."""
from autograd_cy._C.checked cimport checked_add
from autograd_cy._C.dtypes cimport DT_I32, DT_I64, dt_promote
from autograd_cy._C.outputs cimport Result, result_dense, result_like
from autograd_cy._C.tensor cimport MAX_DIMS, Tensor, is_tensor, normal_dim, same_shape, sizes_of

cdef tuple SCALAR_NAMES = (
    "Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double",
    "ComplexFloat", "ComplexDouble")


cdef str scalar_name(int dt):
    return <str>SCALAR_NAMES[dt]


cdef inline Py_ssize_t size_at(Tensor a, int dim) noexcept:
    """A tensor without dimensions is taken for one with a dimension of size 1."""
    return a.sizes[dim] if a.nd else 1


cdef int check_index_dtype(Tensor index, str op) except -1:
    if index.dt != DT_I64 and index.dt != DT_I32:
        raise RuntimeError(
            f"{op}(): Expected dtype int32/int64 for index, but got: {scalar_name(index.dt)}")
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
            f"{op}_(): self ({scalar_name(a.dt)}) and source ({scalar_name(source.dt)}) must "
            "have the same scalar type")
    rows = source.sizes[dim] if source.nd > dim else 1
    if rows != index.count:
        raise RuntimeError(
            f"{op}_(): Number of indices ({index.count}) should be equal to source.size(dim): "
            f"({rows}), for dim: {dim}")
    for d in range(a.nd):
        if source.nd != a.nd or (d != dim and source.sizes[d] != a.sizes[d]):
            raise RuntimeError(
                "source tensor shape must match self tensor shape, excluding the specified "
                f"dimension. Got self.shape = {list(sizes_of(a))} source.shape = "
                f"{list(sizes_of(source))}")
    return result_like(r, a, a.dt)


# --- elements -------------------------------------------------------------------------------

cdef int check_move(Tensor a, int dim, Tensor index, Tensor src) except -1:
    """Whether `index` fits into `a` (but for `dim`) and into `src`."""
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
    check_index_dtype(index, op)
    if index.count:
        check_move(a, <int>dim, index, None)
    return result_dense(r, a.dt, index.nd, index.sizes)


cdef int scattered(Result* r, Tensor a, Py_ssize_t dim, Tensor index, Tensor src,
                   str op) except -1:
    dim = normal_dim(dim, a.nd)
    check_index_dtype(index, "scatter")
    if src.dt != a.dt:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype "
            f"(self is {scalar_name(a.dt)}, src is {scalar_name(src.dt)})")
    if index.count:
        check_move(a, <int>dim, index, src)
    return result_like(r, a, a.dt)


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


cdef int common_dtype(tuple tensors) except -1:
    """All have dimensions in the result, so none counts less than another."""
    cdef int dt = (<Tensor>tensors[0]).dt
    for x in tensors:
        dt = dt_promote(dt, (<Tensor>x).dt)
    return dt


cdef int joined(Result* r, tuple tensors, Py_ssize_t dim, str op) except -1:
    cdef Tensor t, like
    cdef Py_ssize_t total = 0
    cdef int d, dt, i, n = len(tensors)
    if n == 0:
        raise ValueError(f"{op}(): expected a non-empty list of Tensors")
    like = first_of_shape(tensors)
    dim = normal_dim(dim, like.nd)
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
        total = checked_add(total, t.sizes[dim], f"{op}(): size of the result")
    result_dense(r, common_dtype(tensors) if dt < 0 else dt, like.nd, like.sizes)
    r.sizes[dim] = total
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
    r.dt = common_dtype(tensors) if dt < 0 else dt
    r.nd = first.nd + 1
    r.strided = False
    for d in range(first.nd):
        r.sizes[d + (d >= dim)] = first.sizes[d]
    r.sizes[dim] = len(tensors)
    return 0
