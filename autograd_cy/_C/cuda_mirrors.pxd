# cython: language_level=3
"""Operators that the host computes for a device: operands there, the CPU's kernel, results back.

The kernels of ext/codegen/cuda_host.py are made of it, one for each slot. It knows no CUDA: a
device of any type can have them.
"""
from libc.stdint cimport uint64_t
from autograd_cy._C.tensor cimport Tensor

cdef class Crossing:
    """One call of the CPU's kernel for operands of a device."""
    cdef void* kernel          # the CPU's
    cdef readonly tuple here   # the operands on the host
    cdef list mirrors
    # To be called when the kernel has returned: brings back what it wrote.
    cdef int end(self) except -1

# `operands` are a kernel's arguments that are objects, its results first; bit i of `written` says
# that it writes the i-th one, beside the results. `key` is that of the slot, `op` is the operator
# in messages.
cdef Crossing crossing(str key, str op, int results, uint64_t written, tuple operands)
