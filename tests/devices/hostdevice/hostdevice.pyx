# cython: language_level=3, boundscheck=False, cdivision=True
"""
A device of its own, on memory of the host: what a backend for an accelerator would do.

Fresh memory is poisoned, and has guard bytes on both sides, which are looked at when it is freed.
Nothing of the package's kernels is used: loops here are the plainest ones.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport exp, fabs, log, sqrt, tanh
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from autograd_cy._C.devices cimport Elementwise, Services
from autograd_cy._C.dtypes cimport DT_BOOL, DT_F32, DT_F64, DT_I64, DT_SIZE
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.storage cimport StorageImpl, storage_borrow
from autograd_cy._C.tensor cimport Tensor

from autograd_cy._C import devices as _devices

cdef enum:
    GUARD = 64
    GUARD_BYTE = 0xA5
    POISON = 0xFF            # NaN in every floating dtype

cdef int broken = 0          # guards that somebody wrote over
cdef int blocks = 0          # allocated and not freed
cdef dict calls = {}         # how often each kernel ran


def state():
    return {"broken": broken, "blocks": blocks, "calls": dict(calls)}


cdef int note(str name) except -1:
    calls[name] = calls.get(name, 0) + 1
    return 0


# --- memory ---------------------------------------------------------------------------------

cdef class Block:
    cdef char* start
    cdef Py_ssize_t size

    def __dealloc__(self):
        global broken, blocks
        cdef Py_ssize_t i
        for i in range(GUARD):
            if (<uint8_t>self.start[i] != GUARD_BYTE
                    or <uint8_t>self.start[GUARD + self.size + i] != GUARD_BYTE):
                broken += 1
                break
        blocks -= 1
        free(self.start)


cdef StorageImpl* allocate(Py_ssize_t nbytes) except NULL:
    global blocks
    cdef Block block = Block.__new__(Block)
    block.start = <char*>malloc(nbytes + 2 * GUARD)
    if block.start == NULL:
        raise MemoryError("hostdevice: no memory")
    block.size = nbytes
    memset(block.start, GUARD_BYTE, nbytes + 2 * GUARD)
    memset(block.start + GUARD, POISON, nbytes)
    blocks += 1
    return storage_borrow(block.start + GUARD, nbytes, block, False)


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


# --- services -------------------------------------------------------------------------------

cdef int copy(Tensor to, Tensor source) except -1:
    cdef Py_ssize_t i
    note("copy")
    for i in range(to.count):
        memcpy(at(to, i), at(source, i), DT_SIZE[to.dt])
    return 0


cdef int cast(Tensor to, Tensor source) except -1:
    cdef Py_ssize_t i
    note("cast")
    if to.mem.device != source.mem.device or to.mem.device == 0:
        raise RuntimeError("hostdevice: a device casts what is on it")
    for i in range(to.count):
        put(at(to, i), to.dt, value(source, i))
    return 0


cdef int fill(Tensor to, const char* item) except -1:
    cdef Py_ssize_t i
    note("fill")
    for i in range(to.count):
        memcpy(at(to, i), item, DT_SIZE[to.dt])
    return 0


cdef int synchronize() except -1:
    return 0


cdef object elementwise_names = (
    "add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", "tanh", "relu", "abs", "gt", "lt", "ge",
    "where", "threshold_backward", "tanh_backward", "add_scaled", "square", "reciprocal")
cdef dict known = {kernel_number(name): name for name in elementwise_names}


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


cdef int elementwise(Elementwise* work) except -1:
    cdef Py_ssize_t[64] index
    cdef Py_ssize_t total = 1, i, k
    cdef char* p[5]
    cdef double[4] x
    cdef int a, d, dt, result
    cdef str name = known.get(work.kernel)
    if name is None:
        raise NotImplementedError(f"hostdevice: no elementwise kernel {work.kernel}")
    note(name)
    result = DT_BOOL if name in ("gt", "lt", "ge") else work.dt
    for d in range(work.nd):
        total *= work.shape[d]
    for i in range(total):
        k = i
        for a in range(work.nargs):
            p[a] = work.p[a]
        for d in range(work.nd - 1, -1, -1):
            for a in range(work.nargs):
                p[a] += k % work.shape[d] * work.strides[a][d]
            k = k // work.shape[d]
        for a in range(1, work.nargs):
            dt = DT_BOOL if name == "where" and a == 1 else work.dt
            x[a - 1] = get(p[a], dt)
        put(p[0], result, compute(name, x[0], x[1] if work.nargs > 2 else 0,
                                  x[2] if work.nargs > 3 else 0))
    return 0


# --- kernels --------------------------------------------------------------------------------

cdef int mm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Py_ssize_t i, j, k
    cdef double total
    note("mm")
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
    note("linear")
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
    note("sum")
    return reduced(out, a, dim, 1)


cdef int mean_dim(Tensor out, Tensor a, object dim, bint keepdim, int dtype) except -1:
    note("mean")
    return reduced(out, a, dim, <double>out.count / a.count)


cdef int flip(Tensor out, Tensor a, tuple dims) except -1:
    cdef Py_ssize_t i, k, place, size
    cdef int d
    note("flip")
    for i in range(a.count):
        k, place, size = i, 0, 1
        for d in range(a.nd - 1, -1, -1):
            place += (a.sizes[d] - 1 - k % a.sizes[d] if d in dims else k % a.sizes[d]) * size
            size *= a.sizes[d]
            k = k // a.sizes[d]
        put(at(out, place), out.dt, value(a, i))
    return 0


cdef int fused_sgd(tuple params, tuple grads, tuple buffers, double decay, double momentum, Tensor lr,
                   double dampening, bint nesterov, bint maximize, bint is_first_step, tuple begun,
                   Tensor grad_scale, Tensor found_inf) except -1:
    """A list of tensors comes as a tuple; numbers that change lie in memory."""
    cdef Tensor p, g, b
    cdef Py_ssize_t i, k
    cdef double d, step, scale = 1
    cdef bint first
    note("_fused_sgd_")
    if found_inf is not None and value(found_inf, 0) != 0:
        return 0
    if grad_scale is not None:
        scale = value(grad_scale, 0)
    for i in range(len(params)):
        p, g = params[i], grads[i]
        first = is_first_step and (not begun or value(<Tensor>begun[i], 0) == 0)
        for k in range(p.count):
            d = value(g, k) / scale
            if grad_scale is not None:
                put(at(g, k), g.dt, d)
            d = (-d if maximize else d) + decay * value(p, k)
            step = d
            if momentum != 0:
                b = buffers[i]
                step = d if first else momentum * value(b, k) + (1 - dampening) * d
                put(at(b, k), b.dt, step)
                step = d + momentum * step if nesterov else step
            put(at(p, k), p.dt, value(p, k) - value(lr, 0) * step)
        if begun:
            put(at(<Tensor>begun[i], 0), (<Tensor>begun[i]).dt, 1)
    return 0


cdef Services services
services.allocate = allocate
services.elementwise = elementwise
services.copy = copy
services.cast = cast
services.fill = fill
services.synchronize = synchronize

cdef object capsule(void* function, str key):
    """A kernel as `register` takes it: named by the signature that it was written for."""
    _signatures[key] = expected[key].encode()
    return PyCapsule_New(function, _signatures[key], NULL)

cdef dict _signatures = {}       # the names of capsules stay alive
cdef dict expected = {
    "mm": "int (Tensor, Tensor, Tensor)",
    "linear": "int (Tensor, Tensor, Tensor, Tensor)",
    "sum": "int (Tensor, Tensor, object, bint, int)",
    "sum_dim": "int (Tensor, Tensor, object, bint, int)",
    "mean": "int (Tensor, Tensor, object, bint, int)",
    "mean_dim": "int (Tensor, Tensor, object, bint, int)",
    "flip": "int (Tensor, Tensor, tuple)",
    "_fused_sgd_": "int (tuple, tuple, tuple, double, double, Tensor, double, bint, bint, bint, tuple,"
                   " Tensor, Tensor)",
}


def kernels():
    """{operator: capsule} of what this device has."""
    return {"mm": capsule(<void*>mm, "mm"), "linear": capsule(<void*>linear, "linear"),
            "sum": capsule(<void*>sum_dim, "sum"), "sum_dim": capsule(<void*>sum_dim, "sum_dim"),
            "mean": capsule(<void*>mean_dim, "mean"),
            "mean_dim": capsule(<void*>mean_dim, "mean_dim"), "flip": capsule(<void*>flip, "flip"),
            "_fused_sgd_": capsule(<void*>fused_sgd, "_fused_sgd_")}


def services_capsule():
    return PyCapsule_New(&services, "autograd_cy.services", NULL)


def register(name="hostdevice"):
    _devices.register(name, services_capsule(), kernels())
