# cython: language_level=3
"""Kernels: where their code is, PyCUDA's functions of it, and launches.

Each kernel takes one struct by value (ext/cuda/device/arguments.h), which is packed here in C and
handed to PyCUDA as bytes.
"""
from autograd_cy._C.devices cimport stream_t

# The number of a kernel, for `launch`. `image` is the file of its code without suffix, "ew_f32".
# Nothing is loaded: that is done on the device's first launch.
cdef int kernel_id(str image, str name) except -1

# Put a kernel on a stream, and return: the host waits with CUDA_LAUNCH_BLOCKING=1, and where the
# driver has no memory for the launch.
cdef int launch(int kernel, int index, stream_t stream,
                unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z,
                unsigned shared, const void* arguments, Py_ssize_t nbytes) except -1

# Blocks for `n` threads of a loop that takes strides of the whole grid: no more than the device can
# hold at once, at least 1.
cdef unsigned blocks_for(int index, Py_ssize_t n, unsigned block) noexcept
