# cython: language_level=3
"""Activations of plain tensors with numbers as parameters, or halves of a tensor as operands."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor elu(Tensor a, Tensor alpha, Tensor out)
cdef Tensor elu_backward(Tensor grad, Tensor a, Tensor alpha)
cdef Tensor celu(Tensor a, Tensor alpha, Tensor out)
cdef Tensor celu_backward(Tensor grad, Tensor a, Tensor alpha)
cdef Tensor leaky_relu(Tensor a, Tensor slope, Tensor out)
cdef Tensor leaky_relu_backward(Tensor grad, Tensor a, Tensor slope)
cdef Tensor rrelu_eval(Tensor a, Tensor lower, Tensor upper, Tensor out)
cdef Tensor rrelu_backward(Tensor grad, Tensor a, Tensor lower, Tensor upper)
cdef Tensor rrelu_noisy(Tensor a, Tensor noise, Tensor lower, Tensor upper, Tensor out)
cdef Tensor hardtanh(Tensor a, Tensor low, Tensor high, Tensor out)
cdef Tensor hardtanh_backward(Tensor grad, Tensor a, Tensor low, Tensor high)
cdef Tensor softshrink(Tensor a, Tensor end, Tensor out)
cdef Tensor shrink_backward(Tensor grad, Tensor a, Tensor end)
cdef Tensor softplus(Tensor a, Tensor beta, Tensor threshold, Tensor out)
cdef Tensor softplus_backward(Tensor grad, Tensor a, Tensor beta, Tensor threshold)
cdef Tensor glu(Tensor a, Py_ssize_t dim, Tensor out)
cdef Tensor glu_backward(Tensor grad, Tensor a, Py_ssize_t dim)
