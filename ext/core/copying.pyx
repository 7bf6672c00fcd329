# cython: language_level=3
# build: plain hot
"""Copies of whole tensors by Python's own means: deepcopy and pickle.

Tensors that share memory share it again in the copy, because the storage is an object of its own
that `copy` and `pickle` note by identity (exchange.pyx). Files are in autograd_cy/serialization.
"""
from cpython.memoryview cimport PyMemoryView_GET_BUFFER
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memcpy
from autograd_cy._C.storage cimport (
    ON_META, StorageImpl, storage_new, storage_new_on, storage_borrow, storage_decref)
from autograd_cy._C.dtypes cimport DT_SIZE, dt_code, dt_object, dt_differentiable
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, G_PROFILE, g_modes, F_BATCHED, F_REQUIRES_GRAD, F_TURNED, mark_raw, tensor_on,
    requires_grad as needs_grad)
from autograd_cy._C.exchange cimport UntypedStorage, hold_as
from autograd_cy._C.recorder cimport Scope, begin_call, events

from copy import deepcopy as _deepcopy

from autograd_cy._C.tensor import _install

cdef int E_DEEPCOPY = events("autograd_cy::deepcopy")

cdef extern from "Python.h":
    PyObject** _PyObject_GetDictPtr(object)

cdef enum:
    ALIGNMENT = 16    # of borrowed memory; with less the bytes are copied


cdef UntypedStorage as_object(StorageImpl* s, object cls):
    """A new storage as an object of the class that a pickle names."""
    if not (isinstance(cls, type) and issubclass(cls, UntypedStorage)):
        raise TypeError(f"not a class of storages: {cls!r}")
    return hold_as(cls, s)


def _storage_from_bytes(data, cls=UntypedStorage):
    """The storage of a pickle: on the buffer itself if it may be written, else on a copy."""
    cdef object owner = memoryview(data)
    cdef Py_buffer* view = PyMemoryView_GET_BUFFER(owner)
    cdef StorageImpl* s
    if view.readonly or not view.len or <size_t>view.buf % <size_t>ALIGNMENT:
        s = storage_new(view.len)
        memcpy(s.data, view.buf, <size_t>view.len)
    else:
        s = storage_borrow(<char*>view.buf, view.len, owner, False)
    try:
        return as_object(s, cls)
    finally:
        storage_decref(s)


def _storage_on_meta(Py_ssize_t nbytes, cls=UntypedStorage):
    """The storage of a pickled tensor on meta: a size."""
    cdef StorageImpl* s
    if nbytes < 0:
        raise RuntimeError(f"not a storage: {nbytes} bytes")
    s = storage_new_on(ON_META, nbytes)
    try:
        return as_object(s, cls)
    finally:
        storage_decref(s)


