# cython: language_level=3
# build: simd cold
# Loops of normalisation, compiled once per instruction set.  norm_loops.pxd says what each does;
# norms.pyx cuts tensors into runs.
#
# Runs are summed by blocks that stay in the first cache: their mean, then the deviations from it.
# Blocks are put together in double (T. Chan, G. Golub, R. LeVeque, "Updating formulae and a
# pairwise algorithm for computing sample variances", 1979), so memory is read once and nothing
# cancels.

from cpython.pycapsule cimport PyCapsule_New
from libc.string cimport memset

from autograd_cy._C.norm_loops cimport *

include "fused.pxi"

cdef extern from "norm_lanes.h" nogil:
    double ag_norm_sum_f32(const float* p, Py_ssize_t n)
    double ag_norm_sum_f64(const double* p, Py_ssize_t n)
    double ag_norm_deviation_f32(const float* p, Py_ssize_t n, float mean)
    double ag_norm_deviation_f64(const double* p, Py_ssize_t n, double mean)
    void ag_norm_dots_f32(const float* g, const float* p, const float* w, Py_ssize_t n, float mean,
                          double* sums)
    void ag_norm_dots_f64(const double* g, const double* p, const double* w, Py_ssize_t n,
                          double mean, double* sums)

ctypedef fused real_t:
    float
    double

cdef enum:
    BLOCK = 1024     # elements that are summed in their own type
    FOLD = 64        # rows of columns that are
    COLUMNS = 256    # columns at a time

cdef NormTable table


cdef inline double norm_sum(const real_t* p, Py_ssize_t n) noexcept nogil:
    if real_t is float:
        return ag_norm_sum_f32(p, n)
    else:
        return ag_norm_sum_f64(p, n)


cdef inline double norm_deviation(const real_t* p, Py_ssize_t n, real_t mean) noexcept nogil:
    if real_t is float:
        return ag_norm_deviation_f32(p, n, mean)
    else:
        return ag_norm_deviation_f64(p, n, mean)


cdef inline void norm_dots(const real_t* g, const real_t* p, const real_t* w, Py_ssize_t n,
                           real_t mean, double* sums) noexcept nogil:
    if real_t is float:
        ag_norm_dots_f32(g, p, w, n, mean, sums)
    else:
        ag_norm_dots_f64(g, p, w, n, mean, sums)


# --- runs -----------------------------------------------------------------------------------

cdef void moments(const real_t* p, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n,
                  double* two) noexcept nogil:
    cdef double mean = 0, deviation = 0, count = 0, total, own, apart
    cdef Py_ssize_t r, i, length
    for r in range(runs):
        for i from 0 <= i < n by BLOCK:
            length = n - i if n - i < BLOCK else BLOCK
            own = norm_sum(p + r * step + i, length) / length
            deviation += norm_deviation(p + r * step + i, length, <real_t>own)
            total = count + length
            apart = own - mean
            mean += apart * (length / total)
            if count > 0:    # apart's square may be infinite
                deviation += apart * apart * (count / total * length)
            count = total
    two[0] = mean
    two[1] = deviation


cdef double squares(const real_t* p, Py_ssize_t n) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t i, length
    for i from 0 <= i < n by BLOCK:
        length = n - i if n - i < BLOCK else BLOCK
        total += norm_deviation(p + i, length, 0)
    return total


cdef inline void all_dots(const real_t* g, const real_t* p, const real_t* w, Py_ssize_t n,
                          real_t mean, double* two) noexcept nogil:
    cdef double part[2]
    cdef Py_ssize_t i, length
    for i from 0 <= i < n by BLOCK:
        length = n - i if n - i < BLOCK else BLOCK
        norm_dots(g + i, p + i, <const real_t*>NULL if w == NULL else w + i, length, mean, part)
        two[0] += part[0]
        two[1] += part[1]


cdef void dots(const real_t* g, const real_t* p, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n,
               double mean, double* two) noexcept nogil:
    cdef Py_ssize_t r
    two[0] = two[1] = 0
    for r in range(runs):
        all_dots(g + r * step, p + r * step, <const real_t*>NULL, n, <real_t>mean, two)


cdef void scale(const real_t* p, real_t* out, Py_ssize_t runs, Py_ssize_t step, Py_ssize_t n,
                double mean, double a, double b) noexcept nogil:
    cdef real_t m = <real_t>mean, factor = <real_t>a, shift = <real_t>b
    cdef const real_t* x
    cdef real_t* y
    cdef Py_ssize_t r, i
    for r in range(runs):
        x = p + r * step
        y = out + r * step
        for i in range(n):
            y[i] = fma(x[i] - m, factor, shift)


