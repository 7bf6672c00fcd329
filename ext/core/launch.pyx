# cython: language_level=3
# build: plain hot
"""Keeping launches, and running them again.

See launch.pxd for what a launch is. While launches are kept, no storage that is allocated or used
is given back, so that an address stands for one value; what was allocated meanwhile and is read
before any launch has written it was filled by other means, which a second run would not repeat:
that is refused.
"""
from cpython.pythread cimport PyThread_get_thread_ident
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset
from autograd_cy._C.dtypes cimport dt_object
from autograd_cy._C.parallel cimport parallel_for, team_size
from autograd_cy._C.sizes cimport round_up
from autograd_cy._C.storage cimport (
    StorageImpl, note_births, storage_decref, storage_incref, storage_new,
)
from autograd_cy._C.tensor cimport Tensor, sizes_of, upcalls

cdef extern from *:
    """
    /* The exception that a launch has set, as Cython sees one. */
    static int agc_pass_on(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    int pass_on "agc_pass_on"() except -1

cdef enum:
    NUMBER_BYTES = 16

keeping = False

cdef object _keeper = None          # the Program that is being kept, or None
cdef unsigned long _thread = 0


cdef class Program:
    """
    The launches of some operations, in their order.

    Notes
    -----
    It is for tests and for what is built on launches; there is no public function that makes one.
    """
    cdef Launch* launches
    cdef Py_ssize_t count, room
    cdef StorageImpl** born         # allocated while launches were kept
    cdef Py_ssize_t births, birth_room
    cdef set known                  # addresses of those whose values are constants

    def __cinit__(self):
        self.known = set()

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

    def run(self):
        """Run all launches again, on the memory that they name now."""
        cdef Py_ssize_t i
        cdef Launch* work
        with nogil:
            for i in range(self.count):
                work = &self.launches[i]
                if work.run != NULL:
                    work.run(work.plan)
                else:
                    parallel_for(work.body, work.plan, work.tiles, team_size(work.work))
        pass_on()                   # a product was interrupted, or had no memory

    def poison(self):
        """Fill every storage that some launch writes, and that none reads before, with 0xFF."""
        cdef StorageImpl* mem
        cdef set first = set(), done = set()
        cdef Py_ssize_t i
        cdef int k
        cdef size_t address
        for i in range(self.count):
            for k in range(self.launches[i].n):
                address = <size_t>self.launches[i].at[k].mem
                if self.launches[i].at[k].access & READS:
                    first.add(address)
            for k in range(self.launches[i].n):
                mem = self.launches[i].at[k].mem
                if mem == NULL or <size_t>mem in first or <size_t>mem in done:
                    continue        # the others are written
                memset(mem.data, 0xFF, mem.nbytes)
                done.add(<size_t>mem)
        return len(done)

    def move(self, Tensor old not None, Tensor new not None):
        """Let all launches use the memory of `new` where they used that of `old`."""
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

    def run_elsewhere(self, tensors=()):
        """
        Run all launches on other memory with the same content, and copy it back.

        What they name holds 0xFF meanwhile, and so does what was allocated while they were kept:
        a launch that reads memory which is none of its operands gives other results.

        Parameters
        ----------
        tensors : iterable of Tensor
            What else holds 0xFF meanwhile, such as the inputs.

        Raises
        ------
        RuntimeError
            If a launch writes memory which is none of its operands.
        """
        cdef StorageImpl* mem
        cdef StorageImpl* copy
        cdef size_t address, other
        cdef dict moved = {}
        cdef Py_ssize_t i
        cdef int k
        cdef bint written = False
        for i in range(self.count):
            for k in range(self.launches[i].n):
                moved[<size_t>self.launches[i].at[k].mem] = 0
        for i in range(self.births):
            moved[<size_t>self.born[i]] = 0
        for t in tensors:
            moved[<size_t>(<Tensor?>t).mem] = 0
        for address in list(moved):
            mem = <StorageImpl*>address
            if mem == NULL or mem.data == NULL:
                del moved[address]
                continue
            copy = storage_new(mem.nbytes)
            memcpy(copy.data, mem.data, mem.nbytes)
            memset(mem.data, 0xFF, mem.nbytes)
            moved[address] = <size_t>copy
        self.shift(moved, 1)
        try:
            self.run()
        finally:
            self.shift(moved, -1)
            for address, other in moved.items():
                mem, copy = <StorageImpl*>address, <StorageImpl*>other
                for i in range(mem.nbytes):
                    written |= mem.data[i] != <char>-1
                memcpy(mem.data, copy.data, mem.nbytes)
                storage_decref(copy)
        if written:
            raise RuntimeError("a launch writes memory that is none of its operands")

    cdef int shift(self, dict moved, int sign) except -1:
        """Let the plans have the addresses in the copies, or for -1 those of the operands again."""
        cdef StorageImpl* mem
        cdef size_t other
        cdef Py_ssize_t i
        cdef int k
        cdef char** field
        for i in range(self.count):
            for k in range(self.launches[i].n):
                mem = self.launches[i].at[k].mem
                if mem != NULL and <size_t>mem in moved:
                    other = moved[<size_t>mem]
                    field = <char**>(<char*>self.launches[i].plan + self.launches[i].at[k].slot)
                    field[0] += sign * ((<StorageImpl*>other).data - mem.data)
        return 0

    def names(self):
        """What the launches are called."""
        return [self.launches[i].name.decode() for i in range(self.count)]

    def operands(self, Py_ssize_t i):
        """(address of the storage or None for a number, access) of each operand of a launch."""
        if not 0 <= i < self.count:
            raise IndexError(f"there are {self.count} launches")
        return [(<size_t>self.launches[i].at[k].mem or None,
                 self.launches[i].at[k].access) for k in range(self.launches[i].n)]

    cdef int check(self) except -1:
        """Refuse memory that was filled by something that is no launch."""
        cdef set young = {<size_t>self.born[i] for i in range(self.births) if self.born[i].nbytes}
        young -= self.known
        cdef Py_ssize_t i
        cdef int k
        for i in range(self.count):
            for k in range(self.launches[i].n):
                if (self.launches[i].at[k].access & READS
                        and <size_t>self.launches[i].at[k].mem in young):
                    raise RuntimeError(
                        f"launches can't be kept: {self.launches[i].name.decode()} (launch {i}) "
                        "reads memory that no launch has written; what filled it would not be "
                        "done again")
            for k in range(self.launches[i].n):     # what is read is none of them
                young.discard(<size_t>self.launches[i].at[k].mem)
        return 0


cdef int keep(Launch* work) except -1:
    """Copy a launch, with its plan and its numbers."""
    cdef Program p
    cdef Launch* more
    cdef Launch* own
    cdef char* plan
    cdef char** field
    cdef Py_ssize_t numbers
    cdef int k
    if PyThread_get_thread_ident() != _thread:
        return 0
    p = <Program>_keeper
    if work.failed:
        raise RuntimeError(f"{work.name.decode()}: a launch has at most {work.room} operands")
    if p.count == p.room:
        more = <Launch*>realloc(p.launches, (2 * p.room + 64) * sizeof(Launch))
        if more == NULL:
            raise MemoryError("no memory to keep launches")
        p.launches = more
        p.room = 2 * p.room + 64
    # One block: the plan, the numbers, the operands.
    numbers = round_up(work.size, NUMBER_BYTES)
    plan = <char*>malloc(numbers + work.n * (NUMBER_BYTES + <Py_ssize_t>sizeof(Operand)))
    if plan == NULL:
        raise MemoryError("no memory to keep a launch")
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


cdef bint kept_here() noexcept:
    return keeping and PyThread_get_thread_ident() == _thread


def launches_are_kept():
    """Whether what this thread does is to be done again, whatever the values are."""
    return kept_here()


cdef int no_launch(str op, str reason) except -1:
    """What an operation does can't be done again: an error if launches are kept."""
    if kept_here():
        raise RuntimeError(f"{op}: launches can't be kept: {reason}")
    return 0


