# Tensors from Python data: numbers, nested sequences, arrays (part of creation.pyx).
#
# A nested sequence is walked three times: along first items for the shape, over all leaves for the
# dtype (unless given), and once more to store. Lists and tuples of floats take short cuts.

cdef dict _scalar_codes = {}
for _dt in range(DT_C128 + 1):
    if _dt != DT_BF16:
        _scalar_codes[dt_numpy(_dt).type] = _dt


cdef object no_dtype(object x):
    if isinstance(x, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type(x).__name__}'")
    if isinstance(x, (list, tuple)):
        return TypeError(
            f"'{type(x).__name__}' object cannot be interpreted as a number: "
            "some items are nested deeper than the first one"
        )
    return RuntimeError(f"Could not infer dtype of {type(x).__name__}")


cdef int leaf_dtype(object x) except -1:
    """Dtype of one item of a sequence."""
    cdef PyTypeObject* ty = Py_TYPE(x)
    if ty == &PyFloat_Type:
        return g_default_dtype
    if ty == &PyLong_Type:
        return DT_I64
    if ty == &PyBool_Type:
        return DT_BOOL
    if isinstance(x, Tensor):
        return (<Tensor>x).dt
    if isinstance(x, (_np.generic, _np.ndarray)):
        code = _scalar_codes.get(x.dtype.type)
        return dt_from_numpy(x.dtype) if code is None else code
    if isinstance(x, int):
        return DT_I64
    if isinstance(x, float):
        return g_default_dtype
    if isinstance(x, complex):
        return dt_to_complex(g_default_dtype)
    raise no_dtype(x)


cdef bint is_sequence(object x):
    """Return whether x counts as a level of nesting; its items are reached by len() and [i]."""
    if isinstance(x, (list, tuple)):
        return True
    if isinstance(x, (str, bytes, dict, set, frozenset, Tensor, _np.ndarray)):
        return False
    return hasattr(x, "__len__") and hasattr(x, "__getitem__")


cdef list bounded(object x):
    """The items of a sequence of some other class, as many as its length says."""
    return list(_islice(x, len(x)))


cdef int discover(object data, Py_ssize_t* shape) except -1:
    """Shape along the first items; returns the number of dimensions."""
    cdef int n = 0, i
    cdef object x = data
    while True:
        if isinstance(x, str):
            raise ValueError(f"too many dimensions '{type(x).__name__}'")
        if isinstance(x, _np.ndarray):
            if n:
                warn_once(
                    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                    "consider converting the list to a single numpy.ndarray with numpy.array() "
                    "before converting to a tensor.")
            if n + x.ndim > MAX_DIMS:
                raise ValueError(f"too many dimensions: a tensor has at most {MAX_DIMS}")
            for i in range(x.ndim):
                shape[n + i] = x.shape[i]
            return n + x.ndim
        if not is_sequence(x):
            return n
        if n == MAX_DIMS:
            raise ValueError(f"too many dimensions: a tensor has at most {MAX_DIMS}")
        shape[n] = len(x)
        n += 1
        if shape[n - 1] == 0:
            return n
        try:
            x = x[0]
        except Exception as error:
            raise ValueError(
                f"could not determine the shape of object type '{type(x).__name__}'") from error


@cython.boundscheck(True)      # items may run Python code that shortens the list
cdef int infer(object x, int depth, int ndim, int seen) except -2:
    """Promote the dtypes of all leaves into `seen` (-1: none yet)."""
    cdef Py_ssize_t i, n
    cdef int dt
    cdef object item
    cdef PyTypeObject* last = NULL
    if depth == ndim or not is_sequence(x):
        dt = leaf_dtype(x)
        if seen < 0 or seen == dt:
            return dt
        if dt_promote(seen, dt) == DT_NONE:
            raise no_promotion(seen, dt)
        return dt_promote(seen, dt)
    if type(x) is not list and type(x) is not tuple:
        x = bounded(x)
    if depth == ndim - 1:
        # Leaves: promote only where the type changes from one item to the next.
        n = len(x)
        for i in range(n):
            item = x[i]
            if i & 0xfff == 0xfff:
                PyErr_CheckSignals()
            if Py_TYPE(item) == last and last in (&PyFloat_Type, &PyLong_Type, &PyBool_Type):
                continue
            last = Py_TYPE(item)
            seen = infer(item, ndim, ndim, seen)
        return seen
    n = 0
    for item in x:
        n += 1
        if n & 0xff == 0:
            PyErr_CheckSignals()        # millions of rows can be interrupted
        seen = infer(item, depth + 1, ndim, seen)
    return seen


