# cython: language_level=3
# build: plain cold
"""Layer norm, RMS norm and their gradients on CUDA devices."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_reduce cimport (
    BLOCKS, LOG_THREADS, LOG_WARP, blocks_of, join_sums, kernel_of_floats, log_ceil, quotient_up,
    set_divisor)
from autograd_cy._C.cuda_rows cimport share_rows
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, copy_into, fill_dense
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
    ctypedef struct ag_norm_args:
        ag_row_args row
        const void* weight
        const void* bias
        void* mean
        void* spread
        double eps
    ctypedef struct ag_norm_columns_args:
        const void* in_ "in"[2]
        const void* mean
        const void* spread
        void* out[2]
        double* partial[2]
        uint64_t rows, length, chunk
        uint32_t group, width
        int32_t dt

cdef enum:
    FORWARD = 0
    BACKWARD = 1
    COLUMNS = 2

    SHARE = 32             # rows of a thread, before more blocks share a column

cdef tuple NAMES = ("norm_rows", "norm_rows_backward", "norm_columns")
cdef int[3][DTYPES] kernels      # by operation and dtype; one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of_norm(int op, int dt) except -1:
    if not kernels[op][dt]:
        kernels[op][dt] = kernel_of_floats("norm", NAMES[op], dt) + 1
    return kernels[op][dt] - 1


cdef Tensor as_column(Tensor t, int dt):
    """Return an operand of columns or rows, dense, in the dtype of the computation."""
    return None if t is None else contiguous(cast(t, dt))


cdef inline void* address(Tensor t) noexcept:
    return NULL if t is None else t.ptr


cdef int put_rows(int op, ag_norm_args* args, Tensor out, Tensor input, Tensor grad,
                  uint64_t n) except -1:
    cdef int item = <int>DT_SIZE[input.dt], device = out.mem.device
    cdef ag_row_args* row = &args.row
    cdef unsigned blocks
    row.out = out.ptr
    row.in_[0] = input.ptr
    row.in_[1] = address(grad)
    row.length = n
    row.rows = input.count // n
    set_divisor(&row.inner, 1)
    blocks = share_rows(row, item)
    return launch(kernel_of_norm(op, input.dt), device_index(device), current_stream(device),
                  blocks, 1, 1, 1 << (row.group + row.width), 1, 1, 0, args, sizeof(ag_norm_args))


cdef uint64_t length_of(Tensor input, tuple shape) noexcept:
    cdef uint64_t n = 1
    cdef int d
    for d in range(input.nd - <int>len(shape), input.nd):
        n *= input.sizes[d]
    return n


cdef int forward(Tensor result, Tensor mean, Tensor spread, Tensor input, tuple shape,
                 Tensor weight, Tensor bias, double eps) except -1:
    cdef ag_norm_args args
    cdef Tensor to = result
    if input.count == 0:
        return 0
    memset(&args, 0, sizeof(args))
    input = contiguous(input)
    weight = as_column(weight, spread.dt)
    bias = as_column(bias, spread.dt)
    if result.flags & F_STRIDED:
        to = fresh_dense(result)
    args.weight, args.bias = address(weight), address(bias)
    args.mean, args.spread = address(mean), spread.ptr
    args.eps = eps
    put_rows(FORWARD, &args, to, input, None, length_of(input, shape))
    return 0 if to is result else copy_into(result, to, "norm")


cdef int put_columns(Tensor to_weight, Tensor to_bias, Tensor input, Tensor grad, Tensor mean,
                     Tensor spread, uint64_t n) except -1:
    cdef ag_norm_columns_args args
    cdef int index = device_index(input.mem.device), k
    cdef stream_t stream = current_stream(input.mem.device)
    cdef Scratch partial
    cdef uint64_t tiles, parts
    cdef Tensor t
    memset(&args, 0, sizeof(args))
    args.in_[0], args.in_[1] = input.ptr, grad.ptr
    args.mean, args.spread = address(mean), spread.ptr
    args.out[0], args.out[1] = address(to_weight), address(to_bias)
    args.dt = (to_bias if to_weight is None else to_weight).dt
    args.length = n
    args.rows = input.count // n
    args.width = min(log_ceil(n), <uint32_t>LOG_WARP)
    args.group = LOG_THREADS - args.width
    tiles = quotient_up(n, <uint64_t>1 << args.width)
    parts = max(min(args.rows // (<uint64_t>SHARE << args.group), BLOCKS // min(tiles, BLOCKS)), 1)
    args.chunk = quotient_up(args.rows, parts)
    parts = quotient_up(args.rows, args.chunk)
    if parts > 1:
        partial = scratch(index, 2 * parts * n * sizeof(double), stream)
        args.partial[0] = <double*>partial.data
        args.partial[1] = args.partial[0] + parts * n
    launch(kernel_of_norm(COLUMNS, input.dt), index, stream, blocks_of(n, args.width),
           <unsigned>parts, 1, 1 << LOG_THREADS, 1, 1, 0, &args, sizeof(args))
    for k, t in enumerate((to_weight, to_bias)):
        if parts > 1 and t is not None:
            join_sums(index, stream, args.partial[k], parts, n, 1, t.ptr, t.dt)
    return 0


cdef int backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad, Tensor input,
                  tuple shape, Tensor mean, Tensor spread, Tensor weight) except -1:
    """A gradient that isn't wanted has no elements."""
    cdef ag_norm_args args
    cdef uint64_t n = length_of(input, shape)
    cdef bint for_input = to_input is not None and <uint64_t>to_input.count == <uint64_t>input.count
    to_weight = None if to_weight is None or <uint64_t>to_weight.count != n else to_weight
    to_bias = None if to_bias is None or <uint64_t>to_bias.count != n else to_bias
    if input.count == 0:
        for t in (to_weight, to_bias):
            if t is not None:
                fill_dense(<Tensor>t, 0)
        return 0
    input = contiguous(input)
    grad = contiguous(cast(grad, input.dt))
    mean = as_column(mean, spread.dt)
    spread = as_column(spread, spread.dt)
    if for_input:
        memset(&args, 0, sizeof(args))
        weight = as_column(weight, spread.dt)
        args.weight = address(weight)
        args.mean, args.spread = address(mean), spread.ptr
        put_rows(BACKWARD, &args, to_input, input, grad, n)
    if to_weight is not None or to_bias is not None:
        put_columns(to_weight, to_bias, input, grad, mean, spread, n)
    return 0


