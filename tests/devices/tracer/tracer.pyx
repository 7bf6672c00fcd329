# cython: language_level=3, boundscheck=False
"""
A device that does at once what it is asked, in memory of the host, and notes each service.

What it is asked can be read (`traced`), made to fail (`fail`) and answered otherwise (`set_busy`,
`set_count`). It has the services, and one kernel, that notes how its result lies.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from autograd_cy._C.devices cimport LAYS_CHANNELS_LAST, Elementwise, Services, stream_t
from autograd_cy._C.dtypes cimport DT_F32, DT_SIZE
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor

from autograd_cy._C import devices as _devices

cdef list trace = []         # (service, index, stream, what else it was given)
cdef dict faults = {}        # what a service raises instead of its work
cdef int spared = 0          # calls of it that don't
cdef int devices = 2
cdef bint busy = False       # what queries answer
cdef size_t made = 0         # streams and events are numbers
cdef dict alive = dict.fromkeys(("blocks", "streams", "events", "pins"), 0)


def state():
    """Count blocks, streams, events and pinned blocks that were not given back."""
    return dict(alive)


def traced():
    """Take what was asked since the last call of this."""
    found = list(trace)
    trace.clear()
    return found


def fail(str service=None, error=None, int after=0):
    """Let a service raise from now on, but for the next calls, or none."""
    global spared
    faults.clear()
    spared = after
    if service is not None:
        faults[service] = error


def set_count(int count):
    """Let there be so many devices."""
    global devices
    devices = count


def set_busy(bint now):
    """Let queries answer that work is waiting, or that there is none."""
    global busy
    busy = now


cdef int note(str service, int index, stream_t stream, object other=None) except -1:
    trace.append((service, index, <size_t>stream, other))
    global spared
    if service in faults:
        if spared == 0:
            raise faults[service]
        spared -= 1
    return 0


cdef size_t another(str kind) except 0:
    global made
    made += 1
    alive[kind] += 1
    return made


cdef int count() except -1:
    if "count" in faults:
        raise faults["count"]
    return devices


cdef int allocate(int index, Py_ssize_t nbytes, stream_t stream, char** data,
                  void** block) except -1:
    note("allocate", index, stream, nbytes)
    block[0] = malloc(nbytes + 1)
    if block[0] == NULL:
        raise MemoryError("tracer: no memory")
    data[0] = <char*>block[0]
    memset(data[0], 0xFF, nbytes)
    alive["blocks"] += 1
    return 0


cdef void release(int index, void* block, stream_t stream) noexcept:
    trace.append(("release", index, <size_t>stream, None))
    alive["blocks"] -= 1
    free(block)


cdef char* at(Tensor t, Py_ssize_t index) noexcept:
    """The address of the element that comes `index`-th in C order."""
    cdef char* p = t.ptr
    cdef int d
    for d in range(t.nd - 1, -1, -1):
        p += index % t.sizes[d] * t.strides[d] * DT_SIZE[t.dt]
        index = index // t.sizes[d]
    return p


cdef int copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    cdef Py_ssize_t i
    device = to.mem.device if to.mem.device else source.mem.device
    note("copy", device_index(device), stream, bool(non_blocking))
    for i in range(to.count):
        memcpy(at(to, i), at(source, i), DT_SIZE[to.dt])
    return 0


cdef int cast(Tensor to, Tensor source, stream_t stream) except -1:
    """Zeros: the values are of no interest here."""
    cdef Py_ssize_t i
    note("cast", device_index(to.mem.device), stream)
    for i in range(to.count):
        memset(at(to, i), 0, DT_SIZE[to.dt])
    return 0


cdef int fill(Tensor to, const char* item, stream_t stream) except -1:
    cdef Py_ssize_t i
    note("fill", device_index(to.mem.device), stream)
    for i in range(to.count):
        memcpy(at(to, i), item, DT_SIZE[to.dt])
    return 0


cdef int elementwise(Elementwise* work, int index, stream_t stream) except -1:
    """Sums of dense float32; of all else the results are left as they are."""
    cdef Py_ssize_t i, total = 1
    note("elementwise", index, stream)
    if work.kernel != kernel_number("add") or work.dt != DT_F32:
        return 0
    for i in range(work.nd):
        total *= work.shape[i]
    for i in range(total):
        (<float*>work.p[0])[i] = ((<float*>work.p[1])[i if work.mem[1] != NULL else 0]
                                  + (<float*>work.p[2])[i if work.mem[2] != NULL else 0])
    return 0


cdef int stream_new(int index, int priority, stream_t* stream) except -1:
    note("stream_new", index, NULL, priority)
    stream[0] = <stream_t>another("streams")
    return 0


cdef void stream_free(int index, stream_t stream) noexcept:
    alive["streams"] -= 1


cdef int query(int index, stream_t stream) except -1:
    note("query", index, stream)
    return not busy


cdef int synchronize(int index, stream_t stream) except -1:
    return note("synchronize", index, stream)


cdef int synchronize_all(int index) except -1:
    return note("synchronize_all", index, NULL)


cdef int event_record(int index, stream_t stream, bint timing, void** event) except -1:
    note("event_record", index, stream, bool(timing))
    if event[0] == NULL:
        event[0] = <void*>another("events")
    return 0


cdef int event_wait(int index, stream_t stream, void* event) except -1:
    return note("event_wait", index, stream, <size_t>event)


cdef int event_query(int index, void* event) except -1:
    note("event_query", index, NULL, <size_t>event)
    return not busy


cdef int event_synchronize(int index, void* event) except -1:
    return note("event_synchronize", index, NULL, <size_t>event)


cdef void event_free(int index, void* event) noexcept:
    alive["events"] -= 1


cdef int event_elapsed(int index, void* start, void* end, double* milliseconds) except -1:
    note("event_elapsed", index, NULL)
    milliseconds[0] = 2.5
    return 0


cdef int pin(Py_ssize_t nbytes, char** data, void** block) except -1:
    note("pin", 0, NULL, nbytes)
    block[0] = malloc(nbytes + 1)
    if block[0] == NULL:
        raise MemoryError("tracer: no memory to pin")
    data[0] = <char*>block[0]
    alive["pins"] += 1
    return 0


cdef void unpin(void* block) noexcept:
    alive["pins"] -= 1
    free(block)


cdef Services services
memset(&services, 0, sizeof(services))
services.size = sizeof(services)
services.traits = LAYS_CHANNELS_LAST
services.count = count
services.allocate = allocate
services.release = release
services.elementwise = elementwise
services.copy = copy
services.cast = cast
services.fill = fill
services.stream_new = stream_new
services.stream_free = stream_free
services.query = query
services.synchronize = synchronize
services.synchronize_all = synchronize_all
services.event_record = event_record
services.event_wait = event_wait
services.event_query = event_query
services.event_synchronize = event_synchronize
services.event_free = event_free

# With what may be left out.
cdef Services full = services
full.traits = 0
full.event_elapsed = event_elapsed
full.pin = pin
full.unpin = unpin


cdef int padded(Tensor out, Tensor a, tuple pad, Tensor value) except -1:
    return note("constant_pad_nd", device_index(out.mem.device), NULL, out.strides[1] == 1)


cdef const char* SIGNATURE = "int (Tensor, Tensor, tuple, Tensor)"


def register(name, bint everything=True):
    _devices.register(
        name, PyCapsule_New(&full if everything else &services, "autograd_cy.services", NULL),
        {"constant_pad_nd": PyCapsule_New(<void*>padded, SIGNATURE, NULL)})
