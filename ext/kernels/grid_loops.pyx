# cython: language_level=3
# build: simd cold
# Inner loops of sampling at points, compiled once per instruction set; grid_loops.pxd shows the
# table. Where a point lies is computed for a block of points, then each channel is gone through.
# Products are not fused with sums: a point halfway between two elements is as near to the same
# one on every processor.
# Cubic weights are those of scalar/grid.h, which has all formulas of one point.

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from autograd_cy._C.grid_loops cimport *
from autograd_cy._C.sizes cimport parts

cdef extern from "<math.h>" nogil:
    double INFINITY
    double floor(double)
    float floorf(float)
    double rint(double)
    float rintf(float)

cdef extern from "grid_lanes.h" nogil:      # its AG_GRID_BLOCK is BLOCK
    void ag_sample_eight_f32(const float* image, Py_ssize_t step, const int32_t* places,
                             const float* weight, int count, Py_ssize_t n, float* out,
                             Py_ssize_t apart)
    void ag_sample_eight_f64(const double* image, Py_ssize_t step, const int32_t* places,
                             const double* weight, int count, Py_ssize_t n, double* out,
                             Py_ssize_t apart)
    void ag_sample_plane_f32(const float* image, const int32_t* places, const float* weight,
                             int count, Py_ssize_t n, float* out)
    void ag_sample_plane_f64(const double* image, const int32_t* places, const double* weight,
                             int count, Py_ssize_t n, double* out)

    enum:
        AG_HAS_FLAT
        AG_GRID_EXACT
    void ag_flat_nearest(const float* points, int32_t rows, int32_t columns, int aligned,
                         int border, int32_t* places, float* weight)
    int ag_flat_linear(const float* points, int32_t rows, int32_t columns, int aligned, int border,
                       int32_t* places, float* weight)

cdef extern from "scalar/grid.h" nogil:
    float ag_grid_near_f32(float)
    double ag_grid_near_f64(double)
    float ag_grid_far_f32(float)
    double ag_grid_far_f64(double)
    float ag_grid_near_derivative_f32(float)
    double ag_grid_near_derivative_f64(double)
    float ag_grid_far_derivative_f32(float)
    double ag_grid_far_derivative_f64(double)

ctypedef fused real_t:
    float
    double

cdef enum:
    BLOCK = 64      # points
    WIDEST = 16     # points in a vector, at most
    EIGHT = 8       # channels that are sampled together, where they lie behind each other
    CHUNK = 32      # channels whose gradients are, likewise
    LANES = 8       # sums of channels side by side
    TAPS = 4        # at most, in a dimension
    CORNERS = 16    # at most: elements around a point

cdef enum:          # of a dimension, see edges()
    HALF = 0
    SHIFT = 1
    LAST = 2
    LOW = 3
    HIGH = 4
    EDGES = 5


cdef inline real_t down(real_t x) noexcept nogil:
    if real_t is float:
        return floorf(x)
    else:
        return floor(x)


cdef inline real_t nearest(real_t x) noexcept nogil:
    if real_t is float:
        return rintf(x)
    else:
        return rint(x)


cdef inline int32_t first_for_none(int32_t i) noexcept nogil:
    return i & ~(i >> 31)       # in the width of places, as compilers gather by


# --- places ---------------------------------------------------------------------------------

cdef inline void reflect(const Sampling* g, int d, Py_ssize_t n, real_t* x,
                         real_t* derivative) noexcept nogil:
    cdef real_t low = 0 if g.align else -0.5
    cdef real_t span = <real_t>(g.size[d] - 1 if g.align else g.size[d]), y, times, rest
    cdef bint even
    cdef Py_ssize_t p
    if span <= 0:
        for p in range(n):
            x[p] = 0
        return
    for p in range(n):
        y = x[p] - low
        derivative[p] = -derivative[p] if y < 0 else derivative[p]
        y = -y if y < 0 else y
        times = down(y / span)
        rest = y - times * span
        even = times - <real_t>2 * down(times / <real_t>2) == 0
        x[p] = (rest if even else span - rest) + low
        derivative[p] = derivative[p] if even else -derivative[p]


