# cython: language_level=3
"""Shape rules of products of vectors and matrices."""
from autograd_cy._C.dtypes cimport dt_scalar_name, dt_type_name, DT_BOOL
from autograd_cy._C.iterate cimport expand_plain
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport missing_dim, sizes_of


cdef object unfit(Tensor x, Tensor weight, str op):
    """The error about shapes in torch's words, which are of matrices, and with the shapes given."""
    cdef Py_ssize_t width
    shapes = f"input {list(sizes_of(x))}, weight {list(sizes_of(weight))}"
    if x.nd == 0 or weight.nd != 2:
        return RuntimeError(f"{op}: input and weight.T shapes cannot be multiplied ({shapes})")
    width = x.sizes[x.nd - 1]
    return RuntimeError(
        f"{op}: mat1 and mat2 shapes cannot be multiplied ({x.count // max(width, 1)}x{width} and "
        f"{weight.sizes[1]}x{weight.sizes[0]}; {shapes})")


cdef int same_dtype(Tensor a, Tensor b, str op) except -1:
    if a.dt != b.dt:
        raise RuntimeError(
            f"{op}: expected m1 and m2 to have the same dtype, but got: {dt_type_name(a.dt)} != "
            f"{dt_type_name(b.dt)}. Convert one of them with .to(dtype).")
    if a.dt == DT_BOOL:
        raise NotImplementedError(f"\"{op}\" not implemented for 'Bool'; convert the operands with "
                                  ".to(dtype)")
    return 0


cdef int same_as_product(Tensor c, Tensor a, str op) except -1:
    """The dtype of what is added to a product."""
    if c.dt != a.dt:
        raise RuntimeError(
            f"{op}: self and mat2 must have the same dtype, but got {dt_scalar_name(c.dt)} and "
            f"{dt_scalar_name(a.dt)}")
    return 0


cdef int need_dims(Tensor t, int nd, str name, str op) except -1:
    if t.nd != nd:
        text = f"{op}: expected {name} to be {nd}-D, but got {t.nd}-D (shape {list(sizes_of(t))})"
        if nd == 3 and t.nd < (2 if name == "batch1" else 3):
            raise missing_dim(t.nd or 1, t.nd, text)
        raise RuntimeError(text)
    return 0


cdef int expands(Result* r, Tensor c, str op) except -1:
    """Refuse what doesn't broadcast to the result."""
    cdef int d, shift = r.nd - c.nd
    cdef bint fits = shift >= 0
    if fits:
        for d in range(c.nd):
            fits = fits and (c.sizes[d] == 1 or c.sizes[d] == r.sizes[d + shift])
    if not fits:
        expand_plain(c, r.nd, r.sizes, op)
    return 0


cdef int mm(Result* r, Tensor a, Tensor b, str op) except -1:
    if a.nd != 2 or b.nd != 2:
        raise RuntimeError(
            f"{op}: {'self' if a.nd != 2 else 'mat2'} must be a matrix "
            f"(shapes {list(sizes_of(a))} and {list(sizes_of(b))})")
    if a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"{op}: mat1 and mat2 shapes cannot be multiplied ({a.sizes[0]}x{a.sizes[1]} and "
            f"{b.sizes[0]}x{b.sizes[1]})")
    same_dtype(a, b, op)
    r.sizes[0] = a.sizes[0]
    r.sizes[1] = b.sizes[1]
    return result_dense(r, a.dt, 2, r.sizes)


cdef int bmm(Result* r, Tensor a, Tensor b, str op) except -1:
    if a.nd != 3 or b.nd != 3:
        raise RuntimeError(
            f"{op}: batch1 and batch2 must be 3D tensors (shapes {list(sizes_of(a))} and "
            f"{list(sizes_of(b))})")
    if a.sizes[0] != b.sizes[0] or a.sizes[2] != b.sizes[1]:
        raise RuntimeError(
            f"{op}: Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a.sizes[0]}, {a.sizes[2]}] but got: [{b.sizes[0]}, {b.sizes[1]}].")
    same_dtype(a, b, op)
    r.sizes[0] = a.sizes[0]
    r.sizes[1] = a.sizes[1]
    r.sizes[2] = b.sizes[2]
    return result_dense(r, a.dt, 3, r.sizes)


cdef int dot(Result* r, Tensor a, Tensor b, str op) except -1:
    if a.nd != 1 or b.nd != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.nd}D and {b.nd}D tensors")
    if a.sizes[0] != b.sizes[0]:
        raise RuntimeError(
            f"{op}: inconsistent tensor size, expected tensor [{a.sizes[0]}] and src "
            f"[{b.sizes[0]}] to have the same number of elements")
    same_dtype(a, b, op)
    return result_dense(r, a.dt, 0, r.sizes)


cdef int vdot(Result* r, Tensor a, Tensor b, str op) except -1:
    if a.nd != 1 or b.nd != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.nd}D and {b.nd}D tensors")
    if a.dt != b.dt:
        error = RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {dt_scalar_name(a.dt)} and "
            f"{dt_scalar_name(b.dt)}")
        error._operator = ""        # torch's word stays
        raise error
    if a.sizes[0] != b.sizes[0]:
        raise RuntimeError(
            f"{op}: inconsistent tensor size, expected tensor [{a.sizes[0]}] and src "
            f"[{b.sizes[0]}] to have the same number of elements, but got {a.sizes[0]} and "
            f"{b.sizes[0]} elements respectively")
    return result_dense(r, a.dt, 0, r.sizes)


