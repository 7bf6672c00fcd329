# cython: language_level=3
# build: plain hot
"""Capturing launches, and replaying them.

See launch.pxd for what a launch is. While a thread captures, no storage that it allocates or uses
is given back, so that an address stands for one value; what was allocated meanwhile and is read
before any launch has written it was filled by other means, which a replay would not repeat: that
is refused.
"""
from collections import namedtuple as _namedtuple

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset
from autograd_cy._C.dtypes cimport DT_SIZE, dt_object
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.sizes cimport round_up
from autograd_cy._C.storage cimport (
    STORAGE_ALIAS, StorageImpl, note_births, storage_decref, storage_incref, storage_new,
)
from autograd_cy._C.tensor cimport Tensor, sizes_of, upcalls

cdef extern from *:
    """
    /* The Program that the thread captures into, borrowed. */
    #if defined(__GNUC__)
    static __thread PyObject *agc_program = NULL;
    #else
    static _Thread_local PyObject *agc_program = NULL;
    #endif
    static PyObject *agc_program_get(void) { return agc_program; }
    static void agc_program_set(PyObject *p) { agc_program = p; }

    /* The exception that a launch has set, as Cython sees one. */
    static int agc_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    void* program_here "agc_program_get"() noexcept nogil
    void set_program "agc_program_set"(void* p) noexcept nogil
    int pass_on "agc_pass_on"() except -1

cdef enum:
    NUMBER_BYTES = 16

captures = 0

# By the numbers of launch.pxd.
cdef tuple kind_names = (
    "OTHER", "ELEMENTWISE", "COPY", "FILL", "REDUCE", "SCAN", "PRODUCT", "GATHER", "SCATTER",
    "SORT", "NORM", "WINDOW", "RANDOM", "STEP", "CHECK")

Use = _namedtuple("Use", "storage access dtype count low high", module=__name__)
Use.__doc__ = """One operand of a launch, and its use.

