# cython: language_level=3
"""Devices register their services and kernels here; `meta` is the one that computes nothing."""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from cpython.ref cimport Py_XDECREF, Py_XINCREF
from libc.string cimport memset
from autograd_cy._C.launch cimport capturing, no_launch
from autograd_cy._C.placement cimport (
    accelerator_type, add_device_type, current_index, device_of_code, set_accelerator,
    set_current_index, type_of_name)
from autograd_cy._C.storage cimport (
    BlockUse, DEVICES_OF_TYPE, MAX_DEVICES, MAX_DEVICE_TYPES, ON_PINNED, STORAGE_PINNED,
    device_memory, set_release, storage_of_service, storage_root)

from autograd_cy._C.placement import _need_offered

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace)
    void PyErr_Restore(PyObject* kind, PyObject* value, PyObject* trace)

memset(services, 0, sizeof(services))

cdef struct Slots:
    void** table
    Py_ssize_t width

cdef Slots _slots[256]
cdef int _families = 0
cdef dict _places = {}        # key of an operator -> (family, position, signature)
cdef dict _expected = {}      # the same -> signature, where the slot is made at the first use
cdef dict _waiting = {}       # the same -> [(type, capsule)] until then
cdef set _by_host = set()     # (type, key) of kernels that go by way of the host


cdef int add_slots(void** table, tuple keys, tuple signatures) except -1:
    global _families
    cdef Py_ssize_t i
    if _families == 256:
        raise RuntimeError("too many tables of kernels")
    for i, key in enumerate(keys):
        if table[i] == NULL:
            raise RuntimeError(f"{key} has no kernel for the CPU")
        if _expected.get(key, signatures[i]) != signatures[i]:
            raise RuntimeError(f"{key}: a kernel of signature {signatures[i]!r} was expected to "
                               f"be one of {_expected[key]!r}")
        _places[key] = (_families, i, signatures[i])
        for type, capsule in _waiting.pop(key, ()):
            name = (<str>signatures[i]).encode()
            table[<int>type * len(keys) + i] = PyCapsule_GetPointer(
                capsule, <const char*>(<bytes>name))
    _slots[_families].table = table
    _slots[_families].width = len(keys)
    _families += 1
    return 0


cdef void* kernel_of(int device, str key) except? NULL:
    cdef Slots* slots
    place = _places.get(key)
    if place is None:
        return NULL
    slots = &_slots[<int>place[0]]
    return slots.table[device_type(device) * slots.width + <Py_ssize_t>place[1]]


def signatures():
    """{operator: signature of its kernel}; the results come first in it, to be filled."""
    return _expected | {key: place[2] for key, place in _places.items()}


def expect(dict signatures not None):
    """Make known the kernels of operators that are loaded when they are first used."""
    _expected.update(signatures)


def register(str name not None, services_capsule, dict kernels not None, by_host=()):
    """
    Make a device known.

    Parameters
    ----------
    name : str
        What ``device=`` takes, as "mydevice".
    services_capsule : capsule
        Named "autograd_cy.services"; points to a `Services` (devices.pxd) that stays alive.
    kernels : dict
        Keys of operators (see `signatures`) with capsules, whose name is the signature and whose
        pointer is the kernel. Operators that are left out raise NotImplementedError.
    by_host : iterable of str, optional
        Keys among them whose kernels copy to the host and back. Where an operator can also be made
        of others, it is made of these instead (see `has_kernel` in devices.pxd).

    Raises
    ------
    ValueError
        If the name is taken, a service is missing, a kernel is of no operator or of another
        signature, or `by_host` names one that isn't given. Nothing is registered then.
    """
    cdef Services* offered
    cdef Slots* slots
    cdef int type
    if not PyCapsule_IsValid(services_capsule, "autograd_cy.services"):
        raise ValueError(f"register({name!r}): services are a capsule \"autograd_cy.services\"")
    offered = <Services*>PyCapsule_GetPointer(services_capsule, "autograd_cy.services")
    check_services(name, offered)
    known = signatures()
    for key, capsule in kernels.items():
        if key not in known:
            raise ValueError(f"register({name!r}): there is no operator {key!r} with a kernel")
        signature = (<str>known[key]).encode()
        if not PyCapsule_IsValid(capsule, <const char*>(<bytes>signature)):
            raise ValueError(f"register({name!r}): the kernel of {key} must be a capsule named "
                             f"{signature.decode()!r}")
    by_host = set(by_host)
    if not by_host <= kernels.keys():
        raise ValueError(f"register({name!r}): by_host names {min(by_host - kernels.keys())!r}, of "
                         "which no kernel is given")
    type = add_device_type(name, offered.count)
    _by_host.update([(type, key) for key in by_host])
    services[type] = offered[0]
    device_memory[type] = device_storage
    for key, capsule in kernels.items():
        if key not in _places:
            _waiting.setdefault(key, []).append((type, capsule))
            continue
        family, position, signature = _places[key]
        slots = &_slots[<int>family]
        name_of = (<str>signature).encode()
        slots.table[type * slots.width + <Py_ssize_t>position] = PyCapsule_GetPointer(
            capsule, <const char*>(<bytes>name_of))
    return type


