# cython: language_level=3
"""Random operators: functions that make random tensors, methods that fill them, and their nodes.

Random values don't depend on what was there: the recorded gradient is zero, as in torch. They have
no records, because what they compute depends on a generator and not on values.
"""
from cpython.ref cimport PyObject, Py_INCREF
from autograd_cy._C.creation cimport (
    check_out, check_placement, finish, like_on, number_of, parse_dtype, parse_size,
    place_like)
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_object, g_default_dtype, DT_BOOL, DT_F64, DT_I64)
from autograd_cy._C.forward cimport copy_tangents
from autograd_cy._C.iterate cimport (
    broadcast_shape, cast, check_writable, contiguous, copy_into, ew2, resize_out, to_device,
    P_SAME)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.node cimport (
    Node, check_inplace, needs, node_init, rebase_history, set_edge, set_history, zeros_for)
from autograd_cy._C.random cimport (
    as_tensor_like, exact_limit, fill_bernoulli, fill_bernoulli_each, fill_exponential, fill_normal,
    fill_randint, fill_uniform, generator_of, need_floating, need_real, permutation)
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, g_modes, requires_grad as needs_grad, tensor_empty_on, tls_modes,
    vmap_level, wrap_double, G_FORWARD, G_PROFILE, MAX_DIMS, M_NO_GRAD)

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


# --- nodes ----------------------------------------------------------------------------------
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


cdef class RandomBackward1(RandomNode):
    pass


cdef class RandomBackward2(RandomNode):
    pass


cdef class ExponentialBackward0(RandomNode):
    pass


cdef class BernoulliBackward0(RandomNode):
    pass


cdef class BernoulliBackward1(RandomNode):
    pass


cdef class BernoulliBackward2(RandomNode):
    pass


# --- around a call --------------------------------------------------------------------------

cdef object _vmap_rule = None


def _set_vmap_rule(rule):
    """Called with (name, function, args, kwargs, draws) instead of a random operator under vmap."""
    global _vmap_rule
    _vmap_rule = rule


def _rule_of_vmap():
    """The rule for an operator in Python, None where no vmap is running."""
    return _vmap_rule if vmap_level() else None


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
    if g_modes & G_FORWARD:
        copy_tangents(t, wrap_double(0.0))
    return t


cdef dict keywords(object generator, object dtype, object layout, object device,
                   object requires_grad, object pin_memory, dict more):
    """Keyword arguments of a call under vmap: those of all functions, and more."""
    more.update(generator=generator, dtype=dtype, layout=layout, device=device,
                requires_grad=requires_grad, pin_memory=pin_memory)
    return more


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
