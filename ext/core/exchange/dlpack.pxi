# DLPack capsules, both ways (part of exchange.pyx).
#
# A capsule owns its structure until a consumer renames it; from then on the consumer must call the
# deleter, once. Deleters may run in any thread, so ours take the GIL. Of memory on CUDA devices,
# streams wait for each other: ext/cuda/cuda_exchange.pyx lets them.
from cpython.mem cimport PyMem_RawMalloc, PyMem_RawFree
from cpython.pycapsule cimport (
    PyCapsule_New, PyCapsule_IsValid, PyCapsule_GetPointer, PyCapsule_SetName, PyCapsule_CheckExact)
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "dlpack.h":
    ctypedef struct ag_dl_version:
        uint32_t major
        uint32_t minor
    ctypedef struct ag_dl_device:
        int32_t type
        int32_t id
    ctypedef struct ag_dl_dtype:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct ag_dl_tensor:
        void* data
        ag_dl_device device
        int32_t ndim
        ag_dl_dtype dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    ctypedef struct ag_dl_managed:
        ag_dl_tensor tensor
        void* context
        void (*deleter)(ag_dl_managed*) noexcept
    ctypedef struct ag_dl_versioned:
        ag_dl_version version
        void* context
        void (*deleter)(ag_dl_versioned*) noexcept
        uint64_t flags
        ag_dl_tensor tensor
    enum:
        AG_DL_READ_ONLY, AG_DL_IS_COPIED, AG_DL_CPU, AG_DL_CUDA, AG_DL_CUDA_HOST,
        AG_DL_CUDA_MANAGED, AG_DL_INT, AG_DL_UINT, AG_DL_FLOAT, AG_DL_BFLOAT, AG_DL_COMPLEX,
        AG_DL_BOOL

cdef extern from "Python.h":
    int Py_IsInitialized() nogil

cdef const char* LEGACY = "dltensor"
cdef const char* LEGACY_USED = "used_dltensor"
cdef const char* VERSIONED = "dltensor_versioned"
cdef const char* VERSIONED_USED = "used_dltensor_versioned"


# --- export ---------------------------------------------------------------------------------

cdef void forget(StorageImpl* s) noexcept with gil:
    storage_decref(s)


cdef void delete_legacy(ag_dl_managed* m) noexcept nogil:
    # After the interpreter has ended there is no GIL to take; the memory goes with the process.
    if not Py_IsInitialized():
        return
    forget(<StorageImpl*>m.context)
    PyMem_RawFree(m)


cdef void delete_versioned(ag_dl_versioned* m) noexcept nogil:
    if not Py_IsInitialized():
        return
    forget(<StorageImpl*>m.context)
    PyMem_RawFree(m)


cdef void drop_legacy(object capsule) noexcept:
    cdef ag_dl_managed* m
    if PyCapsule_IsValid(capsule, LEGACY):
        m = <ag_dl_managed*>PyCapsule_GetPointer(capsule, LEGACY)
        if m.deleter != NULL:
            m.deleter(m)


cdef void drop_versioned(object capsule) noexcept:
    cdef ag_dl_versioned* m
    if PyCapsule_IsValid(capsule, VERSIONED):
        m = <ag_dl_versioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        if m.deleter != NULL:
            m.deleter(m)


cdef void describe_tensor(Tensor t, ag_dl_tensor* d, int64_t* sizes) noexcept:
    cdef int i
    d.data = t.ptr
    d.device.type = AG_DL_CUDA if t.mem.device else AG_DL_CPU
    d.device.id = device_index(t.mem.device)
    d.ndim = t.nd
    d.dtype.bits = <uint8_t>(8 * DT_SIZE[t.dt])
    d.dtype.lanes = 1
    d.byte_offset = 0
    d.shape = sizes
    d.strides = sizes + t.nd
    for i in range(t.nd):
        d.shape[i] = t.sizes[i]
        d.strides[i] = t.strides[i]
    if t.dt == DT_BOOL:
        d.dtype.code = AG_DL_BOOL
    elif not dt_is_signed(t.dt):
        d.dtype.code = AG_DL_UINT
    elif t.dt <= DT_I64:
        d.dtype.code = AG_DL_INT
    elif t.dt == DT_BF16:
        d.dtype.code = AG_DL_BFLOAT
    elif t.dt <= DT_F64:
        d.dtype.code = AG_DL_FLOAT
    else:
        d.dtype.code = AG_DL_COMPLEX


