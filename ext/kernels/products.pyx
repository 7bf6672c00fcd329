# cython: language_level=3
"""Matrix products of plain tensors: strides and addends; the arithmetic is in gemm.pyx.

A transposed operand is passed on as a flag; only operands without any unit stride are copied.
"""
from autograd_cy._C.dtypes cimport dt_is_complex, dt_is_integral
from autograd_cy._C.gemm cimport ensure_gemm, gemm, gemm_batched, gemm_onto
from autograd_cy._C.gemm_product cimport GEMM_INTERRUPTED, GEMM_NO_MEMORY, GEMM_OK
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport contiguous, copy_into, ew2, expand_plain
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport (
    KIND_PRODUCT, READS, UPDATES, WRITES, Launch, begin, capturing, launch, operand)
from autograd_cy._C.rules_products cimport broadcasts
from autograd_cy._C.tensor cimport Tensor, tensor_empty, tensor_window, wrap_int, element_value

cdef int K_ADD = kernel_number("add")
cdef int K_MUL = kernel_number("mul")

cdef extern from *:
    """
    /* The exception that is set already, as Cython sees one. */
    static int ag_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    static void ag_fail(const char *op, int memory, int status) {
        PyGILState_STATE state = PyGILState_Ensure();
        if (memory)
            PyErr_Format(PyExc_MemoryError, "%s: no memory for the packed operands", op);
        else
            PyErr_Format(PyExc_RuntimeError, "%s: the product failed (status %d)", op, status);
        PyGILState_Release(state);
    }
    """
    int ag_pass_on() except -1
    void ag_fail(const char* op, bint memory, int status) noexcept nogil


# One product or, with a batch, several: c = alpha * a @ b + beta * c.
cdef struct Multiply:
    char* c
    char* a
    char* b
    char* bias             # NULL, or what each row of c begins with
    int dt
    int trans_a
    int trans_b
    int status
    bint batched
    Py_ssize_t batch, m, n, k
    Py_ssize_t lda, ldb
    Py_ssize_t step_a, step_b
    double alpha
    double beta
    const char* name


cdef void run_plan(void* plan) noexcept nogil:
    cdef Multiply* t = <Multiply*>plan
    cdef Py_ssize_t ldc = t.n
    if t.bias != NULL:
        t.status = gemm_onto(t.dt, t.trans_a, t.trans_b, t.m, t.n, t.k, t.a, t.lda, t.b, t.ldb,
                             t.bias, t.c, ldc)
    elif t.batched:
        t.status = gemm_batched(
            t.dt, t.trans_a, t.trans_b, t.batch, t.m, t.n, t.k, t.alpha, 0.0, t.a, t.lda,
            t.step_a, t.b, t.ldb, t.step_b, t.beta, t.c, ldc, t.m * t.n)
    else:
        t.status = gemm(t.dt, t.trans_a, t.trans_b, t.m, t.n, t.k, t.alpha, 0.0, t.a, t.lda, t.b,
                        t.ldb, t.beta, t.c, ldc)
    if t.status != GEMM_OK and t.status != GEMM_INTERRUPTED:
        ag_fail(t.name, t.status == GEMM_NO_MEMORY, t.status)


cdef int product(Multiply* t, const char* name, Tensor c, Tensor a, Tensor b,
                 Tensor bias=None) except -1:
    """Launch it; the tensors are those that the addresses belong to."""
    cdef Launch work
    t.dt = c.dt
    t.c = c.ptr
    t.name = name
    t.bias = NULL
    ensure_gemm(c.dt)
    begin(&work, name, t, sizeof(Multiply), KIND_PRODUCT)
    if bias is not None:
        t.bias = bias.ptr
    if capturing():
        operand(&work, &t.c, c, WRITES if t.beta == 0 or bias is not None else UPDATES)
        operand(&work, &t.a, a, READS)
        operand(&work, &t.b, b, READS)
        if bias is not None:
            operand(&work, &t.bias, bias, READS)
    # In steps of team_size()'s unit; smaller products than 64 x 64 x 64 keep the GIL.
    launch(&work, run_plan, 0.125 * t.batch * t.m * t.n * t.k)
    if t.status != GEMM_OK:
        ag_pass_on()
    return 0


