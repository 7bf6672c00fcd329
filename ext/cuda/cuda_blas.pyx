# cython: language_level=3
"""cuBLAS by dlopen: where it is looked for, handles and workspaces, and the calls of products.

It is optional: cuda_products.pyx has kernels of its own. A handle belongs to one thread and device
at a time, and comes back when its thread ends. Handles are never destroyed: at the end of the
process the driver may be gone before them.
"""
from libc.stdint cimport uint64_t
from autograd_cy._C.cuda_driver cimport (
    ATTRIBUTE_MAJOR, blocking_launches, check_result, device_number, driver, enter)
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_streams cimport handle_of, wait_for
from autograd_cy._C.cuda_timing cimport begin_timing, end_timing, timing
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_C64, DT_C128, DT_F16, DT_F32, DT_F64, DT_SIZE, dt_is_integral)

import os
import threading
from importlib.util import find_spec
from pathlib import Path

__all__ = ["choose", "handles", "library", "set_precision", "version"]

cdef extern from "<dlfcn.h>":
    void* dlopen(const char*, int) nogil
    void* dlsym(void*, const char*) nogil
    const char* dlerror() nogil
    int RTLD_NOW, RTLD_NOLOAD

cdef extern from *:
    """
    #include <stdint.h>
    /* The handle that a thread has used last. Threads of Python have a number each. */
    typedef struct { uint64_t thread; int index; void *handle; } ag_blas_handle;
    static __thread ag_blas_handle ag_last_handle;
    """
    ctypedef struct ag_blas_handle:
        uint64_t thread
        int index
        void* handle
    ag_blas_handle ag_last_handle

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    PyThreadState* PyThreadState_Get() noexcept
    uint64_t PyThreadState_GetID(PyThreadState* thread) noexcept

ctypedef int status_t

cdef struct Library:
    status_t (*create)(void**) noexcept nogil
    status_t (*version)(void*, int*) noexcept nogil
    status_t (*set_stream)(void*, void*) noexcept nogil
    status_t (*set_workspace)(void*, void*, size_t) noexcept nogil
    status_t (*set_math_mode)(void*, int) noexcept nogil
    status_t (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int,
                     const void*, int, int, const void*, void*, int, int, int,
                     int) noexcept nogil
    status_t (*gemm_batched)(void*, int, int, int, int, int, const void*, const void*, int, int,
                             long long, const void*, int, int, long long, const void*, void*, int,
                             int, long long, int, int, int) noexcept nogil

cdef enum:  # of library_types.h and cublas_api.h
    R_32F = 0
    R_64F = 1
    R_16F = 2
    C_32F = 4
    C_64F = 5
    R_16BF = 14
    COMPUTE_32F = 68
    COMPUTE_64F = 70
    COMPUTE_32F_FAST_TF32 = 77
    ALGO_DEFAULT = -1
    FULL_REDUCTIONS = 16       # CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
    NOT_SUPPORTED = 15
    MATRICES = 65535           # of a batch in one call
    LEAST_WORKSPACE = 1 << 18

STATUS = {
    1: "CUBLAS_STATUS_NOT_INITIALIZED", 3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE", 8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR", 13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR", 15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR"}
SONAMES = ("libcublas.so.13", "libcublas.so.12")

cdef Library blas
cdef int state = -1            # 1: `blas` is filled, 0: there is none, -1: nobody has looked
cdef bint wanted = True        # False: own kernels, whatever there is
cdef str place = ""            # of the library, or why there is none
cdef bint tf32 = False
cdef bint full_f16 = False     # no sums in half precision between parts of a product
cdef bint full_bf16 = False
cdef object searching = threading.Lock()     # protects `state`, `blas` and `place`
cdef object local = threading.local()        # .handles: {device: Handle}
cdef dict spare = {}           # {device: addresses of handles without a thread}
cdef Py_ssize_t handle_count = 0  # handles so far


