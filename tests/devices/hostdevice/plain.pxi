# An example of what a backend writes: plain loops for float32, float64, int64 and bool (part of
# hostdevice.pyx). They see real addresses, in the worker.

# --- single elements ------------------------------------------------------------------------

cdef double get(const char* p, int dt) except? -1.25:
    if dt == DT_F32:
        return (<float*>p)[0]
    if dt == DT_F64:
        return (<double*>p)[0]
    if dt == DT_I64:
        return <double>(<int64_t*>p)[0]
    if dt == DT_BOOL:
        return (<uint8_t*>p)[0]
    raise NotImplementedError("hostdevice: float32, float64, int64 and bool are all there is")


cdef int put(char* p, int dt, double x) except -1:
    if dt == DT_F32:
        (<float*>p)[0] = <float>x
    elif dt == DT_F64:
        (<double*>p)[0] = x
    elif dt == DT_I64:
        (<int64_t*>p)[0] = <int64_t>x
    elif dt == DT_BOOL:
        (<uint8_t*>p)[0] = x != 0
    else:
        raise NotImplementedError("hostdevice: float32, float64, int64 and bool are all there is")
    return 0


cdef char* at(Tensor t, Py_ssize_t index) noexcept:
    """The address of the element that comes `index`-th in C order."""
    cdef char* p = t.ptr
    cdef int d
    for d in range(t.nd - 1, -1, -1):
        p += index % t.sizes[d] * t.strides[d] * DT_SIZE[t.dt]
        index = index // t.sizes[d]
    return p


cdef double value(Tensor t, Py_ssize_t index) except? -1.25:
    return get(at(t, index), t.dt)


# --- elementwise ----------------------------------------------------------------------------

cdef tuple plain_names = (
    "add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", "tanh", "relu", "abs", "gt", "lt",
    "ge", "where", "threshold_backward", "tanh_backward", "add_scaled", "square", "reciprocal")


cdef double compute(str name, double a, double b, double c) except? -1.25:
    if name == "add":
        return a + b
    if name == "sub":
        return a - b
    if name == "mul":
        return a * b
    if name == "div":
        return a / b
    if name == "neg":
        return -a
    if name == "exp":
        return exp(a)
    if name == "log":
        return log(a)
    if name == "sqrt":
        return sqrt(a)
    if name == "tanh":
        return tanh(a)
    if name == "relu":
        return a if a > 0 or a != a else 0
    if name == "abs":
        return fabs(a)
    if name == "gt":
        return a > b
    if name == "lt":
        return a < b
    if name == "ge":
        return a >= b
    if name == "where":
        return b if a else c
    if name == "threshold_backward":
        return a if b > 0 else 0
    if name == "tanh_backward":
        return a * (1 - b * b)
    if name == "add_scaled":
        return a + b * c
    if name == "square":
        return a * a
    return 1 / a


cdef int has_plain(int kernel, int dt) noexcept:
    return kernel_names[kernel] in plain_names and dt in (DT_F32, DT_F64, DT_I64, DT_BOOL)


cdef int run_plain(Work w) except -1:
    cdef Elementwise* e = w.ew
    cdef Py_ssize_t total = 1, i, k
    cdef char* p[5]
    cdef double[4] x
    cdef int a, d
    cdef str name = <str>w.key
    for d in range(e.nd):
        total *= e.shape[d]
    for i in range(total):
        k = i
        for a in range(e.nargs):
            p[a] = e.p[a]
        for d in range(e.nd - 1, -1, -1):
            for a in range(e.nargs):
                p[a] += k % e.shape[d] * e.strides[a][d]
            k = k // e.shape[d]
        for a in range(1, e.nargs):
            x[a - 1] = get(p[a], e.dts[a])
        put(p[0], e.dts[0], compute(name, x[0], x[1] if e.nargs > 2 else 0,
                                    x[2] if e.nargs > 3 else 0))
    return 0


# --- kernels of operators -------------------------------------------------------------------

cdef int mm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Py_ssize_t i, j, k
    cdef double total
    for i in range(a.sizes[0]):
        for j in range(b.sizes[1]):
            total = 0
            for k in range(a.sizes[1]):
                total += value(a, i * a.sizes[1] + k) * value(b, k * b.sizes[1] + j)
            put(at(out, i * b.sizes[1] + j), out.dt, total)
    return 0


cdef int linear(Tensor out, Tensor a, Tensor weight, Tensor bias) except -1:
    cdef Py_ssize_t n = weight.sizes[1], m = weight.sizes[0], rows = out.count // m if m else 0
    cdef Py_ssize_t i, j, k
    cdef double total
    for i in range(rows):
        for j in range(m):
            total = 0 if bias is None else value(bias, j)
            for k in range(n):
                total += value(a, i * n + k) * value(weight, j * n + k)
            put(at(out, i * m + j), out.dt, total)
    return 0