cdef inline void plain(Multiply* t, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k) noexcept:
    """A single product without factors."""
    t.batched = False
    t.batch = 1
    t.m, t.n, t.k = m, n, k
    t.alpha = 1
    t.beta = 0


cdef Tensor as_matrix(Tensor t, int first, char** p, int* trans, Py_ssize_t* ld):
    """Flags and leading dimension of the matrix in dimensions first, first + 1; copies if it
    must. Products ignore the leading dimension of what is stored as a single row."""
    cdef Py_ssize_t rows = t.sizes[first], cols = t.sizes[first + 1]
    cdef Py_ssize_t sr = t.strides[first], sc = t.strides[first + 1]
    cdef Tensor r
    if cols == 1 and rows != 1 and sr == 1:
        trans[0], ld[0] = 1, rows                 # a column of unit stride
    elif (sc == 1 or cols == 1) and (sr >= cols or rows == 1):
        trans[0], ld[0] = 0, sr
    elif (sr == 1 or rows == 1) and (sc >= rows or cols == 1):
        trans[0], ld[0] = 1, sc
    else:
        r = tensor_empty(t.dt, t.nd, t.sizes)
        copy_into(r, t, "contiguous")
        t = r
        trans[0], ld[0] = 0, cols
    p[0] = t.ptr
    return t


cdef Tensor left_matrix(Multiply* t, Tensor a, int first):
    return as_matrix(a, first, &t.a, &t.trans_a, &t.lda)


cdef Tensor right_matrix(Multiply* t, Tensor b, int first):
    return as_matrix(b, first, &t.b, &t.trans_b, &t.ldb)


cdef Tensor left_row(Multiply* t, Tensor v):
    v = contiguous(v)
    t.a, t.trans_a, t.lda = v.ptr, 0, v.count
    return v


cdef Tensor right_column(Multiply* t, Tensor v):
    v = contiguous(v)
    t.b, t.trans_b, t.ldb = v.ptr, 1, v.count
    return v


cdef int mm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Multiply t
    plain(&t, a.sizes[0], b.sizes[1], a.sizes[1])
    a = left_matrix(&t, a, 0)
    b = right_matrix(&t, b, 0)
    return product(&t, "mm", out, a, b)


cdef inline void many(Multiply* t, Tensor a, Tensor b) noexcept:
    plain(t, a.sizes[1], b.sizes[2], a.sizes[2])
    t.batched = True
    t.batch = a.sizes[0]


cdef int bmm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Multiply t
    many(&t, a, b)
    a = left_matrix(&t, a, 1)
    b = right_matrix(&t, b, 1)
    t.step_a, t.step_b = a.strides[0], b.strides[0]
    return product(&t, "bmm", out, a, b)


cdef int dot(Tensor out, Tensor a, Tensor b) except -1:
    cdef Multiply t
    plain(&t, 1, 1, a.count)
    a = left_row(&t, a)
    b = right_column(&t, b)
    return product(&t, "dot", out, a, b)


cdef int vdot(Tensor out, Tensor a, Tensor b) except -1:
    """The product of b and the conjugate of a."""
    cdef Multiply t
    plain(&t, 1, 1, a.count)
    b = left_row(&t, b)
    a = right_column(&t, a)
    if dt_is_complex(a.dt):
        t.trans_b = 2
    return product(&t, "vdot", out, b, a)


cdef int mv(Tensor out, Tensor a, Tensor b) except -1:
    cdef Multiply t
    plain(&t, a.sizes[0], 1, a.sizes[1])
    a = left_matrix(&t, a, 0)
    b = right_column(&t, b)
    return product(&t, "mv", out, a, b)


cdef bint is_real_number(Tensor t, double* x):
    """Return whether it is one, which is then stored."""
    cdef object value = element_value(t.ptr, t.dt)
    if isinstance(value, complex):
        if value.imag != 0:
            return False
        value = value.real
    x[0] = value
    return True


cdef int addmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Multiply t
    plain(&t, a.sizes[0], b.sizes[1], a.sizes[1])
    a = left_matrix(&t, a, 0)
    b = right_matrix(&t, b, 0)
    return add_product(&t, out, c, a, b, beta, alpha, "addmm", "addmm")


