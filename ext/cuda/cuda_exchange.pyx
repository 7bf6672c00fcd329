# cython: language_level=3
"""Memory of CUDA devices in and out without a copy, and kernels that others compiled.

Whoever uses memory on a stream of its own has to wait for the stream that wrote it. Here streams
of others, by their handles, wait for ours and ours for theirs; the host never waits. The protocols
themselves are in ext/core/exchange, but for the CUDA array interface of others.
"""
from libc.stdint cimport uint16_t
from autograd_cy._C.cuda_driver cimport (
    address_t, blocking_launches, context_of, driver, enter, handle_t, translated)
from autograd_cy._C.cuda_streams cimport (
    CudaStream, begin_side, end_side, handle_of, order, wait_for as wait_for_stream)
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_SIZE, dt_from_numpy
from autograd_cy._C.launch cimport no_launch
from autograd_cy._C.placement cimport current_code, type_of_name
from autograd_cy._C.storage cimport (
    DEVICES_OF_TYPE, StorageImpl, device_index, storage_borrow, storage_decref)
from autograd_cy._C.tensor cimport (
    MAX_DIMS, Tensor, mark_raw, reading, refuse_examples, tensor_empty_on, tensor_on)

from operator import index as index_number

import numpy as np

__all__ = [
    "address", "from_interface", "let_default_wait", "let_wait", "number_of_stream",
    "refuse_other_memory", "run_kernel", "wait_for"]

cdef enum:
    DEFAULT_STREAM = 1         # how the protocols call the legacy default stream, handle 0
    POINTER_CONTEXT = 1        # CU_POINTER_ATTRIBUTE_CONTEXT
    POINTER_DEVICE = 9         # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

cdef object MAX_BYTES = (1 << 63) - 1


cdef int cuda_code(int index) noexcept:
    return DEVICES_OF_TYPE * type_of_name("cuda") + index


cdef handle_t handle_of_number(size_t number) noexcept:
    return NULL if number == DEFAULT_STREAM else <handle_t>number


# --- streams --------------------------------------------------------------------------------

def number_of_stream(int index):
    """The current stream of a device as the protocols call it."""
    cdef handle_t ours = handle_of(current_stream(cuda_code(index)))
    return DEFAULT_STREAM if ours == NULL else <size_t>ours


def let_wait(int code, size_t number):
    """Let what is put on another's stream later wait for what the current one has now."""
    cdef handle_t ours = handle_of(current_stream(code)), theirs = handle_of_number(number)
    if ours != theirs:
        order(device_index(code), ours, theirs)


def let_default_wait(int index):
    """Let the default stream of a device wait for the current one."""
    let_wait(cuda_code(index), DEFAULT_STREAM)


def wait_for(int code, size_t number):
    """Let what is put on the current stream later wait for what another's stream has now."""
    cdef handle_t ours = handle_of(current_stream(code)), theirs = handle_of_number(number)
    if ours != theirs:
        order(device_index(code), theirs, ours)


# --- the CUDA array interface ---------------------------------------------------------------

cdef class Borrowed:
    """
    An owner that keeps memory of another library alive.

    When it goes, the default stream, on which its owner may give the memory out again, waits for
    the stream that was current when it came.
    """
    cdef readonly object source
    cdef handle_t ours
    cdef int index

    def __dealloc__(self):
        if self.ours != NULL:
            try:
                order(self.index, self.ours, NULL)
            except Exception:       # of a device that is lost: nothing runs there
                pass


cdef int index_of_memory(address_t address) except -2:
    """The device that has this memory, -1 if none has."""
    cdef int index = -1
    enter(device_index(current_code(type_of_name("cuda"))))
    return index if driver.pointer_attribute(&index, POINTER_DEVICE, address) == 0 else -1


cdef int has_memory(int index, address_t address, Py_ssize_t nbytes) except -1:
    """Return whether all of it seems to be of one device."""
    # Memory that is mapped in pieces tells no size, so its two ends are looked at.
    return (index >= 0 and address + <size_t>nbytes > address
            and index_of_memory(address + <size_t>nbytes - 1) == index)


