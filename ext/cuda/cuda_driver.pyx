# cython: language_level=3
# build: plain hot
"""The CUDA driver's functions, PyCUDA's primary contexts, and the errors of both.

Nothing is looked for before somebody asks for a GPU. What may be asked without a context is at the
end; how the device is registered is in autograd_cy/cuda/_start.py.
"""
import _thread
import os

from cpython.ref cimport Py_INCREF
from libc.stdlib cimport getenv
from libc.string cimport memset, strcmp

from autograd_cy._C.random import _forget_defaults
from autograd_cy._C.storage import OutOfMemoryError

__all__ = ["AcceleratorError"]

cdef extern from "<dlfcn.h>":
    void* dlopen(const char*, int) nogil
    void* dlsym(void*, const char*) nogil
    const char* dlerror() nogil
    int RTLD_NOW, RTLD_GLOBAL

cdef enum:
    ATTRIBUTE_MULTIPROCESSORS = 16
    ATTRIBUTE_THREADS = 39           # that a multiprocessor holds at once
    ATTRIBUTE_MINOR = 76
    NO_DEVICE = 100

cdef struct Entry:
    const char* name
    void** place
    bint needed            # the others are of newer drivers, and there is another way

cdef Entry[64] _entries
cdef int _n_entries = 0
cdef bint _loaded = False             # the driver's functions are in the table
cdef bint _ready = False             # it was initialised, too
cdef bint _forked = False            # this process is the child of one that did so
cdef bint _blocking = False
cdef int _count = 0
cdef int _version = 0
cdef handle_t[MAX_INDEX] _contexts
cdef int[MAX_INDEX] _multiprocessors
cdef int[MAX_INDEX] _threads
cdef list _owners = [None] * MAX_INDEX      # PyCUDA's contexts
cdef object _pycuda = None                  # the module pycuda.driver
cdef object _starting = _thread.RLock()     # held while the driver or a device is started

memset(&driver, 0, sizeof(driver))
memset(_contexts, 0, sizeof(_contexts))


class AcceleratorError(RuntimeError):
    """
    An error of a device's driver, or of work that ran there; ``error_code`` is the driver's number.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> issubclass(ag.AcceleratorError, RuntimeError)
    True
    """

    error_code = 0


AcceleratorError.__module__ = "autograd_cy"


# --- the table ------------------------------------------------------------------------------

cdef void entry(const char* name, void* place, bint needed=True) noexcept:
    global _n_entries
    _entries[_n_entries] = Entry(name, <void**>place, needed)
    _n_entries += 1


entry("cuInit", &driver.init)
entry("cuDriverGetVersion", &driver.driver_version)
entry("cuDeviceGetCount", &driver.device_count)
entry("cuDeviceGet", &driver.device_get)
entry("cuDeviceGetAttribute", &driver.device_attribute)
entry("cuDeviceGetName", &driver.device_name)
entry("cuDeviceTotalMem_v2", &driver.device_total_memory)
entry("cuDeviceGetUuid", &driver.device_uuid, False)
entry("cuDeviceGetUuid_v2", &driver.device_uuid, False)
entry("cuDeviceCanAccessPeer", &driver.can_access_peer, False)
entry("cuCtxGetCurrent", &driver.get_current)
entry("cuCtxSetCurrent", &driver.set_current)
entry("cuCtxSynchronize", &driver.context_synchronize)
entry("cuGetErrorName", &driver.error_name)
entry("cuGetErrorString", &driver.error_string)
entry("cuMemGetInfo_v2", &driver.memory_info)
entry("cuMemPoolCreate", &driver.pool_create, False)
entry("cuMemPoolSetAttribute", &driver.pool_set, False)
entry("cuMemPoolTrimTo", &driver.pool_trim, False)
entry("cuMemPoolSetAccess", &driver.pool_access, False)
entry("cuMemAllocFromPoolAsync", &driver.allocate_from_pool, False)
entry("cuMemFreeAsync", &driver.free_async, False)
entry("cuMemAlloc_v2", &driver.allocate_plain)
entry("cuMemFree_v2", &driver.free_plain)
entry("cuMemHostAlloc", &driver.host_allocate)
entry("cuMemFreeHost", &driver.host_free)
entry("cuPointerGetAttribute", &driver.pointer_attribute, False)
entry("cuMemcpyHtoDAsync_v2", &driver.copy_to_device)
entry("cuMemcpyDtoHAsync_v2", &driver.copy_to_host)
entry("cuMemcpyDtoDAsync_v2", &driver.copy_on_device)
entry("cuMemcpyPeerAsync", &driver.copy_between)
entry("cuMemsetD8Async", &driver.set_bytes)
entry("cuStreamSynchronize", &driver.stream_synchronize)
entry("cuStreamQuery", &driver.stream_query)
entry("cuStreamWaitEvent", &driver.stream_wait)
entry("cuEventCreate", &driver.event_create)
entry("cuEventRecord", &driver.event_record)
entry("cuEventQuery", &driver.event_query)
entry("cuEventSynchronize", &driver.event_synchronize)
entry("cuEventElapsedTime", &driver.event_elapsed, False)
entry("cuEventElapsedTime_v2", &driver.event_elapsed, False)


