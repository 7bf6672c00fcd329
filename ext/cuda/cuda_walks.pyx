# cython: language_level=3
# build: plain hot
"""Dimensions of several operands of one CUDA launch; see cuda_walks.pxd."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_reduce cimport set_divisor
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport DT_I32, DT_I64
from autograd_cy._C.iterate cimport cast, resolved, to_device
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor

cdef extern from "device/index_arguments.h" nogil:
    enum:
        AG_INDEX_THREADS
    ctypedef struct ag_wide_divisor:
        pass
    ctypedef struct ag_index_args:
        const void* at[8]
        int64_t size[8]
        int64_t step[8]
        int64_t stride[8][8]
        int dim[8]
        uint32_t n, narrow

cdef dict words = {}         # (image, name, bytes) -> number


cdef int64_t walk_count(const Walk* w) noexcept:
    cdef int64_t n = 1
    cdef int d
    for d in range(w.nd):
        n *= w.size[d]
    return n


cdef void join_walk(Walk* w) noexcept:
    cdef int d, k, n = 0
    cdef bint joined
    for d in range(w.nd):
        if w.size[d] == 1:
            continue
        joined = n > 0
        for k in range(w.tracks):
            joined = joined and w.step[k][n - 1] == w.step[k][d] * w.size[d]
        if joined:
            n -= 1
            w.size[n] *= w.size[d]
        else:
            w.size[n] = w.size[d]
        for k in range(w.tracks):
            w.step[k][n] = w.step[k][d]
        n += 1
    w.nd = n


cdef void sort_walk(Walk* w) noexcept:
    cdef int d, j, k
    cdef int64_t size
    cdef int64_t step[10]
    for d in range(1, w.nd):
        size = w.size[d]
        for k in range(w.tracks):
            step[k] = w.step[k][d]
        j = d
        while j > 0 and w.step[0][j - 1] < step[0]:
            w.size[j] = w.size[j - 1]
            for k in range(w.tracks):
                w.step[k][j] = w.step[k][j - 1]
            j -= 1
        w.size[j] = size
        for k in range(w.tracks):
            w.step[k][j] = step[k]


cdef int take_words(Walk* w, const void* p, const void* q, int64_t other) noexcept:
    cdef int64_t bits = <int64_t>p | <int64_t>q | other | w.size[w.nd - 1]
    cdef int d, word = 16
    for d in range(w.nd - 1):
        bits |= w.step[0][d] | w.step[1][d]
    while bits & (word - 1):
        word >>= 1
    w.size[w.nd - 1] //= word
    w.step[0][w.nd - 1] = w.step[1][w.nd - 1] = word
    if w.size[w.nd - 1] == 1:
        w.nd -= 1
    return word


cdef void put_sizes(const Walk* w, void* size) noexcept:
    cdef int d
    for d in range(w.nd):
        set_divisor(<ag_wide_divisor*>size + d, w.size[w.nd - 1 - d])


cdef void put_steps(const Walk* w, int track, int64_t* stride) noexcept:
    cdef int d
    for d in range(w.nd):
        stride[d] = w.step[track][w.nd - 1 - d]


cdef Tensor index_on(Tensor index, int device):
    index = to_device(index, device)
    if index.dt != DT_I64 and index.dt != DT_I32:
        index = cast(index, DT_I64)
    return resolved(index)


cdef int set_index(void* to, Tensor index, int64_t size, int64_t step, int dim) except -1:
    cdef ag_index_args* args = <ag_index_args*>to
    cdef int k = args.n
    args.at[k] = index.ptr
    args.size[k], args.step[k], args.dim[k] = size, step, dim
    if index.dt == DT_I32:
        args.narrow |= <unsigned>1 << k
    args.n += 1
    return k


cdef void put_index_steps(void* to, const Walk* w, int first_track) noexcept:
    cdef ag_index_args* args = <ag_index_args*>to
    cdef int k
    for k in range(<int>args.n):
        put_steps(w, first_track + k, args.stride[k])


cdef int launch_each(int kernel, int device, uint64_t n, const void* args,
                     Py_ssize_t size) except -1:
    cdef int index = device_index(device)
    return launch(kernel, index, current_stream(device), blocks_for(index, n, AG_INDEX_THREADS), 1,
                  1, AG_INDEX_THREADS, 1, 1, 0, args, size)


cdef int kernel_of_words(str image, str name, int word) except -1:
    number = words.get((image, name, word))
    if number is None:
        number = words[image, name, word] = kernel_id(image, f"{name}_w{8 * word}")
    return number
