# The mode words of the thread and of the process, for Python, and the contexts that change them
# (part of tensor.pyx).

from cpython.exc cimport PyErr_Fetch, PyErr_Restore
from cpython.pythread cimport PyThread_get_thread_ident

cdef extern from *:
    """
    static PyTypeObject *ag_type_of(PyObject *o) { return Py_TYPE(o); }
    /* Whether Python is unwinding because of an exception that no program expects: Ctrl-C. */
    static int ag_interrupted(void) {
        PyObject *error = PyErr_Occurred();
        return error && !PyErr_GivenExceptionMatches(error, PyExc_Exception);
    }
    """
    PyTypeObject* ag_type_of(PyObject*)
    bint ag_interrupted()
    void Py_SET_REFCNT(PyObject*, Py_ssize_t)


# The bits that Python reads or changes, by their names in tensor.pxd.
_M_NO_GRAD = M_NO_GRAD
_M_INFERENCE = M_INFERENCE
_M_NO_FORWARD_AD = M_NO_FORWARD_AD
_M_SAVED_HOOKS = M_SAVED_HOOKS
_M_GUARD_SAVED = M_GUARD_SAVED
_M_ONE_THREAD = M_ONE_THREAD
_M_VMAP_SHIFT = M_VMAP_SHIFT
_M_VMAP_MASK = M_VMAP_MASK
_M_VIEW_REPLAY = M_VIEW_REPLAY
_G_ANOMALY = G_ANOMALY
_G_FORWARD = G_FORWARD
_G_NAN_ALLOWED = G_NAN_ALLOWED


def _is_grad_enabled():
    return not (ag_tls_modes & M_NO_GRAD) or bool(ag_tls_modes & M_GRAD_ASKED)


def _get_modes():
    """The thread-local mode word."""
    return ag_tls_modes


def _set_modes(modes_t word):
    global ag_tls_modes
    ag_tls_modes = word


def _get_global_modes():
    """The process-wide mode word."""
    return g_modes


# Note [Interrupts and modes]
# Ctrl-C may raise KeyboardInterrupt at a call or a jump of any Python code, so also between the
# line that changes a mode and the `try` that would undo it. Code in this file can't be interrupted
# there: a change is made and undone within C, and what runs in between is inside the `try`.
#
# One gap is Python's own: after the call that makes a change and before the `with` block begins
# (CPython 3.14 looks for signals there, and a context like set_grad_enabled(False) changes the mode
# when it is made). The context is then dropped while the exception is on its way, and undoes the
# change when it is freed. A context that is dropped at any other moment leaves the change:
# `no_grad().__enter__()` and `set_grad_enabled(False)` are statements that people write.

cdef object _MISSING = object()


cdef class Restoring:
    """The base of contexts that change state; all that they change is restored in C."""

    def __cinit__(self, *args, **kwargs):
        self.before = ag_tls_modes
        self.global_before = g_modes

    # Three arguments by name: a tuple of them would ask for memory, and there may be none.
    def __exit__(self, kind=None, error=None, traceback=None):
        undo_change(self)
        return False

    def clone(self):
        """A fresh context of the same kind."""
        return type(self)()


cdef void hold_change(Restoring r) noexcept:
    """The change was made: it is undone by undo_change(), or when `r` is freed by an interrupt."""
    r.held = True
    r.thread = PyThread_get_thread_ident()


cdef int undo_change(Restoring r) except -1:
    global ag_tls_modes, g_modes
    cdef list items = r.old_items
    cdef tuple ending = r.ending
    r.held = False
    ag_tls_modes = (ag_tls_modes & ~r.mask) | (r.before & r.mask)
    g_modes = (g_modes & ~r.global_mask) | (r.global_before & r.global_mask)
    r.old_items = None
    r.ending = None
    if items is not None:
        for container, key, value in reversed(items):
            if value is _MISSING:
                container.pop(key, None)
            else:
                container[key] = value
    if ending is not None:
        ending[0](*ending[1])
    return 0


ctypedef struct Freed:
    PyTypeObject* kind
    void (*dealloc)(PyObject*) noexcept

# How the C classes below free their objects otherwise.
cdef Freed[5] g_freed
cdef int g_n_freed = 0


