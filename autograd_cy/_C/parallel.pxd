# cython: language_level=3
# The one thread budget.  Every parallel region of the package is opened here.
#
# A caller asks team_size() how many threads its work is worth and hands that number to one of the
# loops below.  Tiles and partial sums must depend on shapes alone, never on the number of threads,
# so that results are bit-equal for any number.

ctypedef void (*body_t)(void* ctx, Py_ssize_t tile) noexcept nogil
ctypedef void (*range_body_t)(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil

# Threads for `work` element-steps of a streaming operation such as an addition (about 0.1 ns each;
# multiply by the relative cost of other operations).  1 when that is small, inside a parallel
# region, and in a forked child.
cdef int team_size(double work) noexcept nogil

# body(ctx, tile) for each tile.  `parallel_for` gives each thread one contiguous run of tiles, the
# same at every call, so that data stays in its cache; `parallel_for_dynamic` hands tiles out one
# by one, for few and long ones.  Both return the number of threads asked for after clamping.
cdef int parallel_for(body_t body, void* ctx, Py_ssize_t n_tiles, int nthreads) noexcept nogil
cdef int parallel_for_dynamic(
    body_t body, void* ctx, Py_ssize_t n_tiles, int nthreads) noexcept nogil

# body(ctx, lo, hi) on contiguous chunks of range(n), one per thread, rounded to 64 elements.  Only
# for bodies whose results do not depend on where the range is cut.
cdef int parallel_range(
    range_body_t body, void* ctx, Py_ssize_t n, int nthreads) noexcept nogil

# True inside a parallel region, whoever opened it.
cdef bint in_parallel_region() noexcept nogil

# The budget as seen by the calling thread; 1 in a process that was forked after this module was
# loaded, because the threads of OpenMP do not survive a fork.
cdef int num_threads() noexcept nogil

# Budget of the calling thread alone; 0 removes it.  Returns the previous value, to be put back.
# For work that goes on in a helper thread with its caller's budget.
cdef int set_thread_override(int n) noexcept nogil

# Where the calling thread's loops note the largest number of threads they had; the profiler sets it
# to 1 before an operator.
cdef int* team_place() noexcept nogil

# Turns the direction of long loops, one for all of the process, and returns it: whether to go from
# the last element to the first (Note [Turning round] in iterate/orders.pxi).
cdef bint turn_round() noexcept nogil
