# cython: language_level=3
"""Memory shared with others: NumPy arrays, DLPack capsules, and the storage as an object.

Whoever shows memory that is not its own holds a reference to the owner: arrays made here have an
StorageBase as base, tensors made here have a borrowed storage. Storages as objects are in
exchange/objects.pxi, DLPack is in exchange/dlpack.pxi.
Creation from lists and copies is in creation.pyx.
"""
cimport numpy as cnp
from cpython.buffer cimport PyBuffer_FillInfo, PyObject_GetBuffer
from cpython.object cimport Py_EQ, Py_NE
from cpython.ref cimport Py_INCREF, PyObject
from autograd_cy._C.storage cimport (
    ON_CPU, ON_META, StorageImpl, STORAGE_ALIAS, STORAGE_BORROWED, storage_new_on,
    device_index, device_type, storage_borrow, storage_incref,
    storage_decref, storage_fits, storage_share_version, set_object_fn)
from autograd_cy._C.dtypes cimport (
    DT_SIZE, DT_BOOL, DT_U8, DT_U16, DT_U32, DT_U64, DT_I8, DT_I16, DT_I32, DT_I64, DT_F16, DT_BF16,
    DT_F32, DT_F64, DT_C64, DT_C128, dt_is_signed, dt_numpy, dt_from_numpy)
from autograd_cy._C.devices cimport refuse_host
from autograd_cy._C.placement cimport device_code, device_of_code, name_of_type
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, M_NO_GRAD, M_INFERENCE, F_INFERENCE, F_DEVICE, F_DUAL, F_BATCHED, F_CONJ,
    F_TURNED, G_PROFILE, g_modes,
    mark_raw, reading, scalar_value, tls_modes, tensor_empty_on, tensor_is_contiguous, tensor_on,
    tensor_type_name, refuse_examples, has_examples,
    requires_grad, warn_once)
from autograd_cy._C.iterate cimport cast, clone_plain, copy_into, resolved, to_device
from autograd_cy._C.launch cimport (
    KIND_COPY, READS, WRITES, Launch, begin, launch, memory, no_launch, note_constant)
from autograd_cy._C.sealed cimport seal
from libc.errno cimport ENOMEM
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(type subtype, cnp.dtype descr, int nd, const cnp.npy_intp* dims,
                                const cnp.npy_intp* strides, void* data, int flags, void* obj)

import operator
import weakref

import numpy as np

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.dtypes import dtype as _Dtype
from autograd_cy._C.tensor import _install, _list_of, _must_be_bool, _set_reader

__all__ = ["StorageBase", "UntypedStorage", "from_dlpack", "from_numpy"]

cnp.import_array()

cdef int E = events(
    "aten::item\naten::is_nonzero\nautograd_cy::tolist\nautograd_cy::numpy\n"
    "autograd_cy::from_numpy\nautograd_cy::from_dlpack")
cdef enum:  # places among them
    E_ITEM, E_IS_NONZERO, E_TOLIST, E_NUMPY, E_FROM_NUMPY, E_FROM_DLPACK


# --- the storage as an object ---------------------------------------------------------------

cdef struct BytesPlan:
    char* to
    const char* source
    Py_ssize_t n


cdef void copy_run(void* ctx) noexcept nogil:
    cdef BytesPlan* plan = <BytesPlan*>ctx
    memcpy(plan.to, plan.source, <size_t>plan.n)


cdef int copy_bytes(StorageImpl* to, StorageImpl* source) except -1:
    cdef BytesPlan plan
    cdef Launch work
    plan.to, plan.source, plan.n = to.data, source.data, source.nbytes
    begin(&work, "copy of bytes", &plan, sizeof(plan), KIND_COPY)
    memory(&work, &plan.to, to, WRITES)
    memory(&work, &plan.source, source, READS)
    return launch(&work, copy_run, plan.n / 8.0)


cdef int need_bytes(StorageImpl* s, str what) except -1:
    no_launch(f"UntypedStorage: {what}", "what is done with the bytes would not be done again")
    return check_bytes(s, what)


cdef int check_bytes(StorageImpl* s, str what) except -1:
    if s.device != ON_CPU:
        raise NotImplementedError(
            f"UntypedStorage: {what} is not possible for memory of device "
            f"'{device_of_code(s.device)}'; copy the tensor with .cpu()")
    return 0


include "exchange/objects.pxi"
include "exchange/shared.pxi"


