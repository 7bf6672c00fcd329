# In-place changes of shape and strides, and resize_ (part of inplace.pyx).

cdef Tensor take_geometry(Tensor self, Tensor window):
    """
    Let `self` be what its view `window` is. Memory stays as it is, so that the base of a view keeps
    its history; the history of the view's own geometry goes on by the node of `window`.
    """
    cdef Node n
    n = <Node>window.fn if window.fn != NULL else None
    # The history of a view is remade for its geometry.
    cdef bint unseen = (n is None and self.fn != NULL and not self.flags & F_VIEW
                        and not same_shape(self, window))
    set_geometry(self, window.nd, window.sizes, window.strides)
    self.ptr = window.ptr
    bump_version(self)
    if n is not None:
        set_history(self, n, window.out_nr)
        if self.flags & F_VIEW:
            self.attr_version = self.mem.version[0]
    elif unseen:
        _shape_replaced(self)           # nothing was recorded: gradients wouldn't fit
    copy_special(self, window)
    return self


cdef int may_change(Tensor self, str op) except -1:
    check_inplace(self, op, not (tls_modes() & M_NO_GRAD) and requires_grad(self))
    return 0


def transpose_(Tensor self not None, dim0, dim1):
    """
    Exchange two dimensions of this tensor in place; see :func:`transpose`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3).transpose_(0, 1).shape
    autograd_cy.Size([3, 2])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_TRANSPOSE, (self, dim0, dim1))
    cdef Py_ssize_t a = dim_arg(dim0, "transpose_", "dim0", 1)
    cdef Py_ssize_t b = dim_arg(dim1, "transpose_", "dim1", 2)
    may_change(self, "transpose_")
    return take_geometry(self, T.transpose(self, a, b))


def swapaxes_(Tensor self not None, axis0, axis1):
    """Swap two dimensions in place, by another name of :func:`transpose_`."""
    return transpose_(self, axis0, axis1)


def swapdims_(Tensor self not None, dim0, dim1):
    """Swap two dimensions in place, by another name of :func:`transpose_`."""
    return transpose_(self, dim0, dim1)


def t_(Tensor self not None):
    """
    Transpose this matrix in place; fewer dimensions stay as they are.

    Raises
    ------
    RuntimeError
        Beyond two dimensions.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3).t_().shape
    autograd_cy.Size([3, 2])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_T, (self,))
    if self.nd > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.nd}D")
    may_change(self, "t_")
    return take_geometry(self, T._t(self) if self.nd == 2 else T._alias(self))


def squeeze_(Tensor self not None, dim=None):
    """
    Drop the dimensions of size 1 in place, or those of `dim` that have it; see :func:`squeeze`.

    Parameters
    ----------
    dim : int or sequence of int, optional

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1, 3, 1).squeeze_(0).shape
    autograd_cy.Size([3, 1])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_SQUEEZE, (self, dim))
    cdef object dims = None if dim is None else dims_arg(dim, "squeeze_", "dim", 1)
    may_change(self, "squeeze_")
    return take_geometry(self, T.squeeze(self) if dims is None else T.squeeze_dim(self, dims))


def unsqueeze_(Tensor self not None, dim):
    """
    Insert a dimension of size 1 in place; see :func:`unsqueeze`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(3).unsqueeze_(0).shape
    autograd_cy.Size([1, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_UNSQUEEZE, (self, dim))
    cdef Py_ssize_t d = dim_arg(dim, "unsqueeze_", "dim", 1)
    may_change(self, "unsqueeze_")
    return take_geometry(self, T.unsqueeze(self, d))


def as_strided_(Tensor self not None, size, stride, storage_offset=None):
    """
    Make this tensor another window on its storage, in place; see :func:`as_strided`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.arange(4).as_strided_((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_AS_STRIDED, (self, size, stride, storage_offset))
    cdef tuple sizes = sizes_arg(size, "as_strided_", "size", 1)
    cdef tuple strides = sizes_arg(stride, "as_strided_", "stride", 2)
    may_change(self, "as_strided_")
    return take_geometry(self, T.as_strided(self, sizes, strides, storage_offset))


def resize_(Tensor self not None, *sizes, memory_format=None, size=None):
    """
    Change the shape of this tensor, whatever the number of elements.

    The elements stay where they are in memory and are read in the new shape. New ones are not
    initialised.

    Parameters
    ----------
    *sizes : int or sequence of int
        Or all of them as `size`.
    memory_format : memory_format, optional

    Returns
    -------
    Tensor
        This tensor.

    Raises
    ------
    RuntimeError
        If the tensor requires grad, or if its memory would have to grow and isn't its own: memory
        of NumPy, or shared with other tensors.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RESIZE, (self, sizes))
    cdef tuple wanted = sizes_of_call(sizes, size, "resize_", "size")
    return resized(self, wanted, -1 if memory_format is None else format_code(memory_format),
                   "resize_")