cdef int device_of_memory(address_t address, Py_ssize_t nbytes) except -1:
    """The device that has what an interface shows; an error if none has, or not rightly."""
    cdef int index = index_of_memory(address)
    cdef handle_t context = NULL
    if not has_memory(index, address, nbytes):
        raise ValueError(
            f"as_tensor: {nbytes} bytes at {address:#x}, where __cuda_array_interface__ says that "
            "the data is, are no memory of a CUDA device")
    enter(index)
    # Memory of a pool belongs to no context.
    if driver.pointer_attribute(&context, POINTER_CONTEXT, address) == 0 and (
            context != NULL and context != context_of(index)):
        raise RuntimeError(
            "as_tensor: the data belongs to another context of the device than the primary one. "
            "Make it in that one: import pycuda.autoprimaryctx in place of pycuda.autoinit.")
    return index


def refuse_other_memory(str op, size_t address, Py_ssize_t nbytes, int index):
    """An error for memory that isn't the device's whose it is said to be."""
    cdef int owner = index_of_memory(address)
    if owner != index or not has_memory(owner, address, nbytes):
        there = "no CUDA device" if owner < 0 else f"'cuda:{owner}'"
        raise BufferError(
            f"{op}: {nbytes} bytes at {address:#x} are said to be on 'cuda:{index}', and the "
            f"memory is of {there}, or ends before that; whoever made the capsule is wrong")


cdef dict shown_by(source):
    """Return the checked ``__cuda_array_interface__`` of an object."""
    shown = source.__cuda_array_interface__
    if not isinstance(shown, dict):
        raise TypeError("as_tensor: `__cuda_array_interface__` must be a dict, not "
                        f"{type(shown).__name__}")
    for name in ("shape", "typestr", "data"):
        if name not in shown:
            raise TypeError(f"as_tensor: attribute `{name}` must exist in __cuda_array_interface__")
    shown = dict(shown)
    try:
        shown["shape"] = tuple(map(index_number, shown["shape"]))
    except TypeError:
        raise TypeError("as_tensor: `shape` of __cuda_array_interface__ must be a tuple of int, "
                        f"not {shown['shape']!r}") from None
    if not isinstance(shown["typestr"], str):
        raise TypeError("as_tensor: `typestr` of __cuda_array_interface__ must be a str, not "
                        f"{type(shown['typestr']).__name__}")
    data = shown["data"]
    if not (isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], int)):
        raise TypeError("as_tensor: `data` of __cuda_array_interface__ must be a 2-tuple of "
                        f"(int, bool), not {data!r}")
    if not 0 <= data[0] < 1 << 64:
        raise ValueError(f"as_tensor: {data[0]} is no address")
    steps = shown.get("strides")
    if steps is not None:
        try:
            shown["strides"] = steps = tuple(map(index_number, steps))
        except TypeError:
            raise TypeError("as_tensor: `strides` of __cuda_array_interface__ must be a tuple of "
                            f"int, not {steps!r}") from None
        if len(steps) != len(shown["shape"]):
            raise TypeError(
                "as_tensor: `strides` must be a sequence of the same length as `shape`, and "
                f"__cuda_array_interface__ has {steps} for {shown['shape']}")
    stream = shown.get("stream")
    if stream is not None:
        if not isinstance(stream, int):
            raise TypeError("as_tensor: `stream` of __cuda_array_interface__ must be an int or "
                            f"None, not {type(stream).__name__}")
        if stream == 0:
            raise ValueError("as_tensor: stream 0 of __cuda_array_interface__ is ambiguous, and "
                             "forbidden: 1 is the default stream, 2 that of each thread")
        if not 0 < stream < 1 << 64:
            raise ValueError(f"as_tensor: {stream} is no stream: 1 is the default stream, 2 that "
                             "of each thread, others are addresses")
    return shown


