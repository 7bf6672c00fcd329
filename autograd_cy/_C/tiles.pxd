# cython: language_level=3
# Running tiles: serial while the work is small, else without the GIL on the thread team.

from autograd_cy._C.parallel cimport body_t, parallel_for, team_size
from autograd_cy._C.sizes cimport parts, round_up

cdef enum:
    RELEASE_WORK = 32768     # element steps from which it pays to give up the GIL


cdef inline Py_ssize_t even_block(Py_ssize_t n, Py_ssize_t most) noexcept nogil:
    """Length of nearly equal pieces of n elements, at most `most`, in whole vectors."""
    cdef Py_ssize_t pieces
    if n <= most:
        return n
    pieces = parts(n, most)
    return round_up(parts(n, pieces), 16)


cdef inline void run_tiles(body_t body, void* ctx, Py_ssize_t n_tiles, double work) noexcept:
    """body(ctx, tile) for each tile; `work` as for team_size()."""
    cdef Py_ssize_t tile
    if work < RELEASE_WORK:
        for tile in range(n_tiles):
            body(ctx, tile)
        return
    with nogil:
        parallel_for(body, ctx, n_tiles, team_size(work))