cdef bint[MAX_DEVICE_TYPES] _lost


def _lose(int type):
    """Wait for nothing any more when memory of this type goes: a forked child can't."""
    _lost[type] = True


def choose_accelerator(name):
    """
    Let `accelerator`, pinned memory and numbers as devices mean this type from now on.

    Parameters
    ----------
    name : str or None
        A registered type; None for none. At first it is the one that was registered first.

    Raises
    ------
    ValueError
        If no such type is registered.
    """
    cdef int type = 0 if name is None else type_of_name(name)
    if name is not None and type < 2:
        raise ValueError(f"choose_accelerator({name!r}): there is no accelerator of that name")
    set_accelerator(type)


cdef int check_services(str name, Services* offered) except -1:
    """Refuse services of another version, missing ones, and devices that can't be counted."""
    cdef int count
    if offered.size != sizeof(Services):
        raise ValueError(
            f"register({name!r}): the services are of {offered.size} bytes and must be of "
            f"{sizeof(Services)}: the backend was built for another version; build it again")
    missing = [service for service, address in (
        ("count", <size_t>offered.count), ("allocate", <size_t>offered.allocate),
        ("release", <size_t>offered.release), ("elementwise", <size_t>offered.elementwise),
        ("copy", <size_t>offered.copy), ("cast", <size_t>offered.cast),
        ("fill", <size_t>offered.fill),
        ("stream_new", <size_t>offered.stream_new), ("stream_free", <size_t>offered.stream_free),
        ("query", <size_t>offered.query), ("synchronize", <size_t>offered.synchronize),
        ("synchronize_all", <size_t>offered.synchronize_all),
        ("event_record", <size_t>offered.event_record), ("event_wait", <size_t>offered.event_wait),
        ("event_query", <size_t>offered.event_query),
        ("event_synchronize", <size_t>offered.event_synchronize),
        ("event_free", <size_t>offered.event_free)) if not address]
    if (offered.pin == NULL) != (offered.unpin == NULL):
        missing.append("pin" if offered.pin == NULL else "unpin")
    if missing:
        raise ValueError(f"register({name!r}): a service is missing: {', '.join(missing)}")
    if offered.traits & ~<uint32_t>LAYS_CHANNELS_LAST:
        raise ValueError(f"register({name!r}): there are no such traits: {offered.traits:#x}")
    try:
        count = offered.count()
    except Exception as error:
        raise ValueError(f"register({name!r}): count() raised {error!r}") from error
    if not 0 <= count <= DEVICES_OF_TYPE:
        raise ValueError(f"register({name!r}): count() is {count}; there may be 0 to "
                         f"{DEVICES_OF_TYPE} devices of a type")
    return 0


include "devices/streams.pxi"
include "devices/blocks.pxi"


