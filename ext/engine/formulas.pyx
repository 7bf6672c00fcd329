# cython: language_level=3
"""Run-time support of generated operators, and composites that need more than a formula.

Composites call recorded operators through T, so they differentiate by themselves.
"""
from cpython.ref cimport PyObject, Py_INCREF
from cpython.sequence cimport PySequence_GetItem
from libc.stdint cimport uint32_t
from libc.math cimport NAN
from autograd_cy._C.checked cimport AG_MUL
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_to_complex, g_default_dtype, DT_BOOL, DT_SIZE, DT_U8, dt_category, dt_object,
    DT_F16, DT_BF16, DT_F32, DT_F64)
from autograd_cy._C.indexing cimport put_indices
from autograd_cy._C.iterate cimport (
    cast, copy_into, resize_out, clone_plain, broadcast_shape, result_dtype)
from autograd_cy._C.loss cimport nll_loss_backward_plain
from autograd_cy._C.node cimport Node, OutMeta, needs, zeros_for
from autograd_cy._C.tensor cimport (
    Tensor, sizes_of, dims_of, requires_grad, same_shape, tls_modes, wrap_int, wrap_double,
    wrap_number, check_fits, describe, element_value, F_DUAL, F_WRAPPED, F_BATCHED, F_GRAD_PATH,
    F_REQUIRES_GRAD, F_STRIDED, F_INFERENCE, M_NO_GRAD, M_INFERENCE, bump_version)
include "operators_of_formulas.pxi"


# --- gradients in and out of nodes ----------------------------------------------------------

cdef PyObject* give(Tensor t) noexcept:
    if t is None:
        return NULL
    Py_INCREF(t)
    return <PyObject*>t


cdef int give_all(Node n, PyObject** gout, int start, tuple grads) except -1:
    cdef Py_ssize_t i
    for i in range(len(grads)):
        if needs(n, start + <int>i):
            gout[start + i] = give(<Tensor>grads[i])
    return 0


cdef bint any_needed(Node n) noexcept:
    cdef int i
    for i in range(n.n_edges):
        if needs(n, i):
            return True
    return False


cdef tuple materialise(Node n, PyObject** gin):
    cdef int i
    return tuple([<object>gin[i] if gin[i] != NULL else zeros_for(n, i) for i in range(n.n_out)])


cdef inline OutMeta* edge_meta(Node n, int i) noexcept:
    return &(<Node>n.edges[i].node).metas[n.edges[i].nr]


cdef tuple edge_shape(Node n, int i):
    cdef OutMeta* m = edge_meta(n, i)
    cdef int d
    return tuple([m.shape[d] for d in range(m.ndim)])


cdef Py_ssize_t edge_ndim(Node n, int i) noexcept:
    return edge_meta(n, i).ndim


cdef int edge_dtype(Node n, int i) noexcept:
    return edge_meta(n, i).dt


cdef Py_ssize_t edge_numel(Node n, int i) noexcept:
    cdef OutMeta* m = edge_meta(n, i)
    cdef Py_ssize_t r = 1
    cdef int d
    for d in range(m.ndim):
        r *= m.shape[d]
    return r


# --- flags ----------------------------------------------------------------------------------

cdef uint32_t flags_of(tuple tensors) noexcept:
    cdef uint32_t f = 0
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        f |= (<Tensor>tensors[i]).flags
    return f


cdef bint any_requires_grad(tuple tensors) noexcept:
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        if requires_grad(<Tensor>tensors[i]):
            return True
    return False


cdef Tensor overwritten(Tensor t, uint32_t flags):
    """What to compute the new value of `t` from: a copy, if some graph may save it."""
    # What is below a vmap, and tangents, may be recorded though the tensor itself isn't.
    if flags & (F_GRAD_PATH | F_BATCHED | F_DUAL) and not (tls_modes() & M_NO_GRAD):
        return T.clone(t, -1)
    return t


