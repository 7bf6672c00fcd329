# Making tensors on new or given memory; no autograd metadata is set (part of tensor.pyx).

cdef inline Tensor blank():
    cdef Tensor t = Tensor.__new__(Tensor)
    # Tracked only once Python state is attached: the collector's walks over young objects
    # would otherwise cost more than most operations (docs/architecture.md, "Garbage").
    PyObject_GC_UnTrack(<PyObject*>t)
    return t


cdef int set_geometry(Tensor t, int ndim, const Py_ssize_t* shape,
                      const Py_ssize_t* strides) except -1:
    """Set shape and strides (NULL: C-contiguous), the count and the F_STRIDED flag."""
    cdef Py_ssize_t* geometry
    cdef Py_ssize_t n = 1
    cdef Py_ssize_t expected, size
    cdef int i
    cdef bint strided = False, overflow = False
    if ndim > INLINE_DIMS:
        if ndim > MAX_DIMS:
            raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions, not {ndim}")
        geometry = <Py_ssize_t*>PyMem_Malloc(2 * ndim * sizeof(Py_ssize_t))
        if geometry == NULL:
            raise MemoryError()
    else:
        geometry = t.dims
    for i in range(ndim - 1, -1, -1):
        if strides != NULL and strides[i] != n and shape[i] != 1:
            strided = True
        overflow |= AG_MUL(n, shape[i], &n)
    if overflow:
        if geometry != t.dims:
            PyMem_Free(geometry)
        raise RuntimeError(
            f"numel: integer multiplication overflow (shape {[shape[i] for i in range(ndim)]})")
    if strides != NULL:
        for i in range(ndim):
            # Copied from the end first: the source may be `geometry` itself only when equal.
            geometry[ndim + i] = strides[i]
        for i in range(ndim):
            geometry[i] = shape[i]
    else:
        expected = 1
        for i in range(ndim - 1, -1, -1):
            size = shape[i]
            geometry[i] = size
            geometry[ndim + i] = expected
            if size > 1:
                expected *= size
    if t.sizes != NULL and t.sizes != t.dims:
        PyMem_Free(t.sizes)
    t.sizes = geometry
    t.strides = geometry + ndim
    t.nd = <uint8_t>ndim
    t.count = n
    if strided and n > 1:
        t.flags |= F_STRIDED
    else:
        t.flags &= ~<uint32_t>F_STRIDED
    return 0


cdef Py_ssize_t checked_numel(int ndim, const Py_ssize_t* shape, Py_ssize_t item) except -1:
    """Number of elements; raises when the size in bytes does not fit."""
    cdef Py_ssize_t n = 1
    cdef int i
    cdef Py_ssize_t limit = (<Py_ssize_t>1 << 62) // item
    for i in range(ndim):
        if shape[i] < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {shape[i]}: "
                f"{[shape[j] for j in range(ndim)]}"
            )
    for i in range(ndim):
        if shape[i] == 0:
            return 0
    for i in range(ndim):
        if n > limit // shape[i]:
            raise RuntimeError(
                "Storage size calculation overflowed with sizes="
                f"{[shape[j] for j in range(ndim)]} (elements of {item} bytes)")
        n *= shape[i]
    return n


cdef Tensor tensor_empty(int dt, int ndim, const Py_ssize_t* shape):
    cdef Tensor t
    cdef Py_ssize_t n = 1
    if ndim == 1 and 0 <= shape[0] < <Py_ssize_t>1 << 40:
        n = shape[0]
    elif ndim != 0:
        n = checked_numel(ndim, shape, DT_SIZE[dt])
    t = blank()
    t.dt = <uint8_t>dt
    set_geometry(t, ndim, shape, NULL)
    t.mem = storage_new(n * DT_SIZE[dt])
    t.ptr = t.mem.data
    if ag_tls_modes & M_INFERENCE:
        t.flags |= F_INFERENCE
    return t


cdef Tensor tensor_empty_strided(int dt, int ndim, const Py_ssize_t* shape,
                                 const Py_ssize_t* strides):
    cdef Tensor t
    cdef Py_ssize_t nbytes = 0
    cdef int i
    if checked_numel(ndim, shape, DT_SIZE[dt]):
        for i in range(ndim):
            if strides[i] < 0:
                raise RuntimeError(f"strides must not be negative, got {strides[i]}")
        nbytes = window_bytes(ndim, shape, strides, 0, DT_SIZE[dt])
    t = blank()
    t.dt = <uint8_t>dt
    set_geometry(t, ndim, shape, strides)
    t.mem = storage_new(nbytes)
    t.ptr = t.mem.data
    if ag_tls_modes & M_INFERENCE:
        t.flags |= F_INFERENCE
    return t


