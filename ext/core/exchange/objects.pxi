# Storages as objects of Python (part of exchange.pyx).

# Note [Objects that stay]
# A storage object and its block find each other: the object holds a reference to the block, and
# `_alive` knows the object while it lives. An object with attributes, or of a class of a program,
# has to live as long as its block, because the next one would lack both. So when it would die while
# tensors use the block, its finalizer turns the reference around: the block holds the object (in
# `_objects`, and `has_object` is set in its header), and the object has no reference to the block.
# When the last tensor goes, `storage_free` calls `let_go`, which turns it around again. Python
# calls a finalizer once, so an object stays in `_objects` until then, also while the program has
# it.

cdef dict _objects = {}             # address of a block -> object
cdef object _alive = weakref.WeakValueDictionary()      # the same; one object for each block

cdef extern from "Python.h":
    PyObject** _PyObject_GetDictPtr(object)
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace)
    void PyErr_Restore(PyObject* kind, PyObject* value, PyObject* trace)


cdef int keep(UntypedStorage self) except -1:
    """Let the block hold the object, which gives its reference up."""
    _objects[<size_t>self.mem] = self
    self.mem.has_object = 1
    storage_decref(self.mem)
    return 0


cdef int hold_again(UntypedStorage self) except -1:
    """The reverse of `keep`."""
    storage_incref(self.mem)
    self.mem.has_object = 0
    del _objects[<size_t>self.mem]
    return 0


