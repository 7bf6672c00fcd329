# cython: language_level=3
"""Matrix products of plain tensors: shapes, strides and dtypes; the arithmetic is in gemm.pyx.

A transposed operand is passed on as a flag; only operands without any unit stride are copied.
"""
from libc.string cimport memcpy
from autograd_cy._C.dtypes cimport DT_SIZE, DT_BOOL, dt_object, dt_is_integral
from autograd_cy._C.gemm cimport gemm, gemm_batched, ensure_gemm
from autograd_cy._C.gemm_product cimport GEMM_INTERRUPTED, GEMM_OK, GEMM_NO_MEMORY
from autograd_cy._C.iterate cimport contiguous, copy_into, expand_plain, ew2
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.tensor cimport (
    Tensor, tensor_empty, tensor_on, tensor_window, sizes_of, element_value)

cdef int K_ADD = kernel_number("add")
cdef int K_MUL = kernel_number("mul")

cdef enum:
    RELEASE_GIL = 64 * 64 * 64     # multiply-adds: smaller products keep the GIL


cdef int same_dtype(Tensor a, Tensor b, str op) except -1:
    if a.dt != b.dt:
        raise RuntimeError(
            f"{op}: expected m1 and m2 to have the same dtype, but got: {dt_object(a.dt).name} != "
            f"{dt_object(b.dt).name}. Convert one of them with .to(dtype).")
    if a.dt == DT_BOOL:
        raise RuntimeError(f"\"{op}\" not implemented for 'Bool'; convert the operands with "
                           ".to(dtype)")
    return 0


