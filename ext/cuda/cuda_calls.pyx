# cython: language_level=3
# build: plain hot
"""Note where in the program kernels were called that may find a bad value.

A kernel notes it when it runs, and the exception comes at the next synchronisation: somewhere else
in the program. So the host keeps of the last calls of each device the code object and the
instruction that the program had come to: the innermost Python frame outside of this package. File
and line are looked up when the exception is raised.
"""
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc
from libc.string cimport memset

from autograd_cy._C.cuda_driver cimport MAX_INDEX
from autograd_cy._C.faults cimport FAULT_NONE
from autograd_cy._C.frames cimport (
    AG_INSIDE, AG_LASTI, Frame, PyCode_Addr2Line, PyCodeObject, PyFrame_GetBack, PyFrame_GetCode,
    PyFrameObject, PyThreadState_Get, PyThreadState_GetFrame, ag_code, ag_innermost, ag_last,
    ag_outer)
from autograd_cy._C.launch cimport Fault

cdef enum:
    CALLS = 4096             # of a device that are kept; streams hold about 1,000 launches each
    FILES = 64               # of which it is known whether they are ours
    ADDRESS = 48             # bits of an address of the host

cdef struct Call:
    PyCodeObject* code       # owned; NULL: a thread without Python frames
    int instruction
    unsigned number          # 1 to 65535, as the kernel writes it; 0: none

cdef struct KnownFile:
    PyObject* name           # owned
    bint ours

cdef Call* _calls[MAX_INDEX]
cdef uint64_t[MAX_INDEX] _count              # calls so far
cdef Fault* _watched[MAX_INDEX]             # where kernels note faults
cdef list _faults = [None] * MAX_INDEX       # the text of a fault that wasn't raised yet
cdef KnownFile[FILES] _files
cdef str _package = __file__.rpartition("/_C/")[0] + "/"
cdef int _inside = -1        # whether frames are read as the interpreter has them; -1: not known

memset(_calls, 0, sizeof(_calls))
memset(_count, 0, sizeof(_count))
memset(_watched, 0, sizeof(_watched))
memset(_files, 0, sizeof(_files))


cdef const char* called(int index, const char* op) except? NULL:
    cdef Call* call
    cdef PyCodeObject* code = NULL
    cdef PyObject* before
    cdef unsigned number
    cdef int instruction = 0
    if <uintptr_t>op >> ADDRESS:        # the address leaves no bits for the number
        return op
    if _calls[index] == NULL:
        begin(index)
    if _watched[index] != NULL and _watched[index].kind > FAULT_NONE and _faults[index] is None:
        _faults[index] = text_of_token(index, _watched[index].op)  # while the call is still known
    if _inside:
        code = innermost(&instruction)
    else:
        code = innermost_object(&instruction)
    number = 1 + <unsigned>(_count[index] % 65535)
    call = &_calls[index][_count[index] % CALLS]
    _count[index] += 1
    call.instruction = instruction
    call.number = number
    if call.code != code:
        before = <PyObject*>call.code
        if code != NULL:
            Py_INCREF(<object><PyObject*>code)
        call.code = code
        if before != NULL:
            Py_DECREF(<object>before)
    return <const char*>(<uintptr_t>op | <uintptr_t>number << ADDRESS)


cdef int begin(int index) except -1:
    """Allocate what notes the calls of a device, and find out how frames can be read."""
    global _inside
    cdef int one = 0, other = 0
    if _inside < 0:
        _inside = AG_INSIDE and innermost(&one) == innermost_object(&other) and one == other
    _calls[index] = <Call*>calloc(CALLS, sizeof(Call))
    if _calls[index] == NULL:
        raise MemoryError("autograd_cy: no memory to note calls")
    return 0


cdef inline bint is_ours(PyCodeObject* code) except -1:
    """Tell whether the code is of this package; all code of a file has one object as its name."""
    cdef KnownFile* known = &_files[(<uintptr_t>code.co_filename >> 5) & (FILES - 1)]
    if known.name != code.co_filename:
        look_at(known, <object>code.co_filename)
    return known.ours


