# Pooling in channels last: the channels of a place are the lanes (part of pool_loops.pyx).

cdef struct Place:
    Py_ssize_t o[3]
    Py_ssize_t lo[3]       # its window: from lo to before hi, dimension by dimension
    Py_ssize_t hi[3]
    Py_ssize_t image       # the first element of its image, all images counted


cdef inline Place result_place(const PoolShape* g, Py_ssize_t r) noexcept nogil:
    """Place r of all images of the result."""
    cdef Place at
    cdef int d
    for d in range(2, -1, -1):
        at.o[d] = r % g.out[d]
        window(g, d, at.o[d], &at.lo[d], &at.hi[d])
        r //= g.out[d]
    at.image = r * g.size[0] * g.size[1] * g.size[2]
    return at


cdef inline void next_place(const PoolShape* g, Place* at) noexcept nogil:
    cdef int d
    for d in range(2, -1, -1):
        at.o[d] += 1
        if at.o[d] < g.out[d]:
            window(g, d, at.o[d], &at.lo[d], &at.hi[d])
            return
        at.o[d] = 0
        window(g, d, 0, &at.lo[d], &at.hi[d])
    at.image += g.size[0] * g.size[1] * g.size[2]


cdef inline void average(const real_t* p, Py_ssize_t c, const int64_t* place, Py_ssize_t places,
                         double count, real_t* out, Py_ssize_t n) noexcept nogil:
    if real_t is float:
        ag_average_f32(p, c, place, places, <float>count, out, n)
    else:
        ag_average_f64(p, c, place, places, count, out, n)


cdef inline void largest_place(const real_t* p, Py_ssize_t c, const int64_t* place,
                               Py_ssize_t places, bint more, real_t* out,
                               int64_t* index) noexcept nogil:
    if real_t is float:
        ag_largest_place_f32(p, c, place, places, more, out, index, c)
    else:
        ag_largest_place_f64(p, c, place, places, more, out, index, c)


cdef void max_places(const PoolShape* g, const real_t* a, real_t* out, int64_t* index,
                     Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef int64_t place[LISTED]
    cdef Py_ssize_t H = g.size[1], W = g.size[2], r, d, h, w, n
    cdef const real_t* p
    cdef bint more
    cdef Place at = result_place(g, first)
    for r in range(first, last):
        p = a + at.image * g.c
        n = 0
        more = False
        place[0] = (at.lo[0] * H + at.lo[1]) * W + at.lo[2]
        for d from at.lo[0] <= d < at.hi[0] by g.e[0]:
            for h from at.lo[1] <= h < at.hi[1] by g.e[1]:
                for w from at.lo[2] <= w < at.hi[2] by g.e[2]:
                    if n == LISTED:
                        largest_place(p, g.c, place, n, more, out + r * g.c, index + r * g.c)
                        more = True
                        n = 0
                    place[n] = (d * H + h) * W + w
                    n += 1
        largest_place(p, g.c, place, n, more, out + r * g.c, index + r * g.c)
        next_place(g, &at)


cdef inline double elements(const PoolShape* g, Py_ssize_t od, Py_ssize_t oh,
                            Py_ssize_t ow) noexcept nogil:
    cdef double n = counted(g, od, oh)
    return n if g.divisor != 0 else n * window_count(g, 2, ow)


cdef inline Py_ssize_t listed(int64_t* place, const Py_ssize_t* lo, const Py_ssize_t* hi,
                              const Py_ssize_t* size) noexcept nogil:
    """Write down places lo..hi of a plane; -1: there are too many."""
    cdef Py_ssize_t n = 0, d, h, w
    if ((hi[0] - lo[0]) * (hi[1] - lo[1]) > LISTED or hi[2] - lo[2] > LISTED
            or (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]) > LISTED):
        return -1
    for d in range(lo[0], hi[0]):
        for h in range(lo[1], hi[1]):
            for w in range(lo[2], hi[2]):
                place[n] = (d * size[1] + h) * size[2] + w
                n += 1
    return n


cdef void avg_large(const PoolShape* g, const Place* at, const real_t* a, double count,
                    real_t* out) noexcept nogil:
    """An average of many elements: rows of windows are added up apart, which rounds less."""
    cdef real_t total[CHUNK]
    cdef real_t part[CHUNK]
    cdef int64_t ramp[LISTED]
    cdef Py_ssize_t c, n, d, h, w, i, m
    for i in range(LISTED):
        ramp[i] = i
    for c from 0 <= c < g.c by CHUNK:
        n = g.c - c if g.c - c < CHUNK else CHUNK
        memset(total, 0, n * sizeof(real_t))
        for d in range(at.lo[0], at.hi[0]):
            for h in range(at.lo[1], at.hi[1]):
                for w from at.lo[2] <= w < at.hi[2] by LISTED:
                    m = at.hi[2] - w if at.hi[2] - w < LISTED else LISTED
                    average(a + (at.image + (d * g.size[1] + h) * g.size[2] + w) * g.c + c, g.c,
                            ramp, m, 1, part, n)
                    add_up(total, part, 1, n)
        for i in range(n):
            out[c + i] = total[i] / <real_t>count