cdef int refuse_reading(Tensor t, str what) except -1:
    if kept_here():
        raise RuntimeError(
            f"{what}: launches can't be kept: the values of a tensor of shape {list(sizes_of(t))} "
            f"and dtype {dt_object(t.dt).name} are read, and another run would not decide anew "
            "what depends on them; choose by where(), or read them before")
    return 0

cdef void note_birth(StorageImpl* s) noexcept:
    cdef Program p
    cdef StorageImpl** more
    if PyThread_get_thread_ident() != _thread:
        return
    p = <Program>_keeper
    if p.births == p.birth_room:
        more = <StorageImpl**>realloc(p.born, (2 * p.birth_room + 64) * sizeof(StorageImpl*))
        if more == NULL:
            return                  # the storage counts as an older one
        p.born = more
        p.birth_room = 2 * p.birth_room + 64
    p.born[p.births] = storage_incref(s)
    p.births += 1


cdef int note_constant(Tensor t) except -1:
    """The values of `t` were written by hand, and are the same at each run."""
    if kept_here():
        (<Program>_keeper).known.add(<size_t>t.mem)
    return 0


def launches_of(operations):
    """
    Call a function without arguments, and keep what this thread launches meanwhile.

    Returns
    -------
    Program

    Raises
    ------
    RuntimeError
        If launches are being kept already, or if one reads what was written by something that is
        no launch, such as a random number generator.
    """
    global keeping, _keeper, _thread
    cdef Program program
    if keeping:
        raise RuntimeError("launches are being kept already")
    program = _keeper = Program()
    _thread = PyThread_get_thread_ident()
    keeping = True
    upcalls.note_read = refuse_reading
    note_births(note_birth)
    try:
        operations()
    finally:
        keeping = False
        upcalls.note_read = NULL
        note_births(NULL)
        _keeper = None
    program.check()
    return program
