# cython: language_level=3
# build: plain hot
"""Large operations of few ranks, by messages between each two of them.

MPI's non-blocking collectives of large tensors take a multiple of the time of the blocking ones in
some MPIs, and hold a copy of the whole tensor meanwhile. With two or three ranks, each of which
sends to each, no other order of messages moves less. Sums go by pieces, so that what arrives is
still in the cache when it is added, and scratch memory stays small.

Each operation is an object with ``Test()``, as a request of mpi4py. What is sent as it is comes as
mpi4py takes it: memory, count and datatype. Messages go through the control communicator of the
group, where no other messages between two ranks are, with tags of the call. Unlike an operation of
MPI, one in pieces goes on only while this package waits or is asked: so every wait lets all of them
go on, as another rank may wait for any of them.
"""
from autograd_cy._C.dtypes cimport DT_U8
from autograd_cy._C.rank_memory cimport look_at, memory_at, part_of
from autograd_cy._C.tensor cimport Tensor, itemsize, tensor_empty

__all__ = [
    "OF_HANDLER", "Call", "Exchange", "abandoned", "all_reduce", "all_to_all", "broadcast",
    "exchanges", "gather", "interrupted", "progress", "reduce", "reduce_scatter", "scatter",
    "set_limits", "set_mpi", "test",
]

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept

#: The error of a handler of a signal.
OF_HANDLER = (
    "distributed: the handler of a signal waits for the operation that it has interrupted; leave a "
    "note in the handler, and wait after it")

cdef list _exchanges = []
cdef list _abandoned = []

#: Operations that are under way.
exchanges = _exchanges
#: What an exception has ended, with memory that MPI may still use.
abandoned = _abandoned

cdef enum:
    PART = 1 << 20      # bytes of the part of a piece that one rank adds
    DEPTH = 4           # pieces that are under way at once
    LONG = 1 << 22      # bytes from which a message has a first part of its own
    HEAD = 1 << 14      # bytes of that
    STEPS = 2           # of a piece, which have a tag each
    CALLS = 8192        # after which tags repeat: MPI has 32767

cdef Py_ssize_t most = 1 << 30         # elements of a message: not every MPI takes 2**31
cdef list scratch = []                 # memory that no operation uses
cdef object all_complete = None        # mpi4py.MPI.Request.Testall
cdef tuple _errors = (MemoryError,)    # of an exchange, not of those who let it go on


def set_mpi(mpi):
    """
    Note the module of MPI.

    Parameters
    ----------
    mpi : module
        ``mpi4py.MPI``.
    """
    global all_complete, _errors
    all_complete = mpi.Request.Testall
    _errors = (mpi.Exception, MemoryError)


def set_limits(Py_ssize_t elements):
    """
    Choose the most elements of a message, for tests.

    Parameters
    ----------
    elements : int

    Returns
    -------
    int
        What it was.
    """
    global most
    before, most = most, elements
    return before


def interrupted(error):
    """
    Return the error of an operation that an exception has left half done.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    RuntimeError
    """
    return RuntimeError(
        f"distributed: {type(error).__name__} ({error}) has interrupted this operation, which "
        "can't go on; end the job")


cdef class Call:
    """
    One call that needs other ranks: which, of whom, and for how long it may wait.

    Parameters
    ----------
    text : str or callable
        Name and operands, for messages; or a function that returns them, which is called when a
        message needs them.
    group : int
        Number of the group.
    number : int
        Number of the call in its group, from 1; 0 for a message between two ranks.
    peers : sequence of int
        The ranks in the world that take part.
    timeout : float
        Seconds.
    """

    cdef object words
    cdef readonly object group, number, peers
    cdef public object timeout

    def __init__(self, text, group, number, peers, timeout):
        self.words = text
        self.group = group
        self.number = number
        self.peers = peers
        self.timeout = timeout

    @property
    def text(self):
        """Return name and operands."""
        return self.words if isinstance(self.words, str) else self.words()

    def __str__(self):
        if self.number == 0:
            return f"{self.text} (group {self.group})"
        return f"{self.text} (call {self.number} of group {self.group})"


