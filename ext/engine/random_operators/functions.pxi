# Functions that make random tensors (part of random_operators.pyx).

cdef Tensor empty(tuple args, object size, Tensor out, object dtype, int default, object layout,
                  object device, object pin_memory, str op):
    """An uninitialised tensor; with `out` of its dtype, for `settle`."""
    cdef Scope _seen = NULL
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int n = parse_size(args, size, shape, op)
    cdef int where = check_placement(device, layout, pin_memory, op)
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EMPTY, ())
    if out is None:
        return tensor_empty_on(where, parse_dtype(dtype, default), n, shape, NULL)
    own_out(out, dtype, device, op)
    return tensor_empty_on(out.mem.device, out.dt, n, shape, NULL)


cdef Tensor settle(Tensor t, Tensor out, str op):
    """`t`, or `out` with its numbers: nothing changes before all has been drawn."""
    if out is None:
        return t
    resize_out(out, t.nd, t.sizes, op)
    copy_into(out, t, op)
    bump_version(out)
    return out


cdef Tensor empty_for(object input, object dtype, object layout, object device, object pin_memory,
                      object memory_format, str op):
    cdef Tensor a
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    a = <Tensor>input
    return like_on(a, parse_dtype(dtype, a.dt), memory_format,
                   place_like(a, device, layout, pin_memory, op))


def rand(*args, size=None, generator=None, Tensor out=None, dtype=None, layout=None, device=None,
         requires_grad=False, pin_memory=False):
    """
    Random numbers drawn evenly from ``[0, 1)``.

    Parameters
    ----------
    *size : int
        The shape, as numbers or as one sequence.
    generator : Generator, optional
        The default one if left out.
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.rand(2, 3).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RAND, args)
    cdef Tensor t = empty(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                          "rand")
    need_floating(t.dt, "rand")
    t = T._uniform_fresh(t, 0, 1, checked_generator(generator, "rand"), "rand", "sizes")
    return drawn_result(settle(t, out, "rand"), requires_grad, "rand")


def rand_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
              memory_format=None, pin_memory=False):
    """
    Random numbers from ``[0, 1)`` in the shape of another tensor.

    Parameters
    ----------
    input : Tensor
    generator : Generator, optional
    dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`empty_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.rand_like(ag.zeros(2, 3)).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RAND_LIKE, (input,))
    cdef Tensor t = empty_for(input, dtype, layout, device, pin_memory, memory_format, "rand_like")
    need_floating(t.dt, "rand_like")
    t = T._uniform_fresh(t, 0, 1, checked_generator(generator, "rand_like"), "rand_like",
                         like_draws(input))
    return drawn_result(t, requires_grad, "rand_like")


def randn(*args, size=None, generator=None, Tensor out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False):
    """
    Random numbers from the standard normal distribution.

    Parameters
    ----------
    *args, size, generator, out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`rand`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.randn(2, 3).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDN, args)
    cdef Tensor t = empty(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                          "randn")
    need_floating(t.dt, "randn")
    t = T._normal_fresh(t, 0, 1, checked_generator(generator, "randn"), "randn", "sizes")
    return drawn_result(settle(t, out, "randn"), requires_grad, "randn")


def randn_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
               memory_format=None, pin_memory=False):
    """
    Standard normal numbers in the shape of another tensor.

    Parameters
    ----------
    input, generator, dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`rand_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.randn_like(ag.zeros(2, 3)).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDN_LIKE, (input,))
    cdef Tensor t = empty_for(input, dtype, layout, device, pin_memory, memory_format, "randn_like")
    need_floating(t.dt, "randn_like")
    t = T._normal_fresh(t, 0, 1, checked_generator(generator, "randn_like"), "randn_like",
                        like_draws(input))
    return drawn_result(t, requires_grad, "randn_like")


cdef tuple low_high(list numbers, object low, object high, str op):
    """The range, of what was given by position and by name."""
    if numbers and (low is not None or len(numbers) + (high is not None) > 2):
        raise TypeError(f"{op}() got multiple values for argument 'low' or 'high'")
    if None in numbers:
        raise TypeError(f"{op}(): argument 'low' or 'high' must be int, not NoneType")
    if high is None and numbers:
        high = numbers.pop()
    if numbers:
        low = numbers[0]
    if high is None:
        raise TypeError(f'{op}() missing 1 required positional arguments: "high"')
    return (0 if low is None else small_number(low, op, "low"),
            small_number(high, op, "high"))