cdef inline void inside(const Sampling* g, int d, Py_ssize_t n, real_t* x,
                        real_t* derivative) noexcept nogil:
    """
    Places that have an element, but for zeros; derivatives of those that stay at an end are 0. What
    is no number, or was reflected from infinity, is at the first.
    """
    cdef real_t last = <real_t>(g.size[d] - 1), y
    cdef Py_ssize_t p
    if g.padding == ZEROS:
        return
    if g.padding == REFLECTION:
        reflect(g, d, n, x, derivative)
    for p in range(n):
        y = x[p]
        derivative[p] = derivative[p] if (y > 0) & (y < last) else 0
        y = y if y < last else last
        x[p] = y if x[p] > 0 else 0


cdef inline int32_t found_at(real_t place, real_t last, int32_t end, int32_t step) noexcept nogil:
    """Return the distance of a place from the first element; -1 where there is none."""
    cdef bint within = (place >= 0) & (place <= last)
    cdef int32_t i = <int32_t>(place if within else 0)
    i = i if i < end else end       # large sizes are rounded
    return i * step if within else -1


cdef inline void find_elements(const Sampling* g, int d, Py_ssize_t n, const real_t* place,
                               int32_t* at, real_t* w) noexcept nogil:
    """found_at() for all; elements that aren't there have no weight."""
    cdef real_t last = <real_t>(g.size[d] - 1)
    cdef int32_t step = g.step[d], end = <int32_t>(g.size[d] - 1)
    cdef Py_ssize_t p
    for p in range(n):
        at[p] = found_at(place[p], last, end, step)
        w[p] = w[p] if at[p] >= 0 else 0


cdef inline bint shows_nan(const Sampling* g) noexcept nogil:
    """Return whether coordinates that are no number give such results, wherever the others lie."""
    return g.rank == 2 and g.padding == ZEROS and g.mode == BILINEAR


cdef inline bint any_nan(const real_t* x, Py_ssize_t n) noexcept nogil:
    cdef int places = 0
    cdef Py_ssize_t p
    for p in range(n):
        places |= x[p] != x[p]
    return places != 0


cdef inline void linear_taps(const Sampling* g, int d, Py_ssize_t n, real_t* x, real_t* derivative,
                             int32_t* at, real_t* w, real_t* dw) noexcept nogil:
    cdef real_t last = <real_t>(g.size[d] - 1), first, t
    cdef int32_t step = g.step[d], end = <int32_t>(g.size[d] - 1), i, j
    cdef Py_ssize_t p
    inside(g, d, n, x, derivative)
    for p in range(n):
        first = down(x[p])
        t = x[p] - first
        i = found_at(first, last, end, step)
        j = found_at(first + <real_t>1, last, end, step)
        w[p] = <real_t>1 - t if i >= 0 else 0
        w[BLOCK + p] = t if j >= 0 else 0
        at[p] = i
        at[BLOCK + p] = j
        dw[p] = -derivative[p]
        dw[BLOCK + p] = derivative[p]
    if shows_nan(g) and any_nan(x, n):
        for p in range(n):
            at[p] = at[p] if x[p] == x[p] else 0
            at[BLOCK + p] = at[BLOCK + p] if x[p] == x[p] else 0
            w[p] = w[p] if x[p] == x[p] else x[p]
            w[BLOCK + p] = w[BLOCK + p] if x[p] == x[p] else x[p]


cdef inline real_t near_weight(real_t x) noexcept nogil:
    """Return the weight of an element nearer than 1."""
    return ag_grid_near_f32(x) if real_t is float else ag_grid_near_f64(x)


