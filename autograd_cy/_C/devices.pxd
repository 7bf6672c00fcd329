# cython: language_level=3
"""The interface of a device: services, and a kernel for each operator.

Operators check their arguments, choose dtypes, shapes and strides, and allocate the results for all
devices alike; then the device of the operands does the work. Two tables say how: the services
below, and one slot for each operator whose kernel is a call (see Kernels in the generated modules).
Both have a column for each type of device; which device of its type is meant, kernels learn from
their operands (`out.mem.device`), and services from an index. An empty slot is an error that names
operator and device. The CPU's column is filled at import, that of another type by `register`
(devices.pyx). `meta` has sizes but no memory, and computes nothing.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.storage cimport (
    MAX_DEVICE_TYPES, ON_CPU, ON_META, ServiceBlock, StorageImpl, device_index, device_type)
from autograd_cy._C.tensor cimport Tensor

# An elementwise operation, with all decided: kernel number and dtype to compute in, and operands
# (the result first) as (storage, address of the first element, strides in bytes) over one shape.
# A number beside halves is a float32 where the kernel is to take it unrounded.
cdef struct Elementwise:
    int kernel
    int dt
    int nargs
    int nd
    char* p[5]
    StorageImpl* mem[5]        # NULL: a number, at p on the host
    Py_ssize_t shape[64]
    Py_ssize_t strides[5][64]
    int dts[5]                 # dtype of each operand: `dt`, a bool, the real type of a complex one

ctypedef void* stream_t        # of the device's making; NULL is its default stream

cdef enum:  # Services.traits
    LAYS_CHANNELS_LAST = 1     # kernels of `any_format` records fill results in channels last

# Work is put on a stream and runs in the order of the stream. `index` is the number of the device
# among those of its type. All are called with the GIL held, from any thread. What one raises comes
# out of the operation that called it. Structs, tensors as objects and memory of the host are gone
# when a service has returned; memory of the device stays for what was put on its stream.
# docs/devices.md has a whole device to copy.
cdef struct Services:
    Py_ssize_t size            # sizeof(Services): another one is a backend of another version
    uint32_t traits
    int (*count)() except -1   # how many devices of this type there are now, at most 64
    # Memory, uninitialised: its first byte and what release() gets. It may be used again by work
    # that is put on the same stream after release().
    int (*allocate)(int index, Py_ssize_t nbytes, stream_t stream, char** data,
                    void** block) except -1
    void (*release)(int index, void* block, stream_t stream) noexcept
    int (*elementwise)(Elementwise* work, int index, stream_t stream) except -1
    # One dtype and shape; one of both may be on the CPU, both may be on two devices of this type.
    # What goes to the CPU has arrived on return, and what comes from there was read, unless
    # `non_blocking` and that memory is pinned (STORAGE_PINNED): then it stays as it is until the
    # stream has come so far.
    int (*copy)(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1
    int (*cast)(Tensor to, Tensor source, stream_t stream) except -1     # one shape, two dtypes
    int (*fill)(Tensor to, const char* item, stream_t stream) except -1  # one element, of its dtype
    int (*stream_new)(int index, int priority, stream_t* stream) except -1
    void (*stream_free)(int index, stream_t stream) noexcept      # what was put on it still runs
    int (*query)(int index, stream_t stream) except -1            # 1: nothing is waiting, else 0
    int (*synchronize)(int index, stream_t stream) except -1      # raises what work there raised
    int (*synchronize_all)(int index) except -1
    int (*event_record)(int index, stream_t stream, bint timing,
                        void** event) except -1                   # makes one if *event is NULL
    int (*event_wait)(int index, stream_t stream, void* event) except -1   # later work waits
    int (*event_query)(int index, void* event) except -1          # 1: it was reached, else 0
    int (*event_synchronize)(int index, void* event) except -1
    void (*event_free)(int index, void* event) noexcept
    # The rest may be NULL.
    int (*event_elapsed)(int index, void* start, void* end, double* milliseconds) except -1
    int (*pin)(Py_ssize_t nbytes, char** data, void** block) except -1     # memory of the host
    void (*unpin)(void* block) noexcept
    int (*has_elementwise)(int kernel, int dt) noexcept     # NULL: all that the CPU has

cdef Services services[MAX_DEVICE_TYPES]      # by type

cdef inline bint lays_channels_last(int device) noexcept nogil:
    """Tell whether kernels of `any_format` records fill results in channels last."""
    return services[device_type(device)].traits & LAYS_CHANNELS_LAST != 0

# The stream that the calling thread puts work of a device on.
cdef stream_t current_stream(int device) noexcept nogil
cdef PyObject* current_stream_owner(int device) noexcept     # borrowed Stream, or NULL
# `owner` is the Stream that keeps it, or None for the default stream.
cdef int set_current_stream(int device, stream_t stream, object owner) except -1

# Services with the current stream of the device, as the core calls them.
cdef int device_copy(Tensor to, Tensor source, bint non_blocking) except -1
cdef inline int device_cast(Tensor to, Tensor source) except -1:
    cdef int device = to.mem.device
    return services[device_type(device)].cast(to, source, current_stream(device))
cdef inline int device_fill(Tensor to, const char* item) except -1:
    cdef int device = to.mem.device
    return services[device_type(device)].fill(to, item, current_stream(device))
cdef inline int device_elementwise(Elementwise* work, int device) except -1:
    return services[device_type(device)].elementwise(work, device_index(device),
                                                     current_stream(device))

# To be called before the host reads what a device has written: it waits for the current stream, so
# that errors of what ran there are raised here.
cdef int read_by_host(int device) except -1
cdef int note_use(ServiceBlock* b, int device, stream_t stream, PyObject* owner) except -1

cdef int pinning_type() noexcept       # whose service pins memory (see ON_PINNED), 0: nobody's

# The device that works on these tensors (some may be None): a 0-d tensor on the CPU goes with all.
cdef int device_among(tuple tensors, str op) except -1
# Whether a device has a kernel of its own for an operator, so that one made of several is not
# needed: the slot is filled, and not by what goes by way of the host. The CPU has all; for meta
# the rule of the shape is enough.
cdef bint has_kernel(int device, str key) except -1
# Refuse an argument elsewhere; for the shapes of meta it may be on the CPU.
cdef int check_place(Tensor t, int device, str op) except -1
cdef int check_capture(int device, str op) except -1   # an error while the thread captures
cdef int refuse_host(Tensor t, str what) except -1     # an error if there are no values to read
cdef object no_kernel(str op, int device)
cdef object no_host_kernel(str op, int device)
cdef int refuse_device(tuple tensors, str op) except -1   # always raises

# The slots of a generated module: table[type of device * len(keys) + position of the key].
cdef int add_slots(void** table, tuple keys, tuple signatures) except -1
# What is in a slot, for a backend that goes on to the kernel of another device. NULL: it is empty,
# or the operator was not loaded yet.
cdef void* kernel_of(int device, str key) except? NULL
