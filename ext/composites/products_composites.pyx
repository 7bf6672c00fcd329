# cython: language_level=3
"""Composites of the family products: records in autograd_cy/ops/products.py name them."""
from autograd_cy._C.rules_common cimport factor_fits
from autograd_cy._C.dtypes cimport dt_is_integral, dt_scalar_name, DT_BF16, DT_BOOL, DT_F16, DT_F32
from autograd_cy._C.iterate cimport broadcast_shape, one_memory, result_dtype
from autograd_cy._C.tensor cimport (
    F_LAZY, F_STRIDED, Tensor, dims_of, normal_dim, scalar_value, sizes_of, warn_once, wrap_int)
include "operators_of_products_composites.pxi"


cdef Tensor matmul(Tensor a, Tensor b, Tensor out):
    """Products by the ranks of the operands, as numpy.matmul."""
    cdef Py_ssize_t n, k, d
    cdef Tensor r
    if a.nd == 0 or b.nd == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.nd}D and {b.nd}D")
    if a.nd == 2 and b.nd == 2:
        return T.mm(a, b) if out is None else T.mm_out(a, b, out)
    if a.nd == 1 and b.nd == 1:
        return T.dot(a, b) if out is None else T.dot_out(a, b, out)
    if a.nd == 1:
        shape = dims_of(b)[:b.nd - 2] + (b.sizes[b.nd - 1],)
        r = matmul(T.unsqueeze(a, 0), b, T.unsqueeze(out, -2) if takes(out, a.dt, shape) else None)
        return out if out is not None and r.mem == out.mem else T._unsafe_view(r, shape)
    if b.nd == 1:
        if a.nd == 2:
            return T.mv(a, b) if out is None else T.mv_out(a, b, out)
        shape = dims_of(a)[:a.nd - 1]
        n = 1
        for size in shape:
            n *= size
        a = T.reshape(a, (n, a.sizes[a.nd - 1]))
        if takes(out, a.dt, shape):
            T.mv_out(a, b, T.view(out, (n,)))
            return out
        return T._unsafe_view(T.mv(a, b), shape)
    if a.sizes[a.nd - 1] != b.sizes[b.nd - 2]:
        raise RuntimeError(
            f"matmul: inner sizes differ, {a.sizes[a.nd - 1]} and {b.sizes[b.nd - 2]} "
            f"(shapes {list(sizes_of(a))} and {list(sizes_of(b))})")
    if b.nd == 2:
        # Rows of all batches of a in one product.
        k = a.sizes[a.nd - 1]
        shape = tuple([a.sizes[d] for d in range(a.nd - 1)]) + (b.sizes[1],)
        n = 1
        for d in range(a.nd - 1):
            n *= a.sizes[d]
        a = T.reshape(a, (n, k))
        if takes(out, a.dt, shape):
            T.mm_out(a, b, T.view(out, (n, shape[len(shape) - 1])))
            return out
        return T._unsafe_view(T.mm(a, b), shape)
    lead = batch_of(a, b)
    n = 1
    for size in lead:
        n *= size
    shape = lead + (a.sizes[a.nd - 2], b.sizes[b.nd - 1])
    a = T.reshape(T.expand(a, lead + (a.sizes[a.nd - 2], a.sizes[a.nd - 1])),
                  (n, a.sizes[a.nd - 2], a.sizes[a.nd - 1]))
    b = T.reshape(T.expand(b, lead + (b.sizes[b.nd - 2], b.sizes[b.nd - 1])),
                  (n, b.sizes[b.nd - 2], b.sizes[b.nd - 1]))
    if takes(out, a.dt, shape):
        T.bmm_out(a, b, T.view(out, (n, *shape[len(shape) - 2:])))
        return out
    return T._unsafe_view(T.bmm(a, b), shape)


cdef bint takes(Tensor out, int dt, tuple shape):
    """Return whether the product can be written to `out` as it is."""
    return (out is not None and out.dt == dt and not out.flags & (F_STRIDED | F_LAZY)
            and dims_of(out) == shape)


