# cython: language_level=3
# build: plain cold
"""Unique elements, repeated places and counts of numbers on CUDA devices.

Values decide how large results are: each operator reads a few numbers from the device, once, and
the host waits for them. Kernels are in ext/cuda/device/orders.cuh.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_reduce cimport OP_EXTREME, reduce, set_divisor
from autograd_cy._C.cuda_scans cimport cumsum
from autograd_cy._C.cuda_sort cimport SortedPairs, pairs_of, sort_pairs
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DT_I64, DT_SIZE, DT_U8
from autograd_cy._C.index_values cimport positions
from autograd_cy._C.indexing cimport count_repeats
from autograd_cy._C.iterate cimport cast, contiguous, fill_dense, to_device
from autograd_cy._C.storage cimport ON_CPU, device_index
from autograd_cy._C.tensor cimport (
    MAX_DIMS, Tensor, normal_dim, tensor_empty_on, tensor_window)

cdef extern from "device/order_arguments.h" nogil:
    enum:
        AG_ORDER_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_order_args:
        const void* in_ "in"
        void* keys
        ag_wide_divisor length, inner
        uint64_t n, rows
        uint32_t item
        int32_t dt
    ctypedef struct ag_unique_args:
        const void* in_ "in"
        const void* keys
        const void* places
        uint8_t* mask
        const int64_t* rank
        void* values
        int64_t* inverse
        int64_t* starts
        int64_t* counts
        int64_t* chosen
        ag_wide_divisor inner, unique
        uint64_t n, columns, column, packed, total
        uint32_t far, wide, item
        int32_t dt
    ctypedef struct ag_count_args:
        const int64_t* in_ "in"
        int64_t* out
        uint64_t n, size

cdef int writing_keys = kernel_id("orders", "order_keys_u32")
cdef int writing_wide_keys = kernel_id("orders", "order_keys_u64")
cdef int marking = kernel_id("orders", "unique_mark")
cdef int writing_columns = kernel_id("orders", "unique_keys")
cdef int writing = kernel_id("orders", "unique_write")
cdef int counting = kernel_id("orders", "unique_count")
cdef int moving = kernel_id("orders", "unique_slices")
cdef int binning = kernel_id("orders", "bins")
cdef int repeating = kernel_id("orders", "repeated")


cdef int launch_unique(int kernel, int device, uint64_t n, const void* args,
                       Py_ssize_t size) except -1:
    cdef int index = device_index(device)
    if n == 0:
        return 0
    return launch(kernel, index, current_stream(device), blocks_for(index, n, AG_ORDER_THREADS), 1,
                  1, AG_ORDER_THREADS, 1, 1, 0, args, size)


cdef Tensor vector_on(int device, int dt, Py_ssize_t n):
    return tensor_empty_on(device, dt, 1, &n, NULL)


cdef int64_t number_at(Tensor vector, Py_ssize_t i) except? -1:
    """One of a vector's numbers: the host waits."""
    return (<int64_t*>to_device(tensor_window(vector, 0, NULL, NULL, i), ON_CPU).ptr)[0]


# --- unique elements -------------------------------------------------------------------------

cdef class Groups:
    """Rows in groups of equal ones: in order, or as they came."""
    cdef Tensor a               # dense elements, or slices side by side
    cdef SortedPairs pairs      # None where nothing was sorted
    cdef Tensor rank            # the number of groups up to each
    cdef int64_t count


cdef int set_groups(ag_unique_args* args, Groups groups, uint64_t n, uint64_t columns) except -1:
    memset(args, 0, sizeof(args[0]))
    args.in_, args.n, args.columns = groups.a.ptr, n, columns
    args.dt, args.item = groups.a.dt, <uint32_t>DT_SIZE[groups.a.dt]
    args.wide = args.item == 8
    if groups.pairs is not None and not groups.pairs.counted:
        args.places, args.far = groups.pairs.places, groups.pairs.far
    return 0