cdef object legacy_capsule(Tensor t):
    cdef ag_dl_managed* m
    m = <ag_dl_managed*>PyMem_RawMalloc(sizeof(ag_dl_managed) + 2 * t.nd * sizeof(int64_t))
    if m == NULL:
        raise MemoryError()
    describe_tensor(t, &m.tensor, <int64_t*>(m + 1))
    m.context = storage_incref(t.mem)
    m.deleter = delete_legacy
    try:
        return PyCapsule_New(m, LEGACY, drop_legacy)
    except BaseException:
        delete_legacy(m)
        raise


cdef object versioned_capsule(Tensor t, bint copied):
    cdef ag_dl_versioned* m
    m = <ag_dl_versioned*>PyMem_RawMalloc(sizeof(ag_dl_versioned) + 2 * t.nd * sizeof(int64_t))
    if m == NULL:
        raise MemoryError()
    describe_tensor(t, &m.tensor, <int64_t*>(m + 1))
    m.version.major = 1
    m.version.minor = 0
    m.flags = (AG_DL_READ_ONLY if t.mem.readonly else 0) | (AG_DL_IS_COPIED if copied else 0)
    m.context = storage_incref(t.mem)
    m.deleter = delete_versioned
    try:
        return PyCapsule_New(m, VERSIONED, drop_versioned)
    except BaseException:
        delete_versioned(m)
        raise


cdef bint is_on_cuda(Tensor t) except -1:
    """Return whether it is there; memory of devices that aren't CUDA's is an error."""
    if not t.flags & F_DEVICE:
        return False
    if name_of_type(device_type(t.mem.device)) != "cuda":
        raise BufferError(f"Can't export tensors on device '{device_of_code(t.mem.device)}'; use "
                          "tensor.cpu()")
    return True


cdef object cuda_exchange():
    """The module that lets streams of CUDA devices wait for each other."""
    from autograd_cy._C import cuda_exchange as module
    return module


cdef int code_of_gpu(object index, str op) except -1:
    """The code of a CUDA device by its number, which starts it."""
    try:
        return device_code(f"cuda:{int(index)}")
    except RuntimeError as error:
        raise BufferError(f"{op}: a device of type 2, GPU {index}, can't be used here, the CPU "
                          f"can: copy the data there first. ({error})") from error


cdef tuple HOST = (AG_DL_CPU, 0)


cdef tuple dl_device_of(Tensor t):
    """Kind and number of its device, as DLPack counts them."""
    return (AG_DL_CUDA, device_index(t.mem.device)) if is_on_cuda(t) else HOST


cdef int code_of_place(tuple place) except -1:
    """The device that DLPack calls so."""
    if place == (AG_DL_CPU, 0):
        return ON_CPU
    if len(place) == 2 and place[0] == AG_DL_CUDA:
        return code_of_gpu(place[1], "__dlpack__")
    raise BufferError(f"__dlpack__: tensors can be on the CPU, (1, 0), and on CUDA devices, (2, "
                      f"index), not on {place}")


cdef int check_stream(bint on_cuda, object stream) except -1:
    if stream is None or type(stream) is int and stream == -1:
        return 0
    if type(stream) is not int:
        raise TypeError(f"__dlpack__: stream must be ``int`` or ``none``, not "
                        f"{type(stream).__name__}")
    if not on_cuda:
        raise ValueError(f"__dlpack__: stream should be None on cpu, not {stream!r}")
    if stream < -1 or stream == 0:
        raise ValueError(
            f"__dlpack__: {stream} is no stream of CUDA; 1 is the default one, 2 that of each "
            "thread, and others are handles")
    return 0