cdef str find_driver():
    """Fill the table; what is wrong if that isn't possible."""
    global _loaded
    cdef void* library
    cdef void* function
    cdef int i
    if _loaded:
        return None
    library = dlopen(b"libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)
    if library == NULL:
        return ("there is no NVIDIA driver (" + dlerror().decode(errors="replace") + "): Found no "
                "NVIDIA driver on your system; install one, or load the module that has it")
    missing = []
    for i in range(_n_entries):
        function = dlsym(library, _entries[i].name)
        if function != NULL:
            _entries[i].place[0] = function
        elif _entries[i].needed:
            missing.append(_entries[i].name.decode())
    if missing:
        return ("the NVIDIA driver on your system is too old (it has no " + ", ".join(missing)
                + "); please update your GPU driver")
    _loaded = True
    return None


cdef str start_driver():
    """Initialise it and count the GPUs, without a context; what is wrong if there are none."""
    global _ready, _count, _blocking
    cdef result_t result
    cdef int n = 0
    cdef const char* value
    if _ready:
        return None
    problem = find_driver()
    if problem is not None:
        return problem
    with _starting:
        if _ready:
            return None
        with nogil:              # it looks for all GPUs, which takes a while
            result = driver.init(0)
        if result == 0:
            result = driver.device_count(&n)
        if result == NO_DEVICE or (result == 0 and n == 0):
            return ("No CUDA GPUs are available: the NVIDIA driver finds none; ask the scheduler "
                    "for one, and look at CUDA_VISIBLE_DEVICES")
        if result:
            return (f"the NVIDIA driver can't be used: CUDA initialization: {string_of(result)} "
                    f"({name_of(result)}); look at what nvidia-smi says")
        driver.driver_version(&_version)
        _count = min(n, MAX_INDEX)
        value = getenv("CUDA_LAUNCH_BLOCKING")
        _blocking = value != NULL and strcmp(value, "1") == 0
        os.register_at_fork(after_in_child=_mark_child)
        _ready = True
    return None


def _mark_child():
    """Mark a forked child, in which GPUs can't be used; workers of loaders seed other generators
    there."""
    global _forked
    _forked = True
    _forget_defaults("cuda")


NO_PYCUDA = ('PyCUDA is not installed: pip install "autograd_cy[cuda]", or see docs/gpu.md where '
             "there is no CUDA toolkit")


cdef str import_pycuda():
    """Import PyCUDA, which calls the driver and makes no context; what is wrong with it."""
    global _pycuda
    if _pycuda is not None:
        return None
    try:
        import pycuda.driver as module
        module.init()
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "pycuda":
            return NO_PYCUDA
        return f"PyCUDA can't be imported ({error}): install what it needs"
    except ImportError as error:
        if "undefined symbol" in str(error):
            return (f"PyCUDA can't be imported ({error}): the NVIDIA driver is too old for the "
                    "headers that PyCUDA was built with; update your GPU driver, or build PyCUDA "
                    "against older headers")
        return f"PyCUDA can't be imported ({error}): build it again, see docs/gpu.md"
    except Exception as error:
        return f"PyCUDA can't be used ({type(error).__name__}: {error})"
    _pycuda = module
    return None


cdef int load_driver() except -1:
    if _ready and _pycuda is not None:
        return 0
    problem = start_driver()
    if problem is None:
        with _starting:
            problem = import_pycuda()
    if problem is not None:
        raise RuntimeError(f"device 'cuda' is not available: {problem}; or use device='cpu'")
    return 0


# --- contexts -------------------------------------------------------------------------------

cdef int enter(int index) except -1:
    cdef handle_t now = NULL
    cdef result_t result
    if _forked or not 0 <= index < MAX_INDEX or _contexts[index] == NULL:
        start_device(index)
    result = driver.get_current(&now)
    if result == 0 and now != _contexts[index]:
        result = driver.set_current(_contexts[index])
    if result:
        check_result(result, "making the context current", index)
    return 0


cdef int start_device(int index) except -1:
    """Let PyCUDA retain the primary context of a device."""
    cdef int number = 0
    refuse_child()
    load_driver()
    if not 0 <= index < _count:
        raise AcceleratorError(f"CUDA error: invalid device ordinal: no device 'cuda:{index}'")
    with _starting:
        if _contexts[index] != NULL:
            return 0
        try:
            owner = _pycuda.Device(index).retain_primary_context()
        except Exception as error:
            raise translated(error, "starting the device", index) from error
        # One reference more than are given back: a context that is collected at exit would have to
        # be released in the thread that made it, with the driver still there.
        Py_INCREF(owner)
        _owners[index] = owner
        check_result(driver.device_attribute(&number, ATTRIBUTE_MULTIPROCESSORS, index),
                     "asking for its properties", index)
        _multiprocessors[index] = number
        check_result(driver.device_attribute(&number, ATTRIBUTE_THREADS, index),
                     "asking for its properties", index)
        _threads[index] = number
        _contexts[index] = <handle_t><size_t>owner.handle
    return 0


cdef int refuse_child() except -1:
    if _forked:
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
            "must use the 'spawn' start method: multiprocessing.get_context('spawn')")
    return 0


