# cython: language_level=3
# build: openmp
# The thread budget and the parallel loops of the package; see parallel.pxd for the C level.
# What the budget is by default is decided in autograd_cy/_environment/threads.py.

from cython.parallel cimport prange
from autograd_cy._C.sizes cimport parts, round_up

from autograd_cy._environment import threads as _threads

cdef extern from *:
    """
    #if defined(_OPENMP)
    #include <omp.h>
    #define AGC_OPENMP _OPENMP
    #else
    /* A build without OpenMP: the same functions, for one thread. */
    #define AGC_OPENMP 0
    static int omp_in_parallel(void) { return 0; }
    static int omp_get_thread_num(void) { return 0; }
    static int omp_get_num_threads(void) { return 1; }
    static int omp_get_max_threads(void) { return 1; }
    static int omp_get_thread_limit(void) { return 1; }
    static int omp_get_num_procs(void) { return 1; }
    #endif

    /* The processors of all places, where there are some: omp_get_num_procs() may count others. */
    static int agc_processors(void) {
        int n = 0;
    #if defined(_OPENMP) && _OPENMP >= 201511
        int i, places = omp_get_num_places();
        for (i = 0; i < places; i++) n += omp_get_place_num_procs(i);
    #endif
        return n > 0 ? n : omp_get_num_procs();
    }

    #if defined(_OPENMP) && _OPENMP >= 201307
    static int agc_proc_bind(void) { return (int)omp_get_proc_bind(); }
    #else
    static int agc_proc_bind(void) { return 0; }
    #endif

    #include <dlfcn.h>
    #include <pthread.h>

    /* Threads may turn it at once; whatever comes of that, each has one of the two. */
    static int agc_turn_round(int *turn) {
        const int now = !__atomic_load_n(turn, __ATOMIC_RELAXED);
        __atomic_store_n(turn, now, __ATOMIC_RELAXED);
        return now;
    }

    /* Read in every parallel decision: the initial-exec model makes that one load. */
    #if defined(__linux__)
    #define AGC_TLS __thread __attribute__((tls_model("initial-exec")))
    #else
    #define AGC_TLS __thread
    #endif
    static AGC_TLS int agc_thread_override = 0;
    static AGC_TLS int agc_team = 1;
    /* What omp_get_max_threads() said when the thread last chose its number by itself. */
    static AGC_TLS int agc_noted = 0;
    static int *agc_team_place(void) { return &agc_team; }

    /* The handler may run in any state of the parent's threads, so it stores a flag and no more. */
    static volatile int agc_forked = 0;
    static void agc_after_fork(void) { agc_forked = 1; }
    #if defined(__clang__) && defined(_OPENMP)
    /* The end of LLVM's runtime 16 aborts a forked child in which nothing has asked it. */
    static void agc_at_exit(void) { if (agc_forked) (void)omp_get_max_threads(); }
    static int agc_watch_exit(void) { return atexit(agc_at_exit); }
    #else
    static int agc_watch_exit(void) { return 0; }
    #endif
    static int agc_watch_forks(void) {
        return agc_watch_exit() || pthread_atfork(NULL, NULL, agc_after_fork);
    }

    /* Note [Small stacks]
       Kernels keep tiles on the stack, where compilers know that nothing else points to them. The
       stacks of other threads than the first may be as small as 64 KiB (threading.stack_size,
       OMP_STACKSIZE, other runtimes), and recursion may have left as little. So loops look how much
       is left, and run in a thread of their own where it is too little. The largest frames of
       kernels are listed by ext/build/stacks.py; a kernel that has one and is called without a loop
       is called by parallel_for() of one tile. */
    #define AGC_STACK_NEEDED (192 * 1024)
    #define AGC_STACK_GIVEN (1024 * 1024)
    static AGC_TLS char *agc_stack_least = NULL;    /* addresses below: too little is left */

    static char *agc_find_stack(void) {
        void *low = NULL;
    #if defined(__linux__)
        pthread_attr_t attributes;
        size_t size = 0, guard = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            (void)pthread_attr_getstack(&attributes, &low, &size);
            (void)pthread_attr_getguardsize(&attributes, &guard);
            (void)pthread_attr_destroy(&attributes);
            low = (char *)low + guard;
        }
    #elif defined(__APPLE__)
        low = (char *)pthread_get_stackaddr_np(pthread_self())
              - pthread_get_stacksize_np(pthread_self());
    #endif
        return (char *)low + AGC_STACK_NEEDED;
    }

    static int agc_stack_is_small(void) {
        if (__builtin_expect(agc_stack_least == NULL, 0)) agc_stack_least = agc_find_stack();
        return __builtin_expect((char *)__builtin_frame_address(0) < agc_stack_least, 0);
    }

    typedef struct {
        void (*tiles)(void (*)(void *, Py_ssize_t), void *, Py_ssize_t, Py_ssize_t, int);
        void (*body)(void *, Py_ssize_t);
        void (*range)(void *, Py_ssize_t, Py_ssize_t);
        void *ctx;
        Py_ssize_t lo, hi;
        int back;
    } agc_errand;

    static void *agc_do_errand(void *given) {
        agc_errand *e = (agc_errand *)given;
        agc_thread_override = 1;
        if (e->range) e->range(e->ctx, e->lo, e->hi);
        else e->tiles(e->body, e->ctx, e->lo, e->hi, e->back);
        return NULL;
    }

    /* False if there is no thread to be had: the caller takes its chance then. */
    static int agc_elsewhere(agc_errand *e) {
        pthread_attr_t attributes;
        pthread_t thread;
        int made = 0;
        if (pthread_attr_init(&attributes) != 0) return 0;
        if (pthread_attr_setstacksize(&attributes, AGC_STACK_GIVEN) == 0)
            made = pthread_create(&thread, &attributes, agc_do_errand, e) == 0;
        (void)pthread_attr_destroy(&attributes);
        if (made) (void)pthread_join(thread, NULL);
        return made;
    }

    static const char *agc_openmp_library(void) {
    #if defined(_OPENMP)
        Dl_info where;
        if (dladdr((void *)omp_get_max_threads, &where) && where.dli_fname)
            return where.dli_fname;
    #endif
        return "";
    }
    """
    int AGC_OPENMP
    int agc_thread_override
    int agc_team
    int agc_noted
    int* agc_team_place() noexcept nogil
    int agc_forked
    ctypedef struct agc_errand:
        void (*tiles)(body_t, void*, Py_ssize_t, Py_ssize_t, bint) noexcept nogil
        body_t body
        range_body_t range
        void* ctx
        Py_ssize_t lo
        Py_ssize_t hi
        bint back
    bint agc_stack_is_small() noexcept nogil
    bint agc_elsewhere(agc_errand* errand) noexcept nogil
    int agc_turn_round(int* turn) noexcept nogil
    int omp_in_parallel() noexcept nogil
    int omp_get_thread_num() noexcept nogil
    int omp_get_num_threads() noexcept nogil
    int omp_get_max_threads() noexcept nogil
    int omp_get_thread_limit() noexcept nogil
    int omp_get_num_procs() noexcept nogil
    int agc_processors() noexcept nogil
    int agc_proc_bind() noexcept nogil
    int agc_watch_forks() noexcept nogil
    const char* agc_openmp_library() noexcept nogil