cdef extern from *:
    """
    /* The exception that is set already, as Cython sees one. */
    static int ag_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    int ag_pass_on() except -1


cdef int check(int status, str op) except -1:
    if status == GEMM_OK:
        return 0
    if status == GEMM_INTERRUPTED:
        ag_pass_on()
    if status == GEMM_NO_MEMORY:
        raise MemoryError(f"{op}: no memory for the packed operands")
    raise RuntimeError(f"{op}: the product failed (status {status})")


cdef struct Matrix:
    char* p
    int trans
    Py_ssize_t ld


cdef Tensor as_matrix(Tensor t, int first, Matrix* m):
    """Flags and leading dimension of the matrix in dimensions first, first + 1; copies if it
    must."""
    cdef Py_ssize_t rows = t.sizes[first], cols = t.sizes[first + 1]
    cdef Py_ssize_t sr = t.strides[first], sc = t.strides[first + 1]
    if cols == 1 and rows != 1 and sr == 1:
        m.trans, m.ld = 1, rows                 # a column of unit stride
    elif (sc == 1 or cols == 1) and (sr >= cols or rows == 1):
        m.trans, m.ld = 0, sr if rows > 1 else cols
        if cols == 1 and sc != 1 and sr < 1:
            t = contiguous(t)
            m.ld = cols
    elif (sr == 1 or rows == 1) and (sc >= rows or cols == 1):
        m.trans, m.ld = 1, sc if cols > 1 else rows
    else:
        t = clone_contiguous(t)
        m.trans, m.ld = 0, cols if cols > 0 else 1
    if m.ld < 1:
        m.ld = 1
    m.p = t.ptr
    return t


cdef Tensor clone_contiguous(Tensor t):
    cdef Tensor r = tensor_empty(t.dt, t.nd, t.sizes)
    copy_into(r, t, "contiguous")
    return r


cdef int product(Tensor c, Tensor a, Tensor b, double beta, double alpha, str op) except -1:
    """c = alpha * a @ b + beta * c for matrices; c is C-contiguous."""
    cdef Matrix ma, mb
    cdef Py_ssize_t m = a.sizes[0], k = a.sizes[1], n = b.sizes[1]
    cdef Py_ssize_t ldc = n if n > 0 else 1
    cdef int status
    cdef int dt = a.dt
    a = as_matrix(a, 0, &ma)
    b = as_matrix(b, 0, &mb)
    ensure_gemm(dt)
    if m * n * k < RELEASE_GIL:
        status = gemm(dt, ma.trans, mb.trans, m, n, k, alpha, 0.0, ma.p, ma.ld, mb.p, mb.ld, beta,
                      c.ptr, ldc)
    else:
        with nogil:
            status = gemm(dt, ma.trans, mb.trans, m, n, k, alpha, 0.0, ma.p, ma.ld, mb.p, mb.ld,
                          beta, c.ptr, ldc)
    return check(status, op)


cdef Tensor mm_plain(Tensor a, Tensor b):
    cdef Py_ssize_t[2] shape
    cdef Tensor c
    if a.nd != 2 or b.nd != 2:
        raise RuntimeError(
            f"mm: {'self' if a.nd != 2 else 'mat2'} must be a matrix "
            f"(shapes {list(sizes_of(a))} and {list(sizes_of(b))})")
    if a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"mm: mat1 and mat2 shapes cannot be multiplied ({a.sizes[0]}x{a.sizes[1]} and "
            f"{b.sizes[0]}x{b.sizes[1]})")
    same_dtype(a, b, "mm")
    shape[0] = a.sizes[0]
    shape[1] = b.sizes[1]
    c = tensor_empty(a.dt, 2, shape)
    product(c, a, b, 0.0, 1.0, "mm")
    return c


cdef Tensor bmm_plain(Tensor a, Tensor b):
    cdef Py_ssize_t[3] shape
    cdef Matrix ma, mb
    cdef Py_ssize_t batch, m, k, n, sa, sb
    cdef int status, dt = a.dt
    cdef Tensor c
    if a.nd != 3 or b.nd != 3:
        raise RuntimeError(
            f"bmm: batch1 and batch2 must be 3D tensors (shapes {list(sizes_of(a))} and "
            f"{list(sizes_of(b))})")
    if a.sizes[0] != b.sizes[0] or a.sizes[2] != b.sizes[1]:
        raise RuntimeError(
            f"bmm: Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a.sizes[0]}, {a.sizes[2]}] but got: [{b.sizes[0]}, {b.sizes[1]}].")
    same_dtype(a, b, "bmm")
    batch, m, k, n = a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[2]
    shape[0], shape[1], shape[2] = batch, m, n
    c = tensor_empty(dt, 3, shape)
    a = as_matrix(a, 1, &ma)
    b = as_matrix(b, 1, &mb)
    sa, sb = a.strides[0], b.strides[0]
    ensure_gemm(dt)
    if batch * m * n * k < RELEASE_GIL:
        status = gemm_batched(dt, ma.trans, mb.trans, batch, m, n, k, 1.0, 0.0, ma.p, ma.ld, sa,
                              mb.p, mb.ld, sb, 0.0, c.ptr, n if n > 0 else 1, m * n)
    else:
        with nogil:
            status = gemm_batched(dt, ma.trans, mb.trans, batch, m, n, k, 1.0, 0.0, ma.p, ma.ld, sa,
                                  mb.p, mb.ld, sb, 0.0, c.ptr, n if n > 0 else 1, m * n)
    check(status, "bmm")
    return c


cdef Tensor as_row(Tensor v):
    cdef Py_ssize_t[2] shape
    shape[0] = 1
    shape[1] = v.sizes[0]
    from_strided = contiguous(v)
    return matrix_over(<Tensor>from_strided, shape)


cdef Tensor as_column(Tensor v):
    cdef Py_ssize_t[2] shape
    shape[0] = v.sizes[0]
    shape[1] = 1
    return matrix_over(contiguous(v), shape)


cdef Tensor matrix_over(Tensor v, Py_ssize_t* shape):
    from_mem = tensor_on(v.mem, v.ptr, v.dt, 2, shape, NULL)
    return <Tensor>from_mem


cdef Tensor dot_plain(Tensor a, Tensor b):
    cdef Tensor c
    if a.nd != 1 or b.nd != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.nd}D and {b.nd}D tensors")
    if a.sizes[0] != b.sizes[0]:
        raise RuntimeError(
            f"dot: inconsistent tensor size, expected tensor [{a.sizes[0]}] and src [{b.sizes[0]}] "
            "to have the same number of elements")
    same_dtype(a, b, "dot")
    c = tensor_empty(a.dt, 0, NULL)
    product(c, as_row(a), as_column(b), 0.0, 1.0, "dot")
    return c


cdef Tensor mv_plain(Tensor a, Tensor b):
    cdef Py_ssize_t[1] shape
    cdef Tensor c
    if a.nd != 2 or b.nd != 1 or a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"size mismatch, got input ({a.sizes[0] if a.nd else 0}), mat "
            f"({'x'.join(map(str, sizes_of(a)))}), vec ({'x'.join(map(str, sizes_of(b)))})")
    same_dtype(a, b, "mv")
    shape[0] = a.sizes[0]
    c = tensor_empty(a.dt, 1, shape)
    product(c, a, as_column(b), 0.0, 1.0, "mv")
    return c


cdef bint is_real_number(Tensor t):
    return not isinstance(element_value(t.ptr, t.dt), complex)


cdef Tensor addmm_plain(Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha):
    cdef Py_ssize_t[2] shape
    cdef Tensor r
    if a.nd != 2 or b.nd != 2 or a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"addmm: mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, sizes_of(a)))} "
            f"and {'x'.join(map(str, sizes_of(b)))})")
    same_dtype(a, b, "addmm")
    if c.dt != a.dt:
        raise RuntimeError(
            f"addmm: self and mat2 must have the same dtype, but got {dt_object(c.dt).name} and "
            f"{dt_object(a.dt).name}")
    shape[0] = a.sizes[0]
    shape[1] = b.sizes[1]
    expand_plain(c, 2, shape, "addmm")       # refuses what doesn't broadcast, before any work
    r = tensor_empty(a.dt, 2, shape)
    if is_real_number(beta) and is_real_number(alpha) and not dt_is_integral(a.dt):
        if element_value(beta.ptr, beta.dt) == 0:
            product(r, a, b, 0.0, element_value(alpha.ptr, alpha.dt), "addmm")
            return r
        copy_into(r, c, "addmm")
        product(r, a, b, element_value(beta.ptr, beta.dt), element_value(alpha.ptr, alpha.dt),
                "addmm")
        return r
    product(r, a, b, 0.0, 1.0, "addmm")
    r = ew2(K_MUL, r, alpha, 0, None, "addmm")
    return ew2(K_ADD, r, ew2(K_MUL, c, beta, 0, None, "addmm"), 0, None, "addmm")


cdef Tensor linear_plain(Tensor x, Tensor weight, Tensor bias):
    cdef Py_ssize_t[64] shape
    cdef Py_ssize_t[2] flat
    cdef Py_ssize_t[2] turned
    cdef Py_ssize_t[2] strides
    cdef Py_ssize_t rows = 1, i, n
    cdef int d
    cdef Tensor r, matrix, left, wt
    if weight.nd != 2:
        raise RuntimeError(f"linear: weight must be a matrix, got shape {list(sizes_of(weight))}")
    if x.nd == 0 or x.sizes[x.nd - 1] != weight.sizes[1]:
        raise RuntimeError(
            f"linear: input and weight.T shapes cannot be multiplied (input {list(sizes_of(x))}, "
            f"weight {list(sizes_of(weight))})")
    same_dtype(x, weight, "linear")
    n = weight.sizes[0]
    if bias is not None:
        if bias.dt != x.dt:
            raise RuntimeError(
                f"linear: bias must have the dtype of input, but got {dt_object(bias.dt).name} and "
                f"{dt_object(x.dt).name}")
        if bias.nd != 1 or bias.sizes[0] != n:
            raise RuntimeError(f"linear: bias of shape {list(sizes_of(bias))} does not match {n} "
                               "outputs")
    for d in range(x.nd - 1):
        shape[d] = x.sizes[d]
        rows *= x.sizes[d]
    shape[x.nd - 1] = n
    r = tensor_empty(x.dt, x.nd, shape)
    flat[0] = rows
    flat[1] = x.sizes[x.nd - 1]
    if x.nd == 2:
        left = x
    else:
        matrix = contiguous(x)
        left = matrix_over(matrix, flat)
    turned[0], turned[1] = weight.sizes[1], n
    strides[0], strides[1] = weight.strides[1], weight.strides[0]
    wt = tensor_window(weight, 2, turned, strides, 0)
    flat[1] = n
    matrix = r if r.nd == 2 else matrix_over(r, flat)
    if bias is None:
        product(matrix, left, wt, 0.0, 1.0, "linear")
        return r
    if bias.strides[0] == 1 or n == 1:
        for i in range(rows):
            memcpy(r.ptr + i * n * DT_SIZE[r.dt], bias.ptr, n * DT_SIZE[r.dt])
    else:
        copy_into(matrix, bias, "linear")
    product(matrix, left, wt, 1.0, 1.0, "linear")
    return r
