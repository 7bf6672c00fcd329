# cython: language_level=3
"""Random operators: functions that make random tensors, methods that fill them, and their nodes.

Random values don't depend on what was there: the recorded gradient is zero, as in torch. They have
no records, because what they compute depends on a generator and not on values.
"""
from cpython.ref cimport PyObject, Py_INCREF
from autograd_cy._C.creation cimport (
    check_out, check_placement, finish, like, like_on, number_of, parse_dtype, parse_size)
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_object, g_default_dtype, DT_BOOL, DT_F64, DT_I64)
from autograd_cy._C.iterate cimport (
    broadcast_shape, cast, check_writable, contiguous, copy_into, ew2, resize_out, to_device,
    P_SAME)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.node cimport (
    Node, check_inplace, needs, node_init, rebase_history, set_edge, set_history, zeros_for)
from autograd_cy._C.random cimport (
    as_tensor_like, exact_limit, fill_bernoulli, fill_bernoulli_each, fill_exponential, fill_normal,
    fill_randint, fill_uniform, need_floating, need_real, permutation)
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, g_modes, requires_grad as needs_grad, tensor_empty_on, tls_modes,
    vmap_level, F_DUAL, F_VIEW, G_FORWARD, G_PROFILE, MAX_DIMS, M_NO_GRAD)

from autograd_cy._C.tensor import _install

cdef int K_ADD = kernel_number("add")
cdef int K_MUL = kernel_number("mul")

cdef int E = events(
    "aten::uniform_\naten::normal_\naten::random_\naten::exponential_\naten::bernoulli_\n"
    "aten::rand\naten::rand_like\naten::randn\naten::randn_like\naten::randint\n"
    "aten::randint_like\naten::randperm\naten::normal\naten::bernoulli\naten::empty")
cdef enum:  # places among them
    E_UNIFORM_, E_NORMAL_, E_RANDOM_, E_EXPONENTIAL_, E_BERNOULLI_, E_RAND, E_RAND_LIKE
    E_RANDN, E_RANDN_LIKE, E_RANDINT, E_RANDINT_LIKE, E_RANDPERM, E_NORMAL, E_BERNOULLI
    E_EMPTY

__all__ = [
    "bernoulli", "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm",
]


# --- methods --------------------------------------------------------------------------------
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_UNIFORM_, (self, *args))
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_NORMAL_, (self, mean, std))
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_RANDOM_, (self, *args))
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EXPONENTIAL_, (self, lambd))
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_BERNOULLI_, (self, p))
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


# --- functions ------------------------------------------------------------------------------

