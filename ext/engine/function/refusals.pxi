# Nodes that refuse or drop gradients, and what makes them (part of function.pyx).

@cython.final
cdef class Error(Node):
    """Pass values on, and raise its message in backward."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        raise RuntimeError(get_args(self)[0])

    def name(self):
        """``"torch::autograd::Error"``, as programs know it."""
        return "torch::autograd::Error"


@cython.final
cdef class UndefinedGradBackward(Node):
    """Pass values on, and give no gradient."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        return 0


cdef tuple passed_on(Node n, tuple tensors):
    """Return the values as outputs of `n`, if one of them is recorded; None stays None."""
    cdef bint recording = False
    cdef list outputs = []
    cdef Tensor t
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        if tensors[i] is not None and not isinstance(tensors[i], Tensor):
            raise TypeError(f"argument {i} is not a Variable ({type(n).__name__} takes Tensors or "
                            f"None, got {type(tensors[i]).__name__})")
        if tensors[i] is not None and requires_grad(<Tensor>tensors[i]):
            recording = True
    recording = recording and not tls_modes() & M_NO_GRAD
    node_init(n, <int>len(tensors), 0, <int>len(tensors))
    for i in range(len(tensors)):
        if tensors[i] is None:
            outputs.append(None)
            continue
        t = graph_free_alias(<Tensor>tensors[i])
        if recording:
            set_edge(n, <int>i, <Tensor>tensors[i])
            if dt_differentiable(t.dt):
                set_history(t, n, <int>i)
        outputs.append(t)
    return tuple(outputs)


cdef object called_with(tuple tensors, Py_ssize_t wanted):
    if len(tensors) != wanted:
        raise TypeError(f"expected {wanted} arguments, got {len(tensors)} instead")
    return None


@cython.final
cdef class DelayedError:
    """
    Pass tensors on; differentiating the results is an error.

    Parameters
    ----------
    msg : str
        The message of the RuntimeError.
    num_inputs : int
        How many tensors (or None) are given in a call.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> y = ag._C._functions.DelayedError("no second derivative", 1)(x)
    >>> try:
    ...     y.backward()
    ... except RuntimeError as error:
    ...     print(error)
    no second derivative
    """
    cdef str message
    cdef Py_ssize_t count

    def __init__(self, msg, Py_ssize_t num_inputs):
        self.message = msg.decode() if isinstance(msg, bytes) else msg
        self.count = num_inputs

    def __call__(self, *tensors):
        cdef Error n = Error.__new__(Error)
        called_with(tensors, self.count)
        outputs = passed_on(n, tensors)
        set_args(n, (self.message,))
        return outputs[0] if len(outputs) == 1 else outputs


@cython.final
cdef class UndefinedGrad:
    """
    Pass a tensor on; no gradient comes back through the result.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> ag._C._functions.UndefinedGrad()(x * 2).backward()
    >>> x.grad is None
    True
    """

    def __call__(self, *tensors):
        called_with(tensors, 1)
        return passed_on(UndefinedGradBackward.__new__(UndefinedGradBackward), tensors)[0]
