# cython: language_level=3
"""Strided iteration: broadcasting, promotion, coalescing, and the elementwise drivers.

These functions work on plain tensors and set no autograd metadata; the generated operators
(ext/codegen) call them and record.
"""
from autograd_cy._C.storage cimport StorageImpl, storage_root
from autograd_cy._C.tensor cimport Tensor
from autograd_cy._C.kernel_table cimport loop_t

# How an elementwise operator chooses its dtypes.
cdef enum:
    P_SAME = 0         # result has the promoted dtype of the operands
    P_BOOL = 1         # computed in the promoted dtype, result is bool
    P_FLOAT = 2        # integers become the default float dtype first
    P_REAL = 4         # complex operands give a real result (abs, real, imag)
    P_COMPLEX = 8      # real operands give a complex result (complex())
    P_SKIP_FIRST = 16  # the first operand keeps its dtype (the condition of where)

# out: None (allocate), or the tensor to write (in-place and out= forms).
cdef Tensor ew1(int kernel, Tensor a, int rule, Tensor out, str op)
cdef Tensor ew2(int kernel, Tensor a, Tensor b, int rule, Tensor out, str op)
cdef Tensor ew3(int kernel, Tensor a, Tensor b, Tensor c, int rule, Tensor out, str op)
cdef Tensor ewn(int kernel, tuple operands, int rule, Tensor out, str op)

cdef int result_dtype(tuple operands) except -1              # torch's promotion
cdef int broadcast_shape(tuple operands, Py_ssize_t* shape, str op) except -1   # returns ndim

cdef Tensor cast(Tensor a, int dt)                           # a itself if it has the dtype
cdef Tensor to_device(Tensor a, int device)                  # a itself if it is there
cdef Tensor to_device_by(Tensor a, int device, bint non_blocking)
cdef tuple indices_on_device(tuple indices, int device)      # those of the CPU, but not to meta
cdef Tensor contiguous(Tensor a)                             # a itself if it is C-contiguous
cdef Tensor resolved(Tensor a)                               # a itself if nothing is lazy in it
cdef tuple all_resolved(tuple tensors)                       # may hold None
cdef Tensor clone_plain(Tensor a)                            # dense copy, order of dimensions kept
cdef Tensor clone_format(Tensor a, int format)
cdef int copy_into(Tensor dst, Tensor src, str op) except -1   # broadcasts and casts
cdef int copy_into_by(Tensor dst, Tensor src, str op, bint non_blocking) except -1
cdef int fill_with(Tensor dst, object value) except -1
cdef int fill_elements(Tensor t, const char* item) except -1   # one element; dense memory only
cdef int fill_dense(Tensor t, double value) except -1        # the same, of a number
cdef int clear(Tensor t) except -1                           # the same, of zeros
cdef Tensor zeros_on(int device, int dt, int nd, const Py_ssize_t* shape)
cdef int add_into(Tensor dst, Tensor src) except -1          # dst += src, no version bump
cdef Tensor expand_plain(Tensor a, int ndim, const Py_ssize_t* shape, str op)
cdef inline bint one_memory(Tensor a, Tensor b) noexcept:
    """Tell if their elements are in one block: `x.data` has a storage, but no memory of its own."""
    return a.mem == b.mem or storage_root(a.mem) == storage_root(b.mem)

cdef bint ranges_meet(Tensor a, Tensor b) noexcept           # may the two share memory?
cdef int check_not_expanded(Tensor t, str op) except -1
cdef int check_writable(Tensor t, str op) except -1          # overlap and read-only memory
cdef Tensor separated(Tensor dst, Tensor src, str op)               # a copy if that is not certain
cdef tuple all_separated(Tensor dst, object sources, str op)
cdef Tensor resize_out(Tensor out, int ndim, const Py_ssize_t* shape, str op)

# Runs loop(p, s, n) over the elements of up to 5 operands of one shape; byte strides.
# `mem` are the storages of p; NULL stands for a number, at p. `dts` are the dtypes of the operands.
cdef int run_loop(loop_t loop, int nargs, char** p, StorageImpl** mem, int ndim,
                  const Py_ssize_t* shape, Py_ssize_t** strides, const int* dts,
                  float cost) except -1