cdef tuple batch_of(Tensor a, Tensor b):
    """The dimensions of the batches, broadcast."""
    cdef Py_ssize_t n, k, d
    cdef list batch = []
    for d in range(max(a.nd, b.nd) - 2):
        n = a.sizes[a.nd - 3 - d] if a.nd - 3 - d >= 0 else 1
        k = b.sizes[b.nd - 3 - d] if b.nd - 3 - d >= 0 else 1
        if n != k and n != 1 and k != 1:
            raise RuntimeError(
                f"matmul: The size of tensor a ({n}) must match the size of tensor b ({k}) at "
                f"non-singleton dimension {max(a.nd, b.nd) - 3 - d} (shapes {list(sizes_of(a))} "
                f"and {list(sizes_of(b))})")
        batch.insert(0, k if n == 1 else n)
    return tuple(batch)


cdef Tensor unmerge_batch(Tensor a, Py_ssize_t size, Py_ssize_t rows):
    return T.reshape(a, (size, rows) + dims_of(a)[1:])


cdef Tensor batched_addmm(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha):
    return affine(T._insert_dims(a, 2), T.bmm(mat1, mat2), beta, alpha)


cdef Tensor batched_baddbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha):
    cdef Tensor product = T.bmm(T.flatten(batch1, 0, 1), T.flatten(batch2, 0, 1))
    product = unmerge_batch(product, batch1.sizes[0], batch1.sizes[1])
    return affine(T._insert_dims(a, 3), product, beta, alpha)


cdef Tensor batched_addmv(Tensor a, Tensor mat, Tensor vec, Tensor beta, Tensor alpha):
    cdef Tensor product = T.squeeze_dim(T.bmm(mat, T.unsqueeze(vec, 2)), (2,))
    return affine(T._insert_dims(a, 1), product, beta, alpha)


cdef Tensor batched_addbmm(Tensor a, Tensor batch1, Tensor batch2, Tensor beta, Tensor alpha):
    cdef Tensor product = T.bmm(T.flatten(batch1, 0, 1), T.flatten(batch2, 0, 1))
    product = unmerge_batch(product, batch1.sizes[0], batch1.sizes[1])
    product = T.sum_dim(product, 1, False, batch1.dt)
    return affine(T._insert_dims(a, 2), product, beta, alpha)


cdef Tensor outer(Tensor a, Tensor b, Tensor out):
    if a.nd != 1 or b.nd != 1:
        which = "self" if a.nd != 1 else "vec2"
        raise RuntimeError(f"outer: Expected 1-D argument {which}, but got "
                           f"{a.nd if a.nd != 1 else b.nd}-D")
    a = T.unsqueeze(a, 1)
    return T.mul(a, b) if out is None else T.mul_out(a, b, out)


cdef Tensor kron(Tensor a, Tensor b, Tensor out):
    cdef Py_ssize_t nd = max(a.nd, b.nd)
    cdef tuple left = (1,) * (nd - a.nd) + dims_of(a), right = (1,) * (nd - b.nd) + dims_of(b)
    cdef list x = [], y = [], both = [], sizes = []
    for n, m in zip(left, right):
        x += [n, 1]
        y += [1, m]
        both += [n, m]
        sizes.append(n * m)
    a = T.reshape(a, tuple(x))
    b = T.reshape(b, tuple(y))
    if takes(out, result_dtype((a, b)), tuple(sizes)) and not (
            one_memory(out, a) or one_memory(out, b)):
        T.mul_out(a, b, T.view(out, tuple(both)))
        return out
    return T.reshape(T.mul(a, b), tuple(sizes))