cdef int store_leaf(char* p, int dt, object x) except -1:
    if Py_TYPE(x) == &PyLong_Type or Py_TYPE(x) == &PyFloat_Type or Py_TYPE(x) == &PyBool_Type:
        pass
    elif isinstance(x, Tensor):
        if (<Tensor>x).count != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        x = scalar_value(<Tensor>x)
    elif isinstance(x, (_np.generic, _np.ndarray)):
        if x.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        x = x.item()
    elif not isinstance(x, (float, int, complex)):
        raise no_dtype(x)
    if dt < DT_C64 and dt != DT_BOOL and isinstance(x, complex):
        raise TypeError(f"must be real number, not complex ({x} into {dt_object(dt).name})")
    if dt == DT_U64:
        if isinstance(x, float):
            raise TypeError(f"an integer is required, not {x}, for uint64")
        if x < 0:
            raise OverflowError(f"can't convert negative int to unsigned: {x}")
        if x >= 1 << 64:
            raise OverflowError(f"int too big to convert: {x} does not fit in 64 bits")
    elif DT_BOOL < dt <= DT_I64 and isinstance(x, int) and not -(1 << 63) <= x < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {x}")
    return store_element(p, dt, x)


cdef Py_ssize_t leading(char* p, int dt, object x) except -1:
    """Store the plain floats and ints that a list or tuple begins with; returns how many."""
    cdef Py_ssize_t i = 0, n
    cdef PyObject* item
    cdef double value
    cdef long long whole
    cdef int overflow = 0
    cdef bint is_list = type(x) is list
    n = PyList_GET_SIZE(x) if is_list else PyTuple_GET_SIZE(x)
    if dt == DT_F32 or dt == DT_F64:
        while i < n:
            item = PyList_GET_ITEM(x, i) if is_list else PyTuple_GET_ITEM(x, i)
            if PyFloat_CheckExact(<object>item):
                value = PyFloat_AS_DOUBLE(<object>item)
            elif PyLong_CheckExact(<object>item):
                value = PyLong_AsDouble(<object>item)
            else:
                break
            if dt == DT_F32:
                (<float*>p)[i] = <float>value
            else:
                (<double*>p)[i] = value
            i += 1
    elif dt == DT_I64:
        while i < n:
            item = PyList_GET_ITEM(x, i) if is_list else PyTuple_GET_ITEM(x, i)
            if not PyLong_CheckExact(<object>item):
                break
            whole = PyLong_AsLongLongAndOverflow(<object>item, &overflow)
            if overflow:
                break
            (<int64_t*>p)[i] = whole
            i += 1
    return i


@cython.boundscheck(True)      # items may run Python code that shortens the list
cdef int store(object x, int depth, Tensor out, char* p) except -1:
    """Write x and what it holds to the block at p, checking that the lengths agree."""
    cdef Py_ssize_t i = 0, step
    if depth == out.nd:
        return store_leaf(p, out.dt, x)
    if isinstance(x, _np.ndarray):
        return store_array(x, depth, out, p)
    if not is_sequence(x):
        raise TypeError(
            f"not a sequence: expected one of length {out.sizes[depth]} at dim {depth}, "
            f"got {type(x).__name__}"
        )
    if type(x) is not list and type(x) is not tuple:
        x = bounded(x)
    if len(x) != out.sizes[depth]:
        raise ValueError(
            f"expected sequence of length {out.sizes[depth]} at dim {depth} (got {len(x)})"
        )
    step = out.strides[depth] * DT_SIZE[out.dt]
    if depth == out.nd - 1:
        i = leading(p, out.dt, x)
    while i < out.sizes[depth]:
        if i & 0xff == 0xff:
            PyErr_CheckSignals()
        store(x[i], depth + 1, out, p + i * step)
        i += 1
    return 0


cdef int store_array(object array, int depth, Tensor out, char* p) except -1:
    cdef Tensor source = from_any_array(array)
    cdef Tensor target
    cdef int i, rest = out.nd - depth
    if source.nd != rest:
        raise ValueError(
            f"expected {rest} more dimension(s) at dim {depth} (got an array with {source.nd})"
        )
    for i in range(rest):
        if source.sizes[i] != out.sizes[depth + i]:
            raise ValueError(
                f"expected sequence of length {out.sizes[depth + i]} at dim {depth + i} "
                f"(got {source.sizes[i]})"
            )
    target = tensor_on(out.mem, p, out.dt, rest, out.sizes + depth, out.strides + depth)
    return copy_into(target, source, "tensor")


