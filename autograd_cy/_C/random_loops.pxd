# cython: language_level=3
"""Functions of the compiled copies of random_loops.pyx, handed to random_fills.pyx in a capsule."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

from autograd_cy._C.dtypes cimport DT_F64, DT_SIZE

cdef enum:  # what to fill with
    RANDOM_UNIFORM = 0
    RANDOM_NORMAL = 1
    RANDOM_EXPONENTIAL = 2
    RANDOM_BERNOULLI = 3         # one probability
    RANDOM_BERNOULLI_EACH = 4    # a probability per element
    RANDOM_INTEGER = 5

ctypedef struct RandomJob:
    uint64_t* state        # key and position of the generator
    uint64_t seed          # what was read there when the job began: the key,
    uint64_t chunk         # and the first chunk of counters
    char* out              # contiguous
    Py_ssize_t n           # elements
    int kind
    int dt
    double a               # lower bound, mean, or 1 / rate; one probability: what a one is
    double b               # width, or standard deviation
    double top             # uniform: largest value allowed
    uint64_t range         # integers: how many values; one probability: threshold of 2**32
    int64_t base           # integers: the lowest
    const double* p        # probabilities

ctypedef void (*random_fn)(void* job, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil

ctypedef struct RandomTable:
    random_fn fill         # chunks lo..hi of the job
    void (*words)(uint64_t seed, uint64_t chunk, uint32_t* out) noexcept nogil

cdef inline int chunk_elements(int kind, int dt) noexcept nogil:
    """Elements that one chunk makes: two words each for float64 and integers, else one."""
    return 32 if kind == RANDOM_INTEGER or (kind <= RANDOM_EXPONENTIAL and dt == DT_F64) else 64

cdef inline Py_ssize_t item_bytes(int dt) noexcept nogil:
    """Bytes of an element of a real dtype."""
    return DT_SIZE[dt]
