# cython: language_level=3
# build: plain hot
"""Random operators: functions that make random tensors, and methods that fill them.

They take their arguments apart; what draws are operators of the family random, which record, heed
vmap and find the kernel of the device.
"""
from autograd_cy._C.creation cimport (
    check_out, check_placement, set_requires_grad, like_on, python_number, parse_dtype, parse_size,
    place_like)
from autograd_cy._C.dtypes cimport (
    dt_differentiable, dt_is_complex, dt_scalar_name, dt_type_name, g_default_dtype,
    not_for_limited, DT_BOOL, DT_I64, DT_U64)
from autograd_cy._C.iterate cimport broadcast_shape, cast, copy_into, resize_out
from autograd_cy._C.random cimport checked_generator, exact_limit
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, g_modes, requires_grad as needs_grad, tensor_empty_on, vmap_level,
    F_BATCHED, G_PROFILE, MAX_DIMS)
include "operators_of_random_operators.pxi"

from autograd_cy._C.tensor import _install

cdef int E = events(
    "aten::rand\naten::rand_like\naten::randn\naten::randn_like\naten::randint\n"
    "aten::randint_like\naten::randperm\naten::normal\naten::bernoulli\naten::empty")
cdef enum:  # places among them
    E_RAND, E_RAND_LIKE, E_RANDN, E_RANDN_LIKE, E_RANDINT, E_RANDINT_LIKE, E_RANDPERM, E_NORMAL
    E_BERNOULLI, E_EMPTY

__all__ = [
    "bernoulli", "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm",
]


# --- arguments ------------------------------------------------------------------------------

cdef int own_out(Tensor out, object dtype, object device, str op) except -1:
    """Refuse an ``out=`` of another kind than asked for, or under vmap."""
    if vmap_level():
        raise RuntimeError(f"vmap: {op} with out= is not possible under vmap; leave out= away")
    return check_out(out, dtype, device, op)


cdef str like_draws(object input):
    """The way examples draw in the shape of a tensor: together if it has them, else one by one."""
    cdef int level = vmap_level()
    if level and (<Tensor>input).flags & F_BATCHED and (<Tensor>input).extra.level == level \
            and (<Tensor>input).extra.bdim >= 0:
        return "sizes"
    return "values"


cdef Py_ssize_t last_of(object low, object high) except? -1:
    """The largest of the integers from `low` to below `high`, which are of 64 bits."""
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    return high - 1


cdef object drawn_result(Tensor t, object requires_grad, str op):
    """The result of a function; under vmap it belongs to no graph."""
    return set_requires_grad(t, False if vmap_level() else requires_grad, op)


cdef int need_floating(int dt, str op) except -1:
    if not dt_differentiable(dt):
        raise NotImplementedError(
            f"{op}: not implemented for '{dt_scalar_name(dt)}'; "
            "the dtype must be floating or complex"
        )
    return 0


cdef object whole_number(object x, str op, str argument):
    """An int, or something that stands for one (bool and float do not)."""
    if isinstance(x, bool) or not hasattr(x, "__index__"):
        raise TypeError(f"{op}(): argument '{argument}' must be int, not {type(x).__name__}")
    return x.__index__()


cdef object small_number(object x, str op, str argument):
    """A whole number of 64 bits."""
    n = whole_number(x, op, argument)
    if not -(1 << 63) <= n < (1 << 63):
        raise ValueError(
            f"{op}(): argument '{argument}': Overflow when unpacking long long; an int must fit in "
            "64 bits")
    return n


include "random_operators/methods.pxi"
include "random_operators/functions.pxi"
