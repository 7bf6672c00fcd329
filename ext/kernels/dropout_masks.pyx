# cython: language_level=3
"""Random masks of zeros and ones, of the dtype and device of a tensor."""
from autograd_cy._C.random cimport fill_bernoulli
from autograd_cy._C.shapes cimport narrow_plain
from autograd_cy._C.tensor cimport Tensor, tensor_empty_like

__all__: list[str] = []


cdef Tensor elements(Tensor a, double keep):
    """One for each element."""
    cdef Tensor mask = tensor_empty_like(a, a.dt)
    fill_bernoulli(mask, keep, None)
    return mask


cdef Tensor channels(Tensor a, double keep):
    """One for each place in the first two dimensions."""
    cdef int d
    if a.nd < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    for d in range(2, a.nd):
        if a.sizes[d]:
            a = narrow_plain(a, d, 0, 1)
    return elements(a, keep)