cdef int check_out(Tensor out, uint32_t flags, str op) except -1:
    if out.flags & F_INFERENCE and not (tls_modes() & M_INFERENCE):
        raise RuntimeError(
            f"{op}(): Inplace update to inference tensor outside InferenceMode is not allowed. You "
            "can make a clone to get a normal tensor before doing inplace update.")
    if (flags | out.flags) & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD):
        if (flags | out.flags) & F_REQUIRES_GRAD or requires_grad(out):
            raise RuntimeError(
                f"{op}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            )
    if (flags | out.flags) & F_DUAL:
        raise NotImplementedError(
            f"Trying to use forward AD with {op}_out that does not support it because it is an "
            "out= function; use the form without out="
        )
    if (flags | out.flags) & F_BATCHED:
        raise RuntimeError(f"vmap: {op} with out= is not possible under vmap; leave out= away")
    return 0


cdef Tensor widened(Tensor a, Tensor out):
    """A tensor of half precision in the dtype of `out`, if that is a wider one."""
    return cast(a, out.dt) if a.dt in (DT_F16, DT_BF16) and out.dt in (DT_F32, DT_F64) else a


cdef int write_out(Tensor out, Tensor value, str op) except -1:
    if dt_category(value.dt) > dt_category(out.dt):
        raise RuntimeError(
            f"{op}: result type {dt_object(value.dt).name} can't be cast to the desired output "
            f"type {dt_object(out.dt).name}"
        )
    resize_out(out, value.nd, value.sizes, op)
    copy_into(out, value, op)
    return 0


cdef object other_out(Tensor out, int dt, str op):
    return RuntimeError(
        f"{op}: Found dtype {dt_object(out.dt).name} but expected {dt_object(dt).name}; give an "
        "out of that dtype")


cdef int need_exact_out(Tensor out, int dt, str op) except -1:
    """For operators whose ``out`` must have the dtype of the result."""
    if out.dt != dt:
        raise RuntimeError(
            f"{op}: Expected out tensor to have dtype {dt_object(dt).name}, but got "
            f"{dt_object(out.dt).name} instead; give an out of that dtype")
    return 0


cdef int write_exact_out(Tensor out, Tensor value, str op) except -1:
    need_exact_out(out, value.dt, op)
    return write_out(out, value, op)


cdef tuple outs_arg(object out, Py_ssize_t n, uint32_t flags, str op):
    """``out=`` of an operator with several outputs: a tensor for each."""
    cdef tuple given
    if not isinstance(out, (tuple, list)):
        raise TypeError(
            f"{op}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    given = tuple(out)
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"{op}(): expected Tensor as element {i} in argument 'out', but got "
                            f"{type(t).__name__}")
    if len(given) != n:
        raise TypeError(
            f"{op}(): argument 'out' must be tuple of {n} Tensors, but got {len(given)}")
    for t in given:
        check_out(<Tensor>t, flags, op)
    return given


cdef tuple write_outs(tuple out, tuple values, str op):
    cdef Py_ssize_t i
    for i in range(len(out)):
        need_exact_out(<Tensor>out[i], (<Tensor>values[i]).dt, op)
    for i in range(len(out)):
        write_out(<Tensor>out[i], <Tensor>values[i], op)
        bump_version(<Tensor>out[i])
    return out


cdef int write_truth_out(Tensor out, Tensor value, str op) except -1:
    """For operators whose truth values go into bool, or into uint8 as they once did."""
    if out.dt != DT_BOOL and out.dt != DT_U8:
        raise RuntimeError(
            f"{op} only supports bool tensor for result, got: {dt_object(out.dt).name}; uint8 is "
            "taken, too")
    return write_out(out, value, op)


cdef int refuse_dtype(int dt, str op) except -1:
    raise RuntimeError(f"{op}: not implemented for tensors of dtype {dt_object(dt).name}; convert "
                       "them first")


cdef int claim_common(Tensor a, Tensor b, uint32_t claimed, str op) except -1:
    return claim(result_dtype((a, b)), claimed, op)


# --- observation ----------------------------------------------------------------------------

cdef object _begin = None
cdef object _end = None


def _set_observer(begin, end):
    """Called around each operator while the global profile bit is set."""
    global _begin, _end
    _begin, _end = begin, end


cdef int observe_begin(str op) except -1:
    if _begin is not None:
        _begin(op)
    return 0


cdef int observe_end() except -1:
    if _end is not None:
        _end()
    return 0


# --- integers -------------------------------------------------------------------------------

cdef Py_ssize_t normal_dim(Py_ssize_t dim, Py_ssize_t ndim) except? -1:
    cdef Py_ssize_t n = ndim if ndim > 0 else 1
    if dim < -n or dim >= n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


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
        if t.nd != nd and t.nd == 1 and t.sizes[0] == 0:
            out.append(0)
        else:
            out.append(t.sizes[normal_dim(dim, t.nd)])
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


cdef tuple without(object shape, Py_ssize_t dim):
    return tuple(shape[:dim]) + tuple(shape[dim + 1:])


cdef tuple shapes_of(tuple tensors):
    return tuple([sizes_of(t) for t in tensors])


cdef bint is_number(Tensor t) noexcept:
    """Whether a tensor stands for a Python number."""
    return t is not None and t.flags & F_WRAPPED != 0


cdef object number_of(Tensor t):
    """The Python number that a tensor stands for; None for any other tensor."""
    return element_value(t.ptr, t.dt) if is_number(t) else None


# --- composites -----------------------------------------------------------------------------

cdef Tensor expand_reduced(Tensor grad, object shape, object dims, bint keepdim):
    """The gradient of a sum over `dims`: reduced dimensions come back, then everything expands."""
    cdef Py_ssize_t nd = len(shape)
    if nd == 0:
        return grad
    if not keepdim and dims is not None:
        if isinstance(dims, int):
            grad = T.unsqueeze(grad, normal_dim(dims, nd))
        elif len(dims):
            for d in sorted(normal_dims(dims, nd)):
                grad = T.unsqueeze(grad, d)
    return T.expand(grad, tuple(shape))


cdef Tensor sum_to_size(Tensor a, tuple size):
    cdef Py_ssize_t nd = len(size), extra = a.nd - nd, d
    cdef list dims
    if extra < 0:
        raise RuntimeError(f"sum_to_size: size {size} is not expandable to {describe(a)}")
    dims = list(range(extra))
    for d in range(nd):
        if a.sizes[extra + d] != size[d]:
            if size[d] != 1:
                raise RuntimeError(
                    f"size {{{list(size)}}} is not expandable to size {{{list(sizes_of(a))}}}")
            dims.append(extra + d)
    if not dims:
        return a
    return T.reshape(T.sum_dim(a, tuple(dims), True, -1), size)


cdef int viewable(Tensor a, tuple shape) except -1:
    """Whether `a` can be seen in `shape` without a copy (both have the same count)."""
    cdef Py_ssize_t view_n = len(shape), v = view_n - 1, chunk, seen, want
    cdef int d
    if not (a.flags & F_STRIDED):
        return True
    if a.count == 0:
        return True
    d = a.nd - 1
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
        while v >= 0 and (seen < chunk or shape[v] == 1):
            seen *= <Py_ssize_t>shape[v]
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
    """Whether every size is given, and they fit."""
    cdef Py_ssize_t n = 1, s
    for size in shape:
        s = size
        if s < 0 or AG_MUL(n, s, &n):
            return False
    return n == a.count


cdef Tensor reshape(Tensor a, tuple shape):
    if not a.flags & (F_STRIDED | F_BATCHED) and is_whole(a, shape):
        return T.view(a, shape)
    shape = resolve_shape(a, shape, "reshape")
    if a.flags & F_BATCHED:
        return T._reshape(a, shape)     # its vmap rule reshapes the physical tensor
    if viewable(a, shape):
        return T.view(a, shape)
    return T.view(T.clone(a, 0), shape)


cdef Tensor flatten(Tensor a, Py_ssize_t start, Py_ssize_t end):
    cdef Py_ssize_t n = 1, d
    cdef list shape
    if a.nd == 0:
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


cdef Tensor movedim(Tensor a, object source, object destination):
    cdef tuple src = normal_dims((source,) if isinstance(source, int) else tuple(source), a.nd)
    cdef tuple dst = normal_dims((destination,) if isinstance(destination, int)
                                 else tuple(destination), a.nd)
    cdef list order
    if a.nd == 0:
        return T.permute(a, ())
    if len(src) != len(dst):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(src)} dims) should "
            f"contain the same number of dims as destination ({list(dst)} dims)")
    order = [d for d in range(a.nd) if d not in src]
    for d, s in sorted(zip(dst, src)):
        order.insert(d, s)
    return T.permute(a, tuple(order))