cdef int need_bounds(Tensor t, str op) except -1:
    if dt_is_complex(t.dt):
        raise RuntimeError(f"{op}: whole numbers within bounds are not for {dt_scalar_name(t.dt)}")
    return 0


def randint(*args, low=None, high=None, size=None, generator=None, Tensor out=None, dtype=None,
            layout=None, device=None, requires_grad=False, pin_memory=False):
    """
    Whole numbers drawn evenly from ``[low, high)``: ``randint(high, size)`` or
    ``randint(low, high, size)``.

    Parameters
    ----------
    low : int
        0 if left out.
    high : int
    size : sequence of int
    generator : Generator, optional
    dtype : dtype, optional
        int64 if left out.
    out, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If the range is empty or the dtype doesn't hold its bounds.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.randint(3, 5, (10,))
    >>> bool(((x == 3) | (x == 4)).all())
    True
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDINT, args)
    cdef Tensor t
    cdef list numbers = list(args)
    if size is None and len(numbers) > 1:
        if high is not None:
            raise TypeError("randint(): the size comes after 'high'; give it by name, too")
        size = numbers.pop()
    if len(numbers) > 2:
        raise TypeError(
            f"randint() takes at most 3 positional arguments but {len(args)} were given"
        )
    if size is None:
        raise TypeError('randint() missing 1 required positional arguments: "size"')
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}"
        )
    low, high = low_high(numbers, low, high, "randint")
    t = empty((), size, out, dtype, DT_I64, layout, device, pin_memory, "randint")
    need_bounds(t, "randint")
    t = T._random_fresh(t, low, last_of(low, high), 0, checked_generator(generator, "randint"),
                        "randint", "values")
    return drawn_result(settle(t, out, "randint"), requires_grad, "randint")


def randint_like(input, *args, low=None, high=None, generator=None, dtype=None, layout=None,
                 device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """
    Whole numbers from ``[low, high)`` in the shape of another tensor.

    Parameters
    ----------
    input : Tensor
    low : int
        0 if left out: ``randint_like(input, high)``.
    high : int
    generator : Generator, optional
    dtype, layout, device, requires_grad, memory_format, pin_memory
        As for :func:`empty_like`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.randint_like(ag.zeros(2, 3), 10).shape
    autograd_cy.Size([2, 3])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDINT_LIKE, (input, *args))
    cdef Tensor t
    low, high = low_high(list(args), low, high, "randint_like")
    t = empty_for(input, dtype, layout, device, pin_memory, memory_format, "randint_like")
    need_bounds(t, "randint_like")
    t = T._random_fresh(t, low, last_of(low, high), 0,
                        checked_generator(generator, "randint_like"), "randint_like",
                        like_draws(input))
    return drawn_result(t, requires_grad, "randint_like")


