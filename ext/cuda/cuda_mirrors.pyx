# cython: language_level=3
# build: plain cold
"""
Operators that the host computes for a device.

Each operand gets a mirror on the host, the CPU's kernel works on the mirrors, and what it writes
goes back on the current stream. What a kernel writes is known from its record. Errors of values are
raised before anything has gone back, so that the operands are as before.
"""
from autograd_cy._C.devices cimport device_copy, kernel_of
from autograd_cy._C.dtypes cimport DT_SIZE, DT_U8
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.storage cimport ON_CPU
from autograd_cy._C.tensor cimport (
    F_LAZY, F_WRAPPED, dims_of, preserved_strides, tensor_empty, tensor_empty_strided, tensor_on)
import os
from autograd_cy._C._warned import warn as _warn

cdef enum:
    ALIGNMENT = 16             # of what kernels read: that of the widest element

cdef dict _calls = {}          # key -> how many calls the host has computed
cdef set _shown = set()        # operators of which a warning was given
cdef str _mode = ""

MODES = ("", "warn", "error")


def show(mode="") -> None:
    """
    Choose what happens where the host computes for a device.

    Parameters
    ----------
    mode : {"", "warn", "error"}
        Nothing; a UserWarning, once for each operator; or a RuntimeError.

    Raises
    ------
    ValueError
        If it is another word.
    """
    global _mode
    if mode not in MODES:
        raise ValueError(f"AUTOGRAD_CY_CUDA_HOST is 'warn' or 'error', or isn't set; not {mode!r}")
    _mode = mode
    _shown.clear()


def host_calls() -> dict:
    """Count the calls that the host has computed for devices, by the key of the slot or
    operator."""
    return dict(_calls)


def forget_calls() -> None:
    """Set these counts to zero."""
    _calls.clear()


cdef int announce(str key, str op, int device) except -1:
    """Count a call, and show it as `show` has said."""
    if _mode:
        where = device_of_code(device)
        if _mode == "error":
            raise RuntimeError(
                f"{op}: there is no kernel of this operator for device '{where}', and "
                "AUTOGRAD_CY_CUDA_HOST=error forbids that the host computes it; move the operands "
                "with .cpu(), or set the variable to 'warn', or leave it out")
        if op not in _shown:
            _shown.add(op)
            _warn(
                f"{op}: there is no kernel of this operator for device '{where}': its operands are "
                "copied to the host, which computes it, and the results are copied back")
    _calls[key] = _calls.get(key, 0) + 1
    return 0


def note(str key not None, str op not None, int device) -> None:
    """Count a call of what has no slot, and show it."""
    announce(key, op, device)


# --- mirrors --------------------------------------------------------------------------------

cdef class Mirror:
    """A tensor of the device, and where its values are on the host."""
    cdef Tensor far            # the operand
    cdef Tensor near           # its mirror
    cdef Tensor plain          # the same memory, by its own bytes
    cdef bint read             # its values are to be there before the kernel runs
    cdef bint written
    cdef char* low             # bytes that may be touched
    cdef char* high


cdef Tensor bytes_as_they_are(Tensor t, const Py_ssize_t* sizes, const Py_ssize_t* strides):
    """The memory of a tensor, whatever is still to be done to its values."""
    return tensor_on(t.mem, t.ptr, t.dt, t.nd, sizes, strides)


cdef int find_bytes(Mirror m) except -1:
    cdef Tensor t = m.far
    cdef Py_ssize_t reach
    cdef int d
    m.low = m.high = t.ptr
    if not t.count:
        return 0
    m.high += DT_SIZE[t.dt]
    for d in range(t.nd):
        reach = (t.sizes[d] - 1) * t.strides[d] * DT_SIZE[t.dt]
        if reach < 0:
            m.low += reach
        else:
            m.high += reach
    return 0


cdef int copy_back(Mirror m) except -1:
    m.plain = m.near
    if m.far.flags & F_LAZY:
        m.plain = bytes_as_they_are(m.near, m.near.sizes, m.near.strides)
    m.near.flags |= m.far.flags & (F_LAZY | F_WRAPPED)
    return 0


