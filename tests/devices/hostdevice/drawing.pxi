# Kernels that draw: one element after the other, from the last to the first, as no loop of the CPU
# does. They read key and position where the generator has them, and move the position on.

from libc.stdint cimport uint64_t

cdef extern from "scalar/random_elements.h":
    float ag_element_uniform_f32(
        uint64_t key, uint64_t at, uint64_t e, float lo, float width, float top)
    double ag_element_uniform_f64(
        uint64_t key, uint64_t at, uint64_t e, double lo, double width, double top)
    float ag_element_normal_f32(uint64_t key, uint64_t at, uint64_t e, float mean, float std)
    double ag_element_normal_f64(uint64_t key, uint64_t at, uint64_t e, double mean, double std)
    float ag_element_exponential_f32(uint64_t key, uint64_t at, uint64_t e, float scale)
    double ag_element_exponential_f64(uint64_t key, uint64_t at, uint64_t e, double scale)
    int ag_element_below(uint64_t key, uint64_t at, uint64_t e, uint64_t threshold)
    int ag_element_chance(uint64_t key, uint64_t at, uint64_t e, double p)
    int64_t ag_element_integer(uint64_t key, uint64_t at, uint64_t e, int64_t base, uint64_t range)
    int64_t ag_element_place(uint64_t key, uint64_t at, int64_t n, int64_t i)

from libc.math cimport nextafter, nextafterf, INFINITY


cdef uint64_t key_of(Tensor state):
    return (<uint64_t*>state.ptr)[0]


cdef uint64_t take(Tensor state, Py_ssize_t n, bint two_words):
    """The position before the chunks of n elements are taken."""
    cdef Py_ssize_t size = 32 if two_words else 64
    cdef uint64_t* position = &(<uint64_t*>state.ptr)[1]
    cdef uint64_t before = position[0]
    position[0] += <uint64_t>((n + size - 1) // size)
    return before


cdef int draw_uniform(Tensor out, double lo, double hi, Tensor state) except -1:
    cdef bint wide = out.dt == DT_F64
    cdef uint64_t key = key_of(state), start = take(state, out.count, wide)
    cdef double top = lo
    cdef Py_ssize_t e
    if hi > lo:
        top = nextafter(hi, -INFINITY) if wide else nextafterf(<float>hi, -INFINITY)
        if not wide and <float>hi < hi:
            top = <float>hi
    for e in range(out.count - 1, -1, -1):
        if wide:
            put(at(out, e), out.dt, ag_element_uniform_f64(key, start, e, lo, hi - lo, top))
        else:
            put(at(out, e), out.dt, ag_element_uniform_f32(
                key, start, e, <float>lo, <float>(hi - lo), <float>top))
    return 0


cdef int draw_normal(Tensor out, double mean, double std, Tensor state) except -1:
    cdef bint wide = out.dt == DT_F64
    cdef uint64_t key = key_of(state), start = take(state, out.count, wide)
    cdef Py_ssize_t e
    for e in range(out.count - 1, -1, -1):
        if wide:
            put(at(out, e), out.dt, ag_element_normal_f64(key, start, e, mean, std))
        else:
            put(at(out, e), out.dt, ag_element_normal_f32(key, start, e, <float>mean, <float>std))
    return 0


cdef int draw_exponential(Tensor out, double rate, Tensor state) except -1:
    cdef bint wide = out.dt == DT_F64
    cdef uint64_t key = key_of(state), start = take(state, out.count, wide)
    cdef Py_ssize_t e
    for e in range(out.count - 1, -1, -1):
        if wide:
            put(at(out, e), out.dt, ag_element_exponential_f64(key, start, e, 1 / rate))
        else:
            put(at(out, e), out.dt, ag_element_exponential_f32(key, start, e, <float>(1 / rate)))
    return 0


cdef int draw_ones(Tensor out, double one, double p, Tensor state) except -1:
    cdef uint64_t key = key_of(state), start = take(state, out.count, False)
    cdef uint64_t threshold = <uint64_t>(p * 4294967296.0)
    cdef Py_ssize_t e
    for e in range(out.count - 1, -1, -1):
        put(at(out, e), out.dt, one if ag_element_below(key, start, e, threshold) else 0)
    return 0


cdef int draw_bernoulli(Tensor out, double p, Tensor state) except -1:
    return draw_ones(out, 1, p, state)


cdef int draw_scaled_mask(Tensor out, double keep, Tensor state) except -1:
    return draw_ones(out, 1 / keep, keep, state)


cdef int draw_bernoulli_each(Tensor out, Tensor p, Tensor state) except -1:
    cdef uint64_t key = key_of(state), start = take(state, out.count, False)
    cdef Py_ssize_t e
    for e in range(out.count - 1, -1, -1):      # p has the shape of out
        put(at(out, e), out.dt, ag_element_chance(key, start, e, value(p, e)))
    return 0


cdef int draw_random(Tensor out, Py_ssize_t low, Py_ssize_t last, Tensor state) except -1:
    cdef uint64_t key = key_of(state), start = take(state, out.count, True)
    cdef uint64_t range_of = <uint64_t>last - <uint64_t>low + 1
    cdef Py_ssize_t e
    for e in range(out.count - 1, -1, -1):
        put(at(out, e), out.dt, <double>ag_element_integer(key, start, e, low, range_of))
    return 0


cdef int draw_randperm(Tensor out, Tensor state) except -1:
    cdef uint64_t key = key_of(state), start = take(state, out.count, True)
    cdef int64_t* p = <int64_t*>out.ptr
    cdef Py_ssize_t i, k
    for i in range(out.count):
        p[i] = i
    for i in range(out.count - 1, 0, -1):
        k = ag_element_place(key, start, out.count, i)
        p[i], p[k] = p[k], p[i]
    return 0


plain_functions.update({
    "_uniform": <size_t>&draw_uniform,
    "_normal": <size_t>&draw_normal,
    "_exponential": <size_t>&draw_exponential,
    "_bernoulli": <size_t>&draw_bernoulli,
    "_bernoulli_each": <size_t>&draw_bernoulli_each,
    "_bernoulli_of": <size_t>&draw_bernoulli_each,
    "_random": <size_t>&draw_random,
    "_randperm": <size_t>&draw_randperm,
    "_dropout_mask": <size_t>&draw_scaled_mask,
    "_channel_mask": <size_t>&draw_bernoulli,
    "_element_mask": <size_t>&draw_bernoulli,
})