cdef Tensor cross(Tensor a, Tensor b, object dim, Tensor out):
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t d
    cdef int nd, i
    cdef tuple shape
    cdef Tensor left, right
    if a.nd != b.nd:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions. Got "
            f"{a.nd} and {b.nd}")
    if dim is not None and a.nd:
        d = normal_dim(dim, a.nd)
        if a.sizes[d] != 3 or b.sizes[d] != 3:
            raise RuntimeError(
                f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.sizes[d]} and "
                f"{b.sizes[d]}")
    nd = broadcast_shape((a, b), sizes, "cross")
    if a.dt != b.dt:
        raise RuntimeError(f"cross: expected scalar type {dt_scalar_name(a.dt)} but found "
                           f"{dt_scalar_name(b.dt)}; convert one with .to(dtype)")
    shape = tuple([sizes[i] for i in range(nd)])
    a = T.expand(a, shape)
    b = T.expand(b, shape)
    if dim is None:
        if 3 not in shape:
            raise RuntimeError("cross: no dimension of size 3 in input")
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\n"
            "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
            "The default value of dim will change to agree with that of linalg.cross in a future "
            "release.")
        d = shape.index(3)
    else:
        d = normal_dim(dim, nd)
    if not nd or shape[d] != 3:
        raise RuntimeError(f"cross: dimension {d} does not have size 3 (shape {list(shape)})")
    left = T.mul(T.roll(a, (-1,), (d,)), T.roll(b, (-2,), (d,)))
    right = T.mul(T.roll(a, (-2,), (d,)), T.roll(b, (-1,), (d,)))
    if out is not None and out.dt == result_dtype((a, b)):
        return T.sub_out(left, right, out)
    return T.sub(left, right)


cdef Tensor affine(Tensor a, Tensor product, Tensor beta, Tensor alpha, Tensor out=None):
    """beta * a + alpha * product; with beta 0 the values of `a` don't count, NaN neither."""
    factor_fits(beta, product.dt)
    factor_fits(alpha, product.dt)
    if scalar_value(alpha) != 1:
        product = T.mul(product, alpha)
    if scalar_value(beta) == 0:
        return product
    if scalar_value(beta) != 1:
        a = T.mul(a, beta)
    return T.add(a, product) if out is None else T.add_out(a, product, out)


cdef bint halves(Tensor a, Tensor b, Tensor c):
    """Return whether all have one half type: what is between the product and the sum is float32
    then."""
    return a.dt in (DT_F16, DT_BF16) and a.dt == b.dt == c.dt


cdef Tensor single(Tensor a):
    return T._to_dtype(a, DT_F32)


cdef Tensor addr(Tensor a, Tensor vec1, Tensor vec2, Tensor beta, Tensor alpha, Tensor out):
    cdef Tensor product
    if halves(a, vec1, vec2):
        return T._to_dtype(addr(single(a), single(vec1), single(vec2), beta, alpha, None), a.dt)
    product = outer(vec1, vec2, None)
    if a.nd > 2:
        raise RuntimeError(
            f"addr: 2D tensor expected, got {a.nd}D tensor for input (shape {list(sizes_of(a))})")
    for which, factor in (("beta", beta), ("alpha", alpha)):
        if (<Tensor>factor).dt == DT_BOOL and not (product.dt == DT_BOOL and a.dt == DT_BOOL):
            raise RuntimeError(f"addr: Boolean {which} only supported for Boolean results.")
    if dt_is_integral(product.dt) and not (dt_is_integral(beta.dt) and dt_is_integral(alpha.dt)):
        which = "alpha" if dt_is_integral(beta.dt) else "beta"
        raise RuntimeError(f"addr: For integral input tensors, argument {which} must not be a "
                           "floating point number.")
    if product.dt == DT_BOOL and a.dt == DT_BOOL:
        beta = T.ne(beta, wrap_int(0))
        alpha = T.ne(alpha, wrap_int(0))
        return T.logical_or(T.logical_and(a, beta), T.logical_and(product, alpha))
    if out is a and (a.dt != product.dt or dims_of(a) != dims_of(product)):
        out = None          # in place the result must be like the first operand
    return affine(a, product, beta, alpha, out)