cdef int baddbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Multiply t
    many(&t, a, b)
    a = left_matrix(&t, a, 1)
    b = right_matrix(&t, b, 1)
    t.step_a, t.step_b = a.strides[0], b.strides[0]
    return add_product(&t, out, c, a, b, beta, alpha, "baddbmm", "baddbmm")


cdef int addmv(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Multiply t
    plain(&t, a.sizes[0], 1, a.sizes[1])
    a = left_matrix(&t, a, 0)
    b = right_column(&t, b)
    return add_product(&t, out, c, a, b, beta, alpha, "addmv", "addmv")


cdef int addbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    """The sum of the products is one product: of all matrices side by side, and one below the
    other."""
    cdef Multiply t
    cdef Py_ssize_t sizes[3]
    cdef Py_ssize_t strides[3]
    cdef Py_ssize_t k = a.sizes[0] * a.sizes[2]
    sizes[0], sizes[1], sizes[2] = a.sizes[1], a.sizes[0], a.sizes[2]
    strides[0], strides[1], strides[2] = a.strides[1], a.strides[0], a.strides[2]
    a = contiguous(tensor_window(a, 3, sizes, strides, 0))
    b = contiguous(b)
    plain(&t, out.sizes[0], out.sizes[1], k)
    t.a, t.trans_a, t.lda = a.ptr, 0, k
    t.b, t.trans_b, t.ldb = b.ptr, 0, t.n
    return add_product(&t, out, c, a, b, beta, alpha, "addbmm", "addbmm")


cdef int add_product(Multiply* t, Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta,
                     Tensor alpha, const char* name, str op) except -1:
    """out = beta * c + alpha * a @ b; c may be out. Where alpha is 0, nobody looks at a and b."""
    cdef Tensor r
    cdef double of_c, of_product
    if (not dt_is_integral(a.dt) and is_real_number(beta, &of_c)
            and is_real_number(alpha, &of_product)):
        t.alpha, t.beta = of_product, of_c
        if t.alpha == 0 and not is_half(a.dt):
            t.k = 0
        if t.beta != 0:
            copy_into(out, c, op)
        return product(t, name, out, a, b)
    # The factors in the dtype.
    r = tensor_empty(out.dt, out.nd, out.sizes)
    product(t, name, r, a, b)
    r = ew2(K_MUL, r, alpha, 0, None, op)
    ew2(K_ADD, r, ew2(K_MUL, c, beta, 0, None, op), 0, out, op)
    return 0


cdef int linear(Tensor out, Tensor x, Tensor weight, Tensor bias) except -1:
    cdef Multiply t
    cdef Py_ssize_t[2] turned
    cdef Py_ssize_t[2] strides
    cdef Py_ssize_t rows = 1
    cdef int d
    for d in range(x.nd - 1):
        rows *= x.sizes[d]
    if weight.nd == 1:
        turned[0], turned[1] = 1, weight.sizes[0]
        strides[0], strides[1] = weight.sizes[0] * weight.strides[0], weight.strides[0]
        weight = tensor_window(weight, 2, turned, strides, 0)
    plain(&t, rows, weight.sizes[0], weight.sizes[1])
    if x.nd == 2:
        x = left_matrix(&t, x, 0)
    else:
        x = contiguous(x)
        t.a, t.trans_a = x.ptr, t.k == 1 and rows != 1
        t.lda = rows if t.trans_a else t.k
    turned[0], turned[1] = weight.sizes[1], weight.sizes[0]
    strides[0], strides[1] = weight.strides[1], weight.strides[0]
    weight = right_matrix(&t, tensor_window(weight, 2, turned, strides, 0), 0)
    if bias is not None and bias.nd > 1:
        if not broadcasts(bias.nd, bias.sizes, out.nd, out.sizes):      # to the rows of all results
            turned[0], strides[0], strides[1] = rows, turned[1], 1
            out = tensor_window(out, 2, turned, strides, 0)
        bias = expand_plain(bias, out.nd, out.sizes, "linear")
        return add_product(&t, out, bias, x, weight, wrap_int(1), wrap_int(1), "linear", "linear")
    if bias is not None:
        if bias.count != turned[1]:             # one for all outputs
            strides[0] = 0
            bias = tensor_window(bias, 1, &turned[1], strides, 0)
        bias = contiguous(bias)
    return product(&t, "linear", out, x, weight, bias)
