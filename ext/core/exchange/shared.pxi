# Memory that processes share (part of exchange.pyx); autograd_cy/_tensors/sharing.py decides what
# goes there.

cdef extern from *:
    """
    #include <sys/mman.h>
    #include <unistd.h>
    static void *ag_map_shared(int fd, size_t size) {
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return p == MAP_FAILED ? NULL : p;
    }
    static void ag_unmap(void *p, size_t size) { (void)munmap(p, size); }
    static void ag_close(int fd) { (void)close(fd); }
    """
    void* ag_map_shared(int fd, size_t size)
    void ag_unmap(void* p, size_t size)
    void ag_close(int fd)


cdef class _SharedBlock:
    """
    A file in memory of this process, whose descriptor it owns (-1: it was closed).

    Unlike `mmap.mmap` it holds one descriptor and not two.
    """
    cdef char* start
    cdef readonly Py_ssize_t size
    cdef readonly int descriptor
    cdef readonly object name           # of a file that has one
    cdef object __weakref__

    def __cinit__(self):
        self.descriptor = -1

    def __dealloc__(self):
        if self.start != NULL:
            ag_unmap(self.start, <size_t>self.size)
        if self.descriptor >= 0:
            ag_close(self.descriptor)

    def close(self):
        """Close the descriptor; the memory stays."""
        if self.descriptor >= 0:
            ag_close(self.descriptor)
            self.descriptor = -1

    def storage(self, Py_ssize_t offset, Py_ssize_t nbytes):
        """An `UntypedStorage` on some of the memory, which it keeps alive."""
        cdef StorageImpl* s
        if not 0 <= offset <= offset + nbytes <= self.size:
            raise ValueError(f"{nbytes} bytes from {offset} of a block of {self.size}")
        s = storage_borrow(self.start + offset, nbytes, self, False)
        try:
            return hold(s)
        finally:
            storage_decref(s)


def _shared_block(int descriptor, Py_ssize_t size, name=None):
    """Map a file of so many bytes, and take over its descriptor."""
    cdef _SharedBlock block = _SharedBlock.__new__(_SharedBlock)
    if size < 1:
        raise ValueError(f"a shared block of {size} bytes")
    block.start = <char*>ag_map_shared(descriptor, <size_t>size)
    if block.start == NULL:
        raise OSError(ENOMEM, f"cannot map {size} bytes of shared memory")
    block.size = size
    block.descriptor = descriptor
    block.name = name
    return block


cdef list known_users(Tensor t, StorageImpl* root):
    """The tensor, and those that it is a view of."""
    users = [t]
    while t.base != NULL and root_of((<Tensor>t.base).mem) == root:
        t = <Tensor>t.base
        users.append(t)
    return users


cdef bint only_users(StorageImpl* top, Py_ssize_t tensors, Py_ssize_t objects) noexcept:
    """Tell whether so many tensors, and storage objects of the block below, hold it alone."""
    if top.kind != STORAGE_ALIAS:
        return top.refcount == tensors + objects
    if top.refcount != tensors:
        return False
    top = <StorageImpl*>top.owner
    while top.kind == STORAGE_ALIAS:
        if top.refcount != 1:
            return False
        top = <StorageImpl*>top.owner
    return top.refcount == 1 + objects


def _move_memory(Tensor t not None, make):
    """
    Let a tensor, what it is a view of, and their storage object go on with other memory.

    ``make(nbytes)`` gives it, as an `UntypedStorage`. Returns what holds the old memory; or None,
    and nothing is done, if something else uses the memory too, which would stay behind.
    """
    cdef StorageImpl* old = root_of(t.mem)
    cdef StorageImpl* top = t.mem       # above it, if the tensor has a version of its own (`.data`)
    cdef StorageImpl* new
    cdef UntypedStorage target
    cdef Tensor user
    cdef Py_ssize_t count = 0
    cdef UntypedStorage shown = _alive.get(<size_t>old)
    cdef bint has_object
    users = known_users(t, old)
    if shown is not None and shown.mem != old:
        shown = None
    has_object = shown is not None and old.has_object
    if shown is not None and not has_object:
        count += 1
    for user in users:
        if user.mem != top:
            return None
    if old.device != ON_CPU or not only_users(top, len(users), count):
        return None
    target = make(old.nbytes)
    new = target.mem
    if (new.nbytes < old.nbytes or t.mem != top or has_object != old.has_object
            or not only_users(top, len(users), count)):
        return None                     # another thread was quicker
    if has_object:
        hold_again(shown)
    left = base_on(old)
    memcpy(new.data, old.data, <size_t>old.nbytes)
    if top.version == &top.own_version:
        new.own_version = top.own_version
    else:
        storage_share_version(new, top)
    new.last_op = top.last_op
    for user in users:
        user.ptr = new.data + (user.ptr - old.data)
        user.mem = storage_incref(new)
        storage_decref(top)
    if shown is not None:
        shown.mem = storage_incref(new)
        del _alive[<size_t>old]
        _alive[<size_t>new] = shown
        storage_decref(old)
        if has_object:
            keep(shown)
    return left


def _move_storage(UntypedStorage self not None, make):
    """
    Let a storage that nothing else uses go on with other memory, as `_move_memory` does.
    """
    cdef StorageImpl* old = self.mem
    cdef UntypedStorage target
    if old.has_object or old.refcount != 1 or old.device != ON_CPU:
        return False
    target = make(old.nbytes)
    if old.refcount != 1 or target.mem.nbytes < old.nbytes:
        return False
    memcpy(target.mem.data, old.data, <size_t>old.nbytes)
    del _alive[<size_t>old]
    self.mem = storage_incref(target.mem)
    _alive[<size_t>self.mem] = self
    storage_decref(old)
    return True
