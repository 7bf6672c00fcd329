# cython: language_level=3
# build: plain cold
"""Elements in another place, on CUDA devices: cat, stack, flip, padding, triangles, ranges.

Kernels are in ext/cuda/device/gathers.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.cuda_gather cimport copy_strided
from autograd_cy._C.cuda_launch cimport kernel_id
from autograd_cy._C.cuda_reduce cimport set_divisor
from autograd_cy._C.cuda_walks cimport (
    Walk, add_dim, begin_walk, kernel_of_words, launch_each)
from autograd_cy._C.dtypes cimport (
    DT_BF16, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE, dt_real)
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, resolved, to_device
from autograd_cy._C.outputs cimport fresh_dense
from autograd_cy._C.padding cimport PAD_CONSTANT
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, check_fits, element_value, normal_dim, store_element,
    tensor_empty_on, tensor_window)

cdef extern from "device/index_arguments.h" nogil:
    enum:
        AG_CUDA_DIMS
        AG_JOINED
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_join_args:
        void* out
        const void* in_ "in"[64]
        uint64_t first[65]
        ag_wide_divisor width
        uint64_t total, n
        uint32_t pieces
    ctypedef struct ag_pad_args:
        void* out
        const void* in_ "in"
        uint64_t value[2]
        int64_t out_stride[8]
        int64_t in_stride[8]
        ag_wide_divisor size[8]
        int64_t other[8]
        int64_t left[8]
        uint64_t n
        uint32_t nd, padded, mode
    ctypedef struct ag_triangle_args:
        void* out
        const void* in_ "in"
        ag_wide_divisor rows, cols
        uint64_t n
        int64_t diagonal
        uint32_t lower
    ctypedef struct ag_range_args:
        void* out
        int64_t first, step
        double start, by
        uint64_t n
        uint32_t whole
        int32_t dt

cdef enum:
    FEW = 3                 # padded dimensions of a launch of the gradient

cdef int ranging = kernel_id("gather", "range")
cdef dict adding = {dt: kernel_id("gather", f"pad_backward_{name}") for dt, name in (
    (DT_F16, "f16"), (DT_BF16, "bf16"), (DT_F32, "f32"), (DT_F64, "f64"))}


# --- cat and stack ----------------------------------------------------------------------------

cdef struct Row:               # pieces that wait for a launch
    ag_join_args args
    uint64_t bits              # of all addresses and widths
    uint64_t rows
    char* out
    uint64_t total             # bytes of a row


cdef int join_row(Row* row, int device) except -1:
    """Launch what waits."""
    cdef ag_join_args* args = &row.args
    cdef uint64_t word = 16
    cdef uint32_t i
    if args.pieces == 0:
        return 0
    row.bits |= <uint64_t>row.out | row.total
    for i in range(args.pieces + 1):
        row.bits |= args.first[i]
    while row.bits & (word - 1):
        word >>= 1
    for i in range(args.pieces + 1):
        args.first[i] //= word
    args.total = row.total // word
    args.out = row.out
    args.n = row.rows * (args.first[args.pieces] - args.first[0])
    set_divisor(&args.width, args.first[args.pieces] - args.first[0])
    launch_each(kernel_of_words("gather", "join", <int>word), device, args.n, args, sizeof(args[0]))
    args.pieces = 0
    row.bits = 0
    return 0


cdef int join_pieces(Tensor out, tuple pieces, int dim, bint stacked) except -1:
    """The pieces side by side along a dimension, which they lack if `stacked`."""
    cdef Row row
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Tensor t
    cdef Py_ssize_t place = 0, inner = DT_SIZE[out.dt], length
    cdef int d, device = out.mem.device
    if out.count == 0:
        return 0
    memset(&row, 0, sizeof(row))
    row.rows = 1
    for d in range(dim):
        row.rows *= out.sizes[d]
    for d in range(dim + 1, out.nd):
        inner *= out.sizes[d]
    row.out = out.ptr
    row.total = out.sizes[dim] * inner
    for piece in pieces:
        t = <Tensor>piece
        if t.count == 0:
            continue
        length = 1 if stacked else t.sizes[dim]
        if t.dt == out.dt and not t.flags & F_STRIDED and resolved(t) is t:
            if row.args.pieces == AG_JOINED:
                join_row(&row, device)
            row.args.in_[row.args.pieces] = t.ptr
            row.args.first[row.args.pieces] = place * inner
            row.args.pieces += 1
            row.args.first[row.args.pieces] = (place + length) * inner
            row.bits |= <uint64_t>t.ptr
        else:
            join_row(&row, device)
            for d in range(t.nd):
                strides[d] = out.strides[d + (stacked and d >= dim)]
            copy_into(tensor_window(out, t.nd, t.sizes, strides, place * out.strides[dim]), t,
                      "cat")
        place += length
    return join_row(&row, device)


cdef Tensor channels_behind(Tensor a):
    cdef Py_ssize_t sizes[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int d, last = a.nd - 1
    for d in range(a.nd):
        sizes[d] = a.sizes[0 if d == 0 else 1 if d == last else d + 1]
        strides[d] = a.strides[0 if d == 0 else 1 if d == last else d + 1]
    return tensor_window(a, a.nd, sizes, strides, 0)


cdef int cat(Tensor out, tuple tensors, Py_ssize_t dim) except -1:
    if out.count == 0:
        return 0
    if out.flags & F_STRIDED:       # channels last: in the order of memory
        dim = normal_dim(dim, out.nd)
        dim = out.nd - 1 if dim == 1 else max(dim - 1, 0)
        return join_pieces(channels_behind(out),
                           tuple([channels_behind(<Tensor>t) for t in tensors]),
                           <int>dim, False)
    return join_pieces(out, tensors, <int>normal_dim(dim, out.nd), False)


cdef int stack(Tensor out, tuple tensors, Py_ssize_t dim) except -1:
    return join_pieces(out, tensors, <int>normal_dim(dim, out.nd), True)


# --- flip -------------------------------------------------------------------------------------

cdef int flip(Tensor out, Tensor a, tuple dims) except -1:
    cdef Walk w
    cdef int64_t item = DT_SIZE[a.dt], start = 0
    cdef int d
    cdef set turned = {normal_dim(d, a.nd) for d in dims} if a.nd else set()
    if out.count == 0:
        return 0
    a = resolved(a)
    begin_walk(&w, 2)
    for d in range(a.nd):
        add_dim(&w, a.sizes[d])
        w.step[0][d] = out.strides[d] * item
        w.step[1][d] = a.strides[d] * item
        if d in turned:
            start += (a.sizes[d] - 1) * w.step[1][d]
            w.step[1][d] = -w.step[1][d]
    return copy_strided(&w, out.ptr, a.ptr + start, item, out.mem.device)


# --- padding ----------------------------------------------------------------------------------

cdef int set_pads(ag_pad_args* args, Tensor out, Tensor a, tuple pad, int64_t item) except -1:
    """Dimensions, of which those that aren't padded are joined; 0 if there are too many."""
    cdef int d, k, n = 0
    cdef int64_t left, right, size, step, other
    for d in range(out.nd - 1, -1, -1):
        k = out.nd - 1 - d
        left = pad[2 * k] if 2 * k < len(pad) else 0
        right = pad[2 * k + 1] if 2 * k < len(pad) else 0
        size, step, other = out.sizes[d], out.strides[d] * item, a.strides[d] * item
        if left == 0 and right == 0:
            if size == 1:
                continue
            if n and args.other[n - 1] == <int64_t>args.size[n - 1].size and args.left[n - 1] == 0 \
                    and step == args.out_stride[n - 1] * args.other[n - 1] \
                    and other == args.in_stride[n - 1] * args.other[n - 1]:
                args.other[n - 1] *= size
                set_divisor(&args.size[n - 1], args.other[n - 1])
                continue
        if n == AG_CUDA_DIMS:
            return 0
        set_divisor(&args.size[n], size)
        args.out_stride[n], args.in_stride[n] = step, other
        args.other[n], args.left[n] = a.sizes[d], left
        n += 1
    args.nd = n
    args.n = out.count
    args.out, args.in_ = out.ptr, a.ptr
    return 1