cdef int layer_norm(Tensor result, Tensor mean, Tensor spread, Tensor input, tuple shape,
                    Tensor weight, Tensor bias, double eps) except -1:
    return forward(result, mean, spread, input, shape, weight, bias, eps)


cdef int layer_norm_backward(Tensor to_input, Tensor to_weight, Tensor to_bias, Tensor grad,
                             Tensor input, tuple shape, Tensor mean, Tensor spread,
                             Tensor weight) except -1:
    return backward(to_input, to_weight, to_bias, grad, input, shape, mean, spread, weight)


cdef int rms_norm(Tensor result, Tensor spread, Tensor input, tuple shape, Tensor weight,
                  double eps) except -1:
    return forward(result, None, spread, input, shape, weight, None, eps)


cdef int rms_norm_backward(Tensor to_input, Tensor to_weight, Tensor grad, Tensor input,
                           tuple shape, Tensor spread, Tensor weight) except -1:
    return backward(to_input, to_weight, None, grad, input, shape, None, spread, weight)


KERNELS = {
    "_native_layer_norm": PyCapsule_New(
        <void*>layer_norm,
        "int (Tensor, Tensor, Tensor, Tensor, tuple, Tensor, Tensor, double)", NULL),
    "_fused_layer_norm_backward": PyCapsule_New(
        <void*>layer_norm_backward,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, tuple, Tensor, Tensor, Tensor)", NULL),
    "_fused_rms_norm": PyCapsule_New(
        <void*>rms_norm, "int (Tensor, Tensor, Tensor, tuple, Tensor, double)", NULL),
    "_fused_rms_norm_backward": PyCapsule_New(
        <void*>rms_norm_backward, "int (Tensor, Tensor, Tensor, Tensor, tuple, Tensor, Tensor)",
        NULL),
}
