# cython: language_level=3
"""Random kernels of the operator table; the generator itself is in ext/core/random.pyx."""
from autograd_cy._C.iterate cimport ew2, fill_with
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.random cimport fill_bernoulli
from autograd_cy._C.tensor cimport Tensor, tensor_empty_like, wrap_double

cdef int K_MUL = kernel_number("mul")


cdef Tensor dropout_mask(Tensor a, double keep):
    cdef Tensor mask = tensor_empty_like(a, a.dt)
    if keep <= 0.0:
        fill_with(mask, 0)
        return mask
    fill_bernoulli(mask, keep, None)
    ew2(K_MUL, mask, wrap_double(1.0 / keep), 0, mask, "dropout")
    return mask