# --- operations that are under way ----------------------------------------------------------


cdef class Messages:
    """
    Several messages, as one request.

    Parameters
    ----------
    requests : list of mpi4py.MPI.Request
    """

    cdef list requests

    def __init__(self, list requests not None):
        self.requests = requests

    def Test(self):
        """Return whether all are complete."""
        return all_complete(self.requests)


cdef class Piece:
    """A part of an operation: messages, and what follows them."""

    cdef list requests      # of the step
    cdef int step

    cdef bint begin(self) except -1:
        """Send and expect the first messages; False if there are none."""
        return False

    cdef bint follow(self) except -1:
        """Go on after the messages of a step; False at the end."""
        return False


cdef class Exchange:
    """
    Pieces of one operation, of which some are under way at once.

    Two threads may ask one operation: one of them lets it go on. After an error within a piece
    nobody knows what has been sent: the operation never becomes complete, and each test of it is
    an error.

    Attributes
    ----------
    is_moving : bool
        A message of another rank has come.
    """

    cdef object send, receive          # of the control communicator of the group
    cdef int rank, size, tag
    cdef list under_way                # pieces
    cdef bint all_begun, done, inside
    cdef unsigned long thread          # of the one that is inside
    cdef object error
    cdef readonly bint is_moving

    cdef Piece next_piece(self):
        """The next piece; None if there is no other one."""
        return None

    cdef int prepare(self, group, number) except -1:
        control = group._control
        self.send, self.receive = control.Isend, control.Irecv
        self.rank, self.size = group.rank(), group.size()
        self.tag = STEPS * (number % CALLS)
        self.under_way = []
        return 0

    cdef int start(self) except -1:
        try:
            self.fill()
        except BaseException:
            _abandoned.append(self)
            raise
        _exchanges.append(self)
        return 0

    cdef int fill(self) except -1:
        """Begin pieces, as far as they may be under way."""
        cdef Piece piece
        while not self.all_begun and len(self.under_way) < DEPTH:
            piece = self.next_piece()
            if piece is None:
                self.all_begun = True
            elif piece.begin():
                self.under_way.append(piece)
        return 0

    cdef bint go_on(self) except -1:
        """Let the pieces under way go on; tells whether all are complete."""
        cdef Py_ssize_t place = 0
        cdef int before = STEPS
        cdef Piece piece
        while place < len(self.under_way):
            piece = <Piece>self.under_way[place]
            # Messages of a step have one tag: all ranks must send and expect them in one order.
            if piece.step >= before or not all_complete(piece.requests):
                before = min(before, piece.step)
                place += 1
                continue
            self.is_moving = True
            if piece.follow():
                piece.step += 1
                before = piece.step
                place += 1
                continue
            del self.under_way[place]
            self.fill()
        return not self.under_way

    cdef bint ask(self) except -1:
        """
        Let the pieces under way go on, as far as no other thread does so.

        False where the handler of a signal has interrupted just that.
        """
        if self.done or self.error is not None:
            return True
        if self.inside:
            return self.thread != PyThread_get_thread_ident()
        self.inside, self.thread = True, PyThread_get_thread_ident()
        try:
            if self.go_on():
                self.done = True
                self.leave()
        except BaseException as error:
            self.error = error
            self.leave()
            _abandoned.append(self)    # MPI may still use its memory
            raise
        finally:
            self.inside = False
        return True

    cdef int leave(self) except -1:
        if self in _exchanges:
            _exchanges.remove(self)
        return 0

    cdef int let_go_on(self) except -1:
        """Go on while another operation is waited for, which has other errors."""
        try:
            self.ask()
        except _errors:
            pass                       # Test has it
        return 0

    def Test(self):
        """
        Let the pieces under way go on, and return whether all are complete.

        Returns
        -------
        bool

        Raises
        ------
        RuntimeError
            If an exception has interrupted it, or in the handler of a signal that does so.
        """
        if not self.ask():
            raise RuntimeError(OF_HANDLER)
        if self.error is not None:
            if isinstance(self.error, _errors[0]):
                raise self.error
            raise interrupted(self.error) from self.error
        return self.done


