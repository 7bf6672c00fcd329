# What `.grad` of a tensor says and takes (part of tensor.pyx).

cdef int warn_without_gradient(Tensor t) except -1:
    """Warn that backward doesn't fill the `.grad` of a tensor that is no leaf."""
    if t.fn != NULL and not t.flags & F_RETAINS_GRAD:
        _warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
            "Its .grad attribute won't be populated during autograd.backward(). If you "
            "indeed want the .grad field to be populated for a non-leaf Tensor, use "
            ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
            "mistake, make sure you access the leaf Tensor instead.", UserWarning)
    return 0


cdef int check_gradient(Tensor t, Tensor g) except -1:
    """Raise unless `g` may be the gradient of a tensor: of its dtype, device and shape."""
    if g is t:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = dt_object(t.dt)
    if t.extra is not None and t.extra.retain_hook is not None:
        wanted = t.extra.retain_hook[0]         # its grad_dtype, None for any
    if wanted is not None and wanted is not dt_object(g.dt):
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dt_object(g.dt).name}' to a tensor "
            f"with grad_dtype '{wanted.name}'. The gradient must match the tensor's grad_dtype "
            "(defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute "
            "with a specific dtype, or None to allow any dtype."
        )
    if g.mem.device != t.mem.device:
        raise RuntimeError(
            f"attempting to assign a gradient located on device '{g.device}' to a tensor on "
            f"device '{t.device}'. Move it with .to(device)"
        )
    if not same_shape(t, g):
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(sizes_of(g))}' to a tensor of "
            f"size '{list(sizes_of(t))}'. Please ensure that the gradient and the tensor "
            "are the same size"
        )
    return 0


cdef int assign_gradient(Tensor t, object value) except -1:
    """Let a tensor, or None, be the gradient."""
    cdef PyObject* old
    if value is not None:
        if not isinstance(value, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type "
                            f"{type(value).__name__}")
        check_gradient(t, <Tensor>value)
        Py_INCREF(value)
    old = t.gradient
    t.gradient = NULL if value is None else <PyObject*>value
    Py_XDECREF(old)
    if value is not None and PyObject_GC_IsTracked(<PyObject*>value):
        track(t)
    return 0


def _grad_of(Tensor t not None):
    """``t.grad``, without the warning about tensors that are no leaves."""
    return None if t.gradient == NULL else <object>t.gradient