cdef void dealloc_restoring(PyObject* o) noexcept:
    cdef PyTypeObject* kind = ag_type_of(o)
    cdef PyObject* error
    cdef PyObject* value
    cdef PyObject* trace
    cdef int i
    if ((<Restoring>o).held and ag_interrupted()
            and (<Restoring>o).thread == PyThread_get_thread_ident()):
        Py_SET_REFCNT(o, 1)
        PyErr_Fetch(&error, &value, &trace)
        undo_at_last(<Restoring>o)
        PyErr_Restore(error, value, trace)
        Py_SET_REFCNT(o, 0)
    while (<GCType*>kind).tp_dealloc != dealloc_restoring:
        kind = (<GCType*>kind).tp_base
    for i in range(g_n_freed):
        if g_freed[i].kind == kind:
            g_freed[i].dealloc(o)
            return


cdef void undo_at_last(Restoring r) noexcept:
    undo_change(r)         # an error is printed: nobody could catch it


cdef int mind_interrupts(object kind) except -1:
    """Let contexts of this C class undo their change when an interrupt frees them."""
    global g_n_freed
    cdef GCType* slots = <GCType*>kind
    g_freed[g_n_freed].kind = <PyTypeObject*>kind
    g_freed[g_n_freed].dealloc = slots.tp_dealloc
    slots.tp_dealloc = dealloc_restoring
    g_n_freed += 1


# --- the thread's mode word -----------------------------------------------------------------

cdef enum:
    TO_NO_GRAD = 0
    TO_GRAD
    TO_INFERENCE
    TO_NORMAL
    TO_ONE_THREAD
    TO_THREADS
    TO_REPLAY
    TO_NO_REPLAY
    TO_NO_FORWARD
    TO_FORWARD
    TO_NO_OVERRIDES
    RECORDING = M_NO_GRAD | M_INFERENCE | M_GRAD_ASKED

# What the classes of Python call the changes.
cdef dict _CHANGES = {
    "no_grad": TO_NO_GRAD, "enable_grad": TO_GRAD, "inference": TO_INFERENCE, "normal": TO_NORMAL,
    "one_thread": TO_ONE_THREAD, "threads": TO_THREADS, "replay": TO_REPLAY,
    "no_replay": TO_NO_REPLAY, "no_forward": TO_NO_FORWARD, "forward": TO_FORWARD,
    "no_overrides": TO_NO_OVERRIDES}


cdef int change_modes(Restoring r, int change) except -1:
    """Change the thread's mode word; the bits that may change come back."""
    global ag_tls_modes
    cdef modes_t word = ag_tls_modes
    if change <= TO_NORMAL:
        r.mask = RECORDING
        if change == TO_NO_GRAD:
            word = (word | M_NO_GRAD) & ~<modes_t>M_GRAD_ASKED
        elif change == TO_INFERENCE:
            word = (word | M_NO_GRAD | M_INFERENCE) & ~<modes_t>M_GRAD_ASKED
        elif change == TO_NORMAL:
            word &= ~<modes_t>RECORDING
        elif word & M_INFERENCE:
            # Inference mode records nothing whatever the grad mode says.
            word |= M_GRAD_ASKED
        else:
            word &= ~<modes_t>M_NO_GRAD
    elif change <= TO_THREADS:
        r.mask = M_ONE_THREAD
        word = word | r.mask if change == TO_ONE_THREAD else word & ~r.mask
    elif change <= TO_NO_REPLAY:
        r.mask = M_VIEW_REPLAY
        word = word | r.mask if change == TO_REPLAY else word & ~r.mask
    elif change <= TO_FORWARD:
        r.mask = M_NO_FORWARD_AD
        word = word | r.mask if change == TO_NO_FORWARD else word & ~r.mask
    else:
        r.mask = M_NO_OVERRIDES
        word |= r.mask
    ag_tls_modes = word
    hold_change(r)
    return 0


cdef class ModeContext(Restoring):
    """A change of the thread's mode word: the one that the class names in ``_change``."""

    def __cinit__(self, *args, **kwargs):
        self.mask = RECORDING

    def __enter__(self):
        cdef int change = _CHANGES[type(self)._change]
        self.before = ag_tls_modes
        change_modes(self, change)


cdef class SwitchContext(Restoring):
    """
    One of the two changes in ``_changes``, chosen by `mode`.

    If the class says ``_at_once``, it is made when the object is made, else on entering.
    """
    cdef readonly bint mode
    cdef int change

    def __init__(self, mode):
        _must_be_bool(type(self).__name__, "mode", mode, 1)
        self.mode = mode
        self.change = _CHANGES[type(self)._changes[self.mode]]
        if type(self)._at_once:
            self.before = ag_tls_modes
            change_modes(self, self.change)

    def __enter__(self):
        if not type(self)._at_once:
            self.before = ag_tls_modes
        change_modes(self, self.change)

    def __call__(self, function):
        # As a decorator it must not stay switched after the decoration.
        undo_change(self)
        return self._decorated(function)

    def clone(self):
        """A fresh context of the same kind."""
        return type(self)(self.mode)


