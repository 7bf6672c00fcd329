# cython: language_level=3
# build: simd cold
# Inner loops of interpolation, compiled once per instruction set; resample_loops.pxd shows the
# table. Rows of the input are put together first, then elements of the row that comes out.
# Which elements, and their weights, scalar/resample.h says.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.resample_loops cimport *

include "fused.pxi"

cdef extern from "scalar/resample.h" nogil:
    int64_t ag_nearest_tap(int exact, float step, int64_t size, int64_t o)
    void ag_linear_taps_f32(int align, float step, int64_t size, int64_t to, int64_t o,
                            int64_t* index, float* weight)
    void ag_linear_taps_f64(int align, double step, int64_t size, int64_t to, int64_t o,
                            int64_t* index, double* weight)
    void ag_cubic_taps_f32(int align, float step, int64_t size, int64_t o, int64_t* index,
                           float* weight)
    void ag_cubic_taps_f64(int align, double step, int64_t size, int64_t o, int64_t* index,
                           double* weight)

ctypedef fused real_t:
    float
    double


# --- tables ---------------------------------------------------------------------------------

cdef void fill_table(int mode, bint align, double scale, Py_ssize_t size, Py_ssize_t to,
                     int64_t* index, real_t* weight) noexcept nogil:
    cdef Py_ssize_t o
    cdef real_t step
    cdef float near
    if mode <= NEAREST_EXACT:
        near = <float>(1.0 / scale) if scale > 0 else <float>size / <float>to
        for o in range(to):
            index[o] = ag_nearest_tap(mode == NEAREST_EXACT, near, size, o)
            weight[o] = 1
        return
    if align:
        step = <real_t>(size - 1) / <real_t>(to - 1) if to > 1 else 0
    else:
        step = <real_t>(1.0 / scale) if scale > 0 else <real_t>size / <real_t>to
    for o in range(to):
        if mode == LINEAR:
            if real_t is float:
                ag_linear_taps_f32(align, step, size, to, o, index + 2 * o, weight + 2 * o)
            else:
                ag_linear_taps_f64(align, step, size, to, o, index + 2 * o, weight + 2 * o)
        elif real_t is float:
            ag_cubic_taps_f32(align, step, size, o, index + 4 * o, weight + 4 * o)
        else:
            ag_cubic_taps_f64(align, step, size, o, index + 4 * o, weight + 4 * o)


# --- forward --------------------------------------------------------------------------------

cdef inline void put_row(real_t* scratch, const real_t* p, real_t w, Py_ssize_t n,
                         bint first) noexcept nogil:
    cdef Py_ssize_t i
    if first:
        for i in range(n):
            scratch[i] = w * p[i]
    else:
        for i in range(n):
            scratch[i] = fma(w, p[i], scratch[i])


cdef inline void across(const Resampling* g, const real_t* row, real_t* out) noexcept nogil:
    """A row of results out of a row."""
    cdef const int64_t* at = g.index[2]
    cdef const real_t* w = <const real_t*>g.weight[2]
    cdef Py_ssize_t o
    cdef real_t x
    if g.taps[2] == 1:
        for o in range(g.to[2]):
            out[o] = row[at[o]]
    elif g.taps[2] == 2:
        for o in range(g.to[2]):
            out[o] = fma(w[2 * o], row[at[2 * o]], w[2 * o + 1] * row[at[2 * o + 1]])
    else:
        for o in range(g.to[2]):
            x = w[4 * o] * row[at[4 * o]]
            x = fma(w[4 * o + 1], row[at[4 * o + 1]], x)
            x = fma(w[4 * o + 2], row[at[4 * o + 2]], x)
            out[o] = fma(w[4 * o + 3], row[at[4 * o + 3]], x)