`storage` is the address of its storage, or None for a number, `access` a sum of 1 (reads) and 2
(writes), or 4 for scratch, `dtype` None where there are bytes; the launch touches no bytes of the
storage but `low` to `high`.
"""


cdef StorageImpl* root_storage(StorageImpl* mem) noexcept:
    """The storage that has the memory."""
    while mem != NULL and mem.kind == STORAGE_ALIAS:
        mem = <StorageImpl*>mem.owner
    return mem


cdef class Program:
    """
    The launches of some operations, in their order.

    Notes
    -----
    It is for tests and for what is built on launches; there is no public function that makes one.
    """
    cdef Launch* launches
    cdef Py_ssize_t count, capacity
    cdef StorageImpl** born         # allocated while the thread captured
    cdef Py_ssize_t births, birth_capacity
    cdef set known                  # addresses of those whose values are constants
    cdef list written               # those whose version a run increments
    cdef bint running
    cdef object fault               # the text of an error that a check has raised, or None
    cdef dict watched               # by id: objects that it depends on, while the thread captures
    cdef list terms                 # functions that tell why a run would be wrong now, or None

    def __cinit__(self):
        self.known = set()
        self.written = []
        self.watched = {}
        self.terms = []

    def __dealloc__(self):
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.count):
            for k in range(self.launches[i].n):
                if self.launches[i].at[k].mem != NULL:
                    storage_decref(self.launches[i].at[k].mem)
            free(self.launches[i].plan)
        free(self.launches)
        for i in range(self.births):
            storage_decref(self.born[i])
        free(self.born)

    def __len__(self):
        return self.count

    def replay(self):
        """
        Run all launches again, on the memory that they name now.

        The version of each storage that is written and that others see is incremented once, as by
        an in-place operation.

        Raises
        ------
        IndexError, RuntimeError, ...
            What the operation itself raises for the values that are there now: an index out of
            range, an integer division by zero. The launches after it are not run.
        RuntimeError
            If another thread replays the program, if this one captures, or if what was read when
            the program was captured is something else now, such as the state of an optimizer.
        """
        self.reserve("replay")
        try:
            self.run()
        finally:
            self.running = False

    cdef int reserve(self, str what) except -1:
        """Let nobody else run or change the program until `running` is false again."""
        no_launch(what, "a program would run once, and not each time; capture what it does")
        if self.running:
            raise RuntimeError(f"{what}: another thread replays this program; capture one for "
                               "each thread")
        self.running = True
        return 0

    cdef int run(self) except -1:
        cdef Fault fault
        cdef Py_ssize_t failed
        for term in self.terms:
            reason = term()
            if reason is not None:
                raise RuntimeError(f"replay: {reason}; capture it anew")
        for address in self.written:
            (<StorageImpl*><size_t>address).version[0] += 1
        with nogil:
            failed = run_range(self.launches, 0, self.count, &fault)
        pass_on()                   # a product was interrupted, or had no memory
        if failed >= 0:
            raise error_of_fault(&fault)
        return 0

    def poison(self):
        """Fill every storage that some launch writes, and that none reads before, with 0xFF."""
        self.reserve("poison")
        try:
            return self.fill_written()
        finally:
            self.running = False

    cdef Py_ssize_t fill_written(self) except -1:
        cdef StorageImpl* mem
        cdef set first = set(), done = set()
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.count):
            for k in range(self.launches[i].n):
                if self.launches[i].at[k].access & READS:
                    first.add(<size_t>root_storage(self.launches[i].at[k].mem))
            for k in range(self.launches[i].n):
                mem = root_storage(self.launches[i].at[k].mem)
                if mem == NULL or <size_t>mem in first or <size_t>mem in done:
                    continue
                if self.launches[i].at[k].access & (WRITES | SCRATCH):
                    memset(mem.data, 0xFF, mem.nbytes)
                    done.add(<size_t>mem)
        return len(done)

    def move(self, Tensor old not None, Tensor new not None):
        """Let all launches use the memory of `new` where they used that of `old`."""
        self.reserve("move")
        try:
            self.put(old, new)
        finally:
            self.running = False

    cdef int put(self, Tensor old, Tensor new) except -1:
        cdef StorageImpl* a = old.mem
        cdef StorageImpl* b = new.mem
        cdef Py_ssize_t i
        cdef int k
        cdef char** field
        if b.nbytes < a.nbytes:
            raise ValueError(f"move: {b.nbytes} bytes can't stand for {a.nbytes}")
        for i in range(self.count):
            for k in range(self.launches[i].n):
                if self.launches[i].at[k].mem == a:
                    field = <char**>(<char*>self.launches[i].plan
                                     + self.launches[i].at[k].slot)
                    field[0] = b.data + (field[0] - a.data)
                    self.launches[i].at[k].mem = storage_incref(b)
                    storage_decref(a)
        return self.note_written()

    def replay_elsewhere(self, tensors=(), *, bint watched=False):
        """
        Run all launches on other memory with the same content, and copy it back.

        What they name holds 0xFF meanwhile, and so does what was allocated while they were
        captured: a launch that reads memory which is none of its operands gives other results.

        Parameters
        ----------
        tensors : iterable of Tensor
            What else holds 0xFF meanwhile, such as the inputs.
        watched : bool
            Let each launch see nothing but the bytes that its operands declare, and refuse those
            that write others.

        Raises
        ------
        RuntimeError
            If a launch writes memory which is none of its operands.
        """
        self.reserve("replay_elsewhere")
        try:
            self.replay_on_copies(tensors, watched)
        finally:
            self.running = False

    cdef int replay_on_copies(self, object tensors, bint watched) except -1:
        cdef Elsewhere other = Elsewhere.__new__(Elsewhere)
        other.fill(self, tensors)
        self.shift(other, 1)
        try:
            if watched:
                self.run_watched(other)
            else:
                self.run()
        finally:
            self.shift(other, -1)
            if other.back():
                raise RuntimeError("a launch writes memory that is none of its operands")
        return 0

    cdef int run_watched(self, Elsewhere other) except -1:
        """Run one launch after the other, with all that it doesn't declare out of sight."""
        cdef Fault fault
        cdef Py_ssize_t i, failed
        for i in range(self.count):
            other.hide(&self.launches[i])
            failed = run_range(self.launches, i, i + 1, &fault)
            pass_on()
            touched = other.show()
            if touched is not None:
                raise RuntimeError(
                    f"{self.launches[i].name.decode()} (launch {i}) writes byte {touched} of an "
                    "operand, which it doesn't declare")
            if failed >= 0:
                raise error_of_fault(&fault)
        return 0

    cdef int shift(self, Elsewhere other, int sign) except -1:
        """Let the plans have the addresses in the copies, or for -1 those of the operands again."""
        cdef StorageImpl* mem
        cdef Py_ssize_t i
        cdef int k
        cdef char** field
        for i in range(self.count):
            for k in range(self.launches[i].n):
                mem = root_storage(self.launches[i].at[k].mem)
                if mem != NULL and <size_t>mem in other.copies:
                    field = <char**>(<char*>self.launches[i].plan + self.launches[i].at[k].slot)
                    field[0] += sign * (other.data_of(mem) - mem.data)
        return 0

    def names(self):
        """Return the names of the launches."""
        return [self.launches[i].name.decode() for i in range(self.count)]

    def kinds(self):
        """Return what sort of work each launch is, such as "ELEMENTWISE" or "CHECK"."""
        return [kind_names[self.launches[i].kind] for i in range(self.count)]

    def operands(self, Py_ssize_t i):
        """Return what a launch does with each of its operands, as `Use`."""
        cdef Operand* one
        cdef int k
        if not 0 <= i < self.count:
            raise IndexError(f"there are {self.count} launches")
        uses = []
        for k in range(self.launches[i].n):
            one = &self.launches[i].at[k]
            uses.append(Use(
                <size_t>one.mem or None, one.access,
                None if one.dt == BYTES else dt_object(one.dt), one.count, one.low, one.high))
        return uses

    cdef int check(self) except -1:
        """Refuse memory that was filled by something that is no launch."""
        cdef set young = {<size_t>self.born[i] for i in range(self.births) if self.born[i].nbytes}
        young -= self.known
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.count):
            for k in range(self.launches[i].n):
                if (self.launches[i].at[k].access & READS
                        and <size_t>root_storage(self.launches[i].at[k].mem) in young):
                    raise RuntimeError(
                        f"can't be captured: {self.launches[i].name.decode()} (launch {i}) "
                        "reads memory that no launch has written; what filled it would not be "
                        "done again")
            for k in range(self.launches[i].n):     # what is read is none of them
                young.discard(<size_t>root_storage(self.launches[i].at[k].mem))
        return 0

    cdef int note_written(self) except -1:
        """
        Find the storages whose versions a run increments: what is written and was there before, or
        is held by somebody else now, as results and what a graph saved are.
        """
        cdef dict mentions = {}
        cdef set addresses = set()
        cdef StorageImpl* mem
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.births):
            mentions[<size_t>self.born[i]] = 1
        young = set(mentions)
        for i in range(self.count):
            for k in range(self.launches[i].n):
                mem = self.launches[i].at[k].mem
                if mem == NULL:
                    continue
                mentions[<size_t>mem] = mentions.get(<size_t>mem, 0) + 1
                if self.launches[i].at[k].access & WRITES:
                    addresses.add(<size_t>mem)
        self.written = [
            address for address in addresses if address not in young
            or (<StorageImpl*><size_t>address).refcount > <Py_ssize_t>mentions[address]]
        return 0