cdef int geometry(dict shown, int item, Py_ssize_t* shape, Py_ssize_t* strides,
                  Py_ssize_t* extent) except -1:
    """Sizes, strides and how many elements the memory reaches over; gives the dimensions."""
    cdef tuple sizes = shown["shape"]
    cdef tuple steps = shown.get("strides")
    cdef object reach = 1, dense = 1      # Python's numbers, which don't overflow
    cdef int i, n = <int>len(sizes)
    if n > MAX_DIMS:
        raise ValueError(f"as_tensor: a tensor has at most {MAX_DIMS} dimensions, not {n}")
    if sizes and min(sizes) < 0:
        raise ValueError(f"as_tensor: negative size {min(sizes)}")
    for i in range(n - 1, -1, -1):
        step = dense
        if steps is not None and sizes[i] != 1:
            step, rest = divmod(steps[i], item)
            if step < 0 or rest:
                raise ValueError(
                    f"as_tensor: strides {steps} of elements of {item} bytes; tensors have none "
                    "that are negative or no multiples. Copy the array first.")
        dense *= max(sizes[i], 1)
        reach += (sizes[i] - 1) * step
        if max(step, sizes[i], dense * item, reach * item) > MAX_BYTES:
            raise ValueError(
                f"as_tensor: no memory has elements of shape {sizes} and strides {steps}, as "
                "__cuda_array_interface__ says")
        shape[i] = sizes[i]
        strides[i] = step
    extent[0] = 0 if 0 in sizes else reach
    return n


def from_interface(source):
    """A tensor on the memory that an object shows by ``__cuda_array_interface__``."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t extent = 0
    cdef dict shown = shown_by(source)
    cdef Borrowed owner
    cdef StorageImpl* s
    cdef address_t address
    cdef int dt, n, index
    if shown.get("mask") is not None:
        raise ValueError("as_tensor: __cuda_array_interface__ shows a mask, which tensors don't "
                         "have. Fill what is masked first.")
    descr = np.dtype(shown["typestr"])
    if not descr.isnative:
        raise ValueError(f"as_tensor: the bytes of {descr.str} are not in the native order")
    dt = dt_from_numpy(descr)
    n = geometry(shown, <int>DT_SIZE[dt], shape, strides, &extent)
    data, readonly = shown["data"]
    if extent == 0:
        return tensor_empty_on(current_code(type_of_name("cuda")), dt, n, shape, NULL)
    address = data
    if address % <size_t>min(DT_SIZE[dt], <Py_ssize_t>8):
        raise ValueError("as_tensor: the elements do not lie on multiples of their size")
    index = device_of_memory(address, extent * DT_SIZE[dt])
    stream = shown.get("stream")
    if stream is not None:
        wait_for(cuda_code(index), stream)
    owner = Borrowed.__new__(Borrowed)
    owner.source = source
    owner.index = index
    owner.ours = handle_of(current_stream(cuda_code(index)))
    s = storage_borrow(<char*>address, extent * DT_SIZE[dt], owner, bool(readonly))
    s.device = <uint16_t>cuda_code(index)
    try:
        return mark_raw(tensor_on(s, <char*>address, dt, n, shape, strides))
    finally:
        storage_decref(s)


# --- kernels that others compiled -------------------------------------------------------------

def address(Tensor t not None):
    """Return the address of the first element, for a kernel that was compiled elsewhere."""
    reading(t, "cuda.kernel")
    refuse_examples(t, "cuda.kernel")
    return <size_t>t.ptr


def run_kernel(function, str name, int index, tuple grid, tuple block, bytes arguments, int shared):
    """Launch one of PyCUDA's Functions on the current stream of a device."""
    cdef stream_t stream = current_stream(cuda_code(index))
    cdef CudaStream* ours = <CudaStream*>stream
    cdef CudaStream* launcher = ours
    no_launch("cuda.kernel", "what it does would not be done again")
    enter(index)
    if ours != NULL and ours.external:
        launcher = begin_side(index, ours)
    try:
        function._launch_kernel(grid, block, arguments, shared,
                                None if launcher == NULL else <object>launcher.launcher)
    except Exception as error:
        raise translated(error, f"launching {name!r}", index) from error
    if launcher != ours:
        end_side(index, ours)
    if blocking_launches():
        wait_for_stream(index, stream)