cdef object failure(status_t status, str call):
    name = STATUS.get(status, f"CUBLAS_STATUS {status}")
    return RuntimeError(f"CUDA error: {name} when calling `{call}`")


# --- the library ----------------------------------------------------------------------------

def _wheels():
    """Folders of NVIDIA's wheels that may hold it, the newest first."""
    try:
        spec = find_spec("nvidia")
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for part in ("cu13/lib", "cublas/lib"):
            yield Path(folder, part)


def _toolkits():
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if os.environ.get(name):
            yield Path(os.environ[name], "lib64")
            yield Path(os.environ[name], "lib")


cdef void* opened(str path, int flags=0):
    return dlopen(os.fsencode(path), RTLD_NOW | flags)


cdef str last_error():
    cdef const char* text = dlerror()
    return "" if text == NULL else text.decode(errors="replace")


cdef void* in_folder(folder, str soname):
    """Open it there, after the library that it needs, which the loader path may lack."""
    if not (folder / soname).is_file():
        return NULL
    opened(str(folder / soname.replace("libcublas", "libcublasLt")))
    return opened(str(folder / soname))


cdef int look() except -1:
    """Find the library; `place` says where it is, or why there is none."""
    global state, place
    cdef void* handle = NULL
    cdef str setting = os.environ.get("AUTOGRAD_CY_CUBLAS", "auto")
    if setting == "0":
        place = "switched off by AUTOGRAD_CY_CUBLAS=0"
        state = 0
        return 0
    if setting not in ("", "1", "auto"):
        handle = opened(setting)
        if handle == NULL:
            raise RuntimeError(f"AUTOGRAD_CY_CUBLAS={setting} can't be loaded ({last_error()}). "
                               "Name a libcublas.so, or unset it.")
        return take(handle, setting)
    for soname in SONAMES:      # whatever else in this process uses it
        handle = opened(soname, RTLD_NOLOAD)
        if handle != NULL:
            return take(handle, soname)
    for folder in (*_wheels(), *_toolkits()):
        for soname in SONAMES:
            handle = in_folder(folder, soname)
            if handle != NULL:
                return take(handle, str(folder / soname))
    for soname in SONAMES:
        handle = opened(soname)
        if handle != NULL:
            return take(handle, soname)
    place = ("not found: pip install nvidia-cublas, load a CUDA module, or name the library in "
             "AUTOGRAD_CY_CUBLAS")
    state = 0
    return 0


cdef void* function(void* handle, const char* name, str path) except NULL:
    cdef void* address = dlsym(handle, name)
    if address == NULL:
        raise RuntimeError(f"cuBLAS in {path} has no {name.decode()}; versions 12 and 13 do. Set "
                           "AUTOGRAD_CY_CUBLAS to another library, or to 0.")
    return address


cdef int take(void* handle, str path) except -1:
    global state, place
    (<void**>&blas.create)[0] = function(handle, b"cublasCreate_v2", path)
    (<void**>&blas.version)[0] = function(handle, b"cublasGetVersion_v2", path)
    (<void**>&blas.set_stream)[0] = function(handle, b"cublasSetStream_v2", path)
    (<void**>&blas.set_workspace)[0] = function(handle, b"cublasSetWorkspace_v2", path)
    (<void**>&blas.set_math_mode)[0] = function(handle, b"cublasSetMathMode", path)
    (<void**>&blas.gemm)[0] = function(handle, b"cublasGemmEx", path)
    (<void**>&blas.gemm_batched)[0] = function(handle, b"cublasGemmStridedBatchedEx", path)
    place = path
    state = 1
    return 0


cdef int need_search() except -1:
    if state < 0:
        with searching:
            if state < 0:
                look()
    return 0


cdef bint use_blas(int dt) except -1:
    if not wanted or dt_is_integral(dt):
        return False
    if state < 0:
        need_search()
    return state == 1


def library():
    """Return whether cuBLAS makes products, and where it is or why it doesn't: (bool, str)."""
    need_search()
    if state and not wanted:
        return False, f"{place}, switched off"
    return bool(state), place


