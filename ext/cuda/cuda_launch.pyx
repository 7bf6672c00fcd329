# cython: language_level=3
# build: plain hot
"""Kernels: where their code is, PyCUDA's functions of it, and launches.

A kernel has a number from the moment that somebody names it. The image that has its code, a fatbin,
is loaded into a device by its first launch there, and stays.
"""
import os

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_REFCNT, PyObject
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from autograd_cy._C.cuda_driver cimport (
    MAX_INDEX, OUT_OF_MEMORY, blocking_launches, driver, enter, error_of, in_context,
    pycuda_driver, driver_result, result_t, threads_at_once, translated)
from autograd_cy._C.cuda_memory cimport free_memory
from autograd_cy._C.cuda_streams cimport (
    CudaStream, begin_side, end_side, handle_of, raise_fault)
from autograd_cy._C.cuda_timing cimport begin_timing, end_timing, timing
from autograd_cy._C.storage import OutOfMemoryError

cdef extern from "Python.h":
    object PyObject_Call(object function, object args, PyObject* keywords)
    PyObject* call_or_null "PyObject_Call"(object function, PyObject* args,
                                           PyObject* keywords) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject* t, Py_ssize_t i) noexcept
    void PyTuple_SET_ITEM(PyObject* t, Py_ssize_t i, PyObject* item) noexcept     # takes it

cdef enum:
    MOST_ARGUMENTS = 512     # bytes for which what PyCUDA takes is kept, by words
    INVALID_VALUE = 1
    INVALID_IMAGE = 200
    NO_BINARY = 209
    INVALID_PTX = 218
    UNSUPPORTED_PTX = 222
    NOT_FOUND = 500

cdef list _names = []                # (image, name) by number
cdef dict _numbers = {}
cdef PyObject** _bound[MAX_INDEX]    # PyCUDA's Function of each kernel (owned), by device
cdef int[MAX_INDEX] _capacity
cdef dict _modules = {}              # (index, image) -> PyCUDA's Module
cdef dict _images = {}               # image -> its path, or None
cdef object _launch = None           # PyCUDA's Function._launch_kernel
cdef PyObject* _ones[1025]           # (n,) for sizes of one dimension
cdef PyObject* _cached[65]      # seegument_tuple`; owned, NULL: none, or in use

memset(_bound, 0, sizeof(_bound))
memset(_capacity, 0, sizeof(_capacity))
memset(_ones, 0, sizeof(_ones))
memset(_cached, 0, sizeof(_cached))


def folder():
    """The folder that images are looked for in."""
    return os.environ.get("AUTOGRAD_CY_CUDA_KERNELS") or os.path.join(
        os.path.dirname(os.path.dirname(__file__)), "_cuda")


def images():
    """Names of the images that this build has."""
    try:
        files = os.listdir(folder())
    except OSError:
        return []
    return sorted([name.removesuffix(".fatbin") for name in files if name.endswith(".fatbin")])


cdef str path_of(str image):
    if image not in _images:
        path = os.path.join(folder(), image + ".fatbin")
        _images[image] = path if os.path.exists(path) else None
    return _images[image]


cdef int kernel_id(str image, str name) except -1:
    number = _numbers.get((image, name))
    if number is None:
        number = len(_names)
        _names.append((image, name))
        _numbers[image, name] = number
    return number


# --- code -----------------------------------------------------------------------------------

cdef object module_of(str image, int index):
    module = _modules.get((index, image))
    if module is not None:
        return module
    path = path_of(image)
    if path is None:
        raise RuntimeError(
            f"CUDA error: this build has no kernels {image!r} ({folder()} has no "
            f"{image}.fatbin): build autograd_cy again with nvcc")
    with open(path, "rb") as file:
        code = file.read()
    try:
        module = in_context(index, pycuda_driver().module_from_buffer, (code,))
    except Exception as error:
        raise unloadable(error, path, index) from error
    # Kept for good: PyCUDA unloads modules in the thread of the context alone.
    Py_INCREF(module)
    return _modules.setdefault((index, image), module)


cdef object unloadable(object error, str path, int index):
    cdef result_t result = driver_result(error)
    if result == NO_BINARY:
        device = pycuda_driver().Device(index)
        major, minor = device.compute_capability()
        return error_of(
            result, f"no kernel image is available for execution on the device: {path} has no code "
            f"for {device.name()}, which is sm_{major}{minor}; build autograd_cy again with "
            f"AUTOGRAD_CY_CUDA_ARCHS={major}{minor}", index)
    if result == UNSUPPORTED_PTX:
        return error_of(
            result, f"the driver is older than the nvcc that compiled {path}: update your GPU "
            "driver, or build autograd_cy again with an older nvcc", index)
    if result in (INVALID_VALUE, INVALID_IMAGE, INVALID_PTX):
        return error_of(result, f"{path} is damaged: install autograd_cy again", index)
    return translated(error, f"loading {path}", index)