def _rebuild_tensor(cls, UntypedStorage storage not None, dtype, Py_ssize_t offset, size, stride,
                    requires_grad, uint32_t lazy=0):
    """
    A tensor of class `cls` on a storage; what pickles call.

    Parameters
    ----------
    cls : type or None
        None is Tensor: pickles name no class whose module :func:`as_torch` renames.
    storage : UntypedStorage
    dtype : dtype
    offset : int
        Of the first element, in elements.
    size, stride : tuple of int
    requires_grad : bool
    lazy : int
        F_CONJ and F_NEG of a tensor whose values aren't what its memory holds.

    Raises
    ------
    RuntimeError
        If the described tensor would reach beyond the storage.
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int dt = dt_code(dtype), i, n = len(size)
    cdef object last = offset      # a Python number: a forged pickle must not overflow it
    cdef bint empty = False
    cdef Tensor t
    if n > MAX_DIMS or len(stride) != n or offset < 0:
        raise RuntimeError(f"not a tensor: size {size}, stride {stride}, offset {offset}")
    for i in range(n):
        shape[i] = size[i]
        strides[i] = stride[i]
        if shape[i] < 0 or strides[i] < 0:
            raise RuntimeError(f"not a tensor: size {size}, stride {stride}, offset {offset}")
        empty = empty or shape[i] == 0
        last += (size[i] - 1) * stride[i]
    # Without elements it may begin beyond the end, as a window of a tensor of none does.
    if offset >> 58 if empty else (last + 1) * DT_SIZE[dt] > storage.mem.nbytes:
        raise RuntimeError(
            f"a tensor of size {size}, stride {stride} and offset {offset} does not fit into a "
            f"storage of {storage.mem.nbytes} bytes"
        )
    t = tensor_on(storage.mem, storage.mem.data + offset * DT_SIZE[dt], dt, n, shape, strides)
    t.flags |= lazy & F_TURNED
    mark_raw(t)
    if cls is not Tensor and cls is not None:
        t = Tensor._make_subclass(cls, t)
    if requires_grad:
        if not dt_differentiable(dt):
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        t.flags |= F_REQUIRES_GRAD
    return t


def __reduce_ex__(Tensor self not None, protocol):
    """
    For pickle: class, storage, geometry, ``requires_grad`` and attributes.

    History, gradient and hooks are left out: what comes back is a leaf. Memory that several tensors
    share is stored once, and shared again by those that come back. Of a subclass with a
    ``__getstate__`` of its own, what that returns takes the place of the attributes.
    """
    if _warn_of_hooks is not None and (self.extra is not None or self.fn != NULL):
        _warn_of_hooks(self)
    return reduce_for_pickle(self)


def _set_warn_of_hooks(f):
    """``f(tensor)`` warns if the tensor has hooks, which pickles leave out."""
    global _warn_of_hooks
    _warn_of_hooks = f


cdef object _warn_of_hooks = None


cdef object reduce_for_pickle(Tensor self):
    if self.flags & F_BATCHED:
        raise RuntimeError("a tensor inside vmap cannot be copied or pickled; return it first")
    cls = None if type(self) is Tensor else type(self)
    args = (cls, self.untyped_storage(), dt_object(self.dt), self.storage_offset(),
            tuple(self.shape), self.stride(), bool(needs_grad(self)))
    if self.flags & F_TURNED:
        args += (self.flags & F_TURNED,)
    own_state = getattr(type(self), "__getstate__", None)
    if own_state is not getattr(object, "__getstate__", None):
        return _rebuild_tensor, args, self.__getstate__()
    # Asking for __dict__ would make one.
    if _PyObject_GetDictPtr(self)[0] == NULL:
        return _rebuild_tensor, args
    return _rebuild_tensor, args, dict(<dict>_PyObject_GetDictPtr(self)[0])


def __setstate__(Tensor self not None, state):
    """Attributes that a pickle holds."""
    for name, value in state.items():
        setattr(self, name, value)


def __deepcopy__(Tensor self not None, memo):
    """
    A leaf with memory, gradient and attributes of its own.

    Raises
    ------
    RuntimeError
        If the tensor is not a leaf of the graph.

    Examples
    --------
    >>> import copy
    >>> import autograd_cy as ag
    >>> x = ag.zeros(2, requires_grad=True)
    >>> copy.deepcopy(x)
    tensor([0., 0.], requires_grad=True)
    """
    cdef Scope _seen = NULL
    if id(self) in memo:
        return memo[id(self)]
    if g_modes & G_PROFILE:
        _seen = begin_call(E_DEEPCOPY, (self,))
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. Use x.detach().clone() for a copy without history, x.clone() "
            "for one that gradients flow through."
        )
    if type(self).__reduce_ex__ is Tensor.__reduce_ex__:
        reduced = reduce_for_pickle(self)
        rebuild, (cls, storage, *geometry), *state = reduced
        copy = rebuild(cls, _deepcopy(storage, memo), *geometry)
    else:                               # a subclass that says how it is made anew
        reduced = self.__reduce_ex__(4)
        rebuild, arguments, *state = reduced
        copy = rebuild(*_deepcopy(arguments, memo))
        state = [x for x in state[:1] if x is not None]
    memo[id(self)] = copy
    if not isinstance(copy, Tensor):
        return copy
    if self.grad is not None:
        copy.grad = _deepcopy(self.grad, memo)
    if state:
        copy.__setstate__(_deepcopy(state[0], memo))
    return copy


for _f in (__reduce_ex__, __setstate__, __deepcopy__):
    _install(_f.__name__, _f)