cdef Tensor from_any_array(object array):
    """A tensor on the array's memory, or on that of a copy where a tensor can't show it."""
    cdef object a = array
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    if any([s < 0 or s % a.itemsize for s in a.strides]) or not a.flags.aligned:
        a = a.copy()
    return from_array(a)


cdef Tensor from_sequence(object data, int dt):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int n = discover(data, shape)
    cdef Tensor t
    if dt < 0:
        dt = infer(data, 0, n, -1)
        if dt < 0:
            dt = g_default_dtype
    t = empty_on_cpu(dt, n, shape)
    store(data, 0, t, t.ptr)
    return t


cdef Tensor copied(Tensor source, int dt):
    """A copy that shares nothing, in a dtype (-1: that of the source)."""
    if source.flags & F_BATCHED:
        return wrap_at(copied(<Tensor>source.extra.value, dt), source.extra.bdim,
                       source.extra.level)
    if dt < 0 or dt == source.dt:
        return clone_plain(source)
    return cast(source, dt)


cdef Tensor placed(Tensor t, int device):
    """Values that were written by hand, on the device asked for."""
    note_constant(t)
    if device == ON_CPU and t.count and capturing():
        return clone_plain(t)       # by a launch: each replay begins with them, changed or not
    return to_device(t, device)


cdef Tensor from_data(object data, int dt):
    """A tensor with a copy of `data`; dt -1 takes the dtype from the data."""
    cdef PyTypeObject* ty = Py_TYPE(data)
    cdef Tensor t
    if ty == &PyFloat_Type:
        if dt < 0:
            dt = g_default_dtype
        t = empty_on_cpu(dt, 0, NULL)
        if dt == DT_F32:
            (<float*>t.ptr)[0] = <float>PyFloat_AS_DOUBLE(data)
        else:
            store_element(t.ptr, dt, data)
        return t
    if ty == &PyList_Type or ty == &PyTuple_Type:
        return from_sequence(data, dt)
    if isinstance(data, Tensor):
        return copied(<Tensor>data, dt)
    if isinstance(data, _np.ndarray):
        t = from_any_array(data)
        note_constant(t)
        return copied(t, dt)
    if isinstance(data, (int, float, complex, _np.generic)):
        if dt < 0:
            dt = leaf_dtype(data)
        t = empty_on_cpu(dt, 0, NULL)
        store_leaf(t.ptr, dt, data)
        return t
    if not isinstance(data, (list, tuple)):
        if hasattr(data, "__cuda_array_interface__"):
            return copied(tensor_of_interface(data), dt)
        if hasattr(data, "__array__"):
            return copied(from_any_array(_np.asarray(data)), dt)
        if hasattr(data, "__dlpack__"):
            return copied(import_dlpack(data, None), dt)
    if is_sequence(data):
        return from_sequence(data, dt)
    raise no_dtype(data)


cdef int warn_of_copy(object data, str call) except -1:
    if isinstance(data, Tensor):
        _warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}.",
            UserWarning)
    return 0


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """
    A tensor with a copy of `data`.

    Parameters
    ----------
    data : number, nested sequence, array or tensor
        All sequences of one level must have the same length.
    dtype : dtype, optional
        Without it Python floats become the default dtype, ints int64, and arrays and NumPy scalars
        keep theirs; a mixture is promoted.
    device, pin_memory
        As in torch; only CPU tensors exist.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Returns
    -------
    Tensor
        A leaf of the graph.

    Raises
    ------
    ValueError
        If lengths differ, or an integer does not fit int64.
    TypeError
        If some item is no number, or complex where the dtype is real.
    RuntimeError
        If a number does not fit `dtype`, or `requires_grad` is set for integers.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> ag.tensor([1.5, 2.0], requires_grad=True)
    tensor([1.5000, 2.0000], requires_grad=True)
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_TENSOR, ())
    cdef int where = check_placement(device, None, pin_memory, "tensor")
    if isinstance(data, Tensor):
        warn_of_copy(data, "autograd_cy.tensor(sourceTensor)")
        if device is None and where != ON_PINNED and not names_device():
            where = (<Tensor>data).mem.device
    return set_requires_grad(placed(from_data(data, parse_dtype(dtype, -1)), where), requires_grad,
                             "tensor")


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False,
                  pin_memory=False):
    """
    A 0-d tensor of the default dtype (unless told otherwise).

    Parameters
    ----------
    s : number
    dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.scalar_tensor(3)
    tensor(3.)
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_SCALAR_TENSOR, (s,))
    cdef Tensor t
    value = python_number(s, "scalar_tensor", "s")
    cdef int where = check_placement(device, layout, pin_memory, "scalar_tensor")
    t = empty_on_cpu(parse_dtype(dtype, g_default_dtype), 0, NULL)
    store_number(t.ptr, t.dt, value)
    return set_requires_grad(placed(t, where), requires_grad, "scalar_tensor")


