# cython: language_level=3
# build: plain cold
"""Incomplete gamma functions and polygamma on CUDA devices, one launch each.

They are computed in double and rounded once. Formulas are in ext/kernels/scalar/gamma_loops.h.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint64_t

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.iterate cimport P_SAME, cast, contiguous, copy_into, ew1, expand_plain
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.outputs cimport fresh_dense
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, tensor_is_contiguous

cdef extern from "device/special_arguments.h" nogil:
    ctypedef struct ag_special_args:
        void* out
        const void* in_ "in"[2]
        uint64_t n
        int32_t order, dt

cdef int K_DIGAMMA = kernel_number("digamma")
cdef int K_TRIGAMMA = kernel_number("trigamma")
cdef int incomplete = kernel_id("special", "incomplete_gamma")
cdef int derivative = kernel_id("special", "polygamma")

cdef enum:
    THREADS = 128


cdef int run_special(int kernel, Tensor out, Tensor a, Tensor b, Py_ssize_t order,
                     str name) except -1:
    cdef ag_special_args args
    cdef Tensor target = out if tensor_is_contiguous(out) else fresh_dense(out)
    cdef int device = out.mem.device, index = device_index(device)
    if out.count == 0:
        return 0
    a = contiguous(expand_plain(cast(a, out.dt), out.nd, out.sizes, name))
    args.in_[0], args.in_[1] = a.ptr, NULL
    if b is not None:
        b = contiguous(expand_plain(cast(b, out.dt), out.nd, out.sizes, name))
        args.in_[1] = b.ptr
    args.out, args.n = target.ptr, out.count
    args.order, args.dt = <int32_t>order, out.dt
    launch(kernel, index, current_stream(device), blocks_for(index, out.count, THREADS), 1, 1,
           THREADS, 1, 1, 0, &args, sizeof(args))
    return copy_into(out, target, name) if target is not out else 0


cdef int polygamma(Tensor out, Tensor a, Py_ssize_t n) except -1:
    if n < 2:
        ew1(K_TRIGAMMA if n else K_DIGAMMA, cast(a, out.dt), P_SAME, out, "polygamma")
        return 0
    # From 170 on the factorial is infinite.
    return run_special(derivative, out, a, None, min(n, <Py_ssize_t>1 << 20), "polygamma")


cdef int igamma(Tensor out, Tensor a, Tensor x) except -1:
    return run_special(incomplete, out, a, x, 0, "igamma")


cdef int igammac(Tensor out, Tensor a, Tensor x) except -1:
    return run_special(incomplete, out, a, x, 1, "igammac")


# --- the column of the device -----------------------------------------------------------------

KERNELS = {
    "_polygamma": PyCapsule_New(<void*>polygamma, "int (Tensor, Tensor, Py_ssize_t)", NULL),
    "igamma": PyCapsule_New(<void*>igamma, "int (Tensor, Tensor, Tensor)", NULL),
    "igammac": PyCapsule_New(<void*>igammac, "int (Tensor, Tensor, Tensor)", NULL),
}