def progress():
    """Let all operations go on: another rank may wait for any of them."""
    cdef Exchange each
    for each in tuple(_exchanges):
        each.let_go_on()


def test(request, int times=1):
    """
    Ask whether an operation is complete, and let all others go on.

    Parameters
    ----------
    request : Exchange or mpi4py.MPI.Request
        Or another object with ``Test()``.
    times : int, default 1
        Ask so many times, as long as it isn't complete.

    Returns
    -------
    bool
    """
    cdef Exchange each
    ask = request.Test
    while times > 0:
        if _exchanges and (len(_exchanges) > 1 or _exchanges[0] is not request):
            for each in tuple(_exchanges):
                if each is not request:
                    each.let_go_on()
        if ask():
            return True
        times -= 1
    return False


# --- reductions -----------------------------------------------------------------------------


cdef Tensor take_scratch(Py_ssize_t nbytes):
    """Memory of at least some bytes, from an operation before if there is some."""
    cdef Tensor memory
    if scratch:
        memory = scratch.pop()
        if memory.count >= nbytes:
            return memory
    return tensor_empty(DT_U8, 1, &nbytes)


cdef class Reduction(Exchange):
    """An operation that adds, in one direction or in both."""

    cdef Tensor memory                 # which is written
    cdef Tensor source                 # whose parts are sent, if that is another one
    cdef object op
    cdef Py_ssize_t place, count, length    # next element, all, and those of a piece
    cdef int root                      # that gets all, or -1

    cdef int prepare_pieces(self, Tensor memory, object op, int ranks) except -1:
        look_at(memory)
        self.memory, self.op = memory, op
        self.count = memory.count
        self.length = ranks * max(1, <Py_ssize_t>PART // itemsize(memory))
        return 0

    cdef Piece next_piece(self):
        cdef Py_ssize_t start = self.place, stop
        cdef Addition piece
        if start >= self.count:
            return None
        stop = self.place = min(start + self.length, self.count)
        piece = Addition.__new__(Addition)
        piece.whole = self
        self.divide(piece, start, stop)
        return piece

    cdef int divide(self, Addition piece, Py_ssize_t start, Py_ssize_t stop) except -1:
        """Say which elements each rank adds."""
        return 0


cdef class Addition(Piece):
    """Elements that ranks add: each its own part of them, or one all of them."""

    cdef Reduction whole
    cdef list own                      # the part that this rank adds; None if there is none
    cdef list parts                    # by rank, what is sent to it
    cdef bint gives                    # the sums to the others, and gets theirs
    cdef list received
    cdef Tensor scratch

    cdef bint begin(self) except -1:
        cdef Reduction whole = self.whole
        cdef Py_ssize_t nbytes
        cdef size_t address
        cdef int peer
        cdef list part
        self.requests = []
        self.received = []
        try:
            if self.own is not None and self.own[1]:
                nbytes = len(self.own[0])
                self.scratch = take_scratch(max(<Py_ssize_t>PART, nbytes) * (whole.size - 1))
                address = <size_t>self.scratch.ptr
                for peer in range(whole.size):
                    if peer != whole.rank:
                        part = [memory_at(address, nbytes), self.own[1], self.own[2]]
                        address += <size_t>nbytes
                        self.received.append(part)
                        self.requests.append(whole.receive(part, peer, whole.tag))
            if self.parts is not None:
                for peer in range(whole.size):
                    part = <list>self.parts[peer]
                    if peer != whole.rank and part is not None and part[1]:
                        self.requests.append(whole.send(part, peer, whole.tag))
        except BaseException:
            _abandoned.append(self)    # MPI may still use its memory
            raise
        return len(self.requests) > 0

    cdef bint follow(self) except -1:
        cdef Reduction whole = self.whole
        cdef int peer
        cdef list part
        if self.step == 1:
            return False
        if self.received:
            add = whole.op.Reduce_local
            for part in self.received:
                add(part, self.own)
            if len(scratch) < 2 * DEPTH:
                scratch.append(self.scratch)
            self.scratch = None
        if not self.gives:
            return False
        self.requests = []
        for peer in range(whole.size):
            part = <list>self.parts[peer]
            if peer != whole.rank and part[1]:
                self.requests.append(whole.receive(part, peer, whole.tag + 1))
        if self.own[1]:
            for peer in range(whole.size):
                if peer != whole.rank:
                    self.requests.append(whole.send(self.own, peer, whole.tag + 1))
        return True


cdef class AllReduce(Reduction):

    cdef int divide(self, Addition piece, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t begin = start, end
        cdef int peer
        piece.parts = []
        for peer in range(self.size):
            end = start + (stop - start) * (peer + 1) // self.size
            piece.parts.append(part_of(self.memory, begin, end))
            begin = end
        piece.own = <list>piece.parts[self.rank]
        piece.gives = True
        return 0


cdef class Reduce(Reduction):

    cdef int divide(self, Addition piece, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef list part = part_of(self.memory, start, stop)
        if self.rank == self.root:
            piece.own = part
        else:
            piece.parts = [None] * self.size
            piece.parts[self.root] = part
        return 0


cdef class ReduceScatter(Reduction):

    cdef int divide(self, Addition piece, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t begin
        cdef int peer
        piece.own = part_of(self.memory, start, stop)
        piece.parts = []
        for peer in range(self.size):
            begin = peer * self.count
            piece.parts.append(part_of(self.source, begin + start, begin + stop))
        return 0


def all_reduce(group, Tensor memory not None, op, number):
    """
    Reduce memory of all ranks: each reduces a part of each piece, and sends it to the others.

    Parameters
    ----------
    group : ProcessGroup
    memory : Tensor
        In C order, on the host.
    op : mpi4py.MPI.Op
    number : int
        Of the call.

    Returns
    -------
    Exchange
    """
    cdef AllReduce exchange = AllReduce.__new__(AllReduce)
    exchange.prepare(group, number)
    exchange.prepare_pieces(memory, op, exchange.size)
    exchange.start()
    return exchange


def reduce(group, Tensor memory not None, op, int root, number):
    """
    Reduce memory of all ranks into that of the root, which adds what the others send.

    Parameters
    ----------
    group : ProcessGroup
    memory : Tensor
        In C order, on the host; only the root's is written.
    op : mpi4py.MPI.Op
    root : int
        In the group.
    number : int
        Of the call.

    Returns
    -------
    Exchange
    """
    cdef Reduce exchange = Reduce.__new__(Reduce)
    exchange.prepare(group, number)
    exchange.prepare_pieces(memory, op, 1)
    exchange.root = root
    exchange.start()
    return exchange


def reduce_scatter(group, Tensor source not None, Tensor memory not None, op, number):
    """
    Reduce parts of the ranks' memory, each into that of one rank.

    Parameters
    ----------
    group : ProcessGroup
    source : Tensor
        A part for each rank, in C order.
    memory : Tensor
        As many elements as a part, in C order.
    op : mpi4py.MPI.Op
    number : int
        Of the call.

    Returns
    -------
    Exchange
    """
    cdef ReduceScatter exchange = ReduceScatter.__new__(ReduceScatter)
    cdef Py_ssize_t start
    exchange.prepare(group, number)
    exchange.prepare_pieces(memory, op, 1)
    look_at(source)
    exchange.source = source
    start = exchange.rank * memory.count
    copy(part_of(memory, 0, memory.count), part_of(source, start, start + memory.count))
    exchange.start()
    return exchange


# --- messages as they are -------------------------------------------------------------------


cdef class Posted(Piece):
    """Messages that are under way."""

    cdef bint begin(self) except -1:
        return True


cdef class LongMessages(Exchange):
    """Messages with first parts, which say that the other ranks are there, and data move."""

    cdef list steps

    cdef Piece next_piece(self):
        cdef Posted piece
        if not self.steps:
            return None
        piece = Posted.__new__(Posted)
        piece.requests = []
        for post, peer, part in self.steps.pop(0):
            piece.requests.append(post(part, peer, self.tag))
        return piece


cdef object exchanged(group, list sent, list received, number):
    """
    Send buffers to other ranks, and receive from them; both by rank, None where nothing is.

    Raises
    ------
    mpi4py.MPI.Exception
    """
    cdef LongMessages exchange
    cdef Py_ssize_t count, nbytes, element, head, start, stop
    cdef int peer, rank = group.rank(), tag = STEPS * (number % CALLS)
    cdef list part, heads = [], rests = [], requests = []
    control = group._control
    for post, parts in ((control.Irecv, received), (control.Isend, sent)):
        if parts is None:
            continue
        for peer in range(len(<list>parts)):
            part = <list>(<list>parts)[peer]
            if peer == rank or part is None or not part[1]:
                continue
            memory, count, datatype = part
            nbytes = len(memory)
            if nbytes < LONG:
                heads.append((post, peer, part))
                continue
            element = nbytes // count
            head = HEAD // element
            for start in range(head, count, most):
                stop = min(start + most, count)
                rests.append((post, peer, [
                    memory[start * element : stop * element], stop - start, datatype]))
            heads.append((post, peer, [memory[: head * element], head, datatype]))
    if rests:
        exchange = LongMessages.__new__(LongMessages)
        exchange.prepare(group, number)
        exchange.steps = [heads, rests]
        exchange.start()
        return exchange
    for post, peer, part in heads:
        requests.append(post(part, peer, tag))
    return requests[0] if len(requests) == 1 else Messages(requests)


cdef int copy(list into, list source) except -1:
    """Copy what a rank sends to itself."""
    if into[1] and into[0].address != source[0].address:
        into[0][:] = source[0]
    return 0


def broadcast(group, list memory not None, int root, number):
    """
    Send memory of the root to all others.

    Parameters
    ----------
    group : ProcessGroup
    memory : list
        Memory, count and datatype.
    root : int
        In the group.
    number : int
        Of the call.

    Returns
    -------
    Exchange, Messages or mpi4py.MPI.Request
    """
    cdef list parts
    if group.rank() == root:
        return exchanged(group, [memory] * group.size(), None, number)
    parts = [None] * group.size()
    parts[root] = memory
    return exchanged(group, None, parts, number)


def gather(group, list source not None, memories, int root, number):
    """
    Send memory of all ranks to the root, which has some for each.

    Parameters
    ----------
    group : ProcessGroup
    source : list
        Memory, count and datatype.
    memories : sequence of list
        One for each rank, on the root.
    root : int
        In the group.
    number : int
        Of the call.

    Returns
    -------
    Exchange, Messages or mpi4py.MPI.Request
    """
    cdef list parts
    if group.rank() == root:
        messages = exchanged(group, None, list(memories), number)
        copy(memories[root], source)
        return messages
    parts = [None] * group.size()
    parts[root] = source
    return exchanged(group, parts, None, number)


def scatter(group, sources, list memory not None, int root, number):
    """
    Send each rank one part of the root's memory.

    Parameters
    ----------
    group : ProcessGroup
    sources : sequence of list
        Memory, count and datatype for each rank, on the root.
    memory : list
        Where the part is received.
    root : int
        In the group.
    number : int
        Of the call.

    Returns
    -------
    Exchange, Messages or mpi4py.MPI.Request
    """
    cdef list parts
    if group.rank() == root:
        messages = exchanged(group, list(sources), None, number)
        copy(memory, sources[root])
        return messages
    parts = [None] * group.size()
    parts[root] = memory
    return exchanged(group, None, parts, number)


def all_to_all(group, sources, memories, number):
    """
    Send one part to each rank, and receive one from each.

    Parameters
    ----------
    group : ProcessGroup
    sources, memories : sequence of list
        Memory, count and datatype for each rank.
    number : int
        Of the call.

    Returns
    -------
    Exchange, Messages or mpi4py.MPI.Request
    """
    rank = group.rank()
    messages = exchanged(group, list(sources), list(memories), number)
    copy(memories[rank], sources[rank])
    return messages
