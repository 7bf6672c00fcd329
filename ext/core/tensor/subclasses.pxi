# Instances of Python subclasses (part of tensor.pyx); overrides.pyx has what they decide.

def _make_subclass(cls, Tensor data not None, require_grad=False):
    """A tensor of the subclass `cls` on the memory of `data` (what ``Parameter`` is made of)."""
    cdef Tensor t
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"cls must be a type (got {cls!r}) derived from Tensor")
    t = cls.__new__(cls) if cls is Tensor else Tensor.__new__(cls)
    replace_storage(t, data)
    if require_grad:
        set_requires_grad(t, True)
    return t


cdef Tensor tensor_as(Tensor t, object cls):
    """An instance of `cls` that takes over what a tensor is, which nobody else has."""
    cdef Tensor r
    if type(t) is cls:
        return t
    r = Tensor.__new__(cls)
    become(r, t)
    track(r)
    return r


cdef int become(Tensor r, Tensor t) except -1:
    """Let a new tensor take over what `t` is, which nobody else has."""
    replace_storage(r, t)
    r.flags = t.flags
    r.creation, r.own_tangent = t.creation, t.own_tangent
    r.out_nr, r.attr_version = t.out_nr, t.attr_version
    r.fn = t.fn
    t.fn = NULL
    r.base = t.base
    t.base = NULL
    t.flags &= ~<uint32_t>(F_VIEW | F_REQUIRES_GRAD)
    if t.flags & (F_BATCHED | F_DUAL):
        copy_special(r, t)
    elif t.extra is not None:
        r.extra = t.extra
    return 0


def _fill(Tensor t not None, data):
    """Let a new instance show a tensor, as a view of it, or give it the values of a sequence."""
    if not t.flags & F_BLANK or isinstance(data, Size) or not isinstance(
            data, (Tensor, list, tuple, range, _np.ndarray)):
        return
    t.flags &= ~<uint32_t>F_BLANK
    if isinstance(data, Tensor):
        become(t, <Tensor>_alias(data))
        track(t)
    else:
        replace_storage(t, <Tensor>_construct(data))