cdef void avg_places(const PoolShape* g, const real_t* a, real_t* out, Py_ssize_t first,
                     Py_ssize_t last) noexcept nogil:
    cdef int64_t place[LISTED]
    cdef Py_ssize_t r, n
    cdef double count
    cdef Place at = result_place(g, first)
    for r in range(first, last):
        count = elements(g, at.o[0], at.o[1], at.o[2])
        n = listed(place, at.lo, at.hi, g.size)
        if n < 0:
            avg_large(g, &at, a, count, out + r * g.c)
        else:
            average(a + at.image * g.c, g.c, place, n, count, out + r * g.c, g.c)
        next_place(g, &at)


cdef inline bint covering(const PoolShape* g, int d, Py_ssize_t x, Py_ssize_t* lo,
                          Py_ssize_t* hi) noexcept nogil:
    """
    Move the windows lo..hi of averages to those that element x belongs to; from those of an
    element before it, or from 0..0. Return whether they are others.
    """
    cdef Py_ssize_t was = lo[0], to = hi[0], n = g.out[d], size = g.size[d]
    if g.adaptive:
        while to < n and to * size < (x + 1) * n:
            to += 1
        while (was + 1) * size <= x * n:
            was += 1
    else:
        x += g.p[d]
        while to < n and to * g.s[d] <= x:
            to += 1
        while was < to and was * g.s[d] + g.k[d] <= x:
            was += 1
    if was == lo[0] and to == hi[0]:
        return False
    lo[0], hi[0] = was, to
    return True


cdef inline bint alike(const PoolShape* g, const Py_ssize_t* lo,
                       const Py_ssize_t* hi) noexcept nogil:
    """Return whether windows lo..hi of all dimensions count the same number of elements."""
    cdef Py_ssize_t o
    cdef int d
    if g.divisor != 0:
        return True
    for d in range(3):
        for o in range(lo[d] + 1, hi[d]):
            if window_count(g, d, o) != window_count(g, d, lo[d]):
                return False
    return True


cdef void avg_back_places(const PoolShape* g, const real_t* grad, real_t* out, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil:
    """
    Each place of the gradient is made of the windows that it has a part in. Places and rows in the
    same windows as those before them are copies.
    """
    cdef int64_t place[LISTED]
    cdef Py_ssize_t r = first, rest = first, n = 0, i, od, oh, ow, row = g.size[2]
    cdef Py_ssize_t o[3]
    cdef Py_ssize_t lo[3]
    cdef Py_ssize_t hi[3]
    cdef const real_t* images
    cdef const real_t* p
    cdef real_t* to
    cdef real_t count
    cdef double same = 1
    cdef bint others = True, begins = True
    cdef int d, last_dim
    for d in range(2, -1, -1):
        o[d] = rest % g.size[d]
        rest //= g.size[d]
        lo[d] = hi[d] = 0
        covering(g, d, o[d], &lo[d], &hi[d])
    while r < last:
        to = out + r * g.c
        images = grad + rest * (g.out[0] * g.out[1] * g.out[2] * g.c)
        last_dim = 2
        if not begins and o[2] == 0 and r - row >= first and r + row <= last:
            memcpy(to, to - row * g.c, row * g.c * sizeof(real_t))
            r += row
            last_dim = 1
        elif not others:
            memcpy(to, to - g.c, g.c * sizeof(real_t))
            r += 1
        else:
            n = listed(place, lo, hi, g.out) if alike(g, lo, hi) else -1
            if n > 0:
                same = elements(g, lo[0], lo[1], lo[2])
                average(images, g.c, place, n, same, to, g.c)
            else:
                memset(to, 0, g.c * sizeof(real_t))
                for od in range(lo[0], hi[0]):
                    for oh in range(lo[1], hi[1]):
                        for ow in range(lo[2], hi[2]):
                            count = <real_t>elements(g, od, oh, ow)
                            p = images + ((od * g.out[1] + oh) * g.out[2] + ow) * g.c
                            for i in range(g.c):
                                to[i] += p[i] / count
            r += 1
        # The first place of a row doesn't follow the one before it.
        others = last_dim == 1
        begins = False
        for d in range(last_dim, -1, -1):
            o[d] += 1
            if o[d] < g.size[d]:
                if covering(g, d, o[d], &lo[d], &hi[d]):
                    others = True
                    begins |= d < 2
                break
            others = True
            begins |= d < 2
            o[d] = lo[d] = hi[d] = 0
            covering(g, d, 0, &lo[d], &hi[d])
            rest += d == 0


cdef void put_places(const PoolShape* g, const real_t* grad, real_t* out, int64_t* index,
                     Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Channels by blocks, image by image."""
    cdef Py_ssize_t size = g.size[0] * g.size[1] * g.size[2], u, c, i, j, n, at
    cdef Py_ssize_t taken = g.out[0] * g.out[1] * g.out[2], blocks = over(g.c, PUT_BLOCK)
    cdef real_t* to
    for u in range(first, last):
        c = u % blocks * PUT_BLOCK
        n = g.c - c if g.c - c < PUT_BLOCK else PUT_BLOCK
        to = out + u // blocks * size * g.c + c
        for i in range(size):
            memset(to + i * g.c, 0, n * sizeof(real_t))
        for i in range(taken):
            at = (u // blocks * taken + i) * g.c + c
            for j in range(n):
                # A window that has no elements has no place.
                if 0 <= index[at + j] < size:
                    to[index[at + j] * g.c + j] += grad[at + j]