def __dlpack__(Tensor self not None, *, stream=None, max_version=None, dl_device=None, copy=None):
    """
    The tensor as a DLPack capsule, which a consumer's ``from_dlpack`` takes.

    Parameters
    ----------
    stream : int, optional
        Of a tensor on a CUDA device, the consumer's stream: 1 is the default one, as is None, 2
        that of each thread, others are handles. What the consumer puts on it waits for what the
        current stream has now. With -1 nobody waits. There are no streams on the CPU.
    max_version : tuple of int, optional
        Newest version of DLPack that the consumer knows; without it, or below 1.0, the capsule is
        of the old kind.
    dl_device : tuple of int, optional
        Where the consumer wants the data: the CPU is ``(1, 0)``, the first GPU ``(2, 0)``. On
        another device than the tensor's it is a copy.
    copy : bool, optional
        True: always copy; False: never.

    Raises
    ------
    BufferError
        If the tensor requires grad, is read-only and the consumer knows only the old kind, or
        is to go to another device without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> np.from_dlpack(ag.zeros(2))
    array([0., 0.], dtype=float32)
    """
    cdef Tensor t = self
    cdef bint on_cuda
    reading(self, "__dlpack__()")
    refuse_examples(self, "__dlpack__()")
    if requires_grad(self):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    on_cuda = is_on_cuda(t)
    if t.flags & F_TURNED and not copy:
        bit, name = ("conjugate", "conj") if t.flags & F_CONJ else ("negative", "neg")
        raise BufferError(f"Can't export tensors with the {bit} bit set, use "
                          f"tensor.resolve_{name}()")
    if dl_device is not None and tuple(dl_device) != dl_device_of(t):
        if copy is not None and not copy:
            raise BufferError(f"__dlpack__: the data is on {dl_device_of(t)}, and goes to "
                              f"{tuple(dl_device)} by a copy, which copy=False forbids")
        t = to_device(resolved(t), code_of_place(tuple(dl_device)))
        copy = True
    elif copy:
        t = clone_plain(self)
    check_stream(on_cuda or t.flags & F_DEVICE != 0, stream)
    if t.flags & F_DEVICE and stream != -1:
        cuda_exchange().let_wait(t.mem.device, 1 if stream is None else stream)
    if max_version is not None and max_version[0] >= 1:
        return versioned_capsule(t, bool(copy))
    if t.mem.readonly:
        raise BufferError(
            "__dlpack__: read-only memory can be exported only with max_version=(1, 0); "
            "copy the tensor with .clone()"
        )
    return legacy_capsule(t)


def __dlpack_device__(Tensor self not None):
    """Kind and number of the device, as DLPack counts them: the CPU is ``(1, 0)``."""
    return dl_device_of(self)


# --- import ---------------------------------------------------------------------------------

cdef class DLPackOwner:
    """Keep imported memory alive; call the producer's deleter when the last tensor is gone."""
    cdef ag_dl_managed* legacy
    cdef ag_dl_versioned* versioned

    def __dealloc__(self):
        if self.legacy != NULL and self.legacy.deleter != NULL:
            self.legacy.deleter(self.legacy)
        if self.versioned != NULL and self.versioned.deleter != NULL:
            self.versioned.deleter(self.versioned)


cdef double MOST_BYTES = 2.0 ** 62


cdef int dtype_code_of(const ag_dl_dtype* d) except -1:
    cdef int bits = d.bits
    if d.lanes == 1:
        if d.code == AG_DL_BOOL and bits == 8:
            return DT_BOOL
        if d.code == AG_DL_UINT and bits in (8, 16, 32, 64):
            return DT_U8 if bits == 8 else (
                DT_U16 if bits == 16 else (DT_U32 if bits == 32 else DT_U64))
        if d.code == AG_DL_INT and bits in (8, 16, 32, 64):
            return DT_I8 if bits == 8 else (
                DT_I16 if bits == 16 else (DT_I32 if bits == 32 else DT_I64))
        if d.code == AG_DL_FLOAT and bits in (16, 32, 64):
            return DT_F16 if bits == 16 else (DT_F32 if bits == 32 else DT_F64)
        if d.code == AG_DL_BFLOAT and bits == 16:
            return DT_BF16
        if d.code == AG_DL_COMPLEX and bits in (64, 128):
            return DT_C64 if bits == 64 else DT_C128
    raise BufferError(
        f"from_dlpack: no tensor has this element type (code {d.code}, {bits} bits, "
        f"{d.lanes} lanes)"
    )


