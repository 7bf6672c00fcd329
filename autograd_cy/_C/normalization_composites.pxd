# cython: language_level=3
"""Composites of the family normalization."""
from autograd_cy._C.tensor cimport Tensor

cdef tuple layer_norm_backward(Tensor grad, Tensor input, tuple shape, Tensor mean, Tensor rstd,
                               Tensor weight, double eps, bint to_input, bint to_weight,
                               bint to_bias)
cdef tuple rms_norm_backward(Tensor grad, Tensor input, tuple shape, Tensor rstd, Tensor weight,
                             double eps, bint to_input, bint to_weight)
cdef tuple group_norm_backward(Tensor grad, Tensor input, Py_ssize_t groups, Tensor mean,
                               Tensor rstd, Tensor weight, double eps, bint to_input,
                               bint to_weight, bint to_bias)
cdef tuple batch_norm_backward(Tensor grad, Tensor input, Tensor weight, Tensor mean, Tensor rstd,
                               bint training, double eps, bint to_input, bint to_weight,
                               bint to_bias)
cdef Tensor rows_scaled(Tensor input, tuple shape, double eps, bint centred)
cdef Tensor rows_jvp(Tensor tangent, Tensor input, tuple shape, Tensor weight, double eps,
                     bint centred)
cdef Tensor groups_scaled(Tensor input, Py_ssize_t groups, double eps)
cdef Tensor groups_jvp(Tensor tangent, Tensor input, Py_ssize_t groups, Tensor weight, double eps)
cdef Tensor channels_scaled(Tensor input, Tensor mean, Tensor rstd, bint training, double eps)
cdef Tensor channels_jvp(Tensor tangent, Tensor input, Tensor weight, Tensor mean, Tensor rstd,
                         bint training, double eps)
cdef Tensor per_channel(Tensor values, Tensor input)
cdef tuple batched_groups(Tensor input, Py_ssize_t groups, Tensor weight, Tensor bias, double eps)
cdef Tensor batch_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                       Tensor running_var, bint training, double momentum, double eps,
                       bint cudnn_enabled)
cdef Tensor instance_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                          Tensor running_var, bint use_input_stats, double momentum, double eps,
                          bint cudnn_enabled)
cdef Tensor rms_norm(Tensor input, tuple shape, Tensor weight, object eps)
