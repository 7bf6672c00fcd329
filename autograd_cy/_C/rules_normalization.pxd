# cython: language_level=3
"""Shape rules of normalisation."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

# The place of the channels, the second dimension, in memory.
cdef enum:
    CHANNELS_APART = 0      # C order
    CHANNELS_TOGETHER = 1   # dense, the channels of a position side by side
    CHANNELS_ANYHOW = 2

cdef int layout_of(Tensor t) noexcept

cdef int layer_norm(Result* r, Tensor input, tuple shape, Tensor weight, Tensor bias,
                    str op) except -1
cdef int rms_norm(Result* r, Tensor input, tuple shape, Tensor weight, str op) except -1
cdef int group_norm(Result* r, Tensor input, Py_ssize_t groups, Tensor weight, Tensor bias,
                    str op) except -1
cdef int batch_norm(Result* r, Tensor input, Tensor weight, Tensor bias, Tensor running_mean,
                    Tensor running_var, bint training, str op) except -1

# Gradients of input, weight and bias; those that aren't wanted have no elements.
cdef int of_rows(Result* r, Tensor input, tuple shape, Tensor weight, bint to_input,
                 bint to_weight, bint to_bias, str op) except -1
cdef int of_rows_without_bias(Result* r, Tensor input, tuple shape, Tensor weight, bint to_input,
                              bint to_weight, str op) except -1
cdef int of_channels(Result* r, Tensor input, Tensor weight, bint to_input, bint to_weight,
                     bint to_bias, str op) except -1
