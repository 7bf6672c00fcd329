# cython: language_level=3
"""Constant tensors outside of the graph, made where they are needed.

Equally spaced numbers are the one thing that neither a fill nor an elementwise operator makes, so
they are a slot of their own, "arange": `kernel(out, first, step)` writes ``first + i * step`` to
element i of a dense `out` of one dimension. Both numbers are Python ints, to be added up in int64,
or floats, in float64; what comes out is rounded once to out's dtype. A device without that kernel
gets a copy of what the CPU has filled.
"""
from libc.stdint cimport int64_t
from libc.string cimport memset
from autograd_cy._C.devices cimport add_slots, has_kernel
from autograd_cy._C.dtypes cimport DT_F64, DT_I64
from autograd_cy._C.iterate cimport copy_into, fill_with
from autograd_cy._C.launch cimport note_constant
from autograd_cy._C.storage cimport MAX_DEVICE_TYPES, ON_CPU, ON_META, device_type
from autograd_cy._C.tensor cimport Tensor, tensor_empty, tensor_empty_on, MAX_DIMS

cdef struct Kernels:
    int (*arange)(Tensor, object, object) except -1

cdef Kernels K[MAX_DEVICE_TYPES]
memset(K, 0, sizeof(K))


cdef int arange_on_cpu(Tensor out, object first, object step) except -1:
    cdef bint whole = isinstance(first, int) and isinstance(step, int)
    cdef int dt = DT_I64 if whole else DT_F64
    cdef Tensor t = out if out.dt == dt else tensor_empty(dt, 1, out.sizes)
    cdef Py_ssize_t i
    cdef int64_t start, by
    cdef double x, width
    if whole:
        start, by = first, step
        for i in range(t.count):
            (<int64_t*>t.ptr)[i] = start + i * by
    else:
        x, width = first, step
        for i in range(t.count):
            (<double*>t.ptr)[i] = x + i * width
    note_constant(t)
    return 0 if t is out else copy_into(out, t, "arange")

K[device_type(ON_CPU)].arange = arange_on_cpu
add_slots(<void**>K, ("arange",), ("int (Tensor, object, object)",))


cdef bint makes_ranges(int device) except -1:
    return has_kernel(device, "arange")


cdef int fill_range(Tensor out, object first, object step) except -1:
    cdef Tensor here
    cdef int device = out.mem.device
    if device == ON_META:
        return 0
    if makes_ranges(device):
        return K[device_type(device)].arange(out, first, step)
    here = tensor_empty(out.dt, 1, out.sizes)
    arange_on_cpu(here, first, step)
    return copy_into(out, here, "arange")


cdef Tensor counted(int device, Py_ssize_t n, Py_ssize_t step):
    cdef Tensor r = tensor_empty_on(device, DT_I64, 1, &n, NULL)
    fill_range(r, 0, step)
    return r


cdef Tensor filled(Tensor a, int dt, tuple size, object value):
    """A tensor of one value on a's device, outside of the graph."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int d
    cdef Tensor r
    for d in range(len(size)):
        shape[d] = size[d]
    r = tensor_empty_on(a.mem.device, dt, <int>len(size), shape, NULL)
    fill_with(r, value)
    return r
