# cython: language_level=3
"""Composites of the family recurrent."""
from autograd_cy._C.tensor cimport Tensor

cdef Tensor rnn_tanh_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih,
                          Tensor b_hh)
cdef Tensor rnn_relu_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih,
                          Tensor b_hh)
cdef Tensor gru_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih,
                     Tensor b_hh)
cdef tuple lstm_cell(Tensor x, tuple hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh)
cdef tuple rnn_tanh(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
                    double dropout, bint train, bint bidirectional, bint batch_first)
cdef tuple rnn_tanh_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                         bint has_biases, Py_ssize_t num_layers, double dropout,
                         bint train, bint bidirectional)
cdef tuple rnn_relu(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
                    double dropout, bint train, bint bidirectional, bint batch_first)
cdef tuple rnn_relu_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                         bint has_biases, Py_ssize_t num_layers, double dropout,
                         bint train, bint bidirectional)
cdef tuple gru(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
               double dropout, bint train, bint bidirectional, bint batch_first)
cdef tuple gru_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                    bint has_biases, Py_ssize_t num_layers, double dropout,
                    bint train, bint bidirectional)
cdef tuple lstm(Tensor x, tuple hx, tuple params, bint has_biases, Py_ssize_t num_layers,
                double dropout, bint train, bint bidirectional, bint batch_first)
cdef tuple lstm_data(Tensor x, Tensor batch_sizes, tuple hx, tuple params,
                     bint has_biases, Py_ssize_t num_layers, double dropout,
                     bint train, bint bidirectional)
cdef tuple gradients(Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h, Tensor c,
                     Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor w_hr,
                     Tensor batch_sizes, Tensor out, Tensor gates, Py_ssize_t mode, object needed)
cdef Tensor no_tangent(Tensor a)
