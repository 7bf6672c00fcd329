# cython: language_level=3
"""Composites of the family joining: records in autograd_cy/ops/joining.py name them."""
from cpython.exc cimport PyErr_CheckSignals
from autograd_cy._C.dtypes cimport dt_is_integral, dt_scalar_name, DT_I64
from autograd_cy._C.tensor cimport (
    F_SLOW, M_NO_GRAD, Tensor, normal_dim, requires_grad, tls_modes)
include "operators_of_joining_composites.pxi"


cdef tuple pieces_of(Py_ssize_t n, Py_ssize_t step):
    """The sizes of pieces of `step` elements, and of the rest."""
    cdef Py_ssize_t rest = n % step
    return (step,) * (n // step) + ((rest,) if rest else ())


cdef tuple split(Tensor a, object size, Py_ssize_t dim):
    cdef Py_ssize_t n, step
    if a.nd == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if isinstance(size, int):
        step = size
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"split expects split_size be non-negative, but got "
                               f"split_size={step}")
        if n == 0:
            return T._split(a, (0,), dim)
        return T._split(a, pieces_of(n, step), dim)
    return T.split_with_sizes(a, tuple(size), dim)


cdef tuple chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim):
    cdef Py_ssize_t n
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if a.nd == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if n == 0:
        return T._split(a, (0,) * chunks, dim)
    return split(a, (n - 1) // chunks + 1, dim)


cdef tuple cat_backward(Tensor grad, object sizes, Py_ssize_t dim):
    cdef list out = []
    cdef Py_ssize_t at = 0, n
    if grad.nd == 1:
        dim = 0
    for size in sizes:
        n = size
        out.append(T.narrow(grad, dim, at, n))
        at += n
    return tuple(out)


cdef Tensor place_blocks(Tensor zeros, tuple blocks):
    """
    A matrix of zeros with blocks along its diagonal. They are copied there, or joined with the
    zeros beside them where a graph is recorded.
    """
    cdef Tensor block, band
    cdef Py_ssize_t row = 0, column = 0, behind
    cdef bint recorded = zeros.flags & F_SLOW != 0
    cdef list bands = [], pieces
    for block in blocks:
        recorded = recorded or block.flags & F_SLOW or (
            not tls_modes() & M_NO_GRAD and requires_grad(block))
    for block in blocks:
        band = T.narrow(zeros, 0, row, block.sizes[0])
        row += block.sizes[0]
        behind = column + block.sizes[1]
        if recorded:
            pieces = [T.narrow(band, 1, 0, column)] if column else []
            pieces.append(block)
            if behind < zeros.sizes[1]:
                pieces.append(T.narrow(band, 1, behind, zeros.sizes[1] - behind))
            bands.append(T.cat(tuple(pieces), 1) if len(pieces) > 1 else block)
        else:
            T.copy_(T.narrow(band, 1, column, block.sizes[1]), block)
        column = behind
    return T.cat(tuple(bands), 0) if recorded else zeros


cdef tuple unsafe_split(Tensor a, Py_ssize_t size, Py_ssize_t dim):
    cdef Py_ssize_t n
    if a.nd == 0:
        raise RuntimeError("unsafe_split expects at least a 1-dimensional tensor")
    n = a.sizes[normal_dim(dim, a.nd)]
    if size < 0 or (size == 0 and n):
        raise RuntimeError(f"unsafe_split expects split_size be non-negative, but got "
                           f"split_size={size}")
    return T._unsafe_split(a, pieces_of(n, size) if n else (0,), dim)


cdef tuple unsafe_chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim):
    cdef Py_ssize_t n
    if chunks <= 0:
        raise RuntimeError(f"unsafe_chunk expects `chunks` to be greater than 0, got: {chunks}")
    if a.nd == 0:
        raise RuntimeError("unsafe_chunk expects at least a 1-dimensional tensor")
    n = a.sizes[normal_dim(dim, a.nd)]
    if n == 0:
        return T._unsafe_split(a, (0,) * chunks, dim)
    return unsafe_split(a, (n - 1) // chunks + 1, dim)


cdef tuple tensor_split(Tensor a, object where, Py_ssize_t dim):
    """Pieces between given places, or of nearly equal size; each is a view of its own."""
    cdef Py_ssize_t n, k, i, at = 0, size
    cdef list out = []
    if a.nd == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim]
    if isinstance(where, Tensor):
        if (<Tensor>where).nd > 1 or not dt_is_integral((<Tensor>where).dt):
            raise RuntimeError(
                "tensor_split: expected tensor_indices_or_sections to be a zero-dimensional or "
                "one-dimensional tensor of integers")
        if (<Tensor>where).dt != DT_I64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{dt_scalar_name((<Tensor>where).dt)}")
        where = (<Tensor>where).tolist()
    if isinstance(where, int):
        k = where
        if k <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {k}")
        out = [None] * k        # more than there is memory for fails here, not after hours
        for i in range(k):
            size = n // k + (1 if i < n % k else 0)
            out[i] = T.slice(a, dim, at, at + size, 1)
            at += size
            PyErr_CheckSignals()
        return tuple(out)
    for end in (*where, n):
        out.append(T.slice(a, dim, at, end, 1))
        at = end
        PyErr_CheckSignals()
    return tuple(out)
