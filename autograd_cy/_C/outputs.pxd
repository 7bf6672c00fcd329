# cython: language_level=3
"""The metadata of an operator's result: dtype, shape and strides, decided before any memory is
touched.

A shape rule (ext/shape_rules, named in the record by ``call(..., shape="...")``) checks the
arguments of an operator and fills one Result for each output. It reads no values: where these
decide the size of a result, the rule says NEEDS_SIZES, another function of the device finds them,
and the rule is called again. The generated operator then finds memory for the results, fresh or
what ``out=`` gives, and hands it to the kernel of the device, which fills it.
"""
from autograd_cy._C.tensor cimport Tensor, tensor_empty, tensor_empty_on

cdef struct Result:
    int dt
    int nd
    bint strided                # `strides` hold; otherwise C order
    Py_ssize_t sizes[64]
    Py_ssize_t strides[64]      # in elements

cdef enum:
    NEEDS_SIZES = 1             # what a rule returns: nothing is filled until it gets the sizes

cdef int sized_by_values(str op) except -1      # refused while the thread captures

# How a rule says it.
cdef inline int result_dense(Result* r, int dt, int nd, const Py_ssize_t* sizes) noexcept:
    cdef int d
    r.dt = dt
    r.nd = nd
    r.strided = False
    if sizes != r.sizes:
        for d in range(nd):
            r.sizes[d] = sizes[d]
    return 0

cdef int result_like(Result* r, Tensor a, int dt) noexcept     # order of dimensions kept
cdef bint has_shape(Tensor t, const Result* r) noexcept

# What ``out=`` may be.
cdef enum:
    OUT_CAST = 0      # of any dtype that the result can be cast to
    OUT_EXACT = 1     # of the result's dtype
    OUT_TRUTH = 2     # bool, or uint8
    OUT_JOINED = 3    # as OUT_CAST, and another dtype is a TypeError

cdef inline Tensor fresh(const Result* r, int device):
    if device == 0 and not r.strided:
        return tensor_empty(r.dt, r.nd, r.sizes)
    return tensor_empty_on(device, r.dt, r.nd, r.sizes, r.strides if r.strided else NULL)

cdef inline Tensor fresh_dense(Tensor t):
    """Memory for the same values in C order."""
    return tensor_empty_on(t.mem.device, t.dt, t.nd, t.sizes, NULL)

# `out` itself if the kernel may write there, given what it reads; else fresh memory, whose values
# `settle` copies.
cdef int check_outs(tuple out, const Result* r, str op) except -1     # dtypes of several
cdef Tensor out_target(Tensor out, const Result* r, tuple read, int device, int kind, str op)

# Whether a kernel may be given `self` as result and argument.
cdef enum:
    OVER_NONE = 0
    OVER_DENSE = 1    # in C order, and nothing else that it reads shares memory with it
    OVER_PLACES = 2   # of any strides; somebody has seen to the rest

cdef Tensor inplace_target(Tensor self, const Result* r, tuple others, int device, int over,
                           str op)
cdef int settle(Tensor out, Tensor target, str op) except -1
