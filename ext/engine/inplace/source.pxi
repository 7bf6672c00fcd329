# Other memory for a tensor: Tensor.set_ (part of inplace.pyx).

_nothing = object()


def set_(Tensor self not None, source=_nothing, storage_offset=0, size=None, stride=None):
    """
    Let this tensor show other memory.

    Versions go on counting. What autograd has recorded with the old memory stays as it is, and the
    gradient edges of then; for graphs, a leaf with new memory is a new leaf.

    Parameters
    ----------
    source : Tensor, UntypedStorage or TypedStorage, optional
        By default an empty tensor's.
    storage_offset : int
        Of the first element in a storage, in elements.
    size : sequence of int, optional
        By default all elements.
    stride : sequence of int, optional
        By default that of a contiguous tensor.

    Returns
    -------
    Tensor
        This tensor.

    Raises
    ------
    RuntimeError
        If dtypes or devices differ, the memory is too small and something else uses it, so that it
        can't grow, or the tensor is a leaf that requires grad and grad mode is on.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.zeros(3)
    >>> x.set_(ag.arange(4.0).untyped_storage(), 1, (2,))
    tensor([1., 2.])
    """
    cdef Scope _seen = NULL
    cdef Tensor window, whole
    cdef StorageImpl* memory
    cdef object base
    cdef Py_ssize_t n
    cdef uint32_t lazy = self.flags & F_TURNED
    cdef bint shown = False        # the storage is that of a tensor
    cdef bint recording = not (tls_modes() & M_NO_GRAD) and (
        requires_grad(self)
        or (isinstance(source, Tensor) and requires_grad(<Tensor>source)))
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_SET, (self,))
    if self.flags & F_BATCHED or (
            isinstance(source, Tensor) and (<Tensor>source).flags & F_BATCHED):
        raise RuntimeError("vmap: set_ is not possible on a batched tensor")
    if self.flags & F_DUAL:
        raise RuntimeError("set_: a tensor with a tangent can't show other memory; detach() it")
    if size is None and (
            stride is not None or type(storage_offset) is not int or storage_offset != 0):
        raise TypeError("set_(): storage_offset and stride need a size")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            raise wrong_type(size, "set_", "size", 3, "tuple of ints")
        size = sizes_arg(size, "set_", "size", 3)
        stride = (contiguous_strides(size) if stride is None
                  else sizes_arg(stride, "set_", "stride", 4))
        storage_offset = int_arg(storage_offset, "set_", "storage_offset", 2)
    if type(source).__name__ == "TypedStorage" and hasattr(source, "untyped"):
        if source.dtype != dt_object(self.dt):
            raise RuntimeError(
                f"Expected a Storage of type {dt_scalar_name(self.dt)} or an UntypedStorage, but "
                f"got type {source.dtype} for argument 1 'storage'")
        source = source.untyped()
    elif size is not None and isinstance(source, Tensor):
        source = source.untyped_storage()       # its memory, whatever it shows of that
        shown = True
    if source is _nothing:
        whole = tensor_empty_on(self.mem.device, self.dt, 1, &none_of_them, NULL)
    elif isinstance(source, Tensor):
        whole = <Tensor>source
        if whole.mem.device != self.mem.device:
            raise RuntimeError(
                f"Attempted to set the storage of a tensor on device \"{self.device}\" to a "
                f"storage on different device \"{whole.device}\". The devices must match.")
        if whole.dt != self.dt:
            raise RuntimeError(
                f"Could not set tensor of type {dt_scalar_name(whole.dt)} to a tensor of type "
                f"{dt_scalar_name(self.dt)}")
    elif isinstance(source, UntypedStorage):
        memory = (<UntypedStorage>source).mem
        if memory.device != self.mem.device:
            raise RuntimeError(
                f"Attempted to set the storage of a tensor on device \"{self.device}\" to a "
                f"storage on different device \"{source.device}\". The devices must match.")
        if size is not None and not shown:
            let_fit(<UntypedStorage>source, size, stride, storage_offset, DT_SIZE[self.dt])
            memory = (<UntypedStorage>source).mem
        n = memory.nbytes // DT_SIZE[self.dt]
        whole = mark_raw(tensor_on(memory, memory.data, self.dt, 1, &n, NULL))
    else:
        raise TypeError(f"set_(): argument 'source' must be Tensor or UntypedStorage, not "
                        f"{type(source).__name__}")
    window = whole
    if size is not None:
        window = as_strided_plain(whole, size, stride, storage_offset)
    check_inplace(self, "set_", recording)
    if self.flags & F_VIEW:
        if requires_grad(self):
            raise RuntimeError(
                "set_: a view that requires grad can't show other memory; detach() it")
        leave_base(self)
    reshaped = self.fn != NULL and not same_shape(self, window)
    take_memory(self, window)
    # Conjugation and negation belong to the tensor, not to what it shows.
    self.flags = (self.flags & ~<uint32_t>F_TURNED) | lazy
    bump_version(self)
    # Graphs of before keep their accumulator, which still owns this leaf; later ones get another.
    self.accumulator = NULL
    if recording:
        add_history(self, NotImplementedBackward, "set_",
                    <Tensor>source if isinstance(source, Tensor) else None)
    elif reshaped:
        _shape_replaced(self)
    return self


cdef Py_ssize_t none_of_them = 0


cdef tuple contiguous_strides(tuple size):
    cdef list strides = []
    step = 1
    for n in reversed(size):
        strides.insert(0, step)
        step *= max(n, 1)
    return tuple(strides)


cdef int let_fit(UntypedStorage storage, tuple size, tuple stride, offset, int itemsize) except -1:
    """Let a storage that nothing else uses grow until it can hold a tensor."""
    last = offset
    for n, step in zip(size, stride):
        if n <= 0 or step < 0:
            return 0
        last += (n - 1) * step
    if (storage.mem.nbytes < (last + 1) * itemsize < 1 << 62 and offset >= 0
            and len(size) == len(stride)
            and not storage.mem.has_object and storage.mem.refcount == 1 and storage.resizable()):
        resize_block(storage, (last + 1) * itemsize)
    return 0
