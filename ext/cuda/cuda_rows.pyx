# cython: language_level=3
# build: plain cold
"""Softmax, its logarithm and their gradients on CUDA devices: one launch each.

Half types are computed in float32 and rounded once, as on the CPU.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport launch
from autograd_cy._C.cuda_reduce cimport (
    LOG_THREADS, LOG_WARP, MANY, blocks_of, kernel_of_floats, log_ceil, quotient_up, set_divisor)
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DTYPES, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, copy_into
from autograd_cy._C.outputs cimport fresh_dense
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_STRIDED, Tensor

cdef extern from "device/row_arguments.h" nogil:
    ctypedef struct ag_wide_divisor:
        pass
    ctypedef struct ag_row_args:
        void* out
        const void* in_ "in"[2]
        ag_wide_divisor inner
        uint64_t rows, length
        uint32_t group, width, by_rows, packed

cdef enum:
    SOFTMAX = 0
    LOG_SOFTMAX = 1
    SOFTMAX_BACKWARD = 2
    LOG_SOFTMAX_BACKWARD = 3

cdef tuple NAMES = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward")
cdef int[4][DTYPES] kernels      # by operation and dtype; one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of_rows(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_of_floats("rows", NAMES[op], dt) + 1
    return kernels[op][dt] - 1


cdef unsigned share_rows(void* row, int item) noexcept:
    cdef ag_row_args* args = <ag_row_args*>row
    cdef size_t addresses = <size_t>args.out | <size_t>args.in_[0] | <size_t>args.in_[1]
    args.by_rows = 1
    args.packed = args.length * item % 16 == 0 and addresses % 16 == 0
    return share_out(args, item)


cdef unsigned share_out(ag_row_args* args, int item) noexcept:
    """Choose threads: one batch of elements for each, if a block has so many."""
    cdef uint32_t columns = log_ceil(args.rows)
    cdef uint32_t group = min(
        log_ceil(quotient_up(args.length, 16 // item)), <uint32_t>LOG_THREADS)
    if not args.by_rows:
        group = min(group, LOG_THREADS - min(columns, <uint32_t>LOG_WARP))
        while group and args.rows << group > MANY:
            group -= 1
    args.group = group
    args.width = min(columns, LOG_THREADS - group)
    if group + args.width < LOG_WARP:
        args.width = LOG_WARP - group
    return blocks_of(args.rows, args.width)


cdef int run_rows(int op, Tensor out, Tensor a, Tensor b, Py_ssize_t dim) except -1:
    cdef ag_row_args args
    cdef Tensor target = out
    cdef uint64_t inner = 1
    cdef int d, item = <int>DT_SIZE[out.dt], device = out.mem.device
    cdef unsigned blocks
    if out.count == 0:
        return 0
    a = contiguous(cast(a, out.dt))
    if b is not None:
        b = contiguous(cast(b, out.dt))
    if out.flags & F_STRIDED:
        target = fresh_dense(out)
    memset(&args, 0, sizeof(args))
    for d in range(<int>dim + 1, a.nd):
        inner *= a.sizes[d]
    args.length = a.sizes[dim] if a.nd else 1
    args.rows = a.count // args.length
    set_divisor(&args.inner, inner)
    args.out = target.ptr
    args.in_[0] = a.ptr
    args.in_[1] = NULL if b is None else b.ptr
    blocks = share_rows(&args, item) if inner == 1 else share_out(&args, item)
    launch(kernel_of_rows(op, out.dt), device_index(device), current_stream(device), blocks, 1, 1,
           1 << (args.group + args.width), 1, 1, 0, &args, sizeof(args))
    if target is not out:
        copy_into(out, target, "softmax")
    return 0


cdef int softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1:
    return run_rows(SOFTMAX, out, a, None, dim)


cdef int log_softmax_into(Tensor out, Tensor a, Py_ssize_t dim, int dt) except -1:
    return run_rows(LOG_SOFTMAX, out, a, None, dim)


cdef int softmax_backward_into(Tensor out, Tensor grad, Tensor result, Py_ssize_t dim) except -1:
    return run_rows(SOFTMAX_BACKWARD, out, grad, result, dim)


cdef int log_softmax_backward_into(Tensor out, Tensor grad, Tensor result,
                                   Py_ssize_t dim) except -1:
    return run_rows(LOG_SOFTMAX_BACKWARD, out, grad, result, dim)


cdef const char* FORWARD = "int (Tensor, Tensor, Py_ssize_t, int)"
cdef const char* BACKWARD = "int (Tensor, Tensor, Tensor, Py_ssize_t)"

KERNELS = {
    "softmax": PyCapsule_New(<void*>softmax_into, FORWARD, NULL),
    "log_softmax": PyCapsule_New(<void*>log_softmax_into, FORWARD, NULL),
    "softmax_backward": PyCapsule_New(<void*>softmax_backward_into, BACKWARD, NULL),
    "log_softmax_backward": PyCapsule_New(<void*>log_softmax_backward_into, BACKWARD, NULL),
}
