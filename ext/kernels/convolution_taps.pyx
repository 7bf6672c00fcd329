# cython: language_level=3
"""The places of the taps of a convolution in the images, and the results that share a vector."""

from autograd_cy._C.convolution_plan cimport Form, Planes, loops
from autograd_cy._C.gemm_product cimport parts
from autograd_cy._C.scratch cimport allocate

__all__: list[str] = []

cdef enum:
    # What gathering one run costs, in steps of the block's loop over one row.
    GATHERING = 6


# --- taps -----------------------------------------------------------------------------------

cdef void plan_result(Work* t) noexcept nogil:
    """Planes for y from x."""
    cdef Form* f = t.f
    cdef int d
    for d in range(3):
        t.p.lead[d] = f.pad[d]
        t.p.step[d] = f.stride[d]
        t.p.phases[d] = min(f.stride[d], (f.k[d] - 1) * f.dil[d] + 1)
        t.p.extent[d] = f.of_y[d] + (f.k[d] - 1) * f.dil[d] // f.stride[d]
        t.p.need[d] = f.of_y[d]


cdef int tap_result(Work* t) noexcept nogil:
    """The one grid for y from x."""
    cdef Form* f = t.f
    cdef Planes* p = &t.p
    cdef Grid* g = t.grid
    cdef Py_ssize_t c, part, i, j, m, at, k = 0
    cdef Py_ssize_t u[3]
    cdef int d
    g.first = 0
    for d in range(3):
        g.extent[d] = f.of_y[d]
        g.step[d] = f.at_y[2 + d]
    g.k = f.c * f.unit * f.k[0] * f.k[1] * f.k[2]
    g.off = <Py_ssize_t*>allocate(g.k, sizeof(Py_ssize_t))
    g.woff = <Py_ssize_t*>allocate(g.k, sizeof(Py_ssize_t))
    if g.off == NULL or g.woff == NULL:
        return -1
    for c in range(f.c):
        for i in range(f.k[0]):
            u[0] = i * f.dil[0]
            for j in range(f.k[1]):
                u[1] = j * f.dil[1]
                for m in range(f.k[2]):
                    u[2] = m * f.dil[2]
                    at = ((u[0] % p.step[0] * p.phases[1] + u[1] % p.step[1]) * p.phases[2]
                          + u[2] % p.step[2]) * p.phase
                    at += (u[0] // p.step[0] * p.layer + u[1] // p.step[1] * p.row
                           + u[2] // p.step[2])
                    for part in range(f.unit):
                        g.off[k] = (c * f.unit + part) * p.channel + at
                        g.woff[k] = (c * f.at_w[1] + i * f.at_w[2] + j * f.at_w[3]
                                     + m * f.at_w[4])
                        k += 1
    return 0


cdef inline bint meets(const Form* f, int d, Py_ssize_t phase, Py_ssize_t q) noexcept nogil:
    """Return whether tap q reaches places phase, phase + stride, ... of x."""
    return (phase + f.pad[d] - q * f.dil[d]) % f.stride[d] == 0


cdef inline Py_ssize_t shift(const Form* f, int d, Py_ssize_t phase, Py_ssize_t q) noexcept nogil:
    """Return the place in y from which the place `phase` of x gets a value by tap q."""
    cdef Py_ssize_t at = phase + f.pad[d] - q * f.dil[d]
    return at // f.stride[d] if at >= 0 else -((-at) // f.stride[d])


cdef inline Py_ssize_t count_places(const Form* f, int d, Py_ssize_t phase) noexcept nogil:
    return parts(f.of_x[d] - phase, f.stride[d]) if f.of_x[d] > phase else 0


cdef void plan_image(Work* t) noexcept nogil:
    """Planes for x from y."""
    cdef Form* f = t.f
    cdef Py_ssize_t phase, q, low, high, count
    cdef bint any_tap
    cdef int d
    for d in range(3):
        low, high, any_tap = 0, 0, False
        t.p.need[d] = 0
        for phase in range(f.stride[d]):
            count = count_places(f, d, phase)
            t.p.need[d] = max(t.p.need[d], count)
            for q in range(f.k[d]):
                if count and meets(f, d, phase, q):
                    if not any_tap:
                        low, any_tap = shift(f, d, phase, q), True
                        high = low + count
                    low = min(low, shift(f, d, phase, q))
                    high = max(high, shift(f, d, phase, q) + count)
        t.p.lead[d] = -low
        t.p.step[d] = 1
        t.p.phases[d] = 1
        t.p.extent[d] = max(high - low, t.p.need[d])


cdef int tap_image(Work* t) noexcept nogil:
    """The grids for x from y: one for each phase."""
    cdef Form* f = t.f
    cdef Planes* p = &t.p
    cdef Grid* g = t.grid
    cdef Py_ssize_t a, b, c, o, part, i, j, m, k, at
    cdef Py_ssize_t ph[3]
    cdef int d
    for a in range(f.stride[0]):
        for b in range(f.stride[1]):
            for c in range(f.stride[2]):
                ph[0], ph[1], ph[2] = a, b, c
                g.first = 0
                for d in range(3):
                    g.extent[d] = count_places(f, d, ph[d])
                    g.step[d] = f.at_x[2 + d] * f.stride[d]
                    g.first += ph[d] * f.at_x[2 + d]
                k = 0
                g.k = f.o * f.unit * f.k[0] * f.k[1] * f.k[2]
                g.off = <Py_ssize_t*>allocate(g.k, sizeof(Py_ssize_t))
                g.woff = <Py_ssize_t*>allocate(g.k, sizeof(Py_ssize_t))
                if g.off == NULL or g.woff == NULL:
                    return -1
                for o in range(f.o):
                    for i in range(f.k[0]):
                        if not meets(f, 0, a, i):
                            continue
                        for j in range(f.k[1]):
                            if not meets(f, 1, b, j):
                                continue
                            for m in range(f.k[2]):
                                if not meets(f, 2, c, m):
                                    continue
                                at = ((shift(f, 0, a, i) + p.lead[0]) * p.layer
                                      + (shift(f, 1, b, j) + p.lead[1]) * p.row
                                      + shift(f, 2, c, m) + p.lead[2])
                                for part in range(f.unit):
                                    g.off[k] = (o * f.unit + part) * p.channel + at
                                    g.woff[k] = (o * f.at_w[0] + i * f.at_w[2] + j * f.at_w[3]
                                                 + m * f.at_w[4])
                                    k += 1
                g.k = k
                g += 1
    return 0


# --- vectors --------------------------------------------------------------------------------

cdef int cut_vectors(Work* t, Grid* g) noexcept nogil:
    """Say which places of the images go into one vector: neighbours in memory, or gathered ones."""
    cdef Planes* p = &t.p
    cdef Py_ssize_t lanes = loops.lanes[t.f.kind], count = g.extent[0] * g.extent[1] * g.extent[2]
    cdef Py_ssize_t rows = p.images * g.extent[0] * g.extent[1], width = g.extent[2]
    cdef Py_ssize_t by_rows = rows * parts(width, lanes), flat = 0, dense, straight, n, v = 0
    cdef Py_ssize_t i, z, y, at, done, take, lane, last, origin, before
    cdef double direct, gathered
    cdef bint along = False, restarts
    cdef Piece* piece
    g.vectors = g.pieces = 0
    if count == 0 or p.images == 0:
        return 0
    last = ((p.images - 1) * p.image + (g.extent[0] - 1) * p.layer + (g.extent[1] - 1) * p.row
            + width)
    flat = parts(last, lanes)
    # Vectors of one image each, or of all images as they follow each other.
    restarts = p.images * parts(last - (p.images - 1) * p.image, lanes) < flat
    if restarts:
        flat = p.images * parts(last - (p.images - 1) * p.image, lanes)
    dense = parts(p.images * count, lanes)
    straight = min(flat, by_rows)
    direct = <double>straight * t.rows
    gathered = <double>dense * (t.rows + 4 + GATHERING * (1 + lanes // width))
    g.gathered = gathered < 0.97 * direct
    along = not g.gathered and flat < by_rows
    n = dense if g.gathered else straight
    g.source = <Py_ssize_t*>allocate(n, sizeof(Py_ssize_t))
    g.begins = <Py_ssize_t*>allocate(n + 1, sizeof(Py_ssize_t))
    g.piece = <Piece*>allocate(rows * (width // lanes + 2), sizeof(Piece))
    if g.source == NULL or g.begins == NULL or g.piece == NULL:
        return -1
    lane = 0
    v = -1
    origin = before = 0
    for i in range(p.images):
        if restarts:
            origin, before = i * p.image, v + 1
        for z in range(g.extent[0]):
            for y in range(g.extent[1]):
                at = i * p.image + z * p.layer + y * p.row
                done = 0
                while done < width:
                    if along:
                        # Vector v has the places from a multiple of lanes on.
                        while v < before + (at + done - origin) // lanes:
                            v += 1
                            g.source[v] = origin + (v - before) * lanes
                            g.begins[v] = g.pieces
                        lane = (at + done - origin) % lanes
                    elif v < 0 or lane == lanes or (done == 0 and not g.gathered):
                        v += 1
                        g.source[v] = at + done
                        g.begins[v] = g.pieces
                        lane = 0
                    take = min(lanes - lane, width - done)
                    piece = &g.piece[g.pieces]
                    piece.vector, piece.image, piece.lane, piece.count = v, i, lane, take
                    piece.source = at + done
                    piece.result = (i * t.at_result[0] + g.first + z * g.step[0] + y * g.step[1]
                                    + done * g.step[2])
                    g.pieces += 1
                    lane += take
                    done += take
    g.vectors = v + 1
    g.begins[g.vectors] = g.pieces
    return 0
