# cython: language_level=3
# build: plain cold
"""Running sums, products, extremes, logarithms of sums and recurrences on CUDA devices.

One launch, or two where several blocks share a row. How elements are shared out depends on shapes
alone. Kernels are in ext/cuda/device/scans.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_reduce cimport (
    BLOCKS, LOG_THREADS, LOG_WARP, MANY, blocks_of, log_ceil, quotient_up, set_divisor)
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport (
    DTYPES, DT_BF16, DT_BOOL, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE)
from autograd_cy._C.iterate cimport (
    cast, clone_plain, contiguous, copy_into, expand_plain, one_memory)
from autograd_cy._C.outputs cimport fresh_dense
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport (
    F_STRIDED, Tensor, normal_dim, tensor_empty_on, tensor_window)

cdef extern from "device/scan_arguments.h" nogil:
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_scan_args:
        void* out
        int64_t* places
        const void* in_ "in"[3]
        const double* sums
        void* partial
        ag_wide_divisor inner
        uint64_t rows, length, chunk
        uint32_t parts, totals, group, width, by_rows, packed, reversed, turned
        double unit

cdef enum:
    SUM = 0
    PRODUCT = 1
    EXTREME = 2
    LOG = 3
    LOG_JVP = 4
    LOG_BACKWARD = 5
    RECURRENCE = 6
    ACCUMULATOR = 48       # bytes, the most that one has
    SHARE = 8              # steps of a block, before more blocks share a row

include "cuda_types.pxi"

cdef tuple NAMES = ("sum", "product", "extreme", "log", "log_jvp", "log_backward", "recurrence")
cdef tuple IMAGES = ("sums", "products", "extremes", "logs", "logs", "logs", "products")
cdef int[7][DTYPES] kernels      # by operation and dtype; one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of(int op, int dt) except -1:
    cdef str suffix = SUFFIXES[dt]
    if not kernels[op][dt]:
        if op == EXTREME and dt == DT_BOOL:
            suffix = "u8"
        elif op != EXTREME and DT_SIZE[dt] == 1:
            suffix = "i8"
        kernels[op][dt] = kernel_id("scan_" + <str>IMAGES[op], f"{NAMES[op]}_{suffix}") + 1
    return kernels[op][dt] - 1


cdef inline uint64_t items_of(int op, int item) noexcept:
    """Neighbours that a thread has: ITEMS of the kernels."""
    if LOG <= op <= LOG_BACKWARD:
        return 1 if op == LOG and item >= 16 else 2
    return 2 if item >= 16 else 4 if item == 8 else 8


cdef void share_out(ag_scan_args* args, int op, int item) noexcept:
    """Choose threads for a row, and parts of it."""
    cdef uint64_t items = items_of(op, item), tiles, step, parts
    cdef uint32_t columns = log_ceil(args.rows)
    cdef uint32_t group = min(log_ceil(quotient_up(args.length, items)), <uint32_t>LOG_THREADS)
    if not args.by_rows:
        group = min(group, LOG_THREADS - min(columns, <uint32_t>LOG_WARP))
    while group and args.rows << group > MANY and (group > LOG_WARP or not args.by_rows):
        group -= 1
    args.group = group
    args.width = min(columns, LOG_THREADS - group)
    if group + args.width < LOG_WARP:
        args.width = LOG_WARP - group
    step = items << group
    tiles = quotient_up(args.rows, <uint64_t>1 << args.width)
    parts = 1
    if 2 * tiles <= BLOCKS:
        parts = max(min(args.length // (SHARE * step), BLOCKS // tiles), <uint64_t>1)
    args.chunk = quotient_up(quotient_up(args.length, parts), step) * step
    args.parts = <uint32_t>max(quotient_up(args.length, args.chunk), <uint64_t>1)


cdef int run_scan(ag_scan_args* args, int op, int dt, int device, Tensor a,
                  Py_ssize_t dim) except -1:
    """Scan along a dimension of what `args` says; all operands have the shape of `a`."""
    cdef uint64_t inner = 1
    cdef int d, item = <int>DT_SIZE[dt], index = device_index(device)
    cdef size_t addresses = <size_t>args.out | <size_t>args.places
    cdef stream_t stream = current_stream(device)
    cdef Scratch partial = None
    cdef unsigned blocks
    for d in range(3):
        addresses |= <size_t>args.in_[d]
    for d in range(<int>dim + 1, a.nd):
        inner *= a.sizes[d]
    args.length = a.sizes[dim] if a.nd else 1
    args.rows = a.count // args.length
    args.by_rows = inner == 1
    args.packed = (args.by_rows and not args.reversed and args.length * item % 16 == 0
                   and addresses % 16 == 0)
    set_divisor(&args.inner, inner)
    share_out(args, op, item)
    blocks = blocks_of(args.rows, args.width)
    if args.parts > 1:
        partial = scratch(index, args.parts * args.rows * ACCUMULATOR, stream)
        args.partial = partial.data
        args.totals = 1
        launch(kernel_of(op, dt), index, stream, blocks, args.parts - 1, 1,
               1 << (args.group + args.width), 1, 1, 0, args, sizeof(ag_scan_args))
        args.totals = 0
    return launch(kernel_of(op, dt), index, stream, blocks, args.parts, 1,
                  1 << (args.group + args.width), 1, 1, 0, args, sizeof(ag_scan_args))


cdef Tensor operand(Tensor a, Tensor out, Tensor target):
    """`a` in C order and in the dtype of `out`; memory of results that isn't read is left alone."""
    a = contiguous(cast(a, out.dt))
    if one_memory(a, target) and a.ptr != target.ptr:
        a = contiguous(clone_plain(a))
    return a