cdef int rank_groups(Groups groups, ag_unique_args* args) except -1:
    """Number the groups, and count them: the host waits."""
    cdef int device = groups.a.mem.device
    cdef Tensor mask = vector_on(device, DT_U8, args.n)
    groups.count = 0
    groups.rank = vector_on(device, DT_I64, args.n)
    if args.n == 0:
        return 0
    args.mask = <uint8_t*>mask.ptr
    launch_unique(marking, device, args.n, args, sizeof(args[0]))
    cumsum(groups.rank, mask, 0)
    groups.count = number_at(groups.rank, args.n - 1)
    return 0


cdef int group_elements(Groups groups, bint sort) except -1:
    cdef ag_unique_args args
    cdef ag_order_args keys
    cdef Tensor a = groups.a
    cdef int device = a.mem.device, item = <int>DT_SIZE[a.dt]
    groups.pairs = pairs_of(device_index(device), a.count, 8 if item == 8 else 4,
                            current_stream(device))
    memset(&keys, 0, sizeof(keys))
    keys.in_, keys.keys, keys.n, keys.dt = a.ptr, groups.pairs.keys, a.count, a.dt
    set_divisor(&keys.inner, 1)
    launch_unique(writing_wide_keys if item == 8 else writing_keys, device, a.count, &keys,
                  sizeof(keys))
    if sort:
        sort_pairs(groups.pairs, 0, 8 * item)
    set_groups(&args, groups, a.count, 1)
    args.keys = groups.pairs.keys
    return rank_groups(groups, &args)


