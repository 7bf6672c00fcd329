# cython: language_level=3
"""Checks of where ``out=`` lets results go, and the strides that they get there."""
from libc.stdint cimport uint32_t
from cpython.memoryview cimport PyMemoryView_Check
from cpython.ref cimport PyObject, Py_REFCNT, Py_XDECREF
from autograd_cy._C.checked cimport checked_mul
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.storage cimport STORAGE_ALIAS, STORAGE_BORROWED
from autograd_cy._C.tensor cimport (
    F_DEVICE, F_STRIDED, F_VIEW, Tensor, set_geometry, sizes_of, tensor_is_dense)


cdef inline bint apart(Tensor out, int dt, Tensor a) noexcept:
    """Return whether a step may write a result of dtype `dt` to `out` while `a` is read."""
    return (out is not None and out.dt == dt and out.mem != a.mem
            and out.mem.device == a.mem.device)


cdef inline object other_device(Tensor out, int device, str op):
    return RuntimeError(
        f"{op}: Expected out tensor to have device {device_of_code(device)}, but got "
        f"{device_of_code(out.mem.device)} instead")


cdef inline bint of_sizes(Tensor t, int nd, const Py_ssize_t* sizes) noexcept:
    cdef int i
    if t.nd != nd:
        return False
    for i in range(nd):
        if t.sizes[i] != sizes[i]:
            return False
    return True


cdef inline bint lost_base(Tensor t) noexcept:
    """Tell if it is a view of a tensor that nobody else holds, as of ``empty(0).conj()``."""
    cdef PyObject* base = t.base
    return (t.flags & F_VIEW and base != NULL and Py_REFCNT(<object>base) == 1
            and (<Tensor>base).mem == t.mem)


cdef inline void leave_base(Tensor t) noexcept:
    """Let a view be none, before it shows other memory."""
    cdef PyObject* base = t.base
    if t.flags & F_VIEW:
        t.base = NULL
        t.flags &= ~<uint32_t>F_VIEW
        Py_XDECREF(base)


cdef inline bint has_capacity(Tensor t, int nd, const Py_ssize_t* sizes, str op) except -1:
    """Tell if the memory holds a dense tensor of that shape where `t` begins."""
    cdef Py_ssize_t n = DT_SIZE[t.dt]
    cdef int i
    for i in range(nd):
        n = checked_mul(n, sizes[i], op)
    return n <= t.mem.nbytes - (t.ptr - t.mem.data)


cdef inline int check_capacity(Tensor out, int nd, const Py_ssize_t* sizes, str op) except -1:
    """Refuse a result that would need more memory where others see the memory that is there."""
    if not out.mem.nbytes or of_sizes(out, nd, sizes) or has_capacity(out, nd, sizes, op):
        return 0
    if out.mem.kind == STORAGE_ALIAS or (
            # What was loaded lies in a buffer that nobody else knows.
            out.mem.kind == STORAGE_BORROWED and not out.flags & F_DEVICE
            and not PyMemoryView_Check(<object>out.mem.owner)):
        raise RuntimeError(
            f"{op}: Trying to resize storage that is not resizable: the memory of out, of shape "
            f"{list(sizes_of(out))}, belongs to another object; give an out of shape "
            f"{[sizes[i] for i in range(nd)]}")
    if out.mem.refcount > 1 + lost_base(out):
        raise RuntimeError(
            f"{op}: Trying to resize storage that is not resizable: other tensors show the memory "
            f"of out, of shape {list(sizes_of(out))}, which can't grow from {out.mem.nbytes} "
            f"bytes; give an out of shape {[sizes[i] for i in range(nd)]}")
    return 0


cdef inline int take_order(Tensor out, Tensor value) except -1:
    """Give an `out` that has just got the shape of `value`, in C order, its memory format."""
    if value.flags & F_STRIDED and not out.flags & F_STRIDED and tensor_is_dense(value):
        set_geometry(out, value.nd, value.sizes, value.strides)
    return 0
