# cython: language_level=3
# build: plain cold
"""sort, topk and kthvalue on CUDA devices, stable and with NaN last, as on the CPU.

Rows of up to AG_ORDER_SLOTS elements are sorted by a block, several short ones at once, in one
launch. Longer ones are pairs of key and place, which are sorted by keys and then by rows
(cuda_sort). Kernels are in ext/cuda/device/orders.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_reduce cimport log_ceil, quotient_up, set_divisor
from autograd_cy._C.cuda_sort cimport SortedPairs, bits_below, pairs_of, sort_pairs
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_SIZE
from autograd_cy._C.iterate cimport contiguous, copy_into
from autograd_cy._C.outputs cimport fresh_dense
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport F_STRIDED, Tensor, normal_dim

cdef extern from "device/order_arguments.h" nogil:
    enum:
        AG_ORDER_SLOTS
        AG_ORDER_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_order_args:
        const void* in_ "in"
        void* values
        int64_t* index
        void* keys
        const void* places
        ag_wide_divisor length, inner, take
        uint64_t n, rows, first, flip
        uint32_t far, item, slots
        int32_t dt

cdef int[2] writing_keys        # by whether keys have 8 bytes
cdef int[2] writing_rows
cdef int[2] small
cdef int writing = kernel_id("orders", "order_write")


cdef int name_kernels() except -1:
    cdef int wide
    for wide, word in enumerate(("u32", "u64")):
        writing_keys[wide] = kernel_id("orders", f"order_keys_{word}")
        writing_rows[wide] = kernel_id("orders", f"order_rows_{word}")
        small[wide] = kernel_id("orders", f"order_small_{word}")
    return 0


name_kernels()


cdef int launch_order(int kernel, int index, stream_t stream, uint64_t n,
                      ag_order_args* args) except -1:
    args.n = n
    return launch(kernel, index, stream, blocks_for(index, n, AG_ORDER_THREADS), 1, 1,
                  AG_ORDER_THREADS, 1, 1, 0, args, sizeof(ag_order_args))


cdef int sort_short_rows(int index, stream_t stream, ag_order_args* args) except -1:
    cdef uint64_t blocks
    args.slots = log_ceil(args.length.size)
    blocks = quotient_up(args.rows, AG_ORDER_SLOTS >> args.slots)
    return launch(small[args.item == 8], index, stream, <unsigned>min(blocks, <uint64_t>1 << 30), 1,
                  1, AG_ORDER_THREADS, 1, 1, 0, args, sizeof(ag_order_args))


cdef int sort_long_rows(int index, stream_t stream, ag_order_args* args) except -1:
    """By elements, and then by rows, which keeps the order within each."""
    cdef int wide = args.item == 8, bits = 8 * args.item
    cdef uint64_t n = args.rows * args.length.size
    cdef SortedPairs pairs = pairs_of(index, n, 8 if wide else 4, stream)
    args.keys = pairs.keys
    launch_order(writing_keys[wide], index, stream, n, args)
    sort_pairs(pairs, 0, bits)
    if args.rows > 1:
        args.keys, args.places, args.far = pairs.keys, pairs.places, pairs.far
        launch_order(writing_rows[wide], index, stream, n, args)
        sort_pairs(pairs, 0, bits_below(args.rows))
    args.places, args.far = pairs.places, pairs.far
    return launch_order(writing, index, stream, args.rows * args.take.size, args)


cdef int order(Tensor values, Tensor where, Tensor a, Py_ssize_t dim, Py_ssize_t first,
               Py_ssize_t take, bint descending, str name) except -1:
    """Elements `first` to `first + take` of each row in order, and their places."""
    cdef ag_order_args args
    cdef Tensor target = values, places = where
    cdef int device = a.mem.device, index = device_index(device), d
    cdef uint64_t inner = 1
    if values.count == 0:
        return 0
    a = contiguous(a)
    if values.flags & F_STRIDED or values.mem is a.mem:
        target = fresh_dense(values)
    if where.flags & F_STRIDED:
        places = fresh_dense(where)
    memset(&args, 0, sizeof(args))
    for d in range(<int>dim + 1, a.nd):
        inner *= a.sizes[d]
    set_divisor(&args.length, a.sizes[dim] if a.nd else 1)
    set_divisor(&args.inner, inner)
    set_divisor(&args.take, take)
    args.rows = a.count // args.length.size
    args.in_, args.values, args.index = a.ptr, target.ptr, <int64_t*>places.ptr
    args.item, args.dt = <uint32_t>DT_SIZE[a.dt], a.dt
    args.first = first
    # Only those bits that keys have: others aren't looked at.
    args.flip = <uint64_t>-1 if descending else 0
    if args.length.size <= AG_ORDER_SLOTS:
        sort_short_rows(index, current_stream(device), &args)
    else:
        sort_long_rows(index, current_stream(device), &args)
    if places is not where:
        copy_into(where, places, name)
    return copy_into(values, target, name) if target is not values else 0


cdef int sort(Tensor values, Tensor index, Tensor a, Py_ssize_t dim, bint descending,
              bint stable) except -1:
    dim = normal_dim(dim, a.nd)
    return order(values, index, a, dim, 0, a.sizes[dim] if a.nd else 1, descending, "sort")


cdef int topk(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim, bint largest,
              bint is_sorted) except -1:
    # None of a number is the number, as in torch.
    return order(values, index, a, normal_dim(dim, a.nd), 0, k if a.nd else 1, largest, "topk")


cdef int kthvalue(Tensor values, Tensor index, Tensor a, Py_ssize_t k, Py_ssize_t dim,
                  bint keepdim) except -1:
    return order(values, index, a, normal_dim(dim, a.nd), k - 1, 1, False, "kthvalue")


# --- the column of the device -----------------------------------------------------------------

KERNELS = {
    "sort": PyCapsule_New(
        <void*>sort, "int (Tensor, Tensor, Tensor, Py_ssize_t, bint, bint)", NULL),
    "topk": PyCapsule_New(
        <void*>topk, "int (Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t, bint, bint)", NULL),
    "kthvalue": PyCapsule_New(
        <void*>kthvalue, "int (Tensor, Tensor, Tensor, Py_ssize_t, Py_ssize_t, bint)", NULL),
}