def _memory_owner(Tensor t not None):
    """The object that the memory of a tensor is borrowed from, or None."""
    cdef StorageImpl* s = root_of(t.mem)
    return <object>s.owner if s.kind == STORAGE_BORROWED else None


# --- from NumPy -----------------------------------------------------------------------------

cdef Tensor mark_mode(Tensor t):
    if tls_modes() & M_INFERENCE:
        t.flags |= F_INFERENCE
    return t


cdef object aligned(object array):
    """
    A copy of an array whose elements do not lie on multiples of their size, as kernels need them.

    PyTorch takes them as they are. That writes do not show is said where somebody could see it.
    """
    if array.flags.writeable:
        _warn(
            "from_numpy: the elements of the array do not lie on multiples of their size, so the "
            "tensor has a copy of them: writes to one do not show in the other. Pass array.copy() "
            "to say that this is meant.")
    return array.copy()


cdef Tensor from_array(object array):
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_FROM_NUMPY, (array,))
    return tensor_of_array(array)


cdef Tensor tensor_of_array(object array):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef cnp.ndarray a
    cdef Py_ssize_t extent, item, step
    cdef StorageImpl* s
    cdef char* data
    cdef int i, n, dt
    cdef Tensor t
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    a = array
    if not cnp.PyArray_ISNOTSWAPPED(a):
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    dt = dt_from_numpy(a.dtype)
    item = DT_SIZE[dt]
    n = cnp.PyArray_NDIM(a)
    extent = item
    for i in range(n):
        shape[i] = cnp.PyArray_DIM(a, i)
        step = cnp.PyArray_STRIDE(a, i)
        if shape[i] == 0:
            extent = 0
        elif shape[i] > 1:
            if step < 0:
                raise ValueError(
                    "At least one stride in the given numpy array is negative, and tensors with "
                    "negative strides are not currently supported. (You can probably work around "
                    "this by making a copy of your array with array.copy().)"
                )
            if step % item:
                raise ValueError(
                    "given numpy array strides not a multiple of the element byte size. "
                    "Copy the numpy array to reallocate the memory."
                )
            if extent:
                extent += (shape[i] - 1) * step
        strides[i] = step // item if step >= 0 else item
    data = cnp.PyArray_BYTES(a)
    if extent and not cnp.PyArray_ISALIGNED(a):
        return tensor_of_array(aligned(a))
    s = storage_borrow(data, extent, a, not cnp.PyArray_ISWRITEABLE(a))
    try:
        t = tensor_on(s, data, dt, n, shape, NULL if extent == 0 else strides)
    finally:
        storage_decref(s)
    mark_raw(t)
    return mark_mode(t)


def from_numpy(ndarray):
    """
    A tensor on the memory of a NumPy array.

    Writing to one shows in the other. A tensor on a read-only array is read-only too: a warning
    says so, and in-place operations on it raise. Elements that do not lie on multiples of their
    size, as in a file with record markers, are copied, and a warning says so.

    Parameters
    ----------
    ndarray : numpy.ndarray
        Of a dtype that tensors have, in native byte order, without negative strides.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        If the argument is no array, or no tensor has its dtype.
    ValueError
        If a stride is negative or no multiple of the element size, or the bytes are swapped.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> a = np.zeros(3)
    >>> t = ag.from_numpy(a)
    >>> a[0] = 7
    >>> t
    tensor([7., 0., 0.], dtype=autograd_cy.float64)
    """
    no_launch("from_numpy", "NumPy may write that memory, which would not be done again")
    cdef Tensor result = from_array(ndarray)
    if not cnp.PyArray_ISWRITEABLE(ndarray):
        warn_once(
            "The given NumPy array is not writable, and neither is the tensor on its memory: "
            "in-place operations on it are refused. Copy the array, or make it writable.")
    return result


def _constant_array(array):
    """A tensor on the memory of an array that was made for it, of values that shapes decide."""
    cdef Tensor result = from_array(array)
    note_constant(result)
    return result


# --- to Python's numbers and lists, in profiles; tensor.pyx has them -------------------------

cdef object item_of(Tensor t):
    cdef Scope _seen = NULL
    _seen = begin_call(E + E_ITEM, (t,))
    return scalar_value(t)


cdef object truth_of(Tensor t):
    cdef Scope _seen = NULL
    _seen = begin_call(E + E_IS_NONZERO, (t,))
    return bool(item_of(t))


def _read(Tensor t not None, what):
    cdef Scope _seen = NULL
    if what is not None:
        return truth_of(t) if what else item_of(t)
    _seen = begin_call(E + E_TOLIST, (t,))
    return _list_of(t)


