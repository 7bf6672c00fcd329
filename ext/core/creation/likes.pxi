# Tensors that take shape, dtype or both from another one (part of creation.pyx).

cdef Tensor like_argument(object input, str op):
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return <Tensor>input


cdef int place_like(Tensor a, object device, object layout, object pin_memory, str op) except -1:
    """The code of the device asked for; that of `a` if none is."""
    cdef int code = check_placement(device, layout, pin_memory, op)
    if device is not None or code == ON_PINNED and a.mem.device == ON_CPU:
        return code
    if code == ON_PINNED:
        check_placement(a.device, layout, pin_memory, op)      # says that it can't be
    return a.mem.device


cdef Tensor filled_like(object input, object value, object dtype, object layout, object device,
                        object pin_memory, object requires_grad, object memory_format, str op):
    cdef Tensor a = like_argument(input, op)
    cdef char[16] item
    cdef Tensor t
    t = like_on(a, parse_dtype(dtype, a.dt), memory_format,
                place_like(a, device, layout, pin_memory, op))
    store_number(item, t.dt, value)
    fill_elements(below_vmaps(t), item)
    return set_requires_grad(t, requires_grad, op)


def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False,
               memory_format=None, pin_memory=False):
    """
    Uninitialised memory in the shape of another tensor.

    Parameters
    ----------
    input : Tensor
    dtype : dtype, optional
        That of `input` if left out.
    requires_grad : bool
        Not taken from `input`.
    memory_format : memory_format, optional
        By default the order of dimensions in memory is that of `input`.
    layout, device, pin_memory
        As in torch; only dense CPU tensors exist.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty_like(ag.zeros(2, 3)).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EMPTY_LIKE, (input,))
    cdef Tensor a = like_argument(input, "empty_like")
    cdef int where = place_like(a, device, layout, pin_memory, "empty_like")
    return set_requires_grad(like_on(a, parse_dtype(dtype, a.dt), memory_format, where),
                             requires_grad,
                             "empty_like")


def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False,
               memory_format=None, pin_memory=False):
    """
    Zeros in the shape of another tensor.

    Parameters
    ----------
    input, dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`empty_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros_like(ag.tensor([1, 2]))
    tensor([0, 0])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_ZEROS_LIKE, (input,))
    cdef Tensor a = like_argument(input, "zeros_like")
    cdef int where = place_like(a, device, layout, pin_memory, "zeros_like")
    cdef Tensor t = like_on(a, parse_dtype(dtype, a.dt), memory_format, where)
    clear(below_vmaps(t))
    return set_requires_grad(t, requires_grad, "zeros_like")


def ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False,
              memory_format=None, pin_memory=False):
    """
    Ones in the shape of another tensor.

    Parameters
    ----------
    input, dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`empty_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones_like(ag.tensor([1, 2]))
    tensor([1, 1])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_ONES_LIKE, (input,))
    return filled_like(input, 1, dtype, layout, device, pin_memory, requires_grad, memory_format,
                       "ones_like")


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False,
              memory_format=None, pin_memory=False):
    """
    One value in the shape of another tensor.

    Parameters
    ----------
    fill_value : number
    input, dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`empty_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.full_like(ag.zeros(2), 7)
    tensor([7., 7.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_FULL_LIKE, (input, fill_value))
    return filled_like(input, python_number(fill_value, "full_like", "fill_value"), dtype, layout,
                       device, pin_memory, requires_grad, memory_format, "full_like")


# --- methods --------------------------------------------------------------------------------

cdef Tensor empty_for_examples(Tensor a, int dt, int n, const Py_ssize_t* shape, int where):
    """Uninitialised memory of a shape for each example that `a` stands for, wrapped like `a`."""
    cdef Py_ssize_t[MAX_DIMS] whole
    cdef Tensor below
    cdef int d
    if not (a.flags & F_BATCHED):
        return empty_on(where, dt, n, shape, NULL)
    below = <Tensor>a.extra.value
    if a.extra.bdim < 0:
        return wrap_at(empty_for_examples(below, dt, n, shape, where), -1, a.extra.level)
    if n == MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
    whole[0] = below.sizes[a.extra.bdim]
    for d in range(n):
        whole[d + 1] = shape[d]
    return wrap_at(empty_for_examples(below, dt, n + 1, whole, where), 0, a.extra.level)


cdef Tensor strided_examples(Tensor a, int dt, int n, const Py_ssize_t* shape,
                             const Py_ssize_t* strides, int where):
    """Allocate as above, with the strides of the caller; examples lie one behind the other."""
    cdef Py_ssize_t[MAX_DIMS] whole
    cdef Py_ssize_t[MAX_DIMS] steps
    cdef Tensor below
    cdef Py_ssize_t extent = 1
    cdef int d
    if not (a.flags & F_BATCHED):
        return empty_on(where, dt, n, shape, strides)
    below = <Tensor>a.extra.value
    if a.extra.bdim < 0:
        return wrap_at(strided_examples(below, dt, n, shape, strides, where), -1, a.extra.level)
    if n == MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
    for d in range(n):
        whole[d + 1], steps[d + 1] = shape[d], strides[d]
        extent = checked_add(extent, checked_mul(max(shape[d] - 1, 0), strides[d], "strides"),
                             "strides")
    whole[0], steps[0] = below.sizes[a.extra.bdim], extent
    return wrap_at(strided_examples(below, dt, n + 1, whole, steps, where), 0, a.extra.level)


cdef Tensor new_filled(Tensor a, tuple args, object size, object value, object dtype, object device,
                       object layout, object pin_memory, object requires_grad, str op):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n = parse_size(args, size, shape, op)
    cdef int dt = parse_dtype(dtype, a.dt)
    cdef Tensor t = empty_for_examples(a, dt, n, shape,
                                       place_like(a, device, layout, pin_memory, op))
    if value is not None:
        store_number(item, dt, value)
        fill_elements(below_vmaps(t), item)
    return set_requires_grad(t, requires_grad, op)


def new_empty(Tensor self not None, *args, size=None, dtype=None, device=None, layout=None,
              pin_memory=False, requires_grad=False):
    """
    Uninitialised memory of a given shape; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1).new_empty(2, 3).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_EMPTY, (self, args))
    return new_filled(self, args, size, None, dtype, device, layout, pin_memory, requires_grad,
                      "new_empty")


