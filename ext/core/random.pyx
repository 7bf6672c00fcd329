# cython: language_level=3
"""Random numbers: generators, and what fills memory with them.

The generator counts: Philox4x32-10 turns (seed, position, element) into bits, so that the same seed
gives the same numbers for any number of threads. Loops are in ext/kernels/random_loops.pyx, the
operators that record in ext/engine/random_operators.pyx.
"""
cimport cython
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport nextafter, nextafterf, INFINITY
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from autograd_cy._C.dtypes cimport (
    dt_differentiable, dt_is_complex, dt_is_float, dt_object, dt_real, DT_BF16, DT_BOOL, DT_F16,
    DT_F32, DT_F64, DT_I16, DT_I32, DT_I64, DT_I8, DT_U8)
from autograd_cy._C.devices cimport device_among
from autograd_cy._C.iterate cimport (
    cast, contiguous, copy_into, ew2, expand_plain, to_device, P_SAME)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport no_launch
from autograd_cy._C.parallel cimport parallel_range, team_size
from autograd_cy._C.placement cimport as_device, cpu_device, device_code
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport Tensor, tensor_empty, F_DEVICE, F_LAZY, F_STRIDED
from autograd_cy._C.random_loops cimport *

import os as _os

from autograd_cy._C import cpu as _cpu
from autograd_cy._C._warned import warn as _warn

cdef int K_ADD = kernel_number("add")

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) nogil
    float ag_bf16_to_f32(uint16_t h) nogil
    uint16_t ag_f32_to_f16(float x) nogil
    uint16_t ag_f32_to_bf16(float x) nogil

cdef enum:
    DEFAULT_SEED = 67280421310721
    STATE_BYTES = 24
    RELEASE_GIL = 512          # chunks; shorter work keeps the GIL

cdef uint64_t STATE_MARK = 0x31302D5847415250      # "PRAGX-01": tells our states from others

cdef RandomTable* loops = <RandomTable*>PyCapsule_GetPointer(
    _cpu.load("random_loops").table_capsule(), "autograd_cy.random_loops")


# --- generators -----------------------------------------------------------------------------

@cython.final
cdef class Generator:
    """
    A source of random numbers with a state of its own.

    Parameters
    ----------
    device : device, optional
        Only the CPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> g = ag.Generator().manual_seed(0)
    >>> a = ag.rand(2, generator=g)
    >>> b = ag.rand(2, generator=g.manual_seed(0))
    >>> bool((a == b).all())
    True
    """

    def __init__(self, device=None):
        if device_code(device) != ON_CPU:
            raise RuntimeError(f"Device type {as_device(device).type.upper()} is not supported for "
                               "Generator() api; numbers for all devices are drawn on the CPU")
        self.key = DEFAULT_SEED
        self.position = 0

    @property
    def device(self):
        return cpu_device

    def manual_seed(self, seed):
        """
        Start anew from a seed.

        Parameters
        ----------
        seed : int
            From ``-2**63`` to ``2**64 - 1``; negative numbers count from ``2**64``.

        Returns
        -------
        Generator
            This one.

        Raises
        ------
        TypeError
            If the seed is no integer.
        ValueError
            If it has more than 64 bits.
        """
        if not hasattr(seed, "__index__"):
            raise TypeError(f"manual_seed expected an int, but got {type(seed).__name__}")
        number = seed.__index__()
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"manual_seed: Overflow when unpacking long long: {number}")
        self.key = number & 0xFFFFFFFFFFFFFFFF
        self.position = 0
        return self

    def seed(self):
        """Start anew from a seed that the system draws; returns the seed."""
        self.key = int.from_bytes(_os.urandom(8), "little")
        self.position = 0
        return self.key

    def initial_seed(self):
        """The seed this generator started from."""
        return self.key

    def get_state(self):
        """The state as a tensor of bytes, for :meth:`set_state`."""
        cdef Py_ssize_t n = STATE_BYTES
        cdef Tensor t = tensor_empty(DT_U8, 1, &n)
        (<uint64_t*>t.ptr)[0] = STATE_MARK
        (<uint64_t*>t.ptr)[1] = self.key
        (<uint64_t*>t.ptr)[2] = self.position
        return t

    def set_state(self, new_state):
        """
        Go on from a state that :meth:`get_state` returned.

        Raises
        ------
        TypeError
            If the state is no tensor of dtype uint8.
        RuntimeError
            If it is the state of another kind of generator.
        """
        cdef Tensor t
        cdef uint64_t[3] words
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a tensor of uint8, but got {type(new_state).__name__}")
        if (<Tensor>new_state).dt != DT_U8:
            raise TypeError(
                f"RNG state must be a tensor of uint8, not {dt_object((<Tensor>new_state).dt).name}"
            )
        t = contiguous(to_device(<Tensor>new_state, ON_CPU))
        if t.count != STATE_BYTES:
            raise RuntimeError(
                f"Expected a generator state of size {STATE_BYTES} but found the input RNG state "
                f"size to be {t.count}; the state of another library can't be continued here, seed "
                "anew with manual_seed"
            )
        memcpy(words, t.ptr, STATE_BYTES)
        if words[0] != STATE_MARK:
            raise RuntimeError("these bytes are no state of an autograd_cy generator")
        self.key = words[1]
        self.position = words[2]
        return self

    def __repr__(self):
        return f"<autograd_cy.Generator on cpu, seed {self.key}>"

    def __reduce__(self):
        return _rebuild_generator, (self.key, self.position)