cdef void back(const real_t* g, const real_t* p, real_t* out, Py_ssize_t runs, Py_ssize_t step,
               Py_ssize_t n, double mean, double a, double c0, double c1) noexcept nogil:
    cdef real_t m = <real_t>mean, factor = <real_t>a, shift = <real_t>c0, projection = <real_t>c1
    cdef const real_t* h
    cdef const real_t* x
    cdef real_t* y
    cdef Py_ssize_t r, i
    for r in range(runs):
        h = g + r * step
        x = p + r * step
        y = out + r * step
        for i in range(n):
            y[i] = fma(m - x[i], projection, fma(h[i], factor, -shift))


# --- rows with a weight for each element ----------------------------------------------------

cdef void row(const real_t* p, real_t* out, Py_ssize_t n, double mean, double spread,
              const real_t* weight, const real_t* bias) noexcept nogil:
    cdef real_t m = <real_t>mean, s = <real_t>spread
    cdef Py_ssize_t i
    if weight != NULL and bias != NULL:
        for i in range(n):
            out[i] = fma((p[i] - m) * s, weight[i], bias[i])
    elif weight != NULL:
        for i in range(n):
            out[i] = (p[i] - m) * s * weight[i]
    elif bias != NULL:
        for i in range(n):
            out[i] = fma(p[i] - m, s, bias[i])
    else:
        for i in range(n):
            out[i] = (p[i] - m) * s


cdef void row_back(const real_t* g, const real_t* p, real_t* out, Py_ssize_t n, double mean,
                   double spread, const real_t* weight, bint centred) noexcept nogil:
    cdef real_t m = <real_t>mean, s = <real_t>spread, c0, c1
    cdef double two[2]
    cdef Py_ssize_t i
    two[0] = two[1] = 0
    all_dots(g, p, weight, n, m, two)
    c0 = <real_t>(two[0] / n * spread) if centred else 0
    c1 = <real_t>(two[1] / n * spread * spread * spread)
    if weight != NULL:
        for i in range(n):
            out[i] = fma(m - p[i], c1, fma(g[i] * weight[i], s, -c0))
    else:
        for i in range(n):
            out[i] = fma(m - p[i], c1, fma(g[i], s, -c0))


cdef void row_gather(const real_t* g, const real_t* p, Py_ssize_t n, double mean, double spread,
                     real_t* by_weight, real_t* by_bias) noexcept nogil:
    cdef real_t m = <real_t>mean, s = <real_t>spread
    cdef Py_ssize_t i
    if by_weight != NULL and by_bias != NULL:
        for i in range(n):
            by_weight[i] = fma(g[i], (p[i] - m) * s, by_weight[i])
            by_bias[i] += g[i]
    elif by_weight != NULL:
        for i in range(n):
            by_weight[i] = fma(g[i], (p[i] - m) * s, by_weight[i])
    elif by_bias != NULL:
        for i in range(n):
            by_bias[i] += g[i]


# --- columns --------------------------------------------------------------------------------

cdef void column_moments(const real_t* p, Py_ssize_t rows, Py_ssize_t n, const real_t* shift,
                         double* sums, double* of_squares) noexcept nogil:
    cdef real_t first[COLUMNS]
    cdef real_t second[COLUMNS]
    cdef const real_t* x
    cdef real_t d, e, f, h
    cdef Py_ssize_t c, r, start, stop, j, width
    for c from 0 <= c < n by COLUMNS:
        width = n - c if n - c < COLUMNS else COLUMNS
        for j in range(width):
            sums[c + j] = 0
            of_squares[c + j] = 0
        for start from 0 <= start < rows by FOLD:
            stop = start + FOLD if start + FOLD < rows else rows
            for j in range(width):
                first[j] = 0
                second[j] = 0
            for r from start <= r <= stop - 4 by 4:        # fewer passes over the sums
                x = p + r * n + c
                for j in range(width):
                    d = x[j] - shift[c + j]
                    e = x[n + j] - shift[c + j]
                    f = x[2 * n + j] - shift[c + j]
                    h = x[3 * n + j] - shift[c + j]
                    first[j] += (d + e) + (f + h)
                    second[j] += fma(d, d, e * e) + fma(f, f, h * h)
            for r in range(r, stop):
                x = p + r * n + c
                for j in range(width):
                    d = x[j] - shift[c + j]
                    first[j] += d
                    second[j] = fma(d, d, second[j])
            for j in range(width):
                sums[c + j] += first[j]
                of_squares[c + j] += second[j]