# Measured: a second thread starts to pay at 65,536 additions, and each thread wants half of that.

cdef enum:
    GRAIN = 65536
    PER_THREAD = GRAIN // 2

cdef int budget = 1
# What threads start with: less was chosen by somebody (omp_set_num_threads, threadpoolctl).
cdef int usual_threads = 1


cdef int most_threads() noexcept nogil:
    """More never help, and an OpenMP runtime that can't start a thread ends the process."""
    cdef int n = 4 * omp_get_num_procs()
    return min(n if n > 64 else 64, omp_get_thread_limit())


cdef bint in_parallel_region() noexcept nogil:
    return omp_in_parallel() != 0


cdef int num_threads() noexcept nogil:
    if agc_forked:
        return 1
    if agc_thread_override > 0:
        return agc_thread_override
    return within_limit(budget)


cdef int within_limit(int n) noexcept nogil:
    """`n`, or what omp_set_num_threads() has limited the calling thread to since n was chosen."""
    global agc_noted
    cdef int most
    if n == 1:
        return 1
    most = omp_get_max_threads()
    if most == agc_noted:
        return n
    agc_noted = 0
    if most >= usual_threads:
        return n
    return min(n, most)


cdef int set_thread_override(int n) noexcept nogil:
    global agc_thread_override
    cdef int previous = agc_thread_override
    agc_thread_override = min(n, most_threads()) if n > 0 else 0
    return previous