cdef bint is_forked() noexcept:
    return _forked


cdef handle_t context_of(int index) noexcept:
    return _contexts[index]


cdef object pycuda_context(int index):
    enter(index)
    return _owners[index]


cdef object pycuda_driver():
    load_driver()
    return _pycuda


cdef int multiprocessors(int index) noexcept:
    return _multiprocessors[index]


cdef int threads_at_once(int index) noexcept:
    return _multiprocessors[index] * _threads[index]


cdef bint blocking_launches() noexcept:
    return _blocking


cdef int count_devices() except -1:
    if not _ready:
        load_driver()
    return _count


cdef int number_of_devices() noexcept:
    return _count


# PyCUDA's objects remember the context on top of PyCUDA's own stack, which each thread has; a
# thread that ends with something there aborts the process. So it is pushed and popped around each
# call.

cdef object in_context(int index, function, tuple arguments):
    """Call a function of PyCUDA that needs the context on PyCUDA's stack."""
    context = pycuda_context(index)
    context.push()
    try:
        return function(*arguments)
    finally:
        try:
            context.pop()
        except Exception as error:
            # Left there, it would end the process with the thread.
            context.pop()
            raise translated(error, "leaving the context", index) from error
        enter(index)


# --- errors ---------------------------------------------------------------------------------

cdef str string_of(result_t result):
    cdef const char* text = NULL
    if not _loaded or driver.error_string(result, &text) or text == NULL:
        return "unknown error"
    return text.decode(errors="replace")


cdef str name_of(result_t result):
    cdef const char* text = NULL
    if not _loaded or driver.error_name(result, &text) or text == NULL:
        return str(result)
    return text.decode(errors="replace")


# After these nothing runs in the context any more.
cdef frozenset STICKY = frozenset((700, 702, 710, 714, 715, 716, 717, 718, 719, 999))
# Results that PyCUDA raises as text alone.
cdef tuple TOLD = (1, 2, 3, 4, 100, 101, 200, 201, 209, 218, 219, 220, 221, 222, 223, 300, 301, 400,
                   401, 500, 600, 700, 701, 702, 710, 714, 715, 716, 717, 718, 719, 800, 801, 900,
                   901, 905, 999)