cdef Tensor tensor_from_dlpack(ag_dl_tensor* d, DLPackOwner owner, bint readonly):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t extent = 1
    cdef double reach = 1, elements = 1     # which don't overflow
    cdef int dt = dtype_code_of(&d.dtype)
    cdef char* data = <char*>d.data + d.byte_offset
    cdef StorageImpl* s
    cdef int i, device = ON_CPU
    if d.device.type == AG_DL_CUDA or d.device.type == AG_DL_CUDA_MANAGED:
        device = code_of_gpu(d.device.id, "from_dlpack")
    elif d.device.type != AG_DL_CPU and d.device.type != AG_DL_CUDA_HOST:
        raise BufferError(
            f"from_dlpack: the data is on a device of type {d.device.type}; only the CPU (1) and "
            "CUDA devices (2) can be read. Copy it to the host first."
        )
    if d.ndim > MAX_DIMS or d.ndim < 0:
        raise BufferError(f"from_dlpack: a tensor has at most {MAX_DIMS} dimensions, not {d.ndim}")
    for i in range(d.ndim):
        shape[i] = d.shape[i]
        if shape[i] < 0:
            raise BufferError(f"from_dlpack: negative size {shape[i]}")
        if shape[i] == 0:
            extent = 0
        elements *= shape[i]
        if d.strides != NULL and shape[i] > 1:
            reach += <double>(shape[i] - 1) * d.strides[i]
    if extent and max(reach, elements) * DT_SIZE[dt] > MOST_BYTES:
        raise BufferError(
            f"from_dlpack: no memory has {max(reach, elements):.3g} elements of {DT_SIZE[dt]} "
            "bytes")
    for i in range(d.ndim - 1, -1, -1):
        if extent == 0 or d.strides == NULL:
            break
        strides[i] = d.strides[i] if shape[i] > 1 else 1
        if strides[i] < 0:
            raise BufferError(
                "from_dlpack: negative strides are not supported; copy the array first"
            )
        extent += (shape[i] - 1) * strides[i]
    if extent and d.strides == NULL:
        for i in range(d.ndim):
            extent *= shape[i]
    if extent and <size_t>data % <size_t>min(DT_SIZE[dt], 8):
        raise BufferError("from_dlpack: the elements do not lie on multiples of their size")
    if extent and d.device.type == AG_DL_CUDA:
        cuda_exchange().refuse_other_memory(
            "from_dlpack", <size_t>data, extent * DT_SIZE[dt], device_index(device))
    s = storage_borrow(data, extent * DT_SIZE[dt], owner, readonly)
    s.device = <uint16_t>device
    try:
        return mark_mode(mark_raw(tensor_on(
            s, data, dt, d.ndim, shape, NULL if extent == 0 or d.strides == NULL else strides)))
    finally:
        storage_decref(s)


cdef Tensor consume(object capsule):
    cdef DLPackOwner owner = DLPackOwner.__new__(DLPackOwner)
    cdef ag_dl_versioned* v
    cdef ag_dl_managed* m
    if PyCapsule_IsValid(capsule, VERSIONED):
        v = <ag_dl_versioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        if v.version.major != 1:
            # Not ours to read; the capsule keeps its structure and frees it.
            raise BufferError(
                f"from_dlpack: DLPack {v.version.major}.{v.version.minor} is not supported"
            )
        PyCapsule_SetName(capsule, VERSIONED_USED)
        owner.versioned = v
        return tensor_from_dlpack(&v.tensor, owner, (v.flags & AG_DL_READ_ONLY) != 0)
    if PyCapsule_IsValid(capsule, LEGACY):
        m = <ag_dl_managed*>PyCapsule_GetPointer(capsule, LEGACY)
        PyCapsule_SetName(capsule, LEGACY_USED)
        owner.legacy = m
        return tensor_from_dlpack(&m.tensor, owner, False)
    raise RuntimeError(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
        "only once, so you might have already constructed a tensor from it once."
    )


cdef object request_capsule(object source, object copy):
    export = getattr(source, "__dlpack__", None)
    if export is None:
        raise RuntimeError(
            f"from_dlpack received an invalid capsule: {type(source).__name__} is none, and has no "
            "__dlpack__ method"
        )
    where = tuple(source.__dlpack_device__())
    options = {} if copy is None else {"copy": copy}
    stream = {}
    if where[0] in (AG_DL_CUDA, AG_DL_CUDA_MANAGED):
        # The producer lets our current stream wait for its own.
        stream["stream"] = cuda_exchange_of(where[1]).number_of_stream(int(where[1]))
    elif where[0] not in (AG_DL_CPU, AG_DL_CUDA_HOST):
        raise BufferError(
            f"from_dlpack: the data is on device {where}; only the CPU, (1, 0), and CUDA devices, "
            "(2, index), can be read. Copy it to the host first."
        )
    try:
        if not options and not stream:
            return export(max_version=(1, 0))
        return export(max_version=(1, 0), **options, **stream)
    except TypeError:
        # A producer from before DLPack 1.0 knows no version and no copies; it shares its memory.
        return export(**stream)


