# cython: language_level=3
"""Levels: wrappers of vmap and tangents of forward mode, made and taken apart.

A vmap wrapper has the shape of one example; `extra.value` is the tensor below its vmap and
`extra.bdim` the dimension of that which counts examples. Derivatives are recorded, and tangents
carried, by each layer for itself: those that began outside of a vmap by the tensors below it, those
that began inside by the wrappers. So each transformation sees just what belongs to it, however they
are nested. The rules of operators are in batching.pyx and forward.pyx.
"""
from autograd_cy._C.tensor import _refuse_escaped
from autograd_cy._C.node cimport gradient_node
from autograd_cy._C.tensor cimport (
    Tensor, TensorExtra, ForwardLevel, need_extra, put_dual, tensor_alias, requires_grad,
    vmap_level, wrap_at, F_BATCHED, F_DUAL, F_REQUIRES_GRAD)


# --- vmap -----------------------------------------------------------------------------------

cdef int batch_level(Tensor t) noexcept:
    return t.extra.level if t.flags & F_BATCHED else -1


cdef int top_level(tuple tensors) except -2:
    """The innermost vmap that the tensors belong to, or -1; it must be running."""
    cdef Tensor t
    cdef int level = -1
    for t in tensors:
        if t is not None and t.flags & F_BATCHED and t.extra.level > level:
            level = t.extra.level
    if level > vmap_level():
        for t in tensors:
            if t is not None:
                _refuse_escaped(t, "an operation on a tensor")
    return level


cdef bint is_batched(Tensor t, int level) noexcept:
    return (t is not None and t.flags & F_BATCHED and t.extra.level == level
            and t.extra.bdim >= 0)


cdef bint any_batched(tuple tensors, int level) noexcept:
    cdef Tensor t
    for t in tensors:
        if is_batched(t, level):
            return True
    return False


cdef Tensor lift(Tensor t, int level):
    """`t` as a tensor of the vmap of `level`: what is recorded with it stays inside that vmap."""
    if level <= 0 or batch_level(t) >= level:
        return t
    return wrap_at(t, -1, level)


cdef Tensor lowered(Tensor t, int level):
    """
    Return an argument as operators below the vmap of `level` see it: the shared value of a lifted
    one, and no tangents that belong to the inside. One with examples stays as it is.
    """
    if t is None:
        return None
    if t.flags & F_BATCHED and t.extra.level == level:
        return <Tensor>t.extra.value if t.extra.bdim < 0 else t
    while t.flags & F_DUAL and t.extra.forward.batches >= level:
        t = primal_of(t)
    return t


cdef tuple all_lowered(tuple tensors, int level):
    return tuple([lowered(<Tensor>t, level) for t in tensors])


# --- forward mode ---------------------------------------------------------------------------

cdef Tensor place_alias(Tensor t):
    """Return an alias at the same place of the graph and in the same vmap, without tangents."""
    cdef Tensor r = tensor_alias(t)
    cdef TensorExtra x
    if t.flags & F_BATCHED:
        x = need_extra(r)
        x.value = t.extra.value
        x.bdim = t.extra.bdim
        x.level = t.extra.level
        r.flags |= F_BATCHED
    if requires_grad(t):
        # A leaf's alias leads straight to the leaf's accumulator.
        r.fn = gradient_node(t)
        r.out_nr = t.out_nr
        r.flags |= F_REQUIRES_GRAD
    return r


cdef Tensor primal_of(Tensor t):
    """A dual without the tangent of its innermost level."""
    cdef Tensor r = place_alias(t)
    cdef Tensor outer = <Tensor>t.extra.primal
    if outer is not None and outer.flags & F_DUAL:
        put_dual(r, <Tensor>outer.extra.tangent, outer.extra.forward, <Tensor>outer.extra.primal)
    return r


cdef Tensor primal_at(Tensor t, ForwardLevel level):
    if t is None or not (t.flags & F_DUAL) or t.extra.forward is not level:
        return t
    return primal_of(t)


cdef Tensor tangent_at(Tensor t, ForwardLevel level):
    if t is None or not (t.flags & F_DUAL) or t.extra.forward is not level:
        return None
    return <Tensor>t.extra.tangent


cdef bint below_level(Tensor t, ForwardLevel level) noexcept:
    """Return whether a tangent of `level` belongs to what is below the vmap of t."""
    return t.flags & F_BATCHED and t.extra.level > level.batches


def _batch_level(Tensor t not None):
    """The level of a vmap wrapper, or -1."""
    return batch_level(t)
