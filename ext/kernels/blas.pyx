# cython: language_level=3
# build: plain cold
# Finds the BLAS, once, at the first product, and holds it at one thread.
#
# AUTOGRAD_CY_BLAS=own|scipy|mkl|<path of a shared library> chooses it.  `own`, the default where
# kernels for AVX2 or AVX-512 run, is none: the loops of gemm_loops.pyx do all products.  Elsewhere
# `scipy` is the default.
#
# AUTOGRAD_CY_BLAS_THREADS=own (the default) holds the BLAS at one thread, and products are split
# over the OpenMP threads of this package: two pools of threads side by side are 10 to 60 times
# slower.  `library` leaves the threads to the library.

from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer

import os
import sys

from autograd_cy._C.cpu cimport TARGET_BASE, target

cdef extern from *:
    """
    #include <dlfcn.h>
    static void *agc_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
    static const char *agc_file_of(void *address) {
        Dl_info where;
        return dladdr(address, &where) && where.dli_fname ? where.dli_fname : "";
    }
    """
    void* agc_open(const char* path)
    const char* agc_file_of(void* address)
    void* dlsym(void* handle, const char* name) nogil
    const char* dlerror()

ctypedef int (*get_int_fn)() noexcept nogil
# BLIS takes a 64-bit number and the others an int; in a register they are the same.
ctypedef void (*set_threads_fn)(Py_ssize_t n) noexcept nogil
ctypedef char* (*get_text_fn)() noexcept nogil

# Names under which libraries hide their Fortran symbols, and their setters of the thread number.
_SPELLINGS = ("{}_", "scipy_{}_", "{}")
_SETTERS = (
    ("scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"),
    ("openblas_set_num_threads", "openblas_get_num_threads"),
    ("flexiblas_set_num_threads", "flexiblas_get_num_threads"),
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
    ("bli_thread_set_num_threads", "bli_thread_get_num_threads"),
)
_CONFIGS = ("scipy_openblas_get_config", "openblas_get_config", "bli_info_get_version_str")
_CORES = ("scipy_openblas_get_corename", "openblas_get_corename")
_LETTERS = "sdcz"

cdef void* handle = NULL
cdef get_int_fn get_threads = NULL
_chosen = {}


cdef int ensure_blas() except -1:
    if blas.ready:
        return 0
    _resolve()
    return 0


def _choice():
    return os.environ.get("AUTOGRAD_CY_BLAS") or ("scipy" if target() == TARGET_BASE else "own")


def _resolve():
    """Fill the table; after a failure it stays empty and the next product tries again."""
    global handle
    name = _choice()
    if name == "own":
        blas.ready = True
        return
    threads = os.environ.get("AUTOGRAD_CY_BLAS_THREADS") or "own"
    if threads not in ("own", "library"):
        raise ValueError(
            f"AUTOGRAD_CY_BLAS_THREADS={threads}: unknown choice; it is `own` or `library`."
        )
    if name == "scipy":
        _take_scipy()
    elif name == "mkl":
        _open_mkl()
        _take_symbols(name)
    elif os.sep in name or ".so" in name or name.endswith(".dylib"):
        if os.sep in name and not os.path.exists(name):
            raise ImportError(f"AUTOGRAD_CY_BLAS={name}: there is no such file.")
        _open_first([name], name)
        _refuse_wide(name)
        _take_symbols(name)
    else:
        raise ValueError(
            f"AUTOGRAD_CY_BLAS={name}: unknown BLAS; choose own, scipy, mkl or the path of a "
            "shared library that has sgemm_."
        )
    _chosen["provider"] = name
    _hold_threads(threads)
    blas.ready = True


def _take_scipy():
    """Take the pointers that scipy.linalg.cython_blas offers to other Cython modules."""
    global handle
    cdef const char* signature
    try:
        from scipy.linalg import cython_blas
    except ImportError as error:
        raise ImportError(
            "autograd_cy: matrix products need scipy.linalg.cython_blas, which cannot be imported "
            f"({error}). Install SciPy or set AUTOGRAD_CY_BLAS to the path of a BLAS library."
        ) from error
    offered = cython_blas.__pyx_capi__
    for index, letter in enumerate(_LETTERS):
        for kind in ("gemm", "gemv"):
            capsule = offered[letter + kind]
            signature = PyCapsule_GetName(capsule)
            if b"int *" not in signature:
                raise ImportError(
                    f"autograd_cy: this SciPy's BLAS has other integers than expected "
                    f"({signature.decode()}); set AUTOGRAD_CY_BLAS to a BLAS with 32-bit integers."
                )
            _put(kind, index, <size_t>PyCapsule_GetPointer(capsule, signature))
    # A handle of that module finds the symbols of the libraries that it is linked with.
    handle = agc_open(os.fsencode(cython_blas.__file__))