cdef int scan(int op, Tensor out, Tensor places, Tensor a, Py_ssize_t dim, bint turned,
              str name) except -1:
    cdef ag_scan_args args
    cdef Tensor target = out, where = places
    if out.count == 0:
        return 0
    if out.dt == DT_BOOL and op != EXTREME:
        target = tensor_empty_on(out.mem.device, DT_I64, out.nd, out.sizes, NULL)
        a = operand(cast(a, DT_BOOL), target, target)
    else:
        if out.flags & F_STRIDED:
            target = fresh_dense(out)
        a = operand(a, out, target)
    memset(&args, 0, sizeof(args))
    if places is not None:
        if places.flags & F_STRIDED:
            where = fresh_dense(places)
        args.places = <int64_t*>where.ptr
    args.out = target.ptr
    args.in_[0] = a.ptr
    args.turned = turned
    run_scan(&args, op, target.dt, out.mem.device, a, normal_dim(dim, a.nd))
    if where is not places:
        copy_into(places, where, name)
    return copy_into(out, target, name) if target is not out else 0


cdef int cumsum(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    return scan(SUM, out, None, a, dim, False, "cumsum")


cdef int cumprod(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    return scan(PRODUCT, out, None, a, dim, False, "cumprod")


cdef int cummax(Tensor values, Tensor places, Tensor a, Py_ssize_t dim) except -1:
    return scan(EXTREME, values, places, a, dim, False, "cummax")


cdef int cummin(Tensor values, Tensor places, Tensor a, Py_ssize_t dim) except -1:
    return scan(EXTREME, values, places, a, dim, True, "cummin")


cdef int logcumsumexp(Tensor out, Tensor a, Py_ssize_t dim) except -1:
    return scan(LOG, out, None, a, dim, False, "logcumsumexp")


cdef int linear_scan(Tensor out, Tensor terms, Tensor factors, Py_ssize_t dim,
                     bint reverse) except -1:
    cdef ag_scan_args args
    cdef Tensor target = out
    if out.count == 0:
        return 0
    if out.flags & F_STRIDED:
        target = fresh_dense(out)
    terms = operand(terms, out, target)
    factors = operand(factors, out, target)
    memset(&args, 0, sizeof(args))
    args.out = target.ptr
    args.in_[0], args.in_[1] = terms.ptr, factors.ptr
    args.reversed = reverse
    run_scan(&args, RECURRENCE, out.dt, out.mem.device, terms, normal_dim(dim, out.nd))
    return copy_into(out, target, "_linear_scan") if target is not out else 0


# --- derivatives of logarithms of sums ---------------------------------------------------------

cdef Tensor in_c_order(Tensor a, Tensor like):
    """`a` in C order, in the shape and dtype of `like`."""
    return contiguous(expand_plain(cast(a, like.dt), like.nd, like.sizes, "logcumsumexp"))


cdef int log_derivative(Tensor out, Tensor vector, Tensor a, Tensor total, Py_ssize_t back,
                        bint backward) except -1:
    """The dimension is counted from the end, as a negative number; 0 is that of a number."""
    cdef ag_scan_args args
    cdef Tensor target = out, sums = None, shaped
    cdef Py_ssize_t dim = back + out.nd if back else 0, one = out.count
    cdef int dt = out.dt, device = out.mem.device
    if out.count == 0:
        return 0
    if dt == DT_F16 or dt == DT_BF16:
        target = tensor_empty_on(device, DT_F32, out.nd, out.sizes, NULL)
    elif out.flags & F_STRIDED:
        target = fresh_dense(out)
    vector = in_c_order(vector, target)
    a = in_c_order(a, target)
    total = in_c_order(total, target)
    memset(&args, 0, sizeof(args))
    # Sums are kept in the dtype of the result; exp makes an error of what a large one has lost.
    args.unit = (9.8e-4 if dt == DT_F16 else 7.9e-3 if dt == DT_BF16 else
                 2.4e-7 if dt == DT_F32 else 0)
    shaped = target
    if not back and out.nd:         # each element by itself
        shaped = rows_of_one(target, one)
        dim = 1
    if backward and args.unit != 0:
        sums = tensor_empty_on(device, DT_F64, shaped.nd, shaped.sizes, NULL)
        logcumsumexp(sums, rows_of_one(a, one) if shaped is not target else a, dim)
        args.sums = <const double*>sums.ptr
    args.out = target.ptr
    args.in_[0], args.in_[1], args.in_[2] = vector.ptr, a.ptr, total.ptr
    args.reversed = backward
    run_scan(&args, LOG_BACKWARD if backward else LOG_JVP, target.dt, device, shaped, dim)
    return copy_into(out, target, "logcumsumexp") if target is not out else 0


cdef Tensor rows_of_one(Tensor a, Py_ssize_t n):
    cdef Py_ssize_t[2] sizes = [n, 1]
    cdef Py_ssize_t[2] strides = [1, 1]
    return tensor_window(a, 2, sizes, strides, 0)


cdef int logcumsumexp_jvp(Tensor out, Tensor tangent, Tensor a, Tensor total,
                          Py_ssize_t back) except -1:
    return log_derivative(out, tangent, a, total, back, False)


cdef int logcumsumexp_backward(Tensor out, Tensor grad, Tensor a, Tensor total,
                               Py_ssize_t back) except -1:
    return log_derivative(out, grad, a, total, back, True)


# --- the column of the device -----------------------------------------------------------------

cdef const char* ALONG = "int (Tensor, Tensor, Py_ssize_t)"
cdef const char* EXTREMES = "int (Tensor, Tensor, Tensor, Py_ssize_t)"
cdef const char* DERIVATIVE = "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t)"

KERNELS = {
    "cumsum": PyCapsule_New(<void*>cumsum, ALONG, NULL),
    "_cumprod": PyCapsule_New(<void*>cumprod, ALONG, NULL),
    "cummax": PyCapsule_New(<void*>cummax, EXTREMES, NULL),
    "cummin": PyCapsule_New(<void*>cummin, EXTREMES, NULL),
    "logcumsumexp": PyCapsule_New(<void*>logcumsumexp, ALONG, NULL),
    "_logcumsumexp_jvp": PyCapsule_New(<void*>logcumsumexp_jvp, DERIVATIVE, NULL),
    "_logcumsumexp_backward": PyCapsule_New(<void*>logcumsumexp_backward, DERIVATIVE, NULL),
    "_linear_scan": PyCapsule_New(
        <void*>linear_scan, "int (Tensor, Tensor, Tensor, Py_ssize_t, bint)", NULL),
}
