# cython: language_level=3, boundscheck=False, cdivision=True
"""
An asynchronous device of its own: what a backend for an accelerator would do.

Two devices of one type, such as "hostdevice:0" and "hostdevice:1". Their memory can't be touched by
the host (memory.pxi), their streams run late, in another thread (queues.pxi), and what was given to
them has its operands as they were then (work.pxi). A dozen kernels are plain loops (plain.pxi), and
some draw random numbers (drawing.pxi), as an example; `register(name)` fills all slots with the
kernels of the CPU, which run on moved addresses (kernels.pxi, which setup.py writes from
`signatures()`).

`state()` tells what a test wants to know; `order`, `drop_wait`, `fail`, `limit` and
`present_devices` make the device behave in other ways.
"""
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport exp, fabs, log, sqrt, tanh
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from posix.unistd cimport getpid
from autograd_cy._C.devices cimport (
    Elementwise, LAYS_CHANNELS_LAST, Services, current_stream, kernel_of, stream_t)
from autograd_cy._C.dtypes cimport DT_BOOL, DT_F32, DT_F64, DT_I64, DT_SIZE, dt_is_integral
from autograd_cy._C.faults cimport (
    FAULT_EMBEDDING, FAULT_INDEX, FAULT_NONE, FAULT_PLACE, fault_error, note_fault)
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport copy_into, run_loop
from autograd_cy._C.kernel_table cimport KT, kernel_number
from autograd_cy._C.launch cimport Fault
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.storage cimport (
    STORAGE_PINNED, StorageImpl, device_index, device_type, storage_borrow, storage_decref,
    storage_root)
from autograd_cy._C.tensor cimport F_LAZY, F_WRAPPED, Tensor, tensor_empty, tensor_on

from autograd_cy._C import cpu as _cpu
from autograd_cy._C import devices as _devices

from collections import deque
import random
import _thread
import threading

cdef dict calls = {}                 # how often each service and kernel was called
cdef int present = INDICES           # devices that there are now
cdef long pinned = 0                 # blocks of pinned memory that were not given back
cdef list kernel_names = list(_cpu.load("kern").KERNELS)     # of elementwise kernels, by number
cdef set plain_types = set()         # types of devices that have the plain kernels alone
cdef dict left_out = {}              # type -> numbers of elementwise kernels that it hasn't got
cdef str failing = ""                # the service that fails, "" for any
cdef long fails_in = -1              # calls until it fails; -1: never
cdef bint fails_on = False           # whether it goes on failing


cdef int note(str name) except -1:
    calls[name] = calls.get(name, 0) + 1
    return 0


cdef int serve(str service) except -1:
    """To be called first by each service."""
    global fails_in, latest
    if service not in ("event_record", "event_wait"):
        latest = 0
    if fails_in < 0 or (failing and service != failing):
        return 0
    if fails_in:
        fails_in -= 1
        return 0
    if not fails_on:
        fails_in = -1
    raise RuntimeError(f"hostdevice: {service} failed")


include "memory.pxi"
include "queues.pxi"
include "plain.pxi"
include "drawing.pxi"
include "work.pxi"
include "kernels.pxi"


cdef Services services
services.size = sizeof(Services)
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
services.event_elapsed = event_elapsed
services.pin = pin
services.unpin = unpin

cdef Services plain_services = services
plain_services.traits = 0
plain_services.has_elementwise = has_plain


def services_capsule(bint plain=True):
    return PyCapsule_New(&plain_services if plain else &services, "autograd_cy.services", NULL)


def kernels(plain=True):
    """{operator: capsule} of what this device has; plain: of what is written in plain.pxi."""
    found = trampolines()
    return {key: found[key] for key in plain_functions} if plain else found


def register(name="hostdevice", plain=False, without=(), by_host=()):
    """
    Make a device known; `without` are operators and elementwise kernels with empty slots, `by_host`
    those that are said to go by way of the host.
    """
    given = {key: c for key, c in kernels(plain).items() if key not in without}
    type_ = _devices.register(name, services_capsule(plain), given, by_host)
    if plain:
        plain_types.add(type_)
    left_out[type_] = {kernel_number(x) for x in without if x in kernel_names}
    return type_


def register_only(name, kernels):
    """Register a device with these kernels alone, which are plain ones."""
    plain_types.add(_devices.register(name, services_capsule(True), kernels))


def state():
    """Counts: see the variables of their names."""
    return {"broken": broken, "blocks": blocks, "bytes": live_bytes, "most_bytes": most_bytes,
            "pinned": pinned, "events": events, "streams": len(streams), "waits": waits,
            "for_release": set(for_release), "reads": calls.get("reads", 0), "calls": dict(calls),
            "waiting": sum(len((<Queue>q).waiting) for q in every_queue())}


def forget():
    """Set the counts of calls to zero."""
    calls.clear()


def run_all():
    """Run all that waits; errors stay for the next synchronisation."""
    for index in range(INDICES):
        settle(index)


def forgive():
    """Forget memory that was written beyond its ends, or after it was freed."""
    global broken
    run_all()
    broken = 0


def order(how="late", seed=0):
    """
    When works run: when somebody waits for them ("late"), those of all but default streams at once
    ("ahead"), or in any legal order ("random").
    """
    global chance, ahead
    chance = random.Random(seed) if how == "random" else None
    ahead = how == "ahead"


def drop_wait(number=None):
    """Leave the next wait but `number` for an event out (0: the next one); None: no more."""
    global dropped_wait
    dropped_wait = -1 if number is None else waits + number + 1


def fail(after=0, service="", on=False):
    """Let a service (any, if it isn't named) fail, after so many calls; `on`: from then on."""
    global failing, fails_in, fails_on
    failing, fails_in, fails_on = service, after, on


def recover():
    """No service fails any more, and errors of works are forgotten."""
    global fails_in
    fails_in = -1
    run_all()
    failures[:] = [None] * INDICES


def limit(nbytes=None):
    """Let no more than so many bytes be in use; None: as many as there is room for."""
    global limit_bytes
    limit_bytes = -1 if nbytes is None else nbytes


def present_devices(number=INDICES):
    """So many devices there are from now on."""
    global present
    present = number