def choose(bint cublas):
    """Return whether cuBLAS may be used, where it is found."""
    global wanted
    wanted = cublas


def set_precision(bint allow_tf32, bint reduced_f16, bint reduced_bf16):
    """Set the precisions that ``backends.cuda.matmul`` allows."""
    global tf32, full_f16, full_bf16
    tf32, full_f16, full_bf16 = allow_tf32, not reduced_f16, not reduced_bf16


def version(int index):
    """Version of the library as a number such as 130100, None where there is none."""
    cdef int value = 0
    cdef Handle handle
    need_search()
    if not state:
        return None
    handle = handle_of_device(index)
    if blas.version(handle.value, &value) != 0:
        return None
    return value


def handles():
    """Return the number of handles that have been created."""
    return handle_count


# --- handles --------------------------------------------------------------------------------

cdef class Handle:
    """A handle of cuBLAS and what it was set to; it is used by one thread."""
    cdef void* value
    cdef int index
    cdef int math
    cdef Py_ssize_t workspace      # bytes at most
    cdef void* stream              # set last, with this memory
    cdef char* memory
    cdef Py_ssize_t size

    def __dealloc__(self):
        if ag_last_handle.handle == <void*>self:
            ag_last_handle.handle = NULL
        if self.value != NULL and spare is not None:
            spare.setdefault(self.index, []).append(<size_t>self.value)


cdef Handle handle_of_device(int index):
    """The handle of this thread, which its thread-local dictionary keeps."""
    cdef uint64_t thread = PyThreadState_GetID(PyThreadState_Get())
    cdef Handle handle
    if (ag_last_handle.handle != NULL and ag_last_handle.index == index
            and ag_last_handle.thread == thread):
        return <Handle>ag_last_handle.handle
    handle = handle_of_thread(index)
    ag_last_handle.thread = thread
    ag_last_handle.index = index
    ag_last_handle.handle = <void*>handle
    return handle


cdef Handle handle_of_thread(int index):
    cdef dict mine = getattr(local, "handles", None)
    cdef Handle handle
    cdef int major = 0
    cdef status_t status
    global handle_count
    if mine is None:
        mine = local.handles = {}
    handle = mine.get(index)
    if handle is not None:
        return handle
    enter(index)
    handle = Handle.__new__(Handle)
    handle.index = index
    handle.math = -1
    waiting = spare.get(index)
    if waiting:
        handle.value = <void*><size_t>waiting.pop()
    else:
        # Once for each thread and device; cuBLAS may wait for the device here.
        with nogil:
            status = blas.create(&handle.value)
        if status != 0:
            handle.value = NULL
            raise failure(status, "cublasCreate(handle)")
        handle_count += 1
    check_result(driver.device_attribute(&major, ATTRIBUTE_MAJOR, device_number(index)),
                 "asking for its compute capability", index)
    # What NVIDIA advises for large products; Hopper's kernels want more.
    handle.workspace = (32 if major >= 9 else 8) << 20
    mine[index] = handle
    return handle


cdef Py_ssize_t workspace_of(BlasCall* call, Py_ssize_t most) noexcept:
    """Scratch for 32 parts of a result, as a power of two. The shape alone decides, so that the
    same product takes the same way each time."""
    cdef Py_ssize_t size = LEAST_WORKSPACE, count = 32 * <Py_ssize_t>call.m * call.n
    while size < most and size < count * max(<Py_ssize_t>DT_SIZE[call.dt], <Py_ssize_t>4):
        size *= 2
    return size