def new_zeros(Tensor self not None, *args, size=None, dtype=None, device=None, layout=None,
              pin_memory=False, requires_grad=False):
    """
    Zeros of a given shape; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1]).new_zeros(2)
    tensor([0, 0])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_ZEROS, (self, args))
    return new_filled(self, args, size, 0, dtype, device, layout, pin_memory, requires_grad,
                      "new_zeros")


def new_ones(Tensor self not None, *args, size=None, dtype=None, device=None, layout=None,
             pin_memory=False, requires_grad=False):
    """
    Ones of a given shape; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1]).new_ones(2)
    tensor([1, 1])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_ONES, (self, args))
    return new_filled(self, args, size, 1, dtype, device, layout, pin_memory, requires_grad,
                      "new_ones")


def new_full(Tensor self not None, size, fill_value, *, dtype=None, device=None, layout=None,
             pin_memory=False, requires_grad=False):
    """
    One value in a given shape; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1).new_full((2,), 7)
    tensor([7., 7.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_FULL, (self, size, fill_value))
    need_sequence(size, "new_full")
    return new_filled(self, (), size, python_number(fill_value, "new_full", "fill_value"), dtype,
                      device, layout, pin_memory, requires_grad, "new_full")


def new_empty_strided(Tensor self not None, size, stride, dtype=None, layout=None, device=None,
                      pin_memory=False, requires_grad=False):
    """
    Uninitialised memory with given strides; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_EMPTY_STRIDED, (self, size, stride))
    cdef int where = place_like(self, device, layout, pin_memory, "new_empty_strided")
    return strided_empty(size, stride, where, parse_dtype(dtype, self.dt), requires_grad,
                         "new_empty_strided", self)


def new_tensor(Tensor self not None, data, *, dtype=None, device=None, requires_grad=False,
               layout=None, pin_memory=False):
    """
    A tensor with a copy of `data`; the dtype is that of this tensor if not given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NEW_TENSOR, (self,))
    cdef int where = place_like(self, device, layout, pin_memory, "new_tensor")
    warn_of_copy(data, "tensor.new_tensor(sourceTensor)")
    return set_requires_grad(placed(from_data(data, parse_dtype(dtype, self.dt)), where),
                             requires_grad, "new_tensor")


for _f in (new_empty, new_zeros, new_ones, new_full, new_empty_strided, new_tensor):
    _install(_f.__name__, _f)