cdef inline real_t far_weight(real_t x) noexcept nogil:
    """Return the weight of an element between 1 and 2 away."""
    return ag_grid_far_f32(x) if real_t is float else ag_grid_far_f64(x)


cdef inline real_t near_derivative(real_t x) noexcept nogil:
    return (ag_grid_near_derivative_f32(x) if real_t is float
            else ag_grid_near_derivative_f64(x))


cdef inline real_t far_derivative(real_t x) noexcept nogil:
    return (ag_grid_far_derivative_f32(x) if real_t is float
            else ag_grid_far_derivative_f64(x))


cdef inline void cubic_taps(const Sampling* g, int d, Py_ssize_t n, real_t* x, real_t* derivative,
                            int32_t* at, real_t* w, real_t* dw) noexcept nogil:
    cdef real_t t, ahead
    cdef real_t[BLOCK] place
    cdef real_t[BLOCK] unused
    cdef Py_ssize_t p, k
    for p in range(n):
        place[p] = down(x[p])
        t = x[p] - place[p]
        x[p] = place[p]
        w[p] = far_weight(t + <real_t>1)
        w[BLOCK + p] = near_weight(t)
        w[2 * BLOCK + p] = near_weight(<real_t>1 - t)
        w[3 * BLOCK + p] = far_weight(<real_t>2 - t)
        dw[p] = far_derivative(t + <real_t>1) * derivative[p]
        dw[BLOCK + p] = near_derivative(t) * derivative[p]
        dw[2 * BLOCK + p] = -near_derivative(<real_t>1 - t) * derivative[p]
        dw[3 * BLOCK + p] = -far_derivative(<real_t>2 - t) * derivative[p]
        unused[p] = 0
    for k in range(4):
        ahead = <real_t>(k - 1)
        for p in range(n):
            place[p] = x[p] + ahead
        inside(g, d, n, place, unused)
        find_elements(g, d, n, place, at, w)
        at += BLOCK
        w += BLOCK


cdef inline void coordinates(const Sampling* g, int d, Py_ssize_t n, const real_t* points,
                             real_t* x, real_t* derivative) noexcept nogil:
    """Convert points to places in elements, with the derivative of these by the points."""
    cdef real_t half = <real_t>(g.size[d] - 1 if g.align else g.size[d]) / <real_t>2
    cdef real_t shift = 0 if g.align else 0.5
    cdef Py_ssize_t p
    points += 2 - d                 # the first coordinate is that of the last dimension
    if g.rank == 2:
        for p in range(n):
            x[p] = (points[2 * p] + <real_t>1) * half - shift
    else:
        for p in range(n):
            x[p] = (points[3 * p] + <real_t>1) * half - shift
    for p in range(n):
        derivative[p] = half


cdef void taps(const Sampling* g, const real_t* points, Py_ssize_t n, int32_t* at, real_t* w,
               real_t* dw) noexcept nogil:
    """
    Find the elements of each dimension, their weights, and the derivatives of these.
    """
    cdef real_t[BLOCK] x
    cdef real_t[BLOCK] derivative
    cdef Py_ssize_t p
    cdef int d
    for d in range(3 - g.rank, 3):
        coordinates(g, d, n, points, x, derivative)
        if g.mode == BILINEAR:
            linear_taps(g, d, n, x, derivative, at, w, dw)
        elif g.mode == BICUBIC:
            cubic_taps(g, d, n, x, derivative, at, w, dw)
        else:
            inside(g, d, n, x, derivative)
            for p in range(n):
                x[p] = nearest(x[p])
                w[p] = 1
            find_elements(g, d, n, x, at, w)
        at += TAPS * BLOCK
        w += TAPS * BLOCK
        dw += TAPS * BLOCK


