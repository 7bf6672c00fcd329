# cython: language_level=3
"""Shape rules of recurrent layers, whose operands have been checked."""
from autograd_cy._C.outputs cimport Result
from autograd_cy._C.tensor cimport Tensor

cdef enum:
    R_TANH = 0
    R_RELU = 1
    R_LSTM = 2
    R_GRU = 3
    R_REVERSE = 8        # is added for the direction from the last step to the first

# Bits of `wanted`: which gradients are.
cdef enum:
    OF_X = 1
    OF_H = 2
    OF_C = 4
    OF_IH = 8
    OF_HH = 16
    OF_BI = 32
    OF_BH = 64
    OF_HR = 128

cdef inline int gates_of(Py_ssize_t mode) noexcept nogil:
    mode &= ~<Py_ssize_t>R_REVERSE
    return 4 if mode == R_LSTM else (3 if mode == R_GRU else 1)

cdef inline Py_ssize_t workspace_columns(Py_ssize_t mode, Py_ssize_t n) noexcept nogil:
    """Elements of a row that are kept for backward: gates and cell, gates and the state's part."""
    mode &= ~<Py_ssize_t>R_REVERSE
    return 5 * n if mode == R_LSTM else (4 * n if mode == R_GRU else 0)

cdef int layer(Result* r, Tensor x, Tensor h, Tensor c, Tensor w_hh, Tensor batch_sizes,
               Py_ssize_t mode, str op) except -1
cdef int layer_backward(Result* r, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh,
                        Tensor w_hr, Py_ssize_t wanted, str op) except -1
