# Equally spaced values (part of creation.pyx).
#
# Values are computed in float64 (ranges of integers in int64) and rounded once to the dtype.

cdef Tensor deliver(Tensor values, int dt, int where, Tensor out, object requires_grad, str op):
    """`values` in the dtype and on the device asked for, or written to `out`."""
    cdef Py_ssize_t[MAX_DIMS] strides
    if values.mem.device == ON_CPU:
        note_constant(values)
    if out is None:
        return set_requires_grad(to_device(cast(values, dt), where), requires_grad, op)
    if out.count == values.count:           # filled as it is, whatever its shape
        format_strides(out.nd, out.sizes, MF_CONTIGUOUS, strides)
        values = tensor_window(values, out.nd, out.sizes, strides, 0)
    else:
        resize_out(out, values.nd, values.sizes, op)
    copy_into(out, to_device(values, out.mem.device), op)
    bump_version(out)
    return set_requires_grad(out, requires_grad, op)


cdef int real_dtype(object dtype, int default, object device, object out, str op) except -1:
    """The dtype that was asked for, or that of `out`: one of real numbers."""
    cdef int dt
    if out is None:
        dt = parse_dtype(dtype, default)
    else:
        check_out(tensor_arg(out, op, "out", 0), dtype, device, op)
        dt = (<Tensor>out).dt
    if dt == DT_BOOL or dt_is_complex(dt):
        raise NotImplementedError(
            f"{op}: not implemented for '{dt_scalar_name(dt)}'; ask for a real dtype and "
            "convert the result")
    if dt_is_limited(dt):
        raise not_for_limited(dt, op)
    return dt


def _delivered(Tensor values not None, dtype, device, layout, pin_memory, out, requires_grad,
               str op):
    """Real numbers that were computed for a function of Python, by its options."""
    cdef int where = check_placement(device, layout, pin_memory, op)
    cdef int dt = real_dtype(dtype, g_default_dtype, device, out, op)
    return deliver(values, dt, where, out, requires_grad, op)


cdef object spacing(object x, str op, str argument):
    """A bound or step: a real number."""
    value = python_number(x, op, argument)
    if isinstance(value, complex):
        if value.imag == 0:
            return value.real
        raise RuntimeError(f"{op}: value cannot be converted to type double without overflow: {x}")
    return value


cdef Tensor equally_spaced(Py_ssize_t n, object first, object step, int dt, int where, Tensor out,
                           object requires_grad, str op):
    """Numbers that are made on the device that has them in the end."""
    cdef Tensor t = empty_on(where if out is None else out.mem.device, dt, 1, &n, NULL)
    fill_range(t, first, step)
    return deliver(t, dt, where, out, requires_grad, op)