cdef inline void combine_taps(Py_ssize_t n, int outer, const int32_t* i, const real_t* u, int inner,
                              const int32_t* j, const real_t* v, int32_t* places,
                              real_t* weight) noexcept nogil:
    """Elements of two dimensions, each with each; -1 for one that isn't there."""
    cdef int m
    cdef Py_ssize_t p, k, h
    for m in range(outer * inner):
        k = m // inner * BLOCK
        h = m % inner * BLOCK
        for p in range(n):
            places[p] = -1 if (i[k + p] | j[h + p]) < 0 else i[k + p] + j[h + p]
            weight[p] = u[k + p] * v[h + p]
        places += BLOCK
        weight += BLOCK


cdef int corners(const Sampling* g, Py_ssize_t n, const int32_t* at, const real_t* w,
                 int32_t* places, real_t* weight) noexcept nogil:
    """The elements around points, and how many."""
    cdef int32_t[4 * BLOCK] pairs
    cdef real_t[4 * BLOCK] products
    cdef const int32_t* i
    cdef const int32_t* j
    cdef int m, count = g.taps[1] * g.taps[2]
    cdef Py_ssize_t p
    if g.rank == 3:
        combine_taps(n, g.taps[0], at, w, g.taps[1], at + TAPS * BLOCK, w + TAPS * BLOCK, pairs,
                     products)
        combine_taps(n, g.taps[0] * g.taps[1], pairs, products, g.taps[2], at + 2 * TAPS * BLOCK,
                     w + 2 * TAPS * BLOCK, places, weight)
        return g.taps[0] * count
    combine_taps(n, g.taps[1], at, w, g.taps[2], at + TAPS * BLOCK, w + TAPS * BLOCK, places,
                 weight)
    if shows_nan(g) and (any_nan(w, n) or any_nan(w + TAPS * BLOCK, n)):
        for m in range(count):
            i = at + m // 2 * BLOCK
            j = at + (TAPS + m % 2) * BLOCK
            for p in range(n):
                places[p] = places[p] if weight[p] == weight[p] else (
                    first_for_none(i[p]) + first_for_none(j[p]))
            places += BLOCK
            weight += BLOCK
    return count


cdef inline void edges(const Sampling* g, int d, real_t* e) noexcept nogil:
    """The constants of a dimension for placed(); no padding but zeros and border."""
    e[HALF] = <real_t>(g.size[d] - 1 if g.align else g.size[d]) / <real_t>2
    e[SHIFT] = 0 if g.align else 0.5
    e[LAST] = <real_t>(g.size[d] - 1)
    e[LOW] = 0 if g.padding == BORDER else -INFINITY
    e[HIGH] = e[LAST] if g.padding == BORDER else INFINITY


cdef inline real_t placed(real_t point, const real_t* e) noexcept nogil:
    """Return the place of one point as coordinates() and inside() do; no number is LOW."""
    cdef real_t x = (point + <real_t>1) * e[HALF] - e[SHIFT]
    cdef real_t y = x if x < e[HIGH] else e[HIGH]
    return y if x > e[LOW] else e[LOW]


cdef inline void flat_nearest(const Sampling* g, const real_t* points, int32_t* places,
                              real_t* weight) noexcept nogil:
    """Results of taps() and corners() for BLOCK points of two coordinates."""
    cdef real_t[EDGES] u
    cdef real_t[EDGES] v
    cdef int32_t end_u = <int32_t>(g.size[1] - 1), end_v = <int32_t>(g.size[2] - 1)
    cdef int32_t step_u = g.step[1], step_v = g.step[2], i, j
    cdef Py_ssize_t p
    edges(g, 1, u)
    edges(g, 2, v)
    for p in range(BLOCK):
        i = found_at(nearest(placed(points[2 * p + 1], u)), u[LAST], end_u, step_u)
        j = found_at(nearest(placed(points[2 * p], v)), v[LAST], end_v, step_v)
        places[p] = -1 if (i | j) < 0 else i + j
        weight[p] = 0 if (i | j) < 0 else 1