cdef Tensor room(tuple args, object size, Tensor out, object dtype, int default, object layout,
                 object device, object pin_memory, str op):
    """An uninitialised tensor, or `out` in the right shape."""
    cdef Scope _seen = NULL
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int n = parse_size(args, size, shape, op)
    cdef int where = check_placement(device, layout, pin_memory, op)
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EMPTY, ())
    if out is None:
        return tensor_empty_on(where, parse_dtype(dtype, default), n, shape, NULL)
    check_out(out, dtype, device, op)
    resize_out(out, n, shape, op)
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
    where = check_placement(device, layout, pin_memory, op)
    return like_on(a, parse_dtype(dtype, a.dt), memory_format,
                   a.mem.device if device is None else <int>where)


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
        return _vmap_rule("rand", rand, (*args,), {
            "size": size, "generator": generator, "out": out, "dtype": dtype, "layout": layout,
            "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory})
    cdef Tensor t = room(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                         "rand")
    need_floating(t, "rand")
    fill_uniform(t, 0, 1, generator)
    return finish(t, requires_grad, "rand")


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
        return _vmap_rule("rand_like", rand_like, (input,), {
            "generator": generator, "dtype": dtype, "layout": layout, "device": device,
            "requires_grad": requires_grad, "memory_format": memory_format,
            "pin_memory": pin_memory})
    cdef Tensor t = room_like(input, dtype, layout, device, pin_memory, memory_format, "rand_like")
    need_floating(t, "rand_like")
    fill_uniform(t, 0, 1, generator)
    return finish(t, requires_grad, "rand_like")


def randn(*args, size=None, generator=None, Tensor out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False):
    """
    Random numbers from the standard normal distribution. The parameters are those of :func:`rand`.

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
        return _vmap_rule("randn", randn, (*args,), {
            "size": size, "generator": generator, "out": out, "dtype": dtype, "layout": layout,
            "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory})
    cdef Tensor t = room(args, size, out, dtype, g_default_dtype, layout, device, pin_memory,
                         "randn")
    need_floating(t, "randn")
    fill_normal(t, 0, 1, generator)
    return finish(t, requires_grad, "randn")


def randn_like(input, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
               memory_format=None, pin_memory=False):
    """
    Standard normal numbers in the shape of another tensor; parameters as for :func:`rand_like`.

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
        return _vmap_rule("randn_like", randn_like, (input,), {
            "generator": generator, "dtype": dtype, "layout": layout, "device": device,
            "requires_grad": requires_grad, "memory_format": memory_format,
            "pin_memory": pin_memory})
    cdef Tensor t = room_like(input, dtype, layout, device, pin_memory, memory_format, "randn_like")
    need_floating(t, "randn_like")
    fill_normal(t, 0, 1, generator)
    return finish(t, requires_grad, "randn_like")


cdef tuple low_high(object low, object high, str op):
    if high is None:
        raise TypeError(f'{op}() missing 1 required positional arguments: "high"')
    return (0 if low is None else small_number(low, op, "low")), small_number(high, op, "high")


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
        return _vmap_rule("randint", randint, (*args,), {
            "low": low, "high": high, "size": size, "generator": generator, "out": out,
            "dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad,
            "pin_memory": pin_memory})
    cdef Tensor t
    cdef list given = list(args)
    if given and size is None and len(given) > 1:
        size = given.pop()
    if len(given) > 2:
        raise TypeError(
            f"randint() takes at most 3 positional arguments but {len(args)} were given"
        )
    if len(given) == 2:
        if low is not None or high is not None:
            raise TypeError("randint() got multiple values for argument 'low' or 'high'")
        low, high = given
    elif len(given) == 1:
        if high is None:
            high = given[0]
        elif low is None:
            low = given[0]
        else:
            raise TypeError("randint() got multiple values for argument 'low'")
    if size is None:
        raise TypeError('randint() missing 1 required positional arguments: "size"')
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}"
        )
    low, high = low_high(low, high, "randint")
    t = room((), size, out, dtype, DT_I64, layout, device, pin_memory, "randint")
    fill_randint(t, low, high, generator)
    return finish(t, requires_grad, "randint")


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
        return _vmap_rule("randint_like", randint_like, (input, *args), {
            "low": low, "high": high, "generator": generator, "dtype": dtype, "layout": layout,
            "device": device, "requires_grad": requires_grad, "memory_format": memory_format,
            "pin_memory": pin_memory})
    cdef Tensor t
    if len(args) == 2 and low is None and high is None:
        low, high = args
    elif len(args) == 1 and high is None:
        high = args[0]
    elif len(args) == 1 and low is None:
        low = args[0]
    elif args:
        raise TypeError("randint_like() got multiple values for argument 'low' or 'high'")
    low, high = low_high(low, high, "randint_like")
    t = room_like(input, dtype, layout, device, pin_memory, memory_format, "randint_like")
    fill_randint(t, low, high, generator)
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
        return _vmap_rule("randperm", randperm, (n,), {
            "generator": generator, "out": out, "dtype": dtype, "layout": layout, "device": device,
            "requires_grad": requires_grad, "pin_memory": pin_memory})
    cdef Py_ssize_t count = min(small_number(n, "randperm", "n"), (1 << 63) - 1)
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
    if dt_is_complex(dt) or dt == DT_BOOL or count - 1 > exact_limit(dt):
        raise RuntimeError(f"randperm: {count} numbers do not fit {dt_object(dt).name}")
    t = permutation(count, generator)
    if out is not None:
        resize_out(out, 1, &count, "randperm")
        copy_into(out, t, "randperm")
        bump_version(out)
        return finish(out, requires_grad, "randperm")
    return finish(to_device(cast(t, dt), where), requires_grad, "randperm")


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


