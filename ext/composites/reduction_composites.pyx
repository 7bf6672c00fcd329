# cython: language_level=3
"""Composites of the family reduction: records in autograd_cy/ops/reduction.py name them."""
from libc.stdint cimport uint32_t

from autograd_cy._C.devices cimport device_among, has_kernel
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_is_integral, dt_promote, dt_scalar_name, DT_BF16, DT_BOOL, DT_C128, DT_C64,
    DT_F16, DT_F32, DT_F64, DT_I64)
from autograd_cy._C.iterate cimport copy_into, resize_out
from autograd_cy._C.metadata cimport normal_dims
from autograd_cy._C.out_places cimport apart
from autograd_cy._C.tensor cimport (
    F_LAZY, F_SLOW, M_NO_GRAD, Tensor, bump_version, describe_tensor, device_of, dims_of,
    normal_dim,
    requires_grad, sizes_of, tls_modes, wrap_double, wrap_int)
include "operators_of_reduction_composites.pxi"


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


cdef Tensor aminmax_backward(Tensor low_grad, Tensor high_grad, Tensor a, Tensor low, Tensor high,
                             object dim, bint keepdim):
    """The gradients are None where there is none; one of them is given."""
    cdef Tensor r = None
    if low_grad is not None:
        r = T._share_among_ties(low_grad, a, low, dim, keepdim)
    if high_grad is None:
        return r
    high_grad = T._share_among_ties(high_grad, a, high, dim, keepdim)
    return high_grad if r is None else T.add(r, high_grad)


cdef Tensor sum_to_size(Tensor a, tuple size):
    cdef Py_ssize_t nd = len(size), extra = a.nd - nd, d
    cdef list dims
    if extra < 0:
        raise RuntimeError(f"sum_to_size: size {size} is not expandable to {describe_tensor(a)}")
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


cdef Tensor trace(Tensor a):
    if a.nd != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {a.nd}")
    return T.sum(T.diagonal(a, 0, 0, 1), -1)


cdef Tensor cumprod(Tensor a, Py_ssize_t dim, int dt, Tensor out=None):
    """Return cumulative products by a recurrence, to be differentiated: without division, so that
    zeros are no exception."""
    cdef int code, wide
    cdef Tensor product
    dim = normal_dim(dim, a.nd)
    if dt < 0 and dt_is_integral(a.dt):
        dt = DT_I64
    code = a.dt if dt < 0 else dt
    if (not a.flags & F_SLOW & ~<uint32_t>F_LAZY
            and (tls_modes() & M_NO_GRAD or not requires_grad(a))
            and has_kernel(device_of(a), "_cumprod")):
        if out is not None and out.dt == code:
            return T._cumprod_(a, dim, code) if out is a else T._cumprod_out(a, dim, code, out)
        return T._cumprod(a, dim, code)
    # Partial products may overflow, or vanish, and still be factors of a number that doesn't.
    if code == DT_F16 or code == DT_BF16:
        return T._to_dtype(cumprod(T._to_dtype(a, DT_F32), dim, -1), code)
    if a.dt != code:
        a = T._to_dtype(a, code)
    if a.nd == 0 or a.sizes[dim] <= 1:
        product = T.clone(a, -1)
    elif code < DT_F16:
        product = whole_products(a, dim)
    elif code == DT_F32 or code == DT_C64:
        wide = DT_F64 if code == DT_F32 else DT_C128
        product = T._to_dtype(recorded_products(T._to_dtype(a, wide), dim), code)
    else:
        product = T.clone(recorded_products(a, dim), -1)
    return product if out is None or out.dt != code else write_out(out, product)


cdef Tensor whole_products(Tensor a, Py_ssize_t dim):
    """Return products of integers in log2(n) steps, where nothing is recorded but a mode sees the
    calls."""
    cdef Py_ssize_t n = a.sizes[dim], step = 1
    a = T.clone(a, -1)
    while step < n:
        a = T.cat((T.narrow(a, dim, 0, step),
                   T.mul(T.narrow(a, dim, step, n - step), T.narrow(a, dim, 0, n - step))), dim)
        step *= 2
    return a


cdef Tensor recorded_products(Tensor a, Py_ssize_t dim):
    """By a recurrence that starts with 1, where there was none: its factors are all that moves."""
    cdef Py_ssize_t n = a.sizes[dim]
    cdef Tensor one = T.ones_like(T.detach(T.narrow(a, dim, 0, 1)))
    # -0 + x is x, also of 0.
    cdef Tensor none = T.expand(T.neg(T.zeros_like(one)), dims_of(a))
    return T.narrow(
        T._linear_scan(T.cat((one, none), dim), T.cat((one, a), dim), dim, False), dim, 1, n)


cdef Tensor write_out(Tensor out, Tensor product):
    device_among((product, out), "cumprod")
    resize_out(out, product.nd, product.sizes, "cumprod")
    copy_into(out, product, "cumprod")
    bump_version(out)
    return out


