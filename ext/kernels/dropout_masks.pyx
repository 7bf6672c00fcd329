# cython: language_level=3
"""Random masks of zeros and ones, of the dtype and device of a tensor."""
from autograd_cy._C.iterate cimport ew2, fill_with
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.random cimport fill_bernoulli
from autograd_cy._C.shapes cimport narrow_plain
from autograd_cy._C.tensor cimport Tensor, tensor_empty_like, wrap_double

__all__: list[str] = []

cdef int K_MUL = kernel_number("mul")


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


cdef Tensor scaled(Tensor a, double keep):
    """One for each element, divided by the chance to keep one."""
    cdef Tensor mask = tensor_empty_like(a, a.dt)
    if keep <= 0.0:
        fill_with(mask, 0)
        return mask
    fill_bernoulli(mask, keep, None)
    ew2(K_MUL, mask, wrap_double(1.0 / keep), 0, mask, "dropout")
    return mask