cdef Py_ssize_t int_length(object start, object end, object step) except -1:
    cdef Py_ssize_t n
    try:
        _ = <int64_t>start, <int64_t>step, <int64_t>end
        # Rounds away from zero, so that the end is left out and the last partial step is not.
        n = max(0, -((start - end) // step))
    except OverflowError:
        for x in (start, end, step):
            if not -(1 << 63) <= x < (1 << 64):
                raise beyond_64_bits(x) from None
        raise RuntimeError(
            f"arange: value cannot be converted to type int64_t without overflow: "
            f"{start}, {end}, {step}"
        ) from None
    return n


cdef Py_ssize_t float_length(double start, double end, double step) except -1:
    cdef double length = ceil((end - start) / step)
    if not length < 4.6e18:
        raise RuntimeError(f"arange: invalid size, possible overflow? ({start}, {end}, {step})")
    return <Py_ssize_t>length


def arange(*args, start=None, end=None, step=None, Tensor out=None, dtype=None, layout=None,
           device=None, requires_grad=False, pin_memory=False):
    """
    Values from `start` to `end` (left out) in steps of `step`.

    Parameters
    ----------
    start : number
        0 if left out; ``arange(n)`` is ``arange(0, n)``.
    end : number
    step : number
        1 if left out.
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`. Without `dtype` integers give int64, others the default dtype. An
        `out` of another shape with as many elements is filled as it is.

    Returns
    -------
    Tensor
        Of size ``ceil((end - start) / step)``.

    Raises
    ------
    RuntimeError
        If the step is zero or leads away from `end`, or a bound is not finite.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.arange(1, 8, 3)
    tensor([1, 4, 7])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_ARANGE, args)
    cdef int dt
    cdef Py_ssize_t n
    if len(args) > 3:
        raise TypeError(f"arange() takes at most 3 positional arguments but {len(args)} were given")
    if len(args) == 1 and end is None:
        if start is not None:
            raise TypeError("arange() got multiple values for argument 'start'; name 'end', too")
        end = args[0]
    elif args:
        if start is not None:
            raise TypeError("arange() got multiple values for argument 'start'")
        start = args[0]
        if len(args) > 1:
            if end is not None:
                raise TypeError("arange() got multiple values for argument 'end'")
            end = args[1]
        if len(args) > 2:
            if step is not None:
                raise TypeError("arange() got multiple values for argument 'step'")
            step = args[2]
    if end is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    start = 0 if start is None else spacing(start, "arange", "start")
    end = spacing(end, "arange", "end")
    step = 1 if step is None else spacing(step, "arange", "step")
    cdef int where = check_placement(device, layout, pin_memory, "arange")
    integers = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    dt = real_dtype(dtype, DT_I64 if integers else g_default_dtype, device, out, "arange")
    if not integers and not (isfinite(<double>start) and isfinite(<double>end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}")
    if dt == DT_I64 and not integers:
        start, end, step = int(start), int(end), int(step)
        integers = True
        if step == 0:
            raise ValueError("arange: step must be nonzero (int64 truncates the step)")
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError(
            "arange: upper bound and lower bound inconsistent with step sign "
            f"({start}, {end}, {step})"
        )
    if integers:
        n = int_length(start, end, step)
    else:
        n = float_length(start, end, step)
        start, step = float(start), float(step)
        if dt_is_integral(dt):      # as many as floats would be, from and by whole numbers
            start, step = trunc(start), trunc(step)
    return equally_spaced(n, start, step, dt, where, out, requires_grad, "arange")


def _closed_range(start, end, step, out, dtype, layout, device, requires_grad):
    """Values from start to end, which belongs to them."""
    cdef int where = check_placement(device, layout, False, "range")
    cdef int dt
    cdef Py_ssize_t n
    cdef double first, by
    start = spacing(start, "range", "start")
    end = spacing(end, "range", "end")
    step = spacing(step, "range", "step")
    dt = real_dtype(dtype, g_default_dtype, device, out, "range")
    if not (isfinite(<double>start) and isfinite(<double>end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if dt_is_integral(dt):
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dt_is_integral(dt):
        n = int_length(start, end + (1 if step > 0 else -1), step)
    else:
        first, by = start, step
        if not (<double>end - first) / by < 4.6e18:
            raise RuntimeError(f"range: invalid size, possible overflow? ({start}, {end}, {step})")
        n = <Py_ssize_t>((<double>end - first) / by) + 1
        start, step = first, by
    return equally_spaced(n, start, step, dt, where, out, requires_grad, "range")


cdef object endpoint(object x, str op, str argument):
    if isinstance(x, Tensor) and (<Tensor>x).nd:
        raise RuntimeError(
            f"{op} only supports 0-dimensional start and end tensors, "
            f"but got {argument} with {(<Tensor>x).nd} dimension(s)."
        )
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0:
        return scalar_value(<Tensor>x)      # also where it requires grad: the result has none
    return python_number(x, op, argument)


cdef object bound_in(object dtype, Tensor out, object x, str op, str argument):
    """An endpoint, which an integer dtype truncates before anything is computed."""
    value = endpoint(x, op, argument)
    if type(value) is int and not -(1 << 63) <= value < (1 << 64):
        raise beyond_64_bits(value)
    dt = out.dt if out is not None else DT_F64 if dtype is None else dt_code(dtype)
    return int(value) if dt_is_integral(dt) and isinstance(value, float) else value


cdef Tensor spread_there(int device, double lo, double hi, Py_ssize_t n, str op):
    """Fill a range by operators of the device."""
    cdef double width = (hi - lo) / (n - 1) if n > 1 else 0
    cdef Tensor place = empty_on(device, DT_F64, 1, &n, NULL), low, high
    fill_range(place, 0, 1)
    low = ew2(K_ADD, ew2(K_MUL, place, wrap_double(width), P_SAME, None, op), wrap_double(lo),
              P_SAME, None, op)
    if n == 1:
        return low
    high = ew2(K_SUB, wrap_double(<double>(n - 1)), place, P_SAME, None, op)
    high = ew2(K_SUB, wrap_double(hi), ew2(K_MUL, high, wrap_double(width), P_SAME, None, op),
               P_SAME, None, op)
    place = ew2(K_LT, place, wrap_double(<double>(n // 2)), P_BOOL, None, op)
    return ew3(K_WHERE, place, low, high, P_SKIP_FIRST, None, op)


cdef Tensor spread_evenly(object start, object end, object steps, int where, Tensor out, str op):
    """
    `steps` values from start to end, both included, as float64 or complex128: on the device that
    is to have them if it can, else on the CPU.
    """
    cdef int device = where if out is None else out.mem.device
    cdef Py_ssize_t i, n, middle
    cdef double lo, hi, width
    cdef double* at
    cdef double complex z0, z1, dz
    cdef Tensor t
    if isinstance(steps, (bool, _np.bool_)) or not hasattr(steps, "__index__"):
        raise TypeError(f"{op}(): argument 'steps' must be int, not {type(steps).__name__}")
    n = PyNumber_Index(steps)
    if n < 0:
        raise RuntimeError(f"{op}: number of steps must be non-negative, got {n}")
    if isinstance(start, complex) or isinstance(end, complex):
        z0, z1 = start, end
        if device == ON_META:
            return empty_on(device, DT_C128, 1, &n, NULL)
        t = empty_on_cpu(DT_C128, 1, &n)
        dz = (z1 - z0) / (n - 1) if n > 1 else 0
        for i in range(n):
            if i < n // 2 or n == 1:
                (<double complex*>t.ptr)[i] = z0 + i * dz
            else:
                (<double complex*>t.ptr)[i] = z1 - (n - 1 - i) * dz
        return t
    lo, hi = start, end
    if device != ON_CPU and makes_ranges(device):
        return spread_there(device, lo, hi, n, op)
    t = empty_on_cpu(DT_F64, 1, &n)
    width = (hi - lo) / (n - 1) if n > 1 else 0
    # From both ends, so that both are exact and the values are symmetric.
    at = <double*>t.ptr
    middle = n // 2 if n > 1 else n
    for i in range(middle):
        at[i] = lo + i * width
    for i in range(middle, n):
        at[i] = hi - (n - 1 - i) * width
    return t


cdef int spread_dtype(Tensor values, Tensor out, object dtype, object device, str op) except -1:
    cdef int dt
    if out is not None:
        check_out(out, dtype, device, op)
        dt = out.dt
    else:
        dt = parse_dtype(dtype, dt_to_complex(g_default_dtype) if dt_is_complex(values.dt)
                         else g_default_dtype)
    if dt == DT_BOOL:
        raise NotImplementedError(
            f"{op}: not implemented for bool; take another dtype and convert the result")
    if dt_is_limited(dt):
        raise not_for_limited(dt, op)
    if dt_is_complex(values.dt) and not dt_is_complex(dt):
        raise RuntimeError(f"{op}: complex bounds need a complex dtype, not {dt_scalar_name(dt)}")
    return dt


def linspace(start, end, steps, *, Tensor out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """
    `steps` equally spaced values from `start` to `end`, both included.

    Parameters
    ----------
    start, end : number
        Or 0-d tensors.
    steps : int
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`. An integer dtype truncates the bounds, then the values. An `out` of
        another shape with as many elements is filled as it is.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If `steps` is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_LINSPACE, (start, end, steps))
    cdef Tensor values
    cdef int where = check_placement(device, layout, pin_memory, "linspace")
    values = spread_evenly(bound_in(dtype, out, start, "linspace", "start"),
                           bound_in(dtype, out, end, "linspace", "end"), steps, where, out,
                           "linspace")
    cdef int dt = spread_dtype(values, out, dtype, device, "linspace")
    return deliver(values, dt, where, out, requires_grad, "linspace")


def logspace(start, end, steps, base=10.0, *, Tensor out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """
    `steps` values from ``base ** start`` to ``base ** end``, equally spaced in the exponent.

    Parameters
    ----------
    start, end : number
        Exponents, or 0-d tensors.
    steps : int
    base : float
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`. An integer dtype truncates the bounds, then the values. An `out` of
        another shape with as many elements is filled as it is.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_LOGSPACE, (start, end, steps, base))
    cdef Tensor values
    cdef double b = base
    cdef double complex z
    cdef Py_ssize_t i
    cdef int dt
    cdef int where = check_placement(device, layout, pin_memory, "logspace")
    values = spread_evenly(bound_in(dtype, out, start, "logspace", "start"),
                           bound_in(dtype, out, end, "logspace", "end"), steps, where, out,
                           "logspace")
    dt = spread_dtype(values, out, dtype, device, "logspace")
    if values.mem.device != ON_CPU:
        values = ew2(K_POW, wrap_double(b), values, P_SAME, None, "logspace")
    for i in range(values.count if values.mem.device == ON_CPU else 0):
        if values.dt == DT_F64:
            (<double*>values.ptr)[i] = c_pow(b, (<double*>values.ptr)[i])
        else:
            z = (<double complex*>values.ptr)[i]
            (<double complex*>values.ptr)[i] = complex(b) ** complex(z)
    return deliver(values, dt, where, out, requires_grad, "logspace")