# --- anomaly mode ---------------------------------------------------------------------------

cdef class AnomalyContext(Restoring):
    """Anomaly mode on or off; ``_at_once`` as above. `forget` is called when it is off."""
    cdef readonly bint mode
    cdef readonly bint check_nan

    def __init__(self, mode, check_nan=True):
        _must_be_bool(type(self).__name__, "mode", mode)
        _must_be_bool(type(self).__name__, "check_nan", check_nan)
        self.mode = mode
        self.check_nan = check_nan
        if type(self)._at_once:
            change_anomaly(self)

    def __enter__(self):
        if not self._at_once:
            change_anomaly(self)


cdef int change_anomaly(AnomalyContext r) except -1:
    global g_modes
    cdef unsigned int word = g_modes
    forget = type(r)._forget
    r.global_before = word
    r.global_mask = G_ANOMALY | G_NAN_ALLOWED
    word &= ~r.global_mask
    if r.mode:
        word |= G_ANOMALY
    if not r.check_nan:
        word |= G_NAN_ALLOWED
    g_modes = word
    hold_change(r)
    if not r.mode:
        forget()
    if not r.global_before & G_ANOMALY:
        r.ending = (forget, ())
    return 0


# --- anything else --------------------------------------------------------------------------

cdef class ItemsContext(Restoring):
    """
    Other items in containers, other bits in the thread's mode word, what else is to be saved.

    Parameters
    ----------
    items : list of (container, key, value)
        ``container[key] = value`` inside, for dicts and lists; a key may be a slice of a list.
    mask, value : int
        These bits of the mode word are those of `value` inside.
    saved : list of (get, put)
        ``put(get())`` on leaving, where get is called on entering; put is a function of C.
    result : optional
        What ``with ... as`` gives.
    """
    cdef list items
    cdef modes_t bits
    cdef modes_t value
    cdef list saved
    cdef object result

    def __init__(self, items=(), modes_t mask=0, modes_t value=0, saved=(), result=None):
        self.items = list(items)
        self.bits = mask
        self.value = value
        self.saved = list(saved)
        self.result = result

    def __enter__(self):
        global ag_tls_modes
        if self.saved:
            self.ending = (_put_all, ([(put, get()) for get, put in self.saved],))
        self.mask = self.bits
        self.before = ag_tls_modes
        self.old_items = []
        hold_change(self)
        try:
            for container, key, value in self.items:
                try:
                    old = container[key]
                except KeyError:
                    old = _MISSING
                self.old_items.append((container, key, old))    # asks for memory: before the change
                try:
                    container[key] = value
                except BaseException:
                    self.old_items.pop()
                    raise
        except BaseException:
            undo_change(self)
            raise
        ag_tls_modes = (ag_tls_modes & ~self.mask) | (self.value & self.mask)
        return self.result

    def clone(self):
        """A fresh context of the same kind."""
        return type(self)(self.items, self.bits, self.value, self.saved, self.result)


def _put_all(list saved):
    for put, value in saved:
        put(value)


mind_interrupts(Restoring)
mind_interrupts(ModeContext)
mind_interrupts(SwitchContext)
mind_interrupts(AnomalyContext)
mind_interrupts(ItemsContext)


def _call_with_modes(modes_t mask, modes_t value, call):
    """``call()`` while the bits of `mask` are those of `value`."""
    global ag_tls_modes
    cdef modes_t before = ag_tls_modes
    ag_tls_modes = (before & ~mask) | (value & mask)
    try:
        return call()
    finally:
        ag_tls_modes = (ag_tls_modes & ~mask) | (before & mask)


def _call_with_frames(list frames, list changed, modes_t mask, modes_t value, call):
    """Call with the list `frames` set to the items of `changed` meanwhile."""
    global ag_tls_modes
    cdef modes_t before = ag_tls_modes
    cdef list before_call = frames[:]
    frames[:] = changed
    ag_tls_modes = (before & ~mask) | (value & mask)
    try:
        return call()
    finally:
        frames[:] = before_call
        ag_tls_modes = (ag_tls_modes & ~mask) | (before & mask)
