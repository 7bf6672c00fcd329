# Tangents of forward mode, as the tensor holds them (part of tensor.pyx; see engine/forward.pyx).

# Note [Forward levels]
# A tensor has at most one tangent of its own, that of the innermost level. Tangents of outer levels
# are those of `primal`, the same value without the inner one; a tangent may have tangents of
# outer levels itself. Every tangent is in the list of its level, so the end of a level clears
# them all, and nothing else keeps them alive.

cdef unsigned long long g_forward_serial = 0
cdef int g_forward_alive = 0


cdef class ForwardLevel:
    def __init__(self):
        global g_forward_serial, g_forward_alive, g_modes
        g_forward_serial += 1
        g_forward_alive += 1
        g_modes |= G_FORWARD
        self.serial = g_forward_serial
        self.batches = vmap_level()
        self.alive = True

    def end(self):
        """Clear all tangents of this level."""
        global g_forward_alive, g_modes
        cdef TensorExtra x
        if not self.alive:
            return
        self.alive = False
        g_forward_alive -= 1
        if g_forward_alive == 0:
            g_modes &= ~<unsigned int>G_FORWARD
        while self.first != NULL:
            x = <TensorExtra>self.first
            drop_dual(<Tensor>x.owner)

    def __dealloc__(self):
        global g_forward_alive, g_modes
        if self.alive:              # an interrupt came before anyone could end it
            g_forward_alive -= 1
            if g_forward_alive == 0:
                g_modes &= ~<unsigned int>G_FORWARD
        while self.first != NULL:
            unlink_dual(<TensorExtra>self.first)


cdef void unlink_dual(TensorExtra x) noexcept:
    if x.dual_link != NULL:
        x.dual_link[0] = x.next_dual
        if x.next_dual != NULL:
            (<TensorExtra>x.next_dual).dual_link = x.dual_link
        x.dual_link = NULL
        x.next_dual = NULL


cdef int put_dual(Tensor t, Tensor tangent, ForwardLevel level, Tensor primal) except -1:
    """Give t a tangent of `level`; `primal` is t with the tangents of outer levels, or None."""
    cdef TensorExtra x = need_extra(t)
    unlink_dual(x)
    x.owner = <PyObject*>t
    x.tangent = tangent
    x.forward = level
    x.primal = primal
    x.next_dual = level.first
    if level.first != NULL:
        (<TensorExtra>level.first).dual_link = &x.next_dual
    level.first = <PyObject*>x
    x.dual_link = &level.first
    t.flags |= F_DUAL
    return 0


cdef int drop_dual(Tensor t) except -1:
    cdef TensorExtra x = t.extra
    cdef object _dying = x.tangent          # freed at the end: that may run other code
    cdef Tensor primal = <Tensor>x.primal
    unlink_dual(x)
    x.tangent = None
    x.primal = None
    x.forward = None
    if primal is not None and primal.flags & F_DUAL:
        put_dual(t, <Tensor>primal.extra.tangent, primal.extra.forward, <Tensor>primal.extra.primal)
    else:
        t.flags &= ~<uint32_t>F_DUAL
        t.own_tangent = 0
        x.dual_base = None
    return 0


cdef int stand_alone(Tensor t) except -1:
    """Let the tangents of t be its own, though it is a view."""
    t.own_tangent = OWN_TANGENT
    if t.extra is not None:
        t.extra.dual_base = None
    return 0


cdef int stand_on(Tensor view, Tensor base) except -1:
    """Let a view of what has tangents of its own follow these."""
    need_extra(view).dual_base = base.extra.dual_base if base.own_tangent == OF_DUAL else base
    view.own_tangent = OF_DUAL
    return 0


cdef int copy_special(Tensor t, Tensor source) except -1:
    cdef TensorExtra x
    if source.flags & F_BATCHED:
        x = need_extra(t)
        x.value = source.extra.value
        x.bdim = source.extra.bdim
        x.level = source.extra.level
        t.flags |= F_BATCHED
    if source.flags & F_DUAL:
        put_dual(t, <Tensor>source.extra.tangent, source.extra.forward,
                 <Tensor>source.extra.primal)
        if source.own_tangent != OF_DUAL:
            t.own_tangent = source.own_tangent
        elif <Tensor>source.extra.dual_base is not t:
            stand_on(t, source)
    return 0


cdef int vmap_level() noexcept nogil:
    return (ag_tls_modes >> M_VMAP_SHIFT) & 0xFF


cdef Tensor wrap_at(Tensor physical, int bdim, int level):
    """A wrapper whose examples lie along `bdim`; -1: all examples are `physical`."""
    cdef Tensor r
    cdef TensorExtra x
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, n = 0
    for d in range(physical.nd):
        if d != bdim:
            shape[n] = physical.sizes[d]
            strides[n] = physical.strides[d]
            n += 1
    r = tensor_on(physical.mem, physical.ptr, physical.dt, n, shape, strides)
    x = need_extra(r)
    x.value = physical
    x.bdim = bdim
    x.level = level
    r.flags |= F_BATCHED
    if bdim < 0:
        r.flags |= physical.flags & F_WRAPPED
    return r


cdef Tensor below_vmaps(Tensor t):
    while t.flags & F_BATCHED:
        t = <Tensor>t.extra.value
    return t


cdef bint has_examples(Tensor t) noexcept:
    while t.flags & F_BATCHED:
        if t.extra.bdim >= 0:
            return True
        t = <Tensor>t.extra.value
    return False


def _refuse_escaped(Tensor t not None, str what):
    """Raise if the vmap that a wrapper belongs to has ended; `what` was to be done with it."""
    if t.flags & F_BATCHED and t.extra.level > vmap_level():
        raise RuntimeError(
            f"vmap: {what}: your tensor may have escaped from inside a function being vmapped: it "
            "stands for all examples of a vmap that has ended. Return it from that function, and "
            "use what vmap gives for it.")


cdef int refuse_examples(Tensor t, str what) except -1:
    """Raise if the values of t differ between the examples of a vmap."""
    if t.flags & F_BATCHED and has_examples(t):
        _refuse_escaped(t, what)
        raise RuntimeError(
            f"vmap: {what}: Cannot access data pointer of Tensor that doesn't have storage: inside "
            "vmap a tensor stands for all examples. Return it and look at it outside.")
    return 0


cdef uint32_t lazy_bits(Tensor t) noexcept:
    return below_vmaps(t).flags & F_TURNED