def randperm(n, *, generator=None, Tensor out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """
    The numbers from 0 to ``n - 1`` in random order.

    Parameters
    ----------
    n : int
    generator : Generator, optional
    dtype : dtype, optional
        int64 if left out.
    out, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.randperm(5).sort().values
    tensor([0, 1, 2, 3, 4])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDPERM, (n,))
    cdef Py_ssize_t count = small_number(n, "randperm", "n")
    cdef int dt
    cdef Tensor t
    if count < 0:
        raise RuntimeError(f"randperm: n must be non-negative, got {count}")
    cdef int where = check_placement(device, layout, pin_memory, "randperm")
    if out is not None:
        own_out(out, dtype, device, "randperm")
        where = out.mem.device
        dt = out.dt
    else:
        dt = parse_dtype(dtype, DT_I64)
    if dt_is_complex(dt) or dt == DT_BOOL:
        raise NotImplementedError(
            f"randperm: not implemented for '{dt_scalar_name(dt)}'; make it of int64 and convert "
            "it")
    if count - 1 > exact_limit(dt):
        raise RuntimeError(f"randperm: {count} numbers do not fit {dt_scalar_name(dt)}")
    t = tensor_empty_on(where, DT_I64, 1, &count, NULL)
    t = T._randperm_fresh(t, checked_generator(generator, "randperm"), "randperm", "values")
    if out is None and dt != DT_I64:
        t = T._to_dtype(t, dt) if vmap_level() else cast(t, dt)
    return drawn_result(settle(t, out, "randperm"), requires_grad, "randperm")


cdef object one_number(object x):
    """A parameter beside a size: a number, or a tensor of no dimension, which counts as one."""
    if not isinstance(x, Tensor):
        return x
    if (<Tensor>x).nd or needs_grad(<Tensor>x):
        raise TypeError(
            "normal(): size is given by the tensors mean and std; leave it out (only numbers and "
            "tensors without dimensions that don't require grad go with a size)")
    return (<Tensor>x).item()


cdef Tensor normal_of(object mean, object std, object generator, Tensor out):
    """The forms with a tensor: one number for each of its elements."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor m = <Tensor>mean if isinstance(mean, Tensor) else None
    cdef Tensor s = <Tensor>std if isinstance(std, Tensor) else None
    cdef Tensor t
    cdef int n
    if m is None:
        mean = python_number(mean, "normal", "mean")
    if s is None:
        std = python_number(std, "normal", "std")
    n = broadcast_shape(tuple([x for x in (m, s) if x is not None]), shape, "normal")
    if out is None:
        t = tensor_empty_on((m if m is not None else s).mem.device,
                            m.dt if m is not None else s.dt, n, shape, NULL)
    else:
        own_out(out, None, None, "normal")
        t = tensor_empty_on(out.mem.device, out.dt, n, shape, NULL)
    generator = checked_generator(generator, "normal")
    if s is None:
        t = T._normal_mean(t, m, std, generator)
    elif m is None:
        t = T._normal_std(t, mean, s, generator)
    else:
        t = T._normal_both(t, m, s, generator)
    return settle(t, out, "normal")


def normal(mean=0.0, std=1.0, size=None, *, generator=None, Tensor out=None, dtype=None,
           layout=None, device=None, requires_grad=False, pin_memory=False):
    """
    Normally distributed numbers.

    Parameters
    ----------
    mean, std : float or Tensor
        With a tensor, each element has its own; both are broadcast.
    size : sequence of int
        The shape, if both are numbers, or tensors without dimensions.
    generator : Generator, optional
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`; the dtype of a tensor argument counts.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If a standard deviation is negative.
    TypeError
        If there is neither a tensor nor a size, or a size beside a tensor with dimensions.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.normal(ag.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NORMAL, (mean, std))
    cdef Tensor t
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is None:
            return normal_of(mean, std, generator, out)
        mean, std = one_number(mean), one_number(std)
    if size is None:
        raise TypeError('normal() missing 1 required argument: "size" (mean and std are numbers)')
    mean, std = python_number(mean, "normal", "mean"), python_number(std, "normal", "std")
    t = empty((), size, out, dtype, g_default_dtype, layout, device, pin_memory, "normal")
    need_floating(t.dt, "normal_")
    t = T._normal_fresh(t, mean, std, checked_generator(generator, "normal"), "normal", "values")
    return drawn_result(settle(t, out, "normal"), requires_grad, "normal")


def bernoulli(Tensor input not None, p=None, *, generator=None, Tensor out=None):
    """
    Ones and zeros; the elements of `input` are the probabilities of ones.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype; with `p` only its shape and dtype count.
    p : float, optional
        One probability for all.
    generator : Generator, optional
    out : Tensor, optional

    Returns
    -------
    Tensor
        Of the dtype of `input`.

    Raises
    ------
    RuntimeError
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.bernoulli(ag.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_BERNOULLI, (input, p))
    cdef Tensor t = input
    generator = checked_generator(generator, "bernoulli")
    if out is not None:
        own_out(out, None, None, "bernoulli")
        if p is None:
            return chances_into(out, input, generator)
        t = tensor_empty_on(out.mem.device, out.dt, input.nd, input.sizes, NULL)
    if p is None:
        return T._bernoulli_of(input, generator)
    return settle(T._bernoulli_like(t, python_number(p, "bernoulli", "p"), generator), out,
                  "bernoulli")


cdef Tensor chances_into(Tensor out, Tensor chances, object generator):
    """Ones and zeros of the dtype of `out`."""
    cdef Tensor t = tensor_empty_on(out.mem.device, out.dt, chances.nd, chances.sizes, NULL)
    return settle(T._bernoulli_each(t, chances, generator), out, "bernoulli")


_install("bernoulli", bernoulli)