cdef inline void across_places(const Resampling* g, const real_t* row,
                               real_t* out) noexcept nogil:
    """across() where an element has c channels."""
    cdef const int64_t* at = g.index[2]
    cdef const real_t* w = <const real_t*>g.weight[2]
    cdef const real_t* p
    cdef const real_t* q
    cdef Py_ssize_t o, i, n = g.c
    for o in range(g.to[2]):
        if g.taps[2] == 1:
            memcpy(out, row + at[o] * n, n * sizeof(real_t))
        elif g.taps[2] == 2:
            p = row + at[2 * o] * n
            q = row + at[2 * o + 1] * n
            for i in range(n):
                out[i] = fma(w[2 * o], p[i], w[2 * o + 1] * q[i])
        else:
            put_row(out, row + at[4 * o] * n, w[4 * o], n, True)
            for i in range(1, 4):
                put_row(out, row + at[4 * o + i] * n, w[4 * o + i], n, False)
        out += n


cdef inline void back_across(const Resampling* g, const real_t* grad, real_t* row) noexcept nogil:
    """Add a row of gradients to the elements that it was made of."""
    cdef const int64_t* at = g.index[2]
    cdef const real_t* w = <const real_t*>g.weight[2]
    cdef int k, taps = g.taps[2]
    cdef Py_ssize_t o
    if g.c > 1:
        for o in range(g.to[2]):
            for k in range(taps):
                put_row(row + at[o * taps + k] * g.c, grad + o * g.c, w[o * taps + k], g.c, False)
    elif taps == 1:
        for o in range(g.to[2]):
            row[at[o]] += grad[o]
    else:
        for o in range(g.to[2]):
            for k in range(taps):
                row[at[o * taps + k]] = fma(w[o * taps + k], grad[o], row[at[o * taps + k]])


cdef void forward(const Resampling* g, const real_t* a, real_t* out, real_t* scratch,
                  Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t r, d, h, i, j, k, W = g.size[2] * g.c, H = g.size[1]
    cdef const real_t* plane
    cdef const real_t* row
    cdef const real_t* wd = <const real_t*>g.weight[0]
    cdef const real_t* wh = <const real_t*>g.weight[1]
    cdef int td = g.taps[0], th = g.taps[1]
    for r in range(first, last):
        h = r % g.to[1]
        d = r // g.to[1] % g.to[0]
        plane = a + r // (g.to[0] * g.to[1]) * (g.size[0] * H * W)
        row = scratch
        if td * th == 1:
            row = plane + (g.index[0][d] * H + g.index[1][h]) * W
        else:
            for k in range(td * th):
                i = g.index[0][d * td + k // th]
                j = g.index[1][h * th + k % th]
                put_row(scratch, plane + (i * H + j) * W,
                        wd[d * td + k // th] * wh[h * th + k % th], W, k == 0)
        if g.c > 1:
            across_places(g, row, out + r * g.to[2] * g.c)
        else:
            across(g, row, out + r * g.to[2])


# --- backward -------------------------------------------------------------------------------

cdef void backward(const Resampling* g, const real_t* grad, real_t* out, real_t* scratch,
                   Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t plane, d, h, i, j, k, W = g.size[2] * g.c, H = g.size[1]
    cdef Py_ssize_t inside = g.size[0] * H * W
    cdef real_t* to
    cdef const real_t* wd = <const real_t*>g.weight[0]
    cdef const real_t* wh = <const real_t*>g.weight[1]
    cdef int td = g.taps[0], th = g.taps[1]
    grad += first * g.to[0] * g.to[1] * g.to[2] * g.c
    memset(out + first * inside, 0, (last - first) * inside * sizeof(real_t))
    for plane in range(first, last):
        for d in range(g.to[0]):
            for h in range(g.to[1]):
                memset(scratch, 0, W * sizeof(real_t))
                back_across(g, grad, scratch)
                for k in range(td * th):
                    i = g.index[0][d * td + k // th]
                    j = g.index[1][h * th + k % th]
                    to = out + plane * inside + (i * H + j) * W
                    put_row(to, scratch, wd[d * td + k // th] * wh[h * th + k % th], W, False)
                grad += g.to[2] * g.c


cdef ResampleTable table
table.forward[0] = <resample_fn>forward[float]
table.forward[1] = <resample_fn>forward[double]
table.backward[0] = <resample_back_fn>backward[float]
table.backward[1] = <resample_back_fn>backward[double]
table.fill[0] = <resample_table_fn>fill_table[float]
table.fill[1] = <resample_table_fn>fill_table[double]


def table_capsule():
    """Capsule with the address of the table (see resample_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.resample_table", NULL)