cdef tuple halves_of(tuple pad):
    """Two paddings that make the same one after the other: of inner dimensions, and of outer
    ones."""
    cdef Py_ssize_t k = len(pad) // 4 * 2
    return pad[:k], (0,) * k + pad[k:]


cdef Tensor padded_empty(Tensor a, tuple pad):
    cdef Py_ssize_t sizes[MAX_DIMS]
    cdef int d, k
    for d in range(a.nd):
        k = a.nd - 1 - d
        sizes[d] = a.sizes[d]
        if 2 * k < len(pad):
            sizes[d] += <Py_ssize_t>pad[2 * k] + <Py_ssize_t>pad[2 * k + 1]
    return tensor_empty_on(a.mem.device, a.dt, a.nd, sizes, NULL)


cdef int run_pad(Tensor out, Tensor a, tuple pad, Py_ssize_t mode, const char* value) except -1:
    cdef ag_pad_args args
    cdef Tensor between
    cdef Py_ssize_t item = DT_SIZE[out.dt]
    if out.count == 0:
        return 0
    a = resolved(a)
    memset(&args, 0, sizeof(args))
    args.mode = <uint32_t>mode
    if value != NULL:
        memcpy(args.value, value, item)
    if not set_pads(&args, out, a, pad, item):
        inner, outer = halves_of(pad)
        between = padded_empty(a, inner)
        run_pad(between, a, inner, mode, value)
        return run_pad(out, between, outer, mode, value)
    return launch_each(kernel_of_words("gather", "pad", <int>item), out.mem.device, args.n, &args,
                       sizeof(args))