include "launch/elsewhere.pxi"


cdef Py_ssize_t run_range(Launch* launches, Py_ssize_t first, Py_ssize_t stop,
                          Fault* fault) noexcept nogil:
    """Run them; the number of the one that has found a fault, which ends it, or -1."""
    cdef Py_ssize_t i
    cdef Launch* work
    for i in range(first, stop):
        work = &launches[i]
        if work.run != NULL:
            work.run(work.plan)
        else:
            parallel_for(work.body, work.plan, work.tiles, team_size(work.work))
        if work.fault >= 0:
            fault[0] = (<Fault*>(<char*>work.plan + work.fault))[0]
            if fault.kind:
                return i
    return -1


# --- capturing ------------------------------------------------------------------------------

cdef void add_range(Launch* work, void* field, StorageImpl* mem, int access, int dt,
                    Py_ssize_t count, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    cdef Operand* one = &work.at[work.n]
    if work.n == work.capacity:
        work.failed = True
        return
    one.mem = mem
    one.slot = <char*>field - <char*>work.plan
    one.access = access
    one.dt = dt
    one.count = count
    one.low = low
    one.high = high
    work.n += 1


cdef void add_tensor(Launch* work, void* field, Tensor t, int access) noexcept:
    cdef Py_ssize_t low, high, step
    cdef int d
    if t.flags & F_WRAPPED:         # what a Python number became is a number again
        add_range(work, field, NULL, access, t.dt, 1, 0, DT_SIZE[t.dt])
        return
    low = high = t.ptr - t.mem.data
    if t.count:
        high += DT_SIZE[t.dt]
        for d in range(t.nd):
            step = (t.sizes[d] - 1) * t.strides[d] * DT_SIZE[t.dt]
            if step < 0:
                low += step
            else:
                high += step
    add_range(work, field, t.mem, access, t.dt, t.count, low, high)


cdef int add_launch(Launch* work) except -1:
    """Copy a launch, with its plan and its numbers."""
    cdef Program p
    cdef Launch* more
    cdef Launch* own
    cdef char* plan
    cdef char** field
    cdef Py_ssize_t numbers
    cdef int k
    if program_here() == NULL:
        return 0
    p = <Program>program_here()
    if work.failed:
        raise RuntimeError(f"{work.name.decode()}: a launch has at most {work.capacity} operands")
    if p.count == p.capacity:
        more = <Launch*>realloc(p.launches, (2 * p.capacity + 64) * sizeof(Launch))
        if more == NULL:
            raise MemoryError("no memory to capture launches")
        p.launches = more
        p.capacity = 2 * p.capacity + 64
    # One block: the plan, the numbers, the operands.
    numbers = round_up(work.size, NUMBER_BYTES)
    plan = <char*>malloc(numbers + work.n * (NUMBER_BYTES + <Py_ssize_t>sizeof(Operand)))
    if plan == NULL:
        raise MemoryError("no memory to capture a launch")
    memcpy(plan, work.plan, work.size)
    own = &p.launches[p.count]
    own[0] = work[0]
    own.plan = plan
    own.at = <Operand*>(plan + numbers + work.n * NUMBER_BYTES)
    memcpy(own.at, work.at, work.n * sizeof(Operand))
    for k in range(own.n):
        if own.at[k].mem != NULL:
            storage_incref(own.at[k].mem)
            continue
        field = <char**>(plan + own.at[k].slot)
        memcpy(plan + numbers + k * NUMBER_BYTES, field[0], NUMBER_BYTES)
        field[0] = plan + numbers + k * NUMBER_BYTES
    p.count += 1
    return 0


cdef bint captures_here() noexcept nogil:
    return program_here() != NULL


def is_capturing():
    """Return whether this thread captures: what it does will be done again with other values."""
    return capturing()


def _note_fault(str text not None):
    """A check has refused a value while the thread captures: the error must end the capture."""
    if captures_here():
        (<Program>program_here()).fault = text


def _note_term(object owner not None, watch not None):
    """
    Note that what this thread captures depends on an object of Python. `watch(owner, made)` is
    called once, when the capture ends, and what that returns before each replay: why a replay would
    not be what the program does now, or None. `made` has the memory that was allocated meanwhile,
    as `_memory_of` tells it.
    """
    if captures_here():
        (<Program>program_here()).watched[id(owner)] = (owner, watch)


def _memory_of(Tensor t not None):
    """The block of memory of a tensor, as a number, and where the tensor is in it."""
    return <size_t>root_storage(t.mem), <size_t>t.ptr


def _capture_here():
    """The Program that this thread captures into, or None."""
    return <object>program_here() if program_here() != NULL else None


def _go_on_capturing(program):
    """Let this thread add to the program of another one, which waits for it."""
    set_program(<void*>program if program is not None else NULL)


cdef int refuse_launch(str op, str reason) except -1:
    """Refuse, if the thread captures, an operation that can't be done again."""
    if captures_here():
        raise RuntimeError(f"{op}: can't be captured: {reason}")
    return 0


cdef int refuse_reading(Tensor t, str what) except -1:
    if captures_here():
        refuse_launch(what, (
            f"the values of a tensor of shape {list(sizes_of(t))} and dtype "
            f"{dt_object(t.dt).name} are read, and another run would not decide anew what depends "
            "on them; choose by where(), or read them before"))
    return 0


cdef void note_birth(StorageImpl* s) noexcept:
    cdef Program p
    cdef StorageImpl** more
    if program_here() == NULL:
        return
    p = <Program>program_here()
    if p.births == p.birth_capacity:
        more = <StorageImpl**>realloc(p.born, (2 * p.birth_capacity + 64) * sizeof(StorageImpl*))
        if more == NULL:
            return                  # the storage counts as an older one
        p.born = more
        p.birth_capacity = 2 * p.birth_capacity + 64
    p.born[p.births] = storage_incref(s)
    p.births += 1


cdef int note_constant(Tensor t) except -1:
    """The values of `t` were written by hand, and are the same at each run."""
    if captures_here():
        (<Program>program_here()).known.add(<size_t>root_storage(t.mem))
    return 0


def capture(operations):
    """
    Call a function without arguments, and capture what this thread launches meanwhile.

    Other threads may go on, or capture themselves.

    Returns
    -------
    Program

    Raises
    ------
    RuntimeError
        If the thread captures already, or if what it does can't be done again: values are read,
        memory is filled by something that is no launch, another device takes part.
    """
    global captures
    cdef Program program
    cdef Py_ssize_t i
    if captures_here():
        raise RuntimeError("this thread captures already")
    program = Program()
    set_program(<void*>program)
    captures += 1
    if captures == 1:
        upcalls.note_read = refuse_reading
        note_births(note_birth)
    try:
        operations()
    finally:
        set_program(NULL)
        captures -= 1
        if captures == 0:
            upcalls.note_read = NULL
            note_births(NULL)
    if program.fault is not None:
        raise RuntimeError(
            f"capture: can't be captured: an error was caught ({program.fault}), and another run "
            "would not decide anew what is done then")
    program.check()
    program.note_written()
    if program.watched:
        births = {<size_t>program.born[i] for i in range(program.births)}
        program.terms = [watch(owner, births) for owner, watch in program.watched.values()]
    program.watched.clear()
    return program