cdef int team_size(double work) noexcept nogil:
    cdef int n
    # Written so that NaN means one thread.
    if not work >= GRAIN:
        return 1
    n = num_threads()
    if n == 1 or omp_in_parallel():
        return 1
    if work < n * PER_THREAD:
        n = <int>(work / PER_THREAD)
    return n


cdef inline int clamp(Py_ssize_t n_tiles, int nthreads) noexcept nogil:
    # A region of one thread costs a third of a real one, so it is never opened.
    global agc_team
    if nthreads > n_tiles:
        nthreads = <int>n_tiles
    if nthreads <= 1 or agc_forked or omp_in_parallel():
        return 1
    if nthreads > agc_team:
        agc_team = nthreads
    return nthreads


cdef int* team_place() noexcept nogil:
    return agc_team_place()


# What an operation has touched last is what the next one finds in the caches, so each goes over its
# tiles the other way than the one before it; see Note [Turning round] in iterate/orders.pxi.
cdef int turn = 0


cdef bint turn_round() noexcept nogil:
    return agc_turn_round(&turn)


cdef void these_tiles(body_t body, void* ctx, Py_ssize_t lo, Py_ssize_t hi,
                      bint back) noexcept nogil:
    cdef Py_ssize_t tile
    if back:
        for tile in range(hi - 1, lo - 1, -1):
            body(ctx, tile)
    else:
        for tile in range(lo, hi):
            body(ctx, tile)


cdef bint on_another_stack(body_t body, range_body_t range, void* ctx, Py_ssize_t lo, Py_ssize_t hi,
                           bint back) noexcept nogil:
    """Run tiles or a range in a thread of its own; false if there is none (Note [Small stacks])."""
    cdef agc_errand errand
    errand.tiles = these_tiles
    errand.body = body
    errand.range = range
    errand.ctx = ctx
    errand.lo = lo
    errand.hi = hi
    errand.back = back
    return agc_elsewhere(&errand)


cdef inline void some_tiles(body_t body, void* ctx, Py_ssize_t lo, Py_ssize_t hi,
                            bint back) noexcept nogil:
    if agc_stack_is_small() and on_another_stack(body, NULL, ctx, lo, hi, back):
        return
    these_tiles(body, ctx, lo, hi, back)


cdef inline void some_range(range_body_t body, void* ctx, Py_ssize_t lo,
                            Py_ssize_t hi) noexcept nogil:
    if agc_stack_is_small() and on_another_stack(NULL, body, ctx, lo, hi, False):
        return
    body(ctx, lo, hi)


cdef int parallel_for(body_t body, void* ctx, Py_ssize_t n_tiles, int nthreads) noexcept nogil:
    cdef Py_ssize_t part
    cdef bint back = False
    nthreads = clamp(n_tiles, nthreads)
    if n_tiles > 1:
        back = turn_round()
    if nthreads == 1:
        some_tiles(body, ctx, 0, n_tiles, back)
        return 1
    for part in prange(nthreads, num_threads=nthreads, schedule="static", chunksize=1):
        some_tiles(body, ctx, n_tiles * part // nthreads, n_tiles * (part + 1) // nthreads, back)
    return nthreads


cdef int parallel_for_dynamic(
        body_t body, void* ctx, Py_ssize_t n_tiles, int nthreads) noexcept nogil:
    cdef Py_ssize_t tile
    nthreads = clamp(n_tiles, nthreads)
    if nthreads == 1:
        some_tiles(body, ctx, 0, n_tiles, False)
        return 1
    for tile in prange(n_tiles, num_threads=nthreads, schedule="dynamic", chunksize=1):
        some_tiles(body, ctx, tile, tile + 1, False)
    return nthreads


cdef int parallel_range(
        range_body_t body, void* ctx, Py_ssize_t n, int nthreads) noexcept nogil:
    cdef Py_ssize_t part, chunk, lo, hi
    if n <= 0:
        return 1
    nthreads = clamp(parts(n, 64), nthreads)
    if nthreads == 1:
        some_range(body, ctx, 0, n)
        return 1
    chunk = round_up(parts(n, nthreads), 64)
    for part in prange(nthreads, num_threads=nthreads, schedule="static", chunksize=1):
        lo = part * chunk
        hi = min(lo + chunk, n)
        if lo < hi:
            some_range(body, ctx, lo, hi)
    return nthreads


def get_num_threads():
    """
    Return how many threads a large operation of the calling thread may use.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_num_threads() >= 1
    True
    """
    return num_threads()


def set_num_threads(n):
    """Set how many threads a large operation may use; 1 switches threading off.

    Results are bit-equal for any number.  A forked child stays at one thread.  More than four
    threads per processor (and more than 64) are not started, whatever is asked for.  The BLAS of
    NumPy and SciPy, which linear algebra uses, gets the same number, here and in forked children.
    A limit that ``omp_set_num_threads`` or threadpoolctl sets later holds, too.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    TypeError
        If `n` is no int.
    ValueError
        If it is below 1.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_num_threads(ag.get_num_threads())
    """
    global budget, agc_noted
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"set_num_threads: expected an int, got {type(n).__name__}.")
    if n < 1:
        raise ValueError(f"set_num_threads: the number of threads must be positive, got {n}.")
    budget = min(n, most_threads()) if AGC_OPENMP else 1
    agc_noted = omp_get_max_threads()
    _threads.limit_libraries(n)