cdef int group_slices(Groups groups, uint64_t n, uint64_t columns, bint sort) except -1:
    """By the last columns first, as many at once as 64 bits hold."""
    cdef ag_unique_args args
    cdef int device = groups.a.mem.device, item = <int>DT_SIZE[groups.a.dt]
    cdef uint64_t stop = columns
    if sort and columns:
        groups.pairs = pairs_of(device_index(device), n, 8, current_stream(device))
    while sort and stop:
        set_groups(&args, groups, n, columns)
        args.packed = min(stop, <uint64_t>(8 // item))
        args.column = stop - args.packed
        args.keys = groups.pairs.keys
        launch_unique(writing_columns, device, n, &args, sizeof(args))
        sort_pairs(groups.pairs, 0, <int>(8 * item * args.packed))
        stop = args.column
    set_groups(&args, groups, n, columns)
    return rank_groups(groups, &args)


cdef int write_groups(Groups groups, uint64_t n, void* values, Tensor inverse, Tensor counts,
                      Tensor chosen) except -1:
    cdef ag_unique_args args
    cdef int device = groups.a.mem.device
    cdef Tensor starts = None
    if groups.count == 0:
        return 0
    set_groups(&args, groups, n, 1)
    args.rank = <const int64_t*>groups.rank.ptr
    args.values, args.total = values, groups.count
    if inverse.count:
        args.inverse = <int64_t*>inverse.ptr
    if counts.count:
        starts = vector_on(device, DT_I64, groups.count + 1)
        args.starts, args.counts = <int64_t*>starts.ptr, <int64_t*>counts.ptr
    if chosen is not None:
        args.chosen = <int64_t*>chosen.ptr
    launch_unique(writing, device, n, &args, sizeof(args))
    return launch_unique(counting, device, args.total, &args, sizeof(args)) if counts.count else 0


cdef int count_elements(Tensor a, bint sort, Py_ssize_t* sizes, list memo) except -1:
    cdef Groups groups = Groups.__new__(Groups)
    groups.a = contiguous(a)
    group_elements(groups, sort)
    sizes[0] = groups.count
    memo.append(groups)
    return 0


cdef int count_slices(Tensor a, Py_ssize_t dim, bint sort, Py_ssize_t* sizes, list memo) except -1:
    """Slices become rows first, if they aren't yet."""
    cdef Groups groups = Groups.__new__(Groups)
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t n
    cdef int d, k = 1
    dim = normal_dim(dim, a.nd)
    n = a.sizes[dim] if a.nd else 1
    if a.nd:
        shape[0], strides[0] = n, a.strides[dim]
        for d in range(a.nd):
            if d != dim:
                shape[k], strides[k] = a.sizes[d], a.strides[d]
                k += 1
        groups.a = contiguous(tensor_window(a, a.nd, shape, strides, 0))
    else:
        groups.a = contiguous(a)
    group_slices(groups, n, a.count // n if n else 0, sort)
    sizes[0] = groups.count
    memo.append(groups)
    return 0


cdef int write_elements(Tensor values, Tensor inverse, Tensor counts, list memo) except -1:
    cdef Groups groups = <Groups>memo[0]
    return write_groups(groups, groups.a.count, values.ptr, inverse, counts, None)


cdef int write_slices(Tensor values, Tensor inverse, Tensor counts, Tensor a, Py_ssize_t dim,
                      list memo) except -1:
    cdef ag_unique_args args
    cdef Groups groups = <Groups>memo[0]
    cdef int d, device = a.mem.device
    cdef Tensor chosen = vector_on(device, DT_I64, groups.count)
    cdef uint64_t inner = 1
    dim = normal_dim(dim, a.nd)
    a = contiguous(a)
    for d in range(<int>dim + 1, a.nd):
        inner *= a.sizes[d]
    write_groups(groups, inverse.count, NULL, inverse, counts, chosen)
    memset(&args, 0, sizeof(args))
    args.in_, args.values, args.chosen = a.ptr, values.ptr, <int64_t*>chosen.ptr
    args.n, args.total, args.item = inverse.count, values.count, <uint32_t>DT_SIZE[a.dt]
    set_divisor(&args.inner, max(inner, 1))
    set_divisor(&args.unique, max(groups.count, 1))
    return launch_unique(moving, device, values.count, &args, sizeof(args))


cdef int count_unique(Tensor a, bint is_sorted, bint return_inverse, bint return_counts,
                      Py_ssize_t* sizes, list memo) except -1:
    return count_elements(a, True, sizes, memo)


cdef int unique(Tensor values, Tensor inverse, Tensor counts, Tensor a, bint is_sorted,
                bint return_inverse, bint return_counts, list memo) except -1:
    return write_elements(values, inverse, counts, memo)


cdef int count_unique_dim(Tensor a, Py_ssize_t dim, bint is_sorted, bint return_inverse,
                          bint return_counts, Py_ssize_t* sizes, list memo) except -1:
    return count_slices(a, dim, True, sizes, memo)


cdef int unique_dim(Tensor values, Tensor inverse, Tensor counts, Tensor a, Py_ssize_t dim,
                    bint is_sorted, bint return_inverse, bint return_counts,
                    list memo) except -1:
    return write_slices(values, inverse, counts, a, dim, memo)


cdef int count_runs(Tensor a, bint return_inverse, bint return_counts, object dim,
                    Py_ssize_t* sizes, list memo) except -1:
    if dim is None:
        return count_elements(a, False, sizes, memo)
    return count_slices(a, dim, False, sizes, memo)


cdef int unique_consecutive(Tensor values, Tensor inverse, Tensor counts, Tensor a,
                            bint return_inverse, bint return_counts, object dim,
                            list memo) except -1:
    if dim is None:
        return write_elements(values, inverse, counts, memo)
    return write_slices(values, inverse, counts, a, dim, memo)


# --- counts ----------------------------------------------------------------------------------

cdef int find_range(Tensor numbers, Tensor extremes, int first) except -1:
    """The least and the largest number of a vector that isn't empty, into two places of another."""
    cdef char* mask = b"\1"
    cdef int i
    for i in range(2):
        reduce(OP_EXTREME, numbers, mask, tensor_window(extremes, 0, NULL, NULL, first + i), None,
               0, 0, i == 0)
    return 0


cdef int count_bins(Tensor a, Py_ssize_t minlength, Py_ssize_t* sizes, list memo) except -1:
    cdef Tensor numbers = contiguous(cast(a, DT_I64)), extremes
    cdef int64_t* p
    cdef int64_t low = 0, high = -1
    if numbers.count:
        extremes = vector_on(a.mem.device, DT_I64, 2)
        find_range(numbers, extremes, 0)
        extremes = to_device(extremes, ON_CPU)
        p = <int64_t*>extremes.ptr
        low, high = p[0], p[1]
    if low < 0:
        raise RuntimeError(
            f"bincount only supports 1-d non-negative integral inputs, got {low}")
    if high == <int64_t>0x7FFFFFFFFFFFFFFF:
        raise RuntimeError(
            f"bincount(): maximum value of input overflowed, it should be < {high} but got {high}")
    sizes[0] = max(minlength, <Py_ssize_t>(high + 1))
    memo.append(numbers)
    return 0


cdef int bincount(Tensor out, Tensor a, Py_ssize_t minlength, list memo) except -1:
    cdef ag_count_args args
    cdef Tensor numbers = <Tensor>memo[0]
    fill_dense(out, 0)
    memset(&args, 0, sizeof(args))
    args.in_, args.out = <const int64_t*>numbers.ptr, <int64_t*>out.ptr
    args.n, args.size = numbers.count, out.count
    return launch_unique(binning, out.mem.device, args.n, &args, sizeof(args))


cdef int count_repeated(Tensor repeats, object output_size, Py_ssize_t* sizes,
                        list memo) except -1:
    """The sum of the counts; where it isn't what is asked, or may be too large, the host looks."""
    cdef Tensor k = positions(repeats), ends, numbers
    cdef Py_ssize_t n = k.count, limit = <Py_ssize_t>1 << 60
    cdef int device = k.mem.device
    cdef int64_t* p
    ends = vector_on(device, DT_I64, n)
    sizes[0] = 0
    if n:
        cumsum(ends, k, 0)
        numbers = vector_on(device, DT_I64, 3)
        find_range(k, numbers, 0)
        reduce(OP_EXTREME, tensor_window(ends, 0, NULL, NULL, n - 1), b"",
               tensor_window(numbers, 0, NULL, NULL, 2), None, 0, 0, False)
        numbers = to_device(numbers, ON_CPU)
        p = <int64_t*>numbers.ptr
        sizes[0] = p[2]
        if p[0] < 0 or p[1] > limit // n:
            count_repeats(to_device(k, ON_CPU), output_size, sizes, [])
    if output_size is not None and output_size != sizes[0]:
        count_repeats(to_device(k, ON_CPU), output_size, sizes, [])
    memo.append(ends)
    return 0


cdef int repeated_places(Tensor out, Tensor repeats, object output_size, list memo) except -1:
    cdef ag_count_args args
    cdef Tensor ends = <Tensor>memo[0]
    memset(&args, 0, sizeof(args))
    args.in_, args.out = <const int64_t*>ends.ptr, <int64_t*>out.ptr
    args.n, args.size = ends.count, out.count
    return launch_unique(repeating, out.mem.device, args.size, &args, sizeof(args))


# --- the column of the device -----------------------------------------------------------------

KERNELS = {
    "_unique2": PyCapsule_New(
        <void*>unique, "int (Tensor, Tensor, Tensor, Tensor, bint, bint, bint, list)", NULL),
    "_unique2.sizes": PyCapsule_New(
        <void*>count_unique, "int (Tensor, bint, bint, bint, Py_ssize_t*, list)", NULL),
    "_unique_dim": PyCapsule_New(
        <void*>unique_dim,
        "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t, bint, bint, bint, list)", NULL),
    "_unique_dim.sizes": PyCapsule_New(
        <void*>count_unique_dim,
        "int (Tensor, Py_ssize_t, bint, bint, bint, Py_ssize_t*, list)", NULL),
    "_unique_consecutive": PyCapsule_New(
        <void*>unique_consecutive,
        "int (Tensor, Tensor, Tensor, Tensor, bint, bint, object, list)", NULL),
    "_unique_consecutive.sizes": PyCapsule_New(
        <void*>count_runs, "int (Tensor, bint, bint, object, Py_ssize_t*, list)", NULL),
    "_bincount": PyCapsule_New(
        <void*>bincount, "int (Tensor, Tensor, Py_ssize_t, list)", NULL),
    "_bincount.sizes": PyCapsule_New(
        <void*>count_bins, "int (Tensor, Py_ssize_t, Py_ssize_t*, list)", NULL),
    "_repeated_places": PyCapsule_New(
        <void*>repeated_places, "int (Tensor, Tensor, object, list)", NULL),
    "_repeated_places.sizes": PyCapsule_New(
        <void*>count_repeated, "int (Tensor, object, Py_ssize_t*, list)", NULL),
}