cdef void column_dots(const real_t* g, const real_t* p, Py_ssize_t rows, Py_ssize_t n,
                      const real_t* mean, double* sums, double* products) noexcept nogil:
    cdef real_t first[COLUMNS]
    cdef real_t second[COLUMNS]
    cdef const real_t* h
    cdef const real_t* x
    cdef Py_ssize_t c, r, start, stop, j, width
    for c from 0 <= c < n by COLUMNS:
        width = n - c if n - c < COLUMNS else COLUMNS
        for j in range(width):
            sums[c + j] = 0
            products[c + j] = 0
        for start from 0 <= start < rows by FOLD:
            stop = start + FOLD if start + FOLD < rows else rows
            for j in range(width):
                first[j] = 0
                second[j] = 0
            for r from start <= r <= stop - 2 by 2:
                h = g + r * n + c
                x = p + r * n + c
                for j in range(width):
                    first[j] += h[j] + h[n + j]
                    second[j] += fma(h[j], x[j] - mean[c + j],
                                     h[n + j] * (x[n + j] - mean[c + j]))
            for r in range(r, stop):
                h = g + r * n + c
                x = p + r * n + c
                for j in range(width):
                    first[j] += h[j]
                    second[j] = fma(h[j], x[j] - mean[c + j], second[j])
            for j in range(width):
                sums[c + j] += first[j]
                products[c + j] += second[j]


cdef void column_scale(const real_t* p, real_t* out, Py_ssize_t rows, Py_ssize_t n,
                       const real_t* mean, const real_t* a, const real_t* b) noexcept nogil:
    # Copies of what belongs to columns, which `out` can't overlap.
    cdef real_t m[COLUMNS]
    cdef real_t s[COLUMNS]
    cdef real_t t[COLUMNS]
    cdef const real_t* x
    cdef real_t* y
    cdef Py_ssize_t c, r, j, width
    for c from 0 <= c < n by COLUMNS:
        width = n - c if n - c < COLUMNS else COLUMNS
        for j in range(width):
            m[j] = mean[c + j]
            s[j] = a[c + j]
            t[j] = b[c + j]
        for r in range(rows):
            x = p + r * n + c
            y = out + r * n + c
            for j in range(width):
                y[j] = fma(x[j] - m[j], s[j], t[j])


cdef void column_back(const real_t* g, const real_t* p, real_t* out, Py_ssize_t rows, Py_ssize_t n,
                      const real_t* mean, const real_t* a, const real_t* c0,
                      const real_t* c1) noexcept nogil:
    cdef real_t m[COLUMNS]
    cdef real_t s[COLUMNS]
    cdef real_t t[COLUMNS]
    cdef real_t u[COLUMNS]
    cdef const real_t* h
    cdef const real_t* x
    cdef real_t* y
    cdef Py_ssize_t c, r, j, width
    for c from 0 <= c < n by COLUMNS:
        width = n - c if n - c < COLUMNS else COLUMNS
        for j in range(width):
            m[j] = mean[c + j]
            s[j] = a[c + j]
            t[j] = c0[c + j]
            u[j] = c1[c + j]
        for r in range(rows):
            h = g + r * n + c
            x = p + r * n + c
            y = out + r * n + c
            for j in range(width):
                y[j] = fma(m[j] - x[j], u[j], fma(h[j], s[j], -t[j]))


# --- the table ------------------------------------------------------------------------------

cdef void fill_table(int k, real_t* unused) noexcept:
    table.moments[k] = <moments_fn>moments[real_t]
    table.squares[k] = <squares_fn>squares[real_t]
    table.dots[k] = <dots_fn>dots[real_t]
    table.scale[k] = <scale_fn>scale[real_t]
    table.back[k] = <back_fn>back[real_t]
    table.row[k] = <row_fn>row[real_t]
    table.row_back[k] = <row_back_fn>row_back[real_t]
    table.row_gather[k] = <row_gather_fn>row_gather[real_t]
    table.column_moments[k] = <column_moments_fn>column_moments[real_t]
    table.column_dots[k] = <column_dots_fn>column_dots[real_t]
    table.column_scale[k] = <column_scale_fn>column_scale[real_t]
    table.column_back[k] = <column_back_fn>column_back[real_t]


memset(&table, 0, sizeof(table))
fill_table(0, <float*>NULL)
fill_table(1, <double*>NULL)


def table_capsule():
    """Capsule with the address of the table (see norm_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.norm_table", NULL)
