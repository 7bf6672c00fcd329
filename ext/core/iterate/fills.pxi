# Filling dense memory with one element (part of iterate.pyx).

cdef enum:
    PARALLEL_BYTES = 1 << 20     # shorter fills keep the GIL and one thread


cdef struct Fill:
    char* p
    Py_ssize_t n
    int size
    char item[16]


cdef void fill_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    cdef Fill* f = <Fill*>ctx
    cdef char* p = f.p + lo * f.size
    cdef Py_ssize_t i, n = (hi - lo) * f.size, done
    cdef bint same = True
    for i in range(1, f.size):
        if f.item[i] != f.item[0]:
            same = False
            break
    if same:
        memset(p, f.item[0], <size_t>n)
        return
    for i in range(min(n, 256) // f.size):
        memcpy(p + i * f.size, f.item, <size_t>f.size)
    # Copy what is there behind itself; 4096 bytes stay in the nearest cache.
    done = min(n, 256) // f.size * f.size
    while done < n:
        i = min(min(done, 4096), n - done)
        memcpy(p + done, p, <size_t>i)
        done += i


cdef void fill_whole(void* ctx) noexcept nogil:
    cdef Fill* f = <Fill*>ctx
    cdef int threads = 1
    if f.n * f.size >= PARALLEL_BYTES:
        threads = team_size(<double>f.n * f.size / 4)
    if threads <= 1:
        if f.n:
            fill_range(f, 0, f.n)
    else:
        parallel_range(fill_range, f, f.n, threads)


cdef int fill_elements(Tensor t, const char* item) except -1:
    """Write one element of t's dtype everywhere; `t` is dense, in whatever order."""
    cdef Fill f
    cdef Launch work
    if t.flags & F_DEVICE:
        check_capture(t.mem.device, "fill_")
        return device_fill(t, item)
    f.p = t.ptr
    f.n = t.count
    f.size = <int>DT_SIZE[t.dt]
    memcpy(f.item, item, f.size)
    if capturing():
        begin(&work, "fill", &f, sizeof(f), KIND_FILL)
        operand(&work, &f.p, t, WRITES)
        work.run = fill_whole
        add_launch(&work)
    if f.n * f.size < PARALLEL_BYTES:
        if f.n:
            fill_range(&f, 0, f.n)
        return 0
    with nogil:
        fill_whole(&f)
    return 0


cdef int clear(Tensor t) except -1:
    cdef char[16] zero
    cdef Py_ssize_t n = t.count * DT_SIZE[t.dt]
    if n < PARALLEL_BYTES and not capturing() and not t.flags & F_DEVICE:
        memset(t.ptr, 0, <size_t>n)
        return 0
    memset(zero, 0, 16)
    return fill_elements(t, zero)


cdef int fill_dense(Tensor t, double value) except -1:
    cdef char[16] item
    if t.dt == DT_F32:
        (<float*>item)[0] = <float>value
    elif t.dt == DT_F64:
        (<double*>item)[0] = value
    elif t.dt == DT_I64:
        (<int64_t*>item)[0] = <int64_t>value
    else:
        store_element(item, t.dt, value)
    return fill_elements(t, item)


cdef Tensor zeros_on(int device, int dt, int nd, const Py_ssize_t* shape):
    cdef Tensor t = tensor_empty_on(device, dt, nd, shape, NULL)
    clear(t)
    return t