cdef inline bint flat_linear(const Sampling* g, const real_t* points, int32_t* places,
                             real_t* weight) noexcept nogil:
    """flat_nearest() of the four elements around; return whether a coordinate is no number."""
    cdef real_t[EDGES] u
    cdef real_t[EDGES] v
    cdef int32_t end_u = <int32_t>(g.size[1] - 1), end_v = <int32_t>(g.size[2] - 1)
    cdef int32_t step_u = g.step[1], step_v = g.step[2], i, j, k, h
    cdef real_t x, y, s, t, s_left, t_left
    cdef int missing = 0
    cdef Py_ssize_t p
    edges(g, 1, u)
    edges(g, 2, v)
    for p in range(BLOCK):
        s, t = points[2 * p + 1], points[2 * p]
        missing |= (s != s) | (t != t)
        x = placed(s, u)
        y = placed(t, v)
        s = down(x)
        t = down(y)
        i = found_at(s, u[LAST], end_u, step_u)
        j = found_at(s + <real_t>1, u[LAST], end_u, step_u)
        k = found_at(t, v[LAST], end_v, step_v)
        h = found_at(t + <real_t>1, v[LAST], end_v, step_v)
        s = x - s
        t = y - t
        s_left = <real_t>1 - s if i >= 0 else 0
        t_left = <real_t>1 - t if k >= 0 else 0
        s = s if j >= 0 else 0
        t = t if h >= 0 else 0
        places[p] = -1 if (i | k) < 0 else i + k
        places[BLOCK + p] = -1 if (i | h) < 0 else i + h
        places[2 * BLOCK + p] = -1 if (j | k) < 0 else j + k
        places[3 * BLOCK + p] = -1 if (j | h) < 0 else j + h
        weight[p] = s_left * t_left
        weight[BLOCK + p] = s_left * t
        weight[2 * BLOCK + p] = s * t_left
        weight[3 * BLOCK + p] = s * t
    return missing != 0


cdef inline bint is_exact(const Sampling* g) noexcept nogil:
    return AG_HAS_FLAT and g.size[1] <= AG_GRID_EXACT and g.size[2] <= AG_GRID_EXACT


cdef inline void find_nearest(const Sampling* g, const real_t* points, int32_t* places,
                              real_t* weight) noexcept nogil:
    if real_t is float:
        if is_exact(g):
            ag_flat_nearest(points, <int32_t>g.size[1], <int32_t>g.size[2], g.align,
                            g.padding == BORDER, places, weight)
            return
    flat_nearest(g, points, places, weight)


cdef inline bint find_four(const Sampling* g, const real_t* points, int32_t* places,
                           real_t* weight) noexcept nogil:
    if real_t is float:
        if is_exact(g):
            return ag_flat_linear(points, <int32_t>g.size[1], <int32_t>g.size[2], g.align,
                                  g.padding == BORDER, places, weight) != 0
    return flat_linear(g, points, places, weight)


cdef int around(const Sampling* g, const real_t* points, Py_ssize_t n, int32_t* places,
                real_t* weight) noexcept nogil:
    """corners() of points, where no derivatives of weights are wanted."""
    cdef int32_t[3 * TAPS * BLOCK] at
    cdef real_t[3 * TAPS * BLOCK] w
    cdef real_t[3 * TAPS * BLOCK] dw
    cdef real_t[2 * BLOCK] some
    if g.rank == 2 and g.mode != BICUBIC and g.padding != REFLECTION:
        if n < BLOCK:
            memset(some, 0, sizeof(some))
            memcpy(some, points, 2 * n * sizeof(real_t))
            points = some
        if g.mode == NEAREST:
            find_nearest(g, points, places, weight)
            return 1
        if not find_four(g, points, places, weight) or g.padding != ZEROS:
            return 4
    taps(g, points, n, at, w, dw)
    return corners(g, n, at, w, places, weight)


# --- forward --------------------------------------------------------------------------------