cdef bint has_kernel(int device, str key) except -1:
    cdef int type = device_type(device)
    if device == ON_CPU or device == ON_META:
        return True
    if (type, key) in _by_host:
        return False
    if key not in _places:      # of a family that is loaded when it is first used
        return any([waiting == type for waiting, _ in _waiting.get(key, ())])
    return kernel_of(device, key) != NULL


cdef int device_among(tuple tensors, str op) except -1:
    cdef Tensor t
    cdef int device = ON_CPU
    cdef bint host = False
    for item in tensors:
        if item is None:
            continue
        if isinstance(item, tuple):
            t = None
            for part in <tuple>item:
                t = <Tensor>part
                if t is None:
                    continue
                if t.mem.device == ON_CPU:
                    host = True
                elif device != ON_CPU and device != t.mem.device:
                    raise two_devices(op, device, t.mem.device)
                else:
                    device = t.mem.device
            continue
        t = <Tensor>item
        if t.mem.device == ON_CPU:
            host |= t.nd != 0
        elif device != ON_CPU and device != t.mem.device:
            raise two_devices(op, device, t.mem.device)
        else:
            device = t.mem.device
    if device != ON_CPU and host:
        raise two_devices(op, device, ON_CPU)
    if device != ON_CPU:
        check_capture(device, op)
    return device


cdef int check_capture(int device, str op) except -1:
    """A thread captures what the CPU does. Work on meta is none; that of others is refused."""
    if device != ON_META and capturing():       # or the text below would be made in each call
        no_launch(op, f"device '{device_of_code(device)}' takes part, and only work of the CPU is "
                  "captured")
    return 0


cdef int check_place(Tensor t, int device, str op) except -1:
    if t.mem.device != device and (device != ON_META or t.mem.device != ON_CPU):
        raise two_devices(op, device, t.mem.device)
    return 0


cdef object two_devices(str op, int a, int b):
    return RuntimeError(
        f"{op}: Expected all tensors to be on the same device, but found at least two devices, "
        f"{device_of_code(a)} and {device_of_code(b)}! Move them with .to(device)")


cdef object no_kernel(str op, int device):
    if device == ON_META:
        return NotImplementedError(
            f"{op}: not possible on device 'meta': what the result is like is only known from "
            "values, which there are none of")
    return NotImplementedError(
        f"{op}: there is no kernel of this operator for device '{device_of_code(device)}'; move "
        "the operands with .cpu()")


cdef object no_host_kernel(str op, int device):
    """Raise the error of a missing kernel for an operator that NumPy or SciPy computes."""
    if device == ON_META:
        return NotImplementedError(
            f"{op}: not possible on device 'meta': NumPy or SciPy computes it, from values, and "
            "there is no rule for the shape alone; call it with a tensor on the CPU, such as "
            "zeros_like(x, device='cpu')")
    return no_kernel(op, device)


cdef int refuse_device(tuple tensors, str op) except -1:
    raise no_kernel(op, device_among(tensors, op))


cdef int refuse_host(Tensor t, str what) except -1:
    if t.mem.device != ON_CPU:
        raise TypeError(
            f"{what}: can't convert {device_of_code(t.mem.device)} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first.")
    return 0


# --- meta -----------------------------------------------------------------------------------

cdef int no_elementwise(Elementwise* work, int index, stream_t stream) except -1:
    return 0


cdef int no_copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    if to.mem.device != ON_META:
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Use empty_like(x, device=...) for memory of "
            "the same shape")
    return 0


cdef int no_cast(Tensor to, Tensor source, stream_t stream) except -1:
    return no_copy(to, source, False, NULL)


cdef int no_fill(Tensor to, const char* item, stream_t stream) except -1:
    return 0


services[device_type(ON_CPU)].traits = LAYS_CHANNELS_LAST
services[device_type(ON_META)].traits = LAYS_CHANNELS_LAST
services[device_type(ON_META)].elementwise = no_elementwise
services[device_type(ON_META)].copy = no_copy
services[device_type(ON_META)].cast = no_cast
services[device_type(ON_META)].fill = no_fill
