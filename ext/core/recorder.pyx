# cython: language_level=3
"""The recorder of the profiler: events of all threads, and the sessions that want them.

Each thread writes into blocks of its own: structs of 64 bytes, no object and no lock. Names are
small numbers, given when a module is loaded. Times are ticks of a clock that is calibrated against
the system's. What arguments and frames looked like is kept once for all events that look the same.

A session gets the events between its start and its stop. The blocks go when no session needs them;
one with an event that is still open then stays, apart, until that is closed.

Next files: recorder/clock.pxi, recorder/arguments.pxi, recorder/stacks.pxi, recorder/memory.pxi,
recorder/columns.pxi, recorder/session.pxi, recorder/labels.pxi, recorder/watch.pxi,
recorder/functions.pxi.
"""
cimport cython
from cpython.dict cimport PyDict_GetItem
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stdint cimport (
    INT64_MAX, int16_t, int32_t, int64_t, int8_t, uint32_t, uint64_t, uint8_t, uintptr_t)
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset
from autograd_cy._C.parallel cimport team_place
from autograd_cy._C.storage cimport MAX_DEVICES, StorageImpl, live_bytes, watch_memory
from autograd_cy._C.tensor cimport (
    G_PROFILE, F_WRAPPED, Tensor, element_value, g_modes, itemsize)

from functools import wraps as _wraps
from itertools import zip_longest as _zip_longest

import numpy as _np

cdef extern from "Python.h":
    PyObject* PyErr_Occurred() noexcept
    unsigned long PyThread_get_thread_ident() noexcept
    bint PyUnicode_CheckExact(object) noexcept
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) noexcept
    void PyErr_Clear() noexcept
    void PyErr_Fetch(PyObject**, PyObject**, PyObject**) noexcept
    void PyErr_Restore(PyObject*, PyObject*, PyObject*) noexcept

cdef extern from *:
    ctypedef struct Block "ag_block":
        void (*close)(Event*) noexcept
        Block* next
        void* stream
        int64_t first          # number of its first event, within the thread
        int32_t used           # events that were begun, as far as another block follows
        int32_t held           # of a block apart: events that are open
        int32_t apart          # no session needs it
    Block* ag_block_of(Event*) noexcept
    int AG_BLOCK

cdef extern from *:
    """
    #include <pthread.h>
    #include <stdlib.h>
    #include <unistd.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #define AG_TLS __thread __attribute__((tls_model("initial-exec")))
    static long ag_thread_id(void) { return syscall(SYS_gettid); }
    #else
    #define AG_TLS __thread
    static long ag_thread_id(void) { return (long)(uintptr_t)pthread_self(); }
    #endif
    static AG_TLS void *ag_stream = NULL;

    /* What a thread has recorded outlives it; at its end it only says that it is gone. */
    static pthread_key_t ag_key;
    static void ag_thread_gone(void *stream) { if (stream) *(int *)stream = 1; }

    /* A forked child records nothing until it starts a session of its own. */
    static volatile int ag_forked = 0;
    static unsigned int *ag_modes = NULL;
    static void ag_in_child(void) {
        ag_forked = 1;
        ag_stream = NULL;
        if (ag_modes) *ag_modes &= ~1u;       /* G_PROFILE */
    }
    static int ag_prepare(unsigned int *modes) {
        ag_modes = modes;
        if (pthread_key_create(&ag_key, ag_thread_gone)) return -1;
        return pthread_atfork(NULL, NULL, ag_in_child);
    }
    static void *ag_new_block(void) {
        void *p = NULL;
        if (posix_memalign(&p, AG_BLOCK, AG_BLOCK)) return NULL;
    #ifdef MADV_POPULATE_WRITE      /* all its pages at once: half of what they cost one by one */
        madvise(p, AG_BLOCK, MADV_POPULATE_WRITE);
    #endif
        return p;
    }
    #define AG_PER_BLOCK ((int)(AG_BLOCK / sizeof(ag_event)) - 1)    /* the head takes one place */
    #define AG_UNLIKELY(x) __builtin_expect(!!(x), 0)
    """
    void* ag_stream
    int ag_forked
    int ag_prepare(unsigned int* modes) noexcept
    void pthread_setspecific(int key, void* value) noexcept
    int ag_key
    long ag_thread_id() noexcept
    void* ag_new_block() noexcept
    int AG_PER_BLOCK
    bint AG_UNLIKELY(bint) noexcept

