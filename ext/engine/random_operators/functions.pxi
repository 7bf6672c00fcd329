# Functions that make random tensors (part of random_operators.pyx).

cdef Tensor room(tuple args, object size, Tensor out, object dtype, int default, object layout,
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
    check_out(out, dtype, device, op)
    return tensor_empty_on(out.mem.device, out.dt, n, shape, NULL)


cdef Tensor settle(Tensor t, Tensor out, str op):
    """`t`, or `out` with its numbers: nothing changes before all has been drawn."""
    if out is None:
        return t
    resize_out(out, t.nd, t.sizes, op)
    copy_into(out, t, op)
    bump_version(out)
    return out


cdef Tensor room_like(object input, object dtype, object layout, object device, object pin_memory,
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
    if vmap_level():
        return _vmap_rule("rand", rand, (*args,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"size": size, "out": out}), "sizes")
    cdef Tensor t = room(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                         "rand")
    need_floating(t, "rand")
    fill_uniform(t, 0, 1, generator_of(generator, "rand"))
    return finish(settle(t, out, "rand"), requires_grad, "rand")


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
    if vmap_level():
        return _vmap_rule("rand_like", rand_like, (input,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"memory_format": memory_format}), "elements")
    cdef Tensor t = room_like(input, dtype, layout, device, pin_memory, memory_format, "rand_like")
    need_floating(t, "rand_like")
    fill_uniform(t, 0, 1, generator_of(generator, "rand_like"))
    return finish(t, requires_grad, "rand_like")


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
    if vmap_level():
        return _vmap_rule("randn", randn, (*args,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"size": size, "out": out}), "sizes")
    cdef Tensor t = room(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                         "randn")
    need_floating(t, "randn")
    fill_normal(t, 0, 1, generator_of(generator, "randn"))
    return finish(settle(t, out, "randn"), requires_grad, "randn")


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
    if vmap_level():
        return _vmap_rule("randn_like", randn_like, (input,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"memory_format": memory_format}), "elements")
    cdef Tensor t = room_like(input, dtype, layout, device, pin_memory, memory_format, "randn_like")
    need_floating(t, "randn_like")
    fill_normal(t, 0, 1, generator_of(generator, "randn_like"))
    return finish(t, requires_grad, "randn_like")


cdef tuple low_high(list given, object low, object high, str op):
    """The range, of what was given by position and by name."""
    if given and (low is not None or len(given) + (high is not None) > 2):
        raise TypeError(f"{op}() got multiple values for argument 'low' or 'high'")
    if None in given:
        raise TypeError(f"{op}(): argument 'low' or 'high' must be int, not NoneType")
    if high is None and given:
        high = given.pop()
    if given:
        low = given[0]
    if high is None:
        raise TypeError(f'{op}() missing 1 required positional arguments: "high"')
    return (0 if low is None else small_number(low, op, "low"),
            small_number(high, op, "high"))


cdef int need_bounds(Tensor t, str op) except -1:
    if dt_is_complex(t.dt):
        raise RuntimeError(f"{op}: whole numbers within bounds are not for {dt_object(t.dt).name}")
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
    if vmap_level():
        return _vmap_rule("randint", randint, (*args,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"low": low, "high": high, "size": size, "out": out}))
    cdef Tensor t
    cdef list given = list(args)
    if size is None and len(given) > 1:
        if high is not None:
            raise TypeError("randint(): the size comes after 'high'; give it by name, too")
        size = given.pop()
    if len(given) > 2:
        raise TypeError(
            f"randint() takes at most 3 positional arguments but {len(args)} were given"
        )
    if size is None:
        raise TypeError('randint() missing 1 required positional arguments: "size"')
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}"
        )
    low, high = low_high(given, low, high, "randint")
    t = room((), size, out, dtype, DT_I64, layout, device, pin_memory, "randint")
    need_bounds(t, "randint")
    fill_randint(t, low, high, generator_of(generator, "randint"))
    return finish(settle(t, out, "randint"), requires_grad, "randint")


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
    if vmap_level():
        return _vmap_rule("randint_like", randint_like, (input, *args), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory,
            {"low": low, "high": high, "memory_format": memory_format}), "elements")
    cdef Tensor t
    low, high = low_high(list(args), low, high, "randint_like")
    t = room_like(input, dtype, layout, device, pin_memory, memory_format, "randint_like")
    need_bounds(t, "randint_like")
    fill_randint(t, low, high, generator_of(generator, "randint_like"))
    return finish(t, requires_grad, "randint_like")


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
    if vmap_level():
        return _vmap_rule("randperm", randperm, (n,), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory, {"out": out}))
    cdef Py_ssize_t count = small_number(n, "randperm", "n")
    cdef int dt
    cdef Tensor t
    if count < 0:
        raise RuntimeError(f"randperm: n must be non-negative, got {count}")
    where = check_placement(device, layout, pin_memory, "randperm")
    if out is not None:
        check_out(out, dtype, device, "randperm")
        dt = out.dt
    else:
        dt = parse_dtype(dtype, DT_I64)
    if dt_is_complex(dt) or dt == DT_BOOL:
        raise NotImplementedError(
            f"randperm: not implemented for {dt_object(dt).name}; make it of int64 and convert it")
    if count - 1 > exact_limit(dt):
        raise RuntimeError(f"randperm: {count} numbers do not fit {dt_object(dt).name}")
    t = permutation(count, generator_of(generator, "randperm"))
    if out is None:
        t = to_device(cast(t, dt), where)
    return finish(settle(t, out, "randperm"), requires_grad, "randperm")