def _rebuild_generator(uint64_t seed, uint64_t position):
    """A generator from a pickle."""
    cdef Generator g = Generator()
    g.key = seed
    g.position = position
    return g


default_generator = Generator()
cdef Generator _default = default_generator


cdef Generator generator_of(object gen, str op):
    if gen is None:
        return _default
    if not isinstance(gen, Generator):
        raise TypeError(
            f"{op}(): argument 'generator' must be autograd_cy.Generator, not {type(gen).__name__}"
        )
    return <Generator>gen


def manual_seed(seed):
    """
    Seed the default generator.

    Parameters
    ----------
    seed : int

    Returns
    -------
    Generator
        The default one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> _ = ag.manual_seed(0)
    >>> a = ag.rand(2)
    >>> _ = ag.manual_seed(0)
    >>> bool((a == ag.rand(2)).all())
    True
    """
    return _default.manual_seed(int(seed))


def seed():
    """
    Seed the default generator from the system.

    Returns
    -------
    int
        The seed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> number = ag.seed()
    >>> ag.initial_seed() == number
    True
    """
    return _default.seed()


def initial_seed():
    """
    The seed of the default generator.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> _ = ag.manual_seed(5)
    >>> ag.initial_seed()
    5
    """
    return _default.initial_seed()


def get_rng_state():
    """
    The state of the default generator.

    Returns
    -------
    Tensor
        Bytes.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> state = ag.get_rng_state()
    >>> a = ag.rand(2)
    >>> ag.set_rng_state(state)
    >>> bool((a == ag.rand(2)).all())
    True
    """
    return _default.get_state()


def set_rng_state(new_state):
    """
    Let the default generator go on from a state of :func:`get_rng_state`.

    Parameters
    ----------
    new_state : Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_rng_state(ag.get_rng_state())
    """
    _default.set_state(new_state)


def _philox_words(uint64_t seed, uint64_t chunk):
    """The 64 words of a chunk, for tests."""
    cdef uint32_t[64] w
    loops.words(seed, chunk, w)
    return [w[i] for i in range(64)]


# --- fillers --------------------------------------------------------------------------------