def _open_mkl():
    """Load the single dynamic library of MKL, told to share our OpenMP runtime."""
    layer = os.environ.setdefault("MKL_INTERFACE_LAYER", "LP64")
    if "ILP64" in layer:
        raise ImportError(
            f"AUTOGRAD_CY_BLAS=mkl: MKL_INTERFACE_LAYER={layer} asks for 64-bit integers, which "
            "this package does not use; unset it or set it to LP64."
        )
    os.environ.setdefault("MKL_THREADING_LAYER", "GNU")
    names = ("libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1")
    folders = [os.path.join(sys.prefix, "lib")]
    for variable in ("MKLROOT", "CONDA_PREFIX"):
        if root := os.environ.get(variable):
            folders += [os.path.join(root, "lib"), os.path.join(root, "lib", "intel64")]
    paths = [os.path.join(folder, name) for folder in folders for name in names]
    _open_first([path for path in paths if os.path.exists(path)] + list(names), "mkl")


def _open_first(paths, name):
    """Open the first library that loads, or raise with the loader's last words."""
    global handle
    cdef const char* message
    errors = []
    for path in paths:
        handle = agc_open(os.fsencode(path))
        if handle != NULL:
            return
        message = dlerror()
        errors.append(message.decode(errors="replace") if message != NULL else path)
    hint = " Load its module or add its folder to LD_LIBRARY_PATH." if name == "mkl" else ""
    raise ImportError(f"AUTOGRAD_CY_BLAS={name}: cannot be loaded ({errors[0]}).{hint}")


def _refuse_wide(name):
    if "USE64BITINT" in (_text(_CONFIGS) or ""):
        raise ImportError(
            f"AUTOGRAD_CY_BLAS={name}: this library was built for 64-bit integers; "
            "use its 32-bit (LP64) build."
        )


def _take_symbols(name):
    """Take the pointers from the library that was opened."""
    for index, letter in enumerate(_LETTERS):
        for kind in ("gemm", "gemv"):
            symbols = [spelling.format(letter + kind) for spelling in _SPELLINGS]
            address = next(filter(None, map(_address, symbols)), 0)
            if not address:
                raise ImportError(
                    f"AUTOGRAD_CY_BLAS={name}: the library has no {symbols[0]}; "
                    "it must be a BLAS with Fortran names and 32-bit integers."
                )
            _put(kind, index, address)


def _put(kind, int index, size_t address):
    if kind == "gemm":
        blas.gemm[index] = <gemm_fn>address
    else:
        blas.gemv[index] = <gemv_fn>address


def _hold_threads(choice):
    """Hold the library at one thread, or leave it alone."""
    global get_threads
    cdef set_threads_fn setter
    blas.own_threads = choice == "library"
    blas.local_threads = NULL
    _chosen["threads"] = choice
    _chosen["setter"] = None
    for set_name, get_name in _SETTERS:
        if not _address(set_name):
            continue
        get_threads = <get_int_fn><size_t>_address(get_name)
        if choice == "library":
            return
        if _address("MKL_Set_Num_Threads_Local"):
            _chosen["setter"] = "MKL_Set_Num_Threads_Local"
            blas.local_threads = <local_threads_fn><size_t>_address(_chosen["setter"])
            return
        _chosen["setter"] = set_name
        setter = <set_threads_fn><size_t>_address(set_name)
        setter(1)
        return


def _address(name):
    """The address of a symbol in the library or those it is linked with; 0 if absent."""
    if handle == NULL:
        return 0
    return <size_t>dlsym(handle, name.encode())


def _text(names):
    cdef get_text_fn get
    cdef char* text
    for name in names:
        if _address(name):
            get = <get_text_fn><size_t>_address(name)
            text = get()
            return text.decode(errors="replace") if text != NULL else None
    return None


def _library():
    """The file that holds sgemm."""
    for spelling in _SPELLINGS:
        if address := _address(spelling.format("sgemm")):
            return os.fsdecode(agc_file_of(<void*><size_t>address))
    return None


def blas_info():
    """Return which BLAS is in use, as a dict; loads it if no product has done so.

    `provider` is the choice (see AUTOGRAD_CY_BLAS), `library` the file with sgemm, `config` and
    `core` what the library says about itself, `threads` who splits products, `setter` the function
    that holds the library at one thread, `library_threads` its number of threads now.  Only the
    first of these is there when all products are done by this package itself.
    """
    ensure_blas()
    if blas.own_loops:
        return {"provider": "own"}
    return {
        "provider": _chosen["provider"],
        "library": _library(),
        "config": _text(_CONFIGS),
        "core": _text(_CORES),
        "threads": _chosen["threads"],
        "setter": _chosen["setter"],
        "library_threads": get_threads() if get_threads != NULL else None,
    }


blas.own_loops = _choice() == "own"
