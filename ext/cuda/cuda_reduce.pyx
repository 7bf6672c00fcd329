# cython: language_level=3
# build: plain cold
"""Reductions on CUDA devices.

Dimensions are sorted and joined, threads are shared out by shapes alone, so that results have the
same bits in each run, and kernels of ext/codegen/cuda_reductions.py are launched: one, or two where
several blocks share a result. What each operator does with its arguments is at the end.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, dense_like, scratch
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport (
    DTYPES, DT_BF16, DT_BOOL, DT_C64, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE, dt_is_complex,
    dt_is_float, dt_is_limited, dt_real)
from autograd_cy._C.iterate cimport (
    P_BOOL, P_SAME, P_SKIP_FIRST, cast, copy_into, ew1, ew2, ew3, fill_with, resolved)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.reduce cimport reduced_dims_last
from autograd_cy._C.rules_common cimport dims_mask
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport (
    F_LAZY, F_STRIDED, MAX_DIMS, Tensor, tensor_empty_on, tensor_on, tensor_window, wrap_double)

from autograd_cy._C._warned import warn as _warn

cdef extern from "device/reduction_arguments.h" nogil:
    enum:
        AG_CUDA_DIMS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_reduce_args:
        const void* in_ "in"
        void* out[2]
        void* partial
        double number[2]
        int64_t kept_stride[8]
        int64_t out_stride[2][8]
        int64_t reduced_stride[8]
        ag_wide_divisor kept_axes[8]
        ag_wide_divisor reduced[8]
        uint64_t results, length, chunk, lines, chunk_lines
        uint32_t n_kept, n_reduced, n_outer, split, group, width, by_rows, dense, turned
        int32_t dt[2]

cdef extern from * nogil:
    """
    static void ag_set_divisor(ag_wide_divisor *d, uint64_t size)
    {
        uint64_t shift = 0;
        while (shift < 63 && (uint64_t)1 << shift < size) shift++;
        d->size = size;
        d->shift = shift;
        /* the least multiplier whose quotients are exact below 2^63 */
        d->mul = (uint64_t)((((unsigned __int128)1 << 64)
                             * (((unsigned __int128)1 << shift) - size)) / (size ? size : 1) + 1);
    }
    """
    void ag_set_divisor(ag_wide_divisor* d, uint64_t size)

cdef int K_ADD = kernel_number("add")
cdef int K_EXP = kernel_number("exp")
cdef int K_ISFINITE = kernel_number("isfinite")
cdef int K_LOG = kernel_number("log")
cdef int K_SQRT = kernel_number("sqrt")
cdef int K_SUB = kernel_number("sub")
cdef int K_WHERE = kernel_number("where")

cdef enum:
    SHARE = 8              # batches that a thread has, before more threads share a result
    LINE = 32              # elements that the innermost dimension has, or divisions find the place
    LOG_BUSY = 7           # threads of a block that such lines must leave busy


cdef void set_divisor(void* divisor, uint64_t size) noexcept nogil:
    ag_set_divisor(<ag_wide_divisor*>divisor, size)


# --- kernels --------------------------------------------------------------------------------

cdef tuple OPERATIONS = (
    "sum", "product", "extreme", "logsumexp", "variance", "squares", "truth")
include "cuda_types.pxi"

cdef tuple ELEMENTS = ("u8",) + SUFFIXES[1:]    # bool is read as bytes
cdef tuple WORDS = tuple([f"w{8 * DT_SIZE[_dt]}" for _dt in range(DTYPES)])
cdef tuple IMAGES = tuple([
    {"h": "halves", "f": SUFFIXES[_dt], "c": "complex"}.get(LETTERS[_dt], "ints")
    for _dt in range(DTYPES)])

cdef int[7][DTYPES] kernels      # by operation and dtype; one more than the number, 0: unknown
cdef int[7][DTYPES] joining      # the second pass
memset(kernels, 0, sizeof(kernels))
memset(joining, 0, sizeof(joining))


cdef int kernel_of_elements(int op, int dt) except -1:
    if not kernels[op][dt]:
        if op == OP_TRUTH:
            kernels[op][dt] = kernel_id("reduce_ints", f"truth_{WORDS[dt]}") + 1
        else:
            kernels[op][dt] = kernel_id(
                f"reduce_{IMAGES[dt]}", f"{OPERATIONS[op]}_{ELEMENTS[dt]}") + 1
    return kernels[op][dt] - 1


cdef int kernel_of_parts(int op, int dt) except -1:
    """Return the kernel that joins the accumulators of blocks."""
    cdef str name
    if not joining[op][dt]:
        if op == OP_TRUTH or op == OP_LOGSUMEXP or op == OP_VARIANCE:
            name = OPERATIONS[op]
        elif op == OP_EXTREME:
            name = "extreme_" + ("i32" if dt < DT_I64 else "f32" if DT_F16 <= dt <= DT_F32
                                 else ELEMENTS[dt])
        else:
            name = "product_" if op == OP_PRODUCT else "sum_"
            name += "i64" if dt <= DT_I64 else "f64" if dt <= DT_F64 else "c128"
        joining[op][dt] = kernel_id("reduce_parts", name + "_parts") + 1
    return joining[op][dt] - 1


cdef int kernel_of_floats(str family, str name, int dt) except -1:
    cdef str suffix = ELEMENTS[dt]
    return kernel_id(f"{family}_{'halves' if dt < DT_F32 else suffix}", f"{name}_{suffix}")


cdef inline int accumulator_size(int op, int dt) noexcept:
    if op == OP_VARIANCE:
        return 32
    if op == OP_TRUTH:
        return 4
    return 16 if op == OP_EXTREME or op == OP_LOGSUMEXP or dt >= DT_C64 else 8


# --- dimensions -----------------------------------------------------------------------------

cdef struct Axis:
    uint64_t size
    int64_t step           # of the input, in bytes
    int64_t out[2]         # of the results, in bytes


cdef inline bint faster(const Axis* x, const Axis* y) noexcept:
    """Tell whether x comes before y, innermost first; repeated elements are the slowest."""
    return x.step < y.step and x.step != 0 or (y.step == 0 and x.step != 0)


cdef void insert(Axis* axes, int* n, const Axis* axis, bint sort) noexcept:
    cdef int j = n[0]
    while sort and j > 0 and faster(axis, &axes[j - 1]):
        axes[j] = axes[j - 1]
        j -= 1
    axes[j] = axis[0]
    n[0] += 1


cdef int join_axes(Axis* axes, int n) noexcept:
    """Join neighbours with the strides of one; returns how many are left."""
    cdef int d, m = 0
    cdef int64_t size
    for d in range(n):
        if m:
            size = <int64_t>axes[m - 1].size
            if (axes[d].step == size * axes[m - 1].step
                    and axes[d].out[0] == size * axes[m - 1].out[0]
                    and axes[d].out[1] == size * axes[m - 1].out[1]):
                axes[m - 1].size *= axes[d].size
                continue
        axes[m] = axes[d]
        m += 1
    return m


cdef inline uint64_t batch_of(int itemsize) noexcept:
    """Return roughly how many elements a thread reads at once."""
    return min(max(16 // itemsize, 4), 16)


cdef bint in_lines(uint64_t length, uint64_t results, int itemsize) noexcept:
    """Tell whether it pays to read lines of the innermost dimension one after the other."""
    cdef uint32_t group = min(
        log_ceil(quotient_up(length, batch_of(itemsize))), <uint32_t>LOG_THREADS)
    return length >= LINE and group + min(log_ceil(results), LOG_THREADS - group) >= LOG_BUSY


cdef uint32_t share_out(ag_reduce_args* args, int itemsize) noexcept:
    """Choose threads by results and length; returns how many blocks share a result."""
    cdef uint64_t batch = batch_of(itemsize), tiles, step
    cdef uint64_t results = args.results, length = args.length, lines = args.lines
    cdef uint32_t columns = log_ceil(results), group, width
    cdef uint64_t count = 1
    args.split = 1
    group = min(log_ceil(quotient_up(length, SHARE * batch)), <uint32_t>LOG_THREADS)
    if args.by_rows:
        while group < LOG_THREADS and length > batch << group and results << group < MANY:
            group += 1
        width = min(LOG_THREADS - group, columns)
    else:
        width = min(columns, <uint32_t>LOG_WARP)
        group = min(group, LOG_THREADS - width)
        while group and results << group > MANY:
            group -= 1
        width = min(columns, LOG_THREADS - group)
    if group + width < LOG_WARP:
        width = LOG_WARP - group
    args.group = group
    args.width = width
    tiles = quotient_up(results, <uint64_t>1 << width)
    step = SHARE * batch << group
    if 2 * tiles <= BLOCKS:
        count = max(min(length * lines // step, BLOCKS // tiles), <uint64_t>1)
    args.chunk_lines = max(quotient_up(lines, min(lines, count)), <uint64_t>1)
    lines = max(quotient_up(lines, args.chunk_lines), <uint64_t>1)
    # Whole batches, so that what lies behind the first ones is still aligned.
    step = batch << group
    count = max(min(count // lines, length // (SHARE * step)), <uint64_t>1)
    args.chunk = quotient_up(quotient_up(length, count), step) * step
    args.split = <uint32_t>max(quotient_up(length, args.chunk), <uint64_t>1) if length else 1
    return args.split * <uint32_t>lines


cdef int launch_pass(int kernel, int index, stream_t stream, const ag_reduce_args* args,
                     uint32_t parts) except -1:
    return launch(kernel, index, stream, blocks_of(args.results, args.width), parts, 1,
                  1 << (args.group + args.width), 1, 1, 0, args, sizeof(ag_reduce_args))


cdef int second_pass(int op, int dt, int index, stream_t stream, ag_reduce_args* args,
                     uint32_t parts) except -1:
    """Join what `parts` blocks left for each result."""
    cdef int64_t step = accumulator_size(op, dt)
    cdef uint32_t d
    args.in_ = args.partial
    args.partial = NULL
    args.n_reduced = 1
    args.n_outer = 0
    args.lines = args.chunk_lines = args.split = 1
    set_divisor(&args.reduced[0], parts)
    args.reduced_stride[0] = step * <int64_t>args.results
    args.length = args.chunk = parts
    for d in range(args.n_kept):
        args.kept_stride[d] = step
        step *= <int64_t>args.kept_axes[d].size
    args.by_rows = args.dense = 0
    args.width = min(log_ceil(args.results), <uint32_t>LOG_WARP)
    args.group = min(log_ceil(parts), LOG_THREADS - args.width)
    if args.group + args.width < LOG_WARP:
        args.width = LOG_WARP - args.group
    return launch_pass(kernel_of_parts(op, dt), index, stream, args, 1)


cdef int by_memory(int op, Tensor a, const char* mask, Tensor out, Tensor second, double x,
                   double y, bint turned) except -1:
    """Rows of a packed copy, where there are too many dimensions."""
    cdef Tensor packed = reduced_dims_last(a, mask)
    cdef Py_ssize_t[2] sizes
    cdef Tensor result = out if out is not None else second
    cdef char[3] rows
    cdef int k
    sizes[0] = result.count
    sizes[1] = a.count // result.count
    packed = tensor_window(packed, 2, sizes, NULL, 0)
    rows[0], rows[1] = 0, 1
    rows_of_results = []
    for result in (out, second):
        if result is None:
            rows_of_results.append(None)
        elif result.flags & F_STRIDED:
            rows_of_results.append(tensor_empty_on(result.mem.device, result.dt, 1, sizes, NULL))
        else:
            rows_of_results.append(tensor_window(result, 1, sizes, NULL, 0))
    reduce(op, packed, rows, <Tensor>rows_of_results[0], <Tensor>rows_of_results[1], x, y, turned)
    for k, result in enumerate((out, second)):
        if result is not None and result.flags & F_STRIDED:
            copy_into(result, tensor_window(<Tensor>rows_of_results[k], result.nd, result.sizes,
                                            NULL, 0), "reduce")
    return 0


cdef int reduce(int op, Tensor a, const char* mask, Tensor out, Tensor second, double x, double y,
                bint turned) except -1:
    cdef Axis kept_axes[MAX_DIMS]
    cdef Axis reduced[MAX_DIMS]
    cdef Axis axis
    cdef ag_reduce_args args
    cdef Tensor result = out if out is not None else second
    cdef Scratch partial
    cdef int n_kept = 0, n_reduced = 0, d, j = 0, k, item = <int>DT_SIZE[a.dt]
    cdef int device = a.mem.device, index = device_index(device)
    cdef stream_t stream = current_stream(device)
    cdef bint keepdim = result.nd == a.nd
    cdef uint32_t parts
    if result.count == 0:
        return 0
    if a.flags & F_LAZY:
        a = resolved(a)
    memset(&args, 0, sizeof(args))
    args.results = args.length = args.lines = 1
    j = result.nd - 1
    for d in range(a.nd - 1, -1, -1):
        axis.size = a.sizes[d]
        axis.step = a.strides[d] * item
        axis.out[0] = axis.out[1] = 0
        if mask[d]:
            args.length *= axis.size
            j -= keepdim
            if axis.size != 1:
                # Places of extremes count the elements in C order.
                insert(reduced, &n_reduced, &axis, op != OP_EXTREME or second is None)
            continue
        args.results *= axis.size
        if axis.size != 1:
            if out is not None:
                axis.out[0] = out.strides[j] * <int64_t>DT_SIZE[out.dt]
            if second is not None:
                axis.out[1] = second.strides[j] * <int64_t>DT_SIZE[second.dt]
            insert(kept_axes, &n_kept, &axis, True)
        j -= 1
    n_kept = join_axes(kept_axes, n_kept)
    n_reduced = join_axes(reduced, n_reduced)
    if n_kept > AG_CUDA_DIMS or n_reduced > AG_CUDA_DIMS:
        return by_memory(op, a, mask, out, second, x, y, turned)
    args.in_ = a.ptr
    args.n_kept = n_kept
    for k in range(n_kept):
        set_divisor(&args.kept_axes[k], kept_axes[k].size)
        args.kept_stride[k] = kept_axes[k].step
        args.out_stride[0][k] = kept_axes[k].out[0]
        args.out_stride[1][k] = kept_axes[k].out[1]
    for k in range(n_reduced):
        set_divisor(&args.reduced[k], reduced[k].size)
        args.reduced_stride[k] = reduced[k].step
    for k, result in enumerate((out, second)):
        if result is not None:
            args.out[k] = result.ptr
            args.dt[k] = result.dt
    args.number[0], args.number[1] = x, y
    args.turned = turned
    args.by_rows = n_kept == 0 or (n_reduced > 0 and faster(&reduced[0], &kept_axes[0]))
    args.n_reduced = n_reduced
    if n_reduced > 1 and args.length and in_lines(reduced[0].size, args.results, item):
        args.n_reduced, args.n_outer = 1, n_reduced - 1
        args.lines = args.length // reduced[0].size
        args.length = reduced[0].size
    args.dense = args.n_reduced == 1 and reduced[0].step == item
    parts = share_out(&args, item)
    if parts > 1:
        partial = scratch(
            index, parts * <Py_ssize_t>args.results * accumulator_size(op, a.dt), stream)
        args.partial = partial.data
    launch_pass(kernel_of_elements(op, a.dt), index, stream, &args, parts)
    if parts > 1:
        second_pass(op, a.dt, index, stream, &args, parts)
    return 0


cdef int join_sums(int index, stream_t stream, const void* partial, uint64_t count,
                   uint64_t columns, double scale, char* out, int dt) except -1:
    cdef ag_reduce_args args
    memset(&args, 0, sizeof(args))
    args.results = columns
    args.n_kept = 1
    set_divisor(&args.kept_axes[0], columns)
    args.out_stride[0][0] = DT_SIZE[dt]
    args.partial = <void*>partial
    args.out[0] = out
    args.dt[0] = dt
    args.number[0] = scale
    return second_pass(OP_SUM, DT_F64, index, stream, &args, <uint32_t>count)


# --- sums and products ----------------------------------------------------------------------

cdef Tensor as_summand(Tensor a, int dt, bint adds):
    """The operand in a dtype whose accumulator rounds to dt."""
    if dt_is_limited(a.dt):
        return cast(a, dt)
    if a.dt == dt or (a.dt <= DT_I64 and DT_BOOL < dt <= DT_I64):
        return a                    # integers wrap, before or after
    if (a.dt == DT_F16 or a.dt == DT_BF16) and dt == DT_F32:
        return a
    if adds and a.dt < DT_I64 and dt_is_float(dt):
        return a                    # summed without rounding
    return cast(a, dt)


cdef uint64_t reduced_count(Tensor a, const char* mask) noexcept:
    cdef uint64_t n = 1
    cdef int d
    for d in range(a.nd):
        if mask[d]:
            n *= a.sizes[d]
    return n


cdef int sum_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    return reduce(OP_SUM, as_summand(a, out.dt, True), mask, out, None, 1, 0, False)


cdef int squares_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    return reduce(OP_SQUARES, a, mask, out, None, 1, 0, False)


cdef int prod_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    return reduce(OP_PRODUCT, as_summand(a, out.dt, False), mask, out, None, 1, 0, False)


cdef int prod_dim_into(Tensor out, Tensor a, Py_ssize_t dim, bint keepdim, int dt) except -1:
    return prod_into(out, a, dim, keepdim, dt)


cdef int mean_into(Tensor out, Tensor a, object dims, bint keepdim, int dt) except -1:
    cdef char[MAX_DIMS + 1] mask
    cdef uint64_t n
    dims_mask(dims, a.nd, mask)
    n = reduced_count(a, mask)
    return reduce(OP_SUM, as_summand(a, out.dt, True), mask, out, None, 1.0 / n if n else NAN, 0,
                  False)


# --- extremes -------------------------------------------------------------------------------

cdef int extreme_into(bint smallest, Tensor out, Tensor a, object dims) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    return reduce(OP_EXTREME, a, mask, out, None, 0, 0, smallest)


cdef int amax_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return extreme_into(False, out, a, dims)


cdef int amin_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return extreme_into(True, out, a, dims)


cdef int max_into(Tensor out, Tensor a) except -1:
    return extreme_into(False, out, a, None)


cdef int min_into(Tensor out, Tensor a) except -1:
    return extreme_into(True, out, a, None)


cdef int aminmax_into(Tensor low, Tensor high, Tensor a, object dim, bint keepdim) except -1:
    extreme_into(True, low, a, dim)
    return extreme_into(False, high, a, dim)


cdef int place_into(bint smallest, Tensor values, Tensor places, Tensor a,
                    object dim) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dim, a.nd, mask)
    return reduce(OP_EXTREME, a, mask, values, places, 0, 0, smallest)


cdef int max_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1:
    return place_into(False, values, index, a, dim)


cdef int min_dim_into(Tensor values, Tensor index, Tensor a, Py_ssize_t dim,
                      bint keepdim) except -1:
    return place_into(True, values, index, a, dim)


cdef int argmax_into(Tensor out, Tensor a, object dim, bint keepdim) except -1:
    return place_into(False, None, out, a, dim)


cdef int argmin_into(Tensor out, Tensor a, object dim, bint keepdim) except -1:
    return place_into(True, None, out, a, dim)


# --- truth ----------------------------------------------------------------------------------

cdef double significant_bits(int dt) noexcept:
    """All bits of a word but for signs, as the bits of a double."""
    cdef uint64_t bits = <uint64_t>-1
    cdef double x
    if dt == DT_F16 or dt == DT_BF16:
        bits = 0x7FFF
    elif dt == DT_F32:
        bits = 0x7FFFFFFF
    elif dt == DT_C64:
        bits = <uint64_t>0x7FFFFFFF7FFFFFFF
    elif dt > DT_I64:
        bits = bits >> 1
    memcpy(&x, &bits, sizeof(x))
    return x


cdef int truth_into(bint all_of_them, Tensor out, Tensor a, object dims) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    if isinstance(dims, (tuple, list)) and len(dims) == 0:
        memset(mask, 0, a.nd)
    return reduce(OP_TRUTH, a, mask, out, None, significant_bits(a.dt), 0, all_of_them)


cdef int all_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return truth_into(True, out, a, dims)


cdef int any_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    return truth_into(False, out, a, dims)


# --- logarithms of sums of exponentials ------------------------------------------------------

cdef Tensor real_window(Tensor a, int part):
    """Real (0) or imaginary (1) part of a complex tensor, as a view."""
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d
    for d in range(a.nd):
        strides[d] = 2 * a.strides[d]
    return tensor_on(a.mem, a.ptr + part * DT_SIZE[dt_real(a.dt)], dt_real(a.dt), a.nd, a.sizes,
                     strides)


cdef int complex_logsumexp(Tensor out, Tensor a, const char* mask) except -1:
    """From the largest real part, as for real numbers; an infinite one is left where it is."""
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Tensor top, total
    cdef bint keepdim = out.nd == a.nd
    cdef int d, j = 0, device = a.mem.device
    for d in range(a.nd):
        sizes[d] = 1 if mask[d] else a.sizes[d]
        strides[d] = 0
        if not mask[d]:
            strides[d] = out.strides[j]
        j += keepdim or not mask[d]
    top = tensor_empty_on(device, dt_real(a.dt), a.nd, sizes, NULL)
    total = tensor_empty_on(device, a.dt, a.nd, sizes, NULL)
    reduce(OP_EXTREME, real_window(a, 0), mask, top, None, 0, 0, False)
    top = ew3(K_WHERE, ew1(K_ISFINITE, top, P_BOOL, None, "logsumexp"), top, wrap_double(0.0),
              P_SKIP_FIRST, None, "logsumexp")
    a = ew2(K_SUB, a, top, P_SAME, None, "logsumexp")
    reduce(OP_SUM, ew1(K_EXP, a, P_SAME, None, "logsumexp"), mask, total, None, 1, 0, False)
    ew1(K_LOG, total, P_SAME, total, "logsumexp")
    ew2(K_ADD, total, top, P_SAME, tensor_window(out, a.nd, sizes, strides, 0), "logsumexp")
    return 0


cdef int logsumexp_into(Tensor out, Tensor a, object dims, bint keepdim) except -1:
    cdef char[MAX_DIMS + 1] mask
    dims_mask(dims, a.nd, mask)
    a = resolved(cast(a, out.dt))
    if not dt_is_complex(a.dt):
        return reduce(OP_LOGSUMEXP, a, mask, out, None, 0, 0, False)
    if a.count:
        return complex_logsumexp(out, a, mask)
    return fill_with(out, -float("inf"))


# --- variances ------------------------------------------------------------------------------

cdef int variance_rows(Tensor out, Tensor mean, Tensor a, const char* mask, double correction,
                       bint root) except -1:
    """The variance, or its root, and perhaps the mean."""
    cdef double divisor = reduced_count(a, mask) - correction
    cdef Tensor other
    if not dt_is_complex(a.dt):
        # Without enough elements the result is 0 / 0 or inf, never negative.
        divisor = max(divisor, 0.0) if a.count else NAN
        return reduce(OP_VARIANCE, a, mask, out, mean, divisor, root, False)
    a = resolved(a)
    other = dense_like(out)
    variance_rows(out, None, real_window(a, 0), mask, correction, root)
    variance_rows(other, None, real_window(a, 1), mask, correction, root)
    ew2(K_ADD, out, other, P_SAME, out, "var")
    return 0


cdef int spread_and_mean(Tensor out, Tensor mean, Tensor a, object dims, double correction,
                         bint root, str name) except -1:
    cdef char[MAX_DIMS + 1] mask
    cdef Tensor wide
    if <double>(a.count // max(out.count, 1)) <= correction:
        _warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).", UserWarning)
    dims_mask(dims, a.nd, mask)
    if not dt_is_complex(a.dt):
        return variance_rows(out, mean, a, mask, correction, root)
    if root:
        # The sum of two variances may be out of the range of its root's dtype.
        wide = tensor_empty_on(out.mem.device, DT_F64, out.nd, out.sizes, NULL)
        variance_rows(wide, None, a, mask, correction, False)
        ew1(K_SQRT, wide, P_SAME, wide, name)
        copy_into(out, wide, name)
    else:
        variance_rows(out, None, a, mask, correction, False)
    return 0 if mean is None else mean_into(mean, a, dims, False, -1)


cdef int var_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1:
    return spread_and_mean(out, None, a, dims, correction, False, "var")


cdef int std_into(Tensor out, Tensor a, object dims, double correction, bint keepdim) except -1:
    return spread_and_mean(out, None, a, dims, correction, True, "std")


cdef int var_mean_into(Tensor var, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1:
    return spread_and_mean(var, mean, a, dims, correction, False, "var_mean")


cdef int std_mean_into(Tensor std, Tensor mean, Tensor a, object dims, double correction,
                       bint keepdim) except -1:
    return spread_and_mean(std, mean, a, dims, correction, True, "std_mean")


# --- the column of the device -----------------------------------------------------------------

cdef const char* SUMS = "int (Tensor, Tensor, object, bint, int)"
cdef const char* DIMS = "int (Tensor, Tensor, object, bint)"
cdef const char* WHOLE = "int (Tensor, Tensor)"
cdef const char* ALONG = "int (Tensor, Tensor, Tensor, Py_ssize_t, bint)"
cdef const char* SPREADS = "int (Tensor, Tensor, object, double, bint)"
cdef const char* SPREADS_AND_MEANS = "int (Tensor, Tensor, Tensor, object, double, bint)"

KERNELS = {
    "sum": PyCapsule_New(<void*>sum_into, SUMS, NULL),
    "sum_dim": PyCapsule_New(<void*>sum_into, SUMS, NULL),
    "_sum_of_squares": PyCapsule_New(<void*>squares_into, DIMS, NULL),
    "mean": PyCapsule_New(<void*>mean_into, SUMS, NULL),
    "mean_dim": PyCapsule_New(<void*>mean_into, SUMS, NULL),
    "prod": PyCapsule_New(<void*>prod_into, SUMS, NULL),
    "prod_dim": PyCapsule_New(
        <void*>prod_dim_into, "int (Tensor, Tensor, Py_ssize_t, bint, int)", NULL),
    "logsumexp": PyCapsule_New(<void*>logsumexp_into, DIMS, NULL),
    "all": PyCapsule_New(<void*>all_into, DIMS, NULL),
    "any": PyCapsule_New(<void*>any_into, DIMS, NULL),
    "amax": PyCapsule_New(<void*>amax_into, DIMS, NULL),
    "amin": PyCapsule_New(<void*>amin_into, DIMS, NULL),
    "max": PyCapsule_New(<void*>max_into, WHOLE, NULL),
    "min": PyCapsule_New(<void*>min_into, WHOLE, NULL),
    "max_dim": PyCapsule_New(<void*>max_dim_into, ALONG, NULL),
    "min_dim": PyCapsule_New(<void*>min_dim_into, ALONG, NULL),
    "argmax": PyCapsule_New(<void*>argmax_into, DIMS, NULL),
    "argmin": PyCapsule_New(<void*>argmin_into, DIMS, NULL),
    "aminmax": PyCapsule_New(
        <void*>aminmax_into, "int (Tensor, Tensor, Tensor, object, bint)", NULL),
    "var": PyCapsule_New(<void*>var_into, SPREADS, NULL),
    "std": PyCapsule_New(<void*>std_into, SPREADS, NULL),
    "var_mean": PyCapsule_New(<void*>var_mean_into, SPREADS_AND_MEANS, NULL),
    "std_mean": PyCapsule_New(<void*>std_mean_into, SPREADS_AND_MEANS, NULL),
}
