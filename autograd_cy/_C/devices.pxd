# cython: language_level=3
"""What a device offers: services, and a kernel for each operator.

Operators check their arguments, choose dtypes, shapes and strides, and allocate the results for all
devices alike; then the device of the operands does the work. Two tables say how: the services
below, and one slot for each operator whose kernel is a call (see Kernels in the generated modules).
An empty slot is an error that names operator and device. The CPU's column is filled at import, that
of another device by `register` (devices.pyx). `meta` has sizes but no memory, and computes nothing.
"""
from autograd_cy._C.storage cimport MAX_DEVICES, ON_CPU, ON_META, StorageImpl, allocate_fn
from autograd_cy._C.tensor cimport Tensor

# An elementwise operation, with all decided: kernel number and dtype to compute in, and operands
# (the result first) as (storage, address of the first element, strides in bytes) over one shape.
cdef struct Elementwise:
    int kernel
    int dt
    int nargs
    int nd
    char* p[5]
    StorageImpl* mem[5]        # NULL: a number, at p on the host, of the dtype it is read as
    Py_ssize_t shape[64]
    Py_ssize_t strides[5][64]

cdef struct Services:
    allocate_fn allocate                            # memory, uninitialised; its owner frees it
    int (*elementwise)(Elementwise* work) except -1
    int (*copy)(Tensor to, Tensor source) except -1     # one dtype and shape; one may be on the CPU
    int (*cast)(Tensor to, Tensor source) except -1     # one shape, two dtypes, both on the device
    int (*fill)(Tensor to, const char* item) except -1  # one element of to's dtype, on the host
    int (*synchronize)() except -1

cdef Services services[8]

# The device that works on these tensors (some may be None): a 0-d tensor on the CPU goes with all.
cdef int device_among(tuple tensors, str op) except -1
# Refuse an argument elsewhere; for the shapes of meta it may be on the CPU.
cdef int check_place(Tensor t, int device, str op) except -1
cdef int check_capture(int device, str op) except -1   # an error while the thread captures
cdef int refuse_host(Tensor t, str what) except -1     # an error if there are no values to read
cdef object no_kernel(str op, int device)
cdef object no_host_kernel(str op, int device)
cdef int refuse_device(tuple tensors, str op) except -1   # always raises

# The slots of a generated module: table[device * len(keys) + position of the key].
cdef int add_slots(void** table, tuple keys, tuple signatures) except -1