cdef int mv(Result* r, Tensor a, Tensor b, str op) except -1:
    if a.nd != 2 or b.nd != 1 or a.sizes[1] != b.sizes[0]:
        text = (
            f"size mismatch, got input ({a.sizes[0] if a.nd else 0}), mat "
            f"({'x'.join(map(str, sizes_of(a)))}), vec ({'x'.join(map(str, sizes_of(b)))})")
        raise RuntimeError(text) if a.nd else missing_dim(0, 0, text)
    same_dtype(a, b, op)
    r.sizes[0] = a.sizes[0]
    return result_dense(r, a.dt, 1, r.sizes)


cdef int addmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1:
    if a.nd != 2 or b.nd != 2:
        raise RuntimeError(
            f"{op}: {'mat1' if a.nd != 2 else 'mat2'} must be a matrix, got "
            f"{a.nd if a.nd != 2 else b.nd}-D tensor (shapes {list(sizes_of(a))} and "
            f"{list(sizes_of(b))})")
    if a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"{op}: mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, sizes_of(a)))} "
            f"and {'x'.join(map(str, sizes_of(b)))})")
    same_dtype(a, b, op)
    same_as_product(c, a, op)
    r.sizes[0] = a.sizes[0]
    r.sizes[1] = b.sizes[1]
    result_dense(r, a.dt, 2, r.sizes)
    return expands(r, c, op)


cdef int addmv(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1:
    need_dims(a, 2, "mat", op)
    need_dims(b, 1, "vec", op)
    mv(r, a, b, op)
    same_as_product(c, a, op)
    return expands(r, c, op)


cdef int addbmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1:
    need_dims(a, 3, "batch1", op)
    need_dims(b, 3, "batch2", op)
    bmm(r, a, b, op)
    same_as_product(c, a, op)
    r.sizes[0], r.sizes[1] = r.sizes[1], r.sizes[2]
    result_dense(r, a.dt, 2, r.sizes)
    return expands(r, c, op)


cdef int baddbmm(Result* r, Tensor c, Tensor a, Tensor b, str op) except -1:
    need_dims(a, 3, "batch1", op)
    need_dims(b, 3, "batch2", op)
    bmm(r, a, b, op)
    same_as_product(c, a, op)
    return expands(r, c, op)


cdef int linear(Result* r, Tensor x, Tensor weight, Tensor bias, str op) except -1:
    cdef int d
    cdef bint vector = weight.nd == 1
    if weight.nd != 2 and not vector:
        raise RuntimeError(
            f"{op}: weight must be a matrix or a vector, got shape {list(sizes_of(weight))}")
    if x.nd == 0 or x.sizes[x.nd - 1] != weight.sizes[weight.nd - 1]:
        raise unfit(x, weight, op)
    same_dtype(x, weight, op)
    if bias is not None:
        if bias.dt != x.dt:
            raise RuntimeError(
                f"{op}: bias must have the dtype of input, but got {dt_scalar_name(bias.dt)} and "
                f"{dt_scalar_name(x.dt)}")
        if vector and bias.nd != 0:
            raise RuntimeError(
                f"{op}: a vector as weight takes a 0-d bias, got shape {list(sizes_of(bias))}")
        # One element is added to all outputs.
        if not vector and bias.nd < 2 and bias.count != 1 and (
                bias.nd != 1 or bias.sizes[0] != weight.sizes[0]):
            raise RuntimeError(
                f"{op}: bias of shape {list(sizes_of(bias))} does not match {weight.sizes[0]} "
                "outputs")
    for d in range(x.nd - 1):
        r.sizes[d] = x.sizes[d]
    if vector:
        return result_dense(r, x.dt, x.nd - 1, r.sizes)
    r.sizes[x.nd - 1] = weight.sizes[0]
    if bias is not None and bias.nd > 1:
        need_bias(bias, x.nd, r.sizes, op)
    return result_dense(r, x.dt, x.nd, r.sizes)


cdef bint broadcasts(int nd, const Py_ssize_t* sizes, int to_nd, const Py_ssize_t* to) noexcept:
    """Return whether the second shape is what the first one is expanded to."""
    cdef int d
    for d in range(nd):
        if d + to_nd - nd < 0 or sizes[d] != 1 and sizes[d] != to[d + to_nd - nd]:
            return False
    return True


cdef int need_bias(Tensor bias, int nd, const Py_ssize_t* sizes, str op) except -1:
    """A bias of several dimensions is added to the results, or one line to the rows of all results.

    Torch has both, and which one it takes depends on the strides of the input.
    """
    cdef Py_ssize_t[2] rows
    cdef int d
    if broadcasts(bias.nd, bias.sizes, nd, sizes):
        return 0
    rows[0], rows[1] = 1, sizes[nd - 1]
    for d in range(nd - 1):
        rows[0] *= sizes[d]
    if bias.nd != 2 or (bias.sizes[0] != 1) == (bias.sizes[1] != 1) or not broadcasts(
            2, bias.sizes, 2, rows):
        raise RuntimeError(
            f"{op}: bias of shape {list(sizes_of(bias))} does not broadcast to the results, of "
            f"shape {[sizes[d] for d in range(nd)]}")
    return 0
