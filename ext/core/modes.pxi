# The mode words of the thread and of the process, for Python (part of tensor.pyx).

def _is_grad_enabled():
    return not (ag_tls_modes & M_NO_GRAD) or bool(ag_tls_modes & M_GRAD_ASKED)


def _get_modes():
    """The thread-local mode word."""
    return ag_tls_modes


def _set_modes(unsigned int word):
    global ag_tls_modes
    ag_tls_modes = word


def _get_global_modes():
    """The process-wide mode word."""
    return g_modes


def _set_global_modes(unsigned int word):
    global g_modes
    g_modes = word


# Note [Interrupts and modes]
# Ctrl-C may raise KeyboardInterrupt at a call or a jump of any Python code, so also between the
# line that changes a mode and the `try` that would undo it. Code in this file can't be interrupted
# there: a change is made and undone within C, and what runs in between is inside the `try`.

cdef class ModeContext:
    """
    What contexts that change the thread's mode word derive from; ``_apply()`` makes the change.

    On leaving the bits of ``_mask`` become what they were on entering.
    """
    cdef public unsigned int _mask
    cdef public unsigned int _before

    def __cinit__(self, *args, **kwargs):
        self._mask = M_NO_GRAD | M_INFERENCE | M_GRAD_ASKED
        self._before = ag_tls_modes

    def __enter__(self):
        global ag_tls_modes
        cdef unsigned int before = ag_tls_modes
        self._before = before
        try:
            self._apply()
        except BaseException:
            ag_tls_modes = (ag_tls_modes & ~self._mask) | (before & self._mask)
            raise

    def __exit__(self, *exc):
        global ag_tls_modes
        ag_tls_modes = (ag_tls_modes & ~self._mask) | (self._before & self._mask)
        return False


def _call_with_modes(unsigned int mask, unsigned int value, call):
    """``call()`` while the bits of `mask` are those of `value`."""
    global ag_tls_modes
    cdef unsigned int before = ag_tls_modes
    ag_tls_modes = (before & ~mask) | (value & mask)
    try:
        return call()
    finally:
        ag_tls_modes = (ag_tls_modes & ~mask) | (before & mask)


def _call_with_frames(list frames, list changed, unsigned int mask, unsigned int value, call):
    """The same while the list `frames` holds what `changed` holds."""
    global ag_tls_modes
    cdef unsigned int before = ag_tls_modes
    cdef list kept = frames[:]
    frames[:] = changed
    ag_tls_modes = (before & ~mask) | (value & mask)
    try:
        return call()
    finally:
        frames[:] = kept
        ag_tls_modes = (ag_tls_modes & ~mask) | (before & mask)
