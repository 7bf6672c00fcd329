# cython: language_level=3
# build: plain hot
"""Elementwise work on CUDA devices.

Operands come as addresses and strides over one shape. Dimensions are sorted by the result's strides
and joined where memory allows; what is dense then, in whatever order of dimensions, goes to the
flat kernel of an entry, all else to the strided one. The table of entries is written by
ext/codegen/cuda_entries.py, the kernels are in ext/cuda/device/elementwise.cuh.
"""
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_driver cimport context_of, enter
from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.devices cimport Elementwise, device_elementwise, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_SIZE, dt_code
from autograd_cy._C.iterate cimport run_loop
from autograd_cy._C.kernel_table cimport KT, kernel_number
from autograd_cy._C.tensor cimport Tensor

cdef extern from "device/arguments.h":
    enum: AG_CUDA_DIMS
    ctypedef struct ag_cell:
        uint64_t word[2]
    ctypedef struct ag_divisor:
        uint32_t size, mul, shift
    ctypedef struct ag_fault:
        pass
    ctypedef struct ag_flat_args:
        void* out
        const void* in_ "in"[4]
        ag_cell number[4]
        uint64_t n
        ag_fault* fault
        const char* op
        uint64_t vectors
        uint32_t dense
    ctypedef struct ag_strided_args:
        void* out
        const void* in_ "in"[4]
        ag_cell number[4]
        int64_t stride[5][8]
        ag_divisor size[8]
        uint32_t n, nd
        ag_fault* fault
        const char* op

include "cuda_entries.pxi"

cdef enum:
    BLOCK = 256

# Elements of one launch of a strided kernel, whose arithmetic on places is of 32 bits.
cdef Py_ssize_t _most = 0x7fffffff
cdef int _ids[2 * ENTRIES]         # numbers for `launch`, and 1; 0: unknown
cdef const char* _ops[ENTRIES]     # see `op_name`; NULL: unknown


def _limit(Py_ssize_t most=0x7fffffff):
    """Let a strided launch have so many elements, for tests; return what held before."""
    global _most
    if not 0 < most <= 0x7fffffff:
        raise ValueError(f"a launch has 1 to {0x7fffffff} elements, not {most}")
    before, _most = _most, most
    return before


def _entry(str name not None, dtype):
    """Image and name of the kernels that compute an elementwise kernel in a dtype, or None."""
    cdef int entry = _kernels[kernel_number(name) * DTYPES + dt_code(dtype)] & ~SWAPPED
    return (_images[_image_of[entry]].decode(), _names[entry].decode()) if entry else None


def _compute(str name not None, dtype, Tensor out not None, tuple operands not None):
    """
    Fill `out` by an elementwise kernel that computes in a dtype, on the device of `out`, for tests.

    Operands have the dtypes that the kernel takes, and broadcast to the shape of `out`. Those of
    the CPU, where `out` isn't there, are numbers.
    """
    cdef Elementwise e
    cdef Py_ssize_t* rows[5]
    cdef Tensor t
    cdef int i, d, shift
    e.kernel, e.dt = kernel_number(name), dt_code(dtype)
    e.nargs, e.nd = 1 + <int>len(operands), out.nd
    if KT.loops[e.kernel][e.dt] == NULL or e.nargs > 5:
        raise ValueError(f"there is no kernel {name!r} in {dtype} of {len(operands)} operands")
    for d in range(out.nd):
        e.shape[d] = out.sizes[d]
    for i in range(e.nargs):
        t = <Tensor?>operands[i - 1] if i else out
        e.p[i], e.mem[i], e.dts[i] = t.ptr, t.mem, t.dt
        if t.mem.device != out.mem.device:
            e.mem[i] = NULL
        shift = out.nd - t.nd
        for d in range(out.nd):
            e.strides[i][d] = 0
            if d >= shift and t.sizes[d - shift] != 1:
                e.strides[i][d] = t.strides[d - shift] * DT_SIZE[t.dt]
        rows[i] = e.strides[i]
    if out.mem.device:
        device_elementwise(&e, out.mem.device)
        return
    run_loop(KT.loops[e.kernel][e.dt], e.nargs, e.p, e.mem, e.nd, e.shape, rows, e.dts,
             KT.cost[e.kernel])


cdef int has_elementwise(int kernel, int dt) noexcept:
    return 0 <= kernel < KERNELS and _kernels[kernel * DTYPES + dt] != 0


cdef int copy_entry(Py_ssize_t item) noexcept:
    cdef int i = 0
    while item > 1:
        item >>= 1
        i += 1
    return _copies[i]


cdef int cast_entry(int source, int target) noexcept:
    return _casts[source * DTYPES + target]


