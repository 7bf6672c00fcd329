# Whether operations on a tensor are recorded (part of tensor.pyx).

cdef int set_requires_grad(Tensor t, bint value) except -1:
    if t.fn != NULL or (t.flags & F_VIEW and requires_grad(t) and upcalls.grad_fn(t) is not None):
        if not value:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        return 0
    if value:
        if not dt_differentiable(t.dt):
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients "
                f"(this one is {dt_object(t.dt)!r})"
            )
        if t.flags & F_INFERENCE and not (tls_modes() & M_INFERENCE):
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        t.flags |= F_REQUIRES_GRAD
    else:
        t.flags &= ~<uint32_t>F_REQUIRES_GRAD
    return 0


def _must_be_bool(function, name, value, position=0):
    """Refuse what is no bool as the switch `name` of a function; numbers are none, as in torch."""
    if value is True or value is False:
        return
    place = f" (position {position})" if position else ""
    raise TypeError(f"{function}(): argument '{name}'{place} must be bool, not "
                    f"{type(value).__name__}")


def requires_grad_(Tensor self not None, requires_grad=True):
    """
    Change whether operations on this leaf tensor are recorded; returns the tensor.

    Parameters
    ----------
    requires_grad : bool

    Raises
    ------
    RuntimeError
        If the tensor isn't a leaf and the flag is taken away, or the dtype can't have gradients.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2).requires_grad_()
    tensor([0., 0.], requires_grad=True)
    """
    _must_be_bool("requires_grad_", "requires_grad", requires_grad, 1)
    set_requires_grad(self, requires_grad)
    return self


# What the graph does when a tensor with history gets memory of another shape (inplace.pyx).
cdef object shape_replaced = None


def _set_shape_replaced(f):
    global shape_replaced
    shape_replaced = f


# --- warnings and versions --------------------------------------------------------------------

cdef bint g_warn_always = False
cdef set g_warned = set()


cdef int warn_once(str text) except -1:
    """A UserWarning that comes once in a process, or each time (see set_warn_always)."""
    if text in g_warned and not g_warn_always:
        return 0
    g_warned.add(text)
    _warn(text)
    return 0


def _warn_once(str text not None):
    """See `warn_once`; for what is in Python."""
    warn_once(text)


def _set_warn_always(bint always):
    global g_warn_always
    g_warn_always = always


def _warn_always():
    return g_warn_always


def _set_version(Tensor t not None, uint32_t version):
    """Set the version counter that a tensor shares with its views."""
    t.mem.version[0] = version


def _set_versions(pairs):
    """Set the versions of several tensors: `pairs` is (tensors, versions)."""
    cdef Tensor t
    for t, version in zip(pairs[0], pairs[1]):
        t.mem.version[0] = version