def resize_as_(Tensor self not None, the_template, *, memory_format=None):
    """
    Change the shape of this tensor to that of another one; see :func:`resize_`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.arange(6).resize_as_(ag.zeros(2, 2)).shape
    autograd_cy.Size([2, 2])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RESIZE_AS, (self, the_template))
    if not isinstance(the_template, Tensor):
        raise TypeError(f"resize_as_(): argument 'the_template' must be Tensor, not "
                        f"{type(the_template).__name__}")
    cdef int format = -1 if memory_format is None else format_code(memory_format)
    if format == MF_PRESERVE:
        format = format_of(<Tensor>the_template)
    return resized(self, dims_of(<Tensor>the_template), format, "resize_as_")


cdef int format_of(Tensor t) noexcept:
    """The memory format that a tensor has."""
    if tensor_matches_format(t, MF_CONTIGUOUS):
        return MF_CONTIGUOUS
    if tensor_matches_format(t, MF_CHANNELS_LAST):
        return MF_CHANNELS_LAST
    if tensor_matches_format(t, MF_CHANNELS_LAST_3D):
        return MF_CHANNELS_LAST_3D
    return MF_CONTIGUOUS


cdef Tensor resized(Tensor self, tuple size, int format, str op):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t count = 1, needed, count_of_old, one, here = self.ptr - self.mem.data
    cdef int i, n = <int>len(size)
    cdef Tensor fresh
    cdef uint32_t version = self.mem.version[0]
    if requires_grad(self) and not (tls_modes() & M_INFERENCE):
        raise RuntimeError(f"cannot resize variables that require grad ({op})")
    if self.flags & F_DUAL or (self.flags & F_VIEW and has_tangent((self,))):
        raise RuntimeError(
            f"cannot resize variables that has a forward grad ({op}); resize unpack_dual(t).primal")
    if self.flags & F_BATCHED:
        raise RuntimeError(f"vmap: {op} is not possible on a batched tensor")
    if n > MAX_DIMS:
        raise RuntimeError(f"a tensor has at most {MAX_DIMS} dimensions, not {n}")
    check_inplace(self, op, False)
    for i in range(n):
        shape[i] = size[i]
        if shape[i] < 0:
            raise RuntimeError(f"{op}: Trying to resize to a negative dimension: {list(size)}")
        count = checked_mul(count, shape[i], f"{op}: numel")
    needed = checked_add(here, checked_mul(count, DT_SIZE[self.dt], op), op)
    cdef bint same = n == self.nd and memcmp(shape, self.sizes, n * sizeof(Py_ssize_t)) == 0
    if format < 0 and same:
        return self                 # nothing to change, nothing to note
    cdef bint reshaped = self.fn != NULL and not self.flags & F_VIEW and not same
    format_strides(n, shape, 0 if format < 0 or format == MF_PRESERVE else format, strides)
    if needed <= self.mem.nbytes:
        set_geometry(self, n, shape, strides)
    else:
        if self.mem.kind == STORAGE_ALIAS or (
                self.mem.kind == STORAGE_BORROWED and not self.flags & F_DEVICE):
            raise RuntimeError(
                f"{op}: Trying to resize storage that is not resizable: the memory belongs to "
                "another object; clone() the tensor first")
        if self.mem.refcount > 1 + lost_base(self):
            raise RuntimeError(
                f"{op}: Trying to resize storage that is not resizable: other tensors show the "
                f"same memory, which can't grow from {self.mem.nbytes} bytes for the shape "
                f"{list(size)}; clone() the tensor first")
        fresh = tensor_empty_on(self.mem.device, self.dt, n, shape, NULL)
        count_of_old = max(0, self.mem.nbytes - here) // DT_SIZE[self.dt]
        one = 1
        # What is copied is memory, not values.
        copy_into(tensor_window(fresh, 1, &count_of_old, &one, 0),
                  tensor_turned(tensor_window(self, 1, &count_of_old, &one, 0),
                                self.flags & F_LAZY), op)
        fresh.flags |= self.flags & F_LAZY
        leave_base(self)
        replace_storage(self, fresh)
        set_geometry(self, n, shape, strides)
        self.mem.version[0] = version
    bump_version(self)
    if reshaped:
        _shape_replaced(self)           # in inference mode
    return self