cdef int elementwise(Elementwise* work, int index, stream_t stream) except -1:
    cdef Joined o
    cdef Py_ssize_t* rows[5]
    cdef int code = _kernels[work.kernel * DTYPES + work.dt], entry = code & ~SWAPPED
    cdef int a, k
    if not entry:
        raise RuntimeError(f"cuda: there is no elementwise kernel {work.kernel} in dtype {work.dt}")
    o.nargs = work.nargs
    for a in range(work.nargs):
        k = a
        if code & SWAPPED and a:
            k = 3 - a
        rows[k] = work.strides[a]
        o.item[k] = DT_SIZE[work.dts[a]]
        o.p[k] = work.p[a]
        if a and work.mem[a] == NULL:
            o.p[k] = NULL
            set_cell(&o.cell[k][0], work.p[a], work.dts[a], _numbers[entry] >> (4 * (k - 1)) & 15)
    if not is_plain(&o, work.nd, work.shape, rows):
        join_dims(&o, work.nd, work.shape, rows)
    return run_entry(entry, &o, index, stream)


cdef inline bint is_plain(Joined* o, int nd, const Py_ssize_t* shape,
                          Py_ssize_t** strides) noexcept nogil:
    """Join the dimensions of what most work is: all is dense in C order, or one element for all."""
    cdef Py_ssize_t n = 1, stride
    cdef int a, d
    for a in range(o.nargs):
        o.strides[a][0] = 0
    for d in range(nd - 1, -1, -1):
        if shape[d] == 1:
            continue
        for a in range(o.nargs):
            if o.p[a] == NULL:
                continue
            stride = strides[a][d]
            if n == 1:                       # the innermost one
                if stride != o.item[a] and (stride or a == 0):
                    return False
                o.strides[a][0] = stride
            elif stride != n * o.strides[a][0]:
                return False
        n *= shape[d]
    if n <= 1:
        return False
    o.n = o.shape[0] = n
    o.nd = 1
    return True


cdef inline void set_cell(uint64_t* cell, char* p, int dt, int want) noexcept:
    """Put a number into the arguments, in the type that the formula takes."""
    cdef char* ends[2]
    cdef Py_ssize_t steps[2]
    cell[0] = cell[1] = 0
    if want == AS_IT_IS or want == dt:
        memcpy(cell, p, DT_SIZE[dt])
        return
    ends[0], ends[1] = <char*>cell, p
    steps[0] = steps[1] = 0
    KT.casts[dt][want](ends, steps, 1)


cdef inline bint is_outside_of(Joined* o, Py_ssize_t** strides, int d, int e) noexcept nogil:
    """Return whether dimension `d` is outside of `e`: by the result's strides, then by those of
    inputs."""
    cdef int a
    for a in range(o.nargs):
        if strides[a][d] != strides[a][e] and o.p[a] != NULL:
            return strides[a][d] > strides[a][e]
    return False