cdef Tensor conjugate(Tensor x):
    return T._conjugate(x) if dt_is_complex(x.dt) else x


cdef Tensor neighbours(Tensor x, Py_ssize_t dim, bint later):
    """The elements before (or after) each along a dimension, 0 where there are none."""
    cdef Tensor none, rest
    if x.nd == 0:
        return T.zeros_like(x)
    dim = normal_dim(dim, x.nd)
    if x.sizes[dim] == 0:
        return x
    none = T.zeros_like(T.narrow(x, dim, 0, 1))
    rest = T.narrow(x, dim, 1 if later else 0, x.sizes[dim] - 1)
    return T.cat((rest, none) if later else (none, rest), dim)


cdef Tensor linear_scan_terms(Tensor grad, Tensor factors, Py_ssize_t dim, bint reverse):
    return T._linear_scan(grad, conjugate(factors), dim, not reverse)


cdef Tensor linear_scan_factors(Tensor grad, Tensor factors, Tensor result, Py_ssize_t dim,
                                bint reverse):
    """Return the gradient of each factor: that of its result and of the rest, times the result that
    it multiplies."""
    grad = linear_scan_terms(grad, factors, dim, reverse)
    if reverse:
        return T.mul(neighbours(grad, dim, False), conjugate(result))
    return T.mul(grad, conjugate(neighbours(result, dim, False)))


cdef Tensor linear_scan_jvp(Tensor tangent, Tensor factors, Tensor result, Py_ssize_t dim,
                            bint reverse):
    if reverse:
        tangent = neighbours(T.mul(tangent, result), dim, True)
    else:
        tangent = T.mul(tangent, neighbours(result, dim, False))
    return T._linear_scan(tangent, factors, dim, reverse)


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


cdef Tensor safe_sqrt(Tensor v, Tensor out=None):
    """The square root, with a derivative of 0 at 0."""
    cdef Tensor none
    if not v.flags & F_SLOW and (tls_modes() & M_NO_GRAD or not requires_grad(v)):
        return T.sqrt(v) if out is None or out.dt != v.dt else T.sqrt_out(v, out)
    none = T.eq(v, wrap_int(0))
    return T.where(none, wrap_int(0), T.sqrt(T.where(none, wrap_int(1), v)))


cdef Tensor norm(Tensor a, object p, object dim, bint keepdim, int dt, Tensor out=None):
    """The p-norm of the elements over dimensions (all, if None)."""
    cdef Tensor size, scale = None
    cdef double order
    cdef int half
    if dt >= 0 and dt != a.dt:
        if dt_is_complex(a.dt) and not dt_is_complex(dt):
            raise RuntimeError(
                "linalg.vector_norm: dtype should be complex for complex inputs, but got "
                f"{dt_scalar_name(dt)}")
        if dt_is_complex(dt) and not dt_is_complex(a.dt):
            raise RuntimeError(
                "linalg.vector_norm: dtype should be real for real inputs, but got "
                f"{dt_scalar_name(dt)}")
        if not dt_is_integral(a.dt) and dt_promote(a.dt, dt) != dt:
            raise RuntimeError(
                f"linalg.vector_norm: the dtype of the input ({dt_scalar_name(a.dt)}) should be "
                f"convertible without narrowing to the specified dtype ({dt_scalar_name(dt)})")
        a = T._to_dtype(a, dt)
    if dt_is_integral(a.dt):
        raise RuntimeError(
            f"norm: expected a floating point or complex tensor as input. Got "
            f"{dt_scalar_name(a.dt)}")
    if isinstance(p, str) and p != "fro":
        return norm_of_matrices(a, p, dim, keepdim)
    order = 2.0 if p is None or p == "fro" else float(p)
    if abs(order) > 1e17:       # the nth root of the number of elements rounds to 1
        order = float("inf") if order > 0.0 else float("-inf")
    if order < 0.0 or order == float("inf"):
        norm_has_value(a, order, dim)
    if a.dt in (DT_F16, DT_BF16) and order not in (1.0, float("inf"), float("-inf")):
        half = a.dt          # powers may be out of their range
        return T._to_dtype(norm(T._to_dtype(a, DT_F32), order, dim, keepdim, -1), half)
    if order == 2.0:
        if dt_is_complex(a.dt):
            size = T.sum_dim(T.real(T.mul(a, T.conj(a))), dim, keepdim, -1)
        else:
            size = (T._sum_of_squares(a, dim, keepdim)
                    if has_kernel(device_of(a), "_sum_of_squares")
                    else T.sum_dim(T.square(a), dim, keepdim, -1))
        return safe_sqrt(size, out)
    size = T.abs(a)
    if order == 0.0:
        # The derivative is zero: that of ceil, which is kept where there is nothing to count.
        size = T.where(T.ne(size, wrap_int(0)), wrap_int(1), T.ceil(size))
    if out is not None and out.dt != size.dt:
        out = None
    if order == 0.0 or order == 1.0:
        if out is not None:
            return T.sum_dim_out(size, dim, keepdim, -1, out)
        return T.sum_dim(size, dim, keepdim, -1)
    if order == float("inf"):
        return T.amax(size, dim, keepdim) if out is None else T.amax_out(size, dim, keepdim, out)
    if order == float("-inf"):
        return T.amin(size, dim, keepdim) if out is None else T.amin_out(size, dim, keepdim, out)
    # Elements of 0, and a norm of 0, add nothing to the derivative: the powers see a 1 there.
    if a.count:
        scale = T.detach(size)
        scale = whole_power(T.amax(scale, dim, True) if order > 0.0 else T.amin(scale, dim, True))
        size = T.div(size, scale)
        if not keepdim:
            scale = T.amax(scale, dim, False)
    size = power_from(size, order, 0.0 if order > 0.0 else float("inf"))
    size = T.sum_dim(size, dim, keepdim, -1)
    if scale is None:
        return power_from(size, 1.0 / order, 0.0 if order > 0.0 else None, out)
    size = power_from(size, 1.0 / order, 0.0 if order > 0.0 else None)
    return T.mul(size, scale) if out is None else T.mul_out(size, scale, out)


