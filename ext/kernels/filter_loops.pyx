# cython: language_level=3
# build: simd cold
# Inner loops of filters along a dimension, compiled once per instruction set; filter_loops.pxd
# shows the table.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

from autograd_cy._C.filter_loops cimport *

include "fused.pxi"

cdef extern from "byte_lanes.h" nogil:
    void ag_turn_bytes(const uint8_t* a, Py_ssize_t step, uint8_t* out, Py_ssize_t to)
    void ag_weigh_bytes(const uint8_t* a, Py_ssize_t step, const int16_t* w, Py_ssize_t n,
                        int bits, uint8_t* out)

ctypedef fused real_t:
    float
    double


# --- real numbers ---------------------------------------------------------------------------

cdef inline void add_row(real_t* out, const real_t* p, real_t w, Py_ssize_t n,
                         bint first) noexcept nogil:
    cdef Py_ssize_t i
    if first:
        for i in range(n):
            out[i] = w * p[i]
    else:
        for i in range(n):
            out[i] = fma(w, p[i], out[i])


cdef inline void across(const Filter* f, const real_t* row, real_t* out) noexcept nogil:
    """Each element of a row of results."""
    cdef const int64_t* at = f.bounds
    cdef const real_t* w = <const real_t*>f.weight
    cdef const real_t* p
    cdef real_t s
    cdef Py_ssize_t o, k
    for o in range(f.to):
        p = row + at[0]
        s = 0
        for k in range(at[1] - at[0]):
            s += w[k] * p[k]        # not fused: each sum waits for the one before
        out[o] = s
        at += 2
        w += f.taps


cdef void forward(const Filter* f, const real_t* a, real_t* out, void* scratch, Py_ssize_t first,
                  Py_ssize_t last) noexcept nogil:
    cdef const int64_t* at
    cdef const real_t* w
    cdef const real_t* p
    cdef Py_ssize_t r, k, o, n = f.inner
    for r in range(first, last):
        if n == 1:
            across(f, a + r * f.size, out + r * f.to)
            continue
        o = r % f.to
        at = f.bounds + 2 * o
        w = <const real_t*>f.weight + o * f.taps
        p = a + (r // f.to * f.size + at[0]) * n
        if at[0] == at[1]:
            memset(out + r * n, 0, n * sizeof(real_t))
        for k in range(at[1] - at[0]):
            add_row(out + r * n, p + k * n, w[k], n, k == 0)


cdef void backward(const Filter* f, const real_t* grad, real_t* out, Py_ssize_t first,
                   Py_ssize_t last) noexcept nogil:
    """Planes first to last of the gradient."""
    cdef const int64_t* at
    cdef const real_t* w
    cdef real_t* p
    cdef real_t g
    cdef Py_ssize_t r, k, o, n = f.inner
    memset(out + first * f.size * n, 0, (last - first) * f.size * n * sizeof(real_t))
    for r in range(first, last):
        at = f.bounds
        w = <const real_t*>f.weight
        for o in range(f.to):
            p = out + (r * f.size + at[0]) * n
            if n == 1:
                g = grad[r * f.to + o]
                for k in range(at[1] - at[0]):
                    p[k] = fma(w[k], g, p[k])
            else:
                for k in range(at[1] - at[0]):
                    add_row(p + k * n, grad + (r * f.to + o) * n, w[k], n, False)
            at += 2
            w += f.taps


# --- bytes ----------------------------------------------------------------------------------

cdef inline void weigh_byte(const uint8_t* p, Py_ssize_t step, const int16_t* w, Py_ssize_t n,
                            int bits, uint8_t* out) noexcept nogil:
    cdef int32_t s = 1 << bits >> 1
    cdef Py_ssize_t k
    for k in range(n):
        s += <int32_t>w[k] * <int32_t>p[k * step]
    s >>= bits
    out[0] = 0 if s < 0 else 255 if s > 255 else <uint8_t>s


cdef inline void weigh_row(const Filter* f, const uint8_t* a, Py_ssize_t o,
                           uint8_t* out) noexcept nogil:
    """Element o of the result, whose plane begins at `a`."""
    cdef const int64_t* at = f.bounds + 2 * o
    cdef const int16_t* w = <const int16_t*>f.weight + o * f.taps
    cdef Py_ssize_t i = 0, n = f.inner
    a += at[0] * n
    while i + LANES <= n:
        ag_weigh_bytes(a + i, n, w, at[1] - at[0], f.bits, out + i)
        i += LANES
    while i < n:
        weigh_byte(a + i, n, w, at[1] - at[0], f.bits, out + i)
        i += 1


cdef inline void transpose_block(const uint8_t* a, Py_ssize_t step, uint8_t* out, Py_ssize_t to,
                                 Py_ssize_t n, bint columns) noexcept nogil:
    """LANES rows of n bytes as n rows of LANES, or (`columns`) the other way."""
    cdef Py_ssize_t i = 0, j
    while i + LANES <= n:
        ag_turn_bytes(a + (i * step if columns else i), step, out + (i if columns else i * to), to)
        i += LANES
    while i < n:
        for j in range(LANES):
            if columns:
                out[j * to + i] = a[i * step + j]
            else:
                out[i * to + j] = a[j * step + i]
        i += 1


cdef inline void turned_rows(const Filter* f, const uint8_t* a, uint8_t* out,
                             uint8_t* scratch) noexcept nogil:
    """LANES planes of few numbers an element: sums of one place of all planes are vectors."""
    cdef const int64_t* at = f.bounds
    cdef const int16_t* w = <const int16_t*>f.weight
    cdef Py_ssize_t o, i, n = f.inner
    cdef uint8_t* sums = scratch + f.size * n * LANES
    transpose_block(a, f.size * n, scratch, LANES, f.size * n, False)
    for o in range(f.to):
        for i in range(n):
            ag_weigh_bytes(scratch + (at[0] * n + i) * LANES, n * LANES, w, at[1] - at[0], f.bits,
                           sums + (o * n + i) * LANES)
        at += 2
        w += f.taps
    transpose_block(sums, LANES, out, f.to * n, f.to * n, True)


cdef void bytes_forward(const Filter* f, const uint8_t* a, uint8_t* out, uint8_t* scratch,
                        Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t r = first, o, row = f.to * f.inner
    if f.inner >= LANES:
        for r in range(first, last):
            weigh_row(f, a + r // f.to * f.size * f.inner, r % f.to, out + r * f.inner)
        return
    while r + LANES <= last:
        turned_rows(f, a + r * f.size * f.inner, out + r * row, scratch)
        r += LANES
    while r < last:
        for o in range(f.to):
            weigh_row(f, a + r * f.size * f.inner, o, out + r * row + o * f.inner)
        r += 1


cdef FilterTable table
table.forward[0] = <filter_fn>forward[float]
table.forward[1] = <filter_fn>forward[double]
table.forward[2] = <filter_fn>bytes_forward
table.backward[0] = <filter_back_fn>backward[float]
table.backward[1] = <filter_back_fn>backward[double]


def table_capsule():
    """Capsule with the address of the table (see filter_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.filter_table", NULL)
