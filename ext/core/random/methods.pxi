# In-place methods and their place in the graph (part of random.pyx).
#
# Random values don't depend on what was there: the recorded gradient is zero, as in torch.

cdef class RandomNode(Node):
    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef Tensor zero
        cdef int i
        for i in range(self.n_edges):
            if needs(self, i):
                zero = zeros_for(<Node>self.edges[i].node, self.edges[i].nr)
                Py_INCREF(zero)
                gout[i] = <PyObject*>zero
        return 0


cdef class UniformBackward0(RandomNode):
    pass


cdef class NormalBackward0(RandomNode):
    pass


cdef class NormalBackward1(RandomNode):
    pass


cdef class NormalBackward2(RandomNode):
    pass


cdef class NormalBackward3(RandomNode):
    pass


cdef class RandomBackward0(RandomNode):
    pass


cdef class ExponentialBackward0(RandomNode):
    pass


cdef class BernoulliBackward0(RandomNode):
    pass


cdef class BernoulliBackward1(RandomNode):
    pass


cdef class BernoulliBackward2(RandomNode):
    pass


cdef object _vmap_rule = None
cdef object _zero_tangents = None


def _set_vmap_rule(rule):
    """Called with (name, function, args, kwargs) instead of a random operator under vmap."""
    global _vmap_rule
    _vmap_rule = rule


def _set_zero_tangents(function):
    """Called with a tensor that has new values and may have tangents."""
    global _zero_tangents
    _zero_tangents = function


cdef RandomNode begin(type cls, Tensor t, Tensor other, str op):
    """Checks before t is overwritten; the node that records it, or None."""
    cdef RandomNode n
    cdef bint recording = not (tls_modes() & M_NO_GRAD) and (
        needs_grad(t) or (other is not None and needs_grad(other)))
    check_inplace(t, op, recording)
    check_writable(t, op)
    if not recording:
        return None
    n = <RandomNode>cls.__new__(cls)
    node_init(n, 1 if other is None else 2, 0, 1)
    set_edge(n, 0, t)
    if other is not None:
        set_edge(n, 1, other)
    return n


cdef Tensor end(Tensor t, RandomNode n):
    bump_version(t)
    if n is not None:
        rebase_history(t, n)
    if t.flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD and _zero_tangents is not None:
        _zero_tangents(t)
    return t


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
    if vmap_level():
        return _vmap_rule("uniform_", uniform_, (self, *args), {"generator": generator, **named})
    cdef RandomNode n
    lo, hi = bounds(args, named, "uniform_")
    lo = 0.0 if lo is None else number_of(lo, "uniform_", "from")
    hi = 1.0 if hi is None else number_of(hi, "uniform_", "to")
    n = begin(UniformBackward0, self, None, "uniform_")
    fill_uniform(self, lo, hi, generator)
    return end(self, n)


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
    if vmap_level():
        return _vmap_rule("normal_", normal_, (self, mean, std), {"generator": generator})
    cdef RandomNode n = begin(NormalBackward0, self, None, "normal_")
    fill_normal(self, number_of(mean, "normal_", "mean"), number_of(std, "normal_", "std"),
                generator)
    return end(self, n)


cdef object whole_number(object x, str op, str argument):
    """An int, or something that stands for one (bool and float do not)."""
    if isinstance(x, (bool, float)) or not hasattr(x, "__index__"):
        raise TypeError(f"{op}(): argument '{argument}' must be int, not {type(x).__name__}")
    return x.__index__()


cdef object small_number(object x, str op, str argument):
    """A whole number of 64 bits, or the one after them: the end of a range."""
    n = whole_number(x, op, argument)
    if not -(1 << 63) <= n <= 1 << 63:
        raise ValueError(
            f"{op}(): argument '{argument}': Overflow when unpacking long long; an int must fit in "
            "64 bits")
    return n


def random_(Tensor self not None, *args, generator=None, **named):
    """
    Fill with whole numbers drawn evenly from ``[from, to)``.

    ``random_(to)`` counts from 0; without bounds the numbers go up to the largest of an integer
    dtype, and up to the last one that is exact in a floating dtype.

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
    if vmap_level():
        return _vmap_rule("random_", random_, (self, *args), {"generator": generator, **named})
    cdef RandomNode n
    lo, hi = bounds(args, named, "random_")
    if len(args) == 1 and hi is None and "from" not in named:
        lo, hi = None, lo
    need_real(self, "random_")
    lo = 0 if lo is None else whole_number(lo, "random_", "from")
    hi = exact_limit(self.dt) + 1 if hi is None else whole_number(hi, "random_", "to")
    n = begin(RandomBackward0, self, None, "random_")
    fill_randint(self, lo, hi, generator)
    return end(self, n)


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
    if vmap_level():
        return _vmap_rule("exponential_", exponential_, (self, lambd), {"generator": generator})
    cdef RandomNode n = begin(ExponentialBackward0, self, None, "exponential_")
    fill_exponential(self, number_of(lambd, "exponential_", "lambd"), generator)
    return end(self, n)


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
    if vmap_level():
        return _vmap_rule("bernoulli_", bernoulli_, (self, p), {"generator": generator})
    cdef RandomNode n
    if isinstance(p, Tensor):
        n = begin(BernoulliBackward1, self, <Tensor>p, "bernoulli_")
        fill_bernoulli_each(self, <Tensor>p, generator)
    else:
        n = begin(BernoulliBackward2, self, None, "bernoulli_")
        fill_bernoulli(self, number_of(p, "bernoulli_", "p"), generator)
    return end(self, n)


for _f in (uniform_, normal_, random_, exponential_, bernoulli_):
    _install(_f.__name__, _f)
