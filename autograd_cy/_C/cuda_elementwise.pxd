# cython: language_level=3
"""Elementwise work on CUDA devices: operands are packed for the kernels of ext/codegen/cuda_elementwise.py."""
from autograd_cy._C.devices cimport Elementwise, stream_t

cdef int elementwise(Elementwise* work, int index, stream_t stream) except -1
cdef int has_elementwise(int kernel, int dt) noexcept
