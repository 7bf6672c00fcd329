# Checks of single operators, on all devices (part of rules_common.pyx).
#
# A record names one as `checks`: it gets the operator's arguments before the shape rule, and raises
# torch's error. Unlike rules, checks may read numbers that the caller gave.

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1:
    """Refuse to divide integers by 0; another device looks at its memory itself."""
    cdef int width = DT_SIZE[b.dt]
    if not (dt_is_integral(a.dt) and dt_is_integral(b.dt) and a.count and b.count
            and b.mem.device == ON_CPU):
        return 0
    if b.nd == 0 and DT_SIZE[a.dt] < width:     # the lowest bits are what divides
        width = min(width, <int>DT_SIZE[result_dtype((a, b))])
    return check_no_zero(below_vmaps(b), width)


cdef int check_pow_domain(Tensor a, Tensor b) except -1:
    cdef int dt
    if b.flags & F_WRAPPED:
        dt = result_dtype((a, b))
        if dt_is_integral(dt):
            if scalar_value(b) < 0:
                raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
            check_fits(b, dt)
    if b.flags & F_WRAPPED and (b.dt == DT_F64 or b.dt == DT_I64) and (
            a.dt == DT_F16 or a.dt == DT_BF16) and not a.flags & F_WRAPPED:
        check_fits(b, a.dt)
    return 0


cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1:
    if c.dt == DT_U8:
        warn_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead.")
    elif c.dt != DT_BOOL:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dt_scalar_name(c.dt)}")
    # A half type takes -1e9, the usual mask of scores, as -inf.
    if a.dt not in (DT_F16, DT_BF16) and b.dt not in (DT_F16, DT_BF16):
        check_bound(a, b)
        check_bound(b, a)
    return 0


cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if dt_is_complex(a.dt):
        raise NotImplementedError("clamp is not supported for complex types")
    if low is not None and high is not None and (
            low.nd and high.flags & F_WRAPPED or high.nd and low.flags & F_WRAPPED):
        raise TypeError(
            "clamp() received an invalid combination of arguments: 'min' and 'max' must be both "
            f"tensors or both numbers, but one is a tensor of shape "
            f"{list(sizes_of(low if low.nd else high))}")
    if low is not None:
        if low.flags & F_WRAPPED:
            real_number(low, a.dt, "clamp")
        check_bound(a, low)
    if high is not None:
        if high.flags & F_WRAPPED:
            real_number(high, a.dt, "clamp")
        check_bound(a, high)
    return 0


cdef int check_probability(Tensor a, double p, bint train) except -1:
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return 0


cdef int check_gelu_kind(Tensor a, str kind) except -1:
    if kind != "none" and kind != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return 0


cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1:
    if a.dt == DT_BOOL and b.dt == DT_BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead.")
    if a.dt == DT_BOOL or b.dt == DT_BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.")
    return 0


cdef int real_number(Tensor number, int dt, str op) except -1:
    """
    Take a complex number that is a real one for a real dtype; others are refused.

    One that was wrapped for this call becomes that real number.
    """
    if not dt_is_complex(number.dt) or dt_is_complex(dt) or dt == DT_BOOL:
        return 0
    if number.flags & F_BATCHED:
        raise RuntimeError(
            f"{op + ': ' if op else ''}complex values, one for each example, don't fit "
            f"{dt_scalar_name(dt)}; give their real parts")
    value = scalar_value(number)
    if value.imag != 0:
        raise RuntimeError(
            f"{op + ': ' if op else ''}value cannot be converted to type {dt_c_name(dt)} "
            f"without overflow: {value} is complex; give a real number")
    if number.flags & F_WRAPPED and number.dt == DT_C128:
        number.dt = DT_F64      # its real part comes first
    return 0


cdef object scalar_number(Tensor number):
    if not number.flags & F_WRAPPED:
        raise SystemError("scalar_number: the value of an operand is its kernel's to read")
    return scalar_value(number)


