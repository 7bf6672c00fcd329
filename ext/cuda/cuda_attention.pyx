# cython: language_level=3
# build: plain cold
"""Attention on CUDA devices, tile by tile: one launch forward, two backward.

Operands are read as they lie, half types too, which are computed in float32.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_BOOL, DT_F64, DT_SIZE
from autograd_cy._C.iterate cimport cast, contiguous, resolved, to_device
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor

cdef extern from "device/attention_arguments.h" nogil:
    enum:
        AG_ATTENTION_THREADS
    ctypedef struct ag_heads:
        void* at
        int64_t batch, head, row, column
        int32_t dt
    ctypedef struct ag_attention_args:
        ag_heads q, k, v, out
        void* exact
        void* lse
        const void* mask
        int64_t mask_step[4]
        const void* dropped
        ag_heads grad, dq, dk, dv
        void* shift
        int64_t batch, heads, shared
        int64_t rows, cols, width, deep
        double scale
        uint32_t causal, truth

cdef enum:
    FORWARD, QUERIES, KEYS
    NARROW = 64                # columns of a result that a block makes,
    WIDE = 128                 # or of float32 these, if there are more
    SIDE = 64                  # rows and columns of a tile of float32
    SIDE_F64 = 32
    MOST_BLOCKS = 0x7FFFFFFF   # of a grid along x; they take what is beyond by turns

cdef int[3][3] kernels         # by pass; of float32, the same for wide results, float64
for _k, _name in enumerate(("forward", "queries", "keys")):
    for _j, _tile in enumerate(("f32", "f32_wide", "f64")):
        kernels[<int>_k][<int>_j] = kernel_id(
            f"attention_{_tile[:3]}", f"attention_{_name}_{_tile}")


cdef inline void set_heads(ag_heads* x, Tensor t) noexcept:
    x.at, x.dt = t.ptr, t.dt
    x.batch, x.head, x.row, x.column = t.strides[0], t.strides[1], t.strides[2], t.strides[3]


cdef inline Tensor readable(Tensor t, int dt):
    """Return the tensor as kernels that compute in `dt` read it."""
    return resolved(t if dt != DT_F64 else cast(t, dt))


cdef Tensor fill_args(ag_attention_args* args, Tensor q, Tensor k, Tensor v, Tensor mask,
                      Tensor lse, bint causal, double scale):
    """Returns the mask, which the address belongs to."""
    cdef int d
    memset(args, 0, sizeof(ag_attention_args))
    set_heads(&args.q, q)
    set_heads(&args.k, k)
    set_heads(&args.v, v)
    args.lse = lse.ptr
    args.batch, args.heads = q.sizes[0], q.sizes[1]
    args.shared = q.sizes[1] // k.sizes[1]
    args.rows, args.cols = q.sizes[2], k.sizes[2]
    args.width, args.deep = q.sizes[3], v.sizes[3]
    args.scale, args.causal = scale, causal
    if mask is None:
        return None
    mask = to_device(mask, q.mem.device)
    mask = resolved(mask if mask.dt == DT_BOOL else cast(mask, lse.dt))
    args.truth = mask.dt == DT_BOOL
    args.mask = mask.ptr
    for d in range(4):
        args.mask_step[d] = 0 if mask.sizes[d] == 1 else mask.strides[d]
    return mask


cdef int launch_attention(int which, const ag_attention_args* args, Tensor like, int dt,
                          int64_t heads, int64_t rows, int64_t columns) except -1:
    """`heads` of `rows` each, whose results have so many columns."""
    cdef int device = like.mem.device, tile = 2 if dt == DT_F64 else columns > NARROW
    cdef Py_ssize_t blocks = args.batch * heads * parts(rows, SIDE_F64 if tile == 2 else SIDE)
    if blocks == 0:
        return 0
    # Without columns there are still sums of rows.
    return launch(kernels[which][tile], device_index(device), current_stream(device),
                  <unsigned>min(blocks, <Py_ssize_t>MOST_BLOCKS),
                  <unsigned>max(parts(columns, WIDE if tile == 1 else NARROW), <Py_ssize_t>1), 1,
                  AG_ATTENTION_THREADS, 1, 1, 0, args, sizeof(ag_attention_args))


cdef int attention_into(Tensor out, Tensor lse, Tensor exact, Tensor query, Tensor key,
                        Tensor value, Tensor mask, bint is_causal, double scale,
                        Tensor dropped) except -1:
    cdef ag_attention_args args
    if lse.count == 0:
        return 0
    query, key, value = (readable(query, lse.dt), readable(key, lse.dt), readable(value, lse.dt))
    mask = fill_args(&args, query, key, value, mask, lse, is_causal, scale)
    if dropped is not None:
        dropped = contiguous(cast(dropped, lse.dt))
        args.dropped = dropped.ptr
    set_heads(&args.out, out)
    args.exact = NULL if out.dt == lse.dt else exact.ptr
    return launch_attention(FORWARD, &args, out, lse.dt, args.heads, args.rows, args.deep)


cdef int attention_gradients_into(Tensor query_out, Tensor key_out, Tensor value_out, Tensor grad,
                                  Tensor query, Tensor key, Tensor value, Tensor mask, Tensor out,
                                  Tensor lse, Tensor exact, bint is_causal, double scale,
                                  Tensor dropped) except -1:
    cdef ag_attention_args args
    cdef int dt = lse.dt, device = lse.mem.device
    cdef stream_t stream = current_stream(device)
    cdef Scratch shift = scratch(device_index(device), max(lse.count * DT_SIZE[dt], 1), stream)
    query, key, value = readable(query, dt), readable(key, dt), readable(value, dt)
    grad, out = readable(grad, dt), readable(out if out.dt == dt else exact, dt)
    lse = contiguous(lse)
    mask = fill_args(&args, query, key, value, mask, lse, is_causal, scale)
    set_heads(&args.grad, grad)
    if dropped is not None:
        dropped = contiguous(cast(dropped, lse.dt))
        args.dropped = dropped.ptr
    set_heads(&args.out, out)
    set_heads(&args.dq, query_out)
    set_heads(&args.dk, key_out)
    set_heads(&args.dv, value_out)
    args.shift = shift.data
    # The first pass leaves what the second one needs.
    launch_attention(QUERIES, &args, query_out, dt, args.heads, args.rows, args.width)
    return launch_attention(KEYS, &args, key_out, dt, args.heads // args.shared, args.cols,
                            max(args.width, args.deep))


KERNELS = {
    "_attention": PyCapsule_New(
        <void*>attention_into,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, bint, double, Tensor)", NULL),
    "_attention_gradients": PyCapsule_New(
        <void*>attention_gradients_into,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
        "Tensor, bint, double, Tensor)", NULL),
}
