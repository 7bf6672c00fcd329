# The buffer protocol of tensors (part of tensor.pyx): memoryview(t), file.write(t), MPI messages.
from cpython.buffer cimport (
    PyBUF_WRITABLE, PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_C_CONTIGUOUS, PyBUF_F_CONTIGUOUS,
    PyBUF_ANY_CONTIGUOUS)

cdef struct Exported:
    StorageImpl* mem       # the tensor may get other memory while the view lives
    Py_ssize_t dims[0]     # shape, then strides in bytes

ctypedef const char* text_t

# By dtype code; NumPy and struct know no bfloat16.
include "buffer_formats.pxi"


cdef bint is_fortran(Tensor t) noexcept:
    cdef Py_ssize_t expected = 1
    cdef int i
    for i in range(t.nd):
        if t.sizes[i] != 1 and t.strides[i] != expected:
            return False
        expected *= t.sizes[i]
    return True


cdef int export_buffer(Tensor t, Py_buffer* view, int flags) except -1:
    cdef Exported* held
    cdef bint dense = tensor_is_contiguous(t) or t.count == 0
    cdef int i
    refuse_examples(t, "buffer")
    reading(t, "the buffer protocol")
    if t.flags & F_DEVICE:
        raise BufferError(f"the memory of a tensor on device '{device_of_code(t.mem.device)}' is "
                          "not shown; use tensor.cpu()")
    if t.flags & F_TURNED:
        bit, name = ("conjugate", "conj") if t.flags & F_CONJ else ("negative", "neg")
        raise BufferError(f"the memory of a tensor that has {bit} bit set is not shown, because it "
                          f"isn't its value; use tensor.resolve_{name}()")
    if requires_grad(t) and not (ag_tls_modes & M_NO_GRAD):
        raise BufferError(
            "the memory of a tensor that requires grad is not shown; use tensor.detach()"
        )
    if t.dt == DT_BF16 and flags & PyBUF_FORMAT:
        raise BufferError("the buffer protocol has no bfloat16; convert with .float()")
    if t.mem.readonly and flags & PyBUF_WRITABLE:
        raise BufferError("the tensor shows read-only memory")
    if not dense and (
            (flags & PyBUF_STRIDES) != PyBUF_STRIDES
            or (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS
            or ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS and not is_fortran(t))):
        raise BufferError("the tensor is not contiguous; use tensor.contiguous()")
    if (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS and not is_fortran(t):
        raise BufferError("the tensor is not contiguous in Fortran order")
    held = <Exported*>PyMem_Malloc(sizeof(Exported) + 2 * t.nd * sizeof(Py_ssize_t))
    if held == NULL:
        raise MemoryError()
    for i in range(t.nd):
        held.dims[i] = t.sizes[i]
        held.dims[t.nd + i] = t.strides[i] * DT_SIZE[t.dt]
    held.mem = storage_incref(t.mem)
    view.buf = t.ptr
    view.obj = t
    view.len = t.count * DT_SIZE[t.dt]
    view.itemsize = DT_SIZE[t.dt]
    view.readonly = t.mem.readonly
    view.ndim = t.nd
    view.format = <char*>_formats[t.dt] if flags & PyBUF_FORMAT else NULL
    view.shape = held.dims if flags & PyBUF_ND else NULL
    view.strides = held.dims + t.nd if (flags & PyBUF_STRIDES) == PyBUF_STRIDES else NULL
    view.suboffsets = NULL
    view.internal = held
    return 0


cdef int release_buffer(Py_buffer* view) noexcept:
    storage_decref((<Exported*>view.internal).mem)
    PyMem_Free(view.internal)
    return 0
