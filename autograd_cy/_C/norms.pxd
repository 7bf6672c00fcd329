# cython: language_level=3
# Normalisation of plain tensors: no autograd metadata is read or set.
#
# The kernels fill results that a shape rule (rules_normalization) has sized. Statistics, and
# weights of half inputs, may be float32. Gradients that aren't wanted are results without elements.

from autograd_cy._C.tensor cimport Tensor

cdef int layer_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, tuple shape,
                    Tensor weight, Tensor bias, double eps) except -1
cdef int layer_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, tuple shape, Tensor mean, Tensor spread,
                             Tensor weight) except -1
cdef int rms_norm(Tensor result, Tensor spread, Tensor input, tuple shape, Tensor weight,
                  double eps) except -1
cdef int rms_norm_backward(Tensor to_input, Tensor to_weight, Tensor grad, Tensor input,
                           tuple shape, Tensor spread, Tensor weight) except -1
cdef int group_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Py_ssize_t groups,
                    Tensor weight, Tensor bias, double eps) except -1
cdef int group_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Py_ssize_t groups, Tensor mean, Tensor spread,
                             Tensor weight) except -1
cdef int batch_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, Tensor weight,
                    Tensor bias, Tensor running_mean, Tensor running_var, bint training,
                    double momentum, double eps) except -1
cdef int batch_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, Tensor weight, Tensor mean, Tensor spread,
                             bint training) except -1