cdef int reduced(Tensor out, Tensor a, object dim, double scale) except -1:
    """The sum over some dimensions; sizes of `out` say nothing of those that are gone."""
    cdef bint[64] gone
    cdef Py_ssize_t i, k, place, size
    cdef int d
    dims = range(a.nd) if dim is None or dim == () else dim if isinstance(dim, tuple) else (dim,)
    for d in range(a.nd):
        gone[d] = False
    for x in dims:
        gone[<int>(x + a.nd if x < 0 else x)] = True
    for i in range(out.count):
        put(at(out, i), out.dt, 0)
    for i in range(a.count):
        k, place, size = i, 0, 1
        for d in range(a.nd - 1, -1, -1):
            if not gone[d]:
                place += k % a.sizes[d] * size
                size *= a.sizes[d]
            k = k // a.sizes[d]
        put(at(out, place), out.dt, value(out, place) + scale * value(a, i))
    return 0


cdef int sum_dim(Tensor out, Tensor a, object dim, bint keepdim, int dtype) except -1:
    return reduced(out, a, dim, 1)


cdef int mean_dim(Tensor out, Tensor a, object dim, bint keepdim, int dtype) except -1:
    return reduced(out, a, dim, <double>out.count / a.count)


cdef int flip(Tensor out, Tensor a, tuple dims) except -1:
    cdef Py_ssize_t i, k, place, size
    cdef int d
    for i in range(a.count):
        k, place, size = i, 0, 1
        for d in range(a.nd - 1, -1, -1):
            place += (a.sizes[d] - 1 - k % a.sizes[d] if d in dims else k % a.sizes[d]) * size
            size *= a.sizes[d]
            k = k // a.sizes[d]
        put(at(out, place), out.dt, value(a, i))
    return 0


# --- kernels that check values ----------------------------------------------------------------
# What a kernel does about a bad index: it skips the element, goes on, and keeps the first fault.

cdef Fault[INDICES] faults      # the first of each device, until a synchronisation tells it


cdef bint bad_index(int64_t k, int64_t size, int kind, const char* op, int64_t dim) noexcept:
    if 0 <= k < size:
        return False
    note_fault(&faults[running], kind, op, k, size, dim)
    return True


cdef int embedding(Tensor out, Tensor weight, Tensor index) except -1:
    cdef Py_ssize_t i, j, n = weight.sizes[1]
    cdef int64_t k
    for i in range(index.count):
        k = <int64_t>value(index, i)
        if bad_index(k, weight.sizes[0], FAULT_EMBEDDING, "embedding", 0):
            continue
        for j in range(n):
            put(at(out, i * n + j), out.dt, value(weight, k * n + j))
    return 0


cdef int taken(Tensor out, Tensor a, int dim, Tensor index, bint whole, int kind,
               const char* op) except -1:
    """Each element of `out` comes from one place of `a`, which the index says along `dim`."""
    cdef Py_ssize_t i, rest, place, step, j
    cdef int64_t k
    cdef int d
    for i in range(out.count):
        rest, place, step, j = i, 0, 1, i
        for d in range(out.nd - 1, -1, -1):
            if d == dim:
                if whole:
                    j = rest % out.sizes[d]
                k = <int64_t>0
            else:
                k = rest % out.sizes[d]
            place += k * step
            step *= a.sizes[d]
            rest = rest // out.sizes[d]
        k = <int64_t>value(index, j)
        if bad_index(k, a.sizes[dim], kind, op, dim):
            continue
        step = 1
        for d in range(dim + 1, a.nd):
            step *= a.sizes[d]
        put(at(out, i), out.dt, value(a, place + k * step))
    return 0


cdef int index_select(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    return taken(out, a, <int>dim, index, True, FAULT_INDEX, "index_select")


cdef int gather(Tensor out, Tensor a, Py_ssize_t dim, Tensor index) except -1:
    return taken(out, a, <int>dim, index, False, FAULT_PLACE, "gather")


cdef dict plain_functions = {       # operator -> address
    "mm": <size_t>&mm,
    "linear": <size_t>&linear,
    "sum": <size_t>&sum_dim,
    "sum_dim": <size_t>&sum_dim,
    "mean": <size_t>&mean_dim,
    "mean_dim": <size_t>&mean_dim,
    "flip": <size_t>&flip,
    "embedding": <size_t>&embedding,
    "index_select": <size_t>&index_select,
    "gather": <size_t>&gather,
}