cdef Tensor conjugate_complex(Tensor t):
    return T._conjugate(t)


cdef Tensor positive(Tensor a):
    if a.dt == DT_BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return a


cdef tuple split(Tensor a, object size, Py_ssize_t dim):
    cdef Py_ssize_t n, step, i
    if a.nd == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if isinstance(size, int):
        step = size
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"split expects split_size be non-negative, but got "
                               f"split_size={step}")
        if n == 0:
            return T._split(a, (0,), dim)
        step = min(step, n)             # the range below must not step past 2**63
        return T._split(a, tuple([min(step, n - i) for i in range(0, n, step)]), dim)
    return T.split_with_sizes(a, tuple(size), dim)


cdef tuple chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim):
    cdef Py_ssize_t n, step
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if a.nd == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    step = (n - 1) // chunks + 1 if n else 0
    if step == 0:
        return T._split(a, (0,) * chunks, dim)
    return split(a, step, dim)


cdef Tensor matmul(Tensor a, Tensor b):
    """Products by the ranks of the operands, as numpy.matmul."""
    cdef Py_ssize_t n, k, m, d
    cdef list batch
    if a.nd == 0 or b.nd == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.nd}D and {b.nd}D")
    if a.nd == 2 and b.nd == 2:
        return T.mm(a, b)
    if a.nd == 1 and b.nd == 1:
        return T.dot(a, b)
    if a.nd == 1:
        return T.squeeze_dim(matmul(T.unsqueeze(a, 0), b), (-2,))
    if b.nd == 1:
        if a.nd == 2:
            return T.mv(a, b)
        return T.squeeze_dim(matmul(a, T.unsqueeze(b, 1)), (-1,))
    if a.sizes[a.nd - 1] != b.sizes[b.nd - 2]:
        raise RuntimeError(
            f"matmul: inner sizes differ, {a.sizes[a.nd - 1]} and {b.sizes[b.nd - 2]} "
            f"(shapes {list(sizes_of(a))} and {list(sizes_of(b))})")
    if b.nd == 2:
        # Rows of all batches of a in one product.
        k = a.sizes[a.nd - 1]
        m = b.sizes[1]
        shape = tuple([a.sizes[d] for d in range(a.nd - 1)])
        n = 1
        for d in range(a.nd - 1):
            n *= a.sizes[d]
        return T.reshape(T.mm(T.reshape(a, (n, k)), b), shape + (m,))
    batch = []
    for d in range(max(a.nd, b.nd) - 2):
        n = a.sizes[a.nd - 3 - d] if a.nd - 3 - d >= 0 else 1
        k = b.sizes[b.nd - 3 - d] if b.nd - 3 - d >= 0 else 1
        if n != k and n != 1 and k != 1:
            raise RuntimeError(
                f"matmul: The size of tensor a ({n}) must match the size of tensor b ({k}) at "
                f"non-singleton dimension {max(a.nd, b.nd) - 3 - d} (shapes {list(sizes_of(a))} "
                f"and {list(sizes_of(b))})")
        batch.insert(0, k if n == 1 else n)
    n = 1
    for d in batch:
        n *= d
    lead = tuple(batch)
    left = T.reshape(T.expand(a, lead + (a.sizes[a.nd - 2], a.sizes[a.nd - 1])),
                     (n, a.sizes[a.nd - 2], a.sizes[a.nd - 1]))
    right = T.reshape(T.expand(b, lead + (b.sizes[b.nd - 2], b.sizes[b.nd - 1])),
                      (n, b.sizes[b.nd - 2], b.sizes[b.nd - 1]))
    return T.reshape(T.bmm(left, right), lead + (a.sizes[a.nd - 2], b.sizes[b.nd - 1]))