cdef int run(RandomJob* job, Tensor t, object gen, str op) except -1:
    """Fill t; the generator moves on by the chunks used, whatever their split over threads."""
    cdef Generator g = generator_of(gen, op)
    cdef Tensor target = t
    cdef Py_ssize_t chunks, size
    cdef int threads
    no_launch(op, "random numbers differ at each run")
    if t.mem.device == ON_META:
        return 0
    if t.flags & (F_STRIDED | F_LAZY | F_DEVICE):
        target = tensor_empty(t.dt, t.nd, t.sizes)
    job.dt = t.dt
    job.n = target.count
    if dt_is_complex(t.dt):
        job.dt = dt_real(t.dt)
        job.n = 2 * target.count
    job.seed = g.key
    job.chunk = g.position
    job.out = target.ptr
    size = chunk_elements(job.kind, job.dt)
    chunks = parts(job.n, size)
    g.position += <uint64_t>chunks
    if chunks < RELEASE_GIL:
        loops.fill(job, 0, chunks)
    else:
        with nogil:
            threads = team_size(<double>chunks * 64 * (20 if job.kind == RANDOM_NORMAL else 8))
            if threads <= 1:
                loops.fill(job, 0, chunks)
            else:
                parallel_range(loops.fill, job, chunks, threads)
    if target is not t:
        copy_into(t, target, op)
    return 0


cdef int need_floating(Tensor t, str op) except -1:
    if not dt_differentiable(t.dt):
        raise NotImplementedError(
            f"{op}: not implemented for {dt_object(t.dt).name}; "
            "the dtype must be floating or complex"
        )
    return 0


cdef double limit_of(int dt) noexcept:
    """Largest finite number of a floating dtype."""
    if dt == DT_F16:
        return 65504.0
    if dt == DT_BF16:
        return ag_bf16_to_f32(0x7F7F)
    return 3.4028234663852886e38 if dt == DT_F32 else 1.7976931348623157e308


cdef double before(double x, int dt) noexcept:
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


cdef int fill_uniform(Tensor t, double lo, double hi, object gen) except -1:
    cdef RandomJob job
    cdef int dt = dt_real(t.dt)
    need_floating(t, "uniform_")
    if not lo <= hi:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={lo} > to={hi}"
        )
    if abs(lo) > limit_of(dt) or abs(hi) > limit_of(dt) or hi - lo > limit_of(dt):
        raise RuntimeError(
            f"uniform_: [{lo}, {hi}) is out of bounds for {dt_object(dt).name}"
        )
    job.kind = RANDOM_UNIFORM
    job.a = lo
    job.b = hi - lo
    job.top = before(hi, dt) if hi > lo else lo
    return run(&job, t, gen, "uniform_")


cdef int fill_normal(Tensor t, double mean, double std, object gen) except -1:
    cdef RandomJob job
    need_floating(t, "normal_")
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    job.kind = RANDOM_NORMAL
    job.a = mean
    job.b = std
    if dt_is_complex(t.dt):
        # Half of the variance for each part; the mean goes to the real part.
        job.a = 0
        job.b = std * 0.70710678118654752
        run(&job, t, gen, "normal_")
        if mean:
            ew2(K_ADD, t, as_tensor_like(t, mean), P_SAME, t, "normal_")
        return 0
    return run(&job, t, gen, "normal_")


cdef Tensor as_tensor_like(Tensor t, double value):
    cdef Tensor r = tensor_empty(DT_F64, 0, NULL)
    (<double*>r.ptr)[0] = value
    return cast(r, t.dt)


cdef int fill_exponential(Tensor t, double rate, object gen) except -1:
    cdef RandomJob job
    if not dt_is_float(t.dt):
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {dt_object(t.dt).name}"
        )
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
    job.kind = RANDOM_EXPONENTIAL
    job.a = 1.0 / rate
    return run(&job, t, gen, "exponential_")


cdef int need_real(Tensor t, str op) except -1:
    if dt_is_complex(t.dt):
        raise NotImplementedError(f"{op}: not implemented for {dt_object(t.dt).name}")
    return 0


cdef int fill_bernoulli(Tensor t, double p, object gen) except -1:
    cdef RandomJob job
    need_real(t, "bernoulli_")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    job.kind = RANDOM_BERNOULLI
    job.range = <uint64_t>(p * 4294967296.0)
    return run(&job, t, gen, "bernoulli_")