cdef enum:
    DYNAMIC = 1 << 24          # numbers of names that go with the last session
    FIRST_BLOCKS = 4           # 4092 events
    SPARE_BLOCKS = 64
    MOST_MODULES = 32767

ctypedef struct Open:
    Event* event               # NULL: it was closed before what it has around it
    int64_t number

ctypedef struct Change:        # of memory
    int64_t time
    int64_t nbytes
    int64_t total
    uint64_t address
    int64_t event              # number of the innermost open event, or -1
    int32_t device             # code

ctypedef struct Stream:        # what one thread records
    int gone                   # first: the thread ended
    int16_t module             # number of the innermost module's path
    int* team                  # where the loops of this thread say how many threads they had
    Event* next                # place of the next event
    Event* limit
    Block* first
    Block* last
    int64_t count              # events that were ever begun
    Open* open
    int depth
    int open_capacity          # of `open`
    Change* changes
    int64_t n_changes
    int64_t change_capacity
    int64_t first_change       # number of changes[0]
    long native
    unsigned long ident
    int64_t serial             # names it in sessions: its address may be another's later
    Event* waiting             # begun, and not shown to the tool that watches
    Stream* other              # list of all

cdef Stream* g_streams = NULL
cdef int64_t g_serial = 0
cdef Block* g_spare = NULL
cdef int g_n_spare = 0
cdef int64_t g_count = 0       # events of all threads
cdef int64_t g_limit = 0
cdef int64_t g_dropped = 0
cdef bint g_watched = False    # a tool is told of events

details = 0


# --- names ----------------------------------------------------------------------------------

cdef list _names = []          # of modules, by number
cdef list _late_names = []     # of labels, custom Functions and nodes, by number less DYNAMIC
cdef dict _late = {}           # name -> number
cdef dict _types = {}          # class of nodes -> numbers of its name and of the outer event's
cdef dict _flops = {}          # number of a name -> function of the arguments' sizes

cdef str OUTER = "autograd::engine::evaluate_function: "


cdef int events(str names) except -1:
    cdef int first = <int>len(_names)
    _names.extend(names.split("\n"))
    return first


def _events(names):
    """Numbers for the names, one a line, of events of interpreted operators; the first one."""
    return events(names)


def _set_flops(int number, function):
    """`function(*sizes)` counts the operations of an event by the sizes of its arguments."""
    _flops[number] = function


def _elements(*shapes):
    """For such functions: how many elements tensors of these sizes have after broadcasting."""
    count = 1
    lists = [shape for shape in shapes if isinstance(shape, list)]      # not numbers
    for sizes in _zip_longest(*[reversed(shape) for shape in lists], fillvalue=1):
        count *= 0 if 0 in sizes else max(sizes)
    return count


def _windows(image, weight, stride, padding, dilation):
    """For such functions: operations of a convolution, of which the arguments are known."""
    cdef Py_ssize_t nd = len(weight) - 2, i
    count = 2 * _elements(weight) * (image[0] if len(image) > nd + 1 else 1)
    for i in range(nd):
        step, around, apart = [
            x if isinstance(x, (int, str)) else x[i if len(x) > 1 else 0]
            for x in (stride, padding, dilation)]
        places = image[len(image) - nd + i]
        if around != "same":
            padded = places + 2 * (0 if around == "valid" else around)
            places = (padded - apart * (weight[2 + i] - 1) - 1) // step + 1
        count *= places
    return count


cdef int number_of_name(str name) noexcept:
    cdef PyObject* number = PyDict_GetItem(_late, name)
    if number != NULL:
        return <int><object>number
    try:
        _late[name] = DYNAMIC + len(_late_names)
        _late_names.append(name)
        return DYNAMIC + <int>len(_late_names) - 1
    except MemoryError:
        return 0


cdef struct Known:
    PyObject* cls
    int inner
    int outer

cdef Known[256] g_known        # classes of nodes that were seen last; `_types` keeps them alive


cdef int type_name_id(object cls, int* outer) noexcept:
    cdef Known* known = &g_known[(<uintptr_t><PyObject*>cls >> 5) & 255]
    if known.cls != <PyObject*>cls:
        ids = _types.get(cls)
        if ids is None:
            name = cls.__name__
            ids = (number_of_name(name), number_of_name(OUTER + name))
            _types[cls] = ids
        known.inner, known.outer = ids
        known.cls = <PyObject*>cls
    outer[0] = known.outer
    return known.inner