cdef void let_go(StorageImpl* s) noexcept:
    """The last tensor on a block has gone: its one reference is the object's."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    s.has_object = 0
    PyErr_Fetch(&kind, &value, &trace)      # tensors also die where an exception is on its way
    try:
        shown = _objects.pop(<size_t>s)
        del shown                           # unless the program has it, the block goes with it
    except Exception:
        pass
    PyErr_Restore(kind, value, trace)


set_object_fn(let_go)


cdef class StorageBase:
    """
    An owner that keeps a block of memory alive; arrays made of tensors have one as base.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> type(ag.ones(2).numpy().base).__name__
    'StorageBase'
    """

    def __dealloc__(self):
        cdef StorageImpl* s = self.mem
        self.mem = NULL   # what the release runs may still find this object in `_alive`
        if s != NULL:
            storage_decref(s)


cdef StorageBase base_on(StorageImpl* s):
    cdef StorageBase result = StorageBase.__new__(StorageBase)
    result.mem = storage_incref(s)
    return result


cdef class HeldBytes(StorageBase):
    """The bytes of a block, which buffers of them keep alive."""

    def __getbuffer__(self, Py_buffer* view, int flags):
        if self.mem == NULL:
            raise BufferError("it holds no memory")
        PyBuffer_FillInfo(
            view, self, self.mem.data, self.mem.nbytes, self.mem.readonly, flags)


cdef object wrong_arguments(args, kwargs):
    got = [type(x).__name__ for x in args] + [f"{k}={type(x).__name__}" for k, x in kwargs.items()]
    return TypeError(
        f"UntypedStorage() received an invalid combination of arguments - got "
        f"({', '.join(got)}), but expected one of:\n"
        " * (*, int allocator = None, torch.device device = None)\n"
        " * (int size, *, int allocator = None, torch.device device = None)\n"
        " * (object sequence, *, int allocator = None, torch.device device = None)\n")


cdef bytes bytes_of(object sequence):
    kind = type(sequence).__name__
    if isinstance(sequence, (Tensor, bool, dict, set)) or not (
            hasattr(sequence, "__getitem__") and hasattr(sequence, "__len__")):
        raise RuntimeError(f"UntypedStorage(): Expected a sequence type, but got {kind}")
    for item in sequence:
        if isinstance(item, bool) or not hasattr(item, "__index__") or isinstance(item, Tensor):
            raise RuntimeError(
                f"UntypedStorage(): tried to construct a storage from a sequence ({kind}), but one "
                f"of the items was of type {type(item).__name__} instead of int")
    return bytes([item.__index__() & 0xFF for item in sequence])


cdef StorageImpl* block_of_bytes(int device, const char* data, Py_ssize_t n) except NULL:
    cdef StorageImpl* s = storage_new_on(ON_CPU if device != ON_META else device, n)
    cdef UntypedStorage here
    if device == ON_META:
        return s
    memcpy(s.data, data, <size_t>n)
    if device == ON_CPU:
        return s
    try:
        here = hold(s)
        return storage_incref(on_device(here, device).mem)
    finally:
        storage_decref(s)


cdef StorageImpl* block_of_arguments(tuple args, dict kwargs) except NULL:
    cdef dict options = dict(kwargs)
    cdef bytes data
    cdef int device = ON_CPU
    where = options.pop("device", None)
    allocator = options.pop("allocator", None)
    what = args[0] if args else options.pop("size", options.pop("sequence", 0))
    if len(args) > 1 or options or allocator is not None:
        raise wrong_arguments(args, kwargs)
    if where is not None:
        device = device_code(where)
    if hasattr(what, "__index__") and not isinstance(what, (bool, Tensor)):
        return storage_new_on(device, byte_count(what.__index__(), "UntypedStorage()"))
    data = bytes_of(what)
    return block_of_bytes(device, data, len(data))


cdef class UntypedStorage(StorageBase):
    """
    The bytes behind one or more tensors.

    While tensors use the memory, ``Tensor.untyped_storage()`` of each of them gives the same
    object, with the attributes that a program has set.

    Parameters
    ----------
    size : int or sequence of int, optional
        A number of bytes without values, 0 by default; or the bytes, of which the lowest eight bits
        count.
    device : device, optional
        The CPU by default.

    Raises
    ------
    RuntimeError
        If the size is negative, or an element of the sequence isn't an integer.
    TypeError
        If there are other arguments.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.zeros(4)
    >>> x.untyped_storage().nbytes()
    16
    >>> x.untyped_storage() is x[1:].untyped_storage()
    True
    >>> ag.empty(0).set_(ag.UntypedStorage([0, 0, 128, 63]))
    tensor([1.])
    """

    def __cinit__(self, *args, **kwargs):
        if len(args) == 1 and type(args[0]) is StorageBase:
            self.mem = storage_incref((<StorageBase>args[0]).mem)
        else:
            self.mem = block_of_arguments(args, kwargs)
        _alive[<size_t>self.mem] = self

    def __del__(self):
        cdef StorageImpl* s = self.mem
        cdef PyObject** attributes
        if s == NULL or s.has_object or s.refcount == 1:
            return
        attributes = _PyObject_GetDictPtr(self)
        if type(self) is UntypedStorage and (attributes[0] == NULL or not <object>attributes[0]):
            return
        if _alive.get(<size_t>s) is self:
            keep(self)

    def data_ptr(self):
        """Address of the first byte, 0 where nothing was allocated."""
        if self.mem.device == ON_META or (
                self.mem.nbytes == 0 and self.mem.kind != STORAGE_BORROWED):
            return 0
        return <size_t>self.mem.data

    @property
    def _cdata(self):
        return <size_t>self.mem

    def nbytes(self):
        """Size in bytes."""
        return self.mem.nbytes

    def size(self):
        """Size in bytes."""
        return self.mem.nbytes

    def element_size(self):
        """Always 1: the elements of an untyped storage are bytes."""
        return 1

    def __sizeof__(self):
        return object.__sizeof__(self) + self.mem.nbytes

    @property
    def device(self):
        return device_of_code(self.mem.device)

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    @property
    def is_hpu(self):
        return False

    @property
    def is_sparse(self):
        return False

    @property
    def is_sparse_csr(self):
        return False

    @property
    def filename(self):
        """The file whose memory this is (:meth:`from_file`), or None."""
        return _file_of(self)

    def get_device(self):
        """Index of the device, -1 on the CPU and on meta."""
        return device_index(self.mem.device) if self.mem.device > ON_META else -1

    def cpu(self):
        """The bytes on the CPU: a copy, or this object if they lie there."""
        return self.to(device="cpu")

    def cuda(self, device=None, bint non_blocking=False):
        """The bytes on a GPU, the current one by default: a copy, or this object."""
        if device is None:
            device = "cuda"
        return self.to(device=f"cuda:{device}" if isinstance(device, int) else device,
                       non_blocking=non_blocking)

    def to(self, *, device, bint non_blocking=False):
        """The bytes on a device: a copy, or this object if they lie there."""
        cdef int code = device_code(device)
        return self if code == self.mem.device else on_device(self, code)

    def untyped(self):
        """This storage."""
        return self

    def is_readonly(self):
        """Return whether the memory must not be written (it belongs to a read-only array)."""
        return bool(self.mem.readonly)

    def resizable(self):
        """Return whether the memory is the library's own, so that its size can be changed."""
        return self.mem.kind not in (STORAGE_BORROWED, STORAGE_ALIAS) or self.mem.device == ON_META

    def resize_(self, size):
        """
        Change the number of bytes; those that remain keep their values.

        Tensors go on showing what they show. A block that must move, because more bytes are wanted
        than were allocated, can't be used by tensors.

        Parameters
        ----------
        size : int

        Returns
        -------
        UntypedStorage
            This one.

        Raises
        ------
        RuntimeError
            If the memory is an array's or a file's, must move and can't, or the size is wrong.
        """
        resize_block(self, size)
        return self

    def tolist(self):
        """The bytes as a list of numbers."""
        need_bytes(self.mem, "tolist()")
        return list((<unsigned char*>self.mem.data)[:self.mem.nbytes])

    def clone(self):
        """A copy of the bytes, as an object of the same class."""
        cdef StorageImpl* s
        if self.mem.device > ON_META:
            return hold_as(type(self), on_device(self, self.mem.device).mem)
        if self.mem.device != ON_META:
            check_bytes(self.mem, "clone()")
        s = storage_new_on(self.mem.device, self.mem.nbytes)
        try:
            if self.mem.device == ON_CPU:
                copy_bytes(s, self.mem)
            return hold_as(type(self), s)
        finally:
            storage_decref(s)

    def new(self):
        """A storage of no bytes, of the same class."""
        return empty_like_this(self)

    def fill_(self, value):
        """
        Set all bytes to the lowest eight bits of a number.

        Returns
        -------
        UntypedStorage
            This one.
        """
        set_bytes(self, 0, self.mem.nbytes, value)
        return self

    def copy_(self, source, non_blocking=None):
        """
        Take the bytes of another storage of the same size.

        Returns
        -------
        UntypedStorage
            This one.

        Raises
        ------
        RuntimeError
            If the sizes differ.
        """
        cdef UntypedStorage other
        cdef Py_ssize_t n = self.mem.nbytes, one = 1
        if hasattr(source, "untyped"):
            source = source.untyped()
        if not isinstance(source, UntypedStorage):
            raise TypeError(f"UntypedStorage.copy_(): argument 'source' must be UntypedStorage, "
                            f"not {type(source).__name__}")
        other = source
        if other.mem.nbytes != n:
            raise RuntimeError(f"size does not match, self was {n} bytes but src was "
                               f"{other.mem.nbytes} bytes")
        check_writable(self)
        if n:
            copy_into(tensor_on(self.mem, self.mem.data, DT_U8, 1, &n, &one),
                      tensor_on(other.mem, other.mem.data, DT_U8, 1, &n, &one), "copy_")
        return self

    def byteswap(self, dtype):
        """Reverse the bytes of each element, as if these were of the dtype, in place."""
        cdef unsigned char* data
        cdef Py_ssize_t i, n
        cdef int item, j
        if not isinstance(dtype, _Dtype):
            raise RuntimeError(f"expected autograd_cy.dtype, but got {type(dtype).__name__}")
        item = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self.mem.nbytes % item:
            raise RuntimeError(f"byteswap(): {self.mem.nbytes} bytes is not a multiple of {item}")
        check_writable(self)
        need_bytes(self.mem, "byteswap()")
        data = <unsigned char*>self.mem.data
        for i in range(self.mem.nbytes // item):
            for j in range(item // 2):
                data[j], data[item - 1 - j] = data[item - 1 - j], data[j]
            data += item

    def __len__(self):
        return self.mem.nbytes

    def __getitem__(self, index):
        cdef StorageImpl* s
        cdef Py_ssize_t i, start, stop
        if isinstance(index, slice):
            start, stop = bounds(self, index)
            if self.mem.device == ON_META:
                s = storage_new_on(ON_META, stop - start)
            else:
                check_bytes(self.mem, "slicing")
                s = storage_borrow(self.mem.data + start, stop - start, base_on(self.mem),
                                   self.mem.readonly)
            try:
                return hold_as(type(self), s)
            finally:
                storage_decref(s)
        i = byte_index(self, index)
        if not 0 <= i < self.mem.nbytes:
            raise IndexError(
                f"index {index} out of range for storage of size {self.mem.nbytes}")
        need_bytes(self.mem, "indexing")
        return (<unsigned char*>self.mem.data)[i]

    def __setitem__(self, index, value):
        cdef Py_ssize_t i, start, stop
        if isinstance(index, slice):
            start, stop = bounds(self, index)
            set_bytes(self, start, stop, value)
            return
        try:
            i = byte_index(self, index)
        except TypeError as error:
            raise RuntimeError(str(error)) from None
        if not 0 <= i < self.mem.nbytes:
            raise RuntimeError(
                f"out of bounds: byte {index} of a storage of {self.mem.nbytes} bytes")
        set_bytes(self, i, i + 1, value)

    def __getbuffer__(self, Py_buffer* view, int flags):
        need_bytes(self.mem, "the buffer protocol")
        # The buffer holds the block: the object may take another one in resize_().
        cdef HeldBytes held = HeldBytes.__new__(HeldBytes)
        held.mem = storage_incref(self.mem)
        PyObject_GetBuffer(held, view, flags)

    def __richcmp__(self, other, int op):
        if not isinstance(other, UntypedStorage) or op not in (Py_EQ, Py_NE):
            return NotImplemented
        same = (self.mem == (<UntypedStorage>other).mem
                or (self.mem.data == (<UntypedStorage>other).mem.data
                    and self.mem.device != ON_META))
        return same if op == Py_EQ else not same

    def __hash__(self):
        return <Py_ssize_t>(<size_t>self.mem.data >> 4)

    def __repr__(self):
        cls = type(self)
        module = "autograd_cy.storage" if cls is UntypedStorage else cls.__module__
        return (lines_of(self) + f"\n[{module}.{cls.__name__}(device={self.device}) of size "
                f"{self.mem.nbytes}]")

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()         # copy.deepcopy() notes it

    def __reduce_ex__(self, int protocol):
        from autograd_cy._C.copying import _storage_from_bytes, _storage_on_meta
        cdef PyObject** attributes = _PyObject_GetDictPtr(self)
        cdef tuple more = () if type(self) is UntypedStorage else (type(self),)
        cdef tuple state = ()
        if attributes[0] != NULL and <object>attributes[0]:
            state = (dict(<dict>attributes[0]),)
        if self.mem.device == ON_META:
            return (_storage_on_meta, (self.mem.nbytes, *more), *state)
        if self.mem.device != ON_CPU:
            return (_storage_to_device, (on_device(self, ON_CPU), str(self.device), *more), *state)
        need_bytes(self.mem, "pickling")
        if protocol >= 5:
            from pickle import PickleBuffer
            return (_storage_from_bytes, (PickleBuffer(self), *more), *state)
        return (_storage_from_bytes, ((<char*>self.mem.data)[:self.mem.nbytes], *more), *state)

    def __setstate__(self, state):
        """Attributes that a pickle holds."""
        for name, value in state.items():
            setattr(self, name, value)

    # --- what other modules do ---------------------------------------------------------------

    def is_shared(self):
        """Return whether other processes share the memory."""
        return _later["is_shared"](as_bytes(self))

    def share_memory_(self):
        """
        Move the bytes to memory that other processes share, if they aren't there.

        Returns
        -------
        UntypedStorage
            This one.

        Raises
        ------
        RuntimeError
            If tensors use the memory: call :meth:`Tensor.share_memory_` of them.
        """
        _later["share_storage_"](self)
        return self

    def is_pinned(self, device=None):
        """Return whether the memory is pinned: copies to an accelerator are asynchronous."""
        return as_bytes(self).is_pinned()

    def pin_memory(self, device=None):
        """A copy in pinned memory, or this object if it is pinned."""
        if self.is_pinned():
            return self
        return as_bytes(self).pin_memory().untyped_storage()

    @staticmethod
    def from_file(filename, shared=False, nbytes=0):
        """
        Map a file into memory.

        Parameters
        ----------
        filename : str
        shared : bool
            Write changes to the file, which is made, or made longer, if it has fewer bytes.
        nbytes : int
            Of the file, from its beginning; 0: all.

        Returns
        -------
        UntypedStorage
        """
        return _later["map_file"](filename, shared, nbytes)

    @staticmethod
    def from_buffer(buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        """
        Copy elements of an object with the buffer protocol.

        Parameters
        ----------
        buffer : object
        byte_order : {'native', 'little', 'big'}, optional
            Of elements of several bytes, for which it must be given.
        count : int
            Of elements; by default all.
        offset : int
            Bytes to leave out at the beginning.
        dtype : dtype
            Of the elements.

        Returns
        -------
        UntypedStorage
        """
        return _later["from_buffer"](buffer, byte_order, count, offset, dtype)

    @classmethod
    def _new_shared(cls, size, *, device="cpu"):
        result = _later["new_block"](size).storage(0, size)
        return result if cls is UntypedStorage else hold_as(cls, (<UntypedStorage>result).mem)

    def type(self, dtype=None, non_blocking=False):
        """The name of the class, or the bytes as elements of a class of storages or a dtype."""
        if dtype is None:
            return "autograd_cy.storage.UntypedStorage"
        return _converted(self, dtype)

    def float(self):
        """The bytes as numbers of float32, in a new storage."""
        return _converted(self, "float32")

    def double(self):
        """The bytes as numbers of float64, in a new storage."""
        return _converted(self, "float64")

    def half(self):
        """The bytes as numbers of float16, in a new storage."""
        return _converted(self, "float16")

    def bfloat16(self):
        """The bytes as numbers of bfloat16, in a new storage."""
        return _converted(self, "bfloat16")

    def long(self):
        """The bytes as numbers of int64, in a new storage."""
        return _converted(self, "int64")

    def int(self):
        """The bytes as numbers of int32, in a new storage."""
        return _converted(self, "int32")

    def short(self):
        """The bytes as numbers of int16, in a new storage."""
        return _converted(self, "int16")

    def char(self):
        """The bytes as numbers of int8, in a new storage."""
        return _converted(self, "int8")

    def byte(self):
        """The bytes as numbers of uint8, in a new storage."""
        return _converted(self, "uint8")

    def bool(self):
        """The bytes as bools, in a new storage."""
        return _converted(self, "bool")

    def complex_double(self):
        """The bytes as numbers of complex128, in a new storage."""
        return _converted(self, "complex128")

    def complex_float(self):
        """The bytes as numbers of complex64, in a new storage."""
        return _converted(self, "complex64")


cdef dict _later = {}               # functions of modules in Python


def _set_later(**functions):
    """Give the functions of higher modules that methods of storages call."""
    _later.update(functions)


cdef object _converted(UntypedStorage storage, kind):
    return _later["convert"](storage, kind)


cdef object _file_of(UntypedStorage storage):
    cdef StorageImpl* s = storage.mem
    if s.kind != STORAGE_BORROWED:
        return None
    return getattr(getattr(<object>s.owner, "obj", None), "filename", None)


cdef Tensor as_bytes(UntypedStorage storage):
    cdef Py_ssize_t n = storage.mem.nbytes, one = 1
    return tensor_on(storage.mem, storage.mem.data, DT_U8, 1, &n, &one)


cdef UntypedStorage empty_like_this(UntypedStorage storage):
    cdef StorageImpl* s = storage_new_on(storage.mem.device, 0)
    try:
        return hold_as(type(storage), s)
    finally:
        storage_decref(s)


cdef int check_writable(UntypedStorage storage) except -1:
    if storage.mem.readonly:
        raise RuntimeError("UntypedStorage: the memory is read-only (of a read-only array)")
    return 0


cdef int set_bytes(UntypedStorage storage, Py_ssize_t start, Py_ssize_t stop, value) except -1:
    cdef int byte = low_byte(value)
    check_writable(storage)
    need_bytes(storage.mem, "writing bytes")
    stop = min(stop, storage.mem.nbytes)
    if start < stop:
        memset(storage.mem.data + start, byte, <size_t>(stop - start))
    return 0


cdef int low_byte(value) except -1:
    """The lowest eight bits of an int; `__index__` of a program may change any storage."""
    try:
        return operator.index(value) & 0xFF
    except TypeError:
        raise RuntimeError("can only set storage content with a int types, but got "
                           f"{type(value).__name__} instead") from None


cdef Py_ssize_t byte_count(size, str what) except -1:
    if size < 0:
        raise RuntimeError(f"{what}: a negative number of bytes: {size}")
    if size > PY_SSIZE_T_MAX:
        raise ValueError(f"{what}: Overflow when unpacking long long: {size} bytes")
    return size


cdef Py_ssize_t byte_index(UntypedStorage storage, index) except? -1:
    """An index from the beginning; too large ones are left as they are."""
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise TypeError(f"can't index a autograd_cy.UntypedStorage with {type(index).__name__}")
    i = index.__index__()
    if i < 0:
        i += storage.mem.nbytes
    return max(min(i, storage.mem.nbytes), -1)


cdef (Py_ssize_t, Py_ssize_t) bounds(UntypedStorage storage, index) except *:
    start, stop, step = index.indices(storage.mem.nbytes)
    if step != 1:
        raise RuntimeError(
            f"Trying to slice with a step of {step}, but only a step of 1 is supported")
    return start, max(start, stop)


cdef str lines_of(UntypedStorage storage):
    """The bytes, one a line; of more than a thousand the first and the last ones."""
    cdef Py_ssize_t n = storage.mem.nbytes
    if storage.mem.device == ON_META:
        return "..."
    if storage.mem.device != ON_CPU:
        return lines_of(on_device(storage, ON_CPU))
    data = (<unsigned char*>storage.mem.data)[:n] if n <= 1000 else (
        (<unsigned char*>storage.mem.data)[:500])
    text = "\n".join([f" {x}" for x in data])
    if n > 1000:
        text += "\n ...\n"
        text += "\n".join([f" {x}" for x in (<unsigned char*>storage.mem.data)[n - 500:n]])
    return text


cdef int resize_block(UntypedStorage self, size) except -1:
    cdef StorageImpl* old = self.mem
    cdef StorageImpl* new
    cdef Py_ssize_t n
    try:
        n = byte_count(None if isinstance(size, bool) else operator.index(size), "resize_()")
    except TypeError:
        raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}") from None
    old = self.mem              # `__index__` of a program may have resized it
    if not UntypedStorage.resizable(self):      # a class of a program may say what it likes
        raise RuntimeError("Trying to resize storage that is not resizable: the memory isn't the "
                           "library's own")
    no_launch("UntypedStorage: resize_()", "what is captured names the memory")
    if storage_fits(old, n):
        return 0
    if old.has_object or old.refcount != 1:
        raise RuntimeError(
            f"Trying to resize storage that is not resizable: tensors or arrays use the memory, "
            f"which can't grow from {old.nbytes} to {n} bytes without moving; resize it before "
            "they are made, or copy it with clone()")
    new = storage_new_on(old.device, n)
    if old.device == ON_CPU:
        memcpy(new.data, old.data, <size_t>min(n, old.nbytes))
    elif min(n, old.nbytes):
        n = min(n, old.nbytes)
        copy_into(tensor_on(new, new.data, DT_U8, 1, &n, NULL),
                  tensor_on(old, old.data, DT_U8, 1, &n, NULL), "copy_")
    _alive.pop(<size_t>old, None)
    self.mem = new
    _alive[<size_t>new] = self
    storage_decref(old)
    return 0


def _resize_storage(UntypedStorage storage not None, Py_ssize_t nbytes):
    """Let a storage have at least so many bytes."""
    if nbytes > storage.mem.nbytes:
        resize_block(storage, nbytes)


cdef UntypedStorage hold(StorageImpl* s):
    return UntypedStorage.__new__(UntypedStorage, base_on(s))


cdef UntypedStorage hold_as(type cls, StorageImpl* s):
    """An object of a subclass, whose own ``__new__`` and ``__init__`` are not called."""
    return UntypedStorage.__new__(cls, base_on(s))


cdef UntypedStorage on_device(UntypedStorage source, int device):
    """A copy of the bytes on a device."""
    cdef Py_ssize_t n = source.mem.nbytes, one = 1
    cdef Tensor there = tensor_empty_on(device, DT_U8, 1, &n, NULL)
    copy_into(there, tensor_on(source.mem, source.mem.data, DT_U8, 1, &n, &one), "copy_")
    return hold(there.mem)


def _storage_to_device(UntypedStorage source not None, device, cls=UntypedStorage):
    """A copy of the bytes on a device; what pickles of its memory call."""
    cdef UntypedStorage there = on_device(source, device_code(device))
    if cls is UntypedStorage:
        return there
    if not (isinstance(cls, type) and issubclass(cls, UntypedStorage)):
        raise TypeError(f"not a class of storages: {cls!r}")
    return hold_as(cls, there.mem)


cdef StorageImpl* root_of(StorageImpl* s) noexcept:
    while s.kind == STORAGE_ALIAS:
        s = <StorageImpl*>s.owner
    return s


def untyped_storage(Tensor self not None):
    """
    The memory block that this tensor shows, as an :class:`UntypedStorage`.

    Returns
    -------
    UntypedStorage

    Examples
    --------
    >>> import autograd_cy as ag
    >>> len(ag.zeros(3).untyped_storage())
    12
    """
    cdef StorageImpl* s = root_of(self.mem)
    refuse_examples(self, "untyped_storage()")
    result = _alive.get(<size_t>s)
    if result is None or (<UntypedStorage>result).mem != s:
        result = hold(s)
    return result


def _memory_users(Tensor t not None):
    """Return the number of tensors, arrays and storage objects that hold the memory of a tensor."""
    return root_of(t.mem).refcount + root_of(t.mem).has_object
