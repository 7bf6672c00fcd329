# cython: language_level=3
"""Launches: what a kernel is about to do, as a value.

A launch says which function runs, on which plan (a plain C struct), and which addresses in the
plan are those of tensors: with what is read and written there, of which dtype, and between which
bytes. Operators make launches on the stack and hand them to `launch`, which runs them. While a
thread captures, they are copied too: such a copy owns what it points to, and can be replayed, on
the same memory or on another, without Python, allocation or graph. An operator works on memory of
the CPU by launches only. Work of another kind calls `no_launch`, which refuses a capture; so does
work on other devices.

    cdef Launch work
    begin(&work, "nll_loss", &plan, sizeof(plan), KIND_REDUCE)
    operand(&work, &plan.a, a, READS)          # plan.a holds an address within a's memory
    operand(&work, &plan.out, out, WRITES)
    launch_tiles(&work, nll_tile, n_tiles, cost)

A launch has up to 12 operands; `spread` lends it memory for more. A plan must not point to anything
but operands and what lives as long as the process (kernel tables). Room for partial results is an
operand too: a storage, with access SCRATCH. A launch touches no byte outside of what its operands
declare; tests check that for every operator.

Whether a thread captures is asked in two steps, so that it costs one load while nobody does:
`captures` counts the threads that do, and `captures_here` looks at the calling one.
"""
from libc.stdint cimport int64_t
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
    BYTES = -1             # instead of a dtype: memory without elements of one kind

# What sort of work a launch is; `kind_names` in launch.pyx has the same order.
cdef enum:
    KIND_OTHER = 0
    KIND_ELEMENTWISE = 1   # each element of the result depends on those in the same place
    KIND_COPY = 2          # values move as they are
    KIND_FILL = 3
    KIND_REDUCE = 4
    KIND_SCAN = 5
    KIND_PRODUCT = 6
    KIND_GATHER = 7        # reads where an index says
    KIND_SCATTER = 8       # writes where an index says
    KIND_SORT = 9
    KIND_NORM = 10
    KIND_WINDOW = 11       # convolutions, pools, filters
    KIND_RANDOM = 12
    KIND_STEP = 13         # of an optimizer, or of the scale of losses
    KIND_CHECK = 14        # writes nothing; may find a fault

# What a launch has found wrong with values; faults.pxd says of which kinds, and what of.
cdef struct Fault:
    int kind               # 0: none
    const char* op
    int64_t value, size, dim

ctypedef void (*plan_fn)(void* plan) noexcept nogil
ctypedef object (*fault_fn)(Fault* f)

cdef struct Operand:
    StorageImpl* mem       # NULL: a number, of which the launch holds the 16 bytes
    Py_ssize_t slot        # where the plan has the address, in bytes from its beginning
    int access
    int dt                 # of its elements, or BYTES
    Py_ssize_t count       # how many elements (or bytes)
    Py_ssize_t low         # the first byte of the storage that may be touched,
    Py_ssize_t high        # and the one behind the last

cdef struct Launch:
    const char* name
    void* plan
    Py_ssize_t size        # bytes of the plan
    plan_fn run            # does all, or NULL for tiles:
    body_t body
    Py_ssize_t tiles
    double work            # element steps, as for team_size()
    int kind
    int n                  # operands
    int capacity           # how many there may be
    bint failed            # an operand too many
    Py_ssize_t fault       # where the plan has a Fault, or -1
    Operand* at            # where they are: `own`, or what `spread` was given
    Operand own[12]

cdef int captures           # how many threads capture
cdef bint captures_here() noexcept nogil       # the calling thread does
cdef int add_launch(Launch* work) except -1      # nothing if it doesn't
cdef int refuse_launch(str op, str reason) except -1
cdef void add_tensor(Launch* work, void* field, Tensor t, int access) noexcept
cdef void add_range(Launch* work, void* field, StorageImpl* mem, int access, int dt,
                    Py_ssize_t count, Py_ssize_t low, Py_ssize_t high) noexcept nogil
cdef fault_fn error_of_fault     # fault_error, which faults.pyx puts here
cdef int note_constant(Tensor t) except -1     # filled by hand, with values that stay the same


cdef inline bint capturing() noexcept nogil:
    """Tell whether the calling thread captures; a launch is only described then."""
    return captures and captures_here()


cdef inline int no_launch(str op, str reason) except -1:
    """To be called by everything that reads or writes memory and is no launch: it is refused while
    the thread captures, by the name of the operator."""
    if captures:
        return refuse_launch(op, reason)
    return 0


cdef inline void begin(Launch* work, const char* name, void* plan, Py_ssize_t size,
                       int kind=KIND_OTHER) noexcept nogil:
    work.plan = plan
    if not capturing():
        return                      # nobody will ask for more
    work.name = name
    work.size = size
    work.kind = kind
    work.run = NULL
    work.body = NULL
    work.n = 0
    work.capacity = MAX_OPERANDS
    work.failed = False
    work.fault = -1
    work.at = work.own

cdef inline void spread(Launch* work, Operand* operands, int n) noexcept nogil:
    """Let the launch have up to n operands, described in `operands`, which add_launch() reads."""
    work.at = operands
    work.capacity = n

cdef inline void memory(Launch* work, void* field, StorageImpl* mem, int access) noexcept nogil:
    """`field` of the plan holds an address within `mem`, of which all may be touched; NULL: that
    of a number."""
    if capturing():
        add_range(work, field, mem, access, BYTES, 16 if mem == NULL else mem.nbytes, 0,
                  16 if mem == NULL else mem.nbytes)

cdef inline void operand(Launch* work, void* field, Tensor t, int access) noexcept:
    """`field` of the plan holds an address within the memory of `t`, whose elements are used."""
    if capturing():
        add_tensor(work, field, t, access)

cdef inline int launch_tiles(Launch* work, body_t body, Py_ssize_t tiles, double cost) except -1:
    """body(plan, tile) for each tile; `cost` as for team_size()."""
    cdef Py_ssize_t tile
    if capturing():
        work.body = body
        work.tiles = tiles
        work.work = cost
        add_launch(work)
    if cost < GIVE_UP_GIL:
        for tile in range(tiles):
            body(work.plan, tile)
        return 0
    with nogil:
        parallel_for(body, work.plan, tiles, team_size(cost))
    return 0

cdef inline int launch(Launch* work, plan_fn run, double cost) except -1:
    """run(plan); without the GIL if `cost` (element steps) is worth it."""
    if capturing():
        work.run = run
        work.work = cost
        add_launch(work)
    if cost < GIVE_UP_GIL:
        run(work.plan)
        return 0
    with nogil:
        run(work.plan)
    return 0

cdef inline void may_fault(Launch* work, Fault* fault) noexcept nogil:
    """The plan holds this Fault, which the run sets; a replay ends there, and raises it."""
    if capturing():
        work.fault = <char*>fault - <char*>work.plan