cdef int slope_range(Tensor a, Tensor lower, Tensor upper, double* at) except -1:
    """The smallest and the largest slope of rrelu, which are numbers of the CPU."""
    real_number(lower, dt_real(a.dt), "rrelu")
    real_number(upper, dt_real(a.dt), "rrelu")
    at[0], at[1] = scalar_number(lower), scalar_number(upper)
    if not isfinite(at[0]) or not isfinite(at[1]):
        raise RuntimeError(f"rrelu: lower and upper must be finite, but they are {at[0]} and "
                           f"{at[1]}")
    if at[0] > at[1]:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    return 0


cdef int factor_fits(Tensor factor, int dt) except -1:
    """
    Make a number that multiplies a result of dtype `dt` one of its kind.

    A fraction is cut off before it multiplies integers. The number was wrapped for this call, so
    that it may be changed.
    """
    cdef int64_t whole
    real_number(factor, dt, None)
    if factor.dt == DT_F64 and dt_is_integral(dt):
        whole = int(scalar_value(factor))
        factor.dt = DT_I64
        (<int64_t*>factor.ptr)[0] = whole
    return 0


cdef int factor_held(Tensor factor, int dt) except -1:
    """`factor_fits`, and what multiplies must hold the number: float32 for half types."""
    factor_fits(factor, dt)
    if dt == DT_F16 or dt == DT_BF16:
        dt = DT_F32
    return 0 if dt == DT_BOOL or dt == DT_I64 else check_fits(factor, dt)


cdef int check_factors(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha) except -1:
    factor_held(beta, mat1.dt)
    factor_held(alpha, mat1.dt)
    return 0


cdef int check_factor(Tensor a, Tensor x, Tensor y, Tensor value) except -1:
    factor_held(value, result_dtype((a, x, y)))
    return 0


cdef int check_weight(Tensor a, Tensor end, Tensor weight) except -1:
    if end.dt != a.dt:
        raise RuntimeError(
            f"lerp: expected dtype {dt_type_name(a.dt)} for `end` but got dtype "
            f"{dt_type_name(end.dt)}; convert it with .to(dtype)")
    if weight.flags & F_WRAPPED:
        factor_fits(weight, a.dt)
        if dt_is_float(a.dt):
            check_fits(weight, DT_F64 if a.dt == DT_F64 else DT_F32)
    elif weight.dt != a.dt and weight.nd:
        raise RuntimeError(
            f"lerp: expected dtype {dt_type_name(a.dt)} for `weight` but got dtype "
            f"{dt_type_name(weight.dt)}; convert it with .to(dtype)")
    return 0


cdef int check_mask(Tensor a, Tensor mask, Tensor value) except -1:
    if mask.dt != DT_BOOL:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{dt_type_name(mask.dt)}")
    if value.nd != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.nd} dimension(s).")
    return real_number(value, a.dt, None)


cdef int check_selection(Tensor a, Tensor mask) except -1:
    if mask.dt != DT_BOOL:
        raise RuntimeError(
            f"masked_select: expected BoolTensor for mask, but got {dt_scalar_name(mask.dt)}")
    return 0


cdef int check_bound(Tensor a, Tensor bound) except -1:
    """A number as bound must be one of the result's dtype."""
    cdef int dt
    if bound.flags & F_WRAPPED and bound.dt != a.dt:
        if bound.dt == DT_F64 and dt_is_float(a.dt) and not a.flags & F_WRAPPED:
            return check_fits(bound, a.dt)
        dt = result_dtype((a, bound))
        if dt == a.dt:
            check_fits(bound, dt)
    return 0


cdef int check_real_limit(Tensor a, Tensor limit) except -1:
    return real_number(limit, a.dt, None)


cdef int check_same_parts(Tensor real, Tensor imag) except -1:
    if not (dt_is_float(real.dt) and dt_is_float(imag.dt)):
        raise RuntimeError(
            "complex: Expected both inputs to be Half, Float or Double tensors but got "
            f"{dt_scalar_name(real.dt)} and {dt_scalar_name(imag.dt)}")
    if real.dt != imag.dt:
        raise RuntimeError(
            f"complex: Expected object of scalar type {dt_scalar_name(real.dt)} but got scalar "
            f"type {dt_scalar_name(imag.dt)} for second argument")
    return 0


cdef int check_complex_only(Tensor a) except -1:
    if not dt_is_complex(a.dt):
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes, such as "
            f"{dt_scalar_name(a.dt)}.")
    return 0