cdef PyObject* bind(int kernel, int index) except NULL:
    """Look the function up, and note it."""
    global _launch
    cdef int capacity = 0, i
    cdef PyObject** grown
    if not 0 <= kernel < len(_names):
        raise IndexError(f"there is no kernel of number {kernel}")
    image, name = _names[kernel]
    module = module_of(image, index)
    try:
        function = in_context(index, module.get_function, (name,))
    except Exception as error:
        if driver_result(error) == NOT_FOUND:
            raise error_of(NOT_FOUND, f"{path_of(image)} has no kernel {name!r}: it is of another "
                           "version; install autograd_cy again", index) from error
        raise translated(error, f"looking for kernel {name!r}", index) from error
    if kernel >= _capacity[index]:
        capacity = max(len(_names), 2 * _capacity[index])
        grown = <PyObject**>realloc(_bound[index], capacity * sizeof(PyObject*))
        if grown == NULL:
            raise MemoryError("autograd_cy: no memory to note kernels")
        for i in range(_capacity[index], capacity):
            grown[i] = NULL
        _bound[index] = grown
        _capacity[index] = capacity
    if _launch is None:
        _launch = pycuda_driver().Function._launch_kernel
    if _bound[index][kernel] == NULL:
        Py_INCREF(function)
        _bound[index][kernel] = <PyObject*>function
    return _bound[index][kernel]


# --- launches -------------------------------------------------------------------------------

cdef int put_size(PyObject* args, Py_ssize_t i, unsigned x, unsigned y, unsigned z) except -1:
    """The size of a grid or block, as PyCUDA takes it: what is left out is 1."""
    cdef object size
    if y == 1 and z == 1 and x <= 1024:
        if _ones[x] == NULL:
            size = (x,)
            Py_INCREF(size)
            _ones[x] = <PyObject*>size
        put_item(args, i, _ones[x])
        return 0
    size = (x, y, z)
    if y == 1 and z == 1:
        size = size[:1]
    put_item(args, i, <PyObject*>size)
    return 0


cdef int put_number(PyObject* args, Py_ssize_t i, unsigned number) except -1:
    cdef object value = number
    put_item(args, i, <PyObject*>value)
    return 0


# Note [What launches take]
# PyCUDA takes a tuple: function, grid, block, the bytes of the arguments, shared memory and stream.
# The driver copies the bytes when it is called. So the tuple, whose bytes are written over, serves
# the next launch of as many bytes; while one has it, another thread makes one of its own.

cdef PyObject* argument_tuple(const void* arguments, Py_ssize_t nbytes) except NULL:
    """A tuple of six (owned) whose item 3 has the arguments; the others are to be set."""
    cdef PyObject* args = NULL
    if nbytes <= MOST_ARGUMENTS and nbytes & 7 == 0:
        args = _cached[nbytes >> 3]
    if args != NULL:
        _cached[nbytes >> 3] = NULL
        memcpy(PyBytes_AS_STRING(<object>PyTuple_GET_ITEM(args, 3)), arguments, nbytes)
        return args
    new = (None, None, None, PyBytes_FromStringAndSize(<const char*>arguments, nbytes), 0, None)
    Py_INCREF(new)
    return <PyObject*>new


cdef inline void put_item(PyObject* args, Py_ssize_t i, PyObject* item) noexcept:
    cdef PyObject* before = PyTuple_GET_ITEM(args, i)
    if before != item:
        Py_INCREF(<object>item)
        PyTuple_SET_ITEM(args, i, item)
        Py_DECREF(<object>before)


cdef void give_back(PyObject* args, Py_ssize_t nbytes) noexcept:
    if (nbytes <= MOST_ARGUMENTS and nbytes & 7 == 0 and _cached[nbytes >> 3] == NULL
            and Py_REFCNT(<object>args) == 1
            and Py_REFCNT(<object>PyTuple_GET_ITEM(args, 3)) == 1):
        _cached[nbytes >> 3] = args
    else:
        Py_DECREF(<object>args)