cdef Tensor whole_power(Tensor most):
    """
    The power of two below the element that counts most, and 1 where there is none. Divided by it,
    elements have powers within the range of the dtype; the quotients are exact.
    """
    cdef Tensor power = T.exp2(T.floor(T.log2(most)))
    cdef Tensor none = T.logical_or(
        T.eq(power, wrap_int(0)), T.ne(T.sub(power, power), wrap_int(0)))
    return T.where(none, wrap_int(1), power)


cdef int norm_has_value(Tensor a, double order, object dim) except -1:
    """Refuse the largest or smallest of no elements, of which norms of other orders are 0."""
    cdef Py_ssize_t d
    which = int(order) if order == int(order if abs(order) < 1e17 else 0) else order
    if not isinstance(dim, tuple):
        dim = () if dim is None else (dim,)
    if not dim:
        if a.count == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {which} norm on an empty tensor because "
                "the operation does not have an identity")
        return 0
    for d in dim:
        if a.nd and a.sizes[normal_dim(d, a.nd)] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {which} norm on the dimension {d} because "
                "this dimension is empty and the operation does not have an identity")
    return 0


cdef Tensor norm_of_matrices(Tensor a, str p, object dim, bint keepdim):
    """The norms that have names are made of singular values, which are interpreted."""
    from autograd_cy.linalg import matrix_norm

    if dim is None:
        dim = (-2, -1) if a.nd < 3 else tuple(range(a.nd))
    return matrix_norm(a, p, dim, keepdim)


cdef Tensor power_from(Tensor a, double exponent, object at_zero, Tensor out=None):
    """``a ** exponent`` with a constant where `a` is 0, if one is given."""
    cdef Tensor none, power = wrap_double(exponent)
    if at_zero is None:
        return T.pow(a, power) if out is None else T.pow_out(a, power, out)
    none = T.eq(a, wrap_int(0))
    a = T.pow(T.where(none, wrap_int(1), a), power)
    if out is not None:
        return T.where_out(none, wrap_double(at_zero), a, out)
    return T.where(none, wrap_double(at_zero), a)


cdef int fits_beside(Tensor a, Tensor other, Py_ssize_t dim) except -1:
    """Refuse what diff can't put before or after `a`."""
    cdef int i
    if other.nd != a.nd:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input: "
            f"{other.nd} dimensions beside {a.nd}")
    for i in range(a.nd):
        if i != dim and other.sizes[i] != a.sizes[i]:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({i}) = {a.sizes[i]}, but "
                f"got tensor.size({i}) = {other.sizes[i]}")
    return 0


cdef Tensor diff(Tensor a, Py_ssize_t n, Py_ssize_t dim, Tensor prepend, Tensor append,
                 Tensor out):
    cdef Py_ssize_t d, size, _i
    cdef list parts
    cdef Tensor later
    if a.nd == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = normal_dim(dim, a.nd)
    parts = [t for t in (prepend, a, append) if t is not None]
    for later in parts:
        fits_beside(a, later, d)
    if n == 0:
        parts = [a]                     # in torch, too, what is put before and after is dropped
    if len(parts) > 1:
        a = T.cat(tuple(parts), d)
    for _i in range(n):
        size = a.sizes[d]
        if size == 0:
            break
        later = T.narrow(a, d, 1, size - 1)
        a = T.narrow(a, d, 0, size - 1)
        if _i == n - 1 and apart(out, a.dt, a):
            if a.dt == DT_BOOL:
                return T.logical_xor_out(later, a, out)
            return T.sub_out(later, a, out)
        a = T.logical_xor(later, a) if a.dt == DT_BOOL else T.sub(later, a)
    return a if n else T.clone(a, -1)