cdef Tensor attach(Tensor result, type cls, Tensor a, Tensor b, str op):
    """Record that `result` was drawn with these parameters (their gradients are zero)."""
    cdef RandomNode n
    if tls_modes() & M_NO_GRAD or not (
            (a is not None and needs_grad(a)) or (b is not None and needs_grad(b))):
        return finish(result, False, op)
    n = <RandomNode>cls.__new__(cls)
    node_init(n, 2, 0, 1)
    if a is not None:
        set_edge(n, 0, a)
    if b is not None:
        set_edge(n, 1, b)
    finish(result, False, op)
    set_history(result, n, 0)
    return result


cdef Tensor normal_of(object mean, object std, object generator, Tensor out):
    """The forms with a tensor: one number for each of its elements."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Tensor m = <Tensor>mean if isinstance(mean, Tensor) else None
    cdef Tensor s = <Tensor>std if isinstance(std, Tensor) else None
    cdef Tensor t
    cdef int n
    n = broadcast_shape(tuple([x for x in (m, s) if x is not None]), shape, "normal")
    if s is not None:
        check_std(s)
    if out is None:
        t = tensor_empty_on((m if m is not None else s).mem.device,
                            m.dt if m is not None else s.dt, n, shape, NULL)
    else:
        check_out(out, None, None, "normal")
        t = resize_out(out, n, shape, "normal")
        bump_version(out)
    need_floating(t, "normal")
    if s is None:
        fill_normal(t, 0, number_of(std, "normal", "std"), generator)
    else:
        fill_normal(t, 0, 1, generator)
        ew2(K_MUL, t, cast(s, t.dt), P_SAME, t, "normal")
    if m is None:
        ew2(K_ADD, t, as_tensor_like(t, number_of(mean, "normal", "mean")), P_SAME, t, "normal")
    else:
        ew2(K_ADD, t, cast(m, t.dt), P_SAME, t, "normal")
    if out is not None:
        return t
    if m is None:
        return attach(t, NormalBackward2, None, s, "normal")
    return attach(t, NormalBackward1 if s is None else NormalBackward3, m, s, "normal")


def normal(mean=0.0, std=1.0, size=None, *, generator=None, Tensor out=None, dtype=None,
           layout=None, device=None, requires_grad=False, pin_memory=False):
    """
    Normally distributed numbers.

    Parameters
    ----------
    mean, std : float or Tensor
        With a tensor, each element has its own; both are broadcast.
    size : sequence of int
        The shape, if both are numbers.
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
        If there is neither a tensor nor a size, or both.

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
        return _vmap_rule("normal", normal, (mean, std, size), {
            "generator": generator, "out": out, "dtype": dtype, "layout": layout, "device": device,
            "requires_grad": requires_grad, "pin_memory": pin_memory})
    cdef Tensor t
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if size is not None:
            raise TypeError("normal(): size is given by the tensors mean and std; leave it out")
        return normal_of(mean, std, generator, out)
    if size is None:
        raise TypeError('normal() missing 1 required argument: "size" (mean and std are numbers)')
    t = room((), size, out, dtype, g_default_dtype, layout, device, pin_memory, "normal")
    fill_normal(t, number_of(mean, "normal", "mean"), number_of(std, "normal", "std"), generator)
    return finish(t, requires_grad, "normal")


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
        return _vmap_rule("bernoulli", bernoulli, (input, p), {"generator": generator, "out": out})
    cdef Tensor t
    if out is None:
        t = like(input, input.dt, None)
    else:
        check_out(out, None, None, "bernoulli")
        t = resize_out(out, input.nd, input.sizes, "bernoulli")
        bump_version(out)
    if p is None:
        fill_bernoulli_each(t, input, generator)
    else:
        fill_bernoulli(t, number_of(p, "bernoulli", "p"), generator)
    return t if out is not None else attach(t, BernoulliBackward0, input, None, "bernoulli")


_install("bernoulli", bernoulli)