cdef Tensor tensor_empty_on(int device, int dt, int ndim, const Py_ssize_t* shape,
                            const Py_ssize_t* strides):
    cdef Tensor t
    cdef StorageImpl* s
    cdef Py_ssize_t nbytes
    if device == ON_CPU:
        return (tensor_empty(dt, ndim, shape) if strides == NULL
                else tensor_empty_strided(dt, ndim, shape, strides))
    nbytes = checked_numel(ndim, shape, DT_SIZE[dt]) * DT_SIZE[dt]
    if nbytes and strides != NULL:
        nbytes = window_bytes(ndim, shape, strides, 0, DT_SIZE[dt])
    s = storage_new_on(device, nbytes)
    try:
        t = tensor_on(s, s.data, dt, ndim, shape, strides)
    finally:
        storage_decref(s)
    if ag_tls_modes & M_INFERENCE:
        t.flags |= F_INFERENCE
    return t


cdef Tensor tensor_empty_like(Tensor a, int dt):
    cdef Py_ssize_t[MAX_DIMS] strides
    if a.flags & (F_STRIDED | F_DEVICE):
        if not a.flags & F_STRIDED:
            return tensor_empty_on(a.mem.device, dt, a.nd, a.sizes, NULL)
        preserved_strides(a, strides)
        return tensor_empty_on(a.mem.device, dt, a.nd, a.sizes, strides)
    return tensor_empty(dt, a.nd, a.sizes)


cdef Tensor tensor_on(StorageImpl* s, char* data, int dt, int ndim, const Py_ssize_t* shape,
                      const Py_ssize_t* strides):
    cdef Tensor t = blank()
    t.dt = <uint8_t>dt
    set_geometry(t, ndim, shape, strides)
    t.mem = storage_incref(s)
    t.ptr = data
    if s.device:
        t.flags |= F_DEVICE
    return t


cdef Tensor mark_raw(Tensor t):
    """`t`, over memory that others write, too: bytes of bools may be other than 0 and 1."""
    if t.dt == DT_BOOL:
        t.flags |= F_RAW
    return t


cdef Tensor tensor_alias(Tensor a):
    cdef Tensor t = tensor_on(a.mem, a.ptr, a.dt, a.nd, a.sizes, a.strides)
    t.flags |= a.flags & (F_WRAPPED | F_INFERENCE | F_LAZY)
    return t


cdef Tensor tensor_turned(Tensor a, uint32_t bits):
    cdef Tensor t = tensor_alias(a)
    t.flags ^= bits
    return t


cdef Tensor tensor_window(Tensor a, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                          Py_ssize_t offset):
    cdef Tensor t = tensor_on(a.mem, a.ptr + offset * DT_SIZE[a.dt], a.dt, ndim, shape, strides)
    t.flags |= a.flags & (F_INFERENCE | F_LAZY)
    return t


cdef int replace_storage(Tensor t, Tensor source) except -1:
    """Let t show what `source` shows (geometry, dtype and memory)."""
    cdef StorageImpl* old = t.mem
    set_geometry(t, source.nd, source.sizes, source.strides)
    t.flags &= ~<uint32_t>F_BLANK
    t.dt = source.dt
    t.flags = (t.flags & ~<uint32_t>(F_LAZY | F_DEVICE)) | (source.flags & (F_LAZY | F_DEVICE))
    t.mem = storage_incref(source.mem)
    t.ptr = source.ptr
    if old != NULL:
        storage_decref(old)
    return 0


cdef int take_memory(Tensor t, Tensor source) except -1:
    """
    Let t show what `source` shows. The version counter stays that of t and of what shares it
    (views, aliases in graphs).
    """
    cdef StorageImpl* old = t.mem
    cdef StorageImpl* s = storage_alias(source.mem)
    try:
        if old.refcount == 1 and old.version == &old.own_version:
            s.own_version = old.own_version     # nobody else counts here
        else:
            storage_share_version(s, old)
        set_geometry(t, source.nd, source.sizes, source.strides)
    except BaseException:
        storage_decref(s)
        raise
    t.dt = source.dt
    t.flags = (t.flags & ~<uint32_t>(F_LAZY | F_DEVICE)) | (source.flags & (F_LAZY | F_DEVICE))
    t.ptr = source.ptr
    t.mem = s
    storage_decref(old)
    return 0
