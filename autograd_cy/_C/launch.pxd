# cython: language_level=3
"""Launches: what a kernel is about to do, as a value.

A launch says which function runs, on which plan (a plain C struct), and which addresses in the
plan are those of tensors, with what is read and what is written there. Operators make launches on
the stack and hand them to `launch`, which runs them. While somebody keeps launches (`keeping`),
they are copied too: such a copy owns what it points to, and can be run again, on the same memory or
on another, without Python, allocation or graph. All that an operator does to memory is in its
launches.

    cdef Launch work
    begin(&work, "nll_loss", &plan, sizeof(plan))
    operand(&work, &plan.a, a, READS)          # plan.a holds an address within a's memory
    operand(&work, &plan.out, out, WRITES)
    launch_tiles(&work, nll_tile, n_tiles, cost)

A launch has up to 12 operands; `spread` lends it room for more. A plan must not point to anything
but operands and what lives as long as the process (kernel tables). Room for partial results is an
operand too: a storage, with access SCRATCH.
"""
from autograd_cy._C.parallel cimport body_t, parallel_for, team_size
from autograd_cy._C.storage cimport StorageImpl
from autograd_cy._C.tensor cimport F_WRAPPED, Tensor

cdef enum:
    READS = 1
    WRITES = 2
    UPDATES = 3       # READS | WRITES
    SCRATCH = 4       # written and read again by this launch alone
    MAX_OPERANDS = 12
    GIVE_UP_GIL = 32768    # work from which it pays to give up the GIL

ctypedef void (*plan_fn)(void* plan) noexcept nogil

cdef struct Operand:
    StorageImpl* mem       # NULL: a number, of which the launch keeps the 16 bytes
    Py_ssize_t slot        # where the plan has the address, in bytes from its beginning
    int access

cdef struct Launch:
    const char* name
    void* plan
    Py_ssize_t size        # bytes of the plan
    plan_fn run            # does all, or NULL for tiles:
    body_t body
    Py_ssize_t tiles
    double work            # element steps, as for team_size()
    int n                  # operands
    int room               # how many there may be
    bint failed            # an operand too many
    Operand* at            # where they are: `own`, or what `spread` was given
    Operand own[12]

cdef bint keeping          # launches are kept: ask it before describing costs something
cdef int keep(Launch* work) except -1
cdef bint kept_here() noexcept       # launches of the calling thread are kept
cdef int no_launch(str op, str reason) except -1     # refuse it while they are
cdef int note_constant(Tensor t) except -1     # filled by hand, with values that stay the same

cdef inline void begin(Launch* work, const char* name, void* plan, Py_ssize_t size) noexcept nogil:
    work.name = name
    work.plan = plan
    work.size = size
    work.run = NULL
    work.body = NULL
    work.n = 0
    work.room = MAX_OPERANDS
    work.failed = False
    work.at = work.own

cdef inline void spread(Launch* work, Operand* room, int n) noexcept nogil:
    """Let the launch have up to n operands, described in `room` (which is only read by keep())."""
    work.at = room
    work.room = n

cdef inline void memory(Launch* work, void* field, StorageImpl* mem, int access) noexcept nogil:
    """`field` of the plan holds an address within `mem`."""
    cdef Operand* one = &work.at[work.n]
    if work.n == work.room:
        work.failed = True
        return
    one.mem = mem
    one.slot = <char*>field - <char*>work.plan
    one.access = access
    work.n += 1

cdef inline void operand(Launch* work, void* field, Tensor t, int access) noexcept:
    """`field` of the plan holds an address within the memory of `t`."""
    # What a Python number became is a number again.
    memory(work, field, NULL if t.flags & F_WRAPPED else t.mem, access)

cdef inline int launch_tiles(Launch* work, body_t body, Py_ssize_t tiles, double cost) except -1:
    """body(plan, tile) for each tile; `cost` as for team_size()."""
    cdef Py_ssize_t tile
    work.body = body
    work.tiles = tiles
    work.work = cost
    if keeping:
        keep(work)
    if cost < GIVE_UP_GIL:
        for tile in range(tiles):
            body(work.plan, tile)
        return 0
    with nogil:
        parallel_for(body, work.plan, tiles, team_size(cost))
    return 0

cdef inline int launch(Launch* work, plan_fn run, double cost) except -1:
    """run(plan); without the GIL if `cost` (element steps) is worth it."""
    work.run = run
    work.work = cost
    if keeping:
        keep(work)
    if cost < GIVE_UP_GIL:
        run(work.plan)
        return 0
    with nogil:
        run(work.plan)
    return 0