cdef Scratch prepared(Handle handle, BlasCall* call, int index, stream_t stream, int math):
    """Set stream, mode and workspace, whose memory is that of one call: it goes back in order."""
    cdef Py_ssize_t size = workspace_of(call, handle.workspace)
    cdef Scratch memory = scratch(index, size, stream)
    cdef void* raw = handle_of(stream)
    cdef status_t status
    if handle.math != math:
        status = blas.set_math_mode(handle.value, math)
        if status != 0:
            raise failure(status, "cublasSetMathMode(handle, math_mode)")
        handle.math = math
    if handle.stream != raw or handle.memory != memory.data or handle.size != size:
        handle.memory = NULL
        status = blas.set_stream(handle.value, raw)
        if status != 0:
            raise failure(status, "cublasSetStream(handle, stream)")
        # A new stream takes the workspace away.
        status = blas.set_workspace(handle.value, memory.data, <size_t>size)
        if status != 0:
            raise failure(status, "cublasSetWorkspace(handle, workspace, size)")
        handle.stream = raw
        handle.memory = memory.data
        handle.size = size
    return memory


# --- products -------------------------------------------------------------------------------

cdef int data_type(int dt) noexcept:
    if dt == DT_F32:
        return R_32F
    if dt == DT_F64:
        return R_64F
    if dt == DT_F16:
        return R_16F
    if dt == DT_BF16:
        return R_16BF
    return C_32F if dt == DT_C64 else C_64F


cdef int math_mode(int dt) noexcept:
    return FULL_REDUCTIONS if (dt == DT_F16 and full_f16) or (dt == DT_BF16 and full_bf16) else 0


cdef int blas_call(BlasCall* call, int index, stream_t stream) except -1:
    cdef Handle handle = handle_of_device(index)
    cdef int kind = data_type(call.dt), compute = COMPUTE_32F
    cdef int to = R_32F if call.wide else kind
    cdef float[2] narrow_alpha
    cdef float[2] narrow_beta
    cdef void* alpha = call.alpha       # numbers of the type that is computed in, on the host
    cdef void* beta = call.beta
    cdef void* began
    cdef Scratch _workspace      # until the call is on its stream
    cdef status_t status = 0
    cdef Py_ssize_t first, size = DT_SIZE[call.dt], size_to = 4 if call.wide else size
    cdef int batch
    enter(index)
    if call.dt == DT_F64 or call.dt == DT_C128:
        compute = COMPUTE_64F
    else:
        narrow_alpha[0], narrow_alpha[1] = <float>call.alpha[0], <float>call.alpha[1]
        narrow_beta[0], narrow_beta[1] = <float>call.beta[0], <float>call.beta[1]
        alpha, beta = narrow_alpha, narrow_beta
        if tf32 and (call.dt == DT_F32 or call.dt == DT_C64):
            compute = COMPUTE_32F_FAST_TF32
    _workspace = prepared(handle, call, index, stream, math_mode(call.dt))
    began = begin_timing(index, stream) if timing else NULL
    if call.batch == 1:
        with nogil:
            status = blas.gemm(
                handle.value, call.turn_a, call.turn_b, call.m, call.n, call.k, alpha, call.a, kind,
                call.lda, call.b, kind, call.ldb, beta, call.c, to, call.ldc, compute,
                ALGO_DEFAULT)
    else:
        for first in range(0, call.batch, MATRICES):
            batch = <int>min(call.batch - first, <Py_ssize_t>MATRICES)
            with nogil:
                status = blas.gemm_batched(
                    handle.value, call.turn_a, call.turn_b, call.m, call.n, call.k, alpha,
                    <char*>call.a + first * call.step_a * size, kind, call.lda, call.step_a,
                    <char*>call.b + first * call.step_b * size, kind, call.ldb, call.step_b, beta,
                    <char*>call.c + first * call.step_c * size_to, to, call.ldc, call.step_c, batch,
                    compute, ALGO_DEFAULT)
            if status != 0:
                break
    if began != NULL:
        end_timing("cublasGemmEx" if call.batch == 1 else "cublasGemmStridedBatchedEx", index,
                   stream, began)
    if status == NOT_SUPPORTED:
        return 1
    if status != 0:
        raise failure(status, f"cublasGemm{'Ex' if call.batch == 1 else 'StridedBatchedEx'}"
                      f"(handle, ...)` in `{call.op.decode()}")
    if blocking_launches():
        wait_for(index, stream)
    return 0