cdef Tensor convert(object t, int dt):
    """Another dtype, as a recorded operation if there is something to record."""
    if dt < 0 or dt == (<Tensor>t).dt:
        return <Tensor>t
    if needs_grad(<Tensor>t) or (<Tensor>t).flags & (F_BATCHED | F_DUAL):
        return <Tensor>t.to(dt_object(dt))
    return set_requires_grad(cast(<Tensor>t, dt), False, "to")


def as_tensor(data, dtype=None, device=None):
    """
    `data` as a tensor, without a copy where possible.

    Parameters
    ----------
    data : number, nested sequence, array or tensor
        A tensor is returned as it is, with its history; an array shares its memory, and so does
        what has ``__cuda_array_interface__``, if `device` is where it is.
    dtype : dtype, optional
        Another dtype needs a copy.
    device : device, optional
        The CPU if left out.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> a = np.zeros(2)
    >>> t = ag.as_tensor(a)
    >>> a[0] = 1
    >>> t
    tensor([1., 0.], dtype=autograd_cy.float64)
    """
    cdef int dt = parse_dtype(dtype, -1)
    if device is None and names_device():
        device = default_device()
    cdef int where = check_placement(device, None, False, "as_tensor")
    if isinstance(data, Tensor):
        if device is not None and where != (<Tensor>data).mem.device:
            return data.to(device, dt_object(dt if dt >= 0 else (<Tensor>data).dt))
        return convert(data, dt)
    if isinstance(data, _np.ndarray):
        return set_requires_grad(to_device(convert(shared_array(data, None), dt), where), False,
                                 "as_tensor")
    if hasattr(data, "__cuda_array_interface__"):
        return set_requires_grad(to_device(convert(tensor_of_interface(data), dt), where), False,
                                 "as_tensor")
    return set_requires_grad(placed(from_data(data, dt), where), False, "as_tensor")


cdef Tensor shared_array(object array, object copy):
    """A tensor on the memory of an array, or on a copy where elements lie between multiples."""
    if not array.flags.aligned and array.size:
        if copy is not None and not copy:
            raise ValueError(
                "asarray: can't alias an array whose elements do not lie on multiples of their "
                "size into a tensor; leave copy=False out")
        array = array.copy()
    return from_array(array)


cdef Tensor shared_with(object obj, object dtype, object copy):
    """A tensor on the memory of `obj`, or None if it has none to share."""
    if isinstance(obj, Tensor):
        return <Tensor>obj
    if isinstance(obj, _np.ndarray):
        return from_any_array(obj) if copy else shared_array(obj, copy)
    if isinstance(obj, _np.generic):
        if copy is False:
            raise RuntimeError(
                "asarray: can't alias NumPy scalars. Either remove copy=False or transform it in a "
                "ndarray.")
        return None
    if hasattr(obj, "__dlpack__") or PyCapsule_CheckExact(obj):
        return import_dlpack(obj, None)
    if isinstance(obj, (bytes, bytearray)):
        return raw_buffer(obj, parse_dtype(dtype, g_default_dtype), -1, 0)
    if PyObject_CheckBuffer(obj):
        return shared_array(_np.asarray(obj), copy)
    return None


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """
    Anything array-like as a tensor.

    Parameters
    ----------
    obj : object
        A tensor, a NumPy array, a DLPack capsule, an object with ``__dlpack__`` or the buffer
        protocol, a number or a nested sequence. The bytes of a ``bytes`` or ``bytearray`` are read
        as `dtype`.
    dtype : dtype, optional
    device : device, optional
        Only the CPU.
    copy : bool, optional
        True: always copy. False: never, raise instead. None: only if necessary.
    requires_grad : bool, optional
        That of `obj` if left out; False detaches a tensor that requires grad.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If `copy` is False and a copy cannot be avoided.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.asarray([1, 2])
    tensor([1, 2])
    """
    cdef Tensor t, r
    cdef int dt = parse_dtype(dtype, -1)
    if device is None and names_device():
        device = default_device()
    cdef int where = check_placement(device, None, False, "asarray")
    t = shared_with(obj, dtype, copy)
    if device is not None and where != (t.mem.device if t is not None else ON_CPU):
        if copy is not None and not copy:
            raise ValueError(f"asarray: can't alias memory on another device than '{device}'")
        return set_requires_grad(as_tensor(obj if t is None else t, dtype, device),
                                 requires_grad or False,
                                 "asarray")
    if t is None:
        if copy is not None and not copy:
            raise ValueError("asarray: can't alias arbitrary sequence into a tensor.")
        return set_requires_grad(from_data(obj, dt), requires_grad or False, "asarray")
    if copy is not None and not copy and dt >= 0 and dt != t.dt:
        raise ValueError(
            f"asarray: can't alias tensor with dtype '{dt_scalar_name(t.dt)}' into dtype "
            f"'{dt_scalar_name(dt)}'."
        )
    if requires_grad is None:
        requires_grad = bool(needs_grad(t))
    if requires_grad and needs_grad(t):
        r = convert(t, dt)
        return r.clone() if copy and r is t else r
    if copy:
        r = copied(t, dt)
    elif dt >= 0 and dt != t.dt:
        r = convert(t, dt) if t.flags & (F_BATCHED | F_DUAL) else cast(t, dt)
    elif t is obj and not needs_grad(t) and not requires_grad:
        return t
    else:
        r = tensor_alias(t)
    return set_requires_grad(r, requires_grad, "asarray")