cdef int constant_pad(Tensor out, Tensor a, tuple pad, Tensor value) except -1:
    cdef char[16] number
    check_fits(value, a.dt)
    value = to_device(value, 0)
    store_element(number, a.dt, element_value(value.ptr, value.dt))
    return run_pad(out, a, pad, PAD_CONSTANT, number)


cdef int pad_by(Tensor out, Tensor a, tuple pad, Py_ssize_t mode) except -1:
    return run_pad(out, a, pad, mode, NULL)


cdef int padded_dims(tuple pad) except -1:
    cdef int n = 0
    cdef Py_ssize_t k
    for k in range(0, len(pad), 2):
        n += pad[k] != 0 or pad[k + 1] != 0
    return n


cdef int set_back_pads(ag_pad_args* args, Tensor out, Tensor grad, tuple pad) except -1:
    """Padded dimensions first, then the others, joined; 0 if there are too many."""
    cdef int64_t item = DT_SIZE[out.dt], part = DT_SIZE[dt_real(out.dt)], step, other
    cdef int64_t left, right
    cdef int d, k, n = 0
    for padded in (True, False):
        for d in range(out.nd - 1, -1, -1):
            k = 2 * (out.nd - 1 - d)
            left = pad[k] if k < len(pad) else 0
            right = pad[k + 1] if k < len(pad) else 0
            if (left != 0 or right != 0) != padded:
                continue
            step, other = out.strides[d] * item, grad.strides[d] * item
            if n > args.padded and not padded \
                    and step == args.out_stride[n - 1] * args.other[n - 1] \
                    and other == args.in_stride[n - 1] * args.other[n - 1]:
                args.other[n - 1] *= out.sizes[d]
                set_divisor(&args.size[n - 1], args.other[n - 1])
                continue
            if n == AG_CUDA_DIMS:
                return 0
            set_divisor(&args.size[n], out.sizes[d])
            args.out_stride[n], args.in_stride[n] = step, other
            args.other[n], args.left[n] = grad.sizes[d], left
            n += 1
        if padded:
            args.padded = n
            if part != item:                # both parts of complex numbers
                set_divisor(&args.size[n], 2)
                args.out_stride[n] = args.in_stride[n] = part
                args.other[n] = 2
                n += 1
    args.nd = n
    args.n = out.count * (item // part)
    args.out, args.in_ = out.ptr, grad.ptr
    return 1


cdef int pad_backward(Tensor out, Tensor grad, tuple size, tuple pad, Py_ssize_t mode) except -1:
    cdef ag_pad_args args
    cdef Tensor between
    cdef int padded = padded_dims(pad)
    if out.count == 0:
        return 0
    grad = resolved(cast(grad, out.dt))
    if padded == 0:
        return copy_into(out, grad, "pad_backward")
    if padded > FEW:
        inner, outer = halves_of(pad)
        between = padded_empty(out, inner)
        pad_backward(between, grad, (), outer, mode)
        return pad_backward(out, between, (), inner, mode)
    memset(&args, 0, sizeof(args))
    args.mode = <uint32_t>mode
    if not set_back_pads(&args, out, grad, pad):
        between = fresh_dense(out)
        pad_backward(between, contiguous(grad), (), pad, mode)
        return copy_into(out, between, "pad_backward")
    return launch_each(adding[dt_real(out.dt)], out.mem.device, args.n, &args, sizeof(args))


# --- triangles and ranges -----------------------------------------------------------------------

cdef int triangle(Tensor out, Tensor a, int64_t k, bint lower) except -1:
    """`out`, which is dense, may be `a`."""
    cdef ag_triangle_args args
    if out.count == 0:
        return 0
    a = contiguous(a)
    memset(&args, 0, sizeof(args))
    args.out, args.in_ = out.ptr, a.ptr
    args.n = out.count
    set_divisor(&args.rows, a.sizes[a.nd - 2])
    set_divisor(&args.cols, a.sizes[a.nd - 1])
    # Beyond the matrix all diagonals are alike.
    args.diagonal = max(min(k, <int64_t>a.sizes[a.nd - 1]), -<int64_t>a.sizes[a.nd - 2])
    args.lower = lower
    return launch_each(kernel_of_words("gather", "triangle", <int>DT_SIZE[a.dt]), out.mem.device,
                       args.n, &args, sizeof(args))


cdef int tril(Tensor out, Tensor a, Py_ssize_t diagonal) except -1:
    return triangle(out, a, diagonal, True)


cdef int triu(Tensor out, Tensor a, Py_ssize_t diagonal) except -1:
    return triangle(out, a, diagonal, False)


cdef int arange(Tensor out, object first, object step) except -1:
    cdef ag_range_args args
    cdef Tensor target = out
    cdef bint whole = isinstance(first, int) and isinstance(step, int)
    if out.count == 0:
        return 0
    if out.dt != DT_F32 and out.dt != DT_F64 and not (whole and out.dt == DT_I64):
        target = tensor_empty_on(out.mem.device, DT_I64 if whole else DT_F64, 1, out.sizes, NULL)
    memset(&args, 0, sizeof(args))
    args.out = target.ptr
    args.n = out.count
    args.dt = target.dt
    args.whole = whole
    if whole:
        args.first, args.step = first, step
    else:
        args.start, args.by = first, step
    launch_each(ranging, out.mem.device, args.n, &args, sizeof(args))
    return 0 if target is out else copy_into(out, target, "arange")


# --- the column of the device -----------------------------------------------------------------

cdef const char* JOINED = "int (Tensor, tuple, Py_ssize_t)"
cdef const char* DIAGONAL = "int (Tensor, Tensor, Py_ssize_t)"

KERNELS = {
    "cat": PyCapsule_New(<void*>cat, JOINED, NULL),
    "stack": PyCapsule_New(<void*>stack, JOINED, NULL),
    "flip": PyCapsule_New(<void*>flip, "int (Tensor, Tensor, tuple)", NULL),
    "constant_pad_nd": PyCapsule_New(
        <void*>constant_pad, "int (Tensor, Tensor, tuple, Tensor)", NULL),
    "_pad": PyCapsule_New(<void*>pad_by, "int (Tensor, Tensor, tuple, Py_ssize_t)", NULL),
    "_pad_backward": PyCapsule_New(
        <void*>pad_backward, "int (Tensor, Tensor, tuple, tuple, Py_ssize_t)", NULL),
    "tril": PyCapsule_New(<void*>tril, DIAGONAL, NULL),
    "triu": PyCapsule_New(<void*>triu, DIAGONAL, NULL),
    "arange": PyCapsule_New(<void*>arange, "int (Tensor, object, object)", NULL),
}