cdef int fill_bernoulli_each(Tensor t, Tensor p, object gen) except -1:
    cdef RandomJob job
    cdef Tensor probabilities
    cdef const double* x
    cdef Py_ssize_t i
    need_real(t, "bernoulli_")
    if not dt_is_float(p.dt):
        raise NotImplementedError(
            f"bernoulli: probabilities must be floating, not {dt_object(p.dt).name}"
        )
    probabilities = expand_plain(cast(p, DT_F64), t.nd, t.sizes, "bernoulli_")
    if device_among((t, p), "bernoulli_") == ON_META:
        return 0
    probabilities = contiguous(to_device(probabilities, ON_CPU))
    x = <const double*>probabilities.ptr
    for i in range(probabilities.count):
        if not 0 <= x[i] <= 1:
            raise RuntimeError(
                f"bernoulli: expected p_in >= 0 && p_in <= 1, but element {i} is {x[i]}"
            )
    job.kind = RANDOM_BERNOULLI_EACH
    job.p = x
    return run(&job, t, gen, "bernoulli_")


cdef object exact_limit(int dt):
    """Integers up to this one are exact in the dtype; the largest that an integer dtype holds."""
    return {DT_BOOL: 1, DT_U8: 255, DT_I8: 127, DT_I16: 2**15 - 1, DT_I32: 2**31 - 1,
            DT_I64: 2**63 - 1, DT_F16: 2**11, DT_BF16: 2**8, DT_F32: 2**24, DT_F64: 2**53}[dt]


cdef int fill_randint(Tensor t, object lo, object hi, object gen) except -1:
    """Integers lo <= x < hi, Python numbers."""
    cdef RandomJob job
    need_real(t, "random_")
    if lo >= hi:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={lo} >= to={hi}"
        )
    exact = exact_limit(t.dt)
    top = exact if t.dt <= DT_I64 else 65504 if t.dt == DT_F16 else 2**63 - 1
    bottom = 0 if t.dt <= DT_U8 else -65504 if t.dt == DT_F16 else -top - 1
    if lo < bottom:
        raise RuntimeError(f"random_: from is out of bounds for {dt_object(t.dt).name} ({lo})")
    if hi - 1 > top:
        raise RuntimeError(
            f"random_: to - 1 is out of bounds for {dt_object(t.dt).name} ({hi - 1})"
        )
    if t.dt > DT_I64:
        bits = len(bin(exact)) - 3
        for what, limit in (("from", lo), ("to - 1", hi - 1)):
            if not -exact <= limit <= exact:
                _warn(
                    f"{what} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision "
                    f"limitations {dt_object(t.dt).name} can support discrete uniform distribution "
                    "only within this range. Numbers beyond it are rounded.",
                    UserWarning)
    job.kind = RANDOM_INTEGER
    job.base = lo
    job.range = (hi - lo) & 0xFFFFFFFFFFFFFFFF
    return run(&job, t, gen, "random_")


cdef Tensor permutation(Py_ssize_t n, object gen):
    """Fisher and Yates: element i changes places with one of the first i + 1."""
    cdef Tensor t = tensor_empty(DT_I64, 1, &n)
    cdef Generator g = generator_of(gen, "randperm")
    cdef int64_t* p = <int64_t*>t.ptr
    cdef uint32_t[64] w
    cdef uint64_t word, first = g.position
    cdef Py_ssize_t i, j, used = 0
    cdef int64_t held
    g.position += <uint64_t>parts(n, 32)
    with nogil:
        for i in range(n):
            p[i] = i
        for i in range(n - 1, 0, -1):
            if used % 32 == 0:
                loops.words(g.key, first + <uint64_t>(used // 32), w)
            word = <uint64_t>w[used % 32] << 32 | w[32 + used % 32]
            used += 1
            j = <Py_ssize_t>upper_product(word, <uint64_t>i + 1)
            held = p[i]
            p[i] = p[j]
            p[j] = held
    return t


cdef inline uint64_t upper_product(uint64_t a, uint64_t b) noexcept nogil:
    """Upper 64 bits of the product."""
    cdef uint64_t a0 = <uint32_t>a, a1 = a >> 32, b0 = <uint32_t>b, b1 = b >> 32
    cdef uint64_t mid = a1 * b0 + ((a0 * b0) >> 32)
    return a1 * b1 + (mid >> 32) + ((a0 * b1 + <uint32_t>mid) >> 32)