cdef int look_at(KnownFile* known, str name) except -1:
    cdef PyObject* before = known.name
    known.ours = name.startswith(_package)
    Py_INCREF(name)
    known.name = <PyObject*>name
    if before != NULL:
        Py_DECREF(<object>before)
    return 0


cdef inline PyCodeObject* innermost(int* instruction) except? NULL:
    """The code of the innermost frame outside of this package (borrowed), NULL: there is none."""
    cdef Frame* frame = ag_innermost()
    cdef PyCodeObject* code
    while frame != NULL:
        code = ag_code(frame)
        if not is_ours(code):
            instruction[0] = ag_last(frame)
            return code
        frame = ag_outer(frame)
    return NULL


cdef PyCodeObject* innermost_object(int* instruction) except? NULL:
    """Find the innermost code by objects of frames, which all versions of Python have."""
    cdef PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get())
    cdef PyFrameObject* back
    cdef PyCodeObject* code
    cdef bint ours
    while frame != NULL:
        code = PyFrame_GetCode(frame)
        Py_DECREF(<object><PyObject*>code)           # the frame has it, and is running
        ours = is_ours(code)
        if not ours:
            instruction[0] = AG_LASTI(frame)
        back = PyFrame_GetBack(frame) if ours else NULL
        Py_DECREF(<object><PyObject*>frame)
        if not ours:
            return code
        frame = back
    return NULL


cdef const char* op_of(const char* token) noexcept nogil:
    return <const char*>(<uintptr_t>token & ((<uintptr_t>1 << ADDRESS) - 1))


cdef void watch_faults(int index, Fault* place) noexcept:
    _watched[index] = place


cdef int say_call(object error, int index, const char* token) except -1:
    cdef str text = _faults[index]
    _faults[index] = None
    if text is None:
        text = text_of_token(index, token)
    if not text:
        return 0
    if hasattr(error, "add_note"):
        error.add_note(text)
    else:                    # Python 3.10
        error.args = (f"{error}\n{text}", *error.args[1:])
    return 0


cdef str text_of_token(int index, const char* token):
    cdef unsigned number = <unsigned>(<uintptr_t>token >> ADDRESS)
    cdef const char* op = op_of(token)
    cdef Call* call
    cdef str text
    if op == NULL:
        return ""
    text = f"Found on device 'cuda:{index}' by {(<bytes>op).decode()}"
    if not number or _calls[index] == NULL:
        return text
    call = find_call(index, number)
    if call == NULL:
        return text + f", before the last {CALLS:,} calls that can find such a value"
    if call.code == NULL:
        return text + ", called by a thread without Python code"
    return text + (f', called in File "{<object>call.code.co_filename}", line '
                   f"{PyCode_Addr2Line(call.code, call.instruction)}, in "
                   f"{<object>call.code.co_name}")


cdef Call* find_call(int index, unsigned number) noexcept:
    """The call of a number, NULL if others have taken its place."""
    cdef uint64_t count = _count[index], back
    cdef Call* call
    if count == 0:
        return NULL
    # The last call whose number this is: numbers come again after 65,535 calls.
    back = (count - 1) % 65535 + 1
    back = back - number if back >= number else back + 65535 - number
    if back >= count or back >= CALLS:
        return NULL
    call = &_calls[index][(count - 1 - back) % CALLS]
    return call if call.number == number else NULL


def read_inside(on):
    """Choose whether frames are read as the interpreter has them, for tests; return what was."""
    global _inside
    before = _inside > 0
    _inside = bool(on) and AG_INSIDE
    return before


def noted_calls(int index=0):
    """How many calls of a device were noted so far."""
    return _count[index]


def call_capacity():
    """How many calls of a device are kept."""
    return CALLS


def nanoseconds(Py_ssize_t calls=1_000_000, int index=0):
    """Measure what noting a call costs."""
    from time import perf_counter_ns
    cdef Py_ssize_t _
    begun = perf_counter_ns()
    for _ in range(calls):
        called(index, b"nothing")
    return (perf_counter_ns() - begun) / calls
