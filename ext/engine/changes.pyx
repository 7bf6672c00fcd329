# cython: language_level=3
# build: plain hot
"""Arguments that an operator changes beside its results: a record names them by `mutates`.

Autograd sees such a change as it sees an in-place operation without a derivative: leaves that
require grad are refused, versions are raised, and backward through other tensors that require grad
is an error.
"""
from autograd_cy._C.inplace cimport unknown_history
from autograd_cy._C.levels cimport is_batched, lowered, top_level
from autograd_cy._C.node cimport check_inplace
from autograd_cy._C.tensor cimport (
    Tensor, bump_version, requires_grad, tls_modes, F_BATCHED, M_NO_GRAD)

__all__: list[str] = []


cdef int before_change(tuple changed, tuple every, uint32_t flags, str op) except -1:
    cdef Tensor t
    cdef int level
    cdef bint recording = not (tls_modes() & M_NO_GRAD)
    for t in changed:
        if t is not None:
            check_inplace(t, op, recording and requires_grad(t))
    if not flags & F_BATCHED:
        return 0
    level = top_level(every)
    for t in changed:
        if t is not None and not is_batched(lowered(t, level), level):
            raise RuntimeError(
                f"vmap: {op} would change an argument that all examples share; batch it, or clone "
                "it inside of the vmap")
    return 0


cdef int after_change(tuple changed, str node) except -1:
    cdef Tensor t
    cdef bint recording = not (tls_modes() & M_NO_GRAD)
    for t in changed:
        if t is not None:
            bump_version(t)
            if recording and requires_grad(t):
                unknown_history(t, node)
    return 0