cdef object cuda_exchange_of(object index):
    """Return the exchange module of a CUDA device, which is started, or raise the error that says
    why it can't be."""
    code_of_gpu(index, "from_dlpack")
    return cuda_exchange()


cdef Tensor import_dlpack(object source, object copy):
    cdef Scope _seen = NULL
    cdef object capsule
    cdef Tensor t
    no_launch("from_dlpack", "others may write that memory, which would not be done again")
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_FROM_DLPACK, (source,))
    if PyCapsule_CheckExact(source):
        t = consume(source)
        return mark_mode(clone_plain(t)) if copy else t
    capsule = request_capsule(source, copy)
    copied = (PyCapsule_IsValid(capsule, VERSIONED) and (
        (<ag_dl_versioned*>PyCapsule_GetPointer(capsule, VERSIONED)).flags & AG_DL_IS_COPIED))
    t = consume(capsule)
    return mark_mode(clone_plain(t)) if copy and not copied else t


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """
    A tensor on the memory of another library's array.

    Parameters
    ----------
    ext_tensor : object
        Anything with ``__dlpack__`` (arrays of NumPy, PyTorch, JAX, ...), or a DLPack capsule.
    device : device, optional
        Where the tensor is to be; elsewhere than the memory it is a copy.
    copy : bool, optional
        True: always copy; False: raise rather than copy.

    Returns
    -------
    Tensor
        Read-only if the producer says that its memory is.

    Raises
    ------
    BufferError
        If the memory is neither on the CPU nor on a CUDA device, has negative strides, or no
        tensor has the element type.
    RuntimeError
        If the capsule was consumed before.

    Notes
    -----
    Of memory on a CUDA device, the producer lets the current stream wait for its own; nobody waits
    for a bare capsule. Keep the tensor until work of other streams on it is done.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> ag.from_dlpack(np.arange(3))
    tensor([0, 1, 2])
    """
    cdef Tensor result = import_dlpack(ext_tensor, copy)
    return result if device is None else to_device(result, device_code(device))


# --- the CUDA array interface -----------------------------------------------------------------

def _cuda_array_interface(Tensor self not None):
    """
    Address, shape and strides of a tensor on a CUDA device, as version 3 of the protocol has them.

    Raises
    ------
    AttributeError
        If the tensor isn't on a CUDA device.
    RuntimeError
        If it requires grad, or is a lazy conjugate.
    TypeError
        If it is bfloat16, which the protocol doesn't know; DLPack does.
    """
    if not self.flags & F_DEVICE or name_of_type(device_type(self.mem.device)) != "cuda":
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {tensor_type_name(self)} "
            "If CUDA data is required use tensor.cuda() to copy tensor to device memory.")
    reading(self, "__cuda_array_interface__")
    refuse_examples(self, "__cuda_array_interface__")
    if requires_grad(self):
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients "
            "aren't required, use var.detach() to get Variable that doesn't require grad.")
    if self.flags & F_TURNED:
        bit, name = ("conjugate", "conj") if self.flags & F_CONJ else ("negative", "neg")
        raise RuntimeError(f"Can't get __cuda_array_interface__ on Tensor that has {bit} bit set. "
                           f"Use tensor.resolve_{name}() first.")
    if self.dt == DT_BF16:
        raise TypeError("Can't get __cuda_array_interface__ on a tensor of bfloat16, which has no "
                        "type string. Use DLPack, or tensor.float().")
    item = DT_SIZE[self.dt]
    return {
        "typestr": dt_numpy(self.dt).str,
        "shape": tuple([self.sizes[i] for i in range(self.nd)]),
        "strides": (None if tensor_is_contiguous(self) else
                    tuple([self.strides[i] * item for i in range(self.nd)])),
        "data": (<size_t>self.ptr if self.count else 0, bool(self.mem.readonly)),
        "version": 3,
        "stream": cuda_exchange().number_of_stream(device_index(self.mem.device)),
    }


cdef Tensor tensor_of_interface(object source):
    """A tensor on the memory that `source.__cuda_array_interface__` shows."""
    no_launch("as_tensor", "others may write that memory, which would not be done again")
    device_code("cuda")
    return mark_mode(cuda_exchange().from_interface(source))
