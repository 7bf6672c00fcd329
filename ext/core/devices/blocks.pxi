# Memory that services give (part of devices.pyx).

# Note [Blocks in use]
# A block goes back on the stream that it was allocated on: whatever is put there later may use the
# memory again. Work on other streams that uses it is noted in BlockUse; it is waited for by that
# stream before the block goes. Pinned memory has no stream: the events of copies under way are
# kept, and while one wasn't reached the block waits in `_leaving`, which is looked through when
# other pinned memory comes or goes.

cdef ServiceBlock* _leaving = NULL


cdef StorageImpl* device_storage(int device, Py_ssize_t nbytes) except NULL:
    cdef int type = device_type(device), index = device_index(device)
    cdef stream_t stream = current_stream(device)
    cdef char* data = NULL
    cdef void* block = NULL
    services[type].allocate(index, nbytes, stream, &data, &block)
    try:
        return storage_of_service(device, type, data, nbytes, block, stream,
                                  current_stream_owner(device))
    except BaseException:
        services[type].release(index, block, stream)
        raise


cdef int note_use(ServiceBlock* b, int device, stream_t stream, PyObject* owner) except -1:
    """Work on this stream uses the block, and may go on when the last tensor on it has gone."""
    cdef BlockUse* use = b.uses
    cdef bint pinned = b.head.kind == STORAGE_PINNED
    if not pinned and stream == b.stream:
        return 0
    while use != NULL and (use.stream != stream or use.device != device):
        use = use.next
    if use == NULL:
        use = <BlockUse*>PyMem_RawMalloc(sizeof(BlockUse))
        if use == NULL:
            raise MemoryError("autograd_cy: cannot note that a stream uses a tensor")
        use.stream = stream
        use.device = device
        use.owner = owner
        use.event = NULL
        Py_XINCREF(owner)
        use.next = b.uses
        b.uses = use
    if pinned:
        services[device_type(device)].event_record(device_index(device), stream, False, &use.event)
    return 0


cdef void drop_uses(ServiceBlock* b) noexcept:
    cdef BlockUse* use
    while b.uses != NULL:
        use = b.uses
        b.uses = use.next
        if use.event != NULL:
            services[device_type(use.device)].event_free(device_index(use.device), use.event)
        Py_XDECREF(use.owner)
        PyMem_RawFree(use)


cdef int wait_for_uses(ServiceBlock* b) except -1:
    """Let the block's own stream wait for the others that use it."""
    cdef Services* s = &services[b.type]
    cdef BlockUse* use = b.uses
    cdef int index = device_index(b.head.device)
    while use != NULL:
        s.event_record(index, use.stream, False, &use.event)
        s.event_wait(index, b.stream, use.event)
        use = use.next
    return 0


cdef int copies_are_done(ServiceBlock* b) except -1:
    cdef BlockUse* use = b.uses
    while use != NULL:
        if use.event != NULL and not services[device_type(use.device)].event_query(
                device_index(use.device), use.event):
            return False
        use = use.next
    return True


cdef bint give_block_back(ServiceBlock* b) noexcept:
    """Tell if its header may go as well; an error that is on its way stays so."""
    cdef PyObject* error
    cdef PyObject* value
    cdef PyObject* trace
    cdef bint gone = True
    PyErr_Fetch(&error, &value, &trace)
    if b.head.kind == STORAGE_PINNED:
        gone = unpin_or_wait(b)
    else:
        if b.uses != NULL:
            try_to_wait(b)
        services[b.type].release(device_index(b.head.device), b.head.owner, b.stream)
        drop_uses(b)
        Py_XDECREF(b.stream_owner)
    PyErr_Restore(error, value, trace)
    return gone


cdef void try_to_wait(ServiceBlock* b) noexcept:
    if _lost[b.type]:
        return
    try:
        wait_for_uses(b)
    except BaseException:
        wait_on_host(b)
        raise              # to be printed: nobody could catch it


cdef int wait_on_host(ServiceBlock* b) except -1:
    """Wait for the streams that use the block, where its own can't be made to."""
    cdef BlockUse* use = b.uses
    while use != NULL:
        services[b.type].synchronize(device_index(b.head.device), use.stream)
        use = use.next
    return 0


cdef bint unpin_or_wait(ServiceBlock* b) noexcept:
    """Give pinned memory back; if a copy is under way, keep it in `_leaving`."""
    global _leaving
    cdef bint done = True
    if b.uses != NULL:
        try:
            done = copies_are_done(b)
        except BaseException:
            done = True        # the device has gone, or its error comes with a synchronisation
    if not done:
        b.next = _leaving
        _leaving = b
        return False
    services[b.type].unpin(b.head.owner)
    drop_uses(b)
    return True


cdef void let_pinned_go() noexcept:
    """Give back pinned memory whose copies have come to their end."""
    global _leaving
    cdef ServiceBlock* b = _leaving
    cdef ServiceBlock* after
    _leaving = NULL
    while b != NULL:
        after = b.next
        if unpin_or_wait(b):
            PyMem_RawFree(b)
        b = after


def _let_pinned_go():
    """Give back pinned memory whose copies have come to their end, as the next allocation does."""
    let_pinned_go()


cdef int pinning_type() noexcept:
    cdef int type = accelerator_type()
    return type if services[type].pin != NULL else 0


cdef StorageImpl* pinned_storage(int device, Py_ssize_t nbytes) except NULL:
    cdef int type
    cdef char* data = NULL
    cdef void* block = NULL
    if not accelerator_type():
        _need_offered()
    type = pinning_type()
    if not type:
        raise RuntimeError(
            "Cannot access accelerator device when none is available: no accelerator that pins "
            "memory is registered; leave pin_memory out")
    let_pinned_go()
    services[type].pin(nbytes, &data, &block)
    try:
        return storage_of_service(ON_CPU, type, data, nbytes, block, NULL, NULL)
    except BaseException:
        services[type].unpin(block)
        raise


set_release(give_block_back)
device_memory[device_type(ON_PINNED)] = pinned_storage