cdef int check_std(Tensor std) except -1:
    cdef Tensor x
    cdef Py_ssize_t i
    if dt_is_complex(std.dt):
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.mem.device == ON_META:
        return 0
    x = contiguous(to_device(cast(std, DT_F64), ON_CPU))
    for i in range(x.count):
        if not (<double*>x.ptr)[i] >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
    return 0


cdef Tensor attach(Tensor result, type cls, Tensor a, Tensor b):
    """Record that `result` was drawn with these parameters (their gradients are zero)."""
    cdef RandomNode n
    if tls_modes() & M_NO_GRAD or not (
            (a is not None and needs_grad(a)) or (b is not None and needs_grad(b))):
        return result
    n = <RandomNode>cls.__new__(cls)
    node_init(n, 2, 0, 1)
    if a is not None:
        set_edge(n, 0, a)
    if b is not None:
        set_edge(n, 1, b)
    set_history(result, n, 0)
    return result


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
        mean = number_of(mean, "normal", "mean")
    if s is None:
        std = number_of(std, "normal", "std")
    n = broadcast_shape(tuple([x for x in (m, s) if x is not None]), shape, "normal")
    if s is not None:
        check_std(s)
    if out is None:
        t = tensor_empty_on((m if m is not None else s).mem.device,
                            m.dt if m is not None else s.dt, n, shape, NULL)
    else:
        check_out(out, None, None, "normal")
        t = tensor_empty_on(out.mem.device, out.dt, n, shape, NULL)
    need_floating(t, "normal")
    if s is None:
        fill_normal(t, 0, std, generator_of(generator, "normal"))
    else:
        fill_normal(t, 0, 1, generator_of(generator, "normal"))
        ew2(K_MUL, t, cast(s, t.dt), P_SAME, t, "normal")
    if m is None:
        ew2(K_ADD, t, as_tensor_like(t, mean), P_SAME, t, "normal")
    else:
        ew2(K_ADD, t, cast(m, t.dt), P_SAME, t, "normal")
    if out is not None:
        return settle(t, out, "normal")
    if m is None:
        return attach(t, NormalBackward2, None, s)
    return attach(t, NormalBackward1 if s is None else NormalBackward3, m, s)


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
    if vmap_level():
        return _vmap_rule("normal", normal, (mean, std, size), keywords(
            generator, dtype, layout, device, requires_grad, pin_memory, {"out": out}))
    cdef Tensor t
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is None:
            return normal_of(mean, std, generator, out)
        mean, std = one_number(mean), one_number(std)
    if size is None:
        raise TypeError('normal() missing 1 required argument: "size" (mean and std are numbers)')
    mean, std = number_of(mean, "normal", "mean"), number_of(std, "normal", "std")
    t = room((), size, out, dtype, g_default_dtype, layout, device, pin_memory, "normal")
    fill_normal(t, mean, std, generator_of(generator, "normal"))
    return finish(settle(t, out, "normal"), requires_grad, "normal")


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
    if vmap_level():
        return _vmap_rule(
            "bernoulli", bernoulli, (input, p), {"generator": generator, "out": out}, "chances")
    cdef Tensor t, given = input if out is None else out
    if out is not None:
        check_out(out, None, None, "bernoulli")
    t = tensor_empty_on(given.mem.device, given.dt, input.nd, input.sizes, NULL)
    if p is None:
        fill_bernoulli_each(t, input, generator_of(generator, "bernoulli"))
    else:
        fill_bernoulli(t, number_of(p, "bernoulli", "p"), generator_of(generator, "bernoulli"))
    if out is not None:
        return settle(t, out, "bernoulli")
    return attach(t, BernoulliBackward0, input, None)


_install("bernoulli", bernoulli)
