# cython: language_level=3
"""Making tensors from shapes and values, and the arguments that all such functions share.

The `plain` functions set no autograd metadata; `set_requires_grad` adds what the modes and
`requires_grad` ask.
"""
from autograd_cy._C.tensor cimport Tensor

# --- tensors --------------------------------------------------------------------------------
cdef Tensor zeros_plain(int dt, int ndim, const Py_ssize_t* shape)
cdef Tensor ones_plain(int dt, int ndim, const Py_ssize_t* shape)
cdef Tensor zeros_like_plain(Tensor t)               # keeps the order of dimensions
cdef Tensor ones_like_plain(Tensor t)
cdef Tensor full_like_plain(Tensor t, double value)
cdef Tensor eye_plain(int device, int dt, const Py_ssize_t* shape)
cdef Tensor from_data(object data, int dt)   # copies; dt -1: infer

# --- arguments ------------------------------------------------------------------------------
cdef int parse_size(tuple args, object size, Py_ssize_t* shape, str op) except -1  # returns ndim
cdef int parse_dtype(object dtype, int default) except? -1
# the code of the device
cdef int check_placement(object device, object layout, object pin_memory, str op) except -1
cdef int check_out(Tensor out, object dtype, object device, str op) except -1
cdef Tensor set_requires_grad(Tensor t, object requires_grad, str op)
cdef Tensor like(Tensor t, int dt, object memory_format)   # uninitialised
cdef object python_number(object x,
                          str op, str argument)      # Python number of a number or 0-d tensor
cdef int store_number(char* p, int dt, object value) except -1
# The device of what is made in the likeness of t, or ON_PINNED.
cdef int place_like(Tensor t, object device, object layout, object pin_memory, str op) except -1
cdef Tensor like_on(Tensor t, int dt, object memory_format, int device)
