# cython: language_level=3
"""Reads by index on CUDA devices, and the keys that scatters sort."""
from libc.stdint cimport int64_t, uint64_t
from autograd_cy._C.cuda_masks cimport Places
from autograd_cy._C.cuda_walks cimport Walk
from autograd_cy._C.tensor cimport Tensor

# Copy elements of `item` bytes along a walk, whose tracks are the result and the operand; a step of
# the operand may be negative.
cdef int copy_strided(Walk* w, char* out, const char* a, int64_t item, int device) except -1

# An ag_index_args (device/index_arguments.h) for the index tensors of a launch: none yet; `kind`
# is the fault of one that lies outside.
cdef void begin_index(void* args, int kind, bint wraps, int device) except *
cdef int check_only(Tensor index, int64_t size, int kind, const char* op, int dim,
                    int device) except -1
# A key for each element of a walk, in its order, as uint32_t or uint64_t: indices times their
# steps, plus coordinates times the steps of the first track. Other tracks are of index tensors.
cdef int write_keys(Walk* w, const void* index, void* keys, bint wide, uint64_t bad,
                    const char* op, int device) except -1

# Rows of a table; `op` is the operator in the message about an index that lies outside.
cdef int take_rows(Tensor out, Tensor weight, Tensor indices, const char* op) except -1
# Dimensions of x[i, j, ...], and its index tensors.
cdef int add_places(Places places, Walk* w, int first_track) except -1
cdef int set_places(void* args, Places places, const int64_t* steps, int device) except -1
cdef int join_places(Places places, int64_t* steps, const char* op, int device) except -1
cdef int check_places(Places places, const char* op, int device) except -1