cdef Tensor as_complex(Tensor a):
    """A real tensor, or the number that it stands for, as a complex one."""
    if dt_is_complex(a.dt):
        return a
    if is_number(a):
        return wrap_number(complex(number_of(a)))
    return T._to_dtype(a, dt_to_complex(a.dt if dt_category(a.dt) == 2 else g_default_dtype))


cdef Tensor logit_backward(Tensor grad, Tensor a, object eps):
    cdef Tensor one = wrap_int(1)
    cdef Tensor slope = T.div(grad, T.mul(a, T.sub(one, a)))
    cdef double low = 0.0 if eps is None else eps
    return T.where(T.logical_or(T.lt(a, wrap_double(low)), T.gt(a, wrap_double(1.0 - low))),
                   wrap_double(NAN if eps is None else 0.0), slope)


cdef Tensor pad_corner(Tensor a, object shape):
    """`a` in the leading corner of zeros of `shape` (the gradient of a narrowed tensor)."""
    cdef int d
    for d in range(a.nd):
        if a.sizes[d] != shape[d]:
            a = T._slice_backward(a, tuple([sizes_of(a)[j] if j != d else shape[d]
                                            for j in range(a.nd)]), d, 0, a.sizes[d], 1)
    return a


cdef Tensor reduce_loss(Tensor values, int reduction):
    if reduction == 0:
        return values
    if reduction == 1:
        return T.mean(values, -1)
    return T.sum(values, -1)