cdef void join_dims(Joined* o, int nd, const Py_ssize_t* shape,
                    Py_ssize_t** strides) noexcept nogil:
    cdef int[64] order
    cdef int i, j, a, count = 0
    cdef bint joined
    o.n = 1
    o.nd = 0
    for i in range(nd):
        if shape[i] == 1:
            continue
        joined = True           # all are at one place, as in a fill of an expanded tensor
        for a in range(o.nargs):
            if o.p[a] != NULL and strides[a][i] != 0:
                joined = False
                break
        if joined and shape[i]:
            continue
        o.n *= shape[i]
        j = count
        while j > 0 and is_outside_of(o, strides, i, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        count += 1
    for i in range(count):
        j = order[i]
        joined = o.nd > 0
        if joined:
            for a in range(o.nargs):
                if o.p[a] != NULL and o.strides[a][o.nd - 1] != strides[a][j] * shape[j]:
                    joined = False
                    break
        if not joined:
            o.shape[o.nd] = 1
            o.nd += 1
        o.shape[o.nd - 1] *= shape[j]
        for a in range(o.nargs):
            o.strides[a][o.nd - 1] = strides[a][j] if o.p[a] != NULL else 0


cdef bint is_flat(const Joined* o, int a) noexcept nogil:
    return o.nd == 0 or (o.nd == 1 and o.strides[a][0] == o.item[a])


cdef int run_entry(int entry, Joined* o, int index, stream_t stream) except -1:
    cdef int a
    cdef uint32_t dense = 0
    cdef Py_ssize_t lanes = _lanes[entry]
    cdef bint aligned, flat
    if o.n == 0:
        return 0
    if context_of(index) == NULL:          # memory of another library's; `launch` enters
        enter(index)
    flat = is_flat(o, 0) and is_aligned(o.p[0], o.item[0])
    aligned = is_aligned(o.p[0], lanes * o.item[0])
    for a in range(1, o.nargs):
        if not flat:
            break
        if o.p[a] == NULL or (o.nd == 1 and o.strides[a][0] == 0):
            continue
        flat = is_flat(o, a) and is_aligned(o.p[a], o.item[a])
        aligned = aligned and is_aligned(o.p[a], lanes * o.item[a])
        dense |= <uint32_t>1 << (a - 1)
    if flat:
        return put_flat(entry, o, dense, lanes if aligned else 0, index, stream)
    if o.nd == 0:
        o.nd = 1
        o.shape[0] = 1
        for a in range(o.nargs):
            o.strides[a][0] = 0
    return put_strided(entry, o, 0, o.p, index, stream)


cdef inline bint is_aligned(const char* p, Py_ssize_t nbytes) noexcept nogil:
    return <size_t>p & <size_t>(nbytes - 1) == 0       # a power of two


cdef int put_flat(int entry, Joined* o, uint32_t dense, Py_ssize_t lanes, int index,
                  stream_t stream) except -1:
    cdef ag_flat_args args
    cdef Py_ssize_t threads = o.n
    cdef int a, shift
    memset(&args, 0, sizeof(args))
    args.out = o.p[0]
    args.n = o.n
    args.dense = dense
    for a in range(1, o.nargs):
        args.in_[a - 1] = o.p[a]
        if o.p[a] == NULL:
            memcpy(&args.number[a - 1], &o.cell[a][0], 16)
    if lanes > 1:                            # 2, 4 or 8
        shift = 1 + (lanes > 2) + (lanes > 4)
        args.vectors = <uint64_t>o.n >> shift
        threads = max(o.n >> shift, o.n & (lanes - 1))
    if _notes[entry]:
        args.fault = <ag_fault*>fault_of(index)
        args.op = called(index, op_name(entry))
    return launch(id_of(entry, False), index, stream, blocks_for(index, threads, BLOCK), 1, 1,
                  BLOCK, 1, 1, 0, &args, sizeof(args))


cdef int put_strided(int entry, Joined* o, int d, char** p, int index, stream_t stream) except -1:
    """
    The strided kernel over dimensions from `d` on.

    One launch, but where there are too many dimensions or elements for the kernel: then the
    outermost dimension is cut into pieces.
    """
    cdef char* q[5]
    cdef Py_ssize_t inner = 1, i, most
    cdef int a
    for i in range(d + 1, o.nd):
        inner *= o.shape[i]
    if inner > _most or o.nd - d > AG_CUDA_DIMS:
        most = 1
    else:
        most = _most // inner
    for i in range(0, o.shape[d], most):
        for a in range(o.nargs):
            q[a] = NULL if p[a] == NULL else p[a] + i * o.strides[a][d]
        if inner > _most or o.nd - d > AG_CUDA_DIMS:
            put_strided(entry, o, d + 1, q, index, stream)
        else:
            put_piece(entry, o, d, q, min(most, o.shape[d] - i), inner, index, stream)
    return 0


cdef int put_piece(int entry, Joined* o, int first, char** p, Py_ssize_t size, Py_ssize_t inner,
                   int index, stream_t stream) except -1:
    """One launch: dimensions from `first` on, which is `size` long here."""
    cdef ag_strided_args args
    cdef int a, d, k
    memset(&args, 0, sizeof(args))
    args.out = p[0]
    args.n = <uint32_t>(size * inner)
    args.nd = o.nd - first
    for d in range(first, o.nd):
        k = o.nd - 1 - d                       # the innermost comes first
        divide_by(size if d == first else o.shape[d], &args.size[k])
        for a in range(o.nargs):
            args.stride[a][k] = o.strides[a][d]
    for a in range(1, o.nargs):
        args.in_[a - 1] = p[a]
        if p[a] == NULL:
            memcpy(&args.number[a - 1], &o.cell[a][0], 16)
    if _notes[entry]:
        args.fault = <ag_fault*>fault_of(index)
        args.op = called(index, op_name(entry))
    return launch(id_of(entry, True), index, stream, blocks_for(index, args.n, BLOCK), 1, 1,
                  BLOCK, 1, 1, 0, &args, sizeof(args))


cdef const char* op_name(int entry) except NULL:
    """The operator of an entry that notes faults, for messages: its name without the dtype."""
    cdef bytes name
    if _ops[entry] == NULL:
        name = (<bytes>_names[entry]).rpartition(b"_")[0]
        Py_INCREF(name)                  # for good: faults have its address
        _ops[entry] = <const char*>name
    return _ops[entry]


cdef void divide_by(Py_ssize_t size, void* divisor) noexcept nogil:
    cdef ag_divisor* to = <ag_divisor*>divisor
    cdef uint64_t power = 1
    to.shift = 0
    while power < <uint64_t>size:
        power <<= 1
        to.shift += 1
    to.size = <uint32_t>size
    to.mul = <uint32_t>(((power - <uint64_t>size) << 32) // <uint64_t>size + 1)


cdef int id_of(int entry, bint strided) except -1:
    cdef int* place = &_ids[2 * entry + strided]
    cdef str name
    if not place[0]:
        name = _names[entry].decode()
        place[0] = kernel_id(_images[_image_of[entry]].decode(),
                             name + "_strided" if strided else name) + 1
    return place[0] - 1