_set_reader(_read)


# --- to NumPy -------------------------------------------------------------------------------

cdef object array_of(Tensor t):
    cdef cnp.npy_intp[MAX_DIMS] shape
    cdef cnp.npy_intp[MAX_DIMS] strides
    cdef object descr = dt_numpy(t.dt)
    cdef object a
    cdef int i
    for i in range(t.nd):
        shape[i] = t.sizes[i]
        strides[i] = t.strides[i] * DT_SIZE[t.dt]
    Py_INCREF(descr)   # the next call steals it
    a = PyArray_NewFromDescr(cnp.ndarray, <cnp.dtype>descr, t.nd, shape, strides, t.ptr,
                             0 if t.mem.readonly else cnp.NPY_ARRAY_WRITEABLE, NULL)
    # The storage and not the tensor: `t.data = other` may give the tensor other memory.
    cnp.set_array_base(<cnp.ndarray>a, base_on(t.mem))
    return a


cdef int check_exportable(Tensor t) except -1:
    reading(t, "numpy()")
    refuse_examples(t, "numpy()")
    refuse_host(t, "numpy()")
    if requires_grad(t) and not (tls_modes() & M_NO_GRAD):
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if t.flags & F_TURNED:
        bit, name = ("conjugate", "conj") if t.flags & F_CONJ else ("negative", "neg")
        raise RuntimeError(f"Can't call numpy() on Tensor that has {bit} bit set. Use "
                           f"tensor.resolve_{name}().numpy() instead.")
    return 0


def numpy(Tensor self not None, *, force=False):
    """
    A NumPy array on the memory of this tensor.

    Writing to one shows in the other; autograd does not see such writes
    (:func:`autograd_cy.autograd.graph.increment_version` tells it).

    Parameters
    ----------
    force : bool
        Detach, resolve and copy to the host first what needs it.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    RuntimeError
        If the tensor requires grad and `force` is not given.
    TypeError
        If the tensor is on another device and `force` is not given, or the dtype is bfloat16 and
        the package ``ml_dtypes`` is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0]).numpy()
    array([1., 2.], dtype=float32)
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NUMPY, (self,))
    if force is not True:
        _must_be_bool("numpy", "force", force)
        check_exportable(self)
        return array_of(self)
    reading(self, "numpy()")
    refuse_examples(self, "numpy()")
    return array_of(to_device(resolved(self), ON_CPU))


def __array__(Tensor self not None, dtype=None, copy=None):
    """The tensor as a NumPy array, for :func:`numpy.asarray`."""
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NUMPY, (self,))
    check_exportable(self)
    a = array_of(self)
    if dtype is not None and a.dtype != dtype:
        if copy is not None and not copy:
            raise ValueError(
                f"Unable to avoid copy while creating an array as requested: {a.dtype} to {dtype}."
            )
        return a.astype(dtype)
    return a.copy() if copy else a


def __array_wrap__(Tensor self not None, array, context=None, return_scalar=False):
    """Results of NumPy functions on tensors become tensors again where a tensor has the dtype."""
    try:
        return from_array(array)
    except (TypeError, ValueError):
        return array[()] if return_scalar else array


def _repr_parts(Tensor t not None):
    """Return the parts that printing needs: (array, tangent or None, (value, bdim, level) or
    None)."""
    tangent = None
    if t.flags & F_BATCHED and has_examples(t):
        return None, None, (t.extra.value, t.extra.bdim, t.extra.level)
    if t.flags & F_DUAL:
        tangent = t.extra.tangent
    if t.flags & F_DEVICE:
        t = to_device(t, ON_CPU)
    # NumPy has no bfloat16, and digits of float16 are computed in float32.
    # Two calls: compilers from gcc 14 on refuse what Cython makes of a conditional expression here.
    if t.dt in (DT_F16, DT_BF16):
        return array_of(cast(t, DT_F32)), tangent, None
    return array_of(resolved(t)), tangent, None


include "exchange/dlpack.pxi"

seal(StorageBase, "StorageBase objects cannot be made; use UntypedStorage()")
seal(DLPackOwner, "DLPackOwner objects cannot be made; use from_dlpack()")


for _f in (untyped_storage, numpy, __array__, __array_wrap__, __dlpack__, __dlpack_device__):
    _install(_f.__name__, _f)
_install("__cuda_array_interface__", property(_cuda_array_interface))
_install("__array_priority__", 1000)