# --- events ---------------------------------------------------------------------------------

include "recorder/clock.pxi"


cdef Stream* new_stream() noexcept:
    """The stream of this thread, which has none yet."""
    global g_streams, g_serial
    cdef Stream* s = <Stream*>malloc(sizeof(Stream))
    if s == NULL:
        return NULL
    memset(s, 0, sizeof(Stream))
    s.module = -1
    s.team = team_place()
    s.native = ag_thread_id()
    s.ident = PyThread_get_thread_ident()
    g_serial += 1
    s.serial = g_serial
    s.other = g_streams
    g_streams = s
    globals_set_stream(s)
    return s


cdef void globals_set_stream(Stream* s) noexcept:
    global ag_stream
    ag_stream = s
    pthread_setspecific(ag_key, s)


cdef inline Stream* this_stream() noexcept:
    cdef Stream* s = <Stream*>ag_stream
    return s if s != NULL else new_stream()


cdef bint add_block(Stream* s) noexcept:
    """Room for more events."""
    global g_spare, g_n_spare
    cdef Block* b = g_spare
    if b != NULL:
        g_spare = b.next
        g_n_spare -= 1
    else:
        b = <Block*>ag_new_block()
        if b == NULL:
            return False
    b.close = close
    b.next = NULL
    b.stream = s
    b.first = s.count
    b.used = b.held = b.apart = 0
    if s.last == NULL:
        s.first = b
    else:
        s.last.next = b
    s.last = b
    s.next = <Event*>b + 1
    s.limit = s.next + AG_PER_BLOCK
    return True


cdef bint more_depth(Stream* s) noexcept:
    cdef int capacity = 64 if s.open_capacity == 0 else 2 * s.open_capacity
    cdef Open* larger = <Open*>realloc(s.open, capacity * sizeof(Open))
    if larger == NULL:
        return False
    s.open = larger
    s.open_capacity = capacity
    return True


cdef Event* begin_event(int name, int scope) noexcept:
    global g_count, g_dropped
    cdef Stream* s = this_stream()
    cdef Event* e
    if g_count >= g_limit or s == NULL or (s.next == s.limit and not add_block(s)) or (
            s.depth == s.open_capacity and not more_depth(s)):
        g_dropped += 1
        return NULL
    e = s.next
    s.next += 1
    g_count += 1
    e.end = 0
    e.seq = -1
    e.saved = e.bytes_moved = 0
    e.name = name
    e.shape = e.stack = -1
    e.back = <int32_t>(s.count - s.open[s.depth - 1].number) if s.depth else 0
    e.module = s.module
    e.team = <int16_t>s.team[0]
    s.team[0] = 1
    e.scope = <uint8_t>scope
    e.flags = 0
    s.open[s.depth].event = e
    s.open[s.depth].number = s.count
    s.depth += 1
    s.count += 1
    if details & D_STACK and scope != S_BACKWARD:
        e.stack = current_stack()
    if AG_UNLIKELY(g_watched):
        watch_open(s, e)
    e.start = ticks()
    return e


cdef void close(Event* e) noexcept:
    cdef int64_t now = ticks()
    cdef Block* b = ag_block_of(e)
    cdef Stream* s = <Stream*>b.stream
    cdef int d = s.depth, before
    if e.end:
        return
    e.end = now
    if AG_UNLIKELY(g_watched):
        watch_close(s, e)
    if PyErr_Occurred() != NULL:
        e.flags |= E_FAILED
    if s == <Stream*>ag_stream:     # a label may be closed by another thread
        before = e.team
        e.team = <int16_t>s.team[0]
        s.team[0] = max(before, s.team[0])
    if s.open[d - 1].event == e:
        d -= 1
        while d and s.open[d - 1].event == NULL:
            d -= 1
        s.depth = d
    else:
        for d in range(d - 1, -1, -1):
            if s.open[d].event == e:
                s.open[d].event = NULL
                break
    if b.apart:
        b.held -= 1
        if b.held == 0:
            free(b)


include "recorder/arguments.pxi"
include "recorder/stacks.pxi"
include "recorder/memory.pxi"
include "recorder/columns.pxi"
include "recorder/session.pxi"
include "recorder/labels.pxi"
include "recorder/watch.pxi"
include "recorder/functions.pxi"

if ag_prepare(&g_modes) != 0:
    raise MemoryError("autograd_cy: the profiler can't watch threads and forks")
