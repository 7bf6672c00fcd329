# cython: language_level=3
"""Metadata that formulas and kernels read from tensors and dimensions: integers, tuples and
numbers."""
from cpython.sequence cimport PySequence_GetItem
from autograd_cy._C.checked cimport AG_MUL
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, F_STRIDED, F_WRAPPED, element_value, normal_dim, sizes_of, wrap_number)


cdef tuple normal_dims(object dims, Py_ssize_t ndim):
    """`dims` (None: all, int, or several) as a tuple of non-negative ints."""
    cdef list out = []
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (normal_dim(dims, ndim),)
    for d in dims:
        d = normal_dim(d, ndim)
        if d in out:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        out.append(d)
    if not out:
        return tuple(range(ndim))
    return tuple(out)


cdef object known_dims(object dims, Py_ssize_t ndim):
    """An argument of kind dim?, dims or dims? without negative numbers; nothing else is checked."""
    cdef Py_ssize_t d
    if dims is None:
        return None
    if isinstance(dims, int):
        d = dims
        return normal_dim(d, ndim) if d < 0 else dims
    for dim in dims:
        d = dim
        if d < 0:
            return tuple([normal_dim(d, ndim) if d < 0 else d for d in dims])
    return dims


cdef int widest_nd(tuple tensors) noexcept:
    """Dimensions of the tensors of a list (an empty vector is allowed among wider ones)."""
    cdef int nd = 0
    for t in tensors:
        nd = max(nd, (<Tensor>t).nd)
    return nd


cdef Py_ssize_t size_at(object sizes, Py_ssize_t i) except? -1:
    """``sizes[i]`` of a formula: checked, since indexing in Cython isn't."""
    return PySequence_GetItem(sizes, i)


cdef tuple inverse_permutation(tuple dims):
    cdef Py_ssize_t n = len(dims), i
    cdef list out = [0] * n
    for i in range(n):
        out[normal_dim(dims[i], n)] = i
    return tuple(out)


cdef tuple shifted(object dims):
    return tuple([d + 1 for d in dims])


cdef tuple axis_sizes(tuple tensors, Py_ssize_t dim):
    """Size of each tensor along `dim`; legacy empty tensors of shape (0,) count as 0."""
    cdef Tensor t
    cdef list out = []
    cdef Py_ssize_t nd = 0
    for t in tensors:
        nd = max(nd, <Py_ssize_t>t.nd)
    for t in tensors:
        if t.nd != nd:
            out.append(0)
        else:
            # Of vectors `dim` is the only one, whatever was given for those of nothing.
            out.append(t.sizes[normal_dim(dim, t.nd) if nd > 1 else 0])
    return tuple(out)


cdef Py_ssize_t count_reduced(object shape, object dims) except -1:
    cdef Py_ssize_t n = 1
    if not len(shape):
        return 1
    for d in normal_dims(dims, len(shape)):
        n *= shape[d]
    return n


cdef tuple strides_of(Tensor t):
    cdef int i
    return tuple([t.strides[i] for i in range(t.nd)])


cdef Py_ssize_t offset_of(Tensor t):
    return (t.ptr - t.mem.data) // DT_SIZE[t.dt]


cdef Py_ssize_t device_code_of(Tensor t):
    return t.mem.device


cdef tuple without(object shape, Py_ssize_t dim):
    return tuple(shape[:dim]) + tuple(shape[dim + 1:])


cdef tuple shapes_of(tuple tensors):
    return tuple([sizes_of(t) for t in tensors])


cdef bint is_number(Tensor t) noexcept:
    """Return whether a tensor stands for a Python number."""
    return t is not None and t.flags & F_WRAPPED != 0


cdef object number_of(Tensor t):
    """The Python number that a tensor stands for; None for any other tensor."""
    return element_value(t.ptr, t.dt) if is_number(t) else None


cdef int viewable(Tensor a, tuple shape) except -1:
    """Return whether `a` can be seen in `shape` without a copy (both have the same count)."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t d
    if not (a.flags & F_STRIDED):
        return True
    if len(shape) > MAX_DIMS:
        return False
    for d in range(len(shape)):
        sizes[d] = shape[d]
    return view_strides(a, <int>len(shape), sizes, strides)


cdef bint view_strides(Tensor a, int n, const Py_ssize_t* sizes, Py_ssize_t* strides) noexcept:
    """
    The strides of `a`, which has elements, seen in `sizes`, which have its count; False where that
    needs a copy.
    """
    cdef Py_ssize_t chunk, want, seen
    cdef int d = a.nd - 1, v = n - 1
    while d >= 0:
        # A run of dimensions that lie densely behind each other.
        chunk = a.sizes[d]
        want = a.strides[d]
        while d > 0 and (a.sizes[d - 1] == 1 or a.strides[d - 1] == chunk * want or chunk == 1):
            if chunk == 1:
                want = a.strides[d - 1]
            chunk *= a.sizes[d - 1]
            d -= 1
        d -= 1
        seen = 1
        while v >= 0 and (seen < chunk or sizes[v] == 1):
            strides[v] = seen * want
            seen *= sizes[v]
            v -= 1
        if seen != chunk:
            return False
    return True


cdef tuple resolve_shape(Tensor a, tuple shape, str op):
    """`shape` with -1 filled in."""
    cdef Py_ssize_t n = 1, unknown = -1, i, s
    for i in range(len(shape)):
        s = shape[i]
        if s == -1:
            if unknown >= 0:
                raise RuntimeError(
                    f"{op}: only one dimension can be inferred (shape {list(shape)})")
            unknown = i
        elif s < 0:
            raise RuntimeError(f"{op}: invalid shape dimension {s} at index {i} of shape "
                               f"{list(shape)}")
        elif AG_MUL(n, s, &n):
            raise RuntimeError(
                f"{op}: shape '{list(shape)}' is invalid for input of size {a.count}")
    if unknown >= 0:
        if n == 0:
            if a.count == 0:
                raise RuntimeError(
                    f"{op}: cannot reshape tensor of 0 elements into shape {list(shape)} because "
                    "the unspecified dimension size -1 can be any value and is ambiguous")
            raise RuntimeError(
                f"{op}: shape '{list(shape)}' is invalid for input of size {a.count}")
        if a.count % n:
            raise RuntimeError(
                f"{op}: shape '{list(shape)}' is invalid for input of size {a.count}")
        return shape[:unknown] + (a.count // n,) + shape[unknown + 1:]
    if n != a.count:
        raise RuntimeError(f"{op}: shape '{list(shape)}' is invalid for input of size {a.count}")
    return shape


cdef bint is_whole(Tensor a, tuple shape) except -1:
    """Return whether every size is given, and they fit."""
    cdef Py_ssize_t n = 1, s
    for size in shape:
        s = size
        if s < 0 or AG_MUL(n, s, &n):
            return False
    return n == a.count


def _wrapped(number):
    """A 0-d tensor that promotes as the Python number it holds."""
    return wrap_number(number)


def _number_of(Tensor t):
    """The number that a tensor made by `_wrapped` holds; None for other tensors."""
    return number_of(t)


cdef tuple replaced(tuple sizes, Py_ssize_t dim, Py_ssize_t size):
    return sizes[:dim] + (size,) + sizes[dim + 1:]
