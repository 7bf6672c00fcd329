# Python frames of events (part of recorder.pyx): each chain of calls is kept once.
from autograd_cy._C.frames cimport (
    AG_INSIDE, AG_LASTI, Frame, PyCode_Addr2Line, PyCodeObject, PyFrame_GetBack, PyFrame_GetCode,
    PyFrameObject, PyThreadState_Get, PyThreadState_GetFrame, ag_code, ag_innermost, ag_last,
    ag_outer)

cdef enum:
    MOST_FRAMES = 32

ctypedef struct Place:
    PyCodeObject* code
    int64_t lasti

cdef Table g_stacks                 # of Places, as words
cdef int32_t[256] g_last_stack      # by the innermost Place
cdef dict _codes = {}               # address of a code object -> whether it is one of ours
cdef list _code_objects = []        # keeps them alive while sessions run
cdef str g_package = __file__.rpartition("/_C/")[0] + "/"


cdef struct KnownCode:
    PyCodeObject* code
    bint ours

cdef KnownCode[512] g_known_codes


cdef bint is_ours(PyCodeObject* code) noexcept:
    cdef KnownCode* known = &g_known_codes[(<uintptr_t>code >> 4) & 511]
    if known.code != code:
        ours = _codes.get(<size_t>code)
        if ours is None:
            ours = (<object>code.co_filename).startswith(g_package)
            _codes[<size_t>code] = ours
            _code_objects.append(<object><PyObject*>code)
        known.code = code
        known.ours = ours
    return known.ours


cdef int g_inside = -1              # whether to read them so; -1: not known yet


cdef int read_inside(Place* places) noexcept:
    cdef Frame* frame = ag_innermost()
    cdef PyCodeObject* code
    cdef int n = 0
    while frame != NULL and n < MOST_FRAMES:
        code = ag_code(frame)
        if not is_ours(code):
            places[n].code = code           # `_code_objects` has it
            places[n].lasti = ag_last(frame)
            n += 1
        frame = ag_outer(frame)
    return n


cdef int read_frames(Place* places) noexcept:
    cdef PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get())
    cdef PyFrameObject* back
    cdef PyCodeObject* code
    cdef int n = 0
    while frame != NULL:
        if n < MOST_FRAMES:
            code = PyFrame_GetCode(frame)
            if not is_ours(code):
                places[n].code = code
                places[n].lasti = AG_LASTI(frame)
                n += 1
            Py_DECREF(<object><PyObject*>code)
            back = PyFrame_GetBack(frame)
        else:
            back = NULL
        Py_DECREF(<object><PyObject*>frame)
        frame = back
    return n


cdef void choose_frames() noexcept:
    """Called with the first session that wants frames: both ways must see the same."""
    global g_inside
    cdef Place[MOST_FRAMES] one, other
    cdef int n
    if g_inside >= 0:
        return
    g_inside = 0
    if AG_INSIDE:
        n = read_inside(one)
        g_inside = n == read_frames(other) and memcmp(one, other, <size_t>n * sizeof(Place)) == 0


cdef int32_t current_stack() noexcept:
    """The number of this thread's chain of calls, without our own files."""
    cdef Place[MOST_FRAMES] places
    cdef int n = read_inside(places) if g_inside > 0 else read_frames(places)
    if n == 0:
        return look_up(&g_stacks, <int64_t*>places, 0, &g_last_stack[0])
    return look_up(&g_stacks, <int64_t*>places, 2 * n,
                   &g_last_stack[(<uint64_t>places[0].code >> 4 ^ <uint64_t>places[0].lasti) & 255])


def _read_inside(on):
    """For tests: whether frames are read as the interpreter has them; returns whether they were."""
    global g_inside
    choose_frames()
    before = g_inside > 0
    g_inside = bool(on) and AG_INSIDE
    return before


cdef list stack_rows():
    """All chains as (file, line, function), innermost first."""
    cdef list rows = []
    cdef int32_t i
    cdef int k, n
    cdef Place[MOST_FRAMES] p       # a copy: making objects may run code that moves the table
    for i in range(g_stacks.count):
        n = g_stacks.entries[i].length // 2
        memcpy(p, g_stacks.words + g_stacks.entries[i].at, <size_t>n * sizeof(Place))
        rows.append(tuple([
            (<object>p[k].code.co_filename, PyCode_Addr2Line(p[k].code, <int>p[k].lasti),
             <object>p[k].code.co_name)
            for k in range(n)]))
    return rows


cdef void forget_stacks() noexcept:
    clear_table(&g_stacks)
    memset(g_known_codes, 0, sizeof(g_known_codes))
    _codes.clear()
    _code_objects.clear()
