# cython: language_level=3
"""A recurrent layer over all steps, in one direction: forward, and backward through time.

Operands are float32 or float64. `x` is (steps, batch, size), or rows packed by `batch_sizes`, or
one step (batch, size): then `out` is the only h. The shape rule says what the results are.
"""
from autograd_cy._C.tensor cimport Tensor

cdef int layer(
    Tensor out, Tensor hy, Tensor cy, Tensor gates, Tensor x, Tensor h, Tensor c, Tensor w_ih,
    Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor w_hr, Tensor batch_sizes,
    Py_ssize_t mode) except -1

cdef int layer_backward(
    Tensor g_x, Tensor g_h, Tensor g_c, Tensor g_ih, Tensor g_hh, Tensor g_bi, Tensor g_bh,
    Tensor g_hr, Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h, Tensor c, Tensor w_ih,
    Tensor w_hh, Tensor w_hr, Tensor batch_sizes, Tensor out, Tensor gates, Py_ssize_t mode,
    Py_ssize_t wanted) except -1