cdef int make_alone(Mirror m) except -1:
    """
    Memory of its own, with the strides of a dense operand, and its order of dimensions in any case.

    What is expanded is copied once, and is expanded there, too.
    """
    cdef Py_ssize_t[64] sizes
    cdef Py_ssize_t[64] strides
    cdef Tensor t = m.far, far, near
    cdef int d
    if not t.count:
        m.near = tensor_empty(t.dt, t.nd, t.sizes)
        return copy_back(m)
    for d in range(t.nd):
        sizes[d] = t.sizes[d] if t.strides[d] else 1
    far = bytes_as_they_are(t, sizes, t.strides)
    preserved_strides(far, strides)
    near = tensor_empty_strided(t.dt, t.nd, sizes, strides)
    if m.read:
        device_copy(near, far, False)
    for d in range(t.nd):
        if t.sizes[d] != sizes[d]:
            strides[d] = 0
    m.near = bytes_as_they_are(near, t.sizes, strides)
    return copy_back(m)


cdef int make_together(list group) except -1:
    """Operands that share memory, of which some are written: all bytes that they lie in."""
    cdef Mirror first = <Mirror>group[0], m
    cdef Tensor far, near
    cdef char* low = first.low
    cdef char* high = first.high
    cdef Py_ssize_t one = 1, n
    for m in group:
        low, high = min(low, m.low), max(high, m.high)
    low -= (low - first.far.mem.data) % ALIGNMENT
    n = high - low
    far = tensor_on(first.far.mem, low, DT_U8, 1, &n, &one)
    near = tensor_empty(DT_U8, 1, &n)
    device_copy(near, far, False)
    for m in group:
        m.near = tensor_on(near.mem, near.ptr + (m.far.ptr - low), m.far.dt, m.far.nd, m.far.sizes,
                           m.far.strides)
        copy_back(m)
    return 0


cdef int make_mirrors(list mirrors) except -1:
    """Memory on the host for all of them; what shares memory in part does so there, too."""
    cdef Mirror m
    cdef list groups = []
    cdef char* high = NULL
    for m in mirrors:
        find_bytes(m)
    for m in sorted(mirrors, key=first_byte) if len(mirrors) > 1 else mirrors:
        if groups and m.low < high:
            (<list>groups[len(groups) - 1]).append(m)
        else:
            groups.append([m])
        high = max(high, m.high)
    for group in groups:
        if len(group) > 1 and any([(<Mirror>x).written for x in group]):
            make_together(group)
        else:
            for m in group:
                make_alone(m)
    return 0


cdef object first_byte(Mirror m):
    return <size_t>m.low


# --- a call ---------------------------------------------------------------------------------

cdef object mirrored(object x, bint read, bint written, dict known, list mirrors):
    """An operand with a Mirror for each tensor of the device; one operand has one mirror."""
    cdef Tensor t
    cdef Mirror m
    if isinstance(x, tuple):
        return tuple([mirrored(y, read, written, known, mirrors) for y in <tuple>x])
    if not isinstance(x, Tensor):
        return x
    t = <Tensor>x
    if t.mem.device == ON_CPU:
        return t
    key = (<size_t>t.ptr, t.dt, t.flags & F_LAZY, dims_of(t),
           tuple([t.strides[d] for d in range(t.nd)]))
    m = known.get(key)
    if m is None:
        m = Mirror.__new__(Mirror)
        m.far = t
        known[key] = m
        mirrors.append(m)
    m.read |= read
    m.written |= written
    return m


cdef object on_host(object x):
    if isinstance(x, Mirror):
        return (<Mirror>x).near
    return tuple([on_host(y) for y in <tuple>x]) if isinstance(x, tuple) else x


cdef Crossing crossing(str key, str op, int results, uint64_t written, tuple operands):
    cdef Crossing c = Crossing.__new__(Crossing)
    cdef list mirrors = [], parts = []
    cdef dict known = {}
    cdef int i
    for i, x in enumerate(operands):
        parts.append(mirrored(x, i >= results, i < results or (written >> i) & 1, known, mirrors))
    announce(key, op, (<Mirror>mirrors[0]).far.mem.device if mirrors else <int>ON_CPU)
    c.kernel = kernel_of(ON_CPU, key)
    if c.kernel == NULL:
        raise RuntimeError(f"{op}: the host has no kernel {key!r}")
    make_mirrors(mirrors)
    c.mirrors = mirrors
    c.here = tuple([on_host(x) for x in parts])
    return c


cdef class Crossing:
    """One call of the CPU's kernel for operands of a device."""

    cdef int end(self) except -1:
        cdef Mirror m
        for m in self.mirrors:
            if m.written and m.far.count:
                device_copy(bytes_as_they_are(m.far, m.far.sizes, m.far.strides), m.plain, False)
        return 0


show(os.environ.get("AUTOGRAD_CY_CUDA_HOST", ""))
seal(Mirror, "Mirror objects cannot be made; kernels of the host make them")
seal(Crossing, "Crossing objects cannot be made; kernels of the host make them")
