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
    MAX_DIMS, Tensor, mark_raw, reading, tensor_empty_on, tensor_on)

import numpy as np

__all__ = [
    "address", "from_interface", "let_default_wait", "let_wait", "number_of_stream", "run_kernel",
    "wait_for"]

cdef enum:
    DEFAULT_STREAM = 1         # how the protocols call the legacy default stream, handle 0
    POINTER_CONTEXT = 1        # CU_POINTER_ATTRIBUTE_CONTEXT
    POINTER_DEVICE = 9         # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


cdef int code_of(int index) noexcept:
    return DEVICES_OF_TYPE * type_of_name("cuda") + index


cdef handle_t handle_of_number(size_t number) noexcept:
    return NULL if number == DEFAULT_STREAM else <handle_t>number


# --- streams --------------------------------------------------------------------------------

def number_of_stream(int index):
    """The current stream of a device as the protocols call it."""
    cdef handle_t ours = handle_of(current_stream(code_of(index)))
    return DEFAULT_STREAM if ours == NULL else <size_t>ours


def let_wait(int code, size_t number):
    """Let what is put on another's stream later wait for what the current one has now."""
    cdef handle_t ours = handle_of(current_stream(code)), theirs = handle_of_number(number)
    if ours != theirs:
        order(device_index(code), ours, theirs)


def let_default_wait(int index):
    """Let the default stream of a device wait for the current one."""
    let_wait(code_of(index), DEFAULT_STREAM)


def wait_for(int code, size_t number):
    """Let what is put on the current stream later wait for what another's stream has now."""
    cdef handle_t ours = handle_of(current_stream(code)), theirs = handle_of_number(number)
    if ours != theirs:
        order(device_index(code), theirs, ours)


# --- the CUDA array interface ---------------------------------------------------------------

cdef class Borrowed:
    """
    What keeps memory of others alive.

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


cdef int index_of_memory(address_t address) except -1:
    """The device that has this memory; a ValueError if none has."""
    cdef int index = -1
    cdef handle_t context = NULL
    enter(device_index(current_code(type_of_name("cuda"))))
    if driver.pointer_attribute(&index, POINTER_DEVICE, address) != 0 or index < 0:
        raise ValueError(
            f"as_tensor: {address:#x}, where __cuda_array_interface__ says that the data is, is no "
            "memory of a CUDA device")
    enter(index)
    # Memory of a pool belongs to no context.
    if driver.pointer_attribute(&context, POINTER_CONTEXT, address) == 0 and (
            context != NULL and context != context_of(index)):
        raise RuntimeError(
            "as_tensor: the data belongs to another context of the device than the primary one. "
            "Make it in that one: import pycuda.autoprimaryctx in place of pycuda.autoinit.")
    return index


cdef int geometry(dict shown, int item, Py_ssize_t* shape, Py_ssize_t* strides,
                  Py_ssize_t* extent) except -1:
    """Sizes, strides and how many elements the memory reaches over; gives the dimensions."""
    cdef tuple sizes = tuple(shown["shape"])
    cdef object steps = shown.get("strides")
    cdef int i, n = <int>len(sizes)
    cdef Py_ssize_t step, dense = 1
    if n > MAX_DIMS:
        raise ValueError(f"as_tensor: a tensor has at most {MAX_DIMS} dimensions, not {n}")
    extent[0] = 1
    for i in range(n):
        shape[i] = sizes[i]
        if shape[i] < 0:
            raise ValueError(f"as_tensor: negative size {shape[i]}")
        if shape[i] == 0:
            extent[0] = 0
    for i in range(n - 1, -1, -1):
        strides[i] = dense
        dense *= max(shape[i], <Py_ssize_t>1)
        if steps is None or shape[i] == 1:
            continue
        step = steps[i]
        if step < 0 or step % item:
            raise ValueError(
                f"as_tensor: strides {tuple(steps)} of elements of {item} bytes; tensors have none "
                "that are negative or no multiples. Copy the array first.")
        strides[i] = step // item
    if extent[0]:
        for i in range(n):
            extent[0] += (shape[i] - 1) * strides[i]
    return n


def from_interface(source):
    """A tensor on the memory that an object shows by ``__cuda_array_interface__``."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t extent = 0
    cdef dict shown = dict(source.__cuda_array_interface__)
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
    index = index_of_memory(address)
    stream = shown.get("stream")
    if stream is not None:
        if stream == 0:
            raise ValueError("as_tensor: stream 0 of __cuda_array_interface__ is ambiguous, and "
                             "forbidden: 1 is the default stream, 2 that of each thread")
        wait_for(code_of(index), stream)
    owner = Borrowed.__new__(Borrowed)
    owner.source = source
    owner.index = index
    owner.ours = handle_of(current_stream(code_of(index)))
    s = storage_borrow(<char*>address, extent * DT_SIZE[dt], owner, bool(readonly))
    s.device = <uint16_t>code_of(index)
    try:
        return mark_raw(tensor_on(s, <char*>address, dt, n, shape, strides))
    finally:
        storage_decref(s)


# --- kernels that others compiled -------------------------------------------------------------

def address(Tensor t not None):
    """Where the first element is, for a kernel that was compiled elsewhere."""
    reading(t, "cuda.kernel")
    return <size_t>t.ptr


def run_kernel(function, str name, int index, tuple grid, tuple block, bytes arguments, int shared):
    """Launch one of PyCUDA's Functions on the current stream of a device."""
    cdef stream_t stream = current_stream(code_of(index))
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
