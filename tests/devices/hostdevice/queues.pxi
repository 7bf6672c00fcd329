# Streams that run late, events, and the thread that runs them (part of hostdevice.pyx).
#
# The work of a stream waits until somebody waits for it, and then only what that needs runs: a
# missing event wait shows at once, because the memory is still poison. With `order("random", seed)`
# the streams run in any legal order, and at times before anybody waits; with `order("ahead")` all
# streams but the default ones run at once. All changes of queues are made with the GIL held, which
# is their lock; who waits gives it up.

ctypedef int (*run_fn)(Work) except -1

cdef union Number:
    long long i
    double d
    void* p

cdef class Queue:
    """Work that was given to a stream and has not run."""
    cdef object waiting              # deque of Work
    cdef unsigned long long given    # numbers of works, from 1
    cdef unsigned long long done
    cdef int index

    def __cinit__(self, int index):
        self.waiting = deque()
        self.index = index


cdef class Work:
    """One thing to do: `run(self)` does it, on operands that were snapshot when it was given."""
    cdef run_fn run
    cdef Queue needs                 # nothing before this queue has come to `number`, or None
    cdef unsigned long long number
    cdef object key                  # of a kernel
    cdef void* function
    cdef tuple operands              # tensors at real addresses, numbers that are objects
    cdef Number[24] n
    cdef Elementwise* ew
    cdef char[5][16] cells           # numbers of elementwise work
    cdef Block* block

    def __dealloc__(self):
        free(self.ew)


cdef class Mark:
    """An event: that a queue has come to a number."""
    cdef Queue queue
    cdef unsigned long long number


cdef list defaults = [Queue(i) for i in range(INDICES)]     # the default streams
cdef dict streams = {}                                       # those made by stream_new, by address
cdef list retired = []                                       # freed ones with work left
cdef list reapers = []                                       # of memory that several streams use
cdef list failures = [None] * INDICES                        # the first of each device, until told
cdef long events = 0                                         # made and not freed
cdef long waits = 0                                          # of a stream for an event, so far
cdef set for_release = set()                                 # the numbers of those before a release
cdef long latest = 0                                         # how many since another service
cdef int running = 0                                         # the device whose work runs
cdef long dropped_wait = -1                                  # the number of the one to leave out
cdef bint ahead = False                                      # all but default streams run at once
cdef object chance = None                                    # random.Random: any legal order
cdef object worker = None
cdef long worker_process = -1
cdef object asked = deque()                                  # (queue, number, lock) for the worker
cdef object bell = None


cdef Queue queue_of(int index, stream_t stream):
    if stream == NULL:
        return <Queue>defaults[index]
    q = streams.get(<size_t>stream)
    if q is None:
        raise RuntimeError("hostdevice: a stream that there is no more")
    if (<Queue>q).index != index:
        raise RuntimeError(f"hostdevice: a stream of device {(<Queue>q).index}, used for {index}")
    return <Queue>q


cdef list every_queue():
    retired[:] = [q for q in retired if (<Queue>q).waiting]
    return [*defaults, *streams.values(), *retired, *reapers]


cdef int free_apart(Queue q, long count, Work end) except -1:
    """
    Free memory when its stream has come here and others have done what the last `count` waits say.

    The stream itself goes on: only the memory waits, as with the allocators of accelerators.
    """
    cdef Queue apart = Queue.__new__(Queue, q.index)
    cdef Work w
    while count and q.waiting and (<Work>q.waiting[len(q.waiting) - 1]).run == run_nothing:
        apart.waiting.appendleft(q.waiting.pop())
        apart.given += 1
        q.given -= 1
        count -= 1
    w = Work.__new__(Work)
    w.run = run_nothing
    w.needs = q
    w.number = q.given
    apart.waiting.append(w)
    apart.waiting.append(end)
    apart.given += 2
    reapers.append(apart)
    return 0


cdef int submit(Queue q, Work w) except -1:
    q.waiting.append(w)
    q.given += 1
    if chance is not None and chance.random() < 0.25:
        hand_over(None, chance.randrange(4))
    elif ahead and q is not defaults[q.index]:
        hand_over(q, q.given)
    return 0


cdef int step_alone(Queue q) except -1:
    cdef Work w = <Work>q.waiting.popleft()
    w.run(w)
    q.done += 1
    return 0


cdef int step(Queue q) except -1:
    """Run what is first in a queue; an error is kept, and later work runs."""
    cdef Work w = <Work>q.waiting.popleft()
    global running
    running = q.index
    try:
        w.run(w)
        told = fault_error(&faults[running]) if faults[running].kind != FAULT_NONE else None
        faults[running].kind = FAULT_NONE
        if told is not None:
            raise told
    except BaseException as error:
        if failures[q.index] is None:
            failures[q.index] = error.with_traceback(None)
    q.done += 1
    if reapers:
        reap()
    return 0


cdef int reap() except -1:
    """Free what may go: as early as that is legal, so that a missing wait shows."""
    for q in list(reapers):
        while (<Queue>q).waiting and ready(<Queue>q):
            step_alone(<Queue>q)
        if not (<Queue>q).waiting:
            reapers.remove(q)
    return 0


cdef inline bint ready(Queue q) except -1:
    cdef Work w = <Work>q.waiting[0]
    return w.needs is None or w.needs.done >= w.number


cdef int reach(Queue q, unsigned long long number) except -1:
    """Run what must have run for a queue to come to a number, and no more."""
    cdef Work w
    while q.done < number:
        w = <Work>q.waiting[0]
        if w.needs is not None and w.needs.done < w.number:
            reach(w.needs, w.number)
        else:
            step(q)
    return 0


cdef int some_steps(Queue q, unsigned long long number) except -1:
    """Any legal order: until `q` comes to `number`, or so many steps without a queue."""
    cdef unsigned long long left = number
    while (q is None and left) or (q is not None and q.done < number):
        open_ = [p for p in every_queue() if (<Queue>p).waiting and ready(<Queue>p)]
        if not open_:
            break
        step(<Queue>chance.choice(open_))
        if q is None:
            left -= 1
    return 0


def _serve():
    """The loop of the worker."""
    while True:
        bell.acquire()
        q, number, lock = asked.popleft()
        try:
            if chance is not None:
                some_steps(q, number)
            elif q is not None:
                reach(q, number)
        finally:
            lock.release()


cdef int hand_over(Queue q, unsigned long long number) except -1:
    """Let the worker run until `q` has come to `number`, and wait for that."""
    global worker, worker_process, bell
    if q is not None and q.done >= number:
        return 0
    if worker is not None and _thread.get_ident() == worker.ident:
        return reach(q, number) if q is not None else 0    # a destructor in the worker
    if worker_process != getpid():
        asked.clear()
        bell = threading.Semaphore(0)
        worker = threading.Thread(target=_serve, name="hostdevice", daemon=True)
        worker_process = getpid()
        worker.start()
    lock = _thread.allocate_lock()
    lock.acquire()
    asked.append((q, number, lock))
    bell.release()
    lock.acquire()
    return 0


cdef int raise_failure(int index) except -1:
    error = failures[index]
    if error is not None:
        failures[index] = None
        raise error
    return 0


cdef int run_nothing(Work w) except -1:
    return 0


cdef int wait_for(Queue q, Queue other, unsigned long long number) except -1:
    """Work that is given to `q` from now on waits until `other` has come to a number."""
    global waits
    cdef Work w
    waits += 1
    if waits == dropped_wait:
        return 0
    w = Work.__new__(Work)
    w.run = run_nothing
    w.needs = other
    w.number = number
    return submit(q, w)