cdef Tensor unaligned_buffer(object owner, int dt, Py_ssize_t count, Py_ssize_t offset):
    """A copy of elements that do not lie on multiples of their size, as kernels need them."""
    cdef Py_buffer* view = PyMemoryView_GET_BUFFER(owner)
    cdef Tensor result = empty_on_cpu(dt, 1, &count)
    if not view.readonly:
        _warn(
            "frombuffer: the elements do not lie on multiples of their size, so the tensor has a "
            "copy of them: writes to one do not show in the other. Pass a copy of these bytes, or "
            "another offset.")
    memcpy(result.ptr, <char*>view.buf + offset, count * DT_SIZE[dt])
    return mark_raw(result)


cdef Tensor raw_buffer(object buffer, int dt, Py_ssize_t count, Py_ssize_t offset):
    cdef Py_ssize_t item = DT_SIZE[dt], length
    cdef StorageImpl* s
    cdef Py_buffer* view
    no_launch("frombuffer", "others may write that memory, which would not be done again")
    try:
        owner = memoryview(buffer)
    except TypeError:
        raise ValueError("frombuffer: object does not implement Python buffer protocol.") from None
    if not owner.c_contiguous:
        raise RuntimeError("frombuffer: the buffer is not contiguous; copy it with bytearray()")
    view = PyMemoryView_GET_BUFFER(owner)
    length = view.len
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if offset < 0 or offset >= length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % item:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
                f"multiple of element size ({item})"
            )
        count = (length - offset) // item
    elif count > (length - offset) // item:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({length} bytes)"
        )
    if (<size_t>view.buf + <size_t>offset) % <size_t>min(item, 8):
        return unaligned_buffer(owner, dt, count, offset)
    s = storage_borrow(<char*>view.buf + offset, count * item, owner, view.readonly)
    try:
        return mark_raw(tensor_on(s, s.data, dt, 1, &count, NULL))
    finally:
        storage_decref(s)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """
    A 1-d tensor on the memory of an object with the buffer protocol.

    Parameters
    ----------
    buffer : object
        Such as a ``bytearray``; if it is read-only, in-place operations on the tensor raise.
        Elements that do not lie on multiples of their size are copied, and a warning says so.
    dtype : dtype
        How to read the bytes.
    count : int
        Number of elements; negative: all.
    offset : int
        Bytes to skip.
    requires_grad : bool

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        If the object has no buffer, or the sizes do not fit.
    RuntimeError
        If the buffer is not contiguous.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.frombuffer(bytearray([1, 0, 2, 0]), dtype=ag.int16)
    tensor([1, 2], dtype=autograd_cy.int16)
    """
    cdef Tensor result = raw_buffer(buffer, dt_code(dtype), count, offset)
    if result.mem.readonly:
        warn_once(
            "The given buffer is not writable, and neither is the tensor on its memory: in-place "
            "operations on it are refused. Copy the buffer, as by bytearray(), to write to it.")
    return set_requires_grad(result, requires_grad, "frombuffer")


cdef object construct(object data):
    # Tensor(data): the default dtype, whatever the data.
    return from_data(data, g_default_dtype)

_set_constructor(lambda data: construct(data))
