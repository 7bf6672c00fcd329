# Which tensors functions that are transformed may write (part of node.pyx).

# Note [Captured tensors]
# A function that is transformed may write what it made itself and what it was given. Another tensor
# would be left in the graph of the transformation, which ends with it. What the function made is
# known by its memory (Note [Young storages] in storage/births.pxi); what it was given is looked up
# when older memory is about to be written. Writes of the inner of nested transformations are writes
# for the outer ones, too. The threads' modes have M_GUARD_SAVED while a transformation runs.

cdef class Transformed:
    """One transformed function that is running."""
    cdef uint64_t first              # births since are its own
    cdef object arguments            # called without arguments: the tensors it was given
    cdef tuple originals             # for which it got others, to differentiate
    cdef bint reverse                # by reverse mode: writes are recorded

cdef dict _transformed = {}          # thread id -> list of Transformed, innermost last


def _call_transformed(arguments, tuple originals, bint reverse, modes_t mask, modes_t value,
                      call):
    """``call()``, a transformed function, while the bits of `mask` are those of `value`."""
    cdef modes_t before = tls_modes()
    cdef modes_t changed = mask | M_GUARD_SAVED
    cdef Transformed one = Transformed.__new__(Transformed)
    cdef list running = _transformed.setdefault(PyThread_get_thread_ident(), [])
    one.arguments = arguments
    one.originals = originals
    one.reverse = reverse
    running.append(one)
    one.first = follow_births()
    tls_set_modes((before & ~mask) | (value & mask) | M_GUARD_SAVED)
    try:
        return call()
    finally:
        tls_set_modes((tls_modes() & ~changed) | (before & changed))
        leave_births()
        running.pop()
        if not running:
            _transformed.pop(PyThread_get_thread_ident(), None)


cdef bint transformed_in_reverse() except -1:
    """
    Return whether a function runs that is transformed by reverse mode.

    To that function, tensors made in inference mode are constants like others: its graph ends with
    the call, and writes count as versions of their memory.
    """
    cdef Transformed one
    if not tls_modes() & M_GUARD_SAVED:
        return False
    for one in _transformed.get(PyThread_get_thread_ident(), ()):
        if one.reverse:
            return True
    return False


cdef int check_captured(Tensor t, str op, bint recording) except -1:
    cdef list running = _transformed.get(PyThread_get_thread_ident())
    cdef Py_ssize_t i
    if running is None or not op.endswith("_"):
        # Somebody else wants to hear of writes; or an operator changes an argument beside its
        # result, as batch_norm does with statistics.
        return 0
    for i in range(len(running) - 1, -1, -1):
        if born_since(t.mem, (<Transformed>running[i]).first):
            return 0                 # so it is young for those outside, too
        if is_captured(t, <Transformed>running[i], recording):
            raise RuntimeError(
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
                f"call in-place operation ({op}) that would mutate a captured Tensor. This is not "
                "supported; please rewrite the function being transformed to explicitly accept the "
                "mutated Tensor(s) as inputs.")
    return 0


cdef bint is_captured(Tensor t, Transformed one, bint recording) except -1:
    """Return whether a function may not write older memory."""
    cdef Tensor x
    cdef StorageImpl* memory = whole_memory(t)
    if one.reverse:
        for x in one.originals:
            # What it got in place of one that requires grad is a view of it.
            if x is t or (recording and not requires_grad(x) and t.flags & F_VIEW
                          and t.base == <PyObject*>x):
                return True
    for x in one.originals:
        if whole_memory(x) == memory:
            return False
    for x in one.arguments():
        if whole_memory(x) == memory:
            # It would come out of the call with a history that ends here.
            return recording and not requires_grad(t)
    return True


cdef StorageImpl* whole_memory(Tensor t) noexcept:
    cdef StorageImpl* s = t.mem
    while s.kind == STORAGE_ALIAS:
        s = <StorageImpl*>s.owner
    return s


seal(Transformed, "Transformed objects cannot be made; see autograd_cy.func")
