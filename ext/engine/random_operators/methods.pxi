# Methods that fill a tensor (part of random_operators.pyx).

cdef tuple bounds(tuple args, dict named, str op):
    """The arguments `from` (which is no Python name) and `to`; None where not given."""
    cdef list values = [None, None]
    cdef Py_ssize_t i
    if len(args) > 2:
        raise TypeError(f"{op}() takes at most 2 positional arguments but {len(args)} were given")
    for i in range(len(args)):
        values[i] = args[i]
    for name, value in named.items():
        if name not in ("from", "to"):
            raise TypeError(f"{op}() got an unexpected keyword argument '{name}'")
        i = 1 if name == "to" else 0
        if values[i] is not None:
            raise TypeError(f"{op}() got multiple values for argument '{name}'")
        values[i] = value
    return values[0], values[1]


def uniform_(Tensor self not None, *args, generator=None, **named):
    """
    Fill with numbers drawn evenly from ``[from, to)``.

    Parameters
    ----------
    from, to : float
        0 and 1 if left out.
    generator : Generator, optional

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If `from` is above `to`.
    NotImplementedError
        If the dtype is not floating or complex.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.empty(3).uniform_(-1, 1)
    >>> bool((x.abs() <= 1).all())
    True
    """
    lo, hi = bounds(args, named, "uniform_")
    lo = 0.0 if lo is None else python_number(lo, "uniform_", "from")
    hi = 1.0 if hi is None else python_number(hi, "uniform_", "to")
    return T._uniform_(self, lo, hi, generator)


def normal_(Tensor self not None, mean=0.0, std=1.0, *, generator=None):
    """
    Fill with normally distributed numbers.

    Parameters
    ----------
    mean, std : float
        A complex tensor gets half of the variance in each part.
    generator : Generator, optional

    Returns
    -------
    Tensor
        This one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty(3).normal_(mean=2, std=0)
    tensor([2., 2., 2.])
    """
    return T._normal_(self, python_number(mean, "normal_", "mean"),
                      python_number(std, "normal_", "std"),
                      generator)


def random_(Tensor self not None, *args, generator=None, **named):
    """
    Fill with whole numbers drawn evenly from ``[from, to)``.

    ``random_(to)`` counts from 0; without bounds the numbers go up to the largest of an integer
    dtype, and up to the last one that is exact in a floating dtype. Bounds are numbers of int64, so
    uint64 needs an upper one.

    Parameters
    ----------
    from, to : int, optional
    generator : Generator, optional

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If the range is empty or the dtype doesn't hold its bounds.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.empty(100).random_(1, 7)
    >>> bool(((x >= 1) & (x <= 6)).all())
    True
    """
    cdef int form = 0
    lo, hi = bounds(args, named, "random_")
    if lo is None and len(args) == 1 or (
            len(args) == 0 and "from" in named and "to" not in named):
        raise TypeError("random_() missing argument 'to', or got None for it; give 'from' and 'to'")
    if len(args) == 1 and not named:
        lo, hi = None, lo
    if lo is None:
        form = 2 if hi is None else 1
    if dt_is_complex(self.dt):
        raise NotImplementedError(f"random_: not implemented for '{dt_scalar_name(self.dt)}'")
    lo = 0 if lo is None else small_number(lo, "random_", "from")
    if hi is not None:
        hi = small_number(hi, "random_", "to")
    elif self.dt != DT_U64:
        hi = exact_limit(self.dt) + 1
    elif form == 2:
        raise not_for_limited(DT_U64, "random_")
    else:               # bounds are of int64
        raise RuntimeError(
            f"random_: to - 1 is out of bounds for {dt_type_name(DT_U64)}; give 'to'")
    return T._random_(self, lo, last_of(lo, hi), form, generator)


def exponential_(Tensor self not None, lambd=1.0, *, generator=None):
    """
    Fill with exponentially distributed numbers; none of them is zero.

    Parameters
    ----------
    lambd : float
        The rate: the mean is ``1 / lambd``.
    generator : Generator, optional

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If the rate is not positive or the dtype not floating.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> bool((ag.empty(100).exponential_() > 0).all())
    True
    """
    return T._exponential_(self, python_number(lambd, "exponential_", "lambd"), generator)


def bernoulli_(Tensor self not None, p=0.5, *, generator=None):
    """
    Fill with ones, with probability `p`, and zeros.

    Parameters
    ----------
    p : float or Tensor
        A tensor is broadcast to this one.
    generator : Generator, optional

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty(3).bernoulli_(1.0)
    tensor([1., 1., 1.])
    """
    if isinstance(p, Tensor):
        return T._bernoulli_each_(self, <Tensor>p, generator)
    return T._bernoulli_(self, python_number(p, "bernoulli_", "p"), generator)


for _f in (uniform_, normal_, random_, exponential_, bernoulli_):
    _install(_f.__name__, _f)