cdef inline void sample_plane(const real_t* image, const int32_t* places, const real_t* weight,
                              int count, Py_ssize_t n, real_t* out) noexcept nogil:
    if real_t is float:
        ag_sample_plane_f32(image, places, weight, count, n, out)
    else:
        ag_sample_plane_f64(image, places, weight, count, n, out)


cdef void forward(const Sampling* g, const real_t* image, const real_t* points, real_t* out,
                  Py_ssize_t channels, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef int count, m
    cdef Py_ssize_t n, c, p
    while first < last:
        n = last - first if last - first < BLOCK else BLOCK
        count = around(g, points + first * g.rank, n, places, weight)
        for p in range(n, parts(n, WIDEST) * WIDEST):
            for m in range(count):
                places[m * BLOCK + p] = -1
                weight[m * BLOCK + p] = 0
        for c in range(channels):
            sample_plane(image + c * g.plane, places, weight, count, n, out + c * g.count + first)
        first += n


# --- backward -------------------------------------------------------------------------------

cdef void to_image(const Sampling* g, const real_t* grad, const real_t* points, real_t* out,
                   Py_ssize_t channels) noexcept nogil:
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef real_t[BLOCK] part
    cdef const real_t* v
    cdef const real_t* s
    cdef const int32_t* f
    cdef real_t* o
    cdef int count, m
    cdef Py_ssize_t first = 0, n, c, p
    memset(out, 0, channels * g.plane * sizeof(real_t))
    while first < g.count:
        n = g.count - first if g.count - first < BLOCK else BLOCK
        count = around(g, points + first * g.rank, n, places, weight)
        for c in range(channels):
            s = grad + c * g.count + first
            o = out + c * g.plane
            for m in range(count):
                f = places + m * BLOCK
                v = weight + m * BLOCK
                for p in range(n):
                    part[p] = 0 if f[p] < 0 else v[p] * s[p]
                for p in range(n):
                    o[first_for_none(f[p])] += part[p]
        first += n


cdef inline Py_ssize_t tap_of(const Sampling* g, int corner, int d) noexcept nogil:
    """Return the beginning of the results of taps() for a corner in one dimension."""
    cdef int k
    for k in range(3 - g.rank + d, 2):
        corner //= g.taps[k + 1]
    return (d * TAPS + corner % g.taps[2]) * BLOCK


cdef void move_points(const Sampling* g, Py_ssize_t n, int count, const int32_t* at,
                      const real_t* w, const real_t* dw, const real_t* sums,
                      real_t* out) noexcept nogil:
    """Gradients of points, from products of each corner's element and the gradient."""
    cdef real_t[BLOCK] total
    cdef const real_t* t
    cdef const real_t* u
    cdef const real_t* v
    cdef const real_t* z
    cdef const int32_t* f
    cdef real_t y
    cdef int d, m, rank = g.rank
    cdef bint hides = g.mode == BILINEAR    # cubic derivatives may be no numbers
    cdef Py_ssize_t p
    for d in range(rank):
        memset(total, 0, n * sizeof(real_t))
        for m in range(count):
            t = sums + m * BLOCK
            f = at + tap_of(g, m, d)
            u = dw + tap_of(g, m, d)
            v = w + tap_of(g, m, (d + 1) % rank)
            z = w + tap_of(g, m, (d + 2) % rank)
            for p in range(n):
                y = u[p] * v[p] * (z[p] if rank == 3 else 1) * t[p]
                total[p] += 0 if hides & (f[p] < 0) else y
        for p in range(n):
            out[p * rank + rank - 1 - d] = total[p]     # the last dimension's first


cdef void to_points(const Sampling* g, const real_t* grad, const real_t* image,
                    const real_t* points, real_t* out, Py_ssize_t channels, Py_ssize_t first,
                    Py_ssize_t last) noexcept nogil:
    cdef int32_t[3 * TAPS * BLOCK] at
    cdef real_t[3 * TAPS * BLOCK] w
    cdef real_t[3 * TAPS * BLOCK] dw
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef real_t[CORNERS * BLOCK] sums
    cdef const real_t* a
    cdef const real_t* s
    cdef const int32_t* f
    cdef real_t* t
    cdef real_t y
    cdef int count, m, rank = g.rank
    cdef Py_ssize_t n, c, p
    if g.mode == NEAREST:
        memset(out + first * rank, 0, (last - first) * rank * sizeof(real_t))
        return
    while first < last:
        n = last - first if last - first < BLOCK else BLOCK
        taps(g, points + first * rank, n, at, w, dw)
        count = corners(g, n, at, w, places, weight)
        memset(sums, 0, count * BLOCK * sizeof(real_t))
        for c in range(channels):       # of each element around a point, with its gradient
            a = image + c * g.plane
            s = grad + c * g.count + first
            for m in range(count):
                f = places + m * BLOCK
                t = sums + m * BLOCK
                for p in range(n):
                    y = a[first_for_none(f[p])] * s[p]
                    t[p] += 0 if f[p] < 0 else y
        move_points(g, n, count, at, w, dw, sums, out + first * rank)
        first += n


# --- channels behind each other -------------------------------------------------------------

cdef inline void add_row(real_t* to, const real_t* row, real_t w, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        to[k] += w * row[k]


cdef inline real_t dot_channels(const real_t* a, const real_t* b, Py_ssize_t n) noexcept nogil:
    """Return the dot product, summed in lanes that depend on n alone."""
    cdef real_t[LANES] sums
    cdef Py_ssize_t k, i, whole = n // LANES * LANES
    for i in range(LANES):
        sums[i] = 0
    for k in range(n // LANES):
        for i in range(LANES):
            sums[i] += a[k * LANES + i] * b[k * LANES + i]
    for i in range(n - whole):
        sums[i] += a[whole + i] * b[whole + i]
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5])
                                                          + (sums[3] + sums[7]))


