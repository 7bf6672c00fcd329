# cython: language_level=3
"""Shape rules of attention on ``(batch, heads, places, width)``."""
from autograd_cy._C.dtypes cimport DT_F32, DT_F64
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport Tensor, sizes_of

__all__: list[str] = []


cdef int in_format_of(Result* r, Tensor like, const Py_ssize_t* sizes) except -1:
    """Dense, with heads inside of places if they are so in `like`."""
    result_dense(r, like.dt, 4, sizes)
    if like.strides[3] == 1 and like.strides[1] < like.strides[2]:
        r.strided = True
        r.strides[3] = 1
        r.strides[1] = sizes[3]
        r.strides[2] = sizes[1] * sizes[3]
        r.strides[0] = sizes[2] * r.strides[2]
    return 0


cdef int attended(Result* r, Tensor query, Tensor key, Tensor value, Tensor mask, Tensor dropped,
                  str op) except -1:
    """The mixed values, the logarithm of each row's sum of exponentials, and wide halves."""
    cdef Py_ssize_t sizes[4]
    cdef int d
    cdef bint fits = query.nd == 4 and key.nd == 4 and value.nd == 4
    if fits:
        fits = (
            query.sizes[0] == key.sizes[0] == value.sizes[0] and key.sizes[1] == value.sizes[1]
            and key.sizes[1] > 0 and query.sizes[1] % key.sizes[1] == 0
            and query.sizes[3] == key.sizes[3] and key.sizes[2] == value.sizes[2])
    if not fits:
        raise RuntimeError(
            f"{op}: query {list(sizes_of(query))}, key {list(sizes_of(key))} and value "
            f"{list(sizes_of(value))} don't fit together")
    for d in range(3):
        sizes[d] = query.sizes[d]
    sizes[3] = key.sizes[2]
    if mask is not None:
        for d in range(4):
            if mask.nd != 4 or mask.sizes[d] != 1 and mask.sizes[d] != sizes[d]:
                raise RuntimeError(
                    f"{op}: attn_mask of shape {list(sizes_of(mask))} must match "
                    f"{[sizes[k] for k in range(4)]} in size, or be 1 there")
    if dropped is not None:
        for d in range(4):
            if dropped.nd != 4 or dropped.sizes[d] != sizes[d]:
                raise RuntimeError(
                    f"{op}: a mask of dropout of shape {list(sizes_of(dropped))} must be of size "
                    f"{[sizes[k] for k in range(4)]}")
    sizes[3] = value.sizes[3]
    in_format_of(r, query, sizes)
    result_dense(r + 1, DT_F64 if query.dt == DT_F64 else DT_F32, 3, sizes)
    if query.dt < DT_F32:       # sums of rounded values would lose what gradients are made of
        return result_dense(r + 2, DT_F32, 4, sizes)
    sizes[0] = 0
    return result_dense(r + 2, query.dt, 1, sizes)


cdef int gradients(Result* r, Tensor query, Tensor key, Tensor value, str op) except -1:
    in_format_of(r, query, query.sizes)
    in_format_of(r + 1, key, key.sizes)
    return in_format_of(r + 2, value, value.sizes)