cdef int launch(int kernel, int index, stream_t stream,
                unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z,
                unsigned shared, const void* arguments, Py_ssize_t nbytes) except -1:
    cdef CudaStream* s = <CudaStream*>stream
    cdef CudaStream* side = s
    cdef PyObject* function = NULL
    cdef PyObject* args
    enter(index)
    if kernel < _capacity[index]:
        function = _bound[index][kernel]
    if function == NULL:
        function = bind(kernel, index)
    if s != NULL and s.external:
        side = begin_side(index, s)
    args = argument_tuple(arguments, nbytes)
    try:
        put_item(args, 0, function)
        put_size(args, 1, grid_x, grid_y, grid_z)
        put_size(args, 2, block_x, block_y, block_z)
        put_number(args, 4, shared)
        put_item(args, 5, <PyObject*>None if side == NULL else <PyObject*>side.launcher)
        if timing:
            launch_timed(kernel, index, side, <tuple>args)
        else:
            launch_now(kernel, index, args)
    finally:
        give_back(args, nbytes)
    if s != side:
        end_side(index, s)
    if blocking_launches():
        wait_if_blocking(kernel, index, stream)
    return 0


cdef inline int launch_now(int kernel, int index, PyObject* args) except -1:
    cdef PyObject* done = call_or_null(_launch, args, NULL)
    if done == NULL:
        launch_failed(kernel, index, <tuple>args)
    else:
        Py_DECREF(<object>done)      # None
    return 0


cdef int raised() except -1:
    return -1                        # the exception is set


cdef int launch_failed(int kernel, int index, tuple args) except -1:
    try:
        raised()
    except Exception as error:
        launch_again(error, kernel, index, args)
    return 0


cdef int launch_timed(int kernel, int index, CudaStream* stream, tuple args) except -1:
    """While a profiler wants to know how long kernels take."""
    cdef void* began = begin_timing(index, stream)
    try:
        return launch_now(kernel, index, <PyObject*>args)
    finally:
        end_timing(_names[kernel][1], index, stream, began)


cdef int launch_again(object error, int kernel, int index, tuple args) except -1:
    """After a launch has failed: once more if the driver had no memory for it, else its error."""
    if driver_result(error) == OUT_OF_MEMORY and free_memory(index) == 0:
        try:
            PyObject_Call(_launch, args, NULL)
            return 0
        except Exception as second:
            error = second
    raise launch_error(error, kernel, index, args) from error


cdef object launch_error(object error, int kernel, int index, tuple args):
    cdef result_t result = driver_result(error)
    name = _names[kernel][1]
    cdef str what = f"launch of kernel {name!r}, grid {args[1]}, block {args[2]}"
    if result == INVALID_VALUE:
        what = "invalid configuration argument: " + what
    if result == OUT_OF_MEMORY:
        return OutOfMemoryError(f"CUDA out of memory: the driver has none for the {what} on device "
                                f"'cuda:{index}'")
    return translated(error, what, index)


cdef int wait_if_blocking(int kernel, int index, stream_t stream) except -1:
    """With CUDA_LAUNCH_BLOCKING=1: wait for the launch, and say which one it was."""
    cdef result_t result
    with nogil:
        result = driver.stream_synchronize(handle_of(stream))
    if result:
        name = _names[kernel][1]
        raise error_of(result, f"kernel {name!r}", index)
    return raise_fault(index)


cdef unsigned blocks_for(int index, Py_ssize_t n, unsigned block) noexcept:
    cdef Py_ssize_t needed, most
    if n <= block:
        return 1
    needed = (n + block - 1) // block
    most = threads_at_once(index) // block
    return <unsigned>max(min(needed, most), 1)


# --- for Python -----------------------------------------------------------------------------

def load_image(str image not None, int index=0):
    """Load an image into a device, as its first launch does, and return PyCUDA's module of it."""
    return module_of(image, index)


def kernel_number(str image not None, str name not None):
    """The number of a kernel, for `launch_kernel`."""
    return kernel_id(image, name)


def launch_kernel(int kernel, int index, size_t stream, tuple grid not None, tuple block not None,
                  bytes arguments not None, unsigned int shared=0):
    """Put a kernel on a stream, given as the address that `Stream.stream_id` says."""
    launch(kernel, index, <stream_t>stream, grid[0], grid[1], grid[2], block[0], block[1],
           block[2], shared, <const char*>arguments, len(arguments))


def bare_launches(int kernel, int index, bytes arguments not None, Py_ssize_t launches):
    """
    Put a kernel on the default stream by PyCUDA alone, as a measure of what launches cost the host.

    Returns
    -------
    float
        Nanoseconds for one of them: a call of PyCUDA with arguments that are there already.
    """
    from time import perf_counter_ns
    cdef Py_ssize_t _
    enter(index)
    if kernel >= _capacity[index] or _bound[index][kernel] == NULL:
        bind(kernel, index)
    args = (<object>_bound[index][kernel], (1,), (1,), arguments, 0, None)
    begun = perf_counter_ns()
    for _ in range(launches):
        PyObject_Call(_launch, args, NULL)
    return (perf_counter_ns() - begun) / launches
