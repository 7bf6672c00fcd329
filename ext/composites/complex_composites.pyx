# cython: language_level=3
"""Composites of the family complex: records in autograd_cy/ops/complex.py name them."""
from autograd_cy._C.dtypes cimport dt_is_complex, DT_SIZE
from autograd_cy._C.tensor cimport Tensor, lazy_bits, warn_once, F_BATCHED, F_CONJ, F_NEG
include "operators_of_complex_composites.pxi"


cdef Tensor dense_pairs(Tensor a):
    """Something whose pairs of real numbers can be read as complex ones."""
    cdef int d
    cdef bint fits = a.nd > 0 and not (a.flags & F_BATCHED) and a.strides[a.nd - 1] == 1
    if fits and (a.ptr - a.mem.data) % (2 * DT_SIZE[a.dt]) == 0:
        for d in range(a.nd - 1):
            if a.strides[d] % 2:
                break
        else:
            return a
    return T._contiguous(a, -1)


cdef Tensor resolve_conj(Tensor a):
    return T.clone(a, -1) if lazy_bits(a) & F_CONJ else a


cdef Tensor resolve_neg(Tensor a):
    return T.clone(a, -1) if lazy_bits(a) & F_NEG else a


cdef Tensor real_part(Tensor a):
    if not dt_is_complex(a.dt):
        return a
    if lazy_bits(a) & F_CONJ:
        a = T._conj(a)
    return T.select(T.view_as_real(a), -1, 0)


cdef Tensor imag_part(Tensor a):
    cdef bint conjugated = lazy_bits(a) & F_CONJ
    cdef Tensor parts = T.view_as_real(T._conj(a) if conjugated else a)
    return T.select(T._neg_view(parts) if conjugated else parts, -1, 1)


cdef Tensor adjoint(Tensor a):
    if a.nd == 0:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return T.conj(a)
    if a.nd == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D "
            "tensor.")
    return T.conj(T.transpose(a, -2, -1))
