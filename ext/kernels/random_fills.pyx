# cython: language_level=3
# build: plain hot
"""Random draws on the CPU.

Each fill is a launch that reads key and position where the generator has them and moves the
position on, so that it draws other numbers when it runs again. Chunks are taken by one atomic
addition: threads that share a generator never get the same ones. Checks of values (probabilities,
widths, weights) are launches, too. How the words of a chunk become elements is in random_loops.pyx.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport isfinite, nextafter, nextafterf, INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_real, dt_twin, DT_BF16, DT_F16, DT_F32, DT_F64, DT_I16, DT_I32, DT_I64,
    DT_I8)
from autograd_cy._C.faults cimport (
    FAULT_CHANCE, FAULT_NONE, FAULT_WEIGHT, FAULT_WEIGHTS, FAULT_WIDTH, Fault, fault_error,
    note_fault)
from autograd_cy._C.iterate cimport (
    cast, clear, contiguous, copy_into, ew2, ew3, expand_plain, P_BOOL, P_SAME, P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport (
    KIND_CHECK, KIND_RANDOM, READS, UPDATES, WRITES, Launch, begin, launch, may_fault, operand)
from autograd_cy._C.parallel cimport parallel_range, team_size
from autograd_cy._C.random_loops cimport *
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.tensor cimport Tensor, scalar_value, wrap_double, wrap_int

from autograd_cy._C import cpu as _cpu

__all__: list[str] = []

cdef int K_ADD = kernel_number("add")
cdef int K_GT = kernel_number("gt")
cdef int K_MUL = kernel_number("mul")
cdef int K_WHERE = kernel_number("where")

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) nogil
    float ag_bf16_to_f32(uint16_t h) nogil
    uint16_t ag_f32_to_f16(float x) nogil
    uint16_t ag_f32_to_bf16(float x) nogil

cdef extern from "scalar/random_elements.h":
    float ag_element_uniform_f32(
        uint64_t key, uint64_t at, uint64_t e, float lo, float width, float top) nogil
    float ag_element_uniform_f16(
        uint64_t key, uint64_t at, uint64_t e, float lo, float width, float top) nogil
    float ag_element_uniform_bf16(
        uint64_t key, uint64_t at, uint64_t e, float lo, float width, float top) nogil
    double ag_element_uniform_f64(
        uint64_t key, uint64_t at, uint64_t e, double lo, double width, double top) nogil
    float ag_element_normal_f32(
        uint64_t key, uint64_t at, uint64_t e, float mean, float std) nogil
    double ag_element_normal_f64(
        uint64_t key, uint64_t at, uint64_t e, double mean, double std) nogil
    float ag_element_exponential_f32(uint64_t key, uint64_t at, uint64_t e, float scale) nogil
    double ag_element_exponential_f64(uint64_t key, uint64_t at, uint64_t e, double scale) nogil
    int ag_element_below(uint64_t key, uint64_t at, uint64_t e, uint64_t threshold) nogil
    int ag_element_chance(uint64_t key, uint64_t at, uint64_t e, double p) nogil
    int64_t ag_element_integer(
        uint64_t key, uint64_t at, uint64_t e, int64_t base, uint64_t range) nogil
    int64_t ag_element_place(uint64_t key, uint64_t at, int64_t n, int64_t i) nogil
    uint64_t ag_bounded(uint32_t w0, uint32_t w1, uint64_t range) nogil

cdef extern from *:
    """
    /* The position before `n` chunks are taken. */
    #define agc_take(position, n) __atomic_fetch_add(position, n, __ATOMIC_RELAXED)
    """
    uint64_t take "agc_take"(uint64_t* position, uint64_t n) nogil

cdef enum:
    RELEASE_GIL = 512          # chunks; shorter work is done by one thread

cdef RandomTable* loops = <RandomTable*>PyCapsule_GetPointer(
    _cpu.load("random_loops").table_capsule(), "autograd_cy.random_loops")
cdef random_fn fill = loops.fill


# --- a fill as a launch ---------------------------------------------------------------------

cdef void draw(void* plan) noexcept nogil:
    """Take the chunks of a job and fill its memory, whatever their split over threads."""
    cdef RandomJob* job = <RandomJob*>plan
    cdef Py_ssize_t chunks = parts(job.n, chunk_elements(job.kind, job.dt))
    cdef int threads
    job.seed = job.state[0]
    job.chunk = take(&job.state[1], <uint64_t>chunks)
    if chunks < RELEASE_GIL:
        fill(job, 0, chunks)
        return
    threads = team_size(<double>chunks * 64 * (20 if job.kind == RANDOM_NORMAL else 8))
    if threads <= 1:
        fill(job, 0, chunks)
    else:
        parallel_range(fill, job, chunks, threads)


cdef int run_fill(RandomJob* job, Tensor out, Tensor p, Tensor state, const char* name) except -1:
    """Fill `out`; `p` are probabilities in C order, or None."""
    cdef Launch work
    job.dt = dt_twin(out.dt)
    job.n = out.count
    if dt_is_complex(out.dt):
        job.dt = dt_real(out.dt)
        job.n = 2 * out.count
    job.out = out.ptr
    job.state = <uint64_t*>state.ptr
    begin(&work, name, job, sizeof(RandomJob), KIND_RANDOM)
    operand(&work, &job.out, out, WRITES)
    operand(&work, &job.state, state, UPDATES)
    if p is not None:
        operand(&work, &job.p, p, READS)
    return launch(&work, draw, <double>job.n)


cdef double largest_below(double x, int dt) noexcept:
    """The largest number of the dtype below x."""
    cdef float f = <float>x
    cdef uint16_t h
    cdef bint half = dt == DT_F16
    if dt == DT_F64:
        return nextafter(x, -INFINITY)
    if dt == DT_F32:
        return f if f < x else nextafterf(f, -INFINITY)
    h = ag_f32_to_f16(f) if half else ag_f32_to_bf16(f)
    if (ag_f16_to_f32(h) if half else ag_bf16_to_f32(h)) >= x:
        # The codes of positive numbers go up with the number, those of negative ones down.
        h = <uint16_t>(0x8001 if h == 0 else (h + 1 if h & 0x8000 else h - 1))
    return ag_f16_to_f32(h) if half else ag_bf16_to_f32(h)


cdef int uniform(Tensor out, double lo, double hi, Tensor state) except -1:
    cdef RandomJob job
    job.kind = RANDOM_UNIFORM
    job.a = lo
    job.b = hi - lo
    job.top = largest_below(hi, dt_real(out.dt)) if hi > lo else lo
    return run_fill(&job, out, None, state, "uniform")


cdef int normal(Tensor out, double mean, double std, Tensor state) except -1:
    cdef RandomJob job
    job.kind = RANDOM_NORMAL
    job.a = mean
    job.b = std
    if not dt_is_complex(out.dt):
        return run_fill(&job, out, None, state, "normal")
    # Half of the variance for each part; the mean goes to the real part.
    job.a = 0
    job.b = std * 0.70710678118654752
    run_fill(&job, out, None, state, "normal")
    if mean:
        ew2(K_ADD, out, cast(wrap_double(mean), out.dt), P_SAME, out, "normal_")
    return 0


cdef int exponential(Tensor out, double rate, Tensor state) except -1:
    cdef RandomJob job
    job.kind = RANDOM_EXPONENTIAL
    job.a = 1.0 / rate
    return run_fill(&job, out, None, state, "exponential")


cdef int zeros_and(Tensor out, double one, double p, Tensor state) except -1:
    cdef RandomJob job
    job.kind = RANDOM_BERNOULLI
    job.a = one
    job.range = <uint64_t>(p * 4294967296.0)
    return run_fill(&job, out, None, state, "bernoulli")


cdef int bernoulli(Tensor out, double p, Tensor state) except -1:
    return zeros_and(out, 1, p, state)


cdef int bernoulli_each(Tensor out, Tensor p, Tensor state) except -1:
    cdef RandomJob job
    p = contiguous(expand_plain(cast(p, DT_F64), out.nd, out.sizes, "bernoulli_"))
    check_range(p, CHANCES, "bernoulli")
    job.kind = RANDOM_BERNOULLI_EACH
    job.p = <const double*>p.ptr
    return run_fill(&job, out, p, state, "bernoulli")


cdef int random(Tensor out, Py_ssize_t low, Py_ssize_t last, Tensor state) except -1:
    cdef RandomJob job
    job.kind = RANDOM_INTEGER
    job.base = low
    job.range = <uint64_t>last - <uint64_t>low + 1
    return run_fill(&job, out, None, state, "random")


# --- around tensors -------------------------------------------------------------------------

cdef int normal_mean(Tensor out, Tensor mean, double std, Tensor state) except -1:
    normal(out, 0, std, state)
    ew2(K_ADD, out, cast(mean, out.dt), P_SAME, out, "normal")
    return 0


cdef int normal_std(Tensor out, double mean, Tensor std, Tensor state) except -1:
    check_range(contiguous(cast(std, DT_F64)), WIDTHS, "normal")
    normal(out, 0, 1, state)
    ew2(K_MUL, out, cast(std, out.dt), P_SAME, out, "normal")
    ew2(K_ADD, out, cast(wrap_double(mean), out.dt), P_SAME, out, "normal")
    return 0


cdef int normal_both(Tensor out, Tensor mean, Tensor std, Tensor state) except -1:
    check_range(contiguous(cast(std, DT_F64)), WIDTHS, "normal")
    normal(out, 0, 1, state)
    ew2(K_MUL, out, cast(std, out.dt), P_SAME, out, "normal")
    ew2(K_ADD, out, cast(mean, out.dt), P_SAME, out, "normal")
    return 0


# --- masks and slopes -----------------------------------------------------------------------

cdef int scaled_mask(Tensor out, double keep, Tensor state) except -1:
    """Ones are divided by the chance to keep one; nothing is drawn where there are only zeros."""
    if keep <= 0.0:
        return clear(out)
    return zeros_and(out, 1.0 / keep, keep, state)


cdef int rrelu_slopes(Tensor out, Tensor a, Tensor lower, Tensor upper, Tensor state) except -1:
    """Random ones where `a` is at most zero, 1 elsewhere."""
    uniform(out, scalar_value(lower), scalar_value(upper), state)
    ew3(K_WHERE, ew2(K_GT, a, wrap_int(0), P_BOOL, None, "rrelu"), cast(wrap_int(1), out.dt), out,
        P_SKIP_FIRST, out, "rrelu")
    return 0


# --- permutations ---------------------------------------------------------------------------

cdef void shuffle(void* plan) noexcept nogil:
    """Fisher and Yates: element i changes places with one of the first i + 1."""
    cdef RandomJob* job = <RandomJob*>plan
    cdef int64_t* p = <int64_t*>job.out
    cdef uint32_t[64] w
    cdef Py_ssize_t i, j, used = 0
    cdef int64_t held
    job.seed = job.state[0]
    job.chunk = take(&job.state[1], <uint64_t>parts(job.n, 32))
    for i in range(job.n):
        p[i] = i
    for i in range(job.n - 1, 0, -1):
        if fill == by_element:
            j = ag_element_place(job.seed, job.chunk, job.n, i)
        else:
            if used % 32 == 0:
                loops.words(job.seed, job.chunk + <uint64_t>(used // 32), w)
            j = <Py_ssize_t>ag_bounded(w[used % 32], w[32 + used % 32], <uint64_t>i + 1)
            used += 1
        held = p[i]
        p[i] = p[j]
        p[j] = held


cdef int permutation(Tensor out, Tensor state) except -1:
    cdef RandomJob job
    cdef Launch work
    job.n = out.count
    job.out = out.ptr
    job.state = <uint64_t*>state.ptr
    begin(&work, "randperm", &job, sizeof(job), KIND_RANDOM)
    operand(&work, &job.out, out, WRITES)
    operand(&work, &job.state, state, UPDATES)
    return launch(&work, shuffle, 4.0 * job.n)


# --- checks of values -----------------------------------------------------------------------

cdef enum:
    CHANCES          # from 0 to 1
    WIDTHS           # not negative
    WEIGHTS          # rows of what is finite and not negative, not all of them zero

cdef struct Checked:
    const double* x
    Py_ssize_t n
    Py_ssize_t columns
    int kind
    const char* op
    Fault fault


cdef void check_each(void* plan) noexcept nogil:
    cdef Checked* c = <Checked*>plan
    cdef Py_ssize_t i, k
    cdef double total = 0
    c.fault.kind = FAULT_NONE
    if c.kind == CHANCES:
        for i in range(c.n):
            if not 0 <= c.x[i] <= 1:
                note(c, FAULT_CHANCE, i)
                return
    elif c.kind == WIDTHS:
        for i in range(c.n):
            if not c.x[i] >= 0:
                note(c, FAULT_WIDTH, i)
                return
    else:
        for i in range(c.n):
            if not (c.x[i] >= 0 and isfinite(c.x[i])):
                note(c, FAULT_WEIGHT, i)
                return
        for i in range(c.n // c.columns):
            total = 0
            for k in range(c.columns):
                total += c.x[i * c.columns + k]
            if not total > 0:
                note(c, FAULT_WEIGHTS, i)
                return


cdef void note(Checked* c, int kind, Py_ssize_t i) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &c.x[i], sizeof(bits))
    note_fault(&c.fault, kind, c.op, bits, 0, i)


cdef int check_range(Tensor x, int kind, const char* name) except -1:
    """Refuse values of float64, in C order, that are out of range."""
    cdef Checked plan
    cdef Launch work
    plan.x = <const double*>x.ptr
    plan.n = x.count
    plan.columns = max(x.sizes[x.nd - 1], 1) if x.nd else 1
    plan.kind = kind
    plan.op = name
    begin(&work, name, &plan, sizeof(plan), KIND_CHECK)
    operand(&work, &plan.x, x, READS)
    may_fault(&work, &plan.fault)
    launch(&work, check_each, <double>plan.n)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


cdef int weights(Tensor out, Tensor a) except -1:
    """Weights of categories in float64, which have been looked at."""
    copy_into(out, a, "multinomial")
    if a.nd > 1 and a.sizes[a.nd - 1] == 0 and a.sizes[0] > 0:
        raise RuntimeError("multinomial: there is no category to draw from")
    if a.nd == 1 and a.count == 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return check_range(out, WEIGHTS, "multinomial")


# --- one element after the other ------------------------------------------------------------

cdef void put_real(int dt, char* out, Py_ssize_t e, double x) noexcept nogil:
    """Element e of a real dtype."""
    if dt == DT_F32:
        (<float*>out)[e] = <float>x
    elif dt == DT_F64:
        (<double*>out)[e] = x
    elif dt == DT_F16:
        (<uint16_t*>out)[e] = ag_f32_to_f16(<float>x)
    elif dt == DT_BF16:
        (<uint16_t*>out)[e] = ag_f32_to_bf16(<float>x)
    else:
        put_whole(dt, out, e, <int64_t>x)


cdef void put_whole(int dt, char* out, Py_ssize_t e, int64_t k) noexcept nogil:
    if dt == DT_I64:
        (<int64_t*>out)[e] = k
    elif dt == DT_I32:
        (<int32_t*>out)[e] = <int32_t>k
    elif dt == DT_I16:
        (<int16_t*>out)[e] = <int16_t>k
    elif dt <= DT_I8:
        (<uint8_t*>out)[e] = <uint8_t>k
    elif dt == DT_F64:
        (<double*>out)[e] = <double>k
    else:
        put_real(dt, out, e, <float>k)


cdef double real_element(const RandomJob* job, uint64_t e) noexcept nogil:
    """Element e of a fill with reals."""
    cdef uint64_t key = job.seed, at = job.chunk
    cdef float lo = <float>job.a, width = <float>job.b, top = <float>job.top
    cdef bint double_one = job.dt == DT_F64
    if job.kind == RANDOM_UNIFORM:
        if double_one:
            return ag_element_uniform_f64(key, at, e, job.a, job.b, job.top)
        if job.dt == DT_F16:
            return ag_element_uniform_f16(key, at, e, lo, width, top)
        if job.dt == DT_BF16:
            return ag_element_uniform_bf16(key, at, e, lo, width, top)
        return ag_element_uniform_f32(key, at, e, lo, width, top)
    if job.kind == RANDOM_NORMAL:
        if double_one:
            return ag_element_normal_f64(key, at, e, job.a, job.b)
        return ag_element_normal_f32(key, at, e, lo, width)
    if job.kind == RANDOM_EXPONENTIAL:
        if double_one:
            return ag_element_exponential_f64(key, at, e, job.a)
        return ag_element_exponential_f32(key, at, e, lo)
    if job.kind == RANDOM_BERNOULLI:
        if double_one:
            return job.a * ag_element_below(key, at, e, job.range)
        return lo * <float>ag_element_below(key, at, e, job.range)
    return ag_element_chance(key, at, e, job.p[e])


cdef void by_element(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    """Fill as `fill` of the loops does, by the functions for one element."""
    cdef const RandomJob* job = <const RandomJob*>ctx
    cdef Py_ssize_t size = chunk_elements(job.kind, job.dt)
    cdef Py_ssize_t e, end = hi * size if hi * size < job.n else job.n
    for e in range(lo * size, end):
        if job.kind == RANDOM_INTEGER:
            put_whole(job.dt, job.out, e, ag_element_integer(
                job.seed, job.chunk, e, job.base, job.range))
        else:
            put_real(job.dt, job.out, e, real_element(job, e))


def _draw_by_element(bint on):
    """Let all fills be made one element after the other, for tests."""
    global fill
    fill = by_element if on else loops.fill


def _philox_words(uint64_t seed, uint64_t chunk):
    """The 64 words of a chunk, for tests."""
    cdef uint32_t[64] w
    loops.words(seed, chunk, w)
    return [w[i] for i in range(64)]