def info():
    """Return what is known about threads here, as a dict.

    `runtime`, `version` and `library` tell which OpenMP is loaded (None in a build without it),
    `threads` the budget, `affinity` and `quota` what the system allows, `bind` whether
    OMP_PROC_BIND is on.
    """
    cdef bytes library = agc_openmp_library()
    path = library.decode(errors="replace")
    facts = {
        "openmp": bool(AGC_OPENMP),
        "runtime": _threads.runtime_name(path) if path else None,
        "version": _threads.openmp_version(AGC_OPENMP),
        "library": path or None,
        "threads": num_threads(),
        "thread_limit": omp_get_thread_limit(),
        "bind": agc_proc_bind() != 0,
        "forked_child": bool(agc_forked),
    }
    facts.update(_threads.limits())
    return facts


def _set_thread_override(n):
    """Set the budget of the calling thread alone (0: none) and return the previous one."""
    return set_thread_override(n)


# Entry points of the tests: what the C functions do, seen from Python.

cdef struct Trace:
    int* counts
    int* owners


cdef void count_tile(void* ctx, Py_ssize_t tile) noexcept nogil:
    cdef Trace* trace = <Trace*>ctx
    trace.counts[tile] += 1
    # A nested region must stay serial.
    trace.owners[tile] = omp_get_thread_num() + 1000 * (team_size(1e12) - 1)


cdef void count_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(lo, hi):
        count_tile(ctx, i)


def _team_size(double work):
    """team_size() for the tests."""
    return team_size(work)


def _trace_loop(kind, int[::1] counts, int[::1] owners, int nthreads):
    """Run a loop of the given kind, counting visits and noting which thread made them."""
    cdef Trace trace
    cdef Py_ssize_t n = counts.shape[0]
    if owners.shape[0] != n:
        raise ValueError("_trace_loop: counts and owners differ in length.")
    if n == 0:
        trace.counts = trace.owners = NULL
    else:
        trace.counts = &counts[0]
        trace.owners = &owners[0]
    if kind == "static":
        with nogil:
            nthreads = parallel_for(count_tile, &trace, n, nthreads)
    elif kind == "dynamic":
        with nogil:
            nthreads = parallel_for_dynamic(count_tile, &trace, n, nthreads)
    elif kind == "range":
        with nogil:
            nthreads = parallel_range(count_range, &trace, n, nthreads)
    else:
        raise ValueError(f"_trace_loop: unknown kind {kind!r}.")
    return nthreads


if agc_watch_forks() != 0:
    raise MemoryError("autograd_cy: pthread_atfork failed.")
# OpenMP has read its environment now, and bound this thread if it was told to.
_threads.runtime_loaded(agc_processors())
usual_threads = _threads.requested_threads() or omp_get_num_procs()
if AGC_OPENMP:
    budget = min(_threads.default_num_threads(), omp_get_thread_limit(), most_threads())