cdef int reduction_code(str name) except -1:
    if name == "mean":
        return 1
    if name == "sum":
        return 2
    if name == "none":
        return 0
    raise ValueError(f"{name} is not a valid value for reduction; use 'none', 'mean' or 'sum'")


cdef Tensor cross_entropy_form(Tensor logits, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                               str reduction, double label_smoothing):
    """Negative log-likelihood of class indices, or of class probabilities of logits' shape."""
    cdef int code = reduction_code(reduction)
    cdef int axis = 0 if logits.nd == 1 else 1
    cdef Tensor logp, loss, smooth, total
    cdef Py_ssize_t classes
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if logits.nd == 0:
        raise RuntimeError("cross_entropy: input must have at least one dimension")
    logp = T.log_softmax(logits, axis, -1)
    classes = logits.sizes[axis]
    if same_shape(logits, target) and dt_category(target.dt) >= 2:
        if label_smoothing > 0.0:
            target = T.add(T.mul(target, wrap_double(1.0 - label_smoothing)),
                           wrap_double(label_smoothing / classes))
        if weight is not None:
            shape = tuple([-1 if d == axis else 1 for d in range(logits.nd)])
            logp = T.mul(logp, T.reshape(weight, shape))
        loss = T.neg(T.sum_dim(T.mul(logp, target), axis, False, -1))
        if code == 1:
            # The mean is over examples, whatever the probabilities sum to.
            return T.div(T.sum(loss, -1), wrap_double(<double>(logits.count / classes)
                                                      if classes else 1.0))
        return reduce_loss(loss, code)
    loss = <Tensor>T.nll_loss_forward(logp, target, weight, code, ignore_index)[0]
    if label_smoothing == 0.0:
        return loss
    # The uniform part: the mean over classes of the (weighted) log-probabilities.
    if weight is not None:
        shape = tuple([-1 if d == axis else 1 for d in range(logits.nd)])
        smooth = T.neg(T.sum_dim(T.mul(logp, T.reshape(weight, shape)), axis, False, -1))
    else:
        smooth = T.neg(T.sum_dim(logp, axis, False, -1))
    keep = T.ne(target, wrap_int(ignore_index))
    smooth = T.where(keep, smooth, wrap_double(0.0))
    if code == 1:
        if weight is not None:
            total = T.sum(T.where(keep, T.reshape(T.index_select(weight, 0, T.reshape(T.where(
                keep, target, wrap_int(0)), (-1,))), dims_of(target)), wrap_double(0.0)), -1)
        else:
            total = T.sum(keep, -1)
        smooth = T.div(T.sum(smooth, -1), total)
    else:
        smooth = reduce_loss(smooth, code)
    return T.add(T.mul(loss, wrap_double(1.0 - label_smoothing)),
                 T.mul(smooth, wrap_double(label_smoothing / classes)))


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


cdef Tensor flatten_rows(Tensor a):
    cdef Py_ssize_t rows = 1, d
    if a.nd == 2:
        return a
    for d in range(a.nd - 1):
        rows *= a.sizes[d]
    return T.reshape(a, (rows, a.sizes[a.nd - 1]))


