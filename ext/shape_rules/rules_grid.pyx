# cython: language_level=3
"""Shape rules of sampling at the points of a grid. Arguments were checked before."""
from autograd_cy._C.outputs cimport result_dense

__all__: list[str] = []


cdef int sampled(Result* r, Tensor a, Tensor grid, str op) except -1:
    """Channels of the image, at places of the grid."""
    cdef int d, rank = <int>grid.sizes[grid.nd - 1]
    result_dense(r, a.dt, a.nd, a.sizes)
    for d in range(1, rank + 1):
        r.sizes[a.nd - d] = grid.sizes[grid.nd - 1 - d]
    return 0


cdef int like_points(Result* r, Tensor grid, str op) except -1:
    return result_dense(r, grid.dt, grid.nd, grid.sizes)