cdef object error_of(result_t result, str what, int index):
    """The exception for a result of the driver."""
    if result == OUT_OF_MEMORY:
        return OutOfMemoryError(
            f"CUDA out of memory: CUDA error: out of memory ({what}, device 'cuda:{index}')")
    cdef str text = (f"CUDA error: {string_of(result)} ({name_of(result)}; {what}, device "
                     f"'cuda:{index}')")
    if result in STICKY:
        text += (
            "\nCUDA kernel errors might be asynchronously reported at some other API call, so the "
            "stacktrace below might be incorrect.\nFor debugging consider passing "
            "CUDA_LAUNCH_BLOCKING=1, which finds the launch. The device can't be used in this "
            "process any more: start another one.")
    error = AcceleratorError(text)
    error.error_code = result
    return error


cdef int check_result(result_t result, str what, int index) except -1:
    if result:
        raise error_of(result, what, index)
    return 0


cdef result_t driver_result(object error):
    """The driver's result in an exception of PyCUDA, which has it as text; 999 if none fits."""
    cdef str text = str(error).partition(" failed: ")[2]
    cdef result_t code = 999
    cdef Py_ssize_t longest = 0
    for result in TOLD:
        name = string_of(result)
        if text.startswith(name) and len(name) > longest:
            code, longest = result, len(name)
    return code


cdef object translated(object error, str what, int index):
    """The exception that says what one of PyCUDA says."""
    cdef result_t result = driver_result(error)
    if result == 999:
        return AcceleratorError(f"CUDA error: {error} ({what}, device 'cuda:{index}')")
    return error_of(result, what, index)


# --- for Python, without a context ----------------------------------------------------------

def driver_problem():
    """Return the reason why the driver can't be used, or None; initialises it, and creates no
    context."""
    return start_driver()


def pycuda_problem():
    """Return the reason why PyCUDA can't be used, or None; imports it."""
    with _starting:
        return import_pycuda()


def count():
    """Number of GPUs, 0 where there is no driver."""
    return _count if start_driver() is None else 0


def driver_version():
    """The version of CUDA that the driver is of, 13000 for 13.0."""
    return _version if start_driver() is None else 0


def started(index=None):
    """Tell if a device, or any, has a context that was made from here."""
    if index is None:
        return any([owner is not None for owner in _owners])
    return _owners[index] is not None


def start_index(int index):
    """Make the context of a device."""
    enter(index)


cdef int device_number(int index) except -1:
    """The driver's number of a device, which needs no context."""
    cdef int number = 0
    refuse_child()
    load_driver()
    if not 0 <= index < _count:
        raise AcceleratorError(f"CUDA error: invalid device ordinal: no device 'cuda:{index}'")
    check_result(driver.device_get(&number, index), "looking for it", index)
    return number


def attribute(int index, int number):
    """The driver's attribute of a device, by its number in cuda.h."""
    cdef int value = 0
    check_result(driver.device_attribute(&value, number, device_number(index)),
                 f"asking for attribute {number}", index)
    return value


def properties(int index):
    """
    Properties of a device, without a context.

    Returns
    -------
    dict
        name, major, minor, total_memory, multi_processor_count, uuid (16 bytes).
    """
    cdef int device = device_number(index)
    cdef char[256] name
    cdef char[16] uuid
    cdef size_t total = 0
    memset(name, 0, sizeof(name))
    memset(uuid, 0, sizeof(uuid))
    check_result(driver.device_name(name, 255, device), "asking for its name", index)
    check_result(driver.device_total_memory(&total, device), "asking for its memory", index)
    if driver.device_uuid != NULL:
        check_result(driver.device_uuid(uuid, device), "asking for its uuid", index)
    return {
        "name": name.decode(errors="replace"),
        "major": attribute(index, ATTRIBUTE_MAJOR),
        "minor": attribute(index, ATTRIBUTE_MINOR),
        "total_memory": total,
        "multi_processor_count": attribute(index, ATTRIBUTE_MULTIPROCESSORS),
        "uuid": uuid[:16],
    }


def can_access_peer(int index, int peer):
    """Tell if kernels of a device can read memory of another one."""
    cdef int can = 0
    cdef int a = device_number(index), b = device_number(peer)
    if a == b or driver.can_access_peer == NULL:
        return False
    check_result(driver.can_access_peer(&can, a, b), f"asking for access to 'cuda:{peer}'", index)
    return can != 0


def primary_context(int index):
    """PyCUDA's Context of a device."""
    return pycuda_context(index)


def call_in_context(int index, function not None, *arguments):
    """Call what makes objects of PyCUDA, with the context on PyCUDA's stack meanwhile."""
    return in_context(index, function, arguments)