cdef Tensor unmerge_batch(Tensor a, Py_ssize_t size):
    cdef tuple shape = dims_of(a)
    return T.reshape(a, (size, shape[0] // size if size else 0) + shape[1:])


cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias):
    """linear where every operand has a leading batch dimension."""
    cdef Tensor r
    cdef bint vector = x.nd == 2
    cdef tuple shape
    if vector:
        x = T.unsqueeze(x, 1)
    shape = dims_of(x)
    r = T.bmm(T.reshape(x, (shape[0], -1 if shape[0] and shape[len(shape) - 1] else 0,
                            shape[len(shape) - 1])),
              T.transpose(weight, 1, 2))
    if bias is not None:
        r = T.add(r, T.unsqueeze(bias, 1))
    r = T.reshape(r, shape[:len(shape) - 1] + (weight.sizes[1],))
    return T.squeeze_dim(r, (1,)) if vector else r


cdef Tensor batched_addmm(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha):
    return T.add(T.mul(insert_dims(a, 2), beta), T.mul(T.bmm(mat1, mat2), alpha))


cdef Tensor nll_output(Tensor a, Tensor target, Tensor weight, Py_ssize_t reduction,
                       Py_ssize_t ignore_index):
    return <Tensor>T.nll_loss_forward(a, target, weight, reduction, ignore_index)[0]


cdef Tensor nll_backward(Tensor grad, Tensor target, Tensor weight, Tensor total_weight, tuple size,
                         Py_ssize_t reduction, Py_ssize_t ignore_index):
    return nll_loss_backward_plain(grad, target, weight, total_weight, size, grad.dt,
                                   <int>reduction, ignore_index)


cdef Tensor nll_loss(Tensor a, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                     str reduction):
    return <Tensor>T.nll_loss_forward(a, target, weight, reduction_code(reduction), ignore_index)[0]


cdef Tensor mse_loss(Tensor a, Tensor b, str reduction):
    cdef int code = reduction_code(reduction)
    return T._mse_loss(a, b, code)


cdef Tensor mse_moved(Tensor moved, Tensor a, Tensor b, Py_ssize_t reduction):
    return reduce_loss(T.mul(T.mul(T.sub(a, b), moved), wrap_double(2.0)), <int>reduction)


cdef Tensor mse_each(Tensor a, Tensor b, Py_ssize_t reduction):
    cdef Tensor r = T._mse_loss(a, b, 0)
    if reduction == 0:
        return r
    r = T.reshape(r, (r.sizes[0], r.count // r.sizes[0] if r.sizes[0] else 0))
    return T.mean_dim(r, 1, False, -1) if reduction == 1 else T.sum_dim(r, 1, False, -1)


cdef tuple cat_backward(Tensor grad, object sizes, Py_ssize_t dim):
    cdef list out = []
    cdef Py_ssize_t at = 0, n
    for size in sizes:
        n = size
        out.append(T.narrow(grad, dim, at, n))
        at += n
    return tuple(out)


cdef Tensor value_like(Tensor value, Tensor other):
    """`value` as a 0-d operand that can't change the dtype of `other`."""
    if value.nd != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.nd} dimension(s).")
    if dt_is_complex(value.dt) and not dt_is_complex(other.dt):
        raise RuntimeError(
            f"value cannot be converted to type {dt_object(other.dt).name} without overflow")
    check_fits(value, other.dt)
    return value if value.dt == other.dt else T._to_dtype(value, other.dt)


cdef Tensor scatter_value(Tensor a, Py_ssize_t dim, Tensor index, Tensor value):
    return T.scatter_src(a, dim, index, T.expand(value_like(value, a), dims_of(index)))


cdef Tensor put_copy(Tensor a, object indices, Tensor values, bint accumulate):
    cdef Tensor r = clone_plain(a)
    put_indices(r, <tuple>indices, values, accumulate)
    return r


cdef Tensor masked_select(Tensor a, Tensor mask):
    cdef tuple shape
    cdef Py_ssize_t sizes[64]
    cdef int nd = broadcast_shape((a, mask), sizes, "masked_select"), d
    shape = tuple([sizes[d] for d in range(nd)])
    return T._index(T.expand(a, shape), (T.expand(mask, shape),))


# --- for tests ------------------------------------------------------------------------------

def _wrapped(number):
    """A 0-d tensor that promotes as the Python number it holds."""
    return wrap_number(number)


def _number_of(Tensor t):
    """The number that a tensor made by `_wrapped` holds; None for other tensors."""
    return number_of(t)
