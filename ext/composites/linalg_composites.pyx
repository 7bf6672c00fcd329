# cython: language_level=3
"""Composites of the family linalg: records in autograd_cy/ops/linalg.py name them."""
from autograd_cy._C.dtypes cimport dt_is_complex
from autograd_cy._C.tensor cimport Tensor, wrap_double, wrap_int
include "operators_of_linalg_composites.pxi"


cdef Tensor identity_like(Tensor a):
    """Identity matrices of the shape of `a`."""
    return T.diag_embed(T.ones_like(T.diagonal(a, 0, -2, -1)), 0, -2, -1)


cdef Tensor over_gaps(Tensor m, Tensor values):
    """
    m[i, j] / (values[j] - values[i]), and 0 on the diagonal and where both are 0: vectors of equal
    values that nothing uses change nothing.
    """
    cdef Tensor gaps = T.sub(T.unsqueeze(values, -2), T.unsqueeze(values, -1))
    cdef Tensor diagonal = T.ne(identity_like(gaps), wrap_int(0))
    return T._over(T.where(diagonal, wrap_int(0), m), T.where(diagonal, wrap_int(1), gaps))


cdef Tensor hermitian(Tensor m):
    """The Hermitian part: the matrix that a decomposition reads."""
    return T.mul(T.add(m, T.conj(T.transpose(m, -2, -1))), wrap_double(0.5))


cdef Tensor eigh_backward(Tensor grad_values, Tensor grad_vectors, Tensor values, Tensor vectors):
    """Gradient of the matrix; the gradients are None where there is none."""
    cdef Tensor back = T.conj(T.transpose(vectors, -2, -1))
    cdef Tensor m = None
    if grad_vectors is not None:
        m = T.matmul(back, grad_vectors)
        if dt_is_complex(m.dt):
            from autograd_cy._interpreted._linalg_composites import check_phases
            check_phases(T.diagonal(m, 0, -2, -1), m, "eigh")
        m = hermitian(over_gaps(m, values))
    if grad_values is not None:
        grad_values = T.diag_embed(grad_values, 0, -2, -1)
        m = grad_values if m is None else T.add(m, grad_values)
    if m.dt != vectors.dt:
        m = T._to_dtype(m, vectors.dt)
    return T.matmul(vectors, T.matmul(m, back))


cdef Tensor eigenvalues_jvp(Tensor tangent, Tensor vectors):
    tangent = T.matmul(T.conj(T.transpose(vectors, -2, -1)), T.matmul(hermitian(tangent), vectors))
    return T.real(T.diagonal(tangent, 0, -2, -1))


cdef Tensor eigenvectors_jvp(Tensor tangent, Tensor values, Tensor vectors):
    tangent = T.matmul(T.conj(T.transpose(vectors, -2, -1)), T.matmul(hermitian(tangent), vectors))
    return T.matmul(vectors, over_gaps(tangent, values))