cdef inline void transpose_block(const real_t* rows, Py_ssize_t step, Py_ssize_t n,
                                 Py_ssize_t channels,
                                 real_t* to) noexcept nogil:
    """Rows of n points, one for each channel, to rows of CHUNK channels."""
    cdef Py_ssize_t k, p
    for k in range(channels):
        for p in range(n):
            to[p * CHUNK + k] = rows[k * step + p]


cdef inline void sample_eight(const real_t* image, Py_ssize_t step, const int32_t* places,
                              const real_t* weight, int count, Py_ssize_t n, real_t* out,
                              Py_ssize_t apart) noexcept nogil:
    if real_t is float:
        ag_sample_eight_f32(image, step, places, weight, count, n, out, apart)
    else:
        ag_sample_eight_f64(image, step, places, weight, count, n, out, apart)


cdef void forward_by_places(const Sampling* g, const real_t* image, const real_t* points,
                            real_t* out, Py_ssize_t channels, Py_ssize_t first,
                            Py_ssize_t last) noexcept nogil:
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef real_t[BLOCK * EIGHT] part
    cdef real_t* t
    cdef real_t* o
    cdef Py_ssize_t n, c, p, i, rest = channels % EIGHT
    cdef int count, m
    while first < last:
        n = last - first if last - first < BLOCK else BLOCK
        count = around(g, points + first * g.rank, n, places, weight)
        for c from 0 <= c < channels - rest by EIGHT:
            sample_eight(image + c, channels, places, weight, count, n, out + c * g.count + first,
                         g.count)
        if rest:
            c = channels - rest
            for p in range(n):
                t = &part[p * EIGHT]
                for i in range(rest):
                    t[i] = <real_t>-0.0
                for m in range(count):
                    i = places[m * BLOCK + p]
                    if i >= 0:
                        add_row(t, image + i * channels + c, weight[m * BLOCK + p], rest)
                    else:
                        for i in range(rest):
                            t[i] += 0
            for i in range(rest):
                o = out + (c + i) * g.count + first
                for p in range(n):
                    o[p] = part[p * EIGHT + i]
        first += n


