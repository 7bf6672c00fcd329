# cython: language_level=3
# build: plain hot
"""Shape rules of what is drawn at random: fills, masks, slopes. They refuse bounds and dtypes."""
from autograd_cy._C.rules_common cimport slope_range
from autograd_cy._C.dtypes cimport (
    dt_differentiable, dt_is_complex, dt_is_float, dt_is_signed, dt_real, dt_scalar_name,
    dt_type_name, DT_BF16, DT_F16, DT_F32, DT_F64, DT_I64)
from autograd_cy._C.iterate cimport expand_plain
from autograd_cy._C.outputs cimport Result, has_shape, result_like
from autograd_cy._C.random cimport exact_limit
from autograd_cy._C.shapes cimport narrow_plain
from autograd_cy._C.tensor cimport Tensor

from autograd_cy._C._warned import warn as _warn

__all__: list[str] = []


cdef int need_floating(int dt, str op) except -1:
    if not dt_differentiable(dt):
        raise NotImplementedError(
            f"{op}: not implemented for '{dt_scalar_name(dt)}'; "
            "the dtype must be floating or complex"
        )
    return 0


cdef int need_real(int dt, str op) except -1:
    if dt_is_complex(dt):
        raise NotImplementedError(f"{op}: not implemented for '{dt_scalar_name(dt)}'")
    return 0


cdef double largest_finite(int dt) noexcept:
    """The largest finite number of a floating dtype."""
    if dt == DT_F16:
        return 65504.0
    if dt == DT_BF16:
        return 3.3895313892515355e38
    return 3.4028234663852886e38 if dt == DT_F32 else 1.7976931348623157e308


# --- fills ----------------------------------------------------------------------------------

cdef int uniform(Result* r, Tensor a, double lo, double hi, str op) except -1:
    cdef int dt = dt_real(a.dt)
    cdef double limit = largest_finite(dt)
    need_floating(a.dt, "uniform_")
    if not lo <= hi:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={lo} > to={hi}"
        )
    if abs(lo) > limit or abs(hi) > limit or hi - lo > limit:
        raise RuntimeError(
            f"uniform_: [{lo}, {hi}) is out of bounds for {dt_scalar_name(dt)}"
        )
    return result_like(r, a, a.dt)


cdef int normal(Result* r, Tensor a, double mean, double std, str op) except -1:
    need_floating(a.dt, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return result_like(r, a, a.dt)


cdef int normal_mean(Result* r, Tensor a, Tensor mean, double std, str op) except -1:
    """Numbers around each element of `mean`, which is broadcast to `a`."""
    need_floating(a.dt, "normal")
    return normal(r, a, 0, std, op)


cdef int normal_std(Result* r, Tensor a, Tensor std, str op) except -1:
    """Numbers that each element of `std` says the width of."""
    if dt_is_complex(std.dt):
        raise RuntimeError("normal expects standard deviation to be non-complex")
    need_floating(a.dt, "normal")
    return result_like(r, a, a.dt)


cdef int exponential(Result* r, Tensor a, double rate, str op) except -1:
    if not dt_is_float(a.dt):
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {dt_scalar_name(a.dt)}"
        )
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    return result_like(r, a, a.dt)


cdef int bernoulli(Result* r, Tensor a, double p, str op) except -1:
    need_real(a.dt, "bernoulli_")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return result_like(r, a, a.dt)


cdef int bernoulli_each(Result* r, Tensor a, Tensor p, str op) except -1:
    """Like `a`; `p` is broadcast to it."""
    need_real(a.dt, "bernoulli_")
    if not dt_is_float(p.dt):
        raise NotImplementedError(
            f"bernoulli: probabilities must be floating, not {dt_scalar_name(p.dt)}"
        )
    result_like(r, a, a.dt)
    if not has_shape(p, r):
        expand_plain(p, a.nd, a.sizes, "bernoulli_")        # its error
    return 0


cdef int chances(Result* r, Tensor a, str op) except -1:
    """Describe a result in C order; the elements of `a` are probabilities."""
    bernoulli_each(r, a, a, op)
    r.strided = False
    return 0


cdef int chance(Result* r, Tensor a, double p, str op) except -1:
    """Describe a result in C order, for one probability."""
    bernoulli(r, a, p, op)
    r.strided = False
    return 0


cdef int random(Result* r, Tensor a, Py_ssize_t low, Py_ssize_t last, str op) except -1:
    """Integers from `low` to `last`."""
    need_real(a.dt, "random_")
    if a.dt != DT_I64:
        check_bounds(a.dt, low, last)
    return result_like(r, a, a.dt)


cdef int check_bounds(int dt, Py_ssize_t low, Py_ssize_t last) except -1:
    exact = exact_limit(dt)
    top = exact if dt <= DT_I64 else 65504 if dt == DT_F16 else 2**63 - 1
    bottom = 0 if not dt_is_signed(dt) else -65504 if dt == DT_F16 else -top - 1
    if low < bottom:
        raise RuntimeError(f"random_: from is out of bounds for {dt_type_name(dt)} ({low})")
    if last > top:
        raise RuntimeError(
            f"random_: to - 1 is out of bounds for {dt_type_name(dt)} ({last})"
        )
    if dt > DT_I64:
        bits = len(bin(exact)) - 3
        for what, limit in (("from", low), ("to - 1", last)):
            if not -exact <= limit <= exact:
                _warn(
                    f"{what} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision "
                    f"limitations {dt_scalar_name(dt)} can support discrete uniform distribution "
                    "only within this range. Numbers beyond it are rounded.",
                    UserWarning)
    return 0


cdef int alike(Result* r, Tensor a, str op) except -1:
    """Like `a`, whatever it is."""
    return result_like(r, a, a.dt)


# --- masks, slopes and weights --------------------------------------------------------------

cdef int mask(Result* r, Tensor a, str op) except -1:
    """One for each element."""
    need_real(a.dt, "bernoulli_")
    return result_like(r, a, a.dt)


cdef int scaled_mask(Result* r, Tensor a, double keep, str op) except -1:
    """Describe a mask of fractions, or of zeros if none is kept."""
    if keep > 0:
        need_real(a.dt, "bernoulli_")
    if keep > 0 and not dt_is_float(a.dt):
        raise RuntimeError(
            f"{op}: result type float32 can't be cast to the desired output type "
            f"{dt_scalar_name(a.dt)}")
    return result_like(r, a, a.dt)


cdef int channel_mask(Result* r, Tensor a, str op) except -1:
    """One for each place in the first two dimensions."""
    cdef int d
    if a.nd < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    for d in range(2, a.nd):
        if a.sizes[d]:
            a = narrow_plain(a, d, 0, 1)
    return result_like(r, a, a.dt)


cdef int rrelu_slopes(Result* r, Tensor a, Tensor lower, Tensor upper, str op) except -1:
    """One for each element, between two numbers."""
    cdef double[2] at
    slope_range(a, lower, upper, at)
    return uniform(r, a, at[0], at[1], op)


cdef int weights(Result* r, Tensor a, str op) except -1:
    """Describe the same numbers in float64."""
    return result_like(r, a, DT_F64)