cdef void to_image_by_places(const Sampling* g, const real_t* grad, const real_t* points,
                             real_t* out, Py_ssize_t channels) noexcept nogil:
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef real_t[BLOCK * CHUNK] part
    cdef Py_ssize_t first = 0, n, c, p, k, some, i
    cdef int count, m
    for p in range(g.plane):
        memset(out + p * g.channels, 0, channels * sizeof(real_t))
    while first < g.count:
        n = g.count - first if g.count - first < BLOCK else BLOCK
        count = around(g, points + first * g.rank, n, places, weight)
        for k in range((channels + CHUNK - 1) // CHUNK):
            c = k * CHUNK
            some = channels - c if channels - c < CHUNK else CHUNK
            transpose_block(grad + c * g.count + first, g.count, n, some, part)
            for p in range(n):
                for m in range(count):
                    i = places[m * BLOCK + p]
                    if i >= 0:
                        add_row(out + i * g.channels + c, &part[p * CHUNK], weight[m * BLOCK + p],
                                some)
        first += n


cdef void to_points_by_places(const Sampling* g, const real_t* grad, const real_t* image,
                              const real_t* points, real_t* out, Py_ssize_t channels,
                              Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef int32_t[3 * TAPS * BLOCK] at
    cdef real_t[3 * TAPS * BLOCK] w
    cdef real_t[3 * TAPS * BLOCK] dw
    cdef int32_t[CORNERS * BLOCK] places
    cdef real_t[CORNERS * BLOCK] weight
    cdef real_t[CORNERS * BLOCK] sums
    cdef real_t[BLOCK * CHUNK] part
    cdef Py_ssize_t n, c, p, k, some, i
    cdef int count, m
    if g.mode == NEAREST:
        memset(out + first * g.rank, 0, (last - first) * g.rank * sizeof(real_t))
        return
    while first < last:
        n = last - first if last - first < BLOCK else BLOCK
        taps(g, points + first * g.rank, n, at, w, dw)
        count = corners(g, n, at, w, places, weight)
        memset(sums, 0, count * BLOCK * sizeof(real_t))
        for k in range((channels + CHUNK - 1) // CHUNK):
            c = k * CHUNK
            some = channels - c if channels - c < CHUNK else CHUNK
            transpose_block(grad + c * g.count + first, g.count, n, some, part)
            for p in range(n):
                for m in range(count):
                    i = places[m * BLOCK + p]
                    if i >= 0:
                        sums[m * BLOCK + p] += dot_channels(image + i * channels + c,
                                                            &part[p * CHUNK],
                                                            some)
        move_points(g, n, count, at, w, dw, sums, out + first * g.rank)
        first += n


cdef GridTable table
table.forward[0][0] = <sample_fn>forward[float]
table.forward[0][1] = <sample_fn>forward[double]
table.forward[1][0] = <sample_fn>forward_by_places[float]
table.forward[1][1] = <sample_fn>forward_by_places[double]
table.image[0][0] = <sample_image_fn>to_image[float]
table.image[0][1] = <sample_image_fn>to_image[double]
table.image[1][0] = <sample_image_fn>to_image_by_places[float]
table.image[1][1] = <sample_image_fn>to_image_by_places[double]
table.points[0][0] = <sample_points_fn>to_points[float]
table.points[0][1] = <sample_points_fn>to_points[double]
table.points[1][0] = <sample_points_fn>to_points_by_places[float]
table.points[1][1] = <sample_points_fn>to_points_by_places[double]


def table_capsule():
    """Capsule with the address of the table (see grid_loops.pxd)."""
    return PyCapsule_New(&table, "autograd_cy.grid_table", NULL)
